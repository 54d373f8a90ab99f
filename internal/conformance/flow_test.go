package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

type flowStep struct {
	Op       string
	Stage    string
	Route    json.RawMessage
	Text     string
	Group    string
	Total    int
	Next     *string
	Siblings []string
	Ms       int64
}

// flowRun plays a whole run through the engine. Between any two steps the state
// goes to its files and back, as it does between two hook processes.
type flowRun struct {
	t           *testing.T
	rules       workflow.Rules
	now         time.Time
	file        []byte
	barriers    []byte
	reflections map[string]string
	events      []string
	order       []string // events and delegations, in order
	last        string
	lastOut     workflow.Outcome
	rollbacks   int
}

func (f *flowRun) state() *workflow.State {
	f.t.Helper()
	if f.file == nil {
		return &workflow.State{}
	}
	s, err := workflow.Load(f.file)
	if err != nil {
		f.t.Fatal(err)
	}
	s.AttachBarriers(f.barriers)
	return s
}

func (f *flowRun) apply(ev workflow.Event) workflow.Outcome {
	f.t.Helper()
	f.now = f.now.Add(time.Second)
	var before *workflow.State
	if f.file != nil {
		before = f.state()
	}
	s, out := f.rules.Apply(before, ev)
	if s == nil {
		return out
	}
	f.file, f.barriers = s.Encode(), s.Barriers.Encode()
	for _, e := range out.Events {
		f.events = append(f.events, e.Type)
		f.order = append(f.order, e.Type)
	}
	for _, r := range out.Reflect {
		f.reflections[r.Stage] = workflow.WriteReflection(f.reflections[r.Stage], r, message.ZH)
	}
	for _, k := range out.Forget {
		delete(f.reflections, k)
	}
	if out.Kind == workflow.RolledBack {
		f.rollbacks++
	}
	return out
}

func (f *flowRun) complete(stage, text string) {
	f.t.Helper()
	line, err := json.Marshal(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}}}})
	if err != nil {
		f.t.Fatal(err)
	}
	ev := workflow.Completion{Stage: stage, Length: message.Units(text), At: f.now.Add(time.Second)}
	if r, ok := lastRoute(f.t, []string{string(line)}); ok {
		ev.Route = &r
	}
	f.lastOut = f.apply(ev)
	f.last = workflow.Instruction(f.state(), f.lastOut, message.ZH)
	if f.last != "" && workflow.EstimateTokens(f.last) >= 200 {
		f.t.Errorf("system message of %d tokens: %s", workflow.EstimateTokens(f.last), f.last)
	}
}

func runFlow(t *testing.T, c pipelineCase) {
	var in struct {
		Pipeline    string
		Stages      []string
		Environment json.RawMessage
		Steps       []flowStep
	}
	input(t, c, &in)
	f := &flowRun{t: t, rules: rules(), now: time.UnixMilli(1_700_000_000_000), reflections: map[string]string{}}
	var env workflow.Environment
	if len(in.Environment) > 0 {
		env = fragment(t, json.RawMessage(`{"environment":`+string(in.Environment)+`}`)).Environment
	}
	if in.Pipeline != "none" {
		out := f.apply(workflow.Start{SessionID: sid, WorkflowID: "w1", Type: in.Pipeline, Stages: in.Stages, Environment: env, At: f.now})
		if out.Kind != workflow.Started {
			t.Fatalf("not started: %v", out.Reason.In(message.EN))
		}
	}
	allowed := map[string]bool{}
	silent := map[int]bool{}
	for i, st := range in.Steps {
		if s := f.state(); f.file != nil && !s.Active && s.Ended != "" {
			break
		}
		switch st.Op {
		case "delegate":
			out := f.apply(workflow.Delegate{Stage: st.Stage, At: f.now.Add(time.Second)})
			allowed[fmt.Sprint(i)] = out.Kind != workflow.Denied
			if out.Kind == workflow.Delegated {
				f.order = append(f.order, "delegate "+st.Stage)
			}
		case "complete":
			f.complete(st.Stage, "done\n<!-- PIPELINE_ROUTE: "+string(st.Route)+" -->")
			silent[i] = f.last == ""
		case "complete_text":
			f.complete(st.Stage, st.Text)
			silent[i] = f.last == ""
		case "corrupt_barrier":
			f.barriers = []byte("\x00{not json")
		case "age_barrier":
			b, err := workflow.ParseBarriers(f.barriers)
			if err != nil {
				t.Fatal(err)
			}
			g, ok := b.Get(st.Group)
			if !ok {
				next := ""
				if st.Next != nil {
					next = *st.Next
				}
				g = workflow.NewGroup(st.Siblings, next, 0)
			}
			g.StartTime = f.now.UnixMilli() - st.Ms
			b.Set(st.Group, g)
			f.barriers = b.Encode()
		default:
			t.Fatalf("unknown op %q", st.Op)
		}
	}
	checkFlow(t, c, in.Steps, f, allowed, silent)
}

// ours translates the vectors' event names: one event has one name here, that of
// the older registry where both had it.
func ours(name string) string {
	switch name {
	case "delegation.start":
		return "agent:delegate"
	case "pipeline.start", "task.classified":
		return "workflow:start"
	case "pipeline.complete":
		return "workflow:complete"
	}
	return strings.Replace(name, ".", ":", 1)
}

func checkFlow(t *testing.T, c pipelineCase, steps []flowStep, f *flowRun, allowed map[string]bool, silent map[int]bool) {
	check := decode(t, c.Check).(map[string]any)
	wantAllowed, _ := check["delegate_allowed"].(map[string]any)
	for i, got := range allowed {
		want := true
		if w, ok := wantAllowed[i]; ok {
			want = w == true || w == "allowed"
		}
		if got != want {
			t.Errorf("step %s: delegation allowed = %v, want %v", i, got, want)
		}
	}
	for k, w := range check {
		switch k {
		case "delegate_allowed":
		case "step_silent":
			for _, i := range w.([]any) {
				if s, ran := silent[int(i.(float64))]; !ran || !s {
					t.Errorf("step %v is not silent", i)
				}
			}
		case "warn_message":
			if strings.Contains(f.last, "⚠") != w.(bool) {
				t.Errorf("last message %q, want a warning = %v", f.last, w)
			}
		case "last_message_mentions":
			for _, stage := range w.([]any) {
				if !mentions(f.last, stage.(string)) {
					t.Errorf("last message %q does not mention %v", f.last, stage)
				}
			}
		case "events_include":
			for _, e := range w.([]any) {
				if !slices.Contains(f.events, ours(e.(string))) {
					t.Errorf("no event %v in %v", e, f.events)
				}
			}
		case "events_exclude":
			for _, e := range w.([]any) {
				if slices.Contains(f.events, ours(e.(string))) {
					t.Errorf("event %v in %v", e, f.events)
				}
			}
		case "max_rollbacks":
			if float64(f.rollbacks) > w.(float64) {
				t.Errorf("%d rollbacks, want at most %v", f.rollbacks, w)
			}
		case "barrier_resolved_before":
			at, del := slices.Index(f.order, "barrier:resolved"), slices.Index(f.order, "delegate "+w.(string))
			if at < 0 || del >= 0 && del < at {
				t.Errorf("barrier:resolved does not come before %v: %v", w, f.order)
			}
		case "final":
			checkFinal(t, w.(map[string]any), f)
		default:
			t.Errorf("unknown key %q", k)
		}
	}
}

func mentions(text, stage string) bool {
	st, _ := workflow.Lookup(stage)
	return strings.Contains(text, stage) || st.Agent != "" && strings.Contains(text, st.Agent)
}

func checkFinal(t *testing.T, final map[string]any, f *flowRun) {
	s := f.state()
	names := func(l []string) []string { return append([]string{}, slices.Sorted(slices.Values(l))...) }
	list := func(key string, want any, got []string) {
		if w := unordered(want); !slices.Equal(w, names(got)) {
			t.Errorf("%s = %v, want %v", key, got, want)
		}
	}
	nonZero := func(m map[string]int) map[string]any {
		out := map[string]any{}
		for k, v := range m {
			if v != 0 {
				out[k] = float64(v)
			}
		}
		return out
	}
	withoutZero := func(w any) map[string]any {
		m := maps.Clone(w.(map[string]any))
		maps.DeleteFunc(m, func(_ string, v any) bool { return v == 0.0 })
		return m
	}
	for k, w := range final {
		switch k {
		case "pipelineActive":
			if s.Active != w.(bool) {
				t.Errorf("pipelineActive = %v, want %v", s.Active, w)
			}
		case "activeStages":
			list(k, w, s.ActiveStages)
		case "retries":
			if got := nonZero(s.Retries); !reflect.DeepEqual(got, withoutZero(w)) {
				t.Errorf("retries = %v, want %v", got, w)
			}
		case "crashes":
			if got := nonZero(s.Crashes); !reflect.DeepEqual(got, withoutZero(w)) {
				t.Errorf("crashes = %v, want %v", got, w)
			}
		case "stages":
			for stage, status := range w.(map[string]any) {
				st, ok := s.Stages.Get(stage)
				if !ok {
					st.Status = workflow.Pending
				}
				if st.Status != status {
					t.Errorf("stage %s is %s, want %v", stage, st.Status, status)
				}
			}
		case "phase":
			if s.Phase() != w {
				t.Errorf("phase = %s, want %v", s.Phase(), w)
			}
		case "ready":
			list(k, w, s.Ready())
		case "all_done":
			if s.Done() != w.(bool) {
				t.Errorf("all_done = %v, want %v", s.Done(), w)
			}
		case "retryHistory_keys":
			var keys []string
			for stage, rounds := range s.RetryHistory.All() {
				if len(rounds) > 0 {
					keys = append(keys, stage)
				}
			}
			list(k, w, keys)
		case "reflection_stages":
			list(k, w, slices.Collect(maps.Keys(f.reflections)))
		case "barrier_group":
			g, _ := s.Barriers.Get("post-dev")
			results := map[string]any{}
			for stage, r := range g.Results.All() {
				results[stage] = asJSON(t, r)
			}
			completed, _ := asJSON(t, g.Completed).([]any)
			if completed == nil {
				completed = []any{}
			}
			subset(t, k, w, map[string]any{"total": float64(g.Total), "completed": completed, "results": results, "resolved": g.Resolved, "next": g.Next})
		case "next_delegation":
			if !slices.Contains(f.lastOut.Next, w.(string)) || !strings.Contains(f.last, workflow.AgentOf(w.(string))) {
				t.Errorf("last message %q does not instruct to delegate %v", f.last, w)
			}
		default:
			t.Errorf("unknown key final.%s", k)
		}
	}
}
