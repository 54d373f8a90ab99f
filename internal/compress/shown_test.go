package compress

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// TestOnlyWhatIs: a plan shows what it does and leaves out what it does not; who is asked,
// and what that costs, in one line of three.
func TestOnlyWhatIs(t *testing.T) {
	t.Parallel()
	c := &chat{}
	for i := range 4 {
		c.user(long(fmt.Sprintf("Please look at part %d of internal/cfg/load.go.", i)))
		c.blocks(textBlock(long(fmt.Sprintf("Part %d reads the file and was slow.", i))))
	}
	half := Options{Bands: ranges(t, ParseBands, "0-50:heavy-compress"), MinTokens: 1}
	verbs := regexp.MustCompile(`%[^a-z%]*[a-z%]`)
	show := func(p *Plan, back Backend) (kinds []string) {
		var out, other bytes.Buffer
		term := &terminal.Terminal{Env: terminal.Env{Stdout: &out, Stderr: &other, Getenv: func(string) string { return "400" }, Dir: "/"}, Lang: message.EN}
		p.Print(term, term.Stdout, back)
		var beside bytes.Buffer
		p.Print(term, &beside, back)
		for name, text := range map[string]message.Text{
			"dead": message.PlanDead, "problems": message.PlanProblems, "tools": message.PlanTools, "skipped": message.PlanSkipped, "nothing": message.NothingToDo,
			"target": message.PlanTarget, "local": message.PlanLocal, "unasked": message.PlanUnasked, "cost": message.PlanCost,
		} {
			own := slices.MaxFunc(verbs.Split(text.EN, -1), func(a, b string) int { return len(a) - len(b) })
			if strings.Contains(out.String(), own) {
				kinds = append(kinds, name)
			}
			if name == "target" && strings.Contains(beside.String(), own) {
				t.Error("the target is told where the result is, too")
			}
		}
		return kinds
	}
	paid := Backend{Provider: Builtin{}, Prices: host.ListPrices(nil), small: "claude-haiku-4-5", large: "claude-haiku-4-5", redact: redactText}
	dead := plan(t, c.write(t), half)
	dead.View = dead.View[1:]
	broken := plan(t, c.write(t), half)
	broken.Session.Unreadable = 1
	called := &chat{}
	called.user(long("Please list the folder."))
	called.blocks(textBlock(long("It is listed.")), toolUse("t1", "ls"))
	called.result("t1", long("a line of output"))
	tools := plan(t, called.write(t), Options{Tools: ranges(t, ParseTools, "0-100:remove")})
	for name, tc := range map[string]struct {
		p    *Plan
		back Backend
		want []string
	}{
		"on this machine":  {plan(t, c.write(t), half), Backend{Provider: Builtin{}}, []string{"target", "local"}},
		"by a service":     {plan(t, c.write(t), half), paid, []string{"target", "cost"}},
		"nobody is asked":  {tools, paid, []string{"tools", "target", "unasked"}},
		"entries are dead": {dead, paid, []string{"dead", "target", "cost"}},
		"unreadable lines": {broken, paid, []string{"problems", "target", "cost"}},
		"nothing to do":    {plan(t, c.write(t), Options{}), paid, []string{"nothing"}},
	} {
		got := map[string]bool{}
		for _, k := range show(tc.p, tc.back) {
			got[k] = true
		}
		want := map[string]bool{}
		for _, k := range tc.want {
			want[k] = true
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
	term := &terminal.Terminal{Lang: message.EN}
	if got := Counts(term, map[string]int{"short": 2, "aws-access-key": 1}); got != "aws-access-key 1, too short 2" {
		t.Errorf("%q", got)
	}
	whole, part := plan(t, c.write(t), Options{MinTokens: 1}), plan(t, c.write(t), half)
	if less := whole.spoken() - part.spoken(); less != part.Bands[0].Tokens-part.Bands[0].Target || less <= 0 {
		t.Errorf("%d tokens less", less)
	}
}

// TestForms: the inside of a fence, and what is a mark.
func TestForms(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"none": "", "```\na\n```": "a\n", "```json\n{}\n```": "{}\n", "x ```{}``` y": "{}", "```\na": "a", "```a```b```": "a```b",
	} {
		if got := fenced(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]bool{
		"…#0123abcd": true, "…#0123abc": false, "…#0123abcde": false, "…#0123abcg": false, "#0123abcd": false, "": false,
		"…": true, "…#0123abcd ×3": true, "…#0123abcd ×": false, "…#0123abcd 3": false, "…#0123abcd ×x": false, "… ×3": false,
	} {
		if got := IsMark(in); got != want {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// TestOnlyWhatHappened: a result has a line for each thing that came of it, and five
// failures at most.
func TestOnlyWhatHappened(t *testing.T) {
	t.Parallel()
	c := &chat{}
	c.user(long("Please look at internal/cfg/load.go."))
	c.blocks(textBlock(long("It reads the file and was slow.")))
	p := plan(t, c.write(t), Options{MinTokens: 1})
	lines := func(r Result) int {
		var out bytes.Buffer
		term := &terminal.Terminal{Env: terminal.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Dir: "/"}, Lang: message.EN}
		p.PrintResult(term, &r)
		return strings.Count(out.String(), "\n")
	}
	least := lines(Result{})
	failed := make([]Message, 7)
	for i := range failed {
		failed[i].Status, failed[i].err = Failed, errors.New("no answer")
	}
	for name, tc := range map[string]struct {
		r    Result
		more int
	}{
		"messages":        {Result{Messages: make([]Message, 1)}, 1},
		"from the cache":  {Result{Cached: 1}, 1},
		"facts lost":      {Result{Lost: map[extract.Kind]int{extract.Path: 1}}, 1},
		"sentences gone":  {Result{Gone: extract.Losses{Sentences: 1}}, 1},
		"secrets":         {Result{Redacted: map[string]int{"jwt": 1}}, 1},
		"tokens read":     {Result{InputTokens: 1}, 1},
		"tokens written":  {Result{OutputTokens: 1}, 1},
		"a reference":     {Result{Example: "ref"}, 1},
		"a mark":          {Result{Mark: "…#0123abcd"}, 1},
		"calls removed":   {Result{Tools: ToolPlan{Removed: 1}}, 1},
		"calls cut short": {Result{Tools: ToolPlan{Truncated: 1}}, 1},
		"two failures":    {Result{Messages: failed[:2], Stats: Stats{MessagesFailed: 2}}, 1 + 1 + 2},
		"five failures":   {Result{Messages: failed[:5], Stats: Stats{MessagesFailed: 5}}, 1 + 1 + 5},
		"seven failures":  {Result{Messages: failed, Stats: Stats{MessagesFailed: 7}}, 1 + 1 + 5 + 1},
	} {
		if got := lines(tc.r) - least; got != tc.more {
			t.Errorf("%s: %d lines more, want %d", name, got, tc.more)
		}
	}
}

// TestSaid: what somebody said is a message with a text, and none that the host put there.
func TestSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e    transcript.Entry
		want bool
	}{
		{transcript.Entry{Kind: transcript.User, Text: 1}, true},
		{transcript.Entry{Kind: transcript.Assistant, Text: 1}, true},
		{transcript.Entry{Kind: transcript.User}, false},
		{transcript.Entry{Kind: transcript.Boundary, Text: 1}, false},
		{transcript.Entry{Kind: transcript.User, Text: 1, Flags: transcript.Meta}, false},
		{transcript.Entry{Kind: transcript.User, Text: 1, Flags: transcript.Command}, false},
	} {
		p := &Plan{Session: &transcript.Session{Entries: []transcript.Entry{c.e}}}
		if got := p.said(0); got != c.want {
			t.Errorf("%+v: %v", c.e, got)
		}
	}
}
