package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Load reads a session's workflow: nil when it has none. An older state that
// only the Claude folder holds is imported.
func Load(tx *store.Tx) (*workflow.State, error) {
	data, err := tx.Read(store.WorkflowFile)
	if errors.Is(err, fs.ErrNotExist) {
		if data, err = tx.LegacyState(); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	s, err := workflow.Load(data)
	if err != nil {
		return nil, fmt.Errorf("read workflow of session %s: %w", tx.Session().ID(), err)
	}
	if s.SessionID == "" {
		s.SessionID = tx.Session().ID()
	}
	barriers, err := tx.Barrier()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if s.AttachBarriers(barriers) {
		if err := tx.Emit(store.On(message.EventBarrierRebuilt)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Peek reads a session's workflow without the lock, for calls that will most
// likely have nothing to do.
func Peek(s *store.Session) (*workflow.State, error) {
	data, err := s.Read(store.WorkflowFile)
	if errors.Is(err, fs.ErrNotExist) {
		if data, err = s.LegacyState(); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return workflow.Load(data)
}

// Step applies an event to a session's workflow and does what follows from it:
// state, barriers, reflections, the merged report, the timeline. The state is
// written before everything that can be derived from it.
func Step(tx *store.Tx, rules workflow.Rules, lang message.Lang, s *workflow.State, ev workflow.Event) (*workflow.State, workflow.Outcome, error) {
	next, out := rules.Apply(s, ev)
	if next == nil || next == s {
		return s, out, nil
	}
	if err := tx.Write(store.WorkflowFile, next.Encode()); err != nil {
		return s, out, err
	}
	if err := save(tx, lang, next, out); err != nil {
		return next, out, derivedError{err}
	}
	return next, out, nil
}

// derivedError says that the state is written but something that follows from
// it is not: the next call repairs it, so this one need not fail.
type derivedError struct{ error }

func (e derivedError) Unwrap() error { return e.error }

func save(tx *store.Tx, lang message.Lang, s *workflow.State, out workflow.Outcome) error {
	var errs []error
	if s.Barriers.Len() > 0 {
		errs = append(errs, tx.WriteBarrier(s.Barriers.Encode()))
	}
	for _, r := range out.Reflect {
		old, err := tx.Reflection(r.Stage)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		errs = append(errs, tx.WriteReflection(r.Stage, []byte(workflow.WriteReflection(string(old), r, lang))))
	}
	for _, stage := range out.Forget {
		errs = append(errs, tx.RemoveReflection(stage))
	}
	if out.Merged != nil && len(out.Merged.Sources) > 0 {
		errs = append(errs, writeMerged(tx, lang, out.Merged.Sources))
	}
	errs = append(errs, tx.Emit(out.Events...))
	return errors.Join(errs...)
}

// mergedMax bounds the merged report, in bytes.
const mergedMax = 64 << 10

// writeMerged joins the reports of the stages that failed in a barrier. A report
// that is not there, or is not one of ours, is named and left out.
func writeMerged(tx *store.Tx, lang message.Lang, sources []workflow.Source) error {
	var b strings.Builder
	for i, src := range sources {
		if i > 0 {
			b.WriteString("\n\n---\n\n")
		}
		b.WriteString(message.MergedHeading.Format(lang, src.Stage) + "\n\n")
		data, err := tx.ReadContext(src.Path)
		switch {
		case err != nil:
			b.WriteString(message.MergedMissing.In(lang) + "\n")
		case len(data) > mergedMax:
			b.WriteString(strings.ToValidUTF8(string(data[:mergedMax]), "") + "\n\n" + message.MergedCut.In(lang))
		default:
			b.Write(data)
		}
	}
	return tx.WriteContext(workflow.MergedContext, []byte(b.String()))
}

// MemoryFile is the journal of what the hooks of a session remember between two calls.
const MemoryFile = "hooks.jsonl"

// memory is derived or short-lived: losing it costs a message, never the state.
type memory struct {
	Outbox     []letter    `json:"outbox,omitempty"`
	Told       string      `json:"told,omitempty"` // the milestone of the last letter
	Compaction *compaction `json:"compaction,omitempty"`
	// Compactions counts the confirmed ones, Offset is the transcript's size at
	// the last of them.
	Compactions int            `json:"compactions,omitempty"`
	Offset      int64          `json:"offset,omitempty"`
	Searched    bool           `json:"searched,omitempty"` // for a compaction before our time
	Loop        loop           `json:"loop,omitzero"`
	Thread      string         `json:"thread,omitempty"` // agent_id of the last batch; "" = main
	Watch       compact.Thread `json:"watch,omitzero"`
}

// letter is a text that waits for the next hook of the main thread.
type letter struct {
	Model  string `json:"model,omitempty"`
	Person string `json:"person,omitempty"`
	At     string `json:"at,omitempty"`
}

// loop is the Stop hook's memory.
type loop struct {
	Iteration int    `json:"iteration,omitempty"`
	Stuck     int    `json:"stuck,omitempty"`
	Seen      string `json:"seen,omitempty"` // the state at the last block
	Workflow  string `json:"workflow,omitempty"`
	LetGo     bool   `json:"letGo,omitempty"`
}

func readMemory(data []byte, err error) (memory, error) {
	var m memory
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	// A damaged memory is forgotten: the state is elsewhere.
	if json.Unmarshal(data, &m) != nil {
		return memory{}, nil //nolint:nilerr // see above
	}
	return m, nil
}

// recall reads the memory without the lock.
func (c *call) recall() (memory, error) { return readMemory(c.sess.Version(MemoryFile)) }

// desk is a session under its lock: the workflow, the memory, and what is to be
// written at the end.
type desk struct {
	c     *call
	tx    *store.Tx
	state *workflow.State
	mem   memory
	dirty bool
}

// update opens the desk. Whatever f does to the memory is written when it ends.
func (c *call) update(f func(d *desk) error) error {
	return c.sess.Update(func(tx *store.Tx) error {
		d := &desk{c: c, tx: tx}
		old, err := tx.Version(MemoryFile)
		if d.mem, err = readMemory(old, err); err != nil {
			return err
		}
		if d.state, err = Load(tx); err != nil {
			return err
		}
		ferr := f(d)
		if d.dirty {
			data, err := json.Marshal(d.mem)
			// A tool's end often leaves all as it was.
			if err == nil && !bytes.Equal(data, old) {
				err = tx.AppendVersion(MemoryFile, data)
			}
			ferr = errors.Join(ferr, err)
		}
		return ferr
	})
}

// apply steps the workflow.
func (d *desk) apply(ev workflow.Event) (workflow.Outcome, error) {
	s, out, err := Step(d.tx, d.c.rules, d.c.lang, d.state, ev)
	d.state = s
	var derived derivedError
	if errors.As(err, &derived) {
		d.c.complain(d.c.event, err)
		err = nil
	}
	return out, err
}

// post leaves a text for the next hook of the main thread.
func (d *desk) post(l letter) {
	if d.state != nil {
		d.mem.Told, d.dirty = milestone(d.state), true
	}
	if l.Model == "" && l.Person == "" {
		return
	}
	l.At = workflow.Stamp(d.c.now)
	d.mem.Outbox = append(d.mem.Outbox, l)
	// A host that never comes back must not make the file grow.
	if n := len(d.mem.Outbox); n > 32 {
		d.mem.Outbox = d.mem.Outbox[n-32:]
	}
	d.dirty = true
}

// collect takes the texts that wait, once.
func (d *desk) collect(r *host.Reply) {
	if len(d.mem.Outbox) == 0 {
		return
	}
	for _, l := range d.mem.Outbox {
		r.Context = joinLines(r.Context, l.Model)
		r.Person = joinLines(r.Person, l.Person)
	}
	d.mem.Outbox, d.dirty = nil, true
}

// catchUp tells where the work stands when the letter about it is missing: its
// hook was killed between the state and the outbox.
func (d *desk) catchUp(r *host.Reply) {
	if d.state == nil || !d.state.Active || d.mem.Told == milestone(d.state) {
		return
	}
	d.mem.Told, d.dirty = milestone(d.state), true
	if r.Context == "" {
		r.Context = d.c.progress(d.state)
	}
}

// milestone is how far the work has come, whoever is at it.
func milestone(s *workflow.State) string {
	h := fnv.New64a()
	for k, st := range s.Stages.All() {
		if st.Status == workflow.Active {
			st.Status = workflow.Pending
		}
		fmt.Fprintf(h, "%s=%s/%d/%d ", k, st.Status, s.Retries[k], s.Crashes[k])
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

func joinLines(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "\n\n" + b
}

// node is the context of a stage as its agent gets it.
func (d *desk) node(stage string) workflow.NodeContext {
	return d.c.rules.BuildNodeContext(d.state, stage, workflow.NodeOptions{
		SessionID: d.c.sess.ID(), Lang: d.c.lang,
		Exists: func(path string) bool {
			_, err := d.tx.ReadContext(path)
			return err == nil
		},
	})
}
