package handover

import (
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Only what opens a turn tells an agent to carry on whose turn is over, in both languages.
func TestLastLine(t *testing.T) {
	t.Parallel()
	over := compact.Situation{State: compact.StateTurnOver}
	for _, l := range langs {
		f := Facts{Session: "s", Ordinal: 1, Words: said("port it"), Situation: over}
		h := (&tale{}).user("Fix the parser please.").edit("a.go", "x", "y").close("It is fixed.").handover(t, "")
		h.Lang = l
		for opens, want := range map[bool]message.Text{false: message.HandoverNextWord, true: message.HandoverGo} {
			f.Opens, h.Opens = opens, opens
			texts := map[string]string{"written": Write(f, auto(), l).Text, "hand-over": h.Text()}
			if !opens {
				adopted, _ := Adopt("Continue now.", f, auto(), l)
				texts["adopted"] = adopted.Text
			}
			for name, text := range texts {
				if !strings.HasSuffix(text, "\n\n"+want.In(l)+"\n"+compact.PacketClose) || strings.Contains(text, message.HandoverGo.In(l)) != opens {
					t.Errorf("%s, opens %v:\n%s", name, opens, text)
				}
			}
		}
		// Of the agent's own packet, which opens a turn, the last line is its own.
		f.Opens = true
		if adopted, _ := Adopt("Continue now.", f, auto(), l); !strings.HasSuffix(adopted.Text, "\n\nContinue now.\n"+compact.PacketClose) {
			t.Errorf("adopted:\n%s", adopted.Text)
		}
		if note := GoOn("ovt-x-1", "printer", l); !strings.Contains(note, "“printer”") || !strings.Contains(note, `id="ovt-x-1" part="go"`) || !strings.Contains(note, message.HandoverGo.In(l)) {
			t.Errorf("note: %s", note)
		}
	}
}

// What the agent said last is told with its end; what only an app shows is nobody's word.
func TestSaidLast(t *testing.T) {
	t.Parallel()
	text := (&tale{}).user("Please make the lexer fast.").edit("b.go", "x", "y").close("The lexer is fast now.\n\n::git-create-pr{branch=\"b\"}").handover(t, "").Text()
	if !strings.Contains(text, message.HandoverSaid.Format(message.EN, "“The lexer is fast now.”")) {
		t.Error(text)
	}
	for state, c := range map[string]struct {
		tale *tale
		most int
	}{
		"under way": {(&tale{}).user("Go.").say(strings.Repeat("word ", 400) + "the end."), 202},
		"over":      {(&tale{}).user("Go.").close(strings.Repeat("word ", 400) + "the end."), 1002},
	} {
		for line := range strings.Lines(c.tale.handover(t, "").Text()) {
			said, ok := strings.CutPrefix(strings.TrimSpace(line), "- you said last: ")
			if n := message.Units(said); ok && (n > c.most || n < c.most-10 || !strings.HasSuffix(said, " the end.”")) {
				t.Errorf("%s: %d units: %s", state, n, said)
			}
		}
	}
}
