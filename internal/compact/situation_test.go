package compact

import (
	"encoding/json"
	"slices"
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
				t.Errorf("OpenWork = %q, want %q: %+v", got, c.want, th.Words.Evidence.List())
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

// No list of words has all by which people stop an agent. One that only writes its plan
// again behind them, or puts a step back, is no proof that the step is still wanted.
func TestPlanWrittenAgain(t *testing.T) {
	t.Parallel()
	steps := func(second host.Status) host.Event {
		return host.PlanWritten{Steps: []host.Step{{Text: "parser", Status: host.Completed}, {Text: "printer", Status: second}, {Text: "lexer"}}}
	}
	for _, said := range []string{
		"actually scrap this", "I changed my mind, drop it", "let's pick this up after lunch", "before you continue, show me the diff", "once I approve you can continue", "I'll continue from here", "just the plan please, no code",
		"kannst du bitte aufhören", "on laisse tomber", "déjame revisarlo yo primero", "pera aí, deixa eu ver", "lascia perdere", "отставить", "давай пока остановимся", "ちょっと待った", "잠깐만요", "先擱著吧", "等會再說", "bırak şimdilik", "zostaw to na razie", "tạm dừng lại", "रुको", "توقف الآن",
	} {
		for status, want := range map[host.Status]string{host.InProgress: "", host.Pending: "", host.Completed: "lexer"} {
			th := Thread{}
			for _, e := range []host.Event{
				host.TurnStarted{ID: "1"},
				host.UserMessage{Text: "Please port all of it."},
				steps(host.InProgress),
				host.FileChanged{File: "a.go"},
				host.AgentMessage{Text: "The parser is ported."},
				host.TurnEnded{},
				host.TurnStarted{ID: "2"},
				host.UserMessage{Text: said},
				steps(status),
				host.ToolActivity{},
				host.AgentMessage{Text: "Noted."},
				host.TurnEnded{},
			} {
				th = th.Apply(e, auto())
			}
			if got := th.OpenWork(""); got != want {
				t.Errorf("%q, then %s: OpenWork = %q, want %q", said, status, got, want)
			}
		}
	}
}

// The state follows from the evidence, and what decides it is told first.
func TestStateHasItsEvidence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e     Evidence
		state State
		by    string
	}{
		{0, StateUnknown, ""},
		{ToldToStop, StateStopped, "told-to-stop"},
		{AtWork, StateWorking, "at-work"},
		{AtWork | ToldToStop, StateWorking, "at-work"}, // it goes on, whatever was said before
		{AtWork | Interrupted | ToldToStop, StateStopped, "interrupted"},
		{AtWork | ToolAsks, StateAsked, "tool-asks"},
		{AgentLast | Proposes, StateAsked, "proposes"},
		{UserLast, StateCalled, "user-last"},
		{UserLast | ToldToStop, StateStopped, "told-to-stop"},
		{AgentLast, StateUnknown, ""},
		{AgentLast | OpenStep | Planned, StateUnknown, ""},
		{AgentLast | Asks | ToldToStop | SaysDone, StateAsked, "asks"},
		{AgentLast | ToldToStop | SaysDone, StateStopped, "told-to-stop"},
		{AgentLast | SaysDone | Yields, StateFinished, "says-done"},
		{AgentLast | PlanDone, StateFinished, "plan-done"},
		{AgentLast | SaysDone | OpenStep, StateUnknown, ""},
		{AgentLast | Yields | Announces, StateAsked, "yields"},
		{AgentLast | Announces | Wonders, StateWorking, "announces"},
		{AgentLast | Wonders, StateFinished, "wonders"},
	} {
		state, by := c.e.Decides()
		if state != c.state || (by != 0) != (c.by != "") || by != 0 && c.e.List()[0] != c.by {
			t.Errorf("%v: %s by %v, want %s by %q", c.e.List(), state, by.List(), c.state, c.by)
		}
		var back Evidence
		data, err := json.Marshal(c.e)
		if err != nil || json.Unmarshal(data, &back) != nil || back != c.e {
			t.Errorf("%s is read as %v", data, back.List())
		}
	}
}

// A thread tells its situation from what it was told, without a look at any file.
func TestThreadTellsItsSituation(t *testing.T) {
	t.Parallel()
	ask := host.UserMessage{Text: "Please port the parser. Never push to main."}
	for name, c := range map[string]struct {
		events []host.Event
		want   State
	}{
		"nothing was said":             {nil, StateUnknown},
		"nobody has answered":          {[]host.Event{ask}, StateCalled},
		"a tool is at work":            {[]host.Event{ask, host.ToolActivity{}}, StateWorking},
		"it has asked":                 {[]host.Event{ask, host.ToolActivity{}, host.AgentMessage{Text: "It is ported. Shall I push it?"}}, StateAsked},
		"it is done":                   {[]host.Event{ask, host.ToolActivity{}, host.AgentMessage{Text: "The parser is implemented."}}, StateFinished},
		"it is done, and told the app": {[]host.Event{ask, host.ToolActivity{}, host.AgentMessage{Text: "Ported the parser, added validation.\n\n::git-commit{cwd=\"/w\"}\n::git-push{branch=\"did-you?\"}"}}, StateFinished},
		"interrupted":                  {[]host.Event{ask, host.ToolActivity{}, host.TurnEnded{Interrupted: true}}, StateStopped},
		"told to stop":                 {[]host.Event{ask, host.AgentMessage{Text: "Half of it."}, host.UserMessage{Text: "Stop here."}}, StateStopped},
		"a question was asked":         {[]host.Event{ask, host.UserMessage{Text: "What does it read?"}, host.AgentMessage{Text: "It reads rows."}}, StateFinished},
	} {
		if got := threadOf(c.events...).Situation(); got.State != c.want {
			t.Errorf("%s: %s by %v, want %s", name, got.State, got.Evidence.List(), c.want)
		}
	}
	s := threadOf(append(working(ask.Text, "The parser is ported. Shall I go on?"), host.CommandFinished{Running: false})...).Situation("review it")
	if s.Request != ask.Text || !slices.Equal(s.Plan, []string{"printer", "review it"}) || len(s.Standing) != 1 || s.Standing[0].Text != "Never push to main." {
		t.Errorf("%+v", s)
	}
}

// Who is asked something is not told to compact first, unless room is short.
func TestAQuestionComesBeforeASuggestion(t *testing.T) {
	t.Parallel()
	th := threadOf(working("Please port the parser.", "Shall I go on?")...)
	th.Usage = Usage{Used: 60, Window: 100}
	for tier, want := range map[Tier]bool{early: false, ready: false, asap: true, emergency: true} {
		if _, told := th.Tell(Decision{Verdict: DoSuggest, Tier: tier}, Settings{}); told != want {
			t.Errorf("%s: told %v", tier, told)
		}
	}
}
