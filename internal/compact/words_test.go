package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
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
		"an interruption is no goal":           {[]string{"[Request interrupted by user]", "Please write the parser."}, "Please write the parser.", nil},
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

// A prompt that was typed is the latest that the user said, however it begins and whatever
// was pasted into it; a long one by both its ends.
func TestWhatWasTypedIsNeverDropped(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("2026-01-02T10:00:00Z INFO worker 7 took job 4711 from the queue\n", 320) // 20 kB
	prose := strings.Repeat("the worker has taken the next job from its queue and is done with it\n", 320)
	fenced := "```\n" + log + "```\n"
	for _, text := range []string{
		"@main.py add type hints, and never push",
		"@main.py add type hints\nand never push",
		"[Image #1] make the header blue",
		"[Image #1]",
		"<div>the header</div> is too wide, make it narrow",
		"<skill> has to be written in lower case",
		"<div class=\"x\">",
		`{"amount": 1} is what I get, it must be 100`,
		`{"amount": 1}`,
		"$PATH is not set in the service",
		"[Overtone] is what the terminal says, why?",
		"+1 for the second proposal",
		"API Error is what I see in the log, look at it",
		"Stop hook feedback is shown twice",
		"This session is being continued from the office, mind the clock",
		"/orchestrator @CLAUDE.md を読んで実装して",
		"| took | job |\n| 1 | 2 |",
		"```\npanic: nil\n```",
		log + "Please find out why job 4711 comes back.",
		"Please find out why job 4711 comes back.\n" + log,
		prose + "Please find out why job 4711 comes back.",
		"Please find out why job 4711 comes back.\n" + prose,
		fenced + "Please find out why job 4711 comes back.",
		prose + fenced + "Please find out why job 4711 comes back.",
		"Please find out why job 4711 comes back.\n" + fenced,
		strings.Repeat(prose, 40) + "Please find out why job 4711 comes back.",
	} {
		want := text
		if len(text) > 1000 {
			want = "Please find out why job 4711 comes back."
		}
		if _, args, command := strings.Cut(want, "/orchestrator "); command {
			want = args
		}
		w := talk("Please write the parser.", "a: It is written.", text)
		if !strings.Contains(w.Latest.Text, want) {
			t.Errorf("%.60q is not the latest: %.200q", text, w.Latest.Text)
		}
		thread := run(auto(), host.UserMessage{Text: "Please write the parser."}, host.UserMessage{Text: text})
		if !strings.Contains(thread.Latest, want) || !strings.Contains(thread.Words.Latest.Text, want) {
			t.Errorf("%.60q is not the thread's latest: %.200q", text, thread.Latest)
		}
		if w = w.Hear("Please write the lexer."); !strings.Contains(w.Since[len(w.Since)-1].Text, message.Cut(message.OneLine(want), 40)) && len(text) < 1000 {
			t.Errorf("%.60q is forgotten: %+v", text, w.Since)
		}
	}
}

// A log that is pasted does not say what its user speaks.
func TestAPastedLogIsNoLanguage(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("the worker has taken the next job from its queue and is done with it\n", 320)
	for _, text := range []string{log, log + "請修正它", "| took | job |\n| from | queue |"} {
		if w := talk("請把登入改成 OAuth，並且加上測試", text); w.Lang() != message.ZH {
			t.Errorf("%.40q makes it %q", text, w.Lang())
		}
	}
}

// One message does not crowd out the rules of all others, and of a long one only both
// ends are heard.
func TestOneMessageIsBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, n := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"} {
		text.WriteString("Never touch " + n + ". ")
	}
	if got := held(talk("Please start. " + text.String())); len(got) != maxOfOne {
		t.Errorf("%d sentences of one message: %q", len(got), got)
	}
	log := strings.Repeat("The log says nothing. ", maxHeard/20)
	if got := held(talk("Please start. " + log + "Never push to main. " + log)); len(got) != 0 {
		t.Errorf("heard in the middle of %d characters: %q", 2*len(log), got)
	}
	if got := held(talk("Please start. " + log + "Never push to main.")); len(got) != 1 {
		t.Errorf("heard behind %d characters: %q", len(log), got)
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
