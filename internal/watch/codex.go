package watch

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Codex watches the threads of an app-server.
//
// One goroutine does everything: it takes what the client hands out in the
// server's order, feeds the threads' cycles, carries out their actions, and
// posts requests whose answers come back the same way.
type Codex struct {
	Options
	At Endpoint
	// Version is ours, for the server.
	Version string
	// Thread restricts the watch to one thread, which is loaded if need be.
	Thread string
	// Prompts makes the watcher the front end: it opens a thread in Dir and
	// sends these, one after the other, each when the last is dealt with.
	Prompts []string
	Dir     string

	client   *Client
	threads  map[string]*thread
	ignored  map[string]bool // threads that are not the user's own
	agents   map[string]*agent
	prompter prompter
	done     bool
	err      error // why it is done, if that is an error
}

// callTimeout bounds each request; the server answers them at once.
const callTimeout = 30 * time.Second

type thread struct {
	*conversation
	info  wireThread
	cycle cycle
	// subscribed: its events reach us. asked: we are about to be told.
	subscribed, asked bool
	// seen says that we have followed the thread since before its last turn,
	// so that a turn that ended while we were not looking counts.
	seen  bool
	turn  string // the newest turn whose beginning we have dealt with
	ended string // the newest turn whose end we have dealt with
	// items are those of the running turn that were dealt with.
	items map[string]bool
	// shrinking is the turn of a compaction that has begun, shrunk the size that
	// was last told since.
	shrinking string
	shrunk    host.UsageSeen
	began     time.Time // when it began
	// goal is the thread's, nil without one; resuming: it is about to go on.
	goal     *wireGoal
	resuming bool
	pauses   int        // how often it was paused since we have asked for that
	endedHow turnStatus // the newest turn's end
	// queued: somebody has put a message into the queue while we compact.
	queued  bool
	rest    time.Time // when the subscription ends, if nothing happens
	retry   time.Time // when to ask again for the subscription
	refused int       // how often that was asked in vain
	due     time.Time // when the cycle's pause ends
	dueSeq  int
}

// errDone ends a watch that has done what it was asked to do.
var errDone = errors.New("done")

// agent is a thread of a sub-agent.
type agent struct {
	parent string
	active bool
}

// Run watches until ctx ends. It connects again whenever the connection is
// lost; only an own app-server that ends, ends the watch.
func (w *Codex) Run(ctx context.Context) error {
	w.threads, w.ignored, w.agents = map[string]*thread{}, map[string]bool{}, map[string]*agent{}
	defer w.giveUp()
	err := w.connecting(ctx, w.At.String(), func(connected func()) error {
		client, err := Dial(ctx, w.At, "overtone", w.Version)
		if err != nil {
			return err
		}
		connected()
		err = w.serve(ctx, client)
		_ = client.Close()
		w.lost()
		return err
	}, func(err error) (message.Reason, bool) {
		switch {
		case w.done || w.At.Command != nil:
			return message.Reason{}, false
		case errors.Is(err, fs.ErrNotExist):
			return message.Because(message.WatchNoDaemon, w.At.String()), true
		}
		return message.Because(message.WatchWaiting, w.At.String(), cause(err)), true
	})
	if w.done {
		return w.err
	}
	return err
}

// cause is what is at the bottom of an error: all above it says how we came there.
func cause(err error) string {
	for {
		under := errors.Unwrap(err)
		if under == nil {
			return err.Error()
		}
		err = under
	}
}

// serve lives as long as one connection.
func (w *Codex) serve(ctx context.Context, c *Client) error {
	w.client = c
	w.open()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for {
			in, ok, err := c.Next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if w.handle(in); w.done {
				return errDone
			}
		}
		w.elapse()
		for _, t := range w.threads { // whose goal rests for no reason any more
			if t.conversation != nil {
				w.resumeGoal(t)
			}
		}
		if w.drive(); w.done {
			return errDone
		}
		timer.Reset(w.untilNext())
		select {
		case <-c.Ready():
		case <-timer.C:
		case <-ctx.Done():
			w.letGo()
			return ctx.Err()
		}
	}
}

// post sends a request; then runs when its answer comes.
func (w *Codex) post(method string, params map[string]any, then func(json.RawMessage, error)) {
	w.client.post(method, params, then, callTimeout)
}

// send is post without a care for the answer.
func (w *Codex) send(method string, params map[string]any) {
	w.post(method, params, func(json.RawMessage, error) {})
}

// ask is post for an answer that is read; one that cannot be read is an error.
func ask[T any](w *Codex, method string, params map[string]any, then func(T, error)) {
	w.post(method, params, func(raw json.RawMessage, err error) {
		var answer T
		if err == nil {
			err = json.Unmarshal(raw, &answer)
		}
		then(answer, err)
	})
}

func (w *Codex) handle(in Inbound) {
	if then, ok := in.Tag.(func(json.RawMessage, error)); ok {
		then(in.Result, in.Err)
		return
	}
	n, id := parseNotice(in.Params)
	if id == "" || w.Thread != "" && id != w.Thread {
		return
	}
	t := w.threads[id]
	if a := w.agents[id]; a != nil && n.Status != nil {
		a.active = n.Status.Type == "active"
	}
	switch in.Method {
	case "thread/started":
		if n.Thread != nil {
			w.meet(*n.Thread, true)
		}
		return
	case "thread/closed", "thread/archived", "thread/deleted":
		if t != nil {
			w.drop(t)
		}
		return
	case "thread/status/changed":
		// Also sent for threads we do not hear otherwise.
		if t == nil {
			if !w.ignored[id] {
				w.look(id)
			}
			return
		}
		if n.Status != nil && n.Status.Type == "notLoaded" {
			t.subscribed = false // asking for it would load it again
			return
		}
		t.refused = 0
		w.subscribe(t)
	}
	if t != nil && t.subscribed {
		w.notice(t, in.Method, n)
	}
}

// elapse ends the pauses that are over.
func (w *Codex) elapse() {
	over := func(at time.Time) bool { return !at.IsZero() && !w.Now().Before(at) }
	for _, t := range w.threads {
		if over(t.retry) {
			w.subscribe(t)
		}
		if over(t.rest) {
			w.unsubscribe(t)
		}
		if over(t.due) {
			t.due = time.Time{}
			w.feed(t, elapsed{Seq: t.dueSeq})
		}
	}
}

func (w *Codex) untilNext() time.Duration {
	next := []time.Time{w.prompter.next}
	for _, t := range w.threads {
		next = append(next, t.retry, t.due, t.rest)
	}
	wait := time.Hour
	for _, at := range next {
		if !at.IsZero() {
			wait = min(wait, at.Sub(w.Now()))
		}
	}
	return max(wait, time.Millisecond)
}

func (w *Codex) lost() {
	for _, t := range w.threads {
		t.subscribed, t.asked, t.retry = false, false, time.Time{}
		if t.conversation != nil {
			w.feed(t, lost{})
		}
	}
}

func (w *Codex) drop(t *thread) {
	if t.conversation != nil {
		t.giveBack()
		t.report("detached", message.WatchDetached)
	}
	delete(w.agents, t.info.ID)
	delete(w.threads, t.info.ID)
}

func (w *Codex) giveUp() {
	for _, t := range w.threads {
		if t.conversation != nil {
			t.giveBack()
		}
	}
}
