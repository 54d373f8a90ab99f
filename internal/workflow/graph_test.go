package workflow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// drawn is a graph, a line for each stage.
func drawn(d DAG) string {
	var b strings.Builder
	for k, n := range d.All() {
		fmt.Fprintf(&b, "%s after %v then %v", k, n.Deps, n.Next)
		if n.OnFail != "" {
			b.WriteString(", back to " + n.OnFail)
		}
		if n.MaxRetries != unsaid && n.MaxRetries != 3 {
			fmt.Fprintf(&b, ", %d times", n.MaxRetries)
		}
		if n.Barrier != nil {
			fmt.Fprintf(&b, ", %s of %d %v next %q", n.Barrier.Group, n.Barrier.Total, n.Barrier.Siblings, n.Barrier.Next)
			if n.Barrier.Timeout > 0 {
				fmt.Fprintf(&b, " within %s", n.Barrier.Timeout)
			}
		}
		if n.Spec != nil && n.Spec.NoRework {
			b.WriteString(", no rework")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// 002: stages follow each other, neighbours of one group stand side by side, and what
// judges sends the work back to the DEV before it.
func TestTemplateToDAG(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, stages, want string }{
		{"standard", "PLAN ARCH DEV REVIEW TEST DOCS", `
PLAN after [] then [ARCH]
ARCH after [PLAN] then [DEV]
DEV after [ARCH] then [REVIEW TEST]
REVIEW after [DEV] then [DOCS], back to DEV, post-dev of 2 [REVIEW TEST] next "DOCS"
TEST after [DEV] then [DOCS], back to DEV, post-dev of 2 [REVIEW TEST] next "DOCS"
DOCS after [REVIEW TEST] then []
`},
		{"fix", "DEV", `
DEV after [] then []
`},
		{"test-first", "TEST DEV TEST", `
TEST:write after [] then [DEV]
DEV after [TEST:write] then [TEST:verify]
TEST:verify after [DEV] then [], back to DEV
`},
		{"test-first", "TEST DEV", `
TEST after [] then [DEV]
DEV after [TEST] then []
`},
		{"mine", "TEST DEV TEST QA", `
TEST after [] then [DEV]
DEV after [TEST] then [TEST:2]
TEST:2 after [DEV] then [QA], back to DEV
QA after [TEST:2] then [], back to DEV
`},
		// Before the DEV nothing is judged side by side; without any DEV it is.
		{"early", "REVIEW TEST DEV QA E2E", `
REVIEW after [] then [TEST]
TEST after [REVIEW] then [DEV]
DEV after [TEST] then [QA E2E]
QA after [DEV] then [], back to DEV, post-qa of 2 [QA E2E] next ""
E2E after [DEV] then [], back to DEV, post-qa of 2 [QA E2E] next ""
`},
		{"no dev", "REVIEW TEST", `
REVIEW after [] then [], post-dev of 2 [REVIEW TEST] next ""
TEST after [] then [], post-dev of 2 [REVIEW TEST] next ""
`},
		// A second of the same name begins another block.
		{"twice", "DEV REVIEW TEST TEST REVIEW", `
DEV after [] then [REVIEW TEST]
REVIEW after [DEV] then [TEST:2 REVIEW:2], back to DEV, post-dev of 2 [REVIEW TEST] next "TEST:2"
TEST after [DEV] then [TEST:2 REVIEW:2], back to DEV, post-dev of 2 [REVIEW TEST] next "TEST:2"
TEST:2 after [REVIEW TEST] then [], back to DEV, post-dev:2 of 2 [TEST:2 REVIEW:2] next ""
REVIEW:2 after [REVIEW TEST] then [], back to DEV, post-dev:2 of 2 [TEST:2 REVIEW:2] next ""
`},
	} {
		dag, err := testRules().TemplateToDAG(tc.name, strings.Fields(tc.stages))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), drawn(dag)); d != "" {
			t.Errorf("%s %s: -want +got\n%s", tc.name, tc.stages, d)
		}
	}
	if _, err := testRules().TemplateToDAG("x", []string{"DEV", "COFFEE"}); err == nil || !strings.Contains(err.Error(), `"COFFEE"`) {
		t.Errorf("a stage of nobody's: %v", err)
	}
}

// What a workflow's file says of its stages.
func TestNewGraph(t *testing.T) {
	t.Parallel()
	stage := func(key string, more ...func(*Draft)) Draft {
		d := Draft{Key: key, Retries: unsaid}
		for _, f := range more {
			f(&d)
		}
		return d
	}
	after := func(keys ...string) func(*Draft) { return func(d *Draft) { d.After = append([]string{}, keys...) } }
	beside := func(name string) func(*Draft) { return func(d *Draft) { d.Barrier = name } }
	onFail := func(key string) func(*Draft) { return func(d *Draft) { d.OnFail = key } }
	agent := func(d *Draft) { d.Spec.Agent = "mine" }
	for _, tc := range []struct {
		name   string
		drafts []Draft
		want   string
	}{
		{"as the built-in ones", []Draft{stage("DEV"), stage("REVIEW"), stage("TEST"), stage("DOCS")}, `
DEV after [] then [REVIEW TEST]
REVIEW after [DEV] then [DOCS], back to DEV, post-dev of 2 [REVIEW TEST] next "DOCS"
TEST after [DEV] then [DOCS], back to DEV, post-dev of 2 [REVIEW TEST] next "DOCS"
DOCS after [REVIEW TEST] then []
`},
		{"one by one", []Draft{stage("DEV"), stage("REVIEW", beside(Nowhere)), stage("TEST", beside(Nowhere))}, `
DEV after [] then [REVIEW]
REVIEW after [DEV] then [TEST], back to DEV
TEST after [REVIEW] then [], back to DEV
`},
		{"side by side by name", []Draft{stage("DEV"), stage("UI", agent, beside("both")), stage("API", agent, beside("both")), stage("QA")}, `
DEV after [] then [UI API]
UI after [DEV] then [QA], both of 2 [UI API] next "QA"
API after [DEV] then [QA], both of 2 [UI API] next "QA"
QA after [UI API] then [], back to DEV
`},
		{"after one of a barrier is after all of it", []Draft{stage("DEV"), stage("REVIEW"), stage("TEST"), stage("DOCS", after("TEST")), stage("PM", after())}, `
DEV after [] then [REVIEW TEST]
REVIEW after [DEV] then [DOCS], back to DEV, post-dev of 2 [REVIEW TEST] next "DOCS"
TEST after [DEV] then [DOCS], back to DEV, post-dev of 2 [REVIEW TEST] next "DOCS"
DOCS after [REVIEW TEST] then []
PM after [] then []
`},
		{"a way back of its own, or none", []Draft{stage("PLAN"), stage("DEV"), stage("QA", onFail("PLAN")), stage("DB-REVIEW", onFail(Nowhere))}, `
PLAN after [] then [DEV]
DEV after [PLAN] then [QA]
QA after [DEV] then [DB-REVIEW], back to PLAN
DB-REVIEW after [QA] then [], no rework
`},
		{"limits and patience", []Draft{
			stage("DEV"), stage("REVIEW", beside("b"), func(d *Draft) { d.BarrierTimeout, d.Retries = time.Minute, 0 }),
			stage("TEST", beside("b"), func(d *Draft) { d.BarrierTimeout, d.Retries = 2*time.Minute, 1 }),
		}, `
DEV after [] then [REVIEW TEST]
REVIEW after [DEV] then [], back to DEV, 0 times, b of 2 [REVIEW TEST] next "" within 2m0s
TEST after [DEV] then [], back to DEV, 1 times, b of 2 [REVIEW TEST] next "" within 2m0s
`},
		{"members that come after the same", []Draft{stage("PLAN"), stage("DEV"), stage("UI", agent, beside("b"), after("PLAN")), stage("API", agent, beside("b"))}, `
PLAN after [] then [DEV UI API]
DEV after [PLAN] then []
UI after [PLAN] then [], b of 2 [UI API] next ""
API after [PLAN] then [], b of 2 [UI API] next ""
`},
		{"one again", []Draft{stage("DEV"), stage("QA"), stage("QA")}, `
DEV after [] then [QA]
QA after [DEV] then [QA:2], back to DEV
QA:2 after [QA] then [], back to DEV
`},
	} {
		dag, flaws := NewGraph(tc.drafts)
		for _, f := range flaws {
			t.Errorf("%s: %s", tc.name, f.Text.In(message.EN))
		}
		if d := cmp.Diff(strings.TrimPrefix(tc.want, "\n"), drawn(dag)); d != "" {
			t.Errorf("%s: -want +got\n%s", tc.name, d)
		}
	}
}

// What keeps a workflow from being run is said with its place and a way out.
func TestFlaws(t *testing.T) {
	t.Parallel()
	many := make([]Draft, maxStages+1)
	for i := range many {
		many[i] = Draft{Key: "DEV"}
	}
	agent := Spec{Agent: "mine"}
	for _, tc := range []struct {
		name   string
		drafts []Draft
		want   []string
	}{
		{"as many as may be", many[1:], nil},
		{"too many", many, []string{"-1 stage: "}},
		{"no key", []Draft{{Key: "dev", Spec: agent}}, []string{"0 stage: "}},
		{"the joined report's name", []Draft{{Key: "MERGED", Spec: agent}}, []string{"0 stage: "}},
		{"a long key", []Draft{{Key: "A" + strings.Repeat("B", 40), Spec: agent}}, []string{"0 stage: "}},
		{"the longest key", []Draft{{Key: "A" + strings.Repeat("B", 39), Spec: agent}}, nil},
		{"a key that begins with a digit", []Draft{{Key: "1A", Spec: agent}}, []string{"0 stage: "}},
		{"a suffix", []Draft{{Key: "UI:two-3", Spec: agent}}, nil},
		{"an empty suffix", []Draft{{Key: "UI:", Spec: agent}}, []string{"0 stage: "}},
		{"a suffix in capitals", []Draft{{Key: "UI:Two", Spec: agent}}, []string{"0 stage: "}},
		{"two reports of one name", []Draft{{Key: "UI:a", Spec: agent}, {Key: "UI-A", Spec: agent}}, []string{"1 stage: "}},
		{"nobody does it", []Draft{{Key: "REVEIW"}}, []string{"0 stage: | REVIEW"}}, //nolint:misspell // as people type
		{"agent and command", []Draft{{Key: "UI", Spec: Spec{Agent: "a", Run: "b"}}}, []string{"0 run: "}},
		{"a barrier of one", []Draft{{Key: "DEV"}, {Key: "UI", Spec: agent, Barrier: "b"}}, []string{"1 barrier: "}},
		{"a barrier without a name", []Draft{{Key: "DEV", Barrier: "B b"}, {Key: "UI", Spec: agent, Barrier: "B b"}}, []string{"0 barrier: ", "1 barrier: "}},
		{"after nobody", []Draft{{Key: "DEV"}, {Key: "DOCS", After: []string{"DEVV"}}}, []string{"1 after: | DEV"}},
		{"after itself", []Draft{{Key: "DEV", After: []string{"DEV"}}}, []string{"0 after: "}},
		{"after a member of its barrier", []Draft{{Key: "DEV"}, {Key: "UI", Spec: agent, Barrier: "b"}, {Key: "API", Spec: agent, Barrier: "b", After: []string{"UI"}}}, []string{"2 after: "}},
		{"in a circle", []Draft{{Key: "DEV", After: []string{"DOCS"}}, {Key: "QA"}, {Key: "DOCS"}}, []string{"0 after: DEV → QA → DOCS → DEV"}},
		{"members that begin at different times", []Draft{
			{Key: "DEV"}, {Key: "UI", Spec: agent, Barrier: "b", After: []string{"DEV"}}, {Key: "MID", Spec: agent, After: []string{"DEV"}}, {Key: "API", Spec: agent, Barrier: "b", After: []string{"MID"}},
		}, nil},
		{"a judge without a DEV", []Draft{{Key: "PLAN"}, {Key: "QA"}}, []string{"1 on_fail: "}},
		{"back to nobody", []Draft{{Key: "DEV"}, {Key: "QA", OnFail: "DEVV"}}, []string{"1 on_fail: | DEV"}},
		{"back to what comes later", []Draft{{Key: "DEV"}, {Key: "QA", OnFail: "DOCS"}, {Key: "DOCS"}}, []string{"1 on_fail: "}},
	} {
		_, flaws := NewGraph(tc.drafts)
		if len(flaws) != len(tc.want) {
			for _, f := range flaws {
				t.Logf("%d %s: %s", f.Stage, f.Field, f.Text.In(message.EN))
			}
			t.Errorf("%s: %d flaws, want %d", tc.name, len(flaws), len(tc.want))
			continue
		}
		for i, f := range flaws {
			place, rest, _ := strings.Cut(tc.want[i], ": ")
			text, hint, _ := strings.Cut(rest, "| ")
			if got := fmt.Sprintf("%d %s", f.Stage, f.Field); got != place || !strings.Contains(f.Text.In(message.EN), text) || !strings.Contains(f.Hint.In(message.EN), hint) {
				t.Errorf("%s: %s: %s (%s)", tc.name, got, f.Text.In(message.EN), f.Hint.In(message.EN))
			}
		}
	}
}

// Where a FAIL goes: its own way back, itself for a DEV, else the nearest DEV that it
// depends on. What does not lead to it is no way back.
func TestRework(t *testing.T) {
	t.Parallel()
	s, err := Load([]byte(`{"version":4,"dag":{
		"PLAN":{"deps":[]},"DEV":{"deps":["PLAN"]},"DEV:2":{"deps":["PLAN"]},"QA":{"deps":["DEV"],"onFail":"DEV:2"},
		"REVIEW":{"deps":["DEV"],"onFail":"PLAN"},"E2E":{"deps":["DEV"],"onFail":"NOWHERE"},"DOCS":{"deps":["PLAN"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for stage, want := range map[string]string{"PLAN": "", "DEV": "DEV", "QA": "DEV", "REVIEW": "PLAN", "E2E": "DEV", "DOCS": "", "X": ""} {
		if got := s.DAG.Rework(stage); got != want {
			t.Errorf("%s goes back to %q, want %q", stage, got, want)
		}
	}
	if got := s.DAG.NextOf("PLAN"); !cmp.Equal(got, []string{"DEV", "DEV:2", "DOCS"}) {
		t.Errorf("after PLAN: %v", got)
	}
	if got := s.DAG.downstream("DEV"); !cmp.Equal(got, []string{"DEV", "QA", "REVIEW", "E2E"}) {
		t.Errorf("behind DEV: %v", got)
	}
}

// A graph that no run of it could finish is refused.
func TestGraphsThatCannotEnd(t *testing.T) {
	t.Parallel()
	for dag, want := range map[string]string{
		`{"A":{"deps":["B"]}}`: "stage A depends on B, which is not in the graph",
		`{"A":{"deps":["B"]},"B":{"deps":["A"]},"C":{"deps":[]}}`: "the graph has a cycle through A, B",
	} {
		if _, err := Load([]byte(`{"version":4,"dag":` + dag + `}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", dag, err)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"standard", "quick", "fix", "secure", "tdd"}
	for name, want := range map[string][]string{
		"quik": {"quick"}, "standart": {"standard"}, "sta": {"standard"}, "st": nil, "zzzzzz": nil, "QUICK": {"quick"}, "quickest": {"quick"}, "fux": {"fix"},
		strings.Repeat("q", 3*maxName): nil,
	} {
		if got := Nearest(name, known); !cmp.Equal(got, want) {
			t.Errorf("%.20s: %v, want %v", name, got, want)
		}
	}
	if got := Nearest("ab", []string{"abcd", "aa", "ac", "ad", "ab"}); !cmp.Equal(got, []string{"ab", "aa", "ac"}) {
		t.Errorf("the nearest three: %v", got)
	}
	if Closest("quik", known) != "quick" || Closest("zzzzzz", known) != "" {
		t.Errorf("closest %q, %q", Closest("quik", known), Closest("zzzzzz", known))
	}
}

// A stage of a file is left out unless a changed path matches one of its patterns.
func TestPatternsOfPaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		patterns, file string
		want           bool
	}{
		{"web", "web/app.ts", true},
		{"web", "website/app.ts", false},
		{"/web/", "web/app.ts", true},
		{"web/*.ts", "web/app.ts", true},
		{"web/*.ts", "web/lib/app.ts", false},
		{"web/*.ts", "web/app.tsx", false},
		{"web/**", "web/lib/app.ts", true},
		{"**/*.go", "a/b/c.go", true},
		{"**/*.go", "c.go", true},
		{"**/*.go", "c.goo", false},
		{"a/**/z", "a/z", true},
		{"a/**/z", "a/b/c/z", true},
		{"a/**/z", "a/b/c/y", false},
		{"?.md", "x.md", true},
		{"?.md", "xy.md", false},
		{"?.md", ".md", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "aXcYb", false},
		{"a**", "a", true},
		{"*", "日本.txt", true},
		{"a/b", "a", false},
		{"docs !docs/old", "docs/new.md", true},
		{"docs !docs/old", "docs/old/x.md", false},
		{"!docs", "docs/x", false},
		{"docs !docs/old docs/old/keep.md", "docs/old/keep.md", true},
	} {
		if got := matchAny(strings.Fields(tc.patterns), tc.file); got != tc.want {
			t.Errorf("%s and %s: %v", tc.patterns, tc.file, got)
		}
	}
}

// Among the stages whose turn it is, those are unwanted that nothing was changed for.
func TestUnwantedStages(t *testing.T) {
	t.Parallel()
	dag, flaws := NewGraph([]Draft{
		{Key: "UI", Spec: Spec{Agent: "a", When: []string{"web"}}, After: []string{}},
		{Key: "API", Spec: Spec{Agent: "b", When: []string{"api"}}, After: []string{}},
		{Key: "PLAN", After: []string{}},
		{Key: "DOCS", Spec: Spec{When: []string{"docs"}}, After: []string{"PLAN"}},
	})
	if len(flaws) > 0 {
		t.Fatal(flaws[0].Text.In(message.EN))
	}
	s, _ := testRules().Apply(nil, Start{Type: "x", Plan: &Plan{DAG: dag}})
	if got := s.Unwanted([]string{"api/x.go"}); !cmp.Equal(got, []string{"UI"}) || !s.Asks() {
		t.Errorf("unwanted %v, asks %v", got, s.Asks())
	}
	s.Active = false
	if s.Asks() {
		t.Error("a run that is over asks what was changed")
	}
}

// A stage belongs to an agent by its type; a plugin's name counts where both have one.
func TestWorksOn(t *testing.T) {
	t.Parallel()
	dag, flaws := NewGraph([]Draft{
		{Key: "DEV"},
		{Key: "LINT", Spec: Spec{Run: "make lint"}},
		{Key: "UI", Spec: Spec{Agent: "mine:painter"}},
		{Key: "API", Spec: Spec{Agent: "builder"}},
	})
	if len(flaws) > 0 {
		t.Fatal(flaws[0].Text.In(message.EN))
	}
	s := &State{DAG: dag}
	for agent, want := range map[string][]string{
		"overtone:developer": {"DEV"}, "developer": {"DEV"}, "other:developer": {"DEV"},
		"mine:painter": {"UI"}, "painter": {"UI"}, "yours:painter": nil,
		"builder": {"API"}, "any:builder": {"API"}, "run": nil, "": nil, "Explore": nil,
	} {
		if got := s.keysOf(agent); !cmp.Equal(got, want) {
			t.Errorf("%q works on %v, want %v", agent, got, want)
		}
		if follows := want != nil; s.Follows(agent) != follows {
			t.Errorf("%q is followed: %v", agent, !follows)
		}
	}
	if !s.Follows("overtone:planner") {
		t.Error("an agent of the registry is not followed")
	}
	for key, want := range map[string]string{"DEV": "overtone:developer", "LINT": "", "UI": "mine:painter", "NOBODY": ""} {
		if got := dag.AgentOf(key); got != want {
			t.Errorf("%s is handed to %q, want %q", key, got, want)
		}
	}
}

// What a file says of a stage stands over what the registry has of its name.
func TestStageInfo(t *testing.T) {
	t.Parallel()
	dag, flaws := NewGraph([]Draft{
		{Key: "DEV", Spec: Spec{Label: message.Text{ZH: "做", EN: "Make"}}},
		{Key: "REVIEW", Spec: Spec{Emoji: "👀"}, Barrier: Nowhere},
		{Key: "UI", Spec: Spec{Agent: "x:painter", Judges: true}},
		{Key: "LINT", Spec: Spec{Run: "make lint"}},
	})
	if len(flaws) > 0 {
		t.Fatal(flaws[0].Text.In(message.EN))
	}
	s := &State{DAG: dag}
	for key, want := range map[string]string{
		"DEV": "💻 Make, developer, false, fail", "REVIEW": "👀 Review, code-reviewer, true, reject", "UI": "🔹 UI, painter, true, fail",
		"LINT": "🔹 LINT, run, true, fail", "RETRO": "🔁 Retrospective, retrospective, false, issues", "X": " X, , false, fail",
	} {
		if got := fmt.Sprintf("%s, %s, %v, %s", s.Describe(key, message.EN), s.plainAgent(key), s.Quality(key), s.resultOf(key, Fail)); got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
		if s.resultOf(key, Pass) != resultPass {
			t.Errorf("a PASS of %s is stored as %s", key, s.resultOf(key, Pass))
		}
	}
}

// A key in a task is a word of its own.
func TestNamesOfStagesInATask(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"do LINT": true, "LINT": true, "LINT: go": true, "(LINT)": true, "檢查LINT。": true, "LINT-ALL": false, "RELINT": false, "LINT_2": false,
		"LINT:2": false, "x:LINT": true, "LINT2": false, "2LINT": false, "lint": false, "": false, "LINT-ALL, then LINT": true, "aLINT": false,
	} {
		if got := names(text, "LINT"); got != want {
			t.Errorf("%q names LINT: %v", text, got)
		}
	}
}
