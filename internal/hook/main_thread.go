package hook

import (
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// flush delivers what waits for the main thread. Without work of its own it
// looks before it locks: most calls find nothing.
func (c *call) flush(f func(tx *session.Tx) error, work bool) (host.Reply, error) {
	if !work {
		m := session.Read(c.sess)
		if !m.Waits() {
			return host.Reply{}, errQuiet
		}
	}
	var r host.Reply
	err := c.update(func(tx *session.Tx) error {
		if err := c.settle(tx, &r); err != nil {
			return err
		}
		if work {
			if err := f(tx); err != nil {
				return err
			}
		}
		c.collect(tx, &r)
		return nil
	})
	return r, err
}

// untold is how long a compaction may take of which only the session's file will
// tell that it is over, or in which a prompt may be typed: such a host goes on working
// meanwhile.
const untold = 10 * time.Minute

// settle finishes, in a hook of the main thread, what a compaction left: it goes
// on, so it has what was handed to it, or gets it now.
func (c *call) settle(tx *session.Tx, r *host.Reply) error {
	if k := tx.Memory.Compaction; c.took || (c.host.FileTells || c.host.Steers) && k.Summarised() && c.now.Sub(k.At) < untold {
		return nil // this very call hands it over, or nobody knows yet
	}
	text, err := tx.Settle(c.event == "user-prompt-submit" && !c.late)
	if text != "" {
		if c.host.Delivers && c.prompted() { // what was saved did not know of these words
			text = strings.Replace(text, message.RecoveryDirective.In(c.lang)+"\n", "", 1)
		}
		c.took = true
		r.Context, r.System = text, text
	}
	return err
}

// collect takes the texts that wait for the main thread. A call that is done late
// has nobody to hand them to.
func (c *call) collect(tx *session.Tx, r *host.Reply) {
	if c.late {
		return
	}
	list, doubt := tx.Collect()
	held := len(list) > 0 && tx.Active() && c.host.Delivers && c.rests(tx)
	for _, m := range list {
		c.took = true
		if held { // what an agent has come to is told, what is to be done next is not
			m.Model = workflow.WithoutOrders(m.Model)
		}
		r.Context = session.Paragraphs(r.Context, m.Model)
		r.Person = session.Paragraphs(r.Person, m.Person)
	}
	if doubt {
		c.catchUp(tx, r)
	}
}

// catchUp tells where the work stands when the text about it is missing: its hook
// was killed between the state and the outbox.
func (c *call) catchUp(tx *session.Tx, r *host.Reply) {
	if tx.CatchUp() && r.Context == "" {
		r.Context = c.progress(tx.Workflow, !c.resting(tx))
	}
}

// tickBarriers lets barriers run out of time; what follows from it waits in the outbox.
func (c *call) tickBarriers(tx *session.Tx) error {
	if !tx.Active() || tx.Workflow.Barriers.Len() == 0 {
		return nil
	}
	out, err := tx.Apply(workflow.Tick{At: c.now, Running: tx.Memory.Threads.Running})
	if err != nil || out.Kind == workflow.Nothing {
		return err
	}
	tx.Post(session.Message{Model: workflow.Instruction(tx.Workflow, out, c.lang)})
	return nil
}
