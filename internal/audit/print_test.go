package audit

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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

var update = flag.Bool("update", false, "write what the tests see into testdata")

// Times are shown by the machine's clock.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got; -update writes it):\n%s", path, err, diff)
	}
}

// written is the length of a hand-over, which is another package's business.
var written = regexp.MustCompile(`("handoverCharacters": )\d+`)

// page collects what is printed.
type page struct {
	out  bytes.Buffer
	root string
}

func (p *page) print(title string, wide int, lang message.Lang, show func(*terminal.Terminal)) {
	fmt.Fprintf(&p.out, "== %s\n", title)
	term := &terminal.Terminal{Lang: lang, Program: "overtone"}
	term.Stdout, term.Stderr = &p.out, &p.out
	term.Getenv = func(key string) string { return map[string]string{"COLUMNS": fmt.Sprint(wide)}[key] }
	show(term)
}

func (p *page) text() string {
	return written.ReplaceAllString(strings.ReplaceAll(p.out.String(), p.root, "ROOT"), "${1}0")
}

// wide is the known corpus with more of each kind: a compaction by hand and in mid-work,
// one before which there is nothing, days apart, a session that tells nothing.
func wide(t *testing.T) (Options, string) {
	t.Helper()
	dir, root := known(t)
	more := newWriter("77777777-7777-4777-8777-777777777777")
	more.cwd = "/work/another/place"
	for day := range 20 {
		more.clock = time.Date(2026, 2, 1+day, 8, 0, 0, 0, time.UTC)
		more.prompt(fmt.Sprintf("Day %d.", day))
		for step := range 4 {
			more.clock = more.clock.Add(time.Minute)
			id := fmt.Sprintf("d%d-%d", day, step)
			more.call(id, opus, usage{5, 30_000, 0, int64(30_000 * step), 100}, "Bash", map[string]any{"command": "make check-" + id}, "ok stepName"+fmt.Sprint(day))
		}
		if day%3 == 0 {
			trigger := map[bool]string{true: "manual", false: "auto"}[day%2 == 0]
			more.line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": trigger, "preTokens": 120_000 + day}})
			more.line(map[string]any{"type": "user", "isCompactSummary": true, "message": map[string]any{"role": "user", "content": "All is well."}})
			more.clock = more.clock.Add(20 * time.Second)
			more.call(fmt.Sprintf("n%d", day), opus, usage{5, 10_000, 0, 15_000, 80}, "Bash", map[string]any{"command": fmt.Sprintf("make check-d%d-0", day)}, "ok")
		}
	}
	write(t, root, ".claude/projects/-work-another/"+more.id+".jsonl", more.out.Bytes())
	begins := newWriter("44444444-4444-4444-8444-444444444444")
	begins.at("12:00:00").line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 990_000}})
	begins.answer("b1", opus, usage{1, 0, 0, 50_000, 1}, text("on"))
	write(t, root, ".claude/projects/-work-shop/"+begins.id+".jsonl", begins.out.Bytes())
	silent := newWriter("55555555-5555-4555-8555-555555555555")
	silent.cwd = ""
	silent.prompt("Nobody answers.")
	write(t, root, ".claude/projects/-nowhere/"+silent.id+".jsonl", silent.out.Bytes())
	return options(t, dir, ""), root
}

// What people read of a report, in both languages, wide and narrow, all of it and what fits.
func TestPrint(t *testing.T) {
	t.Parallel()
	o, root := wide(t)
	p := &page{root: root}
	short := func(path string) string { return strings.Replace(path, "/work", "~", 1) }
	audit := func(title string, o Options) *Report {
		r := run(t, o)
		r.Prices = host.PriceSource{Date: "2026-01-01", Source: "a list"}
		p.print(title, 200, message.EN, func(term *terminal.Terminal) { r.Print(term, short, false) })
		return r
	}
	r := audit("what fits", o)
	p.print("all of it, in Chinese", 140, message.ZH, func(term *terminal.Terminal) { r.Print(term, short, true) })
	p.print("narrow", 50, message.EN, func(term *terminal.Terminal) { r.Print(term, short, false) })
	p.print("lost", 120, message.EN, func(term *terminal.Terminal) { r.PrintLost(term) })
	p.print("lost, narrow, in Chinese", 50, message.ZH, func(term *terminal.Terminal) { r.PrintLost(term) })
	o.PolicyFile = "other.yaml"
	o.Settings.Trigger.EarlyPercentRemainingLT, o.Settings.Trigger.ReadyPercentRemainingLT, o.Settings.Trigger.AsapPercentRemainingLT = 20, 18, 16
	audit("another policy", o)
	o.PolicyFile, o.Settings = "", settings()
	o.Host = "codex"
	audit("one host", o)
	o.Host, o.Project = "", "nothing"
	audit("none", o)
	o.Project, o.Since = "", time.Date(2026, 3, 1, 9, 21, 15, 0, time.UTC)
	audit("since then", o)
	o.Since = time.Time{}
	o.Now = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) // while a block is under way
	for _, period := range []Period{Week, Month, Block} {
		o.Period = period
		r := run(t, o)
		p.print(string(period), 160, message.EN, func(term *terminal.Terminal) { r.PrintPeriods(term) })
	}
	golden(t, "print.txt", p.text())
}

// What tuning tells: where something better is there, and where nothing is.
func TestPrintTrials(t *testing.T) {
	t.Parallel()
	o, root := wide(t)
	p := &page{root: root}
	trials, r, err := Tune(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p.print("advice", 200, message.EN, func(term *terminal.Terminal) { r.PrintTrials(term, trials) })
	for i := range trials {
		trials[i].Chosen = i == 0
	}
	p.print("nothing better", 200, message.ZH, func(term *terminal.Terminal) { r.PrintTrials(term, trials) })
	golden(t, "trials.txt", p.text())
	// Whichever is chosen is the one that is advised.
	for i := range trials {
		trials[i].Chosen = i == 3
	}
	advised := &page{root: root}
	advised.print("", 200, message.EN, func(term *terminal.Terminal) { r.PrintTrials(term, trials) })
	lines := strings.Split(strings.TrimSpace(advised.text()), "\n")
	if name := trials[3].name(message.EN); !strings.Contains(lines[len(lines)-1], name) || !strings.Contains(advised.text(), name+" ←") {
		t.Errorf("%s is chosen:\n%s", name, advised.text())
	}
}

// Every number of the report, as programs read it.
func TestReportInJSON(t *testing.T) {
	t.Parallel()
	o, root := wide(t)
	o.Period = Block
	r := run(t, o)
	r.Prices = host.PriceSource{}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	p := &page{root: root}
	p.out.Write(data)
	golden(t, "report.json", p.text()+"\n")
}

// Where a session stands now, by its file alone.
func TestNow(t *testing.T) {
	t.Parallel()
	o, root := wide(t)
	p := &page{root: root}
	slices.SortFunc(o.Files, func(x, y transcript.File) int { return strings.Compare(x.Path, y.Path) })
	for _, f := range o.Files {
		if f.Agent {
			continue
		}
		m, err := Now(t.Context(), f, settings(), func(string) int64 { return 0 }, map[string]config.Price{"gpt-9": {Input: 2, Output: 8, CacheWrite: 2, CacheRead: 0.2}})
		if err != nil {
			t.Fatal(err)
		}
		points := len(m.Points)
		m.Points = nil
		data, err := json.MarshalIndent(m, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&p.out, "== %s: %d points, signals %v\n%s\n%+v\n", f.ID, points, m.Signals.List(), data, m.History())
	}
	if _, err := Now(t.Context(), transcript.File{Path: filepath.Join(root, "none"), Host: host.ClaudeCode}, settings(), nil, nil); err == nil {
		t.Error("a file that is not there")
	}
	golden(t, "now.txt", p.text())
}

// A picture of many points keeps the largest and the smallest of each stretch, in order.
func TestThinned(t *testing.T) {
	t.Parallel()
	var all []Point
	for i := range maxPoints * 3 {
		n := int64(i % 7 * 100)
		if i == 200 {
			n = 9_999
		}
		all = append(all, Point{int64(i), n})
	}
	if got := thinned(all[:maxPoints]); len(got) != maxPoints {
		t.Errorf("%d of %d", len(got), maxPoints)
	}
	got := thinned(all)
	top := false
	for i, p := range got {
		top = top || p == Point{200, 9_999}
		if i > 0 && p.Time <= got[i-1].Time {
			t.Errorf("%v behind %v", p, got[i-1])
		}
	}
	if len(got) > maxPoints || len(got) < maxPoints*3/4 || !top {
		t.Errorf("%d points, the largest among them: %v", len(got), top)
	}
	equal(t, "the first stretch", got[:4], []Point{{0, 0}, {5, 500}, {6, 600}, {7, 0}})
	if flat := thinned(make([]Point, maxPoints*2)); len(flat) != maxPoints/2 && len(flat) != maxPoints {
		t.Errorf("all alike: %d", len(flat))
	}
}

func TestSmallRules(t *testing.T) {
	t.Parallel()
	shown, added := splitPatch([]byte("*** Begin Patch\n@@ func a\n kept\n-gone\n+new\n*** End Patch\n"))
	equal(t, "shown", string(shown), "@@ func a\n kept\n-gone\n")
	equal(t, "added", string(added), "*** Begin Patch\n+new\n*** End Patch\n")
	_, added = splitPatch([]byte("- a list\n+ b\n"))
	equal(t, "no patch", string(added), "- a list\n+ b\n")
	for line, want := range map[string]bool{
		"func strictTotals(x int)": true, "strictTotals := 3": true, "strictTotals = 3": true, "const [strictTotals] = all": true, "strictTotals == 3": false,
		"a.strictTotals = 3": false, "f(strictTotals) = 3": false, `"strictTotals" = 3`: false, "strictTotals.x = 3": false, "return strictTotals": false, "strictTotals != 3": false,
	} {
		if got := coins(line, "strictTotals"); got != want {
			t.Errorf("%q coins: %v", line, got)
		}
	}
	for line, want := range map[string]string{
		"make deploy-shop": "make deploy-shop", "make test": "", "make": "", "just ship": "just ship", "npm run shop": "npm run shop", "npm install": "", "npm shop": "", "go shop": "", "make -j": "",
	} {
		if got := ownCommand(line); got != want {
			t.Errorf("%q is the project's own: %q", line, got)
		}
	}
	for said, want := range map[string]bool{"Error: no": true, "Compaction CANCELED": true, "blocked by hook": true, "Compacted.": false, "": false} {
		if got := compactFailed(said); got != want {
			t.Errorf("%q failed: %v", said, got)
		}
	}
	if got := tail(strings.Repeat("a", 40<<10)); len(got) != 32<<10 {
		t.Errorf("a tail of %d", len(got))
	}
	equal(t, "a short tail", tail("done"), "done")
	equal(t, "short", short(strings.Repeat("é", 150)), strings.Repeat("é", 100)+"…")
	equal(t, "not short", short("two\nlines"), "two lines")
	near(t, "median of an odd list", median([]float64{9, 1, 5}), 5)
	near(t, "median of an even list", median([]float64{9, 1, 5, 6}), 5.5)
	equal(t, "median of none", median(nil), (*float64)(nil))
	equal(t, "a mean of none", (&WhatIf{}).mean(5), "–")
	line := lineAround([]byte("one\ntwo three\nfour"), nil)
	equal(t, "a line of nothing", line, "four")
	text := []byte("one\ntwo three\nfour")
	equal(t, "a line", lineAround(text, text[8:13]), "two three")
	long := []byte(strings.Repeat("x", 300) + "MID" + strings.Repeat("y", 300))
	equal(t, "a long line", lineAround(long, long[300:303]), strings.Repeat("x", 120)+"MID"+strings.Repeat("y", 117))
}

// A planned compaction comes at a boundary, between turns or within one, and each sum has
// its own.
func TestPlaced(t *testing.T) {
	t.Parallel()
	at, forced, between, wasted := placed([]Planned{
		{Boundary: []string{"commit"}},
		{Boundary: []string{"commit"}, Between: true},
		{Boundary: []string{"tests"}, Wasted: true},
		{Between: true},
		{Between: true, Wasted: true},
		{},
	})
	equal(t, "at boundaries, forced, between turns, for nothing", []int{at, forced, between, wasted}, []int{3, 1, 2, 2})
}

// What is joined in one row adds up, a price that nobody knows included.
func TestJoinedBuckets(t *testing.T) {
	t.Parallel()
	row := func(id string, requests, unpriced int, usd *float64) *bucket {
		b := &bucket{sessions: map[string]bool{id: true}}
		b.Compactions, b.Requests, b.Unpriced, b.USD = 1, requests, int64(unpriced), usd
		return b
	}
	sum := row("a", 2, 10, nil)
	sum.join(row("b", 3, 20, nil))
	equal(t, "no price at all", sum.USD, (*float64)(nil))
	sum.join(row("a", 4, 0, ptr(1.5)))
	sum.join(row("c", 1, 0, ptr(2.0)))
	equal(t, "sums", []any{len(sum.sessions), sum.Compactions, sum.Requests, sum.Unpriced, *sum.USD}, []any{3, 4, 10, int64(30), 3.5})
}

// The ten newest compactions are listed, and how many more there are.
func TestNewestAreListed(t *testing.T) {
	t.Parallel()
	for n, more := range map[int]string{listedCompactions: "", listedCompactions + 2: "2 more"} {
		var s Session
		for i := range n {
			s.Compactions = append(s.Compactions, Compaction{N: i + 1, Time: fmt.Sprintf("2026-03-%02dT00:00:00Z", i+1)})
		}
		for _, all := range []bool{false, true} {
			p := &page{root: "no folder"}
			p.print("", 200, message.EN, func(term *terminal.Terminal) {
				printer{Terminal: term, Report: &Report{Sessions: []Session{s}}, all: all}.newest()
			})
			got, want := p.text(), min(n, listedCompactions)
			if all {
				want = n
			}
			if strings.Count(got, "\n2026-03-")+strings.Count(got, "\n  2026-03-") != want || strings.Contains(got, " more") != (more != "" && !all) || !all && !strings.Contains(got, more) {
				t.Errorf("%d, all %v:\n%s", n, all, got)
			}
		}
	}
}

// Right behind a compaction nothing is known of how full the context is.
func TestNowBehindACompaction(t *testing.T) {
	t.Parallel()
	now := func(w *writer) Moment {
		t.Helper()
		path := filepath.Join(t.TempDir(), w.id+".jsonl")
		write(t, filepath.Dir(path), filepath.Base(path), w.out.Bytes())
		file, err := transcript.At(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Now(t.Context(), file, settings(), func(string) int64 { return 0 }, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	w := newWriter("88888888-8888-4888-8888-888888888888")
	w.prompt("Go on.")
	w.call("1", opus, usage{10, 20_000, 0, 0, 5}, "Read", map[string]any{"file_path": "/work/shop/a.py"}, "x")
	equal(t, "before it", now(w).Context, int64(20_015))
	w.clock = w.clock.Add(time.Minute)
	w.line(map[string]any{"type": "system", "subtype": "compact_boundary", "compactMetadata": map[string]any{"trigger": "manual", "preTokens": 20_015}})
	m := now(w)
	equal(t, "right behind it", []any{m.Context, m.Last.IsZero(), len(m.Compactions)}, []any{int64(0), true, 1})
	w.clock = w.clock.Add(time.Minute)
	w.answer("2", opus, usage{5, 9_000, 0, 0, 10}, text("on"))
	equal(t, "with the next answer", now(w).Context, int64(9_015))
}

// What a sub-agent does in its parent's file is work, too. A compaction failed where the
// host says so of it, and once: what another command answers later says nothing of it.
func TestSideCallsAndFailedCompactions(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	w := newWriter("99999999-9999-4999-8999-999999999999")
	w.prompt("Go on.")
	w.call("1", opus, usage{10, 20_000, 0, 0, 5}, "Read", map[string]any{"file_path": "/work/shop/a.py"}, "x")
	w.side = true
	w.call("2", opus, usage{10, 2_000, 0, 0, 5}, "Read", map[string]any{"file_path": "/work/shop/b.py"}, "x")
	w.side = false
	w.prompt("<command-name>/compact</command-name>\n<command-args></command-args>")
	w.prompt("<local-command-stderr>Error: Not enough messages to compact.</local-command-stderr>")
	w.prompt("<command-name>/export</command-name>\n<command-args></command-args>")
	w.prompt("<local-command-stderr>Error: no such folder</local-command-stderr>")
	write(t, root, ".claude/projects/-work-shop/"+w.id+".jsonl", w.out.Bytes())
	s := session(t, run(t, options(t, func(h *host.Host) string {
		return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
	}, "")), "9999")
	equal(t, "calls, failed", []int{s.Actions, len(s.Failed)}, []int{2, 1})
}

// How long a cache lives, and what is written again when it is gone.
func TestExpired(t *testing.T) {
	t.Parallel()
	const minute = 60_000
	before := request{time: 1, tokens: Tokens{CacheWrite: 1_000, CacheRead: 9_000, Output: 50}}
	for name, c := range map[string]struct {
		before request
		now    request
		want   int64
		ok     bool
	}{
		"all of it anew":           {before, request{time: 1 + 5*minute + 1, tokens: Tokens{CacheWrite: 10_500}}, 10_000, true},
		"in time":                  {before, request{time: 1 + 5*minute, tokens: Tokens{CacheWrite: 10_500}}, 0, false},
		"half of it was read":      {before, request{time: 1 + 6*minute, tokens: Tokens{CacheWrite: 5_500, CacheRead: 5_000}}, 0, false},
		"less than half":           {before, request{time: 1 + 6*minute, tokens: Tokens{CacheWrite: 5_501, CacheRead: 4_999}}, 5_001, true},
		"nothing was written":      {before, request{time: 1 + 6*minute, tokens: Tokens{Input: 10_000}}, 0, false},
		"the first has no time":    {request{tokens: before.tokens}, request{time: 1 + 6*minute, tokens: Tokens{CacheWrite: 10_500}}, 0, false},
		"an hour is not over":      {request{time: 1, tokens: Tokens{CacheWrite: 1_000, CacheHour: 1_000, CacheRead: 9_000}}, request{time: 1 + 60*minute, tokens: Tokens{CacheWrite: 10_500}}, 0, false},
		"an hour is over":          {request{time: 1, tokens: Tokens{CacheWrite: 1_000, CacheHour: 1_000, CacheRead: 9_000}}, request{time: 2 + 60*minute, tokens: Tokens{CacheWrite: 10_500}}, 10_000, true},
		"less than what was there": {before, request{time: 1 + 6*minute, tokens: Tokens{CacheWrite: 3_000}}, 3_000, true},
	} {
		if got, ok := expired(&c.before, &c.now); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
}

// A price that nobody knows is the usual one, relative to input.
func TestRepay(t *testing.T) {
	t.Parallel()
	equal(t, "unknown", ratiosOf(nil) == usual, true)
	equal(t, "known", ratiosOf(&host.Price{Input: 2, Output: 10, Read: 0.2, Write: 2.5}).output, 5.0)
	for name, c := range map[string]struct {
		first         Tokens
		before, after int64
		want          float64
	}{
		"smaller":                          {Tokens{Input: 100, CacheRead: 1_000, CacheWrite: 2_000}, 100_000, 20_000, 1 + (5*500+0.1*1_000+1.25*2_000+100)/(0.1*80_000)},
		"an hour":                          {Tokens{CacheWrite: 2_000, CacheHour: 2_000}, 100_000, 20_000, 1 + (5*500+2*2_000.0)/(0.1*80_000)},
		"a host that does not tell writes": {Tokens{Input: 4_000}, 100_000, 20_000, 1 + (5*500+1.25*4_000)/(0.1*80_000)},
		"as large as before":               {Tokens{Input: 4_000}, 20_000, 20_000, 0},
	} {
		got := repay(usual, 500, c.first, c.before, c.after)
		near(t, name, &got.N, c.want)
	}
}

// A compaction is counted where it struck, and where nobody can say what the policy would
// have done, in every column.
func TestHappened(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		c    Compaction
		seen bool
		want WhatIf
	}{
		"at a boundary":           {Compaction{At: []string{"commit"}, MidWork: true, WhatIf: "boundary"}, true, WhatIf{Happened: 1, HappenedBoundary: 1}},
		"at a boundary, unknown":  {Compaction{At: []string{"commit"}, WhatIf: "unknown"}, true, WhatIf{Happened: 1, HappenedBoundary: 1, Unknown: 1, Boundary: 1, LateBoundary: 1}},
		"in mid-work":             {Compaction{MidWork: true, WhatIf: "not-needed"}, true, WhatIf{Happened: 1, HappenedMid: 1, NotNeeded: 1}},
		"in mid-work, unknown":    {Compaction{MidWork: true, WhatIf: "unknown"}, true, WhatIf{Happened: 1, HappenedMid: 1, Unknown: 1, Forced: 1, LateForced: 1}},
		"between turns, unknown":  {Compaction{WhatIf: "unknown"}, false, WhatIf{Happened: 1, Unknown: 1, Unseen: 1, Between: 1}},
		"behind nothing, unknown": {Compaction{Unseen: true, WhatIf: "unknown"}, false, WhatIf{Happened: 1, Unknown: 1, Unseen: 1, Between: 1, Placeless: 1}},
	} {
		var w WhatIf
		w.happened(&c.c, c.seen)
		equal(t, name, w, c.want)
	}
}

// Without us a host compacts where it did so by itself: what people asked for says nothing.
func TestRoomIsTheHostsOwn(t *testing.T) {
	t.Parallel()
	room := func(events ...event) int64 {
		r := rulesOf(host.Codex, &trace{head: head{Compacted: events}}, settings(), 100_000, 20_000)
		return r.room
	}
	equal(t, "none", room(), int64(90_000))
	equal(t, "by hand", room(event{Trigger: "manual", Pre: 95_000}), int64(90_000))
	equal(t, "of no size", room(event{Trigger: "auto"}), int64(90_000))
	equal(t, "by itself", room(event{Trigger: "auto", Pre: 95_000}, event{Trigger: "manual", Pre: 99_000}), int64(95_000))
	equal(t, "below the ceiling", room(event{Trigger: "auto", Pre: 50_000}), int64(90_000))
}

// A boundary helps only where one counts, and where a compaction makes the context smaller.
func TestLateBoundary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		names []string
		used  int64
		want  bool
	}{
		"it helps": {[]string{"commit"}, 50_000, true}, "none counts": {nil, 50_000, false},
		"hardly smaller": {[]string{"commit"}, 22_000, false}, "just smaller": {[]string{"commit"}, 22_300, true},
	} {
		l := late{rules: rules{after: 20_000}, used: c.used}
		l.boundary(5, c.names, true)
		if (l.last != nil) != c.want {
			t.Errorf("%s: %v", name, l.last)
		}
	}
}

// Of the files that an agent has seen the last twenty are known, each once, the newest last.
func TestFilesSeenLast(t *testing.T) {
	t.Parallel()
	var l lossReader
	for i := range maxFiles + 3 {
		l.file(fmt.Sprint(i)).text = []byte("x")
	}
	if f := l.file("5"); string(f.text) != "x" {
		t.Error("a file is forgotten that was seen before")
	}
	var names []string
	for _, f := range l.files {
		names = append(names, f.path)
	}
	equal(t, "files", strings.Join(names, " "), "3 4 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 5")
}

// Without a window nothing is compared, and compactions whose time nobody knows are not taken for one.
func TestOddSessions(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	commit := func(w *writer, model string) {
		w.call("1", model, usage{10, 20_000, 0, 0, 5}, "Bash", map[string]any{"command": `git commit -am "x"`}, "[main abc1234] x\n 1 file changed")
	}
	theirs := newWriter("22222222-0000-4000-8000-000000000000")
	theirs.prompt("Go on.")
	commit(theirs, "mystery-1")
	timeless := newWriter("33333333-0000-4000-8000-000000000000")
	timeless.prompt("Go on.")
	commit(timeless, opus)
	for range 2 {
		timeless.line(map[string]any{"type": "system", "subtype": "compact_boundary", "timestamp": "", "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 150_000}})
	}
	for i, w := range []*writer{theirs, timeless} {
		w.out.WriteByte('\n')
		data := bytes.ReplaceAll(w.out.Bytes(), []byte("msg_1"), fmt.Appendf(nil, "msg_x%d", i))
		write(t, root, ".claude/projects/-work-shop/"+w.id+".jsonl", bytes.ReplaceAll(data, []byte("req_1"), fmt.Appendf(nil, "req_x%d", i)))
	}
	r := run(t, options(t, func(h *host.Host) string {
		return h.Dir(func(_, usual string) string { return filepath.Join(root, usual) })
	}, ""))
	s := session(t, r, "2222")
	equal(t, "theirs", s.Boundaries, map[string]int{"commit": 1})
	equal(t, "without a window", []any{s.Window, s.WhatIf.Requests, s.WhatIf.Cost.Policy == s.WhatIf.Cost.Happened}, []any{int64(0), 0, true})
	equal(t, "without a time", len(session(t, r, "3333").Compactions), 2)
}

// An id is shown as far as it takes to tell it from its neighbours in the list.
func TestUniqueBeginnings(t *testing.T) {
	t.Parallel()
	ids := []string{"abc1", "abd1", "abd2x", "b"}
	for id, want := range map[string]int{"abc1": 3, "abd1": 4, "abd2x": 4, "b": 1} {
		if got := unique(id, ids); got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
	if got := unique("only", []string{"only"}); got != 1 {
		t.Errorf("alone: %d", got)
	}
}
