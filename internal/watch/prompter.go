package watch

import (
	"fmt"
	"time"
)

// prompter is the watcher's own conversation, when it drives one.
type prompter struct {
	thread string
	sent   int
	// next is when the conversation is looked at again; it is quiet then
	// unless something else came.
	next    time.Time
	waiting bool   // a prompt was sent, its turn is not known yet
	turn    string // the prompt's turn, until it has ended
	lastSeq int
}

// begin opens the thread. It is false when there is nothing to drive.
func (f *prompter) begin(w *Codex) bool {
	if len(w.Prompts) == 0 {
		return false
	}
	params := map[string]any{"cwd": w.Dir, "approvalPolicy": "never"}
	ask(w, "thread/start", params, func(n notice, err error) {
		if err != nil || n.Thread == nil {
			w.done, w.err = true, fmt.Errorf("start a thread: %w", err)
			return
		}
		t := &thread{info: *n.Thread, seen: true}
		w.threads[t.info.ID] = t
		f.thread = t.info.ID
		w.subscribedTo(t, *n.Thread)
		f.next = w.Now()
	})
	return true
}

func (f *prompter) owns(t *thread) bool { return f.thread != "" && f.thread == t.id }

// waits says that the thread's user, who is the prompter, has more to say.
func (f *prompter) waits(w *Codex, t *thread) bool { return f.owns(t) && f.sent < len(w.Prompts) }

// drive sends the next prompt once the thread is quiet.
func (w *Codex) drive() {
	f := &w.prompter
	t := w.threads[f.thread]
	if t == nil || f.waiting || f.next.IsZero() {
		return
	}
	now := w.Now()
	if t.cycle.Phase != watching || t.cycle.Turn != "" || f.turn != "" || t.cycle.Seq != f.lastSeq {
		f.lastSeq = t.cycle.Seq
		f.next = now.Add(w.Waits.Debounce)
		return
	}
	if now.Before(f.next) {
		return
	}
	if f.sent == len(w.Prompts) {
		w.done = true
		return
	}
	f.waiting = true
	t.noRoute(w.Prompts[f.sent])
	params := map[string]any{"threadId": t.id, "input": textInput(w.Prompts[f.sent])}
	f.sent++
	ask(w, "turn/start", params, func(n notice, err error) {
		f.waiting = false
		f.next = w.Now().Add(w.Waits.Debounce)
		if err == nil && n.Turn != nil && n.Turn.ID != t.ended {
			f.turn = n.Turn.ID
		}
		w.problem(err)
	})
}
