package workflow

import (
	gocmp "cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// 002: what counts as a route in an agent's text, and which one of several.
func TestParseRouteTakesTheLastGoodMarker(t *testing.T) {
	t.Parallel()
	marker := func(payload string) string { return "<!-- PIPELINE_ROUTE: " + payload + " -->" }
	pass, fail := marker(`{"verdict":"PASS","route":"NEXT"}`), marker(`{"verdict":"FAIL","route":"DEV"}`)
	for name, tc := range map[string]struct{ text, want string }{
		"none":                                   {"all done, PASS", ""},
		"one at the end":                         {"fine\n" + pass, "PASS"},
		"the last of two":                        {fail + "\nmended\n" + pass, "PASS"},
		"a broken one after a good one":          {fail + marker(`{"verdict":`), "FAIL"},
		"a list is no payload":                   {marker(`["PASS"]`), ""},
		"a string is no payload":                 {marker(`"PASS"`), ""},
		"over several lines":                     {"<!--PIPELINE_ROUTE:\n{\n\"verdict\": \"PASS\"\n}\n-->", "PASS"},
		"tabs before its name":                   {"<!--\t PIPELINE_ROUTE: {\"verdict\":\"PASS\"} -->", "PASS"},
		"a comment that is not closed":           {`<!-- PIPELINE_ROUTE: {"verdict":"PASS"}`, ""},
		"words after the payload":                {`<!-- PIPELINE_ROUTE: {"verdict":"PASS"} yes -->`, ""},
		"another comment":                        {`<!-- ROUTE: {"verdict":"PASS"} -->`, ""},
		"a marker in a hint is a string":         {marker(`{"verdict":"PASS","hint":"` + strings.ReplaceAll(fail, `"`, `\"`) + `"}`), "PASS"},
		"a payload that is too long is no route": {marker(`{"verdict":"PASS","hint":"` + strings.Repeat("x", maxPayload) + `"}`), ""},
		"behind many broken ones":                {strings.Repeat("<!-- PIPELINE_ROUTE: x", 500) + pass, "PASS"},
		"before more broken ones than are read":  {pass + strings.Repeat("<!-- PIPELINE_ROUTE: x", maxMarkers), ""},
		"before as many as are read":             {pass + strings.Repeat("<!-- PIPELINE_ROUTE: x", maxMarkers-1), "PASS"},
	} {
		r, ok := ParseRoute(tc.text)
		if ok != (tc.want != "") || r.Verdict != tc.want {
			t.Errorf("%s: got %q, %v, want %q", name, r.Verdict, ok, tc.want)
		}
	}
	if r, ok := LastRoute([]string{fail, pass, "no word"}); !ok || r.Verdict != Pass {
		t.Errorf("of three texts: %q, %v", r.Verdict, ok)
	}
	if _, ok := LastRoute([]string{"no word"}); ok {
		t.Error("a text without a marker has a route")
	}
}

func readRoute(t *testing.T, payload string) Route {
	t.Helper()
	var r Route
	if err := json.Unmarshal([]byte(payload), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestValidateRouteCorrectsTheForm(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		`{"verdict":"PASS","route":"NEXT"}`:                    `PASS NEXT - ""`,
		`{"verdict":"FAIL","route":"DEV","severity":"HIGH"}`:   `FAIL DEV HIGH ""`,
		`{"verdict":"FAIL","route":"ABORT","severity":"LOW"}`:  `FAIL ABORT LOW ""`,
		`{"verdict":"PASS","route":"NEXT","severity":"HIGH"}`:  `PASS NEXT - ""`,
		`{"verdict":"ok","route":"NEXT"}`:                      `PASS NEXT - unverified "verdict \"ok\" is not PASS or FAIL, taken as PASS"`,
		`{"route":"DEV"}`:                                      `PASS DEV - unverified "verdict missing is not PASS or FAIL, taken as PASS"`,
		`{"verdict":null,"route":"NEXT"}`:                      `PASS NEXT - unverified "verdict missing is not PASS or FAIL, taken as PASS"`,
		`{"verdict":1,"route":"NEXT"}`:                         `PASS NEXT - unverified "verdict 1 is not PASS or FAIL, taken as PASS"`,
		`{"verdict":"PASS","route":"UP"}`:                      `PASS NEXT - "route \"UP\" is unknown, taken as NEXT"`,
		`{"verdict":"FAIL","route":"UP","severity":"LOW"}`:     `FAIL DEV LOW "route \"UP\" is unknown, taken as DEV"`,
		`{"verdict":"FAIL","route":"DEV"}`:                     `FAIL DEV MEDIUM "severity missing, taken as MEDIUM"`,
		`{"verdict":"FAIL","route":"DEV","severity":"urgent"}`: `FAIL DEV MEDIUM "severity \"urgent\", taken as MEDIUM"`,
	} {
		r := ValidateRoute(readRoute(t, payload))
		got := r.Verdict + " " + r.Route + " " + gocmp.Or(r.Severity, "-")
		if r.Unverified {
			got += " unverified"
		}
		if got += fmt.Sprintf(" %q", r.Warning); got != want {
			t.Errorf("%s:\n got %s\nwant %s", payload, got, want)
		}
	}
}

// 002: a hint is at most 200 UTF-16 units long and cannot close the comment.
func TestValidateRouteBoundsTheHint(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ hint, want, warning string }{
		{strings.Repeat("x", 200), strings.Repeat("x", 200), ""},
		{strings.Repeat("x", 201), strings.Repeat("x", 200), "hint cut to 200 characters"},
		{strings.Repeat("😀", 101), strings.Repeat("😀", 100), "hint cut to 200 characters"},
		{"a --> b", "a → b", "--> in the hint replaced"},
	} {
		r := ValidateRoute(Route{Verdict: Pass, Route: Next, Hint: tc.hint})
		if r.Hint != tc.want || r.Warning != tc.warning {
			t.Errorf("%.20s: %q, %q", tc.hint, r.Hint, r.Warning)
		}
	}
}

// Fields that this version does not know stay in a route, and empty ones go.
func TestRouteKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	r := readRoute(t, `{"verdict":"FAIL","route":"DEV","severity":"LOW","mood":"low","hint":"x <b>"}`)
	r.Hint, r.Unverified, r.ContextFile = "", true, "f.md"
	raw, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"verdict":"FAIL","route":"DEV","severity":"LOW","mood":"low","context_file":"f.md","unverified":true}`; string(raw) != want {
		t.Errorf("got %s\nwant %s", raw, want)
	}
}

// 002: the logic of an answer, in this order: a PASS does not go back, the retry limit,
// a DEV to go back to, the barrier.
func TestEnforcePolicy(t *testing.T) {
	t.Parallel()
	start := func(stages ...string) *State {
		s, _ := testRules().Apply(nil, Start{SessionID: "s", Type: "x", Stages: stages})
		return s
	}
	plain, beside, lone := start("DEV", "QA", "DOCS"), start("DEV", "REVIEW", "TEST"), start("PLAN", "QA")
	spent := start("DEV", "QA")
	spent.Retries["QA"] = 3
	nearly := start("DEV", "QA")
	nearly.Retries["QA"] = 2
	for _, tc := range []struct {
		name    string
		s       *State
		stage   string
		r       Route
		route   string
		warning string
	}{
		{"a FAIL goes back", plain, "QA", Route{Verdict: Fail, Route: Dev}, Dev, ""},
		{"a PASS does not", plain, "QA", Route{Verdict: Pass, Route: Dev}, Next, "policy override: a PASS cannot go back to DEV, forcing NEXT"},
		{"below the limit", nearly, "QA", Route{Verdict: Fail, Route: Dev}, Dev, ""},
		{"at the limit", spent, "QA", Route{Verdict: Fail, Route: Dev}, Next, "policy override: retry limit reached (3/3), forcing NEXT"},
		{"no DEV", lone, "QA", Route{Verdict: Fail, Route: Dev}, Next, "policy override: no DEV to go back to, forcing NEXT"},
		{"no state", nil, "QA", Route{Verdict: Fail, Route: Dev}, Next, "policy override: no DEV to go back to, forcing NEXT"},
		{"a voter", beside, "TEST", Route{Verdict: Pass, Route: Next}, Barrier, "policy override: TEST votes in barrier post-dev, forcing BARRIER"},
		{"a voter in the wrong barrier", beside, "TEST", Route{Verdict: Pass, Route: Barrier, BarrierGroup: "post-qa"}, Barrier, "policy override: barrierGroup is post-dev"},
		{"a voter who knows", beside, "TEST", Route{Verdict: Pass, Route: Barrier, BarrierGroup: "post-dev"}, Barrier, ""},
		{"an ABORT", beside, "TEST", Route{Verdict: Fail, Route: Abort}, Abort, ""},
	} {
		got := testRules().EnforcePolicy(tc.r, tc.s, tc.stage)
		if got.Route != tc.route || got.Warning != tc.warning || got.Route == Barrier && got.BarrierGroup != "post-dev" {
			t.Errorf("%s: %s %q %q", tc.name, got.Route, got.BarrierGroup, got.Warning)
		}
	}
}

// 002: two conditions stop an iteration, two are only observed.
func TestShouldStop(t *testing.T) {
	t.Parallel()
	rounds := func(list ...string) (rs []Round) {
		for _, s := range list {
			rs = append(rs, Round{Severity: s})
		}
		return rs
	}
	fail := &Route{Verdict: Fail}
	for name, tc := range map[string]struct {
		verdict *Route
		count   int
		history []Round
		want    Stop
	}{
		"a PASS":                 {&Route{Verdict: Pass}, 9, nil, Stop{Stop: true, Reason: "quality-gate-passed", Action: "NEXT"}},
		"nothing is no PASS":     {nil, 0, nil, Stop{Reason: "retry", Action: "RETRY"}},
		"below the limit":        {fail, 2, nil, Stop{Reason: "retry", Action: "RETRY"}},
		"at the limit":           {fail, 3, nil, Stop{Stop: true, Reason: "max-retries-exhausted", Action: "FORCE_NEXT"}},
		"one round":              {fail, 1, rounds("HIGH"), Stop{Reason: "retry", Action: "RETRY"}},
		"two alike":              {fail, 2, rounds("LOW", "HIGH", "HIGH"), Stop{Reason: "convergence-stall-observed", Action: "RETRY", Warning: "severity stayed HIGH for two rounds"}},
		"better":                 {fail, 2, rounds("CRITICAL", "LOW"), Stop{Reason: "retry", Action: "RETRY", Note: "severity improved from CRITICAL to LOW"}},
		"worse":                  {fail, 2, rounds("LOW", "CRITICAL"), Stop{Reason: "retry", Action: "RETRY"}},
		"a severity of nobody's": {fail, 2, rounds("", ""), Stop{Reason: "retry", Action: "RETRY"}},
		"the first has none":     {fail, 2, rounds("", "LOW"), Stop{Reason: "retry", Action: "RETRY"}},
		"the second has none":    {fail, 2, rounds("CRITICAL", ""), Stop{Reason: "retry", Action: "RETRY"}},
	} {
		if d := cmp.Diff(tc.want, ShouldStop(tc.verdict, tc.count, tc.history, 3)); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
}

// A prompt names a workflow by a tag, anywhere and in any case.
func TestTag(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxName)
	for prompt, want := range map[string]string{
		"[pipeline:fix] change it":                  "fix",
		"please [PIPELINE: Quick-Dev ] now":         "quick-dev",
		"[x] [workflow:none]":                       "none",
		"[workflow:a] [workflow:b]":                 "a",
		"[workflow:Not/A/Name] then [workflow:fix]": "fix",
		"[workflow:not a name]":                     "not a name",
		"[workflow:one odd] [workflow:other odd]":   "one odd",
		"[workflow:over\nlines]":                    "",
		"[workflow:open":                            "",
		"[workflow:open [workflow:fix]":             "fix",
		"[workflow:one [odd]":                       "",
		"[workflow:]":                               "",
		"workflow:fix":                              "",
		"[workflow:" + long + "]":                   long,
		"[workflow:" + long + "x]":                  "",
		"[workflow:-x]":                             "-x",
		"see [workflows:fix]":                       "",
	} {
		if got, ok := Tag(prompt); got != want || ok != (want != "") {
			t.Errorf("%.40q: %q, %v, want %q", prompt, got, ok, want)
		}
	}
	for name, want := range map[string]bool{"fix": true, "a-1": true, "": false, "-a": false, "A": false, "a b": false, long: true, long + "x": false} {
		if ValidName(name) != want {
			t.Errorf("%.10q: valid is %v", name, !want)
		}
	}
}

// The main agent relays: while a workflow runs it changes no files.
func TestGuard(t *testing.T) {
	t.Parallel()
	active := &State{Active: true}
	reads := func(line string) bool { return line == "ls" }
	for name, tc := range map[string]struct {
		s       *State
		edits   bool
		command string
		allowed bool
	}{
		"no workflow":          {nil, true, "", true},
		"one that is over":     {&State{}, true, "rm -rf x", true},
		"an edit":              {active, true, "", false},
		"a question":           {active, false, "", true},
		"a command that reads": {active, false, "ls", true},
		"one that does not":    {active, false, "touch x", false},
	} {
		if got := Guard(tc.s, tc.edits, tc.command, reads); got != tc.allowed {
			t.Errorf("%s: allowed is %v", name, got)
		}
	}
	if !Guard(active, false, "touch x", nil) {
		t.Error("nobody judges, and the command is refused")
	}
}

// Hand-overs that are closed are kept only to know a completion that is reported again:
// the list has an end, and what is open stays on it.
func TestHandOversAreBounded(t *testing.T) {
	t.Parallel()
	rules := testRules()
	s, _ := rules.Apply(nil, Start{SessionID: "s", Type: "x", Stages: []string{"DEV", "REVIEW", "TEST"}})
	s, _ = rules.Apply(s, Completion{Stage: "DEV", Route: &Route{Verdict: Pass, Route: Next}})
	s, _ = rules.Apply(s, Delegate{ID: "open", Stage: "TEST"})
	for i := range 3 * keepDelegations {
		s, _ = rules.Apply(s, Delegate{ID: fmt.Sprint("r", i), Stage: "REVIEW"})
		if n := len(s.Delegations); n > keepDelegations+1 { // the open one beside them
			t.Fatalf("%d hand-overs after %d", n, i)
		}
	}
	if n := len(s.Delegations); n < keepDelegations || s.Delegations[0].ID != "open" || s.Delegations[n-1].ID != fmt.Sprint("r", 3*keepDelegations-1) {
		t.Errorf("%d hand-overs, from %s", n, s.Delegations[0].ID)
	}
	if _, out := rules.Apply(s, Completion{ID: "open", Route: &Route{Verdict: Pass, Route: Next}}); out.Kind != Waiting {
		t.Errorf("the vote of a hand-over that is open came to %v", out.Kind)
	}
}

// A tag counts by its place alone, at the beginning of a line of the user's own: also in a
// question or a complaint that begins with it. Elsewhere it is mentioned, whatever the
// words around it ask for, and the name is told for the hint.
func TestAsked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of a log\n", 4096)
	for _, prompt := range []string{
		"[workflow:quick] add a flag",
		"  [WORKFLOW:quick]",
		"[workflow:quick] why is the login slow? Find out and mend it.",
		"The parser is slow.\n[workflow:quick] make it faster",
		"Here is the log:\n```\npanic: x\n```\n[workflow:quick] mend it",
		"[workflow:quick] 修正登入",
		"[workflow:quick]で実装して",
		"[workflow:quick] is broken, look into it",
		"[workflow:quick]?",
		"[workflow:quick] what does it do?",
		"[workflow:quick] what does that tag mean?",
		"[workflow:quick] 是什麼？",
		"[workflow:quick] hangs at TEST",
		"[workflow:quick] took an hour yesterday",
		"[workflow:quick] 卡在 TEST",
		"[workflow:quick]って何",
		"[workflow:quick] で何が起きますか",
		"[workflow:quick]が動かない",
		"[workflow:quick] 跟 [workflow:full] 差在哪",
		"[workflow:quick] とは",
		"make the header smaller\r\n[workflow:quick]\r\n",
		"~~~\n```\n~~~\n[workflow:quick] mend it",
		"[workflow:quick] mend it\n" + long,
		long + "[workflow:quick] mend it",
		long + "[workflow:quick] mend it\n" + long[:tagEnds/2],
	} {
		if name, asked := Asked(prompt); !asked || name != "quick" {
			t.Errorf("%.80q: %q, %v", prompt, name, asked)
		}
	}
	for _, prompt := range []string{
		"please [workflow:quick] add a flag",
		"Please, [pipeline:quick] add a flag.",
		"add a --dry-run flag [workflow:quick]",
		"add a flag with [workflow:quick]",
		"Use [workflow:quick] to add a flag",
		"run [workflow:quick] on the parser, please",
		"can you [workflow:quick] add a flag?",
		"I looked at it: [workflow:quick] mend the parser",
		"請 [workflow:quick] 新增旗標",
		"用 [workflow:quick] 修正登入",
		"ok, [workflow:quick] do not touch the API, add a flag",
		"Let's do it, [workflow:quick] add a flag",
		"bitte [workflow:quick] füge eine Option hinzu",
		"fix it [workflow:quick]",
		"speed up the lexer with [workflow:quick]",
		"the parser is slow, speed it up with [workflow:quick]",
		"explain what happened and then mend it with [workflow:quick]",
		"I want you to use [workflow:quick] for the parser",
		"we should do this with [workflow:quick]",
		"could you please use [workflow:quick] to mend the flaky test?",
		"can you run [workflow:quick] on this",
		"let's do this with [workflow:quick]",
		"我要用 [workflow:quick] 重構解析器",
		"請用 [workflow:quick] 修好它",
		"je veux utiliser [workflow:quick]",
		"repariere den Parser mit [workflow:quick]",
		"Could we do the rename via [workflow:quick]?",
		"nimm [workflow:quick] und repariere den Login",
		"the tests are red. run [workflow:quick]",
		"People can't sign in, fix that with [workflow:quick]",
		"what does [workflow:quick] do?",
		"What is [workflow:quick]?",
		"should I use [workflow:quick] for this?",
		"how do I use [workflow:quick]",
		"do not use [workflow:quick]",
		"Don't start [workflow:quick], just answer",
		"do **not** use [workflow:quick] for this",
		"fix it without [workflow:quick]",
		"add a flag, but not with [workflow:quick]",
		"explain `[workflow:quick]` to me",
		"the docs say \"[workflow:quick] add a flag\"",
		"「[workflow:quick] 新增」是什麼意思",
		"```\n[workflow:quick] add a flag\n```\nexplain this",
		"> [workflow:quick] add a flag\n\nwhat did he mean?",
		"look at this:\n2026-11-16 10:00:01 INFO prompt=[workflow:quick] add\n",
		"look at this transcript\nuser: [workflow:quick] add a flag\nassistant: done",
		"fix the bug where [workflow:quick] starts twice",
		"the tag [workflow:quick] is broken",
		"why does [workflow:quick] start a workflow",
		"不要用 [workflow:quick]，直接改就好",
		"別啟動 [workflow:quick]",
		"compare [workflow:quick] and [workflow:standard] for me",
		"Run the tests.\n\n    [workflow:quick] add a flag\n",
		"nicht mit [workflow:quick], bitte",
		"The README says: use [workflow:quick] to start",
		"I was told to use [workflow:quick]",
		"my colleague wrote, use [workflow:quick]",
		"<!-- [workflow:quick] add a flag -->",
		"type '[workflow:quick] add a flag' and look",
		"| tag | meaning |\n| [workflow:quick] | small changes |",
		"when I type [workflow:quick] nothing happens",
		"never again [workflow:quick]",
		"文件說用 [workflow:quick]",
		"{\"prompt\":\"[workflow:quick] add a flag\"}",
		"+[workflow:quick] add a flag",
		"yesterday we did it with [workflow:quick]",
		"when I use [workflow:quick] it hangs",
		"should I use [workflow:quick]",
		"people usually run [workflow:quick] for this",
		"my colleague starts with [workflow:quick]",
		"the last agent tried to use [workflow:quick]",
		"you can start things with [workflow:quick]",
		"add a section on how to run [workflow:quick] to the guide",
		"make sure users who type in [workflow:quick] get a hint",
		"the button should send text with [workflow:quick]",
		"fix the bug when I use [workflow:quick]",
		"it failed after [workflow:quick]",
		"when I start it, [workflow:quick] hangs",
		"was passiert mit [workflow:quick]",
		"que se passe-t-il avec [workflow:quick]",
		"qué pasa con [workflow:quick]",
		"что будет с [workflow:quick]",
		"wenn ich [workflow:quick] nutze, passiert nichts",
		"我昨天用 [workflow:quick] 結果失敗了",
		"上次跑 [workflow:quick] 就卡住了",
		"如果用 [workflow:quick] 會怎樣",
		"would [workflow:quick] help here",
		"please don't, [workflow:quick]",
		"`[workflow:quick]` add a flag",
		"- [workflow:quick] add a flag",
		"~~~\n```\n[workflow:quick] mend it\n~~~",
		"\t[workflow:quick] add a flag",
		long + "[workflow:quick] mend it\n" + long,
	} {
		if name, asked := Asked(prompt); asked || name != "quick" {
			t.Errorf("%.80q: %q, %v", prompt, name, asked)
		}
	}
	if name, asked := Asked("no tag here"); asked || name != "" {
		t.Errorf("no tag: %q, %v", name, asked)
	}
}
