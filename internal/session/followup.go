package session

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"
	"strconv"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// followUpFile is the journal of what follows from a step. A process that is
// killed between the state and the last of what follows from it leaves the rest
// undone; whoever comes next finds here what it was. An empty object says that
// nothing is left.
const followUpFile = "followup.jsonl"

// todo is what follows from one state. To do it twice is to do it once: contents
// are whole, and of the timeline's lines only those are added that are missing.
type todo struct {
	State   string            `json:"state,omitempty"` // the state's hash: without that state nothing follows
	Lang    message.Lang      `json:"lang,omitempty"`
	Lines   string            `json:"lines,omitempty"` // of the timeline
	Barrier string            `json:"barrier,omitempty"`
	Reflect map[string]string `json:"reflect,omitempty"`
	Forget  []string          `json:"forget,omitempty"`
	Keep    map[string]string `json:"keep,omitempty"` // reports, by stage
	Merge   []workflow.Source `json:"merge,omitempty"`
	Report  string            `json:"report,omitempty"` // the stage whose report is of an earlier round
	Project string            `json:"project,omitempty"`
	Feature string            `json:"feature,omitempty"`
	Stage   string            `json:"stage,omitempty"` // to be ticked in the feature's task list
}

func stateHash(data []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(data) // a hash takes everything
	return strconv.FormatUint(h.Sum64(), 36)
}

// followUp is what follows from a step to s, whose bytes are data.
func followUp(tx *store.Tx, o Options, s *workflow.State, out workflow.Outcome, data []byte) (todo, error) {
	t := todo{State: stateHash(data), Lang: o.Lang, Forget: out.Forget, Reflect: map[string]string{}}
	if s.Barriers.Len() > 0 {
		t.Barrier = string(s.Barriers.Encode())
	}
	lines, err := tx.Lines(out.Events...)
	t.Lines = string(lines)
	for _, r := range out.Reflect {
		old, ok := t.Reflect[r.Stage]
		if !ok {
			// What cannot be read is begun anew.
			data, _ := tx.Reflection(r.Stage)
			old = string(data)
		}
		t.Reflect[r.Stage] = workflow.WriteReflection(old, r, o.Lang)
	}
	if out.Merged != nil {
		t.Merge = out.Merged.Sources
	}
	if out.Kind == workflow.Delegated && s.Quality(out.Stage) {
		t.Report = out.Stage
	}
	if o.Project != "" && s.FeatureName != "" && (out.Result == "pass" || out.Result == "issues") {
		t.Project, t.Feature, t.Stage = o.Project, s.FeatureName, workflow.Base(out.Stage)
	}
	return t, err
}

// intend writes down what is about to be done.
func (t todo) intend(tx *store.Tx) error {
	return tx.AppendVersion(followUpFile, store.EncodeJSON(t))
}

// do does it and notes that it is done.
func (t todo) do(tx *store.Tx, emit func([]byte) error) error {
	var errs []error
	if t.Barrier != "" {
		errs = append(errs, tx.WriteBarrier([]byte(t.Barrier)))
	}
	for stage, text := range t.Keep {
		errs = append(errs, tx.WriteContext(stage, []byte(text)))
	}
	for stage, text := range t.Reflect {
		errs = append(errs, tx.WriteReflection(stage, []byte(text)))
	}
	for _, stage := range t.Forget {
		errs = append(errs, tx.RemoveReflection(stage))
	}
	if len(t.Merge) > 0 {
		errs = append(errs, writeMerged(tx, t.Lang, t.Merge))
	}
	if t.Report != "" {
		errs = append(errs, tx.RemoveContext(t.Report))
	}
	errs = append(errs, emit([]byte(t.Lines)))
	if t.Stage != "" {
		if err := t.tick(); err != nil {
			errs = append(errs, tickError{err, prompt.FeatureDir(t.Project, t.Feature)})
			if errors.Is(err, store.ErrBusy) {
				return errors.Join(errs...) // whoever reads the state next ticks it
			}
		}
	}
	return errors.Join(append(errs, tx.AppendVersion(followUpFile, []byte("{}")))...)
}

type tickError struct {
	error
	list string
}

func (e tickError) Unwrap() error { return e.error }

// tick ticks the stage in the feature's task list. The list belongs to the project,
// not to the session, so it has a lock of its own. That one is not waited for while the
// session's is held.
func (t todo) tick() error {
	unlock, err := store.TryLockFolder(prompt.FeatureDir(t.Project, t.Feature))
	if errors.Is(err, store.ErrBusy) {
		return err
	}
	if err == nil {
		defer unlock()
	}
	_, err = prompt.TickTask(t.Project, t.Feature, t.Stage)
	return err
}

// finish does what an earlier process was killed before it could: data is the state
// on disk.
func finish(tx *store.Tx, data []byte) error {
	left, err := tx.Version(followUpFile)
	if errors.Is(err, fs.ErrNotExist) || string(left) == "{}" {
		return nil
	}
	var t todo
	if err != nil || json.Unmarshal(left, &t) != nil || t.State != stateHash(data) {
		return tx.AppendVersion(followUpFile, []byte("{}"))
	}
	if err := t.do(tx, tx.EmitMissing); err != nil {
		return derivedError{err}
	}
	return nil
}
