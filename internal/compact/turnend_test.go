package compact

import (
	"slices"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// The end of a turn is enough from the tier ready on, under either of its names, and only
// where the configuration names it.
func TestTurnEndCountsFromReady(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]string{"ours": {"commit", "turn_end"}, "the origin's": {"turn_complete"}, "none": {"commit", "stage_complete"}} {
		in := Input{Settings: auto(), Signals: TurnEnd.Signal(), Now: noon}
		in.Settings.Trigger.AutoRequiresAnyBoundary = list
		for p := int64(15); p <= 100; p++ {
			in.Usage = free(p)
			d := Decide(in)
			if want := p < 75 && name != "none"; (d.Verdict == DoCompact) != want || want && !slices.Equal(d.Met, []Boundary{TurnEnd}) {
				t.Errorf("%s, %d%% free: %s, %v", name, p, d.Verdict, d.Met)
			}
		}
	}
}

// A turn begins with the user's words after one that has ended, or where nothing is known of
// an earlier one, and only until it has done something.
func TestATurnBegins(t *testing.T) {
	t.Parallel()
	prompt := func(id string) []host.Event {
		return []host.Event{host.TurnStarted{Prompt: id, At: noon}, host.UserMessage{Text: "port " + id}}
	}
	said := host.AgentMessage{Text: "It is ported. Shall I go on?"}
	ended := append(prompt("1"), host.ToolActivity{}, said, host.TurnEnded{})
	for name, c := range map[string]struct {
		events []host.Event
		want   bool
	}{
		"nothing":                       {nil, false},
		"the first prompt":              {prompt("1"), true},
		"the second":                    {append(ended, prompt("2")...), true},
		"a note of the host's":          {append(ended, host.TurnStarted{Prompt: "2"}), false},
		"a packet of ours":              {append(ended, host.TurnStarted{Prompt: "2"}, host.UserMessage{Text: PacketOpen}), false},
		"a tool has run":                {append(prompt("1"), host.ToolActivity{}), false},
		"a file was changed":            {append(prompt("1"), host.FileChanged{File: "a.go"}), false},
		"typed while it works":          {append(prompt("1"), append([]host.Event{host.ToolActivity{}}, prompt("1")...)...), false},
		"it has ended again":            {append(ended, append(prompt("2"), said, host.TurnEnded{})...), false},
		"after an interruption":         {append(prompt("1"), append([]host.Event{host.ToolActivity{}, host.TurnEnded{Interrupted: true}}, prompt("2")...)...), false},
		"after a turn that nobody told": {append(prompt("1"), append([]host.Event{host.ToolActivity{}, said}, prompt("2")...)...), false},
		"after a plan that waits":       {append(ended, append([]host.Event{host.Proposed{}}, prompt("2")...)...), false},
	} {
		if got := threadOf(c.events...).Begins(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A file that is behind still tells the size from before a compaction: that is not what it
// has left.
func TestOldSizeIsNotTheNewOne(t *testing.T) {
	t.Parallel()
	th := threadOf(host.UsageSeen{Used: 72_000, Window: 100_000}, host.Compacted{Before: 72_000, After: -1}, host.UsageSeen{Used: 72_000})
	if th.History[0].After != -1 || th.Decide(noon, auto()).Cause != causeFresh {
		t.Errorf("%+v", th.History)
	}
	th = th.Apply(host.UsageSeen{Used: 6_000}, auto()).Apply(host.UsageSeen{Used: 72_000}, auto())
	if th.History[0].After != 6_000 {
		t.Errorf("%+v", th.History)
	}
}

// What a round of tools shows counts before the next request: behind that another piece of
// work is under way. At the end of the turn, and before the next one has done anything, all
// that it has shown counts. The end of a command may be learned rounds later.
func TestABoundaryPasses(t *testing.T) {
	t.Parallel()
	set := config.Defaults().Compact
	stage := host.StageCompleted{Stage: "DEV"}
	starts, ends := host.CommandStarted{ID: "c"}, host.CommandFinished{ID: "c", Made: shellcmd.Verdict{Committed: true}}
	prompt := host.TurnStarted{Prompt: "2"}
	type round struct{} // a round of tools has ended
	for name, c := range map[string]struct {
		events []any
		want   []Boundary
	}{
		"in its round":                   {[]any{stage}, []Boundary{StageComplete}},
		"before the next request":        {[]any{stage, round{}}, []Boundary{StageComplete}},
		"a round later":                  {[]any{stage, round{}, host.ToolActivity{}, round{}}, nil},
		"another one comes":              {[]any{stage, round{}, ends, round{}}, []Boundary{Commit}},
		"both in one round":              {[]any{stage, ends, round{}}, []Boundary{Commit, StageComplete}},
		"the same again":                 {[]any{stage, round{}, round{}, round{}, stage, round{}}, []Boundary{StageComplete}},
		"learned before the request":     {[]any{starts, round{}, ends}, []Boundary{Commit}},
		"learned in the next round":      {[]any{starts, round{}, ends, round{}}, nil},
		"learned rounds later":           {[]any{starts, round{}, round{}, ends}, nil},
		"learned behind a newer one":     {[]any{starts, round{}, stage, ends, round{}}, []Boundary{StageComplete}},
		"the turn has ended":             {[]any{stage, round{}, round{}, ends, round{}, round{}, host.TurnEnded{}}, []Boundary{Commit, StageComplete}},
		"a turn begins":                  {[]any{stage, round{}, round{}, prompt}, []Boundary{StageComplete}},
		"a command of the turn before":   {[]any{round{}, round{}, starts, prompt, ends, round{}, round{}}, nil},
		"a turn that is pushed on":       {[]any{stage, round{}, host.TurnEnded{}, host.ToolActivity{}, round{}, round{}}, nil},
		"said that it is done, and goes": {[]any{host.ToolActivity{}, host.AgentMessage{Text: "All done."}, host.TurnEnded{}, round{}, round{}}, nil},
	} {
		th := threadOf(host.TurnStarted{Prompt: "1"})
		for _, e := range c.events {
			if e, ok := e.(host.Event); ok {
				th = th.Apply(e, set)
				continue
			}
			if th.Ages() { // else nobody counts it
				th.State.Rounds++
			}
		}
		if got := th.Boundary().List(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
