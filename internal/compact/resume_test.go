package compact

import (
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// working is a turn of a plan with an open step.
func working(asked string, said string) []host.Event {
	return []host.Event{
		host.TurnStarted{ID: "1"},
		host.UserMessage{Text: asked},
		host.PlanWritten{Steps: []host.Step{{Text: "parser", Status: host.Completed}, {Text: "printer", Status: host.InProgress}}},
		host.FileChanged{File: "a.go"},
		host.AgentMessage{Text: said},
		host.TurnEnded{},
	}
}

func TestOpenWork(t *testing.T) {
	t.Parallel()
	const asked = "Please port the parser and the printer."
	for name, c := range map[string]struct {
		events []host.Event
		want   string
	}{
		"a step is open":                   {nil, "printer"},
		"a compaction changes nothing":     {[]host.Event{host.TurnStarted{ID: "2"}, host.Compacted{ID: "2", After: -1}}, "printer"},
		"the request is told again":        {[]host.Event{host.UserMessage{Text: asked}}, "printer"},
		"all steps are done":               {[]host.Event{host.PlanWritten{Steps: []host.Step{{Text: "parser", Status: host.Completed}, {Text: "printer", Status: host.Completed}}}}, "stage"},
		"interrupted":                      {[]host.Event{host.TurnEnded{Interrupted: true}}, ""},
		"a stop that is told again":        {[]host.Event{host.UserMessage{Text: "stop here"}, host.UserMessage{Text: "continue"}, host.UserMessage{Text: "stop here"}}, ""},
		"a proposal":                       {[]host.Event{host.Proposed{}}, ""},
		"a turn that did nothing":          {[]host.Event{host.TurnStarted{ID: "2"}, host.UserMessage{Text: "continue"}, host.AgentMessage{Text: "Fine."}, host.TurnEnded{}}, ""},
		"another request leaves the stage": {[]host.Event{host.UserMessage{Text: "Please bump the version."}}, "stage"},
		"a packet is no word of the user's": {[]host.Event{
			host.TurnStarted{ID: "2"}, host.UserMessage{Text: "x", Ours: true}, host.FileChanged{File: "b.go"}, host.AgentMessage{Text: "More of it."}, host.TurnEnded{},
		}, "printer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var th Thread
			for _, e := range append(working(asked, "The parser is ported."), c.events...) {
				th = th.Apply(e, auto())
			}
			if got := th.OpenWork("stage"); got != c.want {
				t.Errorf("OpenWork = %q, want %q: %+v", got, c.want, th.State.Stance)
			}
		})
	}
	// What the agent has asked stays asked when the request is told again.
	var th Thread
	for _, e := range append(working(asked, "Shall I go on?"), host.UserMessage{Text: asked}) {
		th = th.Apply(e, auto())
	}
	if got := th.OpenWork(""); got != "" {
		t.Errorf("OpenWork = %q over an open question", got)
	}
}
