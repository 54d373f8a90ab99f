package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Options are what a change of a session needs to know of its caller.
type Options struct {
	Rules workflow.Rules
	Lang  message.Lang
	Now   time.Time
	// Project is the folder whose task list follows the workflow.
	Project string
	// Anew takes a workflow that cannot be read for none.
	Anew bool
	// Warn is told of what could not be written but will be repaired by the next
	// change.
	Warn func(error)
}

// Tx is a session under its lock.
type Tx struct {
	*store.Tx
	// Workflow is nil while there is none. [Tx.Apply] changes it.
	Workflow *workflow.State
	// Memory is written, if it has changed, when the change ends.
	Memory Memory
	// Unticked is why the last step could not be ticked in the task list.
	Unticked error

	busy    string // the task list that another session ticks in
	o       Options
	reports map[string]string // to be written with the next step
}

// Update changes a session. What f does to the memory is written even if f fails:
// the world has moved.
func Update(s *store.Session, o Options, f func(*Tx) error) error {
	var tx *Tx
	err := s.Update(func(raw *store.Tx) error {
		tx = &Tx{Tx: raw, o: o}
		return changeMemory(raw, &tx.Memory, func() (err error) {
			tx.Workflow, err = load(raw)
			if _, derived := errors.AsType[derivedError](err); derived {
				o.Warn(err)
			} else if err != nil && (!o.Anew || errors.Is(err, workflow.ErrNewer)) {
				return err
			}
			return f(tx)
		})
	})
	if tx == nil || tx.busy == "" {
		return err
	}
	// Another session ticks in the same list. It is waited for without the lock, which
	// other hooks of this session may need; what is left then is done by reading.
	if unlock, busy := store.LockFolder(tx.busy); busy == nil {
		unlock()
		_ = s.Update(func(raw *store.Tx) error { // the next call tries again
			_, err := load(raw)
			return err
		})
	}
	return err
}

// changeMemory reads the memory and writes it, if f has changed it.
func changeMemory(tx *store.Tx, m *Memory, f func() error) error {
	old, err := tx.Version(MemoryFile)
	if *m, err = decodeMemory(old, err); err != nil {
		return err
	}
	ferr := f()
	data, err := json.Marshal(m)
	// A tool's end often leaves all as it was.
	if err == nil && !bytes.Equal(data, old) && (old != nil || string(data) != "{}") {
		err = tx.AppendVersion(MemoryFile, data)
	}
	return errors.Join(ferr, err)
}

// Report hands in what an agent said of a stage. It is written with the next step,
// not before it: killed between the two, there would be a report of nothing.
func (tx *Tx) Report(stage, text string) {
	tx.reports = map[string]string{stage: text}
}

// Reported says whether there is a report of a stage, or will be.
func (tx *Tx) Reported(stage string) bool {
	if _, ok := tx.reports[stage]; ok {
		return true
	}
	_, err := tx.ReadContext(tx.Session().ContextPath(stage))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		tx.o.Warn(err)
	}
	return err == nil
}

// Apply steps the workflow.
func (tx *Tx) Apply(ev workflow.Event) (workflow.Outcome, error) {
	s, out, err := step(tx.Tx, tx.o, tx.reports, tx.Workflow, ev)
	if s != tx.Workflow {
		tx.reports = nil
	}
	tx.Workflow = s
	switch out.Kind {
	case workflow.Started:
		tx.Memory.Loop = Loop{}
	case workflow.Delegated:
		tx.Memory.Loop.Rests = false
		tx.Memory.Thread.Words = tx.Memory.Thread.Words.Worked()
	}
	tx.Unticked = nil
	if tick, ok := errors.AsType[tickError](err); ok && errors.Is(err, store.ErrBusy) {
		tx.busy = tick.list
	} else if ok {
		tx.Unticked = tick
	}
	if _, ok := errors.AsType[derivedError](err); ok {
		tx.o.Warn(err)
		err = nil
	}
	return out, err
}

// Active reports whether a workflow is at work.
func (tx *Tx) Active() bool { return tx.Workflow != nil && tx.Workflow.Active }

// Observe takes what happened in the conversation. Only what the agent says is
// judged by the settings.
func (tx *Tx) Observe(e host.Event, set compact.Settings) {
	tx.Memory.Thread = tx.Memory.Thread.Apply(e, set)
}

// Measure takes the size of the context from the transcript.
func (tx *Tx) Measure() {
	t := &tx.Memory.Thread
	*t = named(*t, t.Transcript)
	tx.Observe(usageSeen(tx.Session(), *t, transcript.TailUsage, t.Transcript), compact.Settings{})
}

// named is a thread with its model as the session's file names it, until the first answer
// is known: a hook, and the answer itself, name it without the mark of the large window.
func named(t compact.Thread, path string) compact.Thread {
	if t.Window == 0 && t.Usage.Used <= 0 {
		if model := transcript.StatedModel(path); model != "" {
			t = t.Apply(host.SessionSeen{Model: model}, compact.Settings{})
		}
	}
	return t
}

// usageSeen is how full a context is by its transcript. Some hosts name the model there
// only: a window that no table knows may have been told in another session.
func usageSeen(s *store.Session, t compact.Thread, tail func(path string) (transcript.Usage, bool), path string) host.UsageSeen {
	u, ok := tail(path)
	if !ok {
		return host.UsageSeen{Used: -1}
	}
	e := host.UsageSeen{Used: u.Tokens(), Window: u.Window, Model: u.Model}
	if model := cmp.Or(e.Model, t.Model); e.Window == 0 && t.Window == 0 && model != "" {
		e.Known = cmp.Or(s.Window(host.ModelID(model)), host.ClaudeWindow(u.Version, model))
	}
	return e
}

// Decide weighs the turn, and leaves a line on the timeline when its outcome
// changed. Over says that the turn has ended, or that the next one only begins.
func (tx *Tx) Decide(set compact.Settings, over bool) (compact.Decision, error) {
	tx.Measure()
	d, events := DecideWatched(&tx.Memory.Thread, tx.o.Now, set, over && !tx.Memory.RunsOn(tx.Workflow), tx.o.Lang)
	return d, tx.Emit(events...)
}

// Post leaves a text for the next hook of the main thread.
func (tx *Tx) Post(m Message) {
	if tx.Workflow != nil {
		tx.Memory.Milestone = milestone(tx.Workflow)
	}
	tx.Leave(m)
}

// Leave is Post without a word on how far the work has come.
func (tx *Tx) Leave(m Message) {
	if m.Model == "" && m.Person == "" {
		return
	}
	m.At = workflow.Stamp(tx.o.Now)
	tx.Memory.Outbox = append(tx.Memory.Outbox, m)
	// A host that never comes back must not make the file grow.
	if n := len(tx.Memory.Outbox); n > maxOutbox {
		tx.Memory.Outbox = tx.Memory.Outbox[n-maxOutbox:]
	}
}

const maxOutbox = 32

// Collect takes the texts that wait, once. The caller prints them and tells
// [Acknowledge]. What a hook took and did not live to acknowledge is in doubt: it
// is not said again, but [Tx.CatchUp] will tell where the work stands.
func (tx *Tx) Collect() (list []Message, doubt bool) {
	m := &tx.Memory
	m.Printing = slices.DeleteFunc(m.Printing, func(b Batch) bool {
		if printing(b.By, b.At, tx.o.Now) {
			return false
		}
		m.Milestone, doubt = "", true
		return true
	})
	list, m.Outbox = m.Outbox, nil
	if len(list) > 0 {
		m.Printing = append(m.Printing, Batch{By: os.Getpid(), At: tx.o.Now, Messages: list})
	}
	return list, doubt
}

// Acknowledge records what became of the texts that this process took: they are
// printed, or they were not and go out with the next hook.
func Acknowledge(s *store.Session, now time.Time, printed bool) error {
	return s.Update(func(raw *store.Tx) error {
		var m Memory
		return changeMemory(raw, &m, func() error {
			m.Printing = slices.DeleteFunc(m.Printing, func(b Batch) bool {
				mine := b.By == os.Getpid()
				if mine && !printed {
					m.Outbox = append(b.Messages, m.Outbox...)
				}
				return mine
			})
			k := m.Compaction
			if k == nil || k.Receipt == nil || k.Receipt.State != compact.Printing || k.By != os.Getpid() {
				return nil
			}
			if !printed {
				k.step(compact.Missing{ID: k.Receipt.ID}, now)
				return nil
			}
			k.step(compact.Printed{}, now)
			return raw.Emit(store.On(message.EventSessionRecovery, "n", k.N, "id", k.Receipt.ID, "via", k.Receipt.Via, "basis", k.Receipt.Basis))
		})
	})
}

// CatchUp reports, once, that the main thread was not told where the work stands:
// the hook that had to was killed between the state and the outbox.
func (tx *Tx) CatchUp() bool {
	if !tx.Active() {
		return false
	}
	now := milestone(tx.Workflow)
	missed := tx.Memory.Milestone != now
	tx.Memory.Milestone = now
	return missed
}
