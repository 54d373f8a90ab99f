package workflow

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A group that nobody has been handed a stage of is rebuilt empty, and does not
// get into the file before its first hand-over.
func TestRebuildBarriersNotBegun(t *testing.T) {
	t.Parallel()
	s, err := Load([]byte(`{"workflowType":"mine","stages":{"DEV":{"status":"completed"},"REVIEW":{},"TEST":{},"DOCS":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	b := RebuildBarriers(s)
	g, ok := b.Get("post-dev")
	if !ok || g.Total != 2 || g.Next != "DOCS" || g.Resolved || g.StartTime != 0 || len(g.Completed) != 0 {
		t.Errorf("rebuilt %+v, %v", g, ok)
	}
	if s.AttachBarriers(nil) || s.Barriers.Len() != 0 {
		t.Errorf("attached %v", s.Barriers.Keys())
	}
}

// A rejected stage of the older shape is completed and has no verdict; its vote is
// a FAIL all the same.
func TestOlderRejectVotes(t *testing.T) {
	t.Parallel()
	s, err := Load([]byte(`{"workflowType":"mine","rejectCount":1,"stages":{"DEV":{"status":"completed","result":"pass"},
		"REVIEW":{"status":"completed","result":"reject"},"TEST":{"status":"active","result":null},"DOCS":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.AttachBarriers(nil)
	next, out := testRules().Apply(s, Completion{Agent: "tester", Route: &Route{Verdict: Pass, Route: Next}})
	if out.Kind != RolledBack || !cmp.Equal(out.Failed, []string{"REVIEW"}) {
		t.Errorf("outcome %+v", out)
	}
	if got := next.Ready(); !cmp.Equal(got, []string{"DEV"}) || next.RejectCount != 1 || next.Retries["REVIEW"] != 1 {
		t.Errorf("ready %v, rejected %d, retries %v", got, next.RejectCount, next.Retries)
	}
}

func TestPlainHint(t *testing.T) {
	t.Parallel()
	for hint, want := range map[string]string{
		"":                           "",
		"check the nil map":          "check the nil map",
		"C-1 CRITICAL: sql; H-1: x":  "sql; x",
		"HIGH：逾時；M-12 重試":            "逾時；重試",
		"C-1 CRITICAL":               "",
		"the LOWER bound, HIGHLIGHT": "the LOWER bound, HIGHLIGHT",
	} {
		if diff := cmp.Diff(want, plainHint(hint)); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", hint, diff)
		}
	}
}

// 002: the first vote of a stage counts; repeats, strangers and votes after the
// decision change nothing, and the vote that makes it complete decides, once.
func TestVotes(t *testing.T) {
	t.Parallel()
	g := NewGroup([]string{"REVIEW", "TEST"}, "DOCS", 1)
	pass, fail := Route{Verdict: Pass}, Route{Verdict: Fail, Severity: "HIGH"}
	for i, step := range []struct {
		stage     string
		r         Route
		completed []string
		verdict   string
	}{
		{"QA", fail, nil, ""},
		{"REVIEW", pass, []string{"REVIEW"}, ""},
		{"REVIEW", fail, []string{"REVIEW"}, ""},
		{"TEST", pass, []string{"REVIEW", "TEST"}, Pass},
		{"TEST", fail, []string{"REVIEW", "TEST"}, ""},
	} {
		m := g.Report(step.stage, step.r, "m.md")
		verdict := ""
		if m != nil {
			verdict = m.Verdict
		}
		if verdict != step.verdict || !cmp.Equal(g.Completed, step.completed) {
			t.Errorf("vote %d: %q, completed %v", i, verdict, g.Completed)
		}
	}
	// A group of an older file may not know its members: whoever votes is one.
	old := Group{Total: 1}
	if m := old.Report("QA", pass, ""); m == nil || m.Route != Complete || !old.Resolved {
		t.Errorf("merged %+v, resolved %v", m, old.Resolved)
	}
}

func TestMergedVotes(t *testing.T) {
	t.Parallel()
	vote := func(g *Group, stage string, r Route) {
		g.Completed = append(g.Completed, stage)
		g.Results.Set(stage, r)
	}
	g := NewGroup([]string{"A", "B", "C", "D"}, "E", 0)
	vote(&g, "A", Route{Verdict: Fail, Hint: "none"})
	vote(&g, "B", Route{Verdict: Fail, Severity: "LOW", Hint: "low", ContextFile: "b.md"})
	vote(&g, "C", Route{Verdict: Pass, Severity: "CRITICAL", Hint: "fine", ContextFile: "c.md"})
	vote(&g, "D", Route{Verdict: Fail, Severity: "HIGH", ContextFile: "d.md"})
	want := Merged{
		Verdict: Fail, Route: Dev, Severity: "HIGH", Hint: "none; low", ContextFile: "m.md",
		Sources: []Source{{"D", "d.md"}, {"B", "b.md"}}, Failed: []string{"D", "A", "B"},
	}
	if d := cmp.Diff(want, MergeBarrierResults(g, "m.md")); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	one := NewGroup([]string{"A"}, "E", 0)
	vote(&one, "A", Route{Verdict: Fail, Severity: "odd"})
	if d := cmp.Diff(Merged{Verdict: Fail, Route: Dev, Severity: "MEDIUM", Failed: []string{"A"}}, MergeBarrierResults(one, "m.md")); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// 002: five minutes, and not a moment less.
func TestTimedOut(t *testing.T) {
	t.Parallel()
	now, limit := time.UnixMilli(10_000_000), 5*time.Minute
	since := func(d time.Duration) Group { return NewGroup([]string{"A"}, "", now.Add(-d).UnixMilli()) }
	resolved := since(time.Hour)
	resolved.Resolved = true
	for name, tc := range map[string]struct {
		g    Group
		want bool
	}{
		"just begun": {since(0), false}, "five minutes": {since(limit), false}, "a moment more": {since(limit + time.Millisecond), true},
		"decided": {resolved, false}, "not begun": {NewGroup([]string{"A"}, "", 0), false},
	} {
		if got := tc.g.TimedOut(now, limit); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// 002: the state is the truth; what the barrier file says beyond it is when the wait
// began.
func TestBarriersFromTheState(t *testing.T) {
	t.Parallel()
	const text = `{"version":4,"pipelineActive":true,"dag":{"DEV":{"deps":[]},
		"REVIEW":{"deps":["DEV"],"barrier":{"group":"post-dev","total":3,"siblings":["REVIEW","TEST","SECURITY"],"next":"DOCS"}},
		"TEST":{"deps":["DEV"],"barrier":{"group":"post-dev","total":3,"siblings":["REVIEW","TEST","SECURITY"],"next":"DOCS"}},
		"SECURITY":{"deps":["DEV"],"barrier":{"group":"post-dev","total":3,"siblings":["REVIEW","TEST","SECURITY"],"next":"DOCS"}},"DOCS":{"deps":["REVIEW","TEST","SECURITY"]}},
		"stages":{"DEV":{"status":"completed"},"REVIEW":{"status":"failed","startedAt":"2026-03-01T12:00:00.000Z"},"TEST":{"status":"active","startedAt":"2026-03-01T12:01:00.000Z"},"SECURITY":{"status":"skipped"}}}`
	s := loaded(t, text)
	if s.AttachBarriers(nil) {
		t.Error("a file that was never there was rebuilt")
	}
	g, _ := s.Barriers.Get("post-dev")
	r, _ := g.Results.Get("REVIEW")
	if g.Total != 2 || !cmp.Equal(g.Siblings, []string{"REVIEW", "TEST"}) || !cmp.Equal(g.Completed, []string{"REVIEW"}) || g.Resolved || r.Verdict != Fail || r.Route != Barrier || r.BarrierGroup != "post-dev" {
		t.Errorf("%+v, %+v", g, r)
	}
	if want := time.Date(2026, 3, 1, 12, 1, 0, 0, time.UTC).UnixMilli(); g.StartTime != want {
		t.Errorf("the wait began at %d, want %d", g.StartTime, want)
	}
	if !cmp.Equal(g.Missing(), []string{"TEST"}) {
		t.Errorf("missing %v", g.Missing())
	}
	for name, tc := range map[string]struct {
		file    string
		rebuilt bool
		start   int64
	}{
		"as the state says":   {`{"post-dev":{"total":2,"completed":["REVIEW"],"siblings":["REVIEW","TEST"],"startTime":5,"next":"DOCS"}}`, false, 5},
		"behind the state":    {`{"post-dev":{"total":2,"completed":[],"startTime":5}}`, true, 5},
		"ahead of the state":  {`{"post-dev":{"total":2,"completed":["REVIEW","TEST"],"resolved":true}}`, true, g.StartTime},
		"of another run":      {`{"post-qa":{"total":2}}`, true, g.StartTime},
		"no JSON":             {`{broken`, true, g.StartTime},
		"a group of a string": {`{"post-dev":"x"}`, true, g.StartTime},
	} {
		s := loaded(t, text)
		if got := s.AttachBarriers([]byte(tc.file)); got != tc.rebuilt {
			t.Errorf("%s: rebuilt is %v", name, got)
		}
		if got, _ := s.Barriers.Get("post-dev"); got.StartTime != tc.start || !cmp.Equal(got.Completed, []string{"REVIEW"}) || got.Resolved {
			t.Errorf("%s: %+v", name, got)
		}
	}
	done := loaded(t, strings.NewReplacer(`"failed"`, `"completed"`, `"active"`, `"completed"`).Replace(text))
	done.AttachBarriers(nil)
	if g, _ := done.Barriers.Get("post-dev"); !g.Resolved {
		t.Errorf("all have passed: %+v", g)
	}
}

// The barrier file comes back as it was written.
func TestBarrierFile(t *testing.T) {
	t.Parallel()
	waiting := NewGroup([]string{"REVIEW", "TEST"}, "", 1000)
	waiting.Completed = []string{"TEST"}
	waiting.Results.Set("TEST", Route{Verdict: Pass, Route: Barrier})
	decided := NewGroup([]string{"QA"}, "DOCS", 1000)
	decided.Resolved = true
	var b Barriers
	b.Set("post-dev", waiting)
	b.Set("post-qa", decided)
	b.Set("idle", NewGroup([]string{"X"}, "", 0))
	again, err := ParseBarriers(b.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(b.Encode()), string(again.Encode())); d != "" {
		t.Errorf("-written +read\n%s", d)
	}
	if g, _ := again.Get("post-dev"); g.Next != "" || g.StartTime != 1000 || g.Total != 2 {
		t.Errorf("%+v", g)
	}
}

// A machine that sleeps for a day forces no stage to its end: what barriers have waited is
// the time that it was awake. Nothing begins in the future.
func TestSleepIsNoWaiting(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC)
	state := func() *State {
		s := &State{Active: true}
		s.DAG.Set("REVIEW", node{Barrier: &barrierRef{Group: "q", Siblings: []string{"REVIEW", "TEST"}}})
		s.DAG.Set("TEST", node{Barrier: &barrierRef{Group: "q", Siblings: []string{"REVIEW", "TEST"}}})
		for _, k := range []string{"REVIEW", "TEST"} {
			s.Stages.Set(k, StageState{Status: Active, StartedAt: Stamp(began)})
		}
		s.Barriers.Set("q", NewGroup([]string{"REVIEW", "TEST"}, "", began.UnixMilli()))
		return s
	}
	r := Rules{BarrierTimeout: 5 * time.Minute}
	day := began.Add(24*time.Hour + time.Minute)
	if _, out := r.Apply(state(), Tick{At: day}); len(out.Missing) != 2 {
		t.Fatalf("a day of waiting: %+v", out)
	}
	for by, since := range map[time.Duration]time.Duration{24 * time.Hour: time.Minute, 48 * time.Hour: 0} {
		next, _ := r.Apply(state(), Slept{By: by, At: day})
		g, _ := next.Barriers.Get("q")
		if got := day.Sub(time.UnixMilli(g.StartTime)); got != since || next.stage("TEST").StartedAt != Stamp(day.Add(-since)) {
			t.Errorf("slept %v: waited %v, began %s", by, got, next.stage("TEST").StartedAt)
		}
		if _, out := r.Apply(next, Tick{At: day}); len(out.Missing) != 0 {
			t.Errorf("slept %v: %+v", by, out)
		}
	}
}
