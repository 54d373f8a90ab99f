package handover

import (
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Only what opens a turn tells the agent to carry on, in both languages.
func TestLastLine(t *testing.T) {
	t.Parallel()
	for _, l := range []message.Lang{message.ZH, message.EN} {
		f := Facts{Session: "s", Ordinal: 1, First: "port it", Hold: true}
		adopted, _ := Adopt("Continue now.", f, auto(), l)
		h := (&tale{}).user("Fix the parser please.").edit("a.go", "x", "y").handover(t, "")
		h.Lang, h.Hold = l, true
		for name, text := range map[string]string{
			"written": Write(f, auto(), l).Text, "adopted": adopted.Text,
			"hand-over": h.Text(),
		} {
			if !strings.HasSuffix(text, message.HandoverHold.In(l)+"\n"+compact.PacketClose) || strings.Contains(text, message.PacketDirective.In(l)) || strings.Contains(text, message.HandoverGo.In(l)) {
				t.Errorf("%s:\n%s", name, text)
			}
		}
		held := compact.Words{Held: []compact.Held{{Text: "Ask me before you push.", Hold: extract.Guard}}}
		if note := GoOn(held, "ovt-x-1", "printer", l); !strings.Contains(note, "printer") || !strings.Contains(note, "Ask me before you push.") || !strings.Contains(note, `id="ovt-x-1" part="go"`) {
			t.Errorf("note: %s", note)
		}
		if note := GoOn(compact.Words{}, "ovt-x-1", "printer", l); !strings.Contains(note, message.HandoverGo.In(l)) {
			t.Errorf("note: %s", note)
		}
	}
}

// Rows of tables are nobody's last word.
func TestSaidLast(t *testing.T) {
	t.Parallel()
	text := (&tale{}).user("Please make the lexer fast.").edit("b.go", "x", "y").say("The lexer is fast now.\n\n| before | after |\n|---|---|\n| 3 s | 1 s |\n\n::git-create-pr{branch=\"b\"}").handover(t, "").Text()
	if !strings.Contains(text, "you said last: “The lexer is fast now.”") {
		t.Error(text)
	}
}
