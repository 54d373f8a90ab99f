package compress

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// TestSkips: why a message in a band stays as it is; at a threshold it does not.
func TestSkips(t *testing.T) {
	t.Parallel()
	user, agent := transcript.User, transcript.Assistant
	for name, c := range map[string]struct {
		kind   transcript.Kind
		flags  transcript.Flags
		tokens int32
		o      Options
		want   Skip
	}{
		"an answer":               {agent, 0, 20, Options{MinTokens: 20}, ""},
		"a shorter one":           {agent, 0, 19, Options{MinTokens: 20}, skipShort},
		"compressed before":       {agent, transcript.Marked, 99, Options{}, skipDone},
		"written by the host":     {user, transcript.Meta, 99, Options{}, skipMeta},
		"a summary":               {user, transcript.Summary, 99, Options{}, skipSummary},
		"a command":               {user, transcript.Command, 99, Options{}, skipCommand},
		"an error of the service": {agent, transcript.APIError, 99, Options{}, skipError},
		"made without a model":    {agent, transcript.Synthetic, 99, Options{}, skipError},
		"a user's":                {user, 0, 99, Options{}, ""},
		"a user's, users off":     {user, 0, 99, Options{NoUsers: true}, skipUser},
		"an answer, users off":    {agent, 0, 99, Options{NoUsers: true}, ""},
	} {
		if got := c.o.skip(&transcript.Entry{Kind: c.kind, Flags: c.flags, Text: 4 * c.tokens}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// withCalls is a session of turns with so many calls in each, all alike.
func withCalls(t *testing.T, calls ...int) *transcript.Session {
	var c chat
	n := 0
	for _, k := range calls {
		c.user("go on")
		for range k {
			n++
			c.blocks(thinking, toolUse(fmt.Sprint("t", 100+n), "ls"))
			c.result(fmt.Sprint("t", 100+n), strings.Repeat("some output\n", 40))
		}
	}
	return c.write(t)
}

// TestLastCalls: the newest turn is spared, unless the newest three hold half of what
// tools said; then the last eight calls are.
func TestLastCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		calls             []int
		removed, thoughts int
	}{
		{[]int{13, 0, 0, 12}, 13, 13},  // less than half
		{[]int{12, 0, 0, 12}, 16, 24},  // half
		{[]int{3, 12, 12, 12}, 31, 39}, // most
		{[]int{1, 0, 0, 8}, 1, 9},      // as many as stay in any case
		{[]int{1, 8, 0, 7}, 9, 9},      // the last eight are more than the newest turn
		{[]int{12, 0, 0, 0}, 12, 12},   // nothing in the newest
		{[]int{12}, 4, 12},
		{[]int{8}, 0, 8},
		{[]int{0, 12, 9}, 13, 21}, // too few turns to judge
	} {
		p := presetPlan(t, withCalls(t, c.calls...), "emergency")
		if p.Tools.Removed != c.removed || p.Tools.Thinking != c.thoughts {
			t.Errorf("%v: %d calls and %d thoughts go, want %d and %d", c.calls, p.Tools.Removed, p.Tools.Thinking, c.removed, c.thoughts)
		}
	}
}

// TestCallsOfOneEntry: what two calls of one entry said is counted once.
func TestCallsOfOneEntry(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("go on")
	for n := range 6 {
		a, b := fmt.Sprint("a", n), fmt.Sprint("b", n)
		c.blocks(toolUse(a, "ls"), toolUse(b, "ls"))
		c.add("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"some output"},{"type":"tool_result","tool_use_id":%q,"content":"some output"}]}`, a, b), "")
	}
	if p := presetPlan(t, c.write(t), "emergency"); p.Tools.Removed != 12-newestCalls {
		t.Errorf("%d of 12 calls go, want all but %d", p.Tools.Removed, newestCalls)
	}
}

// TestRoomOfTheNewest: messages of the newest turn stay whole as far as they fit into a
// tenth of the window, its request first, then the last ones.
func TestRoomOfTheNewest(t *testing.T) {
	t.Parallel()
	const room = host.SmallWindow * newestShare / 100
	for name, c := range map[string]struct {
		window  int64
		request int
		answers []int
		want    []int // tokens of what is compressed
	}{
		"all fit":                           {0, room - 8000, []int{5000, 3000}, nil},
		"one token too many":                {0, room - 8000, []int{5001, 3000}, []int{5001}},
		"the request fills it":              {0, room, []int{5000, 3000}, []int{5000, 3000}},
		"the request does not fit":          {0, room + 1, []int{5000, room - 5000}, []int{room + 1}},
		"the last one does not":             {0, 2000, []int{100, room}, []int{room}},
		"a smaller window":                  {100_000, 2000, []int{8001, 50}, []int{8001}},
		"a smaller window, and they do":     {100_000, 2000, []int{7950, 50}, nil},
		"the older of two that are too big": {0, 2000, []int{15_000, 15_000, 16}, []int{15_000}},
	} {
		var ch chat
		ch.user("Begin.")
		ch.user(strings.Repeat("u", 4*c.request))
		for _, n := range c.answers {
			ch.blocks(textBlock(strings.Repeat("a", 4*n)))
		}
		s := ch.write(t)
		s.Usage.Window = c.window
		var got []int
		for _, it := range chosenPlan(t, s, Choice{Preset: "emergency", Users: "on"}, "users").Items {
			got = append(got, int(it.Tokens))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
}

// TestPlanOfRemovalsIsExact: what goes as a whole is counted to the token, an entry with
// two calls once, and what stands before the first turn stays.
func TestPlanOfRemovalsIsExact(t *testing.T) {
	t.Parallel()
	var c chat
	c.blocks(thinking, toolUse("t0", "before anybody asked"))
	c.result("t0", "some output")
	c.user("go on")
	c.blocks(thinking, toolUse("t1", "ls one"), toolUse("t2", "ls two and more"))
	c.result("t1", long("output"))
	c.result("t2", long("more output"))
	c.blocks(thinking, textBlock("It is done."))
	c.user("go on")
	c.blocks(thinking, textBlock("There is nothing left."))
	s := c.write(t)
	for name, tt := range map[string]struct {
		tools, thinking   string
		removed, thoughts int
	}{
		"calls":                 {"0-100:remove", "", 2, 2}, // with what led to them
		"calls of another turn": {"50-100:remove", "", 0, 0},
		"thinking":              {"", "remove", 0, 3},
		"both":                  {"0-100:remove", "remove", 2, 3},
	} {
		p := plan(t, s, Options{Tools: ranges(t, ParseTools, tt.tools), Thinking: ranges(t, ParseThinking, tt.thinking)})
		if p.Tools.Removed != tt.removed || p.Tools.Thinking != tt.thoughts || p.Tokens-p.Target != p.Tools.Tokens {
			t.Errorf("%s: %+v, %d tokens of %d", name, p.Tools, p.Target, p.Tokens)
		}
		if p.Nothing() {
			continue
		}
		res, clone := runPlan(t, p, nil)
		if res.After != p.Target || res.Before != p.Tokens {
			t.Errorf("%s: from %d to %d, promised from %d to %d", name, res.Before, res.After, p.Tokens, p.Target)
		}
		raw, err := os.ReadFile(clone.Path)
		if err != nil || !strings.Contains(string(raw), "before anybody asked") || strings.Contains(string(raw), "ls one") == (tt.removed > 0) {
			t.Errorf("%s: %v\n%s", name, err, raw)
		}
	}
}

// TestLoads: what each of the two models would have to read and write.
func TestLoads(t *testing.T) {
	t.Parallel()
	p := plan(t, session(t, 1, 1000, 1001), Options{Bands: bands(t, "0-100:compress")})
	if want := (Load{1000 + promptTokens(), 350}); p.Small != want {
		t.Errorf("small: %+v, want %+v", p.Small, want)
	}
	if want := (Load{1001 + promptTokens(), 350}); p.Large != want {
		t.Errorf("large: %+v, want %+v", p.Large, want)
	}
	for n, few := range map[int]bool{3: true, 4: false} {
		if got := plan(t, session(t, n, 50, 50), Options{}).Few(); got != few {
			t.Errorf("%d turns are few: %v", n, got)
		}
	}
}

// compacted is a session of which a compaction left a summary and a turn.
func compacted(t *testing.T, usage int) *transcript.Session {
	var c chat
	for range 2 {
		c.turn(500, 500)
	}
	c.last = ""
	c.add("system", `null`, `,"subtype":"compact_boundary","content":"`+strings.Repeat("b", 400)+`","compactMetadata":{"trigger":"auto","preTokens":1}`)
	c.add("user", fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("s", 4*200)), `,"isCompactSummary":true`)
	c.user(strings.Repeat("u", 4*300))
	c.add("assistant", fmt.Sprintf(`{"id":"m","model":"claude-x","role":"assistant","content":[%s],"usage":{"input_tokens":%d,"output_tokens":0}}`, textBlock(strings.Repeat("a", 4*500)), usage), "")
	return c.write(t)
}

// TestWholeFile: positions count over the live context, or over all of the file; what the
// host will report is about the live part only.
func TestWholeFile(t *testing.T) {
	t.Parallel()
	s := compacted(t, 30_000)
	live, whole := plan(t, s, Options{Bands: bands(t, "0-100:compress")}), plan(t, s, Options{Bands: bands(t, "0-100:compress"), Whole: true})
	if live.Tokens != 1000 || len(live.Items) != 2 || live.Skipped[skipSummary] != 1 {
		t.Errorf("live: %d tokens, %d messages, %v", live.Tokens, len(live.Items), live.Skipped)
	}
	if whole.Tokens != 3000 || len(whole.Items) != 6 {
		t.Errorf("whole: %d tokens, %d messages", whole.Tokens, len(whole.Items))
	}
	if got := live.asHostCounts(300); got != 29_700 {
		t.Errorf("live: 300 tokens go, and %d are left", got)
	}
	if got := whole.asHostCounts(300); got != 29_900 {
		t.Errorf("whole: 100 of 300 tokens are live, and %d are left", got)
	}
	// What a host reports is never less than what is there.
	if got := plan(t, compacted(t, 100), Options{}).asHostCounts(300); got != 700 {
		t.Errorf("%d tokens are left of 700", got)
	}
}

// TestCountedAs: a context is counted as its host counts it, where the host told.
func TestCountedAs(t *testing.T) {
	t.Parallel()
	p := plan(t, compacted(t, 30_000), Options{Bands: bands(t, "0-100:compress")})
	untold := plan(t, compacted(t, 0), Options{Bands: bands(t, "0-100:compress")})
	for name, c := range map[string]struct {
		p             *Plan
		r             *Result
		before, after int
	}{
		"a plan":                          {p, nil, 30_000, 30_000 - (p.Tokens - p.Target) + noteTokens(p.Tokens-p.Target)},
		"a result":                        {p, &Result{After: 400, Host: 29_000}, 30_000, 29_000},
		"the host would count as much":    {p, &Result{After: 400, Host: 30_000}, 30_000, 30_000},
		"it would count more than it did": {p, &Result{After: 400, Host: 30_001}, p.Tokens, 400},
		"a plan, the host never told":     {untold, nil, untold.Tokens, untold.Target + noteTokens(untold.Tokens-untold.Target)},
		"a result, the host never told":   {untold, &Result{After: 400}, untold.Tokens, 400},
	} {
		if before, after := c.p.Counted(c.r); before != c.before || after != c.after {
			t.Errorf("%s: from %d to %d, want from %d to %d", name, before, after, c.before, c.after)
		}
	}
}

// TestPartsAddUp: what the plan says of a band, the result says of the same messages, as
// the host counts them.
func TestPartsAddUp(t *testing.T) {
	t.Parallel()
	p := plan(t, compacted(t, 30_000), Options{Bands: bands(t, "0-100:compress"), Whole: true})
	b := p.Bands[0]
	for _, lang := range []message.Lang{message.EN, message.ZH} {
		var out bytes.Buffer
		term := &terminal.Terminal{Env: terminal.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "400" }, Dir: "/"}, Lang: lang}
		p.Print(term, term.Stdout, Backend{Provider: Builtin{}})
		_, row, _ := strings.Cut(out.String(), b.Band.String())
		cols := strings.Fields(row)
		out.Reset()
		p.PrintResult(term, &Result{Messages: make([]Message, b.Messages), Stats: Stats{MessagesCompressed: b.Messages, OriginalTokens: b.Tokens, CompressedTokens: b.Target}})
		if cols[2] == fmt.Sprint(b.Tokens) || !strings.Contains(out.String(), cols[2]+" → "+cols[3]+" tokens") {
			t.Errorf("the plan says %v, the result:\n%s", cols[:4], &out)
		}
	}
}

// TestDocumentOfAPlan: what programs are told of a plan, its price where it is known.
func TestDocumentOfAPlan(t *testing.T) {
	t.Parallel()
	s := compacted(t, 30_000)
	s.Unreadable = 2
	p := plan(t, s, Options{Bands: bands(t, "0-100:compress")})
	local := p.Document(Backend{Provider: Builtin{}}, false)
	if local.DryRun || local.Source.LiveTokens != 30_000 || local.Source.Problems["unreadable"] != 2 || local.Plan.Prices != nil || local.Plan.HostTokens != p.asHostCounts(p.lost(nil, true)) {
		t.Errorf("%+v", local)
	}
	if local.Plan.InputTokens != p.Small.Input || local.Plan.OutputTokens != p.Small.Output || len(local.Plan.Bands) != 1 {
		t.Errorf("%+v", local.Plan)
	}
	prices := host.ListPrices(nil)
	known := p.Document(Backend{Provider: Builtin{}, Prices: prices, model: "m", small: "claude-haiku-4-5", large: "claude-haiku-4-5", redact: redactText}, true)
	if known.Plan.CostUSD == nil || *known.Plan.CostUSD <= 0 || known.Plan.Prices == nil || known.Plan.Model != "m" {
		t.Errorf("%+v", known.Plan)
	}
	if unknown := p.Document(Backend{Provider: Builtin{}, Prices: prices, small: "nobody-9", large: "nobody-9", redact: redactText}, true); unknown.Plan.CostUSD != nil || unknown.Plan.Prices != nil {
		t.Errorf("%+v", unknown.Plan)
	}
	sound := plan(t, session(t, 1, 50, 50), Options{}).Document(Backend{Provider: Builtin{}}, true)
	if len(sound.Source.Problems) != 0 || sound.Source.LiveTokens == 0 {
		t.Errorf("%+v", sound.Source)
	}
}

// TestChangedMeanwhile: a session that has grown is compressed as it was read, one that
// has shrunk is not.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	s := session(t, 2, 100, 100)
	p := plan(t, s, Options{Bands: bands(t, "0-100:compress")})
	f, err := os.OpenFile(s.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"type":"summary"}` + "\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if res, _ := runPlan(t, p, &fake{do: cut}); res.Stats.MessagesCompressed != 4 {
		t.Errorf("%+v", res.Stats)
	}
	if err := os.Truncate(s.Path, s.Size-1); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), &fake{do: cut}, RunOptions{ID: "x", Now: runTime}); err == nil || err.Error() != message.SessionShrank.EN {
		t.Errorf("half of a session is compressed: %v", err)
	}
	if _, _, err := p.Packet(t.Context(), &fake{do: cut}, RunOptions{}); err == nil || err.Error() != message.SessionShrank.EN {
		t.Errorf("half of a session is printed: %v", err)
	}
}

// TestPacket: the history as a text has a title, who said what, and neither tools nor
// commands; nothing is kept for it.
func TestPacket(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("Please look.")
	c.add("user", `{"role":"user","content":"<command-name>/x</command-name>"}`, "")
	c.blocks(thinking, toolUse("t1", "ls"))
	c.result("t1", "some output")
	c.blocks(textBlock(strings.Repeat("a", 400)))
	d := Dir(t.TempDir())
	p := plan(t, c.write(t), Options{Bands: bands(t, "0-100:compress"), Pool: poolOf(func(p *Pool) { p.Cache = d })})
	text, res, err := p.Packet(t.Context(), &fake{do: func(context.Context, int, Request) (Reply, error) { return Reply{Text: "aa"}, nil }}, RunOptions{Title: "The title"})
	if want := "# The title\n\n## user\n\nPlease look.\n\n## assistant\n\naa\n"; err != nil || text != want {
		t.Errorf("%v\n%s", err, text)
	}
	if got, want := p.spoken(), 3+41; got != want {
		t.Errorf("%d tokens of messages, want %d", got, want)
	}
	if res.Before != p.Tokens || res.After != EstimateTokens(text) || res.Stats.MessagesCompressed != 1 {
		t.Errorf("%+v", res)
	}
	if files := d.originalFiles(); len(files) != 0 {
		t.Errorf("kept %q", files)
	}
}

// TestOptionsOfPresets: a preset spares what users said, and only the last one of them no
// call of the newest turns.
func TestOptionsOfPresets(t *testing.T) {
	t.Parallel()
	for _, name := range PresetNames() {
		o, err := Choice{Users: "on", Preset: name}.Options(config.Defaults().Compress, func(string) bool { return false })
		if err != nil || !o.NoUsers || o.NoCalls != (name == "fresh") {
			t.Errorf("%s: %v, no users %v, no calls %v", name, err, o.NoUsers, o.NoCalls)
		}
		o, err = Choice{Users: "off", Preset: name, Whole: true}.Options(config.Defaults().Compress, func(f string) bool { return f == "users" })
		if err != nil || !o.NoUsers || !o.Whole {
			t.Errorf("%s, users off: %v, %+v", name, err, o)
		}
	}
	if names := PresetNames(); !slices.Contains(names, defaultPreset) || names[0] != defaultPreset {
		t.Errorf("%q", names)
	}
}
