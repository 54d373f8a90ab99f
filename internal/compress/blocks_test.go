package compress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

func TestLeadsGovern(t *testing.T) {
	t.Parallel()
	us := Units("Do not:\n- push\n- force\n\nThen this.")
	if us[0].Kind != extract.Lead || us[0].Cues&extract.Denied == 0 || us[1].Lead != 0 || us[2].Lead != 0 || us[3].Lead != -1 {
		t.Errorf("%+v", us)
	}
}

// TestNestedItems: an item's own items are about it, and the next item is not.
func TestNestedItems(t *testing.T) {
	t.Parallel()
	us := Units("Changes:\n- `cli.py`\n  - takes a flag\n    - or two\n  - prints less\n- `cfg.py` refuses what is not known to it\n  - and says so\n- the docs\n\nDone.")
	leads, kinds := []int{}, []extract.UnitKind{}
	for _, u := range us {
		leads, kinds = append(leads, u.Lead), append(kinds, u.Kind)
	}
	if d := cmp.Diff([]int{-1, 0, 1, 2, 1, 0, 5, 0, -1}, leads); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]extract.UnitKind{extract.Lead, extract.Lead, extract.Lead, extract.Item, extract.Item, extract.Item, extract.Item, extract.Item, extract.Sentence}, kinds); d != "" {
		t.Error(d)
	}
}

// TestOptionsBelowAHeading: what a heading announces as options are options, whatever stands
// between them, up to the next heading; what is said about them is none.
func TestOptionsBelowAHeading(t *testing.T) {
	t.Parallel()
	text := "## Options\n\n**1. Keep it** (as before)\n- no cycle\n\n**2. A new package**\n\nThe second is clean.\n\n## Steps\n\n- move it"
	open := []string{}
	for _, u := range Units(text) {
		if u.Cues&extract.Open != 0 {
			open = append(open, text[u.Start:u.End])
		}
	}
	if d := cmp.Diff([]string{"## Options", "**1. Keep it** (as before)", "- no cycle", "**2. A new package**"}, open); d != "" {
		t.Error(d)
	}
}

func TestBoldLineIsAHeading(t *testing.T) {
	t.Parallel()
	for text, kind := range map[string]extract.UnitKind{
		"**Option 1: return errors**\nEvery caller checks them.": extract.Lead,
		"**Removed**\n\n- the old parser":                        extract.Lead,
		"**All tests pass**":                                     extract.Sentence,
		"**All tests pass.**\nThen this.":                        extract.Sentence,
		"**One**\n**Two**":                                       extract.Sentence,
	} {
		us := Units(text)
		if us[0].Kind != kind || kind == extract.Lead && us[1].Lead != 0 {
			t.Errorf("%q: %+v", text, us)
		}
	}
	// So is a line right above a list, but it says something by itself.
	if us := Units("`store/` keeps sessions\n- reads them\n- writes them\n\nDone."); us[0].Kind != extract.Sentence || us[1].Lead != 0 || us[2].Lead != 0 || us[3].Lead != -1 {
		t.Errorf("%+v", us)
	}
}

func shape(text string) (out []string) {
	for _, u := range Units(text) {
		out = append(out, text[u.Start:u.End])
	}
	return out
}

// Paragraphs that each begin with words in bold are a list, and one alone is none.
func TestLabelledParagraphsAreAList(t *testing.T) {
	t.Parallel()
	us := Units("Which one?\n\n**A)** The first. It is small.\n\n**B)** The second.\n\nDone.\n\n**Note:** it is late.")
	if kinds := []extract.UnitKind{us[0].Kind, us[1].Kind, us[2].Kind, us[3].Kind, us[4].Kind}; us[1].Lead != 0 || us[2].Lead != 0 || !us[2].Bound ||
		!slices.Equal(kinds, []extract.UnitKind{extract.Sentence, extract.Item, extract.Item, extract.Sentence, extract.Sentence}) {
		t.Errorf("%+v", us)
	}
}

// TestShape: items go whole, short fences too, and of a long one the first line.
func TestShape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Steps:\n- one thing\n  goes on\n- another":      {"Steps:", "- one thing\n  goes on", "- another"},
		"- It is one. It has two sentences.\n- So.":      {"- It is one. It has two sentences.", "- So."},
		"Run:\n```sh\ngo test ./...\n```\nok?":           {"Run:", "```sh\ngo test ./...\n```", "ok?"},
		"```go\nfunc a() {\n\tb()\n\tc()\n}\n```\nDone.": {"```go\nfunc a() {", "Done."},
		"| a | b |\n|---|---|\n| 1 | 2 |":                {"| a | b |\n|---|---|", "| 1 | 2 |"},
		"He said:\n> do it\n> now\n\nI will.":            {"He said:", "> do it", "> now", "I will."},
		"I add:\n```markdown\n## Scope\n- one\n```\nok?": {"I add:", "## Scope", "- one", "ok?"},
		"Both hold:\n✅ the first\n✅ the second":          {"Both hold:", "✅ the first", "✅ the second"},
		"":         nil,
		"```\n":    nil,
		"- ":       nil,
		"# ":       nil,
		"\x00\xff": {"\x00\xff"},
	} {
		if got := shape(text); !slices.Equal(got, want) && !(len(want) == 1 && want[0] == "\x00\xff") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestBound: what nobody could place alone is bound to what introduces it.
func TestBound(t *testing.T) {
	t.Parallel()
	text := "Intro.\n\n## Left\n\n- under a heading\n\nThese are:\n\n1. first\n   - its part\n\n   A paragraph of it.\n2. second\n\nHe wrote:\n\n> never\n\nNot bound.\n\n| a |\n|---|\n| 1 |"
	bound := map[string]string{}
	for _, u := range Units(text) {
		if u.Bound {
			l := Units(text)[u.Lead]
			bound[text[u.Start:u.End]] = text[l.Start:l.End]
		}
	}
	want := map[string]string{
		"- under a heading": "## Left", "1. first": "These are:", "- its part": "1. first", "A paragraph of it.": "1. first", "2. second": "These are:", "> never": "He wrote:", "| 1 |": "| a |\n|---|",
	}
	if d := cmp.Diff(want, bound); d != "" {
		t.Error(d)
	}
}

// TestFenceTellsItsSize: what is left out of a fence is counted, and the fence is closed.
func TestFenceTellsItsSize(t *testing.T) {
	t.Parallel()
	text := "The cause is in `loadRow` because it reads twice:\n\n~~~go\nfunc loadRow(all_rows []int) {\n" + strings.Repeat("\tx()\n", 30) + "}\n~~~\n"
	if got := band(t, 60, "Go on.", text)[1]; !strings.HasSuffix(got, "~~~go\nfunc loadRow(all_rows []int) {\n… +31 lines\n~~~") {
		t.Errorf("%q", got)
	}
}

// TestBlocksOfAnything: units lie in order in any text, and deep nesting costs no more than its length.
func TestBlocksOfAnything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"- ", "> ", "1. ", "# ", "```", "\n", "\n\n", "  ", "\t", "a word. ", "**bold**", "| a |", "|---|", ":", "❌ ", "\r\n", "字。", "\xff"})).Draw(t, "parts"), "")
		at := 0
		for n, u := range Units(text) {
			if u.Start < at || u.End <= u.Start || u.Lead >= n {
				t.Fatalf("%q: %+v after %d", text, u, at)
			}
			at = u.End
		}
	})
	began := time.Now()
	for _, deep := range []string{strings.Repeat("- ", 50_000) + "x\n" + strings.Repeat("y\n", 10_000), strings.Repeat("> ", 50_000) + "x", strings.Repeat("> \n", 50_000)} {
		Units(deep)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("%v", d)
	}
}

// A user's last paragraph and his questions, an agent's first sentence, verdict and closing
// question are there whatever else is.
func TestEndsAndBeginnings(t *testing.T) {
	t.Parallel()
	talk := strings.Repeat("The rows of `loadRow` in internal/cfg/load.go are many and they have been green for weeks now. ", 9)
	user := talk + "\n\nIs the counter right?\n\n" + talk + "\n\nGive me the command that lists them."
	for _, percent := range []int{10, 35} {
		got := band(t, percent, user, talk)[0]
		for _, want := range []string{"Is the counter right?", "Give me the command that lists them."} {
			if !strings.Contains(got, want) {
				t.Errorf("at %d %%: %q lacks %q", percent, got, want)
			}
		}
	}
	agent := "The counter is wrong by one in all of the views.\n\n" + strings.ReplaceAll(talk, ". ", ".\n\n") + "\n\nStatus: DONE\n\nShall I open a pull request for the counter as well?"
	for _, want := range []string{"The counter is wrong", "Status: DONE", "Shall I open"} {
		if got := band(t, 35, "Go on.", agent)[1]; !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if got := band(t, 5, "Go on.", agent)[1]; !strings.Contains(got, "Status: DONE") {
		t.Errorf("%q", got)
	}
}
