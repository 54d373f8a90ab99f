package compact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func auto() Settings {
	s := config.Defaults().Compact
	tr := &s.Trigger
	tr.EarlyPercentRemainingLT, tr.ReadyPercentRemainingLT, tr.AsapPercentRemainingLT, tr.EmergencyPercentRemainingLT = 85, 75, 65, 15
	s.Mode = ModeAuto
	return s
}

// free is a usage with p percent free.
func free(p int64) Usage { return Usage{Used: 1000 * (100 - p), Window: 100_000} }

func texts(s Signals) []string {
	out := []string{}
	for _, b := range s.List() {
		out = append(out, string(b))
	}
	return out
}

func everySignal() []Signals {
	var out []Signals
	for s := range Signals(1 << len(boundaries)) {
		if !s.Has(TurnEnd) { // no sign of a turn, but a moment
			out = append(out, s)
		}
	}
	return out
}

// The acceptance rule, written down once more in another way and compared for
// every percentage and every set of signals.
func Test004_AutoNeedsTierAndBoundaryUnlessEmergency(t *testing.T) {
	t.Parallel()
	in := Input{Settings: auto(), Now: noon}
	for p := int64(0); p <= 100; p++ {
		in.Usage = free(p)
		for _, sig := range everySignal() {
			in.Signals = sig
			has := func(list ...Boundary) bool { return sig&setOf(list...) != 0 }
			semantic := has(AgentDone, TopicShift, ConcludingThought)
			want := false
			switch {
			case p < 15:
				want = true
			case p < 65:
				want = has(Commit, PRCheckpoint, PlanCheckpoint, AgentDone, StageComplete)
			case p < 75:
				want = has(Commit, PRCheckpoint, StageComplete) || has(PlanCheckpoint) && semantic
			case p < 85:
				want = has(PRCheckpoint) || has(PlanCheckpoint) && semantic
			}
			d := Decide(in)
			if (d.Verdict == DoCompact) != want {
				t.Fatalf("%d%% free, %v: %s (%s), want compact %v", p, sig.List(), d.Verdict, d.Reason.In(message.EN), want)
			}
		}
	}
}

func Test004_TierIsStrictAndExact(t *testing.T) {
	t.Parallel()
	s := auto()
	for _, row := range []struct {
		used, window int64
		tier         Tier
		percent      int
	}{
		{0, 100, noTier, 100},
		{15, 100, noTier, 85},
		{16, 100, early, 84},
		{25, 100, early, 75},
		{26, 100, ready, 74},
		{35, 100, ready, 65},
		{36, 100, asap, 64},
		{85, 100, asap, 15},
		{86, 100, emergency, 14},
		{100, 100, emergency, 0},
		{150, 100, emergency, 0},
		{62_000, 95_000, asap, 34},
		{14_999, 99_999, noTier, 85},
		{15_000, 99_999, early, 84},
		{15_000, 100_001, noTier, 85},
		{15_001, 100_001, early, 84},
		{3, 20, noTier, 85},
		{170_000, 200_000, asap, 15},
		{170_001, 200_000, emergency, 14},
		{1, 3, ready, 66},
		{0, 0, noTier, -1},
		{5, 0, noTier, -1},
		{-1, 100, noTier, -1},
		{1, 1 << 60, noTier, -1},
	} {
		u := Usage{Used: row.used, Window: row.window}
		if got := tierOf(s.Trigger, u); got != row.tier || u.Remaining() != row.percent {
			t.Errorf("%+v: %s %d%%, want %s %d%%", u, got, u.Remaining(), row.tier, row.percent)
		}
	}
	s.Trigger.EarlyPercentRemainingLT = 12.5
	if s.Trigger.EmergencyPercentRemainingLT = 0; tierOf(s.Trigger, Usage{Used: 875, Window: 1000}) != asap {
		t.Errorf("asap still holds: %s", tierOf(s.Trigger, Usage{Used: 875, Window: 1000}))
	}
	s.Trigger.AsapPercentRemainingLT, s.Trigger.ReadyPercentRemainingLT = 0, 0
	if tierOf(s.Trigger, Usage{Used: 875, Window: 1000}) != noTier || tierOf(s.Trigger, Usage{Used: 876, Window: 1000}) != early {
		t.Error("a threshold of 12.5 is rounded")
	}
}

func Test004_ConfiguredListNeverWidens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Settings: auto(), Now: noon, Usage: free(rapid.Int64Range(15, 100).Draw(t, "free"))}
		configured := Signals(rapid.Uint16Range(0, 1<<len(boundaries)-1).Draw(t, "configured"))
		in.Settings.Trigger.AutoRequiresAnyBoundary = texts(configured)
		in.Signals = Signals(rapid.Uint16Range(0, 1<<len(boundaries)-1).Draw(t, "signals"))
		d := Decide(in)
		for _, b := range d.Allowed {
			if !configured.Has(b) || !d.Tier.allows().Has(b) {
				t.Fatalf("%s is allowed in %s under %v", b, d.Tier, configured.List())
			}
		}
		all := in
		all.Settings.Trigger.AutoRequiresAnyBoundary = texts(Signals(1<<len(boundaries) - 1))
		if d.Verdict == DoCompact && Decide(all).Verdict != DoCompact {
			// More boundaries may only add reasons to compact.
			t.Fatalf("a shorter list compacts where the full one does not")
		}
		if d.Verdict == DoCompact && len(d.Met) == 0 {
			t.Fatalf("compacts without a boundary in %s", d.Tier)
		}
	})
}

// A fuller context never asks for more than an emptier one did.
func TestFullerContextIsNeverStricter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Settings: auto(), Now: noon, Signals: Signals(rapid.Uint16Range(0, 1<<len(boundaries)-1).Draw(t, "signals"))}
		a, b := rapid.Int64Range(0, 100_000).Draw(t, "used"), rapid.Int64Range(0, 100_000).Draw(t, "more")
		in.Usage = Usage{Used: min(a, b), Window: 100_000}
		before := Decide(in).Verdict
		in.Usage.Used = max(a, b)
		if before == DoCompact && Decide(in).Verdict != DoCompact {
			t.Fatalf("compacts at %d but not at %d", min(a, b), max(a, b))
		}
	})
}

func Test004_PlanAloneNeedsASemanticBreak(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		free    int64
		signals Signals
		cause   Cause
	}{
		{80, setOf(PlanCheckpoint), causePlanOnly},
		{80, setOf(PlanCheckpoint, PlanUpdate, Commit), causePlanOnly}, // a commit is not enough in early
		{80, setOf(PlanCheckpoint, TopicShift), causeBoundary},
		{70, setOf(PlanCheckpoint), causePlanOnly},
		{70, setOf(PlanCheckpoint, AgentDone), causeBoundary},
		{70, setOf(PlanCheckpoint, ConcludingThought), causeBoundary},
		{70, setOf(PlanCheckpoint, Commit), causeBoundary},
		{60, setOf(PlanCheckpoint), causeBoundary},
		{60, setOf(PlanUpdate), causeTooSmall}, // not in the default list
	} {
		d := Decide(Input{Settings: auto(), Usage: free(row.free), Signals: row.signals, Now: noon})
		if d.Cause != row.cause {
			t.Errorf("%d%% free with %v: %s, want %s", row.free, row.signals.List(), d.Cause, row.cause)
		}
	}
}

func Test004_RearmsOnlyAfterGrowth(t *testing.T) {
	t.Parallel()
	for window, want := range map[int64]int64{0: 256, -1: 256, 100: 64, 3200: 64, 3250: 65, 95_000: 1900, 200_000: 4000} {
		if got := rearmGrowth(window); got != want {
			t.Errorf("RearmGrowth(%d) = %d, want %d", window, got, want)
		}
	}
	in := Input{Settings: auto(), Signals: setOf(Commit), Now: noon, History: []Compaction{{At: noon.Add(-time.Hour), Before: 90_000, After: 60_000}}}
	for used, want := range map[int64]Verdict{60_000: Wait, 61_999: Wait, 62_000: DoCompact, 99_000: DoCompact, 40_000: Wait} {
		in.Usage = Usage{Used: used, Window: 100_000}
		if d := Decide(in); d.Verdict != want {
			t.Errorf("at %d tokens: %s (%s), want %s", used, d.Verdict, d.Reason.In(message.EN), want)
		}
	}
	for after, want := range map[int64]int64{-1: 0, 0: 1500, 400: 1900} {
		if got := rearm(Usage{Used: 500, Window: 100_000}, []Compaction{{After: after}}); got != want {
			t.Errorf("after %d tokens it waits for %d more, want %d", after, got, want)
		}
	}
	in.History[0].After = -1
	in.Usage = free(5)
	if d := Decide(in); d.Cause != causeFresh {
		t.Errorf("the old size counts before the new one is known: %s", d.Cause)
	}
}

// Row 5 of the Codex findings: what is done in the turn that a packet opened
// counts like anything else. What keeps it from going round in circles are the
// growth that is asked for and the guard.
func TestPacketTurnCounts(t *testing.T) {
	t.Parallel()
	exit := 0
	turn := run(auto(), host.TurnStarted{ID: "p"}, host.UserMessage{Text: "packet", Ours: true},
		host.CommandFinished{Observation: shellcmd.Observation{Line: "git commit -m x", Output: "[main 1a2b3c4] x\n", Exit: &exit}},
		host.UsageSeen{Used: 88_000, Window: 100_000})
	if !turn.Boundary().Has(Commit) {
		t.Errorf("signals = %v", turn.Boundary().List())
	}
	if d := turn.Decide(noon, auto()); d.Verdict != DoCompact {
		t.Errorf("at 12 %% free: %s, %s", d.Verdict, d.Cause)
	}
	turn = turn.Apply(host.UsageSeen{Used: 6000, Window: 100_000}, auto())
	turn.History = []Compaction{{At: noon, Before: 70_000, After: 5000}}
	if d := turn.Decide(noon, auto()); d.Verdict != Wait {
		t.Errorf("right after the compaction: %s", d.Verdict)
	}
}

func Test004_ConvergenceGuardStopsAndSaysSo(t *testing.T) {
	t.Parallel()
	at := func(minutes int, before, after int64) Compaction {
		return Compaction{At: noon.Add(time.Duration(minutes) * time.Minute), Before: before, After: after}
	}
	foreign := func(c Compaction) Compaction { c.Foreign = true; return c }
	for name, row := range map[string]struct {
		history []Compaction
		now     int
		cause   Cause
	}{
		"no history":                   {nil, 0, causeBoundary},
		"one fruitless":                {[]Compaction{at(0, 1000, 990)}, 60, causeBoundary},
		"two fruitless":                {[]Compaction{at(0, 1000, 990), at(30, 1000, 950)}, 60, causeNoShrink},
		"grew":                         {[]Compaction{at(0, 1000, 1000), at(30, 1000, 1200)}, 60, causeNoShrink},
		"exactly a tenth":              {[]Compaction{at(0, 1000, 990), at(30, 1000, 900)}, 60, causeBoundary},
		"fruitful between":             {[]Compaction{at(0, 1000, 990), at(30, 1000, 100), at(60, 1000, 990)}, 90, causeBoundary},
		"unknown sizes":                {[]Compaction{at(0, 0, 0), at(30, 0, 0)}, 60, causeBoundary},
		"stays stopped":                {[]Compaction{at(0, 1000, 990), at(30, 1000, 990)}, 10_000, causeNoShrink},
		"by hand in between":           {[]Compaction{at(0, 1000, 990), foreign(at(10, 1000, 990)), at(30, 1000, 990)}, 60, causeBoundary},
		"by hand after":                {[]Compaction{at(0, 1000, 990), at(30, 1000, 990), foreign(at(40, 1000, 500))}, 60, causeBoundary},
		"three in five minutes":        {[]Compaction{at(0, 1000, 10), at(2, 1000, 10), at(4, 1000, 10)}, 5, causeTooFast},
		"three in exactly five":        {[]Compaction{at(0, 1000, 10), at(2, 1000, 10), at(5, 1000, 10)}, 6, causeBoundary},
		"two fast":                     {[]Compaction{at(0, 1000, 10), at(1, 1000, 10)}, 2, causeBoundary},
		"three fast, rested":           {[]Compaction{at(0, 1000, 10), at(2, 1000, 10), at(4, 1000, 10)}, 64, causeBoundary},
		"three fast, one by hand":      {[]Compaction{at(0, 1000, 10), foreign(at(2, 1000, 10)), at(4, 1000, 10)}, 5, causeBoundary},
		"three fast among slower ones": {[]Compaction{at(-90, 1000, 10), at(0, 1000, 10), at(2, 1000, 10), at(4, 1000, 10)}, 5, causeTooFast},
	} {
		in := Input{Settings: auto(), Usage: free(60), Signals: setOf(Commit), History: row.history, Now: noon.Add(time.Duration(row.now) * time.Minute)}
		d := Decide(in)
		if d.Cause != row.cause || (d.Verdict == Stopped) != (row.cause == causeNoShrink || row.cause == causeTooFast) {
			t.Errorf("%s: %s %s, want %s", name, d.Verdict, d.Cause, row.cause)
		}
		if d.Verdict == Stopped {
			for _, l := range []message.Lang{message.ZH, message.EN} {
				if r := d.Reason.In(l); r == "" || strings.Contains(r, "%!") {
					t.Errorf("%s: reason %q", name, r)
				}
			}
			if d := Decide(Input{Settings: auto(), Usage: free(1), History: row.history, Now: in.Now}); d.Verdict != Stopped {
				t.Errorf("%s: an emergency restarts what does not help", name)
			}
		}
	}
}

// A policy that obeys its own history cannot compact for ever, whatever the
// compactions do.
func TestAutomationConverges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Settings: auto(), Signals: Signals(1<<len(boundaries) - 1), Now: noon}
		fruitless, acted := 0, 0
		for range 300 {
			in.Usage = Usage{Used: rapid.Int64Range(0, 200_000).Draw(t, "used"), Window: 200_000}
			in.Now = in.Now.Add(time.Duration(rapid.Int64Range(0, 60).Draw(t, "seconds")) * time.Second)
			if Decide(in).Verdict != DoCompact {
				continue
			}
			acted++
			after := in.Usage.Used * rapid.Int64Range(0, 100).Draw(t, "kept") / 100
			if (in.Usage.Used-after)*100 < in.Usage.Used*minFreed {
				fruitless++
			} else {
				fruitless = 0
			}
			in.History = append(in.History, Compaction{At: in.Now, Before: in.Usage.Used, After: after})
			if fruitless > maxFruitless {
				t.Fatalf("%d fruitless compactions in a row", fruitless)
			}
			if n := len(in.History); n > fastCount && in.History[n-1].At.Sub(in.History[n-1-fastCount].At) < fastWithin {
				t.Fatalf("%d compactions within %v", fastCount+1, fastWithin)
			}
		}
	})
}

func Test004_Modes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[Mode]Verdict{ModeAuto: DoCompact, ModeSuggest: DoSuggest, ModeTag: DoTag, ModeOff: IsOff, "": IsOff} {
		in := Input{Settings: auto(), Usage: free(70), Signals: setOf(Commit), Now: noon}
		in.Settings.Mode = mode
		if d := Decide(in); d.Verdict != want {
			t.Errorf("mode %q: %s, want %s", mode, d.Verdict, want)
		}
		in.Usage = free(3)
		if d := Decide(in); d.Verdict != want {
			t.Errorf("mode %q in an emergency: %s, want %s", mode, d.Verdict, want)
		}
		in.Usage = free(95)
		if d := Decide(in); d.Verdict != Wait && want != IsOff {
			t.Errorf("mode %q with room: %s", mode, d.Verdict)
		}
	}
}

func Test004_MalformedFrontMatterKeepsTheDefaults(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"---\ntrigger: [\n---\nbody\n", "---\n\tbad\n---\n", "---\ntrigger:\n  early_percent_remaining_lt: soon\n---\n", "---\nno end", "\x00\xff", ""} {
		got, _ := prompt.ParseAutoCompact([]byte(src), "auto-compact.md")
		got.Prompt = config.Defaults().Compact.Prompt // the body is kept even where the front matter is not
		if diff := cmp.Diff(config.Defaults().Compact, got); diff != "" {
			t.Errorf("%q (-defaults +got):\n%s", src, diff)
		}
	}
	d := config.Defaults().Compact
	if tr := d.Trigger; tr.EarlyPercentRemainingLT != 50 || tr.ReadyPercentRemainingLT != 35 || tr.AsapPercentRemainingLT != 30 || tr.EmergencyPercentRemainingLT != 15 ||
		counting(tr) != setOf(Commit, PRCheckpoint, PlanCheckpoint, AgentDone, StageComplete, TurnEnd) {
		t.Errorf("defaults %+v", d)
	}
}

func Test004_AgentPromptIsTheFileBody(t *testing.T) {
	t.Parallel()
	body := "Write it down:  \n\n* {{odd}} \"quotes\"\r\n\tand tabs\n"
	s, problems := prompt.ParseAutoCompact([]byte("---\npacket:\n  author: agent\n---\n"+body), "f")
	if !AgentPackets(s) || s.Prompt != body || len(problems) > 0 {
		t.Errorf("prompt %q, want %q (%v)", s.Prompt, body, problems)
	}
}

// There is room as long as no tier has begun, whichever begins first.
func TestRoomEndsWhereTheFirstTierBegins(t *testing.T) {
	t.Parallel()
	in := Input{Settings: auto(), Now: noon, Usage: free(80)}
	in.Settings.Trigger.EarlyPercentRemainingLT = 10
	if got := Decide(in).Reason.In(message.EN); !strings.Contains(got, "not below 75%") {
		t.Error(got)
	}
}

func TestExplainSaysWhatDecideSaw(t *testing.T) {
	t.Parallel()
	in := Input{Settings: auto(), Usage: Usage{Used: 62_000, Window: 95_000}, Signals: setOf(Commit, PlanUpdate), Now: noon, History: []Compaction{{Before: 80_000, After: 61_000}}}
	in.Settings.Trigger.EarlyPercentRemainingLT = 87.5
	got := Explain(in, Decide(in), message.EN)
	want := `verdict: wait (the context has to grow by 900 more tokens since the last compaction)
free: 34% (used 62,000 of a window of 95,000 tokens)
tier: asap (early < 87.5%, ready < 75%, asap < 65%, emergency < 15%)
signals in this turn: commit, plan_update
enough in this tier: commit, pr_checkpoint, plan_checkpoint, agent_done, stage_complete, turn_end
growth needed since the last compaction: 1,900 tokens, 900 missing
mode: auto`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	nothing := Input{Settings: auto(), Now: noon}
	if got := Explain(nothing, Decide(nothing), message.EN); !strings.Contains(got, "\ntier: unknown (early") {
		t.Errorf("of a context that nobody knows:\n%s", got)
	}
	for _, l := range []message.Lang{message.ZH, message.EN} {
		for _, u := range []Usage{{}, free(99), free(80), free(70), free(60), free(10)} {
			for _, sig := range []Signals{0, setOf(Commit), setOf(PlanCheckpoint), setOf(ConcludingThought)} {
				in := Input{Settings: auto(), Usage: u, Signals: sig, Now: noon}
				d := Decide(in)
				if text := Explain(in, d, l); strings.Contains(text, "%!") || d.Reason.In(l) == "" || d.Cause == "" {
					t.Errorf("%s", text)
				}
			}
		}
	}
}

// Only a changed outcome is news, and that nothing is to be done is none at first.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	in := Input{Settings: auto(), Usage: free(99), Now: noon}
	var thread Thread
	for i, row := range []struct {
		free    int64
		signals Signals
		news    bool
	}{{99, 0, false}, {98, setOf(Commit), false}, {70, setOf(Commit), true}, {69, setOf(Commit, PRCheckpoint), false}, {68, 0, true}, {95, 0, true}} {
		in.Usage, in.Signals = free(row.free), row.signals
		var news bool
		if thread, news = thread.Announce(Decide(in)); news != row.news {
			t.Errorf("%d: %v after %s", i, news, thread.Noted)
		}
	}
}

// A person is told once, and again when a fifth of the room that there was then is taken, or
// when the context was compacted.
func TestTell(t *testing.T) {
	t.Parallel()
	set := auto()
	set.Mode = ModeSuggest
	var thread Thread
	for i, row := range []struct {
		event host.Event
		tell  bool
	}{
		{host.UsageSeen{Used: 30_000, Window: 100_000}, true},
		{host.UsageSeen{Used: 34_000}, false},
		{host.UsageSeen{Used: 43_999}, false}, // another tier
		{host.UsageSeen{Used: 44_000}, true},
		{host.UsageSeen{Used: 34_000}, false},
		{host.UsageSeen{Used: 44_000}, false},
		{host.Compacted{Before: 52_000, After: 20_000}, false},
		{host.UsageSeen{Used: 51_000}, true},
		{host.UsageSeen{Used: 30_000}, false}, // tools' answers were dropped
		{host.UsageSeen{Used: 51_000}, false},
		{host.UsageSeen{Used: 25_000}, false}, // cleared
		{host.UsageSeen{Used: 30_000}, true},
	} {
		thread = thread.Apply(row.event, set).Apply(host.StageCompleted{Stage: "DEV"}, set)
		var tell bool
		if thread, tell = thread.Tell(thread.Decide(noon, set), set); tell != row.tell {
			t.Errorf("%d: %v", i, tell)
		}
	}
}

// Thirty prompts while the context fills up are not thirty suggestions: at most five,
// whatever each ends with, however fast it fills, and from wherever on it is told of.
func TestTellThirtyTurns(t *testing.T) {
	t.Parallel()
	set, wide := config.Defaults().Compact, config.Defaults().Compact
	set.Mode, wide.Mode = ModeSuggest, ModeSuggest
	wide.Trigger.EarlyPercentRemainingLT = 100
	commit := command("git commit -m x", "[main ba5e6c0] x\n", 0)
	commit.Made = shellcmd.Verdict{Committed: true, Commits: []shellcmd.Made{{Hash: "ba5e6c0", Subject: "x"}}}
	request := command("gh pr create --fill", "https://github.com/o/r/pull/1\n", 0)
	works := map[string][]host.Event{"commits": {commit, host.TurnEnded{}}, "turns": {host.TurnEnded{}}, "stages": {host.StageCompleted{Stage: "DEV"}}, "pull requests": {commit, request, host.TurnEnded{}}}
	count := func(name string, set Settings, start, step int64) (told int) {
		var thread Thread
		for n := range int64(30) {
			thread = thread.Apply(host.TurnStarted{}, set).Apply(host.ToolActivity{}, set).Apply(host.UsageSeen{Used: min(start+n*step, 199_000), Window: 200_000}, set)
			for _, e := range works[name] {
				thread = thread.Apply(e, set)
			}
			in := thread.Weigh(noon, set)
			if name != "stages" {
				in.Signals |= TurnEnd.Signal()
			}
			var tell bool
			if thread, tell = thread.Tell(Decide(in), set); tell {
				told++
			}
		}
		return told
	}
	for name := range works {
		for _, set := range []Settings{set, wide} {
			most := 0
			for _, start := range []int64{500, 20_000, 50_000, 70_000, 90_000, 100_100} {
				for step := int64(500); step < 30_000; step += 500 {
					most = max(most, count(name, set, start, step))
				}
			}
			if most < 2 || most > 5 {
				t.Errorf("%s, early from %v%%: at most %d suggestions", name, set.Trigger.EarlyPercentRemainingLT, most)
			}
		}
	}
}

// A context that swings around a tier's edge, or whose host drops the answers of tools
// whenever it is nearly full, is told of as often as one that only grows.
func TestTellSwings(t *testing.T) {
	t.Parallel()
	set := config.Defaults().Compact
	set.Mode = ModeSuggest
	count := func(used func(n int64) int64) (told int) {
		var thread Thread
		for n := range int64(30) {
			thread = thread.Apply(host.TurnStarted{}, set).Apply(host.ToolActivity{}, set).Apply(host.UsageSeen{Used: used(n), Window: 200_000}, set).Apply(host.StageCompleted{Stage: "DEV"}, set)
			var tell bool
			if thread, tell = thread.Tell(thread.Decide(noon, set), set); tell {
				told++
			}
		}
		return told
	}
	for low := int64(40_000); low < 190_000; low += 5_000 {
		for high := low; high < min(2*low, 198_000); high += 5_000 {
			if n := count(func(n int64) int64 { return low + n%2*(high-low) }); n > 2 {
				t.Errorf("between %d and %d: %d suggestions", low, high, n)
			}
			if n := count(func(n int64) int64 { return low + n*6_000%max(high-low, 1) }); n > 5 {
				t.Errorf("from %d to %d and back: %d suggestions", low, high, n)
			}
		}
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		mode    Mode
		used    int64
		window  int64
		signals Signals
		history []Compaction
		open    bool
	}{
		"closed without a boundary":         {ModeAuto, 100_000, 200_000, 0, nil, false},
		"boundary":                          {ModeAuto, 100_000, 200_000, setOf(Commit), nil, true},
		"boundary, but room":                {ModeAuto, 10_000, 200_000, setOf(Commit), nil, false},
		"just below the ceiling":            {ModeAuto, 149_999, 200_000, 0, nil, false},
		"ceiling":                           {ModeAuto, 150_000, 200_000, 0, nil, true},
		"emergency comes first on 1M":       {ModeAuto, 860_000, 1_000_000, 0, nil, true},
		"window unknown":                    {ModeAuto, 100_000, 0, 0, nil, true},
		"suggest does not hold back":        {ModeSuggest, 100_000, 200_000, setOf(Commit), nil, true},
		"suggest without a boundary":        {ModeSuggest, 100_000, 200_000, 0, nil, true},
		"tag with room":                     {ModeTag, 1_000, 200_000, 0, nil, true},
		"off":                               {ModeOff, 100_000, 200_000, 0, nil, true},
		"rests":                             {ModeAuto, 100_000, 200_000, 0, []Compaction{{Before: 100, After: 99}, {Before: 100, After: 99}}, true},
		"small window is never held back":   {ModeAuto, 16_000, 32_000, 0, nil, true},
		"ceiling just after a compaction":   {ModeAuto, 151_000, 200_000, 0, []Compaction{{Before: 170_000, After: 150_500}}, true},
		"boundary just after a compaction":  {ModeAuto, 101_000, 200_000, setOf(Commit), []Compaction{{Before: 170_000, After: 100_000}}, false},
		"boundary after enough new content": {ModeAuto, 104_000, 200_000, setOf(Commit), []Compaction{{Before: 170_000, After: 100_000}}, true},
	} {
		s := auto()
		s.Mode = row.mode
		u := Usage{Used: row.used, Window: row.window}
		d := Decide(Input{Settings: s, Usage: u, Signals: row.signals, History: row.history, Now: noon})
		if got := Gate(Ask{Settings: s, Decision: d, Usage: u}); got != row.open {
			t.Errorf("%s: open %v", name, got)
		}
	}
}

func TestSignalsJSON(t *testing.T) {
	t.Parallel()
	for _, s := range everySignal() {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Signals
		if err := json.Unmarshal(data, &back); err != nil || back != s {
			t.Fatalf("%s: %v %v", data, back.List(), err)
		}
	}
	var s Signals
	if err := json.Unmarshal([]byte(`["commit","of the future"]`), &s); err != nil || !slices.Equal(s.List(), []Boundary{Commit}) {
		t.Errorf("%v %v", s.List(), err)
	}
}
