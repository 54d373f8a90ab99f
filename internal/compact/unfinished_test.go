package compact

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

func threadOf(events ...host.Event) (t Thread) {
	for _, e := range events {
		t = t.Apply(e, auto())
	}
	return t
}

// A run that nobody sits before goes on with what was asked, on one line and not at any
// length, unless it was said to be done or one of the two wants to be heard first.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	const asked = "Please port the parser\nand the printer."
	const line = "Please port the parser and the printer."
	for said, want := range map[string]string{
		"The parser is ported.": line,
		"All tasks are done.":   "",
		"Shall I go on?":        "",
	} {
		if got := threadOf(working(asked, said)...).Unfinished(); got != want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
	if got := threadOf(append(working(asked, "The parser is ported."), host.TurnEnded{Interrupted: true})...).Unfinished(); got != "" {
		t.Errorf("stopped: %q", got)
	}
	if got := threadOf(working("Please port "+strings.Repeat("x", 400), "Half of it is ported.")...).Unfinished(); len(got) != 200 {
		t.Errorf("%d characters", len(got))
	}
}

// A nudge lets work go on that was stopped; one that only thanks does not.
func TestUrgesLetGoOn(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{"continue": "printer", "thanks": ""} {
		events := append(working("Please port the parser and the printer.", "The parser is ported."), host.UserMessage{Text: "stop here"}, host.UserMessage{Text: said})
		if got := threadOf(events...).OpenWork(""); got != want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}

// An agent that asks and works on does not wait for an answer; one that asks and rests does.
func TestWorkAnswersAQuestion(t *testing.T) {
	t.Parallel()
	asked := working("Please port the parser and the printer.", "Shall I go on with the printer?")
	if got := threadOf(asked...).Words.Asked; got == "" {
		t.Error("the question is not known")
	}
	for name, e := range map[string]host.Event{"a file": host.FileChanged{File: "b.go"}, "a tool": host.ToolActivity{}} {
		if got := threadOf(append(asked, host.TurnStarted{ID: "2"}, e)...).Words.Asked; got != "" {
			t.Errorf("%s: still asked %q", name, got)
		}
	}
	if got := threadOf(append(asked, host.UsageSeen{})...).Words.Asked; got == "" {
		t.Error("a size answers nothing")
	}
}

// What a command began with is what was seen before it; without that, when the turn began.
func TestObservedBefore(t *testing.T) {
	t.Parallel()
	th := Thread{
		Started:    map[string]Command{"a": {Marks: []shellcmd.Mark{{GitDir: "/a"}}}},
		Background: map[string]Command{"b": {Marks: []shellcmd.Mark{{GitDir: "/b"}}}},
	}
	for id, want := range map[string]string{"a": "/a", "b": "/b", "c": ""} {
		got := ""
		if before := th.Observed(host.CommandFinished{ID: id}).Before; len(before) > 0 {
			got = before[0].GitDir
		}
		if got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	// The turn's beginning may be told late, and once.
	th = threadOf(host.TurnStarted{ID: "1"}, host.TurnStarted{ID: "1", At: noon}, host.TurnStarted{ID: "1", At: noon.Add(time.Hour)})
	for told, want := range map[time.Time]time.Time{{}: noon, noon.Add(time.Minute): noon.Add(time.Minute)} {
		if got := th.Observed(host.CommandFinished{Observation: shellcmd.Observation{Started: told}}).Started; !got.Equal(want) {
			t.Errorf("told %s: began %s, want %s", told, got, want)
		}
	}
}

// A compaction that several observers tell of counts once, and opens the way for the next
// suggestion.
func TestCompactedOnce(t *testing.T) {
	t.Parallel()
	th := Thread{SuggestedAt: 7, SuggestedTier: "low"}
	for _, id := range []string{"k1", "k1", "k2", "", ""} {
		th = th.Apply(host.Compacted{ID: id, At: noon, Before: 90, After: 10}, auto())
	}
	if len(th.History) != 4 || th.SuggestedAt != 0 || th.SuggestedTier != "" {
		t.Errorf("%d compactions, suggested %d %q", len(th.History), th.SuggestedAt, th.SuggestedTier)
	}
}

// A command that has ended is work, though nothing else of the turn was seen; one that has
// only begun does not answer what the agent asked.
func TestCommandsAreWork(t *testing.T) {
	t.Parallel()
	if th := threadOf(host.TurnStarted{ID: "1"}, command("make", "", 0)); !th.State.Worked {
		t.Error("a command is no work")
	}
	asked := []host.Event{host.TurnStarted{ID: "1"}, host.UserMessage{Text: "Fix the parser, please."}, host.ToolActivity{}, host.AgentMessage{Text: "Shall I push it?"}, host.TurnStarted{ID: "2"}}
	if th := threadOf(append(asked, began("c", "make", noon))...); th.Words.Asked == "" {
		t.Error("a command that has only begun has answered a question")
	}
}

// A plan that is told again as it was is no news.
func TestPlanUpdateNeedsNews(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		again host.PlanWritten
		want  bool
	}{"the same": {planOf("> a", "- b"), false}, "another step": {planOf("> a", "- b", "- c"), true}} {
		th := threadOf(host.TurnStarted{ID: "1"}, planOf("> a", "- b"), host.TurnStarted{ID: "2"}, c.again)
		if got := th.State.Seen.Has(PlanUpdate); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A decision that is told again stands once, as the newest.
func TestDecidedOnce(t *testing.T) {
	t.Parallel()
	var w Words
	for _, text := range []string{"Decision: loadLedger refuses empty rows.", "Decision: dates are UTC.", "Decision: loadLedger refuses empty rows."} {
		w = w.Answered(text)
	}
	if n := len(w.Decided); n != 2 || !strings.Contains(w.Decided[1], "loadLedger") || slices.Contains(w.Decided[:1], w.Decided[1]) {
		t.Errorf("%q", w.Decided)
	}
}
