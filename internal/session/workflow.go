package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// stateFile reads a session's workflow as it is on disk: nil when it has none. An
// older state that only the Claude folder holds is one.
func stateFile(s *store.Session, read func(name string) ([]byte, error)) ([]byte, error) {
	data, err := read(store.WorkflowFile)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = s.LegacyState()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// load reads a session's workflow: nil when it has none. What a process that was
// killed left undone is done; where that fails, the error is a [derivedError].
func load(tx *store.Tx) (*workflow.State, error) {
	data, err := stateFile(tx.Session(), tx.Read)
	if err != nil || data == nil {
		return nil, err
	}
	s, err := workflow.Load(data)
	if err != nil {
		return nil, fmt.Errorf("read workflow of session %s: %w", tx.Session().ID(), err)
	}
	s.SessionID = cmp.Or(s.SessionID, tx.Session().ID())
	unfinished := finish(tx, data)
	barriers, err := tx.Barrier()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		barriers = nil // the state knows
	}
	if s.AttachBarriers(barriers) {
		if err := tx.Emit(store.On(message.EventBarrierRebuilt)); err != nil {
			return nil, err
		}
	}
	return s, unfinished
}

// Peek reads a session's workflow without the lock, for calls that will most
// likely have nothing to do.
func Peek(s *store.Session) (*workflow.State, error) {
	data, err := stateFile(s, s.Read)
	if err != nil || data == nil {
		return nil, err
	}
	return workflow.Load(data)
}

// step applies an event to a session's workflow and does what follows from it:
// state, barriers, reflections, the merged report, the timeline, the project's task
// list. The state is written before everything that can be derived from it. reports
// come with the event.
func step(
	tx *store.Tx, o Options, reports map[string]string, s *workflow.State, ev workflow.Event,
) (*workflow.State, workflow.Outcome, error) {
	next, out := o.Rules.Apply(s, ev)
	if next == nil || next == s {
		return s, out, nil
	}
	if len(out.Next) > 0 && next.Asks() {
		next, out = sift(o, next, out)
	}
	data := tx.Clean(store.WorkflowFile, next.Encode()) // as it will be read
	todo, err := followUp(tx, o, next, out, data)
	if err != nil {
		return s, out, err
	}
	todo.Keep = reports
	intended := todo.intend(tx)
	if err := tx.Write(store.WorkflowFile, data); err != nil {
		return s, out, err
	}
	if err := errors.Join(intended, todo.do(tx, tx.EmitLines)); err != nil {
		return next, out, derivedError{err}
	}
	return next, out, nil
}

// sift leaves out the stages that nothing was changed for. It is asked only of
// workflows that say so, when such a stage is next; where it cannot be found out
// what was changed, the stage is done.
func sift(o Options, s *workflow.State, out workflow.Outcome) (*workflow.State, workflow.Outcome) {
	files, known := blueprint.Changed(s.Origin)
	for known && s.Asks() {
		unwanted := s.Unwanted(files)
		if len(unwanted) == 0 {
			break
		}
		var more workflow.Outcome
		s, more = o.Rules.Apply(s, workflow.Sift{Unwanted: unwanted, At: o.Now})
		out = out.Then(more)
	}
	return s, out
}

// derivedError says that the state is written but something that follows from
// it is not: the next call repairs it, so this one need not fail.
type derivedError struct{ error }

func (e derivedError) Unwrap() error { return e.error }

// mergedMax bounds the merged report, in bytes.
const mergedMax = 64 << 10

// writeMerged joins the reports of the stages that failed in a barrier. A report
// that is not there, or is not one of ours, is named and left out.
func writeMerged(tx *store.Tx, lang message.Lang, sources []workflow.Source) error {
	var (
		b      strings.Builder
		unread []error
	)
	for i, src := range sources {
		if i > 0 {
			b.WriteString("\n\n---\n\n")
		}
		b.WriteString(message.MergedHeading.Format(lang, src.Stage) + "\n\n")
		data, err := tx.ReadContext(src.Path)
		switch {
		case err != nil:
			b.WriteString(message.MergedMissing.In(lang) + "\n")
			if !errors.Is(err, fs.ErrNotExist) {
				unread = append(unread, err)
			}
		case len(data) > mergedMax:
			b.WriteString(strings.ToValidUTF8(string(data[:mergedMax]), "") + "\n\n" + message.MergedCut.In(lang))
		default:
			b.Write(data)
		}
	}
	return errors.Join(append(unread, tx.WriteContext(workflow.MergedContext, []byte(b.String())))...)
}

// Rules are the engine's settings of a configuration.
func Rules(cfg config.Config, contextDir string) workflow.Rules {
	return workflow.Rules{
		MaxRetries: cfg.Workflow.MaxRetries, MaxCrashes: cfg.Workflow.MaxCrashes,
		BarrierTimeout: cfg.Workflow.BarrierTimeout, Strict: cfg.Strict, ContextDir: contextDir,
	}
}

// NewWorkflowID names a run: its time, so that ids sort, and some randomness.
func NewWorkflowID(now time.Time) string {
	return fmt.Sprintf("%s-%08x", now.UTC().Format("20060102-150405"), rand.Uint32())
}

// ActiveWorkflow reports whether a session's workflow is still at work, for the
// clean-up: what cannot be read is spared.
func ActiveWorkflow(_ string, data []byte) bool {
	if data == nil {
		return false
	}
	s, err := workflow.Load(data)
	return err != nil || s.Active
}

// DetectEnvironment reads off the project's manifest files what it is made of.
// It is asked once, when a workflow starts.
func DetectEnvironment(root string) workflow.Environment {
	if root == "" {
		return workflow.Environment{}
	}
	return workflow.DetectEnvironment(func(name string) (string, bool) {
		data, err := config.ReadFile(filepath.Join(root, name), 1<<20)
		return string(data), err == nil
	})
}

// State reads a session's workflow; what cannot be read comes with a way out.
func State(s *store.Session) (*workflow.State, error) {
	state, err := Peek(s)
	if err != nil {
		err = fmt.Errorf("read workflow of session %s: %w", s.ID(), err)
	}
	return state, Unread(s, err)
}

// Unread is the answer to a workflow that cannot be read.
func Unread(s *store.Session, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workflow.ErrNewer):
		return message.WithHint(err, message.HintUpgrade, "overtone")
	}
	return message.WithHint(err, message.HintUnread, s.ID())
}

// Resume lets a workflow go on that rests or was let go: its next stage is asked for as if
// it had just begun.
func (tx *Tx) Resume() error {
	tx.Memory.Loop = Loop{Workflow: tx.Workflow.WorkflowID}
	_, err := tx.Apply(workflow.Resume{})
	return err
}
