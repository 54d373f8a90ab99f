package workflow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
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
	SessionID    string
	WorkflowID   string
	WorkflowType string
	CreatedAt    string
	CurrentStage string // the next one; "" = none left
	Active       bool   // pipelineActive
	DAG          DAG
	Stages       orderedMap[StageState]
	ActiveStages []string
	ActiveAgents orderedMap[activeAgent]
	Retries      map[string]int
	Crashes      map[string]int
	RetryHistory orderedMap[[]Round]
	PendingRetry *pendingRetry
	FailCount    int
	RejectCount  int
	RetroCount   int
	FeatureName  string
	Environment  Environment
	Delegations  []delegation
	Origin       *Origin // the user's file that the graph was read from; nil = a built-in one
	// Ended says why an inactive run is over: complete, aborted, cancelled.
	Ended string
	// EndReason is what was said about that: by whoever cancelled it, or by the
	// stage that gave up.
	EndReason string
	// Barriers is kept in a file of its own, derived from the rest.
	Barriers Barriers

	raw object
}

// StageState is what happened to a stage.
type StageState struct {
	Status      string
	Result      string // "", pass, fail, reject, issues
	Mode        string // of a TEST: spec before the DEV, verify after it
	Agent       string
	Verdict     *Route
	ContextFile string
	StartedAt   string
	CompletedAt string
	Reason      string
	Forced      bool // moved on although it failed or did not answer
	Unverified  bool // passed without saying so
	SkipWanted  bool // skip it when its turn comes

	raw unread
}

// activeAgent is an agent at work.
type activeAgent struct {
	Stage     string
	StartedAt string

	raw unread
}

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
	Language  string `json:"language,omitempty"`
	Framework string `json:"framework,omitempty"`
	Frontend  bool   `json:"frontend,omitempty"`

	raw unread
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

// decodeState reads what it can: a member of a wrong type reads as missing.
func decodeState(o object) (*State, error) {
	s := &State{raw: o}
	str := func(key string) string { return text(o.member(key)) }
	s.SessionID, s.WorkflowID, s.WorkflowType = str("sessionId"), str("workflowId"), str("workflowType")
	s.CreatedAt, s.CurrentStage, s.FeatureName, s.Ended = str("createdAt"), str("currentStage"), str("featureName"), str("ended")
	s.EndReason = str("endReason")
	s.WorkflowType = cmp.Or(s.WorkflowType, o.member("classification").Get("pipelineId").String())
	s.Active = o.member("pipelineActive").Bool()
	s.FailCount, s.RejectCount, s.RetroCount = count(o.member("failCount")), count(o.member("rejectCount")), count(o.member("retroCount"))
	s.DAG = decodeDAG(o.member("dag"))
	o.member("stages").ForEach(func(k, v gjson.Result) bool {
		s.Stages.Set(k.String(), decodeStage(v))
		return true
	})
	for _, k := range s.DAG.Keys() {
		if !s.Stages.Has(k) {
			s.Stages.Set(k, StageState{Status: Pending})
		}
	}
	s.ActiveStages = stringList(o.member("activeStages"))
	o.member("activeAgents").ForEach(func(k, v gjson.Result) bool {
		if v.IsObject() {
			s.ActiveAgents.Set(k.String(), activeAgent{Stage: v.Get("stage").String(), StartedAt: v.Get("startedAt").String(), raw: unread(v.Raw)})
		}
		return true
	})
	s.Retries, s.Crashes = counts(o.member("retries")), counts(o.member("crashes"))
	o.member("retryHistory").ForEach(func(k, v gjson.Result) bool {
		var rounds []Round
		if json.Unmarshal([]byte(v.Raw), &rounds) == nil {
			s.RetryHistory.Set(k.String(), rounds)
		}
		return true
	})
	if json.Unmarshal([]byte(o.member("pendingRetry").Raw), &s.PendingRetry) != nil {
		s.PendingRetry = nil
	}
	s.Environment = decodeEnvironment(o.member("environment"))
	s.Origin = decodeOrigin(o.member("origin"))
	if json.Unmarshal([]byte(o.member("delegations").Raw), &s.Delegations) != nil {
		s.Delegations = nil
	}
	if err := s.DAG.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotState, err)
	}
	return s, nil
}

func decodeDAG(r gjson.Result) DAG {
	var d DAG
	if !r.IsObject() {
		return d
	}
	r.ForEach(func(k, v gjson.Result) bool {
		n := node{Deps: stringList(v.Get("deps")), Next: stringList(v.Get("next")), Spec: decodeSpec(v.Get("stage")), raw: unread(v.Raw)}
		n.OnFail, n.MaxRetries = text(v.Get("onFail")), unsaid
		if m := v.Get("maxRetries"); m.Type == gjson.Number && m.Num >= 0 {
			n.MaxRetries = count(m)
		}
		if b := v.Get("barrier"); b.IsObject() {
			n.Barrier = &barrierRef{
				Group: b.Get("group").String(), Total: count(b.Get("total")), Siblings: stringList(b.Get("siblings")),
				Next: text(b.Get("next")), Timeout: time.Duration(count(b.Get("timeoutMs"))) * time.Millisecond,
			}
		}
		d.Set(k.String(), n)
		return true
	})
	return d
}

func decodeStage(v gjson.Result) StageState {
	str := func(key string) string { return text(v.Get(key)) }
	st := StageState{
		Status: str("status"), Result: str("result"), Mode: str("mode"), Agent: str("agent"),
		ContextFile: str("contextFile"), StartedAt: str("startedAt"), CompletedAt: str("completedAt"),
		Reason: str("reason"), Forced: v.Get("forced").Bool(), Unverified: v.Get("unverified").Bool(),
		SkipWanted: v.Get("skipWanted").Bool(), raw: unread(v.Raw),
	}
	switch st.Status {
	case Pending, Active, Completed, Failed, Skipped:
	default:
		st.Status = Pending
	}
	if r := v.Get("verdict"); r.IsObject() {
		st.Verdict = new(routeOf(objectOf(r)))
	}
	return st
}

func decodeEnvironment(v gjson.Result) Environment {
	if !v.IsObject() {
		return Environment{}
	}
	return Environment{
		Language: v.Get("languages.primary").String(), Framework: v.Get("framework.name").String(),
		Frontend: v.Get("frontend.detected").Bool(), raw: unread(v.Raw),
	}
}

// text is a string; a value of another kind reads as missing.
func text(r gjson.Result) string {
	if r.Type == gjson.String {
		return r.Str
	}
	return ""
}

func count(r gjson.Result) int {
	if r.Type != gjson.Number || r.Num < 0 || r.Num > 1<<30 {
		return 0
	}
	return int(r.Num)
}

func counts(r gjson.Result) map[string]int {
	m := map[string]int{}
	r.ForEach(func(k, v gjson.Result) bool {
		m[k.String()] = count(v)
		return true
	})
	return m
}

func stringList(r gjson.Result) []string {
	var list []string
	for _, v := range r.Array() {
		if v.Type == gjson.String && r.IsArray() {
			list = append(list, v.Str)
		}
	}
	return list
}

// Encode writes the state as version 4, two spaces and a final newline. Members
// that this version does not know keep their value and place.
func (s *State) Encode() []byte {
	o := s.raw.clone()
	o.put("version", version)
	o.put("sessionId", s.SessionID)
	o.putText("workflowId", s.WorkflowID)
	o.put("workflowType", s.WorkflowType)
	o.put("createdAt", s.CreatedAt)
	o.put("currentStage", orNull(s.CurrentStage))
	o.put("pipelineActive", s.Active)
	o.putText("ended", s.Ended)
	o.putText("endReason", s.EndReason)

	o.put("stages", objectWith(s.Stages, StageState.object))
	o.put("activeStages", emptyList(s.ActiveStages))
	o.put("activeAgents", objectWith(s.ActiveAgents, func(a activeAgent) object {
		ao := a.raw.object()
		ao.put("stage", a.Stage)
		ao.put("startedAt", a.StartedAt)
		return ao
	}))
	o.put("failCount", s.FailCount)
	o.put("rejectCount", s.RejectCount)
	o.putUnless(s.RetroCount == 0, "retroCount", s.RetroCount)
	o.put("featureName", orNull(s.FeatureName))
	o.put("retries", nonNil(s.Retries))
	o.put("crashes", nonNil(s.Crashes))
	o.put("retryHistory", objectWith(s.RetryHistory, emptyList[Round]))
	o.put("pendingRetry", s.PendingRetry)
	o.put("environment", s.Environment.object())
	if s.Origin != nil {
		o.put("origin", s.Origin.object(objectOf(o.member("origin"))))
	}
	o.put("dag", s.DAG.object())
	o.put("delegations", emptyList(s.Delegations))

	return o.file()
}

func (st StageState) object() object {
	o := st.raw.object()
	o.put("status", st.Status)
	o.put("result", orNull(st.Result))
	o.putText("mode", st.Mode)
	o.putText("agent", st.Agent)
	o.putText("contextFile", st.ContextFile)
	o.putText("startedAt", st.StartedAt)
	o.putText("completedAt", st.CompletedAt)
	o.putText("reason", st.Reason)
	o.putUnless(st.Verdict == nil, "verdict", st.Verdict)
	o.putUnless(!st.Forced, "forced", st.Forced)
	o.putUnless(!st.Unverified, "unverified", st.Unverified)
	o.putUnless(!st.SkipWanted, "skipWanted", st.SkipWanted)
	return o
}

func (d DAG) object() object {
	var o object
	for k, n := range d.All() {
		no := n.raw.object()
		no.put("deps", emptyList(n.Deps))
		no.put("next", emptyList(d.NextOf(k)))
		no.put("onFail", orNull(n.OnFail))
		// A stage without an onFail of its own follows the setting.
		if n.MaxRetries >= 0 && (n.OnFail != "" || no.Has("maxRetries")) {
			no.put("maxRetries", n.MaxRetries)
		}
		if b := n.Barrier; b != nil {
			bo := objectOf(no.member("barrier"))
			bo.put("group", b.Group)
			bo.put("total", b.Total)
			bo.put("siblings", emptyList(b.Siblings))
			bo.put("next", orNull(b.Next))
			bo.putUnless(b.Timeout == 0, "timeoutMs", b.Timeout.Milliseconds())
			no.put("barrier", bo)
		} else {
			no.put("barrier", nil)
		}
		if n.Spec != nil {
			no.put("stage", n.Spec.object(objectOf(no.member("stage"))))
		}
		o.put(k, no)
	}
	return o
}

func (e Environment) object() object {
	o := e.raw.object()
	for _, m := range []struct {
		group, key string
		value      any
		told       bool
	}{
		{"languages", "primary", e.Language, e.Language != ""},
		{"framework", "name", e.Framework, e.Framework != ""},
		{"frontend", "detected", true, e.Frontend},
	} {
		if m.told {
			g := objectOf(o.member(m.group))
			g.put(m.key, m.value)
			o.put(m.group, g)
		}
	}
	return o
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
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

// limit is how often a stage may send the work back.
func (r Rules) limit(n node) int {
	if n.MaxRetries == unsaid {
		return r.MaxRetries
	}
	return n.MaxRetries
}

// fillIn sets the limits that the file does not give.
func (r Rules) fillIn(s *State) {
	for k, n := range s.DAG.All() {
		n.MaxRetries = r.limit(n)
		s.DAG.Set(k, n)
	}
}

// maxRetries is the limit of a stage in a state that Apply gave.
func (s *State) maxRetries(stage string) int {
	n, _ := s.DAG.Get(stage)
	return n.MaxRetries
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
