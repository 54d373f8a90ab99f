package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// talk plays a conversation: lines that begin with "a:" are the agent's.
func talk(lines ...string) Words {
	var w Words
	for _, l := range lines {
		switch {
		case l == "works":
			w = w.Worked()
		case strings.HasPrefix(l, "a: "):
			w = w.Answered(l[3:])
		default:
			w = w.Hear(l)
		}
	}
	return w
}

func held(w Words) []string {
	var out []string
	for _, h := range w.Held {
		out = append(out, h.Text)
	}
	return out
}

// The goal is what the user wants now.
func TestWordsGoal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		goal  string
		since []Reply
	}{
		"a later task replaces an earlier one": {[]string{"Please write the parser.", "Now write the lexer, please."}, "Now write the lexer, please.", []Reply{{Text: "Please write the parser.", Task: 1}}},
		"a nudge is no goal":                   {[]string{"Please write the parser.", "works", "continue"}, "Please write the parser.", nil},
		"a greeting is no goal":                {[]string{"hello", "Please write the parser."}, "Please write the parser.", nil},
		"a hook's text is no goal":             {[]string{"Operation stopped by hook: another session", "Please write the parser."}, "Please write the parser.", nil},
		"a slash command is no goal":           {[]string{"Please write the parser.", "/compact"}, "Please write the parser.", nil},
		"a pasted file is no goal":             {[]string{"Please write the parser.", "```go\nfunc main() {}\n```"}, "Please write the parser.", nil},
		"a remark belongs to its task":         {[]string{"Please write the parser.", "we have an import cycle now", "continue"}, "Please write the parser.", []Reply{{Text: "we have an import cycle now"}}},
		"an answer carries its question":       {[]string{"Please write the parser.", "a: By hand, or generated?\n\n1. By hand\n2. Generated", "2", "and the names"}, "Please write the parser.", []Reply{{To: "By hand, or generated? 1. By hand 2. Generated", Text: "2 (Generated)"}}},
		"the first words are a goal":           {[]string{"we have an import cycle"}, "we have an import cycle", nil},
		"only the newest remarks, and those to be kept to": {
			[]string{"Please write the parser.", "one is odd", "never two", "three is odd", "four is odd", "five is odd", "six is odd", "seven is odd", "eight is odd", "nine is odd"},
			"Please write the parser.",
			[]Reply{{Text: "never two"}, {Text: "three is odd"}, {Text: "four is odd"}, {Text: "five is odd"}, {Text: "six is odd"}, {Text: "seven is odd"}, {Text: "eight is odd"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := talk(c.lines...)
			if w.Goal != c.goal {
				t.Errorf("goal %q, want %q", w.Goal, c.goal)
			}
			if d := cmp.Diff(c.since, w.Since); d != "" {
				t.Errorf("since (-want +got):\n%s", d)
			}
		})
	}
}

// The newest word wins: what it overrules is gone, and it stays.
func TestWordsOverrule(t *testing.T) {
	t.Parallel()
	w := talk("Please build the store.", "a: We decided to use SQLite for the session store.", "works",
		"Use Postgres instead of SQLite for the session store.")
	if len(w.Decided) != 0 {
		t.Errorf("the overruled decision stands: %q", w.Decided)
	}
	if d := cmp.Diff([]string{"Use Postgres instead of SQLite for the session store."}, held(w)); d != "" {
		t.Error(d)
	}
	w = talk("Please build it. Always use tabs in Go files.", "From now on use spaces in Go files.")
	if d := cmp.Diff([]string{"From now on use spaces in Go files."}, held(w)); d != "" {
		t.Error(d)
	}
	w = talk("請做登入頁。不要用 cookie 保存登入狀態。", "改成用 cookie 保存登入狀態。")
	if d := cmp.Diff([]string{"改成用 cookie 保存登入狀態。"}, held(w)); d != "" {
		t.Error(d)
	}
	// What is about something else stays.
	w = talk("Never push to main. Always run the linter.", "Don't change the public API.")
	if d := cmp.Diff([]string{"Never push to main.", "Always run the linter.", "Don't change the public API."}, held(w)); d != "" {
		t.Error(d)
	}
}

// Rules outlive wishes, and everything is bounded.
func TestWordsAreBounded(t *testing.T) {
	t.Parallel()
	w := talk("Please start. Never push to main. Ask me before you release.")
	names := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"}
	for _, a := range names {
		for _, b := range names {
			w = w.Hear("Please look at " + a + b + ". Ideally keep " + b + a + " short. " + strings.Repeat("x ", 3000))
			w = w.Answered("We decided to use " + a + " with " + b + ".\n\nIs that right?")
		}
	}
	got := held(w)
	if len(got) > maxHeld || len(w.Decided) > maxDecided || len(w.Since) > maxSince || len(w.Goal) > maxGoal*4 {
		t.Errorf("%d held, %d decided", len(got), len(w.Decided))
	}
	for _, want := range []string{"Never push to main.", "Ask me before you release."} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%q is lost", want)
		}
	}
}

// Of too many, the oldest wish goes; where rules fill their own room, the oldest rule; and
// what is not to be done without asking only when there is nothing else.
func TestTheOldestThatIsHeldGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kinds string // of what is held: w wish, l lasting, g guard
		gone  int
	}{
		"wishes before rules":           {"llllllllwwwwwww", 8},
		"one rule too many":             {"wlllllllllwwwww", 1},
		"guards count among the rules":  {"wggggllllllwwww", 5},
		"rules alone":                   {"lllllllllllllll", 0},
		"guards alone":                  {"ggggggggggggggg", 0},
		"guards after the rule is gone": {"gggggggglgggggg", 8},
	} {
		var w Words
		var want []string
		for i, k := range c.kinds {
			text := fmt.Sprintf("word%c", 'a'+i)
			w = w.hold(text, map[rune]extract.Hold{'w': extract.Wish, 'l': extract.Lasting, 'g': extract.Guard}[k])
			if i != c.gone {
				want = append(want, text)
			}
		}
		if len(c.kinds) != maxHeld+1 {
			t.Fatalf("%s: %d are held", name, len(c.kinds))
		}
		if d := cmp.Diff(want, held(w)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// One message does not crowd out the rules of all others, and is heard to an end only.
func TestOneMessageIsBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, n := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"} {
		text.WriteString("Never touch " + n + ". ")
	}
	if got := held(talk("Please start. " + text.String())); len(got) != maxOfOne {
		t.Errorf("%d sentences of one message: %q", len(got), got)
	}
	late := "Please start. " + strings.Repeat("The log says nothing. ", maxHeard/20) + "Never push to main."
	if got := held(talk(late)); len(got) != 0 {
		t.Errorf("heard behind %d characters: %q", maxHeard, got)
	}
}

// What the agent quotes was decided by somebody else.
func TestQuotedDecisions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"We decided to use SQLite for the store.":                              1,
		"> We decided to use SQLite for the store.\n\nSo says the old note.":   0,
		"```\nWe decided to use SQLite for the store.\n```\nSo says the note.": 0,
		"The store is fine.": 0,
	} {
		if got := talk("Please go.", "a: "+text).Decided; len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// What the agent said of going on is answered by the user's next words.
func TestWordsAnswerWhatTheAgentSaidOfGoingOn(t *testing.T) {
	t.Parallel()
	said := talk("Please write the parser.").Closed("The parser is done. I wait for your approval; next I write the lexer.", 0)
	said.Evidence |= Proposes
	if !said.Evidence.Has(Yields) {
		t.Fatalf("%v", said.Evidence.List())
	}
	if got := said.Hear("Now write the lexer, please.").Evidence; got&(closers|Proposes) != 0 {
		t.Errorf("still %v", got.List())
	}
}

// An open question is one that nothing followed.
func TestWordsAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"asked":                  {[]string{"Please go.", "a: Done. Should I push?"}, "Should I push?"},
		"answered":               {[]string{"Please go.", "a: Done. Should I push?", "yes"}, ""},
		"went on by itself":      {[]string{"Please go.", "a: Why is that? Let me look.", "works"}, ""},
		"interrupted":            {[]string{"Please go.", "a: Should I push?", "[Request interrupted by user]"}, "Should I push?"},
		"a notification between": {[]string{"Please go.", "a: Should I push?", "<task-notification>x</task-notification>"}, "Should I push?"},
	} {
		if got := talk(c.lines...).Asked; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWordsLang: the session's language is that of the user's own texts.
func TestWordsLang(t *testing.T) {
	t.Parallel()
	for want, lines := range map[message.Lang][]string{
		"":         {"ok"},
		message.EN: {"Please rename 文件.go", "a: 好的，我會處理這個檔案。"},
		message.ZH: {"請把 cart.go 的 roundTotal 改名", "a: Done, all is renamed."},
	} {
		if got := talk(lines...).Lang(); got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
	// A long Chinese text with many names is Chinese; a short one is not sure to be.
	for want, counts := range map[message.Lang][][2]int{message.ZH: {{21, 20}, {4, 2}}, message.EN: {{20, 19}, {21, 21}, {3, 2}}} {
		for _, n := range counts {
			if got := (Words{Han: n[0], Latin: n[1]}).Lang(); got != want {
				t.Errorf("%d ideographs, %d words: %q, want %q", n[0], n[1], got, want)
			}
		}
	}
	if got := talk("テストを先に直してください。").Lang(); got != message.EN {
		t.Errorf("Japanese is told in %q", got)
	}
}

// A goal is a task however it is worded, and what is said after it is still the latest.
func TestAim(t *testing.T) {
	t.Parallel()
	w := Words{}.Hear("Please write the parser.").Hear("all tests green").Aim("all tests green").Hear("which ones are red?")
	if w.Goal != "all tests green" || w.Latest.Text != "which ones are red?" {
		t.Errorf("%+v", w)
	}
}
