package compact

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// However large the steps, the window and what the host keeps of it: where the
// host would refuse to go on, the gate is open. The transcript may lack the
// newest answer, with its usage; a large round of tools is known from its hook.
func TestGateOpensBeforeTheHostsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.SampledFrom([]int64{60_000, 100_000, 200_000, 400_000, 1_000_000}).Draw(t, "window")
		answer := rapid.Int64Range(1, 20_000).Draw(t, "answer") // what the model may say at most
		limit := window - answer - 3_000
		s := Settings{Mode: ModeAuto, CeilingTokens: int(rapid.SampledFrom([]int64{0, 0, 50_000, 500_000}).Draw(t, "ceiling"))}
		used := rapid.Int64Range(1_000, window/2).Draw(t, "start") // told with the newest answer
		shown, grown := used, int64(0)                             // what the transcript shows: usage, bytes after it
		refused := int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			said := rapid.Int64Range(1, answer).Draw(t, "said")
			batch := rapid.SampledFrom([]int64{200, 4_000, 8_000, 60_000, 240_000, 900_000}).Draw(t, "batch")
			before := used + grown/3
			used = before + said
			late := rapid.Bool().Draw(t, "late")
			if !late {
				shown, grown = used, 0
			}
			// The host counts the new results at up to a token for three bytes.
			count := used + batch/rapid.Int64Range(3, 5).Draw(t, "density")
			known := grown + batch
			if late && batch < 8<<10 {
				known = grown // too small to be remembered, and not written yet
			}
			seen := Usage{Used: shown, Window: window}
			d := Decide(Input{Settings: s, Usage: seen, Now: time.Unix(0, 0)})
			got := Gate(Ask{Settings: s, Decision: d, Usage: seen.Grown(known), Again: refused == shown+1})
			switch {
			case got:
				used, shown, grown, refused = 10_000, 10_000, 0, 0
				continue
			case count >= limit:
				t.Fatalf("refused at %d of %d, where the host ends the turn from %d on; seen were %d and %d bytes", count, window, limit, shown, known)
			}
			refused = 0 // the turn goes on
			// By the next step all of this one is written.
			shown, grown = used, batch
		}
		// A turn that ends by a refusal is the last.
		u := Usage{Used: shown, Window: window}
		if !Gate(Ask{Settings: s, Usage: u, Again: true}) {
			t.Fatal("refused twice without anything between")
		}
	})
}

// A host that does not say whose a compaction is: what is known of the threads
// tells.
func TestWhose(t *testing.T) {
	t.Parallel()
	at := func(n int64) Usage { return Usage{Used: n, Window: 200_000} }
	for name, c := range map[string]struct {
		main   Suspect
		agents []Suspect
		want   string
	}{
		"nobody else":               {Suspect{Usage: at(80_000)}, nil, ""},
		"a small agent beside it":   {Suspect{Usage: at(80_000)}, []Suspect{{ID: "a", Usage: at(10_000)}}, ""},
		"a large agent":             {Suspect{Usage: at(20_000)}, []Suspect{{ID: "a", Usage: at(80_000)}}, "a"},
		"the larger of two agents":  {Suspect{Usage: at(20_000)}, []Suspect{{ID: "a", Usage: at(70_000)}, {ID: "b", Usage: at(80_000)}}, "b"},
		"main waits for its agent":  {Suspect{Usage: at(90_000), Away: true}, []Suspect{{ID: "a", Usage: at(70_000)}}, "a"},
		"main has asked already":    {Suspect{Usage: at(90_000), Asked: true}, []Suspect{{ID: "a", Usage: at(70_000)}}, "a"},
		"main asks again, by force": {Suspect{Usage: at(180_000), Asked: true}, []Suspect{{ID: "a", Usage: at(10_000)}}, ""},
		"as large, but later":       {Suspect{Usage: at(80_000), Step: time.Unix(1, 0)}, []Suspect{{ID: "a", Usage: at(80_000), Step: time.Unix(2, 0)}}, "a"},
	} {
		if got := Whose(c.main, c.agents); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A guessed window is the smaller one for what acts by itself and the larger for a
// suggestion; what the host tells, or a size that proves it, ends the guess.
func TestGuessedWindow(t *testing.T) {
	t.Parallel()
	set := auto()
	suggest := set
	suggest.Mode = ModeSuggest
	thread := Thread{}.Apply(host.SessionSeen{Model: "claude-opus-5-5"}, set).Apply(host.UsageSeen{Used: 120_000}, set)
	if u := thread.Weigh(noon, set).Usage; u.Window != 200_000 || u.Least != 200_000 {
		t.Errorf("for the gate: %+v", u)
	}
	if u := thread.Weigh(noon, suggest).Usage; u.Window != 1_000_000 {
		t.Errorf("for a suggestion: %+v", u)
	}
	told := thread.Apply(host.SessionSeen{Window: 200_000}, set)
	if u := told.Weigh(noon, suggest).Usage; u.Window != 200_000 || u.Least != 0 {
		t.Errorf("told: %+v", u)
	}
	proved := thread.Apply(host.UsageSeen{Used: 210_000}, set).Apply(host.Compacted{After: 30_000}, set).Apply(host.UsageSeen{Used: 40_000}, set)
	if u := proved.Weigh(noon, set).Usage; u.Window != 1_000_000 || u.Least != 0 {
		t.Errorf("proved: %+v", u)
	}
	if u := proved.Apply(host.SessionSeen{Model: "claude-opus-5"}, set).Apply(host.UsageSeen{Used: 40_000}, set).Weigh(noon, set).Usage; u.Window != 200_000 {
		t.Errorf("another model: %+v", u)
	}
	set.ContextWindow = 500_000
	if u := thread.Weigh(noon, set).Usage; u.Window != 500_000 || u.Least != 0 {
		t.Errorf("configured: %+v", u)
	}
}

// Where the window is only guessed, the third commit in a row opens the gate, and the
// ceiling is that of the smaller window.
func TestGateGuesses(t *testing.T) {
	t.Parallel()
	ask := Ask{Settings: auto(), Usage: Usage{Used: 60_000, Window: 200_000, Least: 200_000}, Decision: Decision{Verdict: Wait, Signals: []Boundary{Commit}}}
	for n, open := range []bool{false, false, true, true} {
		if ask.Commits = n; Gate(ask) != open {
			t.Errorf("after %d commits: open is %v", n, !open)
		}
	}
	ask.Decision.Signals = nil
	if Gate(ask) {
		t.Error("without a commit it opens")
	}
	ask.Decision.Signals, ask.Usage.Least = []Boundary{Commit}, 0
	if Gate(ask) {
		t.Error("a window that the host told is guessed")
	}
	if ask.Usage.Used = 150_000; !Gate(ask) {
		t.Error("the ceiling holds no more")
	}
}
