package workflow

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Rules are the engine's settings, all of them said: what a default is, package
// config knows.
type Rules struct {
	MaxRetries     int           // rollbacks per stage; 0 = none
	MaxCrashes     int           // answers without a marker, from 1
	BarrierTimeout time.Duration // how long a barrier waits for its last vote
	Strict         bool          // a PASS nobody said is a FAIL
	ContextDir     string        // of 002's files, as models are told it
}

// Apply is the engine: it gives the state after an event and what follows from
// it. It changes nothing it is given and asks nobody for the time. An event that
// leaves all as it was, such as a start that is refused, gives s itself.
func (r Rules) Apply(s *State, ev Event) (*State, Outcome) {
	t := &transition{Rules: r, s: &State{}}
	if s != nil {
		t.s = s.clone()
		r.fillIn(t.s)
	}
	ev.apply(t)
	if t.untouched {
		return s, t.out
	}
	t.sync()
	return t.s, t.out
}

func (ev Start) apply(t *transition) {
	t.untouched = true
	if t.s.Active {
		t.refuse(Refused, message.WorkflowRunning, t.s.WorkflowType, ev.Type)
		return
	}
	plan := ev.Plan
	if plan == nil {
		dag, err := t.TemplateToDAG(ev.Type, ev.Stages)
		if err != nil {
			t.refuse(Refused, message.BadStages, err.Error())
			return
		}
		plan = &Plan{DAG: dag}
	}
	dag := DAG{plan.DAG.clone(same)}
	if dag.Len() == 0 {
		return
	}
	t.untouched = false
	t.s = &State{
		SessionID: ev.SessionID, WorkflowID: ev.WorkflowID, WorkflowType: ev.Type, CreatedAt: Stamp(ev.At),
		Active: true, DAG: dag, FeatureName: ev.Feature, Environment: ev.Environment,
		Retries: map[string]int{}, Crashes: map[string]int{}, Origin: plan.Origin,
	}
	t.fillIn(t.s)
	for k := range dag.All() {
		st := StageState{Status: Pending}
		if Base(k) == "TEST" {
			st.Mode = "spec"
			if slices.ContainsFunc(dag.before(k), func(k string) bool { return Base(k) == "DEV" }) {
				st.Mode = "verify"
			}
		}
		t.s.Stages.Set(k, st)
	}
	t.out.Kind, t.out.Next = Started, t.s.Ready()
	t.out.emit(message.EventWorkflowStart, "workflowType", ev.Type, "workflowId", ev.WorkflowID, "stages", dag.Keys())
}

func (ev Ask) apply(t *transition) {
	for i := range t.s.Delegations {
		if d := &t.s.Delegations[i]; d.Open && d.AgentID == ev.AgentID && ev.AgentID != "" {
			d.Asked = true
		}
	}
}

func (ev Drop) apply(t *transition) {
	if key, open := t.find(Completion{ID: ev.ID, AgentID: ev.AgentID}); open {
		t.free(key)
		t.out.Next = t.s.Ready()
	}
}

func (ev Feature) apply(t *transition) {
	t.s.FeatureName = cmp.Or(t.s.FeatureName, ev.Name)
}

// transition is one event being applied to a private copy of the state.
type transition struct {
	Rules
	s         *State
	untouched bool // the event left all as it was
	out       Outcome
	running   []string // the agents that are known to be at work
}

func (t *transition) refuse(kind Kind, text message.Text, args ...any) {
	t.out.Kind, t.out.Reason = kind, message.Because(text, args...)
}

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
		s.Delegations = slices.DeleteFunc(s.Delegations, func(d delegation) bool {
			n--
			return n >= 0 && !d.Open
		})
	}
}
