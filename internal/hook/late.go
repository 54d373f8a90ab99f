package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// lockLimit is how long a call waits for the session's lock. Hooks hold it for
// milliseconds; only a holder that was stopped keeps it for longer, and a host
// that waited for that would count the hook as failed, which opens the guard.
const lockLimit = time.Second

// note is a call that was put off: it answered what is safe without the lock, and
// the next call does what it could not. What it would have said then waits in the
// outbox; what only its own moment could use (a denial, a prompt) is gone.
type note struct {
	Event  string          `json:"event"`
	Host   host.Name       `json:"host,omitempty"`
	At     time.Time       `json:"at"`
	Denied bool            `json:"denied,omitempty"` // the guard said no
	Input  json.RawMessage `json:"input"`
}

// putOff leaves the call for the next one, and says so.
func (c *call) putOff() {
	left := note{Event: c.event, Host: c.host.Name, At: c.now, Denied: c.denied, Input: c.input}
	if err := c.sess.Defer(store.EncodeJSON(left)); err != nil {
		c.complain("safeRun", fmt.Errorf("%w; this call is not recorded: %w", store.ErrBusy, err))
		return
	}
	c.complain("safeRun", fmt.Errorf("%w %s; the next call records this one", store.ErrBusy, c.sess.ID()))
}

// withoutLock is what a call may say though it could not record itself.
func (c *call) withoutLock() (r host.Reply) {
	s, err := session.Peek(c.sess)
	if err != nil {
		return r
	}
	switch {
	case c.event == "session-start" && c.in.Source != "compact":
		if s != nil && s.Active {
			r.Context = c.progress(s, !session.Read(c.sess).Loop.Rests)
		}
		_, r.System = c.tasks(s, message.PendingTasksResume)
		r.Context = session.Paragraphs(r.Context, r.System)
	case c.event == "user-prompt-submit" && !c.in.Note:
		if s != nil && s.Active {
			r.Context = c.progress(s, !c.host.Delivers) // whatever it says, the turn is the user's
			r.System = r.Context
		}
	}
	return r
}

// catchUpLate does what earlier calls had to put off. A note is taken before it is
// acted upon, so it is done once or, where this process is killed, not at all.
func (c *call) catchUpLate() {
	names := c.sess.Deferred()
	// While the lock is held they wait, and so will this call, if it needs it.
	if len(names) == 0 || errors.Is(c.sess.Reachable(), store.ErrBusy) {
		return
	}
	for _, name := range names {
		data, ok := c.sess.TakeDeferred(name)
		if !ok {
			continue
		}
		if err := c.replay(data); err != nil {
			c.complain("late", err)
		}
	}
}

func (c *call) replay(data []byte) error {
	var n note
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("a call that was put off: %w", err)
	}
	input, err := checkInput(n.Input)
	if err != nil {
		return err
	}
	h, err := c.env.find(string(n.Host))
	if err != nil || handler(n.Event) == nil {
		return errors.Join(err, fmt.Errorf("a call that was put off: event %q", n.Event))
	}
	late := &call{
		env: c.env, event: n.Event, host: h, in: h.Decode(n.Event, input), input: input,
		cfg: c.cfg, lang: c.lang, rules: c.rules, home: c.home, sess: c.sess, now: n.At, late: true, denied: n.Denied,
	}
	late.in.Again = true // nobody is there to be asked
	r, err := handler(n.Event)(late)
	switch {
	case late.busy:
		late.putOff()
		return nil
	case err != nil && !errors.Is(err, errQuiet):
		return err
	case r.Context == "" && r.Person == "":
		return nil
	}
	return c.update(func(tx *session.Tx) error {
		tx.Leave(session.Message{Model: r.Context, Person: r.Person})
		return nil
	})
}
