package compact

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// working is a turn of a plan with an open step, which has ended.
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

// Every state with what shows it: who or what was last decides, and no text is read.
func TestStateOfWords(t *testing.T) {
	t.Parallel()
	proposed := func(w Words) Words {
		w.Proposed = true
		return w
	}
	for name, c := range map[string]struct {
		words Words
		state State
		sign  Sign
	}{
		"nothing is known":                      {Words{}, StateUnknown, SignNothing},
		"words of older versions":               {Words{Heard: []Word{{Text: "go"}}, Count: 3}, StateUnknown, SignNothing},
		"the user's words are last":             {talk("go"), StateCalled, SignUser},
		"words typed in mid-turn":               {talk("go", "works", "use tabs"), StateCalled, SignUser},
		"words behind the end of the turn":      {talk("go", "a: Fine.", "ends", "and this"), StateCalled, SignUser},
		"a tool is last":                        {talk("go", "works"), StateUnderWay, SignTool},
		"a tool after queued words":             {talk("go", "works", "use tabs", "works"), StateUnderWay, SignTool},
		"the agent's unfinished words are last": {talk("go", "works", "a: Now the lexer."), StateUnderWay, SignAgent},
		"also where they ask something":         {talk("go", "works", "a: Shall I go on?"), StateUnderWay, SignAgent},
		"the turn has ended":                    {talk("go", "works", "a: Now the lexer.", "ends"), StateTurnOver, SignEnd},
		"it has ended without a word":           {talk("go", "works", "ends"), StateTurnOver, SignEnd},
		"a turn after one that has ended":       {talk("go", "a: Fine.", "ends", "more", "works"), StateUnderWay, SignTool},
		"work after the end":                    {talk("go", "a: Fine.", "ends", "works"), StateUnderWay, SignTool},
		"interrupted":                           {talk("go", "works", "esc"), StateInterrupted, SignInterrupted},
		"interrupted, and its end is told":      {talk("go", "works", "esc", "ends"), StateInterrupted, SignInterrupted},
		"interrupted, then words":               {talk("go", "works", "esc", "what is left?"), StateCalled, SignUser},
		"interrupted, words, work":              {talk("go", "works", "esc", "what is left?", "works"), StateUnderWay, SignTool},
		"a tool asks":                           {talk("go", "q: Which one?"), StateAsked, SignQuestion},
		"a tool asks beside other work":         {talk("go", "q: Which one?", "works"), StateAsked, SignQuestion},
		"a tool asks, and the turn ends":        {talk("go", "q: Which one?", "ends"), StateAsked, SignQuestion},
		"a tool's question is answered":         {talk("go", "q: Which one?", "! the second"), StateUnderWay, SignTool},
		"words instead of an answer":            {talk("go", "q: Which one?", "neither"), StateCalled, SignUser},
		"a plan is proposed":                    {proposed(talk("go", "a: Here it is.", "ends")), StateAsked, SignProposal},
		"a plan is proposed, then words":        {proposed(talk("go", "a: Here it is.", "ends")).Hear("no", Typed, noon), StateCalled, SignUser},
		"a plan is proposed, then work":         {proposed(talk("go", "a: Here it is.", "ends")).Worked(), StateUnderWay, SignTool},
		"a refusal is no end":                   {talk("go", "works").Hear("not that file", WithRefusal, noon), StateUnderWay, SignTool},
		"an approved plan":                      {talk("go", "a: Here it is.", "ends").Hear("# The plan", AsPlan, noon), StateCalled, SignUser},
	} {
		if state, sign := c.words.State(false); state != c.state || sign != c.sign {
			t.Errorf("%s: %s by %s, want %s by %s", name, state, sign, c.state, c.sign)
		}
		// Who asks for a compaction stands between two turns, whatever the file says.
		if state, sign := c.words.State(true); state != StateTurnOver || sign != SignManual {
			t.Errorf("%s, compacted by hand: %s by %s", name, state, sign)
		}
	}
	for state, c := range map[State]struct{ waits, refuses bool }{
		StateUnknown: {}, StateUnderWay: {}, StateCalled: {}, StateTurnOver: {waits: true}, StateAsked: {true, true}, StateInterrupted: {true, true},
	} {
		if state.Waits() != c.waits || state.Refuses() != c.refuses {
			t.Errorf("%s waits %v, refuses %v", state, state.Waits(), state.Refuses())
		}
	}
}

// The same events with any texts give the same state.
func TestNoTextDecidesTheState(t *testing.T) {
	t.Parallel()
	said := []string{
		"stop, do nothing more", "STOP", "wait for my go", "no", "continue", "先停一下，不要再改了", "それで終わり", "That is all, thanks.", "Shall I go on?", "All tasks are done.", "I wait for your approval.",
		"<proposed_plan>\n- one\n</proposed_plan>", "Next I will port the lexer.", "[Request interrupted by user]", "Error: it failed", "2",
	}
	rapid.Check(t, func(t *rapid.T) {
		var loud, plain Thread
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			text := rapid.SampledFrom(said).Draw(t, "text")
			id := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "turn")
			var a, b host.Event
			switch rapid.IntRange(0, 7).Draw(t, "event") {
			case 0:
				a, b = host.TurnStarted{ID: id}, host.TurnStarted{ID: id}
			case 1:
				// A message that is told twice is one, in both.
				a, b = host.UserMessage{Text: text}, host.UserMessage{Text: "Please port it, number " + strconv.Itoa(slices.Index(said, text))}
			case 2:
				a, b = host.AgentMessage{Text: text}, host.AgentMessage{Text: "It is ported."}
			case 3:
				a, b = host.ToolActivity{}, host.ToolActivity{}
			case 4:
				interrupted := rapid.Bool().Draw(t, "interrupted")
				a, b = host.TurnEnded{Interrupted: interrupted}, host.TurnEnded{Interrupted: interrupted}
			case 5:
				a, b = host.Proposed{}, host.Proposed{}
			case 6:
				a, b = host.FileChanged{File: "a.go"}, host.FileChanged{File: "a.go"}
			case 7:
				a, b = host.Compacted{After: -1}, host.Compacted{After: -1}
			}
			loud, plain = loud.Apply(a, auto()), plain.Apply(b, auto())
			got, by := loud.Words.State(false)
			want, sign := plain.Words.State(false)
			if got != want || by != sign {
				t.Fatalf("%T with %q: %s by %s, with other words %s by %s", a, text, got, by, want, sign)
			}
		}
	})
}

// A thread tells its situation from what it was told, without a look at any file.
func TestThreadTellsItsSituation(t *testing.T) {
	t.Parallel()
	ask := host.UserMessage{Text: "Please port the parser. Never push to main."}
	for name, c := range map[string]struct {
		events []host.Event
		want   State
	}{
		"nothing was said":            {nil, StateUnknown},
		"nobody has answered":         {[]host.Event{ask}, StateCalled},
		"a tool is at work":           {[]host.Event{ask, host.ToolActivity{}}, StateUnderWay},
		"it has said something":       {[]host.Event{ask, host.ToolActivity{}, host.AgentMessage{Text: "It is ported. Shall I push it?"}}, StateUnderWay},
		"its turn is over":            {working(ask.Text, "It is ported. Shall I push it?"), StateTurnOver},
		"a compaction changes no one": {append(working(ask.Text, "It is ported."), host.Compacted{ID: "2", After: -1}), StateTurnOver},
		"interrupted":                 {[]host.Event{ask, host.ToolActivity{}, host.TurnEnded{Interrupted: true}}, StateInterrupted},
		"interrupted, then asked":     {[]host.Event{ask, host.ToolActivity{}, host.TurnEnded{Interrupted: true}, host.UserMessage{Text: "What is left?"}}, StateCalled},
		"told to stop":                {[]host.Event{ask, host.AgentMessage{Text: "Half of it."}, host.UserMessage{Text: "Stop here."}}, StateCalled},
		"it proposes a plan":          {append(working(ask.Text, "Here is the plan."), host.Proposed{}), StateAsked},
		"the request is told again":   {[]host.Event{host.TurnStarted{ID: "1"}, ask, host.ToolActivity{}, ask}, StateUnderWay},
		"the same words in a new turn": {
			[]host.Event{host.TurnStarted{ID: "1"}, ask, host.ToolActivity{}, host.TurnEnded{}, host.TurnStarted{ID: "2"}, ask}, StateCalled,
		},
		"a packet is no word of the user's": {append(working(ask.Text, "It is ported."), host.TurnStarted{ID: "2"}, host.UserMessage{Text: "x", Ours: true}), StateTurnOver},
		"work in the turn of a packet":      {append(working(ask.Text, "It is ported."), host.TurnStarted{ID: "2"}, host.UserMessage{Text: "x", Ours: true}, host.FileChanged{File: "b.go"}), StateUnderWay},
	} {
		if got := threadOf(c.events...).Situation(); got.State != c.want {
			t.Errorf("%s: %s by %s, want %s", name, got.State, got.Sign, c.want)
		}
	}
	th := threadOf(append(working(ask.Text, "The parser is ported. Shall I go on?"), command("go test ./...", "FAIL", 1), command("make lint", "bad", 2), host.UserMessage{Text: "yes"})...)
	s := th.Situation("review it")
	if s.Request != "yes" || s.To != "The parser is ported. Shall I go on?" || s.First != ask.Text || !slices.Equal(s.Plan, []string{"printer", "review it"}) {
		t.Errorf("%+v", s)
	}
	if len(s.Failing) != 2 || s.Failing[0].Line != "make lint" {
		t.Errorf("%+v", s.Failing)
	}
}

// Who is asked something is not told to compact first, unless room is short.
func TestAQuestionComesBeforeASuggestion(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]bool{"a plan is proposed": true, "its words end with a question": false} {
		th := threadOf(working("Please port the parser.", "Shall I go on?")...)
		if asked {
			th = th.Apply(host.Proposed{}, auto())
		}
		th.Usage = Usage{Used: 60, Window: 100}
		for tier, urgent := range map[Tier]bool{early: false, ready: false, asap: true, emergency: true} {
			if _, told := th.Tell(Decision{Verdict: DoSuggest, Tier: tier}, Settings{}); told != (urgent || !asked) {
				t.Errorf("%s, %s: told %v", name, tier, told)
			}
		}
	}
}

// A run that nobody sits before goes on with what was asked, unless it was said to be done,
// a tool asks, or the turn was interrupted.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	const asked = "Please port the parser\nand the printer."
	const line = "Please port the parser and the printer."
	for name, c := range map[string]struct {
		events []host.Event
		want   string
	}{
		"half of it is there":   {working(asked, "The parser is ported."), line},
		"it asks in its words":  {working(asked, "Shall I go on?"), line},
		"it is done":            {working(asked, "All tasks are done."), ""},
		"it was interrupted":    {append(working(asked, "The parser is ported."), host.TurnEnded{Interrupted: true}), ""},
		"it proposes a plan":    {append(working(asked, "Here is the plan."), host.Proposed{}), ""},
		"nothing was asked for": {[]host.Event{host.TurnStarted{ID: "1"}, host.ToolActivity{}}, ""},
	} {
		if got := threadOf(c.events...).Unfinished(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := threadOf(working("Please port "+strings.Repeat("x", 4000), "Half of it is ported.")...).Unfinished(); len(got) > maxNewest+2 || !strings.HasPrefix(got, "Please port x") {
		t.Errorf("%d characters: %s", len(got), got)
	}
}
