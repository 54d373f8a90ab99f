package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// version is the state format that this engine writes.
const version = 4

// Status values of a stage.
const (
	Pending   = "pending"
	Active    = "active"
	Completed = "completed"
	Failed    = "failed" // voted FAIL in a barrier that still waits, or aborted
	Skipped   = "skipped"
)

// Errors of Load. A file of a newer version is refused, never rewritten.
var (
	ErrNewer    = errors.New("state was written by a newer version")
	errNotState = errors.New("not a workflow state")
)

// State is one run of a workflow. It is stored as workflow.json; the zero value
// is an empty, inactive state.
type State struct {
	SessionID    string                  `file:"sessionId"`
	WorkflowID   string                  `file:"workflowId,omit"`
	WorkflowType string                  `file:"workflowType"`
	CreatedAt    string                  `file:"createdAt"`
	CurrentStage string                  `file:"currentStage,null"` // the next one; "" = none left
	Active       bool                    `file:"pipelineActive"`
	Ended        string                  `file:"ended,omit"`     // why an inactive run is over: complete, aborted, cancelled
	EndReason    string                  `file:"endReason,omit"` // what the stage that gave up, or whoever cancelled it, said about that
	Stages       orderedMap[StageState]  `file:"stages"`
	ActiveStages []string                `file:"activeStages"`
	ActiveAgents orderedMap[activeAgent] `file:"activeAgents"`
	FailCount    int                     `file:"failCount"`
	RejectCount  int                     `file:"rejectCount"`
	RetroCount   int                     `file:"retroCount,omit"`
	FeatureName  string                  `file:"featureName,null"`
	Retries      map[string]int          `file:"retries"`
	Crashes      map[string]int          `file:"crashes"`
	RetryHistory orderedMap[[]Round]     `file:"retryHistory"`
	PendingRetry *pendingRetry           `file:"pendingRetry"`
	Environment  Environment             `file:"environment"`
	Origin       *Origin                 `file:"origin,omit"` // the user's file that the graph was read from; nil = a built-in one
	DAG          DAG                     `file:"dag"`
	Delegations  []delegation            `file:"delegations"`
	// Barriers is kept in a file of its own, derived from the rest.
	Barriers Barriers

	raw object
}

// StageState is what happened to a stage.
type StageState struct {
	Status      string `file:"status"`
	Result      string `file:"result,null"` // "", pass, fail, reject, issues
	Mode        string `file:"mode,omit"`   // of a TEST: spec before the DEV, verify after it
	Agent       string `file:"agent,omit"`
	ContextFile string `file:"contextFile,omit"`
	StartedAt   string `file:"startedAt,omit"`
	CompletedAt string `file:"completedAt,omit"`
	Reason      string `file:"reason,omit"`
	Verdict     *Route `file:"verdict,omit"`
	Forced      bool   `file:"forced,omit"`     // moved on although it failed or did not answer
	Unverified  bool   `file:"unverified,omit"` // passed without saying so
	SkipWanted  bool   `file:"skipWanted,omit"` // skip it when its turn comes

	raw unread
}

func (st *StageState) read(r gjson.Result) bool {
	readFields(r.Get, st)
	switch st.raw = unread(r.Raw); st.Status {
	case Pending, Active, Completed, Failed, Skipped:
	default:
		st.Status = Pending
	}
	return true
}

func (st StageState) object() object { return st.raw.with(st) }

type activeAgent struct {
	Stage     string `file:"stage"`
	StartedAt string `file:"startedAt"`

	raw unread
}

func (a *activeAgent) read(r gjson.Result) bool {
	readFields(r.Get, a)
	a.raw = unread(r.Raw)
	return r.IsObject()
}

func (a activeAgent) object() object { return a.raw.with(a) }

// Round is one FAIL of a stage.
type Round struct {
	Verdict  string `json:"verdict"`
	Severity string `json:"severity,omitempty"`
	Round    int    `json:"round"`
	Hint     string `json:"hint,omitempty"`
}

// pendingRetry names what a rework has to mend. It is the fallback that 002
// keeps beside the retry history.
type pendingRetry struct {
	Stages      []retryStage `json:"stages"`
	ContextFile string       `json:"contextFile,omitempty"`
}

// retryStage is a failed stage of a PendingRetry.
type retryStage struct {
	ID       string `json:"id"`
	Severity string `json:"severity,omitempty"`
	Round    int    `json:"round"`
}

// Environment is what the project is made of.
type Environment struct {
	Language  string `file:"languages.primary" json:"language,omitempty"`
	Framework string `file:"framework.name" json:"framework,omitempty"`
	Frontend  bool   `file:"frontend.detected" json:"frontend,omitempty"`
}

// delegation is one hand-over of a stage to an agent. A completion belongs to
// exactly one delegation and closes it, which is what makes it count once.
type delegation struct {
	ID      string `json:"id"`                // the host's tool_use_id, or our own
	AgentID string `json:"agentId,omitempty"` // known once the agent runs
	Stage   string `json:"stage"`
	Open    bool   `json:"open"`
	Done    bool   `json:"done,omitempty"`       // closed by its own completion
	Asked   bool   `json:"asked,omitempty"`      // was asked for its marker in place
	Async   bool   `json:"background,omitempty"` // runs in the background
	At      string `json:"at,omitempty"`
}

// keepDelegations bounds the list: closed ones are only kept to recognise a
// completion that is reported again.
const keepDelegations = 48

// Load reads a state of any shape that a session may have on disk: version 4,
// version 3 (migrated), or the older one without a version. Where the older
// fields come with version 4 and without a graph, the graph follows from them.
func Load(data []byte) (*State, error) {
	data, err := EnsureV4(data)
	if err != nil {
		return nil, err
	}
	o, err := parseObject(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotState, err)
	}
	if o.member("version").Type == gjson.Null || !o.Has("dag") && o.member("workflowType").Type == gjson.String {
		return decodeOlder(o)
	}
	return decodeState(o)
}

// decodeOlder reads the shape of 000/001: the order of the stage keys is the
// order of the work, and the graph follows from it.
func decodeOlder(o object) (*State, error) {
	if !o.member("stages").IsObject() {
		return nil, fmt.Errorf("%w: no stages", errNotState)
	}
	s, err := decodeState(o)
	if err != nil {
		return nil, err
	}
	if s.DAG.Len() == 0 {
		s.DAG = dagOf(s.Stages.Keys(), unsaid)
	}
	if !o.Has("pipelineActive") {
		s.Active = s.Stages.Len() > 0 && !s.Done()
	}
	s.ActiveStages = s.stagesWith(Active)
	return s, nil
}

// decodeState reads what it can.
func decodeState(o object) (*State, error) {
	s := &State{raw: o}
	readFields(o.member, s)
	s.WorkflowType = cmp.Or(s.WorkflowType, o.member("classification").Get("pipelineId").String())
	for _, k := range s.DAG.Keys() {
		if !s.Stages.Has(k) {
			s.Stages.Set(k, StageState{Status: Pending})
		}
	}
	if err := s.DAG.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotState, err)
	}
	return s, nil
}

func count(r gjson.Result) int {
	if r.Type != gjson.Number || r.Num < 0 || r.Num > 1<<30 {
		return 0
	}
	return int(r.Num)
}

// Encode writes the state as version 4, two spaces and a final newline. Members
// that this version does not know keep their value and place.
func (s *State) Encode() []byte {
	o := s.raw.clone()
	o.put("version", version)
	o.fields(*s)
	return store.JSONFile(o)
}

func emptyList[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func nonNil(m map[string]int) map[string]int {
	if m == nil {
		return map[string]int{}
	}
	return m
}

// clone copies the state deeply enough that Apply never changes its input.
func (s *State) clone() *State {
	c := *s
	c.raw = s.raw.clone()
	c.DAG = DAG{s.DAG.clone(same)}
	c.Stages = s.Stages.clone(same)
	c.ActiveStages = slices.Clone(s.ActiveStages)
	c.ActiveAgents = s.ActiveAgents.clone(same)
	c.Retries, c.Crashes = maps.Clone(nonNil(s.Retries)), maps.Clone(nonNil(s.Crashes))
	c.RetryHistory = s.RetryHistory.clone(slices.Clone[[]Round])
	c.Delegations = slices.Clone(s.Delegations)
	c.Barriers = s.Barriers.clone()
	if s.PendingRetry != nil {
		c.PendingRetry = new(*s.PendingRetry)
	}
	return &c
}

// stage returns the state of a stage; one that is not listed is pending.
func (s *State) stage(key string) StageState {
	if st, ok := s.Stages.Get(key); ok {
		return st
	}
	return StageState{Status: Pending}
}

func (s *State) stagesWith(status string) []string {
	var keys []string
	for k, st := range s.Stages.All() {
		if st.Status == status {
			keys = append(keys, k)
		}
	}
	return keys
}

func finished(st StageState) bool { return st.Status == Completed || st.Status == Skipped }

// Done reports whether every stage is completed or skipped.
func (s *State) Done() bool {
	return !slices.ContainsFunc(s.keys(), func(k string) bool { return !finished(s.stage(k)) })
}

// HasPending reports whether a stage has not been begun.
func (s *State) HasPending() bool {
	return slices.ContainsFunc(s.keys(), func(k string) bool { return s.stage(k).Status == Pending })
}

// keys is the stages of the work: the graph's, or the listed ones.
func (s *State) keys() []string {
	if s.DAG.Len() > 0 {
		return s.DAG.Keys()
	}
	return s.Stages.Keys()
}

// Progress counts finished and all stages.
func (s *State) Progress() (done, total int) {
	for _, k := range s.keys() {
		if finished(s.stage(k)) {
			done++
		}
	}
	return done, len(s.keys())
}

// Unverified counts the stages that passed without saying so.
func (s *State) Unverified() int {
	n := 0
	for _, st := range s.Stages.All() {
		if st.Unverified {
			n++
		}
	}
	return n
}

// Ready is all stages that may be delegated now: pending, and every dependency
// completed or skipped.
func (s *State) Ready() []string {
	var ready []string
	for k, n := range s.DAG.All() {
		if s.stage(k).Status != Pending {
			continue
		}
		if !slices.ContainsFunc(n.Deps, func(d string) bool { return !finished(s.stage(d)) }) {
			ready = append(ready, k)
		}
	}
	return ready
}

// How a run ended.
const (
	endComplete  = "complete"
	endAborted   = "aborted"
	endCancelled = "cancelled"
)

// Broken reports whether a run was stopped before its end: cancelled by a person or
// given up by a stage.
func (s *State) Broken() bool {
	return !s.Active && (s.Ended == endAborted || s.Ended == endCancelled)
}

// Phase is where the run stands, for people to see: IDLE, CLASSIFIED,
// DELEGATING, RETRYING, COMPLETE, or how it was stopped: CANCELLED, ABORTED.
// Nothing routes by it.
func (s *State) Phase() string {
	switch {
	case s == nil:
		return "IDLE"
	case !s.Active && len(s.keys()) > 0 && s.Done():
		return "COMPLETE"
	case s.Broken():
		return strings.ToUpper(s.Ended)
	case !s.Active:
		return "IDLE"
	case s.DAG.Len() == 0:
		return "CLASSIFIED"
	case len(s.ActiveStages) > 0:
		return "DELEGATING"
	case s.Done():
		return "COMPLETE"
	}
	if slices.ContainsFunc(s.stagesWith(Failed), func(k string) bool { return s.Retries[k] > 0 }) {
		return "RETRYING"
	}
	return "CLASSIFIED"
}

// Stamp is the time format of every file we write.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Running is the stage that is at work, else the next one; "" = none left.
func (s *State) Running() string {
	if len(s.ActiveStages) > 0 {
		return s.ActiveStages[0]
	}
	return s.CurrentStage
}
