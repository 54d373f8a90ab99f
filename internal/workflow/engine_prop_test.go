package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// testRules has every setting at its default.
func testRules() Rules {
	c := config.Defaults().Workflow
	return Rules{MaxRetries: c.MaxRetries, MaxCrashes: c.MaxCrashes, BarrierTimeout: c.BarrierTimeout, ContextDir: "~/.claude"}
}

// run drives the engine as a host would and checks, after every event, what must
// always hold.
type run struct {
	t     *rapid.T
	rules Rules
	s     *State
	now   time.Time
	log   []Event
	ids   []string // hand-overs ever made, open or not
	n     int

	rollbacks map[string]int
}

func (r *run) apply(ev Event) Outcome {
	before := r.s.Encode()
	next, out := r.rules.Apply(r.s, ev)
	if !bytes.Equal(before, r.s.Encode()) {
		r.t.Fatalf("Apply(%T) changed its input", ev)
	}
	r.log = append(r.log, ev)
	if out.Kind == RolledBack {
		for _, ref := range out.Reflect {
			r.rollbacks[ref.Stage]++
		}
	}
	r.check(r.s, next, ev, out)
	r.s = next
	return out
}

func (r *run) check(old, s *State, ev Event, out Outcome) {
	t := r.t
	for k, n := range r.rollbacks {
		if n > s.maxRetries(k) {
			t.Fatalf("%s sent the work back %d times, limit %d", k, n, s.maxRetries(k))
		}
	}
	for k := range s.Retries {
		if s.Retries[k] > s.maxRetries(k) {
			t.Fatalf("retries of %s: %d", k, s.Retries[k])
		}
	}
	for k, n := range s.Crashes {
		if n > r.rules.MaxCrashes && !s.Quality(k) {
			t.Fatalf("%s was handed out to %d agents that died", k, n)
		}
	}
	if !slices.Equal(s.ActiveStages, s.stagesWith(Active)) {
		t.Fatalf("activeStages %v, active %v", s.ActiveStages, s.stagesWith(Active))
	}
	// A barrier lets work pass only with all votes, or by time and then says so,
	// or because a person left a stage out.
	for name, g := range s.Barriers.All() {
		was, _ := old.Barriers.Get(name)
		if g.Resolved && !was.Resolved && len(g.Missing()) > 0 && len(out.Missing) == 0 {
			t.Fatalf("barrier %s was decided without %v and nobody said so (%T)", name, g.Missing(), ev)
		}
	}
	if len(out.Missing) > 0 && out.Kind != Denied {
		if text := Instruction(s, out, message.EN); text == "" || !bytes.Contains([]byte(text), []byte("⚠")) {
			t.Fatalf("a timeout without a warning: %q", text)
		}
	}
	if !s.Active {
		return
	}
	// No deadlock: something can be handed over, or somebody is at work.
	if len(s.Ready()) == 0 && len(s.ActiveStages) == 0 {
		t.Fatalf("deadlock after %#v\n%s\nbarriers %s", ev, s.Encode(), s.Barriers.Encode())
	}
	if s.Done() {
		t.Fatalf("all done, still active")
	}
	for k, n := range s.DAG.All() {
		if s.stage(k).Status == Active {
			for _, d := range n.Deps {
				if !finished(s.stage(d)) {
					t.Fatalf("%s is active before %s is done", k, d)
				}
			}
		}
	}
	if text := Instruction(s, out, message.ZH); EstimateTokens(text) >= 200 && s.DAG.Len() <= 12 && out.Kind != Started && out.Kind != Refused {
		t.Fatalf("instruction of %d tokens: %s", EstimateTokens(text), text)
	}
}

// disk writes the state to its files and reads it back.
func (r *run) disk() {
	s, err := Load(r.s.Encode())
	if err != nil {
		r.t.Fatalf("load: %v", err)
	}
	file := r.s.Barriers.Encode()
	switch rapid.IntRange(0, 4).Draw(r.t, "barrier file") {
	case 0:
		file = nil
	case 1:
		file = []byte("{broken")
	}
	s.AttachBarriers(file)
	if a, b := s.Encode(), r.s.Encode(); !bytes.Equal(a, b) {
		r.t.Fatalf("the state changed on disk:\n%s\n%s", a, b)
	}
	for name, g := range r.s.Barriers.All() {
		have, ok := s.Barriers.Get(name)
		if !ok && len(g.Completed) > 0 || ok && !slices.Equal(sorted(have.Completed), sorted(g.Completed)) {
			r.t.Fatalf("barrier %s: %v, rebuilt %v", name, g.Completed, have.Completed)
		}
	}
	r.s = s
}

func genRoute(t *rapid.T) *Route {
	if rapid.IntRange(0, 5).Draw(t, "marker") == 0 {
		return nil
	}
	r := Route{
		Verdict:     rapid.SampledFrom([]string{Pass, Pass, Pass, Fail, Fail, "maybe"}).Draw(t, "verdict"),
		Route:       rapid.SampledFrom([]string{Next, Next, Dev, Barrier, Complete, "LEFT"}).Draw(t, "route"),
		Severity:    rapid.SampledFrom([]string{"", "LOW", "MEDIUM", "HIGH", "CRITICAL"}).Draw(t, "severity"),
		Hint:        rapid.SampledFrom([]string{"", "修正 C-1", "x --> y"}).Draw(t, "hint"),
		ContextFile: rapid.SampledFrom([]string{"", "~/.claude/pipeline-context-s-REVIEW.md"}).Draw(t, "file"),
	}
	return &r
}

func (r *run) step() {
	t := r.t
	r.now = r.now.Add(time.Duration(rapid.IntRange(1, 200).Draw(t, "seconds")) * time.Second)
	r.n++
	id := fmt.Sprintf("d%d", r.n)
	keys := r.s.DAG.Keys()
	switch op := rapid.SampledFrom([]string{
		"delegate", "delegate", "delegate", "complete", "complete", "complete", "complete",
		"duplicate", "wild", "timeout", "recover", "drop", "skip", "bind", "disk",
	}).Draw(t, "op"); op {
	case "delegate":
		if ready := r.s.Ready(); len(ready) > 0 && r.s.Active {
			key := rapid.SampledFrom(ready).Draw(t, "ready")
			hand := Delegate{ID: id, Stage: key, AgentID: "a" + id, Async: rapid.Bool().Draw(t, "async"), At: r.now}
			out := r.apply(hand)
			if r.rules.givenUp(r.s, key) {
				if out.Kind != Denied || r.rules.GivenUp(r.s) == "" {
					t.Fatalf("%s is given up on and was handed out: %v", key, out.Kind)
				}
				// Each of these settles it.
				switch rapid.IntRange(0, 2).Draw(t, "settled") {
				case 0:
					r.apply(Resume{})
				case 1:
					for _, k := range r.s.DAG.downstream(key) {
						delete(r.rollbacks, k) // it has fresh retries
					}
					r.apply(Restart{Stage: key, At: r.now})
				default:
					r.apply(Skip{Stage: key, At: r.now})
					return
				}
				out = r.apply(hand)
			}
			if out.Kind != Delegated {
				t.Fatalf("%s is ready and was refused: %v", key, out.Reason.In(message.EN))
			}
			r.ids = append(r.ids, id)
			return
		}
		r.apply(Delegate{ID: id, Stage: rapid.SampledFrom(keys).Draw(t, "any"), At: r.now})
	case "complete":
		var open []delegation
		for _, d := range r.s.Delegations {
			if d.Open {
				open = append(open, d)
			}
		}
		if len(open) == 0 {
			return
		}
		d := rapid.SampledFrom(open).Draw(t, "open")
		ev := Completion{Route: genRoute(t), Died: rapid.IntRange(0, 3).Draw(t, "died") == 0, At: r.now}
		if ev.Died {
			ev.Route = nil
		}
		switch rapid.IntRange(0, 2).Draw(t, "by") {
		case 0:
			ev.ID = d.ID
		case 1:
			ev.AgentID = d.AgentID
			if ev.AgentID == "" {
				ev.ID = d.ID
			}
		default:
			ev.Stage = d.Stage
		}
		out := r.apply(ev)
		if out.Kind == Duplicate || out.Kind == Refused {
			t.Fatalf("an open hand-over of %s came to %v: %s", d.Stage, out.Kind, out.Reason.In(message.EN))
		}
		// Reported again, it changes nothing.
		if ev.ID != "" || ev.AgentID != "" {
			before := r.s.Encode()
			again := r.apply(ev)
			if !bytes.Equal(before, r.s.Encode()) || again.Kind != Duplicate && again.Kind != Refused {
				t.Fatalf("the completion of %s counted twice (%v)", d.Stage, again.Kind)
			}
		}
	case "duplicate":
		if len(r.ids) > 0 {
			r.apply(Completion{ID: rapid.SampledFrom(r.ids).Draw(t, "old"), Route: genRoute(t), At: r.now})
		}
	case "wild":
		r.apply(Completion{Agent: rapid.SampledFrom([]string{"overtone:developer", "overtone:qa", "Explore", "overtone:tester"}).Draw(t, "agent"), Route: genRoute(t), At: r.now})
	case "timeout":
		r.now = r.now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "wait")) * time.Second)
		r.apply(Tick{At: r.now})
	case "recover":
		r.apply(Recover{Background: rapid.Bool().Draw(t, "background")})
	case "drop":
		if len(r.ids) > 0 {
			r.apply(Drop{ID: rapid.SampledFrom(r.ids).Draw(t, "dropped")})
		}
	case "skip":
		if rapid.IntRange(0, 3).Draw(t, "really") == 0 {
			r.apply(Skip{Stage: rapid.SampledFrom(keys).Draw(t, "skipped"), At: r.now})
		}
	case "bind":
		r.apply(Bind{Agent: "overtone:tester", AgentID: "b" + id})
	case "disk":
		r.disk()
	}
}

var (
	quick    = []string{"DEV", "REVIEW", "TEST", "RETRO", "DOCS"}
	standard = []string{"PLAN", "ARCH", "TEST", "DEV", "REVIEW", "TEST", "RETRO", "DOCS"}
)

func genStages(t *rapid.T) (string, []string) {
	if rapid.Bool().Draw(t, "custom") {
		names := []string{"PLAN", "ARCH", "DEV", "DEV", "REVIEW", "TEST", "SECURITY", "DB-REVIEW", "QA", "E2E", "RETRO", "DOCS"}
		return "custom", rapid.SliceOfN(rapid.SampledFrom(names), 1, 9).Draw(t, "stages")
	}
	return "standard", standard
}

func TestEngineProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name, stages := genStages(t)
		r := &run{
			t: t, now: time.UnixMilli(1_700_000_000_000), rollbacks: map[string]int{},
			rules: testRules(),
		}
		r.rules.Strict, r.rules.MaxRetries = rapid.Bool().Draw(t, "strict"), rapid.IntRange(0, 4).Draw(t, "max")
		start := Start{SessionID: "s", WorkflowID: "w", Type: name, Stages: stages, At: r.now}
		s, out := r.rules.Apply(nil, start)
		if out.Kind != Started {
			t.Fatalf("not started: %v", out.Reason.In(message.EN))
		}
		if err := s.DAG.validate(); err != nil {
			t.Fatal(err)
		}
		r.s = s
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			if !r.s.Active {
				break
			}
			r.step()
		}
		// Whatever happened, the run can be brought to its end.
		for i := 0; r.s.Active; i++ {
			if i > 2000 {
				t.Fatalf("no end:\n%s", r.s.Encode())
			}
			r.now = r.now.Add(time.Second)
			if r.rules.GivenUp(r.s) != "" {
				r.apply(Resume{})
			}
			for _, k := range r.s.Ready() {
				if r.s.stage(k).Status == Pending {
					r.apply(Delegate{ID: fmt.Sprintf("e%d-%s", i, k), Stage: k, At: r.now})
				}
			}
			for _, k := range slices.Clone(r.s.ActiveStages) {
				if r.s.stage(k).Status == Active && r.s.Active {
					r.apply(Completion{Stage: k, Route: &Route{Verdict: Pass, Route: Next}, At: r.now})
				}
			}
		}
		for k, st := range r.s.Stages.All() {
			if !finished(st) && st.Reason == "" && r.s.Ended == "complete" {
				t.Fatalf("%s ended %s without an explanation", k, st.Status)
			}
		}
		// The same events give the same state.
		replay, _ := r.rules.Apply(nil, start)
		for _, ev := range r.log {
			replay, _ = r.rules.Apply(replay, ev)
		}
		if !sameState(t, replay, r.s) {
			t.Fatalf("replay differs:\n%s\n%s", replay.Encode(), r.s.Encode())
		}
	})
}

// sameState compares two states; a trip to the disk may move a member.
func sameState(t *rapid.T, a, b *State) bool {
	decode := func(s *State) (v any) {
		if err := json.Unmarshal(s.Encode(), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b)) && slices.Equal(a.Stages.Keys(), b.Stages.Keys())
}

// Completions after the end of a run are refused, with a reason.
func TestCompletionAfterCancel(t *testing.T) {
	t.Parallel()
	rules := testRules()
	now := time.UnixMilli(1_700_000_000_000)
	s, _ := rules.Apply(nil, Start{SessionID: "s", Type: "quick", Stages: quick, At: now})
	s, _ = rules.Apply(s, Delegate{ID: "1", Stage: "DEV", At: now})
	s, out := rules.Apply(s, Cancel{Reason: "no time"})
	if out.Kind != Cancelled || s.Active {
		t.Fatalf("cancel: %v", out.Kind)
	}
	s2, out := rules.Apply(s, Completion{ID: "1", Route: &Route{Verdict: Pass, Route: Next}, At: now})
	if out.Kind != Refused || out.Reason.In(message.EN) == "" || s2.stage("DEV").Status == Completed {
		t.Fatalf("completion after cancel: %v %q", out.Kind, out.Reason.In(message.EN))
	}
}

func FuzzParseRoute(f *testing.F) {
	f.Add(`ok <!-- PIPELINE_ROUTE: {"verdict":"PASS","route":"NEXT"} -->`)
	f.Add(`<!-- PIPELINE_ROUTE: {"hint":"a --> b","x":{"y":[1,{}]}} --> <!-- PIPELINE_ROUTE: nope -->`)
	f.Add("<!--PIPELINE_ROUTE:\n{\n}\n-->")
	f.Add(`<!-- PIPELINE_ROUTE: {"hint":"<!-- PIPELINE_ROUTE: {\"verdict\":\"FAIL\"} -->","verdict":"PASS"} -->`)
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := ParseRoute(text)
		if !ok {
			return
		}
		v := testRules().EnforcePolicy(ValidateRoute(r), nil, "REVIEW")
		if v.Verdict != Pass && v.Verdict != Fail {
			t.Errorf("verdict %q", v.Verdict)
		}
		if message.Units(v.Hint) > hintMax {
			t.Errorf("hint of %d units", message.Units(v.Hint))
		}
		if again := ValidateRoute(v); again.Warning != v.Warning {
			t.Errorf("validation is not stable: %q, then %q", v.Warning, again.Warning)
		}
	})
}

func FuzzLoad(f *testing.F) {
	s, _ := testRules().Apply(nil, Start{SessionID: "s", Type: "standard", Stages: standard, At: time.UnixMilli(0)})
	f.Add(s.Encode())
	f.Add([]byte(`{"sessionId":"x","workflowType":"quick","stages":{"DEV":{"status":"completed","result":"pass"},"TEST":null},"activeAgents":{"a":null},"foo":[1]}`))
	f.Add([]byte(`{"version":3,"dag":{"DEV":{"deps":[]}},"stages":{"DEV":{"status":"active"}},"retries":{"DEV":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Load(data)
		if err != nil {
			return
		}
		out := s.Encode()
		again, err := Load(out)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, out)
		}
		if !bytes.Equal(again.Encode(), out) {
			t.Fatalf("not stable:\n%s\n%s", out, again.Encode())
		}
		s.AttachBarriers(data)
		testRules().Apply(s, Tick{At: time.UnixMilli(1)})
	})
}
