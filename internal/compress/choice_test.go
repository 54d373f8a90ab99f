package compress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What flags, presets and settings come to: a preset spares the newest turns and the
// user's words, explicit bands do exactly what they say.
func TestOptionsOfAChoice(t *testing.T) {
	t.Parallel()
	c := config.Defaults().Compress
	for name, tc := range map[string]struct {
		choice  Choice
		changed string
		want    string
	}{
		"nothing said":             {Choice{Users: "on"}, "", "bands [] tools [0-50:remove 50-100:truncate] thinking [0-100:remove] newest 3 nousers true min 20"},
		"a preset":                 {Choice{Users: "on", Preset: "emergency"}, "preset", "bands [0-50:heavy-compress 50-100:compress] tools [0-100:remove] thinking [0-100:remove] newest 1 nousers true min 20"},
		"a preset, users on":       {Choice{Users: "on", Preset: "heavy"}, "preset users", "bands [0-50:compress] tools [0-80:remove 80-100:truncate] thinking [0-100:remove] newest 2 nousers false min 20"},
		"a preset and bands":       {Choice{Users: "on", Preset: "heavy", Bands: "0-10:compress"}, "preset bands", "bands [0-10:compress] tools [0-80:remove 80-100:truncate] thinking [0-100:remove] newest 2 nousers true min 20"},
		"bands":                    {Choice{Users: "on", Bands: "0-50:heavy-compress"}, "bands", "bands [0-50:heavy-compress] tools [] thinking [] newest 0 nousers false min 20"},
		"no bands, said":           {Choice{Users: "off"}, "bands", "bands [] tools [] thinking [] newest 0 nousers true min 20"},
		"tools alone":              {Choice{Users: "on", Tools: "0-100:remove"}, "tools", "bands [] tools [0-100:remove] thinking [] newest 0 nousers false min 20"},
		"a threshold":              {Choice{Users: "on", Bands: "0-50:compress", MinTokens: 7}, "bands min-tokens", "bands [0-50:compress] tools [] thinking [] newest 0 nousers false min 7"},
		"a threshold that is none": {Choice{Users: "on", Bands: "0-50:compress", MinTokens: -4}, "bands min-tokens", "bands [0-50:compress] tools [] thinking [] newest 0 nousers false min 1"},
	} {
		changed := func(flag string) bool { return slices.Contains(strings.Fields(tc.changed), flag) }
		o, err := tc.choice.Options(c, changed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := fmt.Sprintf("bands %v tools %v thinking %v newest %d nousers %v min %d", o.Bands, o.Tools, o.Thinking, o.Newest, o.NoUsers, o.MinTokens); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
	for name, choice := range map[string]Choice{
		"neither on nor off": {Users: "maybe"}, "a preset of nobody's": {Users: "on", Preset: "harsh"}, "bad bands": {Users: "on", Bands: "x"}, "bad tools": {Users: "on", Tools: "0-50:compress"}, "bad thinking": {Users: "on", Thinking: "0-50:truncate"},
	} {
		_, err := choice.Options(c, func(string) bool { return true })
		if _, ok := errors.AsType[message.Misuse](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Who compresses: nothing leaves the machine unless a service is named, a service needs
// its key before anything is done, and one on this machine needs none.
func TestBackendOfAChoice(t *testing.T) {
	t.Parallel()
	c := config.Defaults().Compress
	keys := map[string]string{}
	env := terminal.Env{Getenv: func(k string) string { return keys[k] }, Environ: func() []string { return nil }, Now: time.Now}
	back, err := Choice{}.Backend(c, env, true)
	if err != nil || !back.free() || back.label() != "builtin" {
		t.Errorf("by default: %s, %v", back.label(), err)
	}
	if _, err := (Choice{Provider: "nobody"}).Backend(c, env, true); err == nil || !strings.Contains(message.HintOf(err, message.EN), "builtin") {
		t.Errorf("a service of nobody's: %v", err)
	}
	if _, err := (Choice{Provider: "openrouter"}).Backend(c, env, true); err == nil || message.HintOf(err, message.EN) == "" {
		t.Errorf("without a key: %v", err)
	}
	for name, choice := range map[string]Choice{"on this machine": {Provider: "openrouter", BaseURL: "http://127.0.0.1:1/v1"}, "by its name": {Provider: "openrouter", BaseURL: "http://localhost:1"}} {
		if _, err := choice.Backend(c, env, true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Choice{Provider: "openrouter"}).Backend(c, env, false); err != nil {
		t.Errorf("a plan asks nobody: %v", err)
	}
	for base, want := range map[string]bool{"http://localhost:8080": true, "http://127.3.2.1": true, "http://[::1]/v1": true, "https://example.org": false, "http://10.0.0.1": false, "": false, "::": false} {
		if got := loopback(base); got != want {
			t.Errorf("%q: on this machine is %v", base, got)
		}
	}
	one, err := Choice{Provider: "openrouter", Model: "m"}.Backend(c, env, false)
	if err != nil || one.free() || one.label() != "openrouter m" {
		t.Errorf("one model: %s, %v", one.label(), err)
	}
	two, err := Choice{Provider: "openrouter"}.Backend(c, env, false)
	if err != nil || two.label() != "openrouter "+two.small+" / "+two.large || two.small == two.large {
		t.Errorf("two models: %s, %v", two.label(), err)
	}
	// What leaves is clean, and each secret is counted.
	token := "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	clean, found := one.redact("one " + token + " two " + token)
	if strings.Contains(clean, token) || len(found) != 2 {
		t.Errorf("%q, %v", clean, found)
	}
}

// A service whose start alone takes long gets a minute, unless the settings say else.
func TestPoolOfAChoice(t *testing.T) {
	t.Parallel()
	c := config.Defaults().Compress
	p := Choice{KeepFacts: true}.Pool(c, Backend{model: "m", slow: true}, "dir")
	if p.TimeoutInitial != time.Minute || p.TimeoutIncrement != time.Minute || p.Model != "m" || !p.KeepFacts || p.Cache != Cache(Dir("dir")) {
		t.Errorf("%+v", p)
	}
	c.TimeoutInitialMS = 7000
	p = Choice{NoCache: true}.Pool(c, Backend{slow: true}, "dir")
	if p.TimeoutInitial != 7*time.Second || p.Cache != nil {
		t.Errorf("%+v", p)
	}
	if p := (Choice{}).Pool(config.Defaults().Compress, Backend{}, ""); p.TimeoutInitial != 5*time.Second {
		t.Errorf("%+v", p)
	}
}

// What a plan costs: nothing on this machine, and what is not known is not claimed.
func TestCostOfAPlan(t *testing.T) {
	t.Parallel()
	prices := host.ListPrices(nil)
	paid := func(small, large string) Backend {
		return Backend{Provider: Builtin{}, Prices: prices, small: small, large: large, redact: redactText}
	}
	full := &Plan{Items: make([]Item, 1), Small: Load{Input: 1_000_000}, Large: Load{Output: 1_000_000}}
	if usd, known := (Backend{Provider: Builtin{}}).cost(full); usd != 0 || !known {
		t.Errorf("on this machine: %v, %v", usd, known)
	}
	if usd, known := paid("", "").cost(full); usd != 0 || known {
		t.Errorf("a model that nobody named: %v, %v", usd, known)
	}
	if _, known := paid("", "").cost(&Plan{}); !known {
		t.Error("nothing to do costs nothing")
	}
	if _, known := paid("claude-haiku-4-5", "nobody-9").cost(full); known {
		t.Error("half of the price is known")
	}
	both, known := paid("claude-haiku-4-5", "claude-haiku-4-5").cost(full)
	reading, _ := paid("claude-haiku-4-5", "claude-haiku-4-5").cost(&Plan{Items: make([]Item, 1), Small: Load{Input: 1_000_000}})
	if !known || reading <= 0 || both <= reading {
		t.Errorf("reading %v, both %v, %v", reading, both, known)
	}
}

// A band is written and read as it was given, and refused where it is none.
func TestBandsAsJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"start":0,"end":12.5,"level":"compress"}`, `{"start":0.10,"end":100,"level":"heavy-compress"}`} {
		var b Band
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			t.Fatal(err)
		}
		if out, err := json.Marshal(b); err != nil || string(out) != text {
			t.Errorf("%s became %s, %v", text, out, err)
		}
	}
	for _, bad := range []string{`{"start":"0"}`, `{"start":1e2}`, `{"start":true}`, `{"start":0.000000000000000000000000000000001}`} {
		var b Band
		if json.Unmarshal([]byte(bad), &b) == nil {
			t.Errorf("%s is read as %s", bad, b)
		}
	}
	ten, _ := parsePercent("10")
	if same, _ := parsePercent("10.0"); !ten.Equal(same) || !(percent{}).Equal(percent{}) || ten.Equal(percent{}) || (percent{}).String() != "0" {
		t.Error("positions are compared by their spelling")
	}
	for text, want := range map[string]string{
		"": "[]", " 0-50:compress , 50-80:heavy-compress ": "[0-50:compress 50-80:heavy-compress]", "0-12.5:compress": "[0-12.5:compress]",
		"0-50": "!", "0:compress": "!", "a-50:compress": "!", "0-b:compress": "!", "50-0:compress": "!", "0-0:compress": "!", "0-101:compress": "!", "-1-5:compress": "!", "0-50:remove": "!",
		"0-50:compress,40-60:compress": "!", "40-60:compress,0-50:compress": "!", "50-100:compress,0-50:compress": "[50-100:compress 0-50:compress]",
	} {
		got, err := ParseBands(text)
		if shown := fmt.Sprint(got); err != nil != (want == "!") || err == nil && shown != want {
			t.Errorf("%q: %s, %v", text, shown, err)
		}
	}
}

// What a person is shown of a plan and of what came of it; programs get the same.
func TestPlanAndResultAreShown(t *testing.T) {
	t.Parallel()
	c := &chat{}
	for i := range 4 {
		c.user(long(fmt.Sprintf("Please look at part %d of internal/cfg/load.go.", i)))
		c.blocks(textBlock(long(fmt.Sprintf("Part %d reads the file and was slow.", i))), toolUse(fmt.Sprint("t", i), "ls"))
		c.result(fmt.Sprint("t", i), long("a line of output"))
	}
	s := c.write(t)
	p := plan(t, s, Options{Bands: ranges(t, ParseBands, "0-50:heavy-compress"), Tools: ranges(t, ParseTools, "0-100:remove"), MinTokens: 1})
	back := Backend{Provider: Builtin{}}
	show := func(f func(*terminal.Terminal)) []string {
		var out bytes.Buffer
		f(&terminal.Terminal{Env: terminal.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Dir: "/"}, Lang: message.EN})
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	holds := func(lines []string, parts ...string) {
		t.Helper()
		text := strings.Join(lines, "\n")
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in:\n%s", part, text)
			}
		}
	}
	before, after := p.Counted(nil)
	holds(show(func(term *terminal.Terminal) { p.Print(term, term.Stdout, back) }),
		"turns: 4", "0-50:heavy-compress", message.Thousands(p.Bands[0].Tokens), message.Thousands(p.Bands[0].Target), "calls removed 4, cut short 0", message.Thousands(after), "("+message.Change(before, after)+")", "builtin")
	res, _ := runPlan(t, p, Builtin{})
	holds(show(func(term *terminal.Terminal) { p.PrintResult(term, res) }),
		message.Thousands(res.Before), message.Thousands(res.After), fmt.Sprintf("%d of %d", res.Stats.MessagesCompressed, len(res.Messages)), res.Clone.Path, "claude --resume "+res.Clone.ID, "overtone recall", res.Example)
	d := p.Document(back, true)
	if d.Schema != 1 || !d.DryRun || d.Plan.Turns != 4 || d.Plan.Tokens != p.Tokens || d.Plan.TargetTokens != p.Target || d.Plan.CostUSD == nil || *d.Plan.CostUSD != 0 || d.Plan.Tools.Removed != 4 || d.Source.ID != s.ID || d.Source.LiveTokens == 0 {
		t.Errorf("%+v", d)
	}
	r := res.Document()
	if r.ID != res.Clone.ID || r.Before != res.Before || r.After != res.After || len(r.Messages) != len(p.Items) || r.Stats != res.Stats {
		t.Errorf("%+v", r)
	}
	nothing := plan(t, s, Options{Bands: ranges(t, ParseBands, "0-1:compress"), MinTokens: 1 << 20})
	holds(show(func(term *terminal.Terminal) { nothing.Print(term, term.Stdout, back) }), message.NothingToDo.In(message.EN))
	if !nothing.Nothing() || nothing.Few() {
		t.Errorf("nothing %v, few %v", nothing.Nothing(), nothing.Few())
	}
}

// The words of what can go wrong with an answer: what it is, and at most three examples.
func TestRefusalsAreTold(t *testing.T) {
	t.Parallel()
	_, err := checkResult("Nothing is named here at all, it is all about talk and more talk.", "See a/b.go, c/d.go, e/f.go and g/h.go.", "", false, false)
	var refused *refusedError
	if !errors.As(err, &refused) || refused.reason != reasonInvented || !strings.Contains(err.Error(), "invented facts: ") || !strings.HasSuffix(err.Error(), "and 1 more") {
		t.Errorf("%v", err)
	}
	if got := (&refusedError{reason: reasonUndenied, Detail: "x"}).Error(); got != "result refused: lost a denial: x" {
		t.Error(got)
	}
	limited := &rateLimitError{RetryAfter: 2 * time.Second, Err: errors.New("busy")}
	if limited.Error() != "rate limited, retry after 2s: busy" || (&rateLimitError{Err: errors.New("busy")}).Error() != "rate limited: busy" || !errors.Is(limited, limited.Err) {
		t.Errorf("%v", limited)
	}
	if got := (&AllFailed{[]Message{{Error: "first"}, {Error: "second"}}}).Error(); got != "none of 2 messages could be compressed; first error: first" {
		t.Error(got)
	}
}

// Results stand for the messages of their entries: only those that succeeded, of two
// for one entry the later.
func TestResultsStand(t *testing.T) {
	t.Parallel()
	done := []struct {
		entry  int32
		status Status
		text   string
	}{{0, Success, "1"}, {1, Failed, "2"}, {2, Success, ""}, {0, Success, "I"}, {3, Success, "x"}, {-1, Success, "x"}, {1, Skipped, "x"}}
	got := Standing(len(done), 3, func(n int) (int32, bool) { return done[n].entry, Stands(done[n].status, done[n].text) })
	if d := cmp.Diff(map[int32]int{0: 3}, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	// More than is held in memory comes back as it was put.
	big := strings.Repeat("y", textsInMemory/2+1)
	kept := &results{}
	defer kept.Close()
	for n := range 3 {
		if err := kept.put(outcome{job: n, Status: Success, Text: fmt.Sprint(n) + big}, 4); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		if text, _, err := kept.get(n); err != nil || text != fmt.Sprint(n)+big {
			t.Errorf("%d: %.5s, %v", n, text, err)
		}
	}
	if kept.has(3) || !kept.has(2) || (&results{}).has(0) {
		t.Error("a result that was never put")
	}
	for user, want := range map[bool]string{true: "user", false: "assistant"} {
		if got := (&Item{User: user}).Role(); got != want {
			t.Errorf("%v: %s", user, got)
		}
	}
	if m := (&Item{Tokens: 7, Level: Compress}).Waiting(); m.Status != Pending || m.Before != 7 || m.After != 7 || m.Attempts != 0 || m.Level != Compress {
		t.Errorf("%+v", m)
	}
}

// A message that cannot become shorter stays, and counts as skipped beside those that
// are below the threshold; the others count as what they are.
func TestStatsOfARun(t *testing.T) {
	t.Parallel()
	c := &chat{}
	c.user("ok")
	c.blocks(textBlock(long("The parser in internal/cfg/load.go was slow because it read the file twice.")))
	c.user("go on")
	c.blocks(textBlock("Fine."))
	s := c.write(t)
	for min, want := range map[int]Stats{
		1:  {MessagesCompressed: 1, MessagesSkipped: 3},
		20: {MessagesCompressed: 1, MessagesSkipped: 3},
	} {
		res, _ := runPlan(t, plan(t, s, Options{Bands: ranges(t, ParseBands, "0-100:compress"), MinTokens: min}), Builtin{})
		got := res.Stats
		if got.MessagesCompressed != want.MessagesCompressed || got.MessagesSkipped != want.MessagesSkipped || got.MessagesFailed != 0 || got.TokensRemoved != got.OriginalTokens-got.CompressedTokens || got.TokensRemoved <= 0 {
			t.Errorf("from %d tokens on: %+v", min, got)
		}
	}
	for _, tc := range []struct{ before, after, percent int }{{0, 0, 0}, {1000, 500, 50}, {1000, 995, 1}, {1000, 996, 0}, {3, 1, 67}} {
		st := Stats{OriginalTokens: tc.before, CompressedTokens: tc.after}
		if st.finish(); st.ReductionPercent != tc.percent || st.TokensRemoved != tc.before-tc.after {
			t.Errorf("%d to %d: %+v", tc.before, tc.after, st)
		}
	}
}

// How many tokens the host will count for a clone: what it reported last, less what is
// gone, in the host's own counting; what it counts of a session is between half and
// twice of what we do.
func TestAsTheHostCounts(t *testing.T) {
	t.Parallel()
	session := func(first, last int) *transcript.Session {
		c := &chat{}
		c.user("Begin.")
		c.add("assistant", fmt.Sprintf(`{"id":"m1","role":"assistant","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":%d,"output_tokens":0}}`, first), "")
		for range 10 {
			c.user(strings.Repeat("word ", 80)) // 100 tokens
			c.add("assistant", fmt.Sprintf(`{"id":"n%d","role":"assistant","content":[{"type":"text","text":%q}],"usage":{"input_tokens":%d,"output_tokens":0}}`, c.n, strings.Repeat("word ", 80), last), "")
		}
		return c.write(t)
	}
	for name, tc := range map[string]struct {
		first, last int
		rate        float64
	}{
		"as we do": {10_000, 12_000, 1}, "half more": {10_000, 13_000, 1.5}, "much more": {10_000, 90_000, 2}, "much less": {10_000, 10_100, 0.5},
	} {
		p := plan(t, session(tc.first, tc.last), Options{})
		if p.hostRate < tc.rate-0.02 || p.hostRate > tc.rate+0.02 {
			t.Errorf("%s: %v, want %v", name, p.hostRate, tc.rate)
		}
		// What a person is shown of the parts adds up to what the whole loses.
		p = plan(t, session(tc.first, tc.last), Options{Bands: ranges(t, ParseBands, "0-100:heavy-compress"), MinTokens: 1})
		var out bytes.Buffer
		term := &terminal.Terminal{Env: terminal.Env{Stdout: &out, Getenv: func(string) string { return "" }}, Lang: message.EN}
		p.Print(term, &out, Backend{Provider: Builtin{}})
		var whole, left, before, target, note int
		for _, scan := range []struct {
			line string
			into []any
		}{
			{`context about ([\d,]+) tokens`, []any{&whole}},
			{`heavy-compress +\d+ +\d+ +([\d,]+) +([\d,]+)`, []any{&before, &target}},
			{`added: about ([\d,]+) tokens`, []any{&note}},
			{`target: context about ([\d,]+) tokens`, []any{&left}},
		} {
			for i, number := range regexp.MustCompile(scan.line).FindStringSubmatch(out.String())[1:] {
				fmt.Sscan(strings.ReplaceAll(number, ",", ""), scan.into[i])
			}
		}
		if off := whole - left - (before - target - note); off < -3 || off > 3 || note == 0 {
			t.Errorf("%s: %d are not told:\n%s", name, off, out.String())
		}
		if got, want := p.asHostCounts(0), int64(tc.last); got != want {
			t.Errorf("%s: nothing is gone, and %d of %d are left", name, got, want)
		}
		if got, want := p.asHostCounts(400), int64(tc.last)-int64(p.hostRate*400); got != want {
			t.Errorf("%s: 400 are gone, and %d are left, want %d", name, got, want)
		}
	}
	few := &chat{}
	few.user("Begin.")
	few.blocks(textBlock("ok"))
	if p := plan(t, few.write(t), Options{}); p.hostRate != 1 {
		t.Errorf("too little to tell: %v", p.hostRate)
	}
	none := &chat{}
	none.user("Begin.")
	if p := plan(t, none.write(t), Options{}); p.asHostCounts(0) != 0 {
		t.Errorf("a host that reported nothing counts %d", p.asHostCounts(0))
	}
}
