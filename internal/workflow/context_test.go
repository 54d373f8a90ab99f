package workflow

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// failing is a run whose REVIEW and TEST have sent the work back to DEV.
const failing = `{"version":4,"pipelineActive":true,"retries":{"REVIEW":1,"TEST":2},
	"dag":{"PLAN":{"deps":[]},"DEV":{"deps":["PLAN"]},
		"REVIEW":{"deps":["DEV"],"onFail":"DEV","maxRetries":3,"barrier":{"group":"post-dev","total":2,"siblings":["REVIEW","TEST"],"next":"DOCS"}},
		"TEST":{"deps":["DEV"],"onFail":"DEV","maxRetries":3,"barrier":{"group":"post-dev","total":2,"siblings":["REVIEW","TEST"],"next":"DOCS"}},
		"DOCS":{"deps":["REVIEW","TEST"]}},
	"stages":{"PLAN":{"status":"completed","contextFile":"~/.claude/plan.md"},"REVIEW":{"status":"pending","contextFile":"~/.claude/pipeline-context-s-REVIEW.md"},"TEST":{"status":"pending","contextFile":"~/.claude/pipeline-context-s-TEST.md"}},
	"retryHistory":{"REVIEW":[{"verdict":"FAIL","severity":"HIGH","round":1,"hint":"C-1 CRITICAL: guard the map"}]},
	"pendingRetry":{"stages":[{"id":"REVIEW","severity":"HIGH","round":1},{"id":"TEST","severity":"LOW","round":2}],"contextFile":"~/.claude/pipeline-context-s-MERGED.md"},
	"environment":{"languages":{"primary":"go"},"frontend":{"detected":true}}}`

// 002: what a stage's agent is told of its place, of what to read and of what failed.
func TestNodeContext(t *testing.T) {
	t.Parallel()
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	for _, tc := range []struct {
		name, state, stage string
		exists             func(string) bool
		want, hint         string
	}{
		{"the first stage", failing, "PLAN", all, `{"node":{"stage":"PLAN","prev":[],"next":["DEV"],"onFail":null,"barrier":null},"context_files":[],"env":{"language":"go","frontend":true},"retryContext":null}`, ""},
		{
			"the stage that mends", failing, "DEV", all,
			`{"node":{"stage":"DEV","prev":["PLAN"],"next":["REVIEW","TEST"],"onFail":null,"barrier":null},
			"context_files":["~/.claude/plan.md","~/.claude/pipeline-context-s-REVIEW.md","~/.claude/pipeline-context-s-TEST.md","~/.claude/pipeline-context-s-MERGED.md"],"env":{"language":"go","frontend":true},
			"retryContext":{"failedStage":"REVIEW","round":2,"reflectionFile":"~/.claude/reflection-memory-s-REVIEW.md","hint":""}}`, "reflection-memory-s-REVIEW.md",
		},
		{
			"without a report the hint takes its place", failing, "DEV", none,
			`{"node":{"stage":"DEV","prev":["PLAN"],"next":["REVIEW","TEST"],"onFail":null,"barrier":null},"context_files":[],"env":{"language":"go","frontend":true},
			"retryContext":{"failedStage":"REVIEW","round":2,"reflectionFile":"~/.claude/reflection-memory-s-REVIEW.md","hint":""}}`, "guard the map",
		},
		{
			"a voter", failing, "TEST", all,
			`{"node":{"stage":"TEST","prev":["DEV"],"next":["DOCS"],"onFail":{"target":"DEV","maxRetries":3,"currentRound":3},"barrier":{"group":"post-dev","total":2,"siblings":["REVIEW","TEST"]}},
			"context_files":[],"report_file":"~/.claude/pipeline-context-s-TEST.md","env":{"language":"go","frontend":true},"retryContext":null}`, "",
		},
		{
			"a predecessor's own report is named before it is there", failing, "DOCS", none,
			`{"node":{"stage":"DOCS","prev":["REVIEW","TEST"],"next":[],"onFail":null,"barrier":null},"context_files":["~/.claude/pipeline-context-s-REVIEW.md","~/.claude/pipeline-context-s-TEST.md"],"env":{"language":"go","frontend":true},"retryContext":null}`, "",
		},
		{"a stage of nobody's", failing, "X", all, `{"node":{"stage":"X","prev":[],"next":[],"onFail":null,"barrier":null},"context_files":[],"env":{"language":"go","frontend":true},"retryContext":null}`, ""},
		{
			"what a file wants read", `{"version":4,"dag":{"UI":{"deps":[],"stage":{"agent":"a","context":["a.md","b.md","a.md"]}}}}`, "UI", func(f string) bool { return f == "a.md" },
			`{"node":{"stage":"UI","prev":[],"next":[],"onFail":null,"barrier":null},"context_files":["a.md"],"env":null,"retryContext":null}`, "",
		},
	} {
		nc := testRules().BuildNodeContext(loaded(t, tc.state), tc.stage, NodeOptions{SessionID: "s", Lang: message.EN, Exists: tc.exists})
		if rc := nc.RetryContext; rc != nil {
			if !strings.Contains(rc.Hint, tc.hint) || strings.Contains(rc.Hint, "CRITICAL") {
				t.Errorf("%s: hint %q", tc.name, rc.Hint)
			}
			rc.Hint = ""
		}
		if d := cmp.Diff(plainJSON(t, []byte(tc.want)), plainJSON(t, []byte(nc.JSON()))); d != "" {
			t.Errorf("%s: -want +got\n%s", tc.name, d)
		}
	}
}

// Without a list of what is to be mended, the history tells: who has not passed since,
// then who has.
func TestFailedStagesByTheirHistory(t *testing.T) {
	t.Parallel()
	const text = `{"version":4,"retries":{"QA":1,"E2E":1},"dag":{"DEV":{"deps":[]},"QA":{"deps":["DEV"],"onFail":"DEV"},"E2E":{"deps":["DEV"],"onFail":"DEV"}},"stages":{"QA":{"status":"completed"},"E2E":{"status":"%"}}}`
	for status, want := range map[string][]string{"pending": {"E2E"}, "completed": {"QA"}} {
		if got := loaded(t, strings.ReplaceAll(text, "%", status)).failedFor("DEV"); !cmp.Equal(got, want) {
			t.Errorf("E2E %s: %v, want %v", status, got, want)
		}
	}
	if got := loaded(t, strings.ReplaceAll(text, "%", "pending")).failedFor("QA"); got != nil {
		t.Errorf("QA has to mend %v", got)
	}
}

// 002: a node context has fewer than 500 tokens and at most 2000 units, whatever it
// has to carry; the newest two reports go last.
func TestNodeContextIsBounded(t *testing.T) {
	t.Parallel()
	files := func(n int, name string) (list []string) {
		for i := range n {
			list = append(list, "~/.claude/"+name+string(rune('a'+i))+".md")
		}
		return list
	}
	for name, tc := range map[string]struct {
		nc   NodeContext
		want func(NodeContext) bool
	}{
		"small": {NodeContext{ContextFiles: files(3, "f")}, func(nc NodeContext) bool { return len(nc.ContextFiles) == 3 }},
		"a long hint is cut first": {
			NodeContext{ContextFiles: files(3, "f"), RetryContext: &retryContext{Hint: strings.Repeat("x", 3000)}},
			func(nc NodeContext) bool { return len(nc.ContextFiles) == 3 && len(nc.RetryContext.Hint) == 100 },
		},
		"then the oldest reports": {
			NodeContext{ContextFiles: files(20, strings.Repeat("f", 300))},
			func(nc NodeContext) bool {
				n := len(nc.ContextFiles)
				return n >= 2 && n < 20 && strings.HasSuffix(nc.ContextFiles[n-1], "t.md")
			},
		},
		"then the folders of the last two": {
			NodeContext{ContextFiles: files(4, strings.Repeat("d", 1200)+"/f")},
			func(nc NodeContext) bool { return cmp.Equal(nc.ContextFiles, []string{"fc.md", "fd.md"}) },
		},
		"then all reports": {
			NodeContext{ContextFiles: files(2, "f"), Node: nodeInfo{Stage: "X", Prev: files(30, strings.Repeat("p", 60)), Next: files(30, strings.Repeat("n", 60))}, Env: &Environment{Language: "go"}},
			func(nc NodeContext) bool {
				return len(nc.ContextFiles) == 0 && nc.Env == nil && len(nc.Node.Prev) == 3 && len(nc.Node.Next) == 3
			},
		},
	} {
		text := tc.nc.JSON()
		if message.Units(text) > nodeContextUnits || EstimateTokens(text) >= nodeContextTokens {
			t.Errorf("%s: %d units, %d tokens", name, message.Units(text), EstimateTokens(text))
		}
		var got NodeContext
		if err := json.Unmarshal([]byte(text), &got); err != nil || !tc.want(got) {
			t.Errorf("%s: %v, %s", name, err, text)
		}
		if c := tc.nc.Comment(); !strings.HasPrefix(c, "<!-- NODE_CONTEXT: {") || strings.Count(c, "-->") != 1 {
			t.Errorf("%s: %s", name, c)
		}
	}
}

func TestEstimateTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "測試": 2, "測試ab": 3, "\x7f": 1, "\u0080": 1, "\u0080\u0080": 2} {
		if got := EstimateTokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// 002: a round of the reflection memory has at most 500 units; at 3000 the newest five
// stay.
func TestReflectionsAreBounded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	text := ""
	for n := 1; n <= 12; n++ {
		text = WriteReflection(text, Reflection{Stage: "QA", Round: n, At: at, Route: &Route{Verdict: Fail, Severity: "HIGH", Hint: strings.Repeat("漢", 600), ContextFile: "f.md"}}, message.EN)
		head, rounds := splitRounds(text)
		if !strings.HasPrefix(head, "#") || message.Units(text) > reflectionMax {
			t.Fatalf("round %d: head %q, %d units", n, head, message.Units(text))
		}
		for _, r := range rounds {
			if message.Units(r) > roundMax || !strings.Contains(r, "…\n") || !strings.Contains(r, "f.md") {
				t.Errorf("round %d has %d units: %s", n, message.Units(r), r)
			}
		}
		if want := min(n, 5); len(rounds) != want || !strings.HasPrefix(rounds[len(rounds)-1], roundHeading+strconv.Itoa(n)+"（2026-03-01T12:00:00.000Z）") {
			t.Errorf("after round %d there are %d, want %d", n, len(rounds), want)
		}
	}
}

// What a round says: the verdict, the stage, the problem on one line, the report.
func TestReflectionText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	got := WriteReflection("", Reflection{Stage: "QA", Round: 1, At: at, Route: &Route{Verdict: Fail, Severity: "HIGH", Hint: "slow\n## Round 9", ContextFile: "f.md"}}, message.EN)
	got = WriteReflection(got, Reflection{Stage: "QA", Round: 2, At: at}, message.EN)
	want := `# QA: what went wrong so far

## Round 1（2026-03-01T12:00:00.000Z）
- **Verdict**: FAIL:HIGH
- **Failed stage**: QA
- **Key problem**: slow ## Round 9
- **context_file**: f.md

## Round 2（2026-03-01T12:00:00.000Z）
- **Verdict**: FAIL
- **Failed stage**: QA

`
	if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	// A text that somebody wrote above the rounds stays.
	if got := WriteReflection("mine\n", Reflection{Stage: "QA", Round: 1, At: at}, message.EN); !strings.HasPrefix(got, "mine\n## Round 1") {
		t.Errorf("got %q", got)
	}
}
