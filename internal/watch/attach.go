package watch

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// open finds the threads that are there.
func (w *Codex) open() {
	switch {
	case w.prompter.begin(w):
	case w.Thread != "":
		t := w.threads[w.Thread]
		if t == nil {
			t = &thread{info: wireThread{ID: w.Thread}}
			w.threads[w.Thread] = t
		}
		w.subscribe(t)
	default:
		ask(w, "thread/loaded/list", map[string]any{}, func(r page[string], err error) {
			w.problem(err)
			for _, id := range r.Data {
				w.look(id)
			}
		})
	}
}

func (w *Codex) problem(err error) {
	if err != nil && !errors.Is(err, errClosed) {
		w.announce("warning", message.WatchServerError, err.Error())
	}
}

// look asks what kind of thread an id names.
func (w *Codex) look(id string) {
	ask(w, "thread/read", map[string]any{"threadId": id}, func(n notice, err error) {
		if err == nil && n.Thread != nil {
			w.meet(*n.Thread, false)
		}
	})
}

// meet takes a thread up if it is a user's. A newborn one cannot be subscribed
// to before its first turn.
func (w *Codex) meet(info wireThread, newborn bool) {
	if !info.watched() || w.Thread != "" && info.ID != w.Thread {
		w.ignored[info.ID] = true
		if info.Parent != "" {
			w.agents[info.ID] = &agent{parent: info.Parent, active: info.Status.Type == "active"}
		}
		return
	}
	t := w.threads[info.ID]
	if t == nil {
		t = &thread{info: info, seen: newborn}
		w.threads[info.ID] = t
	}
	if !newborn {
		w.subscribe(t)
	}
}

func (w *Codex) subscribe(t *thread) {
	if t.subscribed || t.asked {
		return
	}
	t.asked, t.retry = true, time.Time{}
	params := map[string]any{"threadId": t.info.ID, "excludeTurns": true}
	ask(w, "thread/resume", params, func(n notice, err error) {
		t.asked = false
		if err != nil || n.Thread == nil {
			// A new thread has no file yet; it comes with the first turn.
			if refused(err) {
				t.retry = w.Now().Add(300 * time.Millisecond << min(t.refused, 7))
				t.refused++
				if w.Thread != "" {
					w.exists(t)
				}
			}
			return
		}
		w.subscribedTo(t, *n.Thread)
	})
}

// exists ends the watch of a thread that there is not. One without a turn is only
// known by being loaded.
func (w *Codex) exists(t *thread) {
	known := false
	w.post("thread/read", map[string]any{"threadId": t.info.ID}, func(_ json.RawMessage, err error) {
		known = !refused(err)
	})
	ask(w, "thread/loaded/list", map[string]any{}, func(r page[string], err error) {
		loaded := err != nil || slices.Contains(r.Data, t.info.ID)
		if !known && !loaded && !t.subscribed {
			w.done, w.err = true, message.WithHint(message.Fail(message.WatchNoThread, t.info.ID), message.HintThreads)
		}
	})
}

// linger is how long a thread in which nothing happens is listened to. The server
// keeps a thread loaded as long as somebody listens, and tells everybody when one
// comes to life again.
const linger = 5 * time.Minute

// unsubscribe lets go of a thread that rests.
func (w *Codex) unsubscribe(t *thread) {
	t.rest = time.Time{}
	if !t.subscribed || t.cycle.Phase != watching || t.cycle.Turn != "" || t.own.Goal != nil || w.prompter.owns(t) {
		return
	}
	t.subscribed = false
	w.send("thread/unsubscribe", map[string]any{"threadId": t.id})
}

func (w *Codex) subscribedTo(t *thread, info wireThread) {
	if !info.watched() {
		delete(w.threads, t.info.ID)
		w.ignored[info.ID] = true
		return
	}
	t.info = info
	if t.conversation == nil {
		s, err := newConversation(info.ID, host.Codex, info.Cwd, w.Options)
		if err != nil {
			w.problem(err)
			delete(w.threads, info.ID)
			return
		}
		t.conversation = s
		s.more, s.pursues = func() (string, []string) { return w.more(t) }, t.pursues
		s.busy = func() bool { return w.busy(t) }
		t.cycle = cycle{Phase: watching}
		t.items = map[string]bool{}
		s.report("attached", message.WatchAttached, cmp.Or(info.Cwd, info.ID))
	}
	if s := t.conversation; s.thread.Words.Count == 0 {
		s.hear(host.UserMessage{Text: info.Preview})
	}
	// The subscription does not tell the tokens; the rollout's end does,
	// where it is a file of this machine.
	if u, ok := transcript.TailUsage(info.Path); ok && u.Window > 0 {
		t.hear(host.UsageSeen{Used: u.Tokens(), Window: u.Window})
	}
	t.hear(host.SessionSeen{Transcript: info.Path})
	t.subscribed = true
	t.rest = w.Now().Add(linger)
	w.askGoal(t, func(bool) {})
	w.catchUp(t)
}

// catchUp finds out what happened while we were not listening.
func (w *Codex) catchUp(t *thread) {
	params := map[string]any{"threadId": t.info.ID, "limit": 2, "itemsView": "summary"}
	ask(w, "thread/turns/list", params, func(r page[wireTurn], err error) {
		if err != nil || len(r.Data) == 0 {
			w.feed(t, attached{})
			return
		}
		newest := r.Data[0]
		said := ""
		for _, turn := range r.Data {
			said = cmp.Or(said, userText(turn))
		}
		// It may be the newest of the words that the thread has.
		if t.thread.Words.Newest().Text != (compact.Words{}).Hear(said, compact.Typed, time.Time{}).Newest().Text && said != "" {
			t.hear(host.UserMessage{Text: said})
		}
		running := newest.Status == turnRunning && newest.ID != t.ended
		missed := newest.Status == turnCompleted && newest.ID != t.ended && t.seen
		t.seen = true
		now := attached{}
		if running {
			now.Turn = newest.ID
		} else if !missed && newest.ID != t.ended {
			t.hear(host.TurnEnded{Interrupted: newest.Status == turnInterrupted})
			t.ended = newest.ID
		}
		if w.feed(t, now); running || missed {
			w.hydrate(t, newest, "", missed)
		}
	})
}

func userText(turn wireTurn) string {
	for _, it := range turn.Items {
		if it.Type == host.CodexUserMessage && !it.Ours() {
			return it.Message()
		}
	}
	return ""
}

// hydrate feeds the items of a turn that we did not follow from its start.
func (w *Codex) hydrate(t *thread, turn wireTurn, cursor string, missed bool) {
	t.begin(turn.ID)
	params := map[string]any{"threadId": t.info.ID, "turnId": turn.ID, "limit": 50}
	if cursor != "" {
		params["cursor"] = cursor
	}
	ask(w, "thread/items/list", params, func(r page[wireItem], err error) {
		if err == nil {
			for _, e := range r.Data {
				w.item(t, turn.ID, e.Item, true)
			}
			if r.Next != "" {
				w.hydrate(t, turn, r.Next, missed)
				return
			}
		}
		if missed && t.ended != turn.ID {
			w.turnEnded(t, turn)
		}
	})
}
