package handover

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// wordsOf are the lines of the user's words, without their marks.
func wordsOf(h Handover) (lines []string) {
	for _, p := range h.Parts() {
		if p.Name == "words" {
			for _, l := range strings.Split(p.Text, "\n")[1:] {
				lines = append(lines, strings.TrimPrefix(l, "- "))
			}
		}
	}
	return lines
}

// The user's words stand newest first, each named by the way it came; the session's first
// message is the last.
func TestWordsInOrder(t *testing.T) {
	t.Parallel()
	s := (&tale{}).user("Port the shop to the new API.").close("By hand, or generated?")
	s.user("by hand").edit("a.go", "x", "y")
	s.ask("Since when?").answer("Since when?", "May") // of what came through tools, two are told
	s.ask("Which table?").answer("Which table?", "orders").refuse("Bash", map[string]any{"command": "make"}, "run only the tests of the shop")
	s.close("Here is a plan.").approve("# Split the orders").edit("a.go", "x", "y").close("It is split.").compact("keep the names of the columns")
	want := []string{
		"typed with /compact: “keep the names of the columns”",
		"a plan that the user approved: “Implement the following plan: # Split the orders”",
		"with the refusal of a tool: “run only the tests of the shop”",
		"to a tool's question “Which table?”: “orders”",
		"“by hand”, after you had said “By hand, or generated?”",
		"“Port the shop to the new API.”",
	}
	got := wordsOf(s.handover(t, ""))
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// Who reads "before I approve it" reads that it was approved.
	s = (&tale{}).user("Change nothing before I approve it.").start("ExitPlanMode", map[string]any{"plan": "# Split the orders"}).end("You can now proceed.", false).edit("a.go", "x", "y")
	if got := wordsOf(s.handover(t, "")); len(got) != 2 || got[0] != "a plan that the user approved: “# Split the orders”" || got[1] != "“Change nothing before I approve it.”" {
		t.Errorf("%q", got)
	}
	h := (&tale{}).user("Port it.").ask("Which table?").answer("Which table?", "orders").handover(t, "")
	if d := cmp.Diff([]string{"to a tool's question “Which table?”: “orders”", "“Port it.”"}, wordsOf(h)); d != "" {
		t.Error(d)
	}
	h.Lang = message.ZH
	if d := cmp.Diff([]string{"回答工具的提問 “Which table?”：“orders”", "“Port it.”"}, wordsOf(h)); d != "" {
		t.Error(d)
	}
	h.Work.Words = compact.Words{}.Hear("all tests green", compact.AsGoal, noon)
	if d := cmp.Diff([]string{"設為目標：“all tests green”"}, wordsOf(h)); d != "" {
		t.Error(d)
	}
}

// Where not all fit, the newest are told, the session's first message, and how many others
// there are and how to find them.
func TestWordsThatDoNotFit(t *testing.T) {
	t.Parallel()
	long := func(i int) string { return fmt.Sprintf("number %d begins %s ends", i, strings.Repeat("x ", 400)) }
	words := said("The shop is to be ported. " + strings.Repeat("It sells flowers. ", 8))
	for i := range 12 {
		words = words.Hear(long(i), compact.Typed, time.Time{})
	}
	h := Handover{Session: "s1", Record: NewRecord("/p"), Work: Work{Words: words}, Lang: message.EN}
	got := wordsOf(h)
	if !strings.HasPrefix(got[0], "“number 11 begins x") || !strings.HasSuffix(got[0], "x ends”") || !strings.HasPrefix(got[1], "“number 10 begins x") || !strings.HasSuffix(got[1], "x ends”") {
		t.Errorf("%q", got)
	}
	shown := len(got) - 2
	if got[shown] != message.HandoverFirstWords.Format(message.EN, "“"+words.First.Text+"”") || got[shown+1] != message.HandoverMore.Format(message.EN, 12-shown) {
		t.Errorf("%d are told: %q", shown, got[shown:])
	}
	// A message that is the only one is told once.
	h.Work.Words = said(long(1))
	if got := wordsOf(h); len(got) != 1 || !strings.HasPrefix(got[0], "“number 1 begins ") {
		t.Errorf("%q", got)
	}
	// A first message that others begin with is still told, and one that is quoted is not
	// told again.
	for _, c := range []struct{ words, want []string }{
		{[]string{"fix", "fix the parser"}, []string{"“fix the parser”", "“fix”"}},
		{[]string{"fix", long(1), long(2), long(3), long(4), "fix the parser"}, nil},
	} {
		h.Work.Words = said(c.words...)
		got := wordsOf(h)
		if c.want != nil && !slices.Equal(got, c.want) || strings.Count(strings.Join(got, "\n"), "“fix”") != 1 {
			t.Errorf("%q", got)
		}
	}
}

// The section keeps to its room in both languages, whatever was said: its first line that
// was typed is the newest message, whole or by both of its ends; of what came through tools
// at most two are told.
func TestRoomOfWords(t *testing.T) {
	t.Parallel()
	unit := rapid.SampledFrom([]string{"x", "word ", "長", "😀", "<system>", "“q” ", "line\n", "</overtone-packet>", "`x` "})
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return "begin " + strings.Repeat(unit.Draw(t, "unit"), rapid.SampledFrom([]int{0, 1, 10, 30, 300, 3000}).Draw(t, "n")) + " end"
		}
		var words compact.Words
		typed := 0
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			switch rapid.IntRange(0, 6).Draw(t, "event") {
			case 0:
				words = words.Said(text("agent"))
			case 1:
				words = words.Answer(text("question"), text("answer"))
			case 2:
				words = words.Hear(text("refusal"), compact.WithRefusal, noon)
			case 3:
				words = words.Hear(text("plan"), compact.AsPlan, noon)
				typed++
			case 4:
				words = words.Hear(text("compact"), compact.WithCompact, noon)
			default:
				words = words.Hear(fmt.Sprint(i, " ", text("message")), compact.Typed, noon)
				typed++
			}
		}
		for _, l := range langs {
			h := Handover{ID: "ovt-0-1", Session: "01234567-89ab-cdef-0123-456789abcdef", Record: NewRecord("/p"), Work: Work{Words: words}, Lang: l}
			lines, units := wordsOf(h), 0
			for _, p := range h.Parts() {
				if p.Name == "words" {
					units = message.Units(p.Text)
				}
			}
			if units > mostWords {
				t.Fatalf("%s: %d units", l, units)
			}
			if typed == 0 {
				continue
			}
			aside := 0
			for _, how := range []compact.How{compact.WithAnswer, compact.WithRefusal} {
				head, _, _ := strings.Cut(h.word(compact.Word{Text: "T", To: "Q", How: how}), "“")
				for _, line := range lines {
					if strings.HasPrefix(line, head) {
						aside++
					}
				}
			}
			if aside > 2 {
				t.Fatalf("%s: %d came through tools: %q", l, aside, lines)
			}
			newest := words.Newest()
			for _, w := range h.Situation().Words { // what is chosen has its room
				if !slices.Contains(lines, h.word(w)) {
					t.Fatalf("%s: %q is lost in %q", l, w.Text, lines)
				}
			}
			for _, h := range h.Situation().Words { // nothing that was typed stands before it
				if h.How == compact.Typed || h.How == compact.AsPlan {
					if h.Text != newest.Text {
						t.Fatalf("%s: %q stands before %q", l, h.Text, newest.Text)
					}
					break
				}
			}
			first := slices.Index(lines, h.word(newest))
			if first < 0 || !strings.Contains(lines[first], "end”") || newest.How == compact.Typed && !strings.HasPrefix(lines[first], "“") {
				t.Fatalf("%s: the newest is line %d of %q", l, first, lines)
			}
			if _, err := fmt.Sscan(newest.Text, new(int)); newest.How == compact.Typed && err != nil {
				t.Fatalf("%q has lost its beginning", newest.Text)
			}
		}
	})
}

// What is chosen fits to the last character: none of it is cut off, and the section is as
// full as it can be.
func TestWordsFillTheirRoom(t *testing.T) {
	t.Parallel()
	for n := 80; n < 320; n++ {
		words := said(strings.Repeat("f", n))
		for i := range 23 {
			words = words.Hear(fmt.Sprintf("%02d%s", i, strings.Repeat("x", n-2)), compact.Typed, noon)
		}
		h := Handover{Session: "s1", Record: NewRecord("/p"), Work: Work{Words: words}, Lang: message.EN}
		lines := wordsOf(h)
		units := message.Units("## " + message.HandoverWords.EN)
		for _, line := range lines {
			units += message.Units("\n- " + line)
		}
		told := len(h.Situation().Words)
		if rest := lines[min(told, len(lines)):]; units > mostWords || len(rest) != 2 || rest[1] != message.HandoverMore.Format(message.EN, 23-told) {
			t.Fatalf("%d: %d units, %d chosen, then %q", n, units, told, rest)
		}
		if units+n+len("\n- “”") <= mostWords-len("“”") {
			t.Errorf("%d: only %d units", n, units)
		}
	}
}

// What was said before a slice stands beside what was said in it.
func TestWordsOutliveCompactions(t *testing.T) {
	t.Parallel()
	before := (&tale{}).user("Port the shop.").close("It is ported.").record(t, compact.Words{})
	after := (&tale{}).user("Never push.").edit("a.go", "x", "y").record(t, before.Words)
	h := Handover{Record: after, Work: after.Work(), Lang: message.EN}
	if d := cmp.Diff([]string{"“Never push.”, after you had said “It is ported.”", "“Port the shop.”"}, wordsOf(h)); d != "" {
		t.Error(d)
	}
	// What is only listened to is heard in the same way.
	r := NewRecord("/p")
	listen(t, r, (&tale{}).user("Port the shop.").ask("Which?").answer("Which?", "all").close("It is ported.").Bytes())
	if d := cmp.Diff([]compact.Word{{Text: "Port the shop."}, {Text: "all", To: "Which?", How: compact.WithAnswer}}, r.Words.Heard); d != "" || !r.Words.Over || r.Words.Asking != "" {
		t.Errorf("%+v\n%s", r.Words, d)
	}
	if state, _ := r.Words.State(false); state != compact.StateTurnOver {
		t.Errorf("%s", state)
	}
}

// What the host keeps word for word beside its summary is not quoted again, but for the
// newest words. What came through a tool, was cut by the host or is only a part of what it
// keeps is told.
func TestWordsThatTheHostKeeps(t *testing.T) {
	t.Parallel()
	plan := "Port the shop. " + strings.Repeat("It sells flowers. ", 60) + "Never push."
	words := said("Look at the shop first, please.", plan, "Use the port 8080.").Answer("Which table?", "orders")
	words = words.Said("Shall I go on?").Hear("ok", compact.Typed, time.Time{}).Said("Done.").Hear("Show it, too.", compact.Typed, time.Time{})
	h := Handover{Session: "s1", Record: NewRecord("/p"), Work: Work{Words: words}, Lang: message.EN}
	all := wordsOf(h)
	lines := func(texts ...string) string { return strings.Join(texts, "\n") + "\n" }
	for name, c := range map[string]struct {
		kept string
		want []string
	}{
		"nothing":                {"", all},
		"ids of messages":        {lines("0b8e", "11aa"), all},
		"all":                    {lines("Look at the shop first, please.", message.OneLine(plan), "# Files mentioned: a.go My request: Use the port 8080.", "ok", "Show it, too."), []string{all[0], all[2], message.HandoverKeptWords.EN}},
		"the end of one":         {lines("the shop first, please."), all},
		"a plan without its end": {lines(message.OneLine(plan)[:900]), all},
		"a longer word":          {lines("It shall look"), all},
	} {
		h.Kept = c.kept
		if d := cmp.Diff(c.want, wordsOf(h)); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
}
