package handover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// phrasings are sentences in a dozen languages by which people stop an agent, let it go on,
// ask it something, or give it rules and tasks, and by which agents end a message.
func phrasings(t *testing.T, who string) (out []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "phrasings.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(data)) {
		by, text, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		if by == who {
			out = append(out, strings.ReplaceAll(text, `\n`, "\n"))
		}
	}
	if len(out) < 90 {
		t.Fatalf("%d phrasings of the %s", len(out), who)
	}
	return out
}

// asQuoted is how a text stands in a hand-over, without the marks around it.
func asQuoted(text string) string {
	return strings.NewReplacer("“", `"`, "”", `"`).Replace(message.OneLine(text))
}

// Whatever the user says last, and wherever the work stands: the hand-over quotes it as it
// is before all other words, its last line is that of the state, and nothing else of the
// text depends on what was said.
func TestWhateverTheUserSays(t *testing.T) {
	t.Parallel()
	const report = "The lexer is ported, and the parser is next."
	situations := map[string]struct {
		play func(said string) *tale
		want message.Text
	}{
		"said last":         {func(said string) *tale { return begun().close(report).user(said) }, message.HandoverCalled},
		"said in mid-turn":  {func(said string) *tale { return begun().user(said) }, message.HandoverCalled},
		"said after Esc":    {func(said string) *tale { return begun().user("[Request interrupted by user]").user(said) }, message.HandoverCalled},
		"in mid-work":       {func(said string) *tale { return begun().close(report).user(said).edit("b.go", "x", "y") }, message.HandoverGo},
		"stopped in a call": {func(said string) *tale { return begun().user(said).start("Bash", map[string]any{"command": "make"}) }, message.HandoverGo},
		"the turn is over":  {func(said string) *tale { return begun().user(said).edit("b.go", "x", "y").close(report) }, message.HandoverNextWord},
		"interrupted after it": {func(said string) *tale {
			return begun().user(said).edit("b.go", "x", "y").user("[Request interrupted by user]")
		}, message.HandoverNextWord},
		"a tool asks since": {func(said string) *tale { return begun().user(said).ask("Which one?") }, message.HandoverAsk},
	}
	texts := append(phrasings(t, "user"),
		"@main.py add type hints, and never push", "[Image #1] make the header smaller", "API Error: what is that?", "<div> is never closed", `{"amount": 3} is wrong`, "$PATH is empty", "[Overtone] is odd", "+1 to that", "/orchestrator @CLAUDE.md を読んで",
		"# Context from my IDE is wrong", "no wait, so this branch adds the flag", "2", "?", "👍")
	for name, s := range situations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// What else is told, of short texts, which stand with what they answer, and of others.
			type kind struct {
				lang  message.Lang
				short bool
			}
			others := map[kind][]Part{}
			for _, said := range texts {
				h := s.play(said).handover(t, "")
				for _, l := range langs {
					h.Lang = l
					var rest []Part
					for _, p := range h.Parts() {
						switch p.Name {
						case "words":
							lines := strings.Split(p.Text, "\n")
							if !strings.HasPrefix(lines[1], "- “"+asQuoted(said)+"”") {
								t.Errorf("%q is told as %s", said, lines[1])
							}
							p.Text = strings.Replace(p.Text, asQuoted(said), "…", 1)
						case "names": // what was said may hold some
							continue
						case "directive":
							head, _, _ := strings.Cut(s.want.In(l), "%s")
							if !strings.HasPrefix(p.Text, head) {
								t.Errorf("%q: %s", said, p.Text)
							}
						}
						rest = append(rest, p)
					}
					if rest[len(rest)-1].Name != "directive" {
						t.Errorf("%q: no last line", said)
					}
					k := kind{l, message.Units(asQuoted(said)) < 80}
					if others[k] == nil {
						others[k] = rest
						harmless(t, rest, l)
					}
					if d := cmp.Diff(others[k], rest); d != "" {
						t.Errorf("%q changes what is told:\n%s", said, d)
					}
				}
			}
		})
	}
}

// begun is a session in which something was asked for, and work has begun.
func begun() *tale {
	return (&tale{}).user("Port the parser and the lexer.").edit("a.go", "x", "y")
}

// harmless: a hand-over judges no words and forbids no question.
func harmless(t *testing.T, parts []Part, l message.Lang) {
	t.Helper()
	for _, p := range parts {
		own := p.Text
		for { // without what is quoted
			head, rest, open := strings.Cut(own, "“")
			_, rest, closed := strings.Cut(rest, "”")
			if !open || !closed {
				break
			}
			own = head + rest
		}
		for _, never := range []string{"do not ask", "don't ask", "replaced", "rule", "task", "right away", "correct", "不要詢問", "任務", "規則", "更正", "直接繼續"} {
			if strings.Contains(strings.ToLower(own), never) {
				t.Errorf("%s, %s: %q in %s", l, p.Name, never, own)
			}
		}
	}
}

// A long message is quoted by both of its ends: a request before a log and one behind it
// are told, at the length of a megabyte, too.
func TestRequestsBesideLogs(t *testing.T) {
	t.Parallel()
	for _, said := range phrasings(t, "user")[:60] {
		for _, size := range []int{700, 20 << 10, 1 << 20} {
			if size == 1<<20 && said != "Add a pause button to the video player." {
				continue
			}
			log := strings.Repeat("2026-03-01 12:00:01 ERROR the request has failed\n", size/49)
			for name, text := range map[string]string{"before": said + "\n\n" + log, "behind": log + "\n\n" + said} {
				h := begun().close("It is ported.").user(text).handover(t, "")
				parts := h.Parts()
				line := strings.Split(parts[1].Text, "\n")[1]
				ok := strings.HasPrefix(line, "- “"+asQuoted(said)+" 2026-03-01")
				if name == "behind" {
					ok = strings.HasPrefix(line, "- “2026-03-01") && strings.HasSuffix(line, " failed "+asQuoted(said)+"”")
				}
				if !ok || !strings.Contains(line, " … ") || parts[len(parts)-1].Text != message.HandoverCalled.EN {
					t.Errorf("%d bytes, %s: %q is told as %s", size, name, said, line)
				}
			}
		}
	}
}

// Whatever an agent says, it decides nothing: whether its turn has ended does. Nor is it
// told as the user's.
func TestWhateverTheAgentSays(t *testing.T) {
	t.Parallel()
	for _, said := range phrasings(t, "agent") {
		for want, s := range map[message.Text]*tale{
			message.HandoverGo:       begun().say(said),
			message.HandoverNextWord: begun().close(said),
			message.HandoverCalled:   begun().close(said).user("Use the second of them, with the old names, and leave the tests as they are for now."),
		} {
			for _, l := range langs {
				h := s.handover(t, "")
				h.Lang = l
				parts := h.Parts()
				if last := parts[len(parts)-1].Text; last != want.In(l) {
					t.Errorf("%q: %s", said, last)
				}
				if parts[1].Name != "words" || strings.Contains(parts[1].Text, asQuoted(said)) {
					t.Errorf("%q is told as the user's: %s", said, parts[1].Text)
				}
			}
		}
	}
}
