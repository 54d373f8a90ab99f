package compact

import (
	"slices"
	"strings"
	"testing"

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
