package compact

import (
	"slices"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
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
