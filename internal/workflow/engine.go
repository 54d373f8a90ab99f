package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Rules are the engine's settings. The zero value is the documented default.
type Rules struct {
	MaxRetries     int           // rollbacks per stage; 0 = 3
	MaxCrashes     int           // answers without a marker; 0 = 3
	BarrierTimeout time.Duration // 0 = 5 minutes
	Strict         bool          // a PASS nobody said is a FAIL
	ContextDir     string        // of 002's files; "" = ~/.claude/
}

func (r Rules) maxCrashes() int {
	if r.MaxCrashes > 0 {
		return r.MaxCrashes
	}
	return 3
}

func (r Rules) timeout() time.Duration {
	if r.BarrierTimeout > 0 {
		return r.BarrierTimeout
	}
	return BarrierTimeout
}

// Event is something that happened to a workflow. Events carry everything the
// engine may know, the time included: replaying them gives the same state.
type Event interface{ event() }

// Start begins a run.
type Start struct {
	SessionID, WorkflowID, Type string
	Stages                      []string // nil = the catalogue's list of Type
	Feature                     string
	Environment                 Environment
	At                          time.Time
}

// Delegate hands a stage over to an agent.
type Delegate struct {
	ID      string // the host's id of the hand-over
	Agent   string // agent type; its stage is looked up
	Stage   string // or the stage key itself
	AgentID string // when an agent that is known is spoken to again
	Async   bool
	At      time.Time
}

// Bind tells which agent works on a hand-over.
type Bind struct {
	ID      string // "" = the oldest open hand-over of the agent's stage
	Agent   string
	AgentID string
	Async   bool
}

// Ask records that an agent was asked for its marker in place.
type Ask struct{ AgentID string }

// Completion is the end of an agent's work. Any of ID, AgentID and Agent (or
// Stage) identifies it; the same completion may be reported any number of times.
type Completion struct {
	ID, AgentID string
	Agent       string
	Stage       string
	Route       *Route // nil = no valid marker
	Died        bool   // the agent ended by an error, not by an answer
	At          time.Time
}

// Drop takes an agent off its stage without counting anything: it never ran, or
// a person stopped it.
type Drop struct {
	ID, AgentID string
	At          time.Time
}

// Tick lets time pass: barriers may run out.
type Tick struct{ At time.Time }

// Cancel stops the run.
type Cancel struct {
	Reason string
	At     time.Time
}

// Skip leaves a stage out, now or when its turn comes.
type Skip struct {
	Stage string
	At    time.Time
}

// Restart does a stage and everything behind it again, with fresh retries.
type Restart struct {
	Stage string
	At    time.Time
}

// Recover takes agents that cannot be alive any more off their stages.
type Recover struct {
	Background bool // background agents too
	At         time.Time
}

// Feature names the feature the run belongs to, unless it has one.
type Feature struct{ Name string }

func (Start) event()      {}
func (Delegate) event()   {}
func (Bind) event()       {}
func (Ask) event()        {}
func (Completion) event() {}
func (Drop) event()       {}
func (Tick) event()       {}
func (Cancel) event()     {}
func (Skip) event()       {}
func (Restart) event()    {}
func (Recover) event()    {}
func (Feature) event()    {}

// Kind says what an event came to.
type Kind int

// Kinds of outcome.
const (
	Nothing     Kind = iota
	Started          // the run began
	Delegated        // a stage is active
	Untracked        // an agent without a stage here: allowed, not followed
	Denied           // a hand-over is refused; Reason says why
	Advanced         // the stage is done, Next may be handed over
	Waiting          // the vote is in, the barrier waits for others
	RolledBack       // the work goes back to Target
	Redelegate       // no marker: the stage is to be done again
	Finished         // the run is complete
	Aborted          // the run is over, Reason says why
	Cancelled        // the run was stopped by a person
	Refused          // a completion that does not count; Reason says why
	Duplicate        // a completion that was applied before
	SkippedKind      // a stage was left out
	Restarted        // stages are to be done again
)

// Outcome is what the shell has to do about an event: texts, files, timeline.
type Outcome struct {
	Kind       Kind
	Stage      string // the stage key concerned
	Agent      string // its agent
	Route      *Route // as corrected
	Result     string // pass, fail, reject, issues
	Forced     bool
	Unverified bool
	Next       []string // to be handed over now
	Target     string   // of a rollback
	Failed     []string // the stages that sent it back, worst first
	Round, Max int      // of a rollback or a crash
	Group      string   // a barrier that was decided
	Missing    []string // who did not vote in time
	WaitingFor []string // who still has to vote
	Merged     *Merged  // reports to join
	Stop       Stop     // what ShouldStop observed
	Reason     message.Reason
	Exhausted  []string // stages whose retries are spent
	Corrected  string   // "COMPLETE → NEXT": what the answer said, and what it came to

	Reflect []Reflection // rounds to remember
	Forget  []string     // stages whose reflections go
	Events  []Emission   // for the timeline
}

// Emission is an event for the timeline.
type Emission struct {
	Type string
	Data []Field
}

// Field is an ordered member of an emission.
type Field struct {
	Key   string
	Value any
}

func (o *Outcome) emit(typ string, kv ...any) {
	e := Emission{Type: typ}
	for i := 0; i+1 < len(kv); i += 2 {
		e.Data = append(e.Data, Field{kv[i].(string), kv[i+1]})
	}
	o.Events = append(o.Events, e)
}

// Apply is the engine: it gives the state after an event and what follows from
// it. It changes nothing it is given and asks nobody for the time.
func (r Rules) Apply(s *State, ev Event) (*State, Outcome) {
	if start, ok := ev.(Start); ok {
		return r.start(s, start)
	}
	if s == nil {
		s = &State{}
	}
	t := &transition{Rules: r, s: s.clone()}
	switch ev := ev.(type) {
	case Delegate:
		t.delegate(ev)
	case Bind:
		t.bind(ev)
	case Ask:
		for i := range t.s.Delegations {
			if d := &t.s.Delegations[i]; d.Open && d.AgentID == ev.AgentID && ev.AgentID != "" {
				d.Asked = true
			}
		}
	case Completion:
		t.complete(ev)
	case Drop:
		if key, open := t.find(Completion{ID: ev.ID, AgentID: ev.AgentID}); open {
			t.free(key)
			t.out.Next = t.s.Ready()
		}
	case Tick:
		t.tick(ev.At)
	case Cancel:
		t.cancel(ev)
	case Skip:
		t.skip(ev)
	case Restart:
		t.restart(ev)
	case Recover:
		t.recover(ev)
	case Feature:
		if t.s.FeatureName == "" {
			t.s.FeatureName = ev.Name
		}
	}
	t.sync()
	return t.s, t.out
}

func (r Rules) start(old *State, ev Start) (*State, Outcome) {
	if old != nil && old.Active {
		return old, Outcome{Kind: Refused, Reason: message.Because(message.WorkflowRunning, old.WorkflowType, ev.Type)}
	}
	stages := ev.Stages
	if stages == nil {
		tpl, ok := FindTemplate(ev.Type)
		if !ok {
			return old, Outcome{Kind: Refused, Reason: message.Because(message.UnknownTemplate, ev.Type)}
		}
		stages = tpl.Stages
	}
	if len(stages) == 0 {
		return old, Outcome{Kind: Nothing}
	}
	dag, err := TemplateToDAG(ev.Type, stages)
	if err != nil {
		return old, Outcome{Kind: Refused, Reason: message.Because(message.BadStages, err.Error())}
	}
	s := &State{
		SessionID: ev.SessionID, WorkflowID: ev.WorkflowID, WorkflowType: ev.Type, CreatedAt: Stamp(ev.At),
		Active: true, DAG: dag, FeatureName: ev.Feature, Environment: ev.Environment,
		Retries: map[string]int{}, Crashes: map[string]int{},
	}
	for k, n := range dag.All() {
		if r.MaxRetries > 0 && n.MaxRetries > 0 {
			n.MaxRetries = r.MaxRetries
			s.DAG.Set(k, n)
		}
		st := StageState{Status: Pending}
		if Base(k) == "TEST" {
			st.Mode = "spec"
			if devBefore(dag.Keys(), k) != "" {
				st.Mode = "verify"
			}
		}
		s.Stages.Set(k, st)
	}
	t := &transition{Rules: r, s: s}
	t.out.Kind = Started
	t.out.Next = s.Ready()
	t.out.emit("workflow:start", "workflowType", ev.Type, "workflowId", ev.WorkflowID, "stages", dag.Keys())
	t.sync()
	return s, t.out
}

// transition is one event being applied to a private copy of the state.
type transition struct {
	Rules
	s   *State
	out Outcome
}

func (t *transition) refuse(kind Kind, text message.Text, args ...any) {
	t.out.Kind, t.out.Reason = kind, message.Because(text, args...)
}

// update changes a stage in place.
func (t *transition) update(key string, f func(*StageState)) {
	st := t.s.stage(key)
	f(&st)
	t.s.Stages.Set(key, st)
}

// sync brings what is derived into line: who is active, and which stage is next.
func (t *transition) sync() {
	s := t.s
	s.ActiveStages = s.stagesWith(Active)
	for _, k := range slices.Clone(s.ActiveAgents.Keys()) {
		a, _ := s.ActiveAgents.Get(k)
		if s.stage(a.Stage).Status != Active {
			s.ActiveAgents.Delete(k)
		}
	}
	s.CurrentStage = ""
	for _, want := range []string{Pending, Active, Failed} {
		if keys := s.stagesWith(want); len(keys) > 0 && s.CurrentStage == "" {
			s.CurrentStage = keys[0]
		}
	}
	if n := len(s.Delegations) - keepDelegations; n > 0 {
		s.Delegations = slices.DeleteFunc(s.Delegations, func(d Delegation) bool {
			n--
			return n >= 0 && !d.Open
		})
	}
}

func (t *transition) delegate(ev Delegate) {
	s := t.s
	if !s.Active {
		t.out.Kind = Untracked
		return
	}
	key := ev.Stage
	if ev.AgentID != "" && key == "" {
		for _, d := range slices.Backward(s.Delegations) {
			if d.AgentID == ev.AgentID {
				key = d.Stage
				break
			}
		}
		if key == "" {
			t.out.Kind = Untracked
			return
		}
	}
	if key == "" {
		base := StageOfAgent(ev.Agent)
		if base == "" {
			t.out.Kind = Untracked
			return
		}
		key = t.choose(base)
	}
	if !s.DAG.Has(key) && key == Base(key) {
		key = t.choose(key)
	}
	if !s.DAG.Has(key) {
		t.out.Kind = Untracked
		return
	}
	t.out.Stage, t.out.Agent = key, agentName(key)
	st := s.stage(key)
	node, _ := s.DAG.Get(key)
	missing := slices.DeleteFunc(slices.Clone(node.Deps), func(d string) bool { return finished(s.stage(d)) })
	switch {
	case len(missing) > 0:
		// All that stands in the way, not only the last link of the chain.
		var before []string
		for _, k := range s.DAG.Keys() {
			if k != key && !finished(s.stage(k)) && slices.Contains(s.DAG.Downstream(k), key) {
				before = append(before, k)
			}
		}
		t.out.Missing = before
		t.refuse(Denied, message.DeniedDeps, key)
		t.out.emit("delegation:denied", "stage", key, "missing", before)
		return
	case finished(st):
		t.refuse(Denied, message.DeniedDone, key)
		t.out.emit("delegation:denied", "stage", key, "status", st.Status)
		return
	case st.Status == Failed:
		t.refuse(Denied, message.DeniedVoted, key)
		t.out.emit("delegation:denied", "stage", key, "status", st.Status)
		return
	}
	if st.Status == Active {
		t.close(key)
	}
	t.update(key, func(st *StageState) {
		st.Status, st.Agent, st.StartedAt = Active, agentName(key), Stamp(ev.At)
	})
	name := agentName(key)
	for n := 2; s.ActiveAgents.Has(name); n++ {
		name = agentName(key) + "#" + strconv.Itoa(n)
	}
	s.ActiveAgents.Set(name, ActiveAgent{Stage: key, StartedAt: Stamp(ev.At)})
	id := ev.ID
	if id == "" {
		id = fmt.Sprintf("%s/%d", key, len(s.Delegations)+1)
	}
	s.Delegations = append(s.Delegations, Delegation{
		ID: id, AgentID: ev.AgentID, Stage: key, Open: true, Async: ev.Async, At: Stamp(ev.At),
	})
	if b := node.Barrier; b != nil {
		g, ok := s.Barriers.Get(b.Group)
		if !ok {
			g = NewGroup(s.siblings(key), b.Next, 0)
			t.out.emit("parallel:start", "group", b.Group, "members", g.Siblings, "firstAgent", agentName(key))
		}
		g.StartTime = ev.At.UnixMilli()
		s.Barriers.Set(b.Group, g)
	}
	t.out.Kind = Delegated
	t.out.emit("stage:start", "stage", key, "agent", agentName(key))
	t.out.emit("agent:delegate", "agent", agentName(key), "stage", key)
}

// choose picks the key that an agent of a base stage is meant for: one that may
// start, else one that runs, else the first that is not done, else any.
func (t *transition) choose(base string) string {
	var keys []string
	for _, k := range t.s.DAG.Keys() {
		if Base(k) == base {
			keys = append(keys, k)
		}
	}
	ready := t.s.Ready()
	for _, fits := range []func(string) bool{
		func(k string) bool { return slices.Contains(ready, k) },
		func(k string) bool { return t.s.stage(k).Status == Active },
		func(k string) bool { return t.s.stage(k).Status == Failed },
		func(k string) bool { return t.s.stage(k).Status == Pending },
		func(string) bool { return true },
	} {
		if i := slices.IndexFunc(keys, fits); i >= 0 {
			return keys[i]
		}
	}
	return ""
}

func agentName(key string) string {
	st, _ := Lookup(key)
	return st.Agent
}

// close ends the open hand-overs of a stage: what they report later is stale.
func (t *transition) close(key string) {
	for i := range t.s.Delegations {
		if d := &t.s.Delegations[i]; d.Stage == key {
			d.Open = false
		}
	}
	for _, k := range slices.Clone(t.s.ActiveAgents.Keys()) {
		if a, _ := t.s.ActiveAgents.Get(k); a.Stage == key {
			t.s.ActiveAgents.Delete(k)
		}
	}
}

// free makes the stage of an agent that is gone pending again.
func (t *transition) free(key string) {
	t.close(key)
	t.update(key, func(st *StageState) { st.Status, st.StartedAt = Pending, "" })
}

func (t *transition) bind(ev Bind) {
	if ev.AgentID == "" {
		return
	}
	base := StageOfAgent(ev.Agent)
	if ev.ID == "" {
		for _, d := range t.s.Delegations {
			if d.Open && d.AgentID == ev.AgentID {
				return
			}
		}
	}
	for i := range t.s.Delegations {
		d := &t.s.Delegations[i]
		if ev.ID != "" && d.ID == ev.ID {
			d.AgentID, d.Async = ev.AgentID, d.Async || ev.Async
			return
		}
		if ev.ID == "" && d.Open && d.AgentID == "" && base != "" && Base(d.Stage) == base {
			d.AgentID = ev.AgentID
			return
		}
	}
}

// find tells which stage a completion ends. The host's id of the hand-over is
// the surest sign, the agent's id the next, the stage alone the last.
func (t *transition) find(ev Completion) (key string, ok bool) {
	s := t.s
	by := func(match func(Delegation) bool) (found, open bool) {
		for _, d := range slices.Backward(s.Delegations) {
			if match(d) {
				found = true
				if d.Open {
					key = d.Stage
					return true, true
				}
				key = d.Stage
			}
		}
		return found, false
	}
	if ev.ID != "" {
		if found, open := by(func(d Delegation) bool { return d.ID == ev.ID }); found {
			return key, open
		}
	}
	if ev.AgentID != "" {
		if found, open := by(func(d Delegation) bool { return d.AgentID == ev.AgentID }); found {
			return key, open
		}
	}
	base := ev.Stage
	if base == "" {
		base = StageOfAgent(ev.Agent)
	}
	if base == "" {
		return "", false
	}
	if _, open := by(func(d Delegation) bool {
		return d.Open && (d.Stage == base || Base(d.Stage) == base) && (ev.AgentID == "" || d.AgentID == "")
	}); open {
		return key, true
	}
	if s.DAG.Has(base) && base != Base(base) {
		key = base
	} else {
		key = t.choose(base)
	}
	if key == "" {
		return base, false
	}
	// Nobody saw the hand-over: count the answer if the stage could have run.
	st := s.stage(key)
	return key, st.Status == Active || slices.Contains(s.Ready(), key)
}

func (t *transition) complete(ev Completion) {
	s := t.s
	key, open := t.find(ev)
	t.out.Stage, t.out.Agent = key, agentName(key)
	switch {
	case !s.Active:
		t.refuse(Refused, message.RefusedInactive, key)
	case key == "":
		t.refuse(Refused, message.RefusedUnknown, ev.Agent)
	case !s.DAG.Has(key):
		t.refuse(Refused, message.RefusedOutside, key)
	case !open && (finished(s.stage(key)) || s.stage(key).Status == Failed):
		t.out.Kind = Duplicate
		if g, ok := t.late(key, ev); ok {
			t.out.emit("stage:refused", "stage", key, "barrierGroup", g, "reason", "late")
		}
	case !open:
		t.refuse(Refused, message.RefusedStale, key)
	default:
		t.answer(key, ev)
	}
	if t.out.Kind == Refused {
		t.out.emit("stage:refused", "stage", key, "agent", AgentName(ev.Agent), "reason", t.out.Reason.In(message.ZH))
	}
}

// late records the vote of a stage that the barrier did not wait for.
func (t *transition) late(key string, ev Completion) (group string, ok bool) {
	st := t.s.stage(key)
	node, _ := t.s.DAG.Get(key)
	if st.Status != Skipped || !st.Forced || node.Barrier == nil || ev.Route == nil || st.Verdict != nil {
		return "", false
	}
	route := EnforcePolicy(ValidateRoute(*ev.Route), t.s, key)
	t.update(key, func(st *StageState) {
		st.Verdict, st.Result, st.CompletedAt = &route, ResultOf(key, route.Verdict), Stamp(ev.At)
	})
	return node.Barrier.Group, true
}

func (t *transition) answer(key string, ev Completion) {
	s := t.s
	var route Route
	if ev.Route == nil {
		if Quality(key) || ev.Died {
			s.Crashes[key]++
			n := s.Crashes[key]
			// Work that was never done is not done by default: only a verdict is
			// given up on.
			again := n < t.maxCrashes() || !Quality(key)
			t.out.emit("agent:crash", "stage", key, "crashCount", n, "willRetry", again)
			if again {
				t.free(key)
				t.out.Kind, t.out.Round, t.out.Max = Redelegate, n, t.maxCrashes()
				t.out.Next = []string{key}
				return
			}
		}
		route = Route{Verdict: Pass, Route: Next, Unverified: true}
		route.warn("no valid PIPELINE_ROUTE in the answer, taken as PASS")
		t.out.emit("route:fallback", "stage", key, "warning", route.Warning)
	} else {
		delete(s.Crashes, key)
		route = ValidateRoute(*ev.Route)
	}
	if route.Unverified && t.Strict {
		route.Verdict, route.Route, route.Severity, route.Unverified = Fail, Dev, "HIGH", false
		route.warn("strict: an answer without a verdict is a FAIL")
	}
	route = EnforcePolicy(route, s, key)
	if route.Route == Complete && route.Verdict == Pass && !t.last(key) {
		route.Route = Next
		route.warn("COMPLETE before the last stage, taken as NEXT")
	}
	if ev.Route != nil && route.Warning != "" {
		t.out.emit("route:corrected", "stage", key, "warning", route.Warning)
		if said := ev.Route.Route; said != route.Route && route.Route != Barrier && route.Verdict == Pass {
			if said == "" {
				said = "?"
			}
			t.out.Corrected = said + " → " + route.Route
		}
	}
	t.out.Route, t.out.Unverified, t.out.Result = &route, route.Unverified, ResultOf(key, route.Verdict)
	t.close(key)
	t.update(key, func(st *StageState) {
		st.Verdict, st.Unverified, st.Forced, st.Reason = &route, route.Unverified, false, ""
		st.Result, st.CompletedAt = t.out.Result, Stamp(ev.At)
		if route.ContextFile != "" {
			st.ContextFile = route.ContextFile
		}
	})
	switch t.out.Result {
	case "fail":
		s.FailCount++
		t.out.emit("agent:error", "agent", agentName(key), "stage", key, "reason", "agent 回報 fail")
	case "reject":
		s.RejectCount++
	case "issues":
		s.RetroCount++
	}
	t.out.emit("agent:complete", "agent", agentName(key), "stage", key, "result", t.out.Result)
	t.out.emit("stage:complete", "stage", key, "result", t.out.Result)
	t.decide(key, route, ev.At)
}

// last reports whether nothing is left to do once key is done.
func (t *transition) last(key string) bool {
	for _, k := range t.s.DAG.Keys() {
		if k != key && !finished(t.s.stage(k)) {
			return false
		}
	}
	return true
}

func (t *transition) decide(key string, route Route, at time.Time) {
	s := t.s
	switch {
	case route.Route == Abort:
		t.update(key, func(st *StageState) { st.Status, st.Reason = Failed, route.Hint })
		t.end("aborted")
		t.out.Kind, t.out.Reason = Aborted, message.Because(message.Verbatim, route.Hint)
		t.out.emit("pipeline:aborted", "stage", key, "reason", route.Hint)
		t.out.emit("workflow:abort", "workflowType", s.WorkflowType, "failCount", s.FailCount, "rejectCount", s.RejectCount)
	case route.Route == Barrier && t.votes(key):
		t.vote(key, route, at)
	case route.Verdict == Fail && route.Route == Dev:
		t.rollback([]string{key}, at)
	default:
		t.pass(key, route, at)
	}
}

// votes reports whether the stage has a barrier to vote in. A route BARRIER of a
// stage without one is taken as NEXT.
func (t *transition) votes(key string) bool {
	n, _ := t.s.DAG.Get(key)
	return n.Barrier != nil
}

// pass completes a stage and lets the work go on.
func (t *transition) pass(key string, route Route, at time.Time) {
	failed := route.Verdict == Fail && t.out.Result != "issues"
	t.update(key, func(st *StageState) { st.Status, st.Forced = Completed, failed })
	t.out.Forced = failed
	if failed {
		t.exhausted(key)
	} else {
		t.forget(key)
	}
	t.advance(at)
}

func (t *transition) exhausted(key string) {
	if limit := t.s.maxRetries(key); t.s.Retries[key] >= limit {
		t.out.Exhausted = append(t.out.Exhausted, key)
		t.out.emit("retry:exhausted", "stage", key, "retryCount", t.s.Retries[key], "reason", "max-retries-exhausted")
	}
}

// forget drops the reflections of a stage that failed before and passed now.
func (t *transition) forget(key string) {
	if t.s.Retries[key] > 0 {
		t.out.Forget = append(t.out.Forget, key)
	}
	if p := t.s.PendingRetry; p != nil {
		p.Stages = slices.DeleteFunc(slices.Clone(p.Stages), func(r RetryStage) bool { return r.ID == key })
		if len(p.Stages) == 0 {
			t.s.PendingRetry = nil
		}
	}
}

// advance leaves out what is to be skipped, ends the run when all is done, and
// else names what may be handed over now.
func (t *transition) advance(at time.Time) {
	s := t.s
	for again := true; again; {
		again = false
		for _, k := range s.Ready() {
			if s.stage(k).SkipWanted {
				if t.leaveOut(k, at) {
					return
				}
				again = true
			}
		}
	}
	if s.Done() {
		t.end("complete")
		t.out.Kind = Finished
		t.out.emit("workflow:complete", "workflowType", s.WorkflowType, "failCount", s.FailCount,
			"rejectCount", s.RejectCount, "unverified", s.Unverified(), "duration", t.duration(at))
		return
	}
	t.out.Kind, t.out.Next = Advanced, s.Ready()
	if len(t.out.Next) == 0 {
		t.out.WaitingFor = s.stagesWith(Active)
	}
}

func (t *transition) duration(at time.Time) int64 {
	if begin, err := time.Parse(time.RFC3339, t.s.CreatedAt); err == nil {
		return max(0, at.Sub(begin).Milliseconds())
	}
	return 0
}

func (t *transition) end(why string) {
	t.s.Active, t.s.Ended = false, why
	t.s.PendingRetry = nil
	for i := range t.s.Delegations {
		t.s.Delegations[i].Open = false
	}
	for _, k := range t.s.stagesWith(Active) {
		t.update(k, func(st *StageState) { st.Status = Pending })
	}
}

// vote casts a stage's verdict in its barrier and acts when it is decided.
func (t *transition) vote(key string, route Route, at time.Time) {
	s := t.s
	node, _ := s.DAG.Get(key)
	name := node.Barrier.Group
	g, ok := s.Barriers.Get(name)
	if !ok {
		g = NewGroup(s.siblings(key), node.Barrier.Next, at.UnixMilli())
	}
	if g.StartTime == 0 {
		g.StartTime = at.UnixMilli()
	}
	t.update(key, func(st *StageState) {
		st.Status = Completed
		if route.Verdict == Fail {
			st.Status = Failed
		}
	})
	_, merged := g.Report(key, route, t.mergedPath())
	s.Barriers.Set(name, g)
	if merged != nil {
		t.resolve(name, *merged, at)
		return
	}
	if t.expire(name, at) {
		return
	}
	t.out.Kind, t.out.Group = Waiting, name
	t.out.WaitingFor = g.Missing()
	t.out.Next = slices.DeleteFunc(s.Ready(), func(k string) bool { return !slices.Contains(g.Siblings, k) })
	t.out.emit("barrier:waiting", "barrierGroup", name, "completedCount", len(g.Completed), "totalCount", g.Total,
		"completedStages", slices.Clone(g.Completed), "waitingStages", t.out.WaitingFor)
}

func (t *transition) mergedPath() string {
	return contextDir(t.ContextDir) + ContextName(t.s.SessionID, MergedContext)
}

// resolve acts on the merged result of a barrier.
func (t *transition) resolve(name string, m Merged, at time.Time) {
	t.out.Group = name
	t.out.emit("barrier:resolved", "barrierGroup", name, "verdict", m.Verdict, "next", m.Target, "severity", m.Severity)
	t.out.emit("parallel:converge", "group", name)
	g, _ := t.s.Barriers.Get(name)
	for _, k := range g.Completed {
		if !slices.Contains(m.Failed, k) {
			t.forget(k)
		}
	}
	if m.Verdict == Pass {
		t.advance(at)
		return
	}
	t.out.Merged = &m
	t.rollback(m.Failed, at)
}

// rollback sends the work back to the DEV in front of the failed stages, unless
// their retries are spent. What is counted is counted on the stages that
// failed; whatever lies behind that DEV is to be done again.
func (t *transition) rollback(failed []string, at time.Time) {
	s := t.s
	var again []string
	observed := map[string]Stop{}
	for _, k := range failed {
		st := s.stage(k)
		rounds, _ := s.RetryHistory.Get(k)
		stop := ShouldStop(st.Verdict, s.Retries[k], rounds, s.maxRetries(k))
		if stop.Stop || s.DAG.Rework(k) == "" {
			t.exhausted(k)
			continue
		}
		if t.out.Stop.Warning == "" {
			t.out.Stop = stop
		}
		again, observed[k] = append(again, k), stop
	}
	if len(again) == 0 {
		for _, k := range failed {
			t.update(k, func(st *StageState) { st.Status, st.Forced = Completed, true })
		}
		t.out.Forced, t.out.Failed, t.out.Merged = true, failed, nil
		t.advance(at)
		return
	}
	target := s.DAG.Rework(again[0])
	pending := &PendingRetry{}
	for _, k := range again {
		if d := s.DAG.Rework(k); slices.Index(s.DAG.Keys(), d) < slices.Index(s.DAG.Keys(), target) {
			target = d
		}
		st := s.stage(k)
		s.Retries[k]++
		rounds, _ := s.RetryHistory.Get(k)
		round := Round{Verdict: Fail, Round: s.Retries[k]}
		if st.Verdict != nil {
			round.Severity, round.Hint = st.Verdict.Severity, st.Verdict.Hint
		}
		s.RetryHistory.Set(k, append(slices.Clone(rounds), round))
		pending.Stages = append(pending.Stages, RetryStage{ID: k, Severity: round.Severity, Round: s.Retries[k]})
		t.out.Reflect = append(t.out.Reflect, Reflection{Stage: k, Round: s.Retries[k], Route: st.Verdict, At: at})
		seen := []any{"stage", k, "failCount", s.Retries[k], "reason", observed[k].Reason}
		if w := observed[k].Warning; w != "" {
			seen = append(seen, "warning", w)
		}
		if n := observed[k].Note; n != "" {
			seen = append(seen, "note", n)
		}
		t.out.emit("stage:retry", seen...)
	}
	if t.out.Merged != nil {
		pending.ContextFile = t.out.Merged.ContextFile
	}
	s.PendingRetry = pending
	t.reset(s.DAG.Downstream(target))
	t.out.Kind, t.out.Target, t.out.Failed = RolledBack, target, failed
	t.out.Round, t.out.Max = s.Retries[again[0]], s.maxRetries(again[0])
	t.out.Next = []string{target}
}

// reset makes stages pending again and forgets the votes of their barriers. A
// failed stage keeps its report for whoever mends it; what it said is in the
// retry history.
func (t *transition) reset(keys []string) {
	for _, k := range keys {
		t.close(k)
		t.update(k, func(st *StageState) {
			if st.Status == Skipped && !st.Forced {
				return
			}
			st.Status, st.Result, st.Verdict, st.Reason = Pending, "", nil, ""
			st.Forced, st.Unverified, st.StartedAt, st.CompletedAt = false, false, "", ""
		})
	}
	t.s.resetBarriers(keys)
}

// tick lets barriers that waited too long go on.
func (t *transition) tick(at time.Time) {
	if !t.s.Active {
		return
	}
	for _, name := range slices.Clone(t.s.Barriers.Keys()) {
		if t.expire(name, at) {
			return
		}
	}
}

// expire decides a barrier whose time is up: a FAIL that was cast sends the
// work back, else it goes on without the missing votes, and says so. A stage
// that was never handed over is not late: it has only to be handed over.
func (t *transition) expire(name string, at time.Time) bool {
	s := t.s
	g, ok := s.Barriers.Get(name)
	if !ok || !g.TimedOut(at, t.timeout()) {
		return false
	}
	missing := g.Missing()
	if len(missing) == 0 || slices.ContainsFunc(missing, func(k string) bool { return s.stage(k).Status != Active }) {
		return false
	}
	g.Resolved = true
	s.Barriers.Set(name, g)
	t.out.Missing = missing
	t.out.emit("barrier:timeout", "barrierGroup", name, "missing", missing)
	m := MergeBarrierResults(g, t.mergedPath())
	for _, k := range missing {
		t.close(k)
		t.update(k, func(st *StageState) {
			st.Status, st.Forced, st.Reason = Skipped, true, "barrier timeout"
		})
	}
	t.resolve(name, m, at)
	return true
}

func (t *transition) cancel(ev Cancel) {
	if !t.s.Active {
		t.refuse(Refused, message.RefusedInactive, t.s.WorkflowType)
		return
	}
	t.end("cancelled")
	t.out.Kind = Cancelled
	var done []string
	for k, st := range t.s.Stages.All() {
		if finished(st) {
			done = append(done, k)
		}
	}
	t.out.emit("pipeline:cancelled", "reason", ev.Reason, "completedStages", emptyList(done))
}

func (t *transition) skip(ev Skip) {
	st, ok := t.s.Stages.Get(ev.Stage)
	t.out.Stage = ev.Stage
	switch {
	case !t.s.Active:
		t.refuse(Refused, message.RefusedInactive, t.s.WorkflowType)
	case !ok:
		t.refuse(Refused, message.RefusedOutside, ev.Stage)
	case st.Status == Active:
		t.refuse(Refused, message.RefusedActive, ev.Stage)
	case st.Status != Pending:
		t.refuse(Refused, message.DeniedDone, ev.Stage)
	default:
		t.update(ev.Stage, func(st *StageState) { st.SkipWanted = true })
		t.advance(ev.At)
		if t.out.Kind == Advanced {
			t.out.Kind = SkippedKind
		}
	}
}

// leaveOut skips a stage. It reports whether that decided the barrier the stage
// should have voted in.
func (t *transition) leaveOut(key string, at time.Time) (decided bool) {
	t.update(key, func(st *StageState) { st.Status, st.SkipWanted, st.CompletedAt = Skipped, false, Stamp(at) })
	t.out.emit("stage:skip", "stage", key)
	node, _ := t.s.DAG.Get(key)
	if node.Barrier == nil {
		return false
	}
	g, ok := t.s.Barriers.Get(node.Barrier.Group)
	if !ok || g.Resolved {
		return false
	}
	g.Siblings = t.s.siblings(key)
	g.Total = len(g.Siblings)
	t.s.Barriers.Set(node.Barrier.Group, g)
	if g.Total == 0 || len(g.Completed) < g.Total {
		return false
	}
	g.Resolved = true
	t.s.Barriers.Set(node.Barrier.Group, g)
	t.resolve(node.Barrier.Group, MergeBarrierResults(g, t.mergedPath()), at)
	return true
}

func (t *transition) restart(ev Restart) {
	if !t.s.DAG.Has(ev.Stage) {
		t.refuse(Refused, message.RefusedOutside, ev.Stage)
		return
	}
	keys := t.s.DAG.Downstream(ev.Stage)
	t.reset(keys)
	for _, k := range keys {
		delete(t.s.Retries, k)
		delete(t.s.Crashes, k)
		t.s.RetryHistory.Delete(k)
		t.out.Forget = append(t.out.Forget, k)
		t.update(k, func(st *StageState) {
			if st.Status == Skipped {
				st.Status = Pending
			}
			st.SkipWanted = false
		})
	}
	t.s.PendingRetry = nil
	t.s.Active, t.s.Ended = true, ""
	t.out.Kind, t.out.Stage, t.out.Next = Restarted, ev.Stage, t.s.Ready()
	t.out.emit("workflow:restart", "stage", ev.Stage, "stages", keys)
}

// recover frees stages whose agents ended without a word.
func (t *transition) recover(ev Recover) {
	if !t.s.Active {
		return
	}
	async := map[string]bool{}
	for _, d := range t.s.Delegations {
		if d.Open {
			async[d.Stage] = d.Async
		}
	}
	for _, k := range t.s.stagesWith(Active) {
		if async[k] && !ev.Background {
			continue
		}
		t.free(k)
		t.out.emit("agent:orphan-cleanup", "stage", k, "agent", agentName(k))
	}
	t.out.Next = t.s.Ready()
}
