package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// unitsOf takes a text for one paragraph.
func unitsOf(text string) []Unit {
	return Units(text, []Block{{End: len(text)}}, func() bool { return true })
}

func unitTexts(text string) []string {
	out := []string{}
	for _, u := range unitsOf(text) {
		out = append(out, text[u.Start:u.End])
	}
	return out
}

func TestUnits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"sentences", "See v1.2.3 of a/b.go. It works, e.g. on Linux. Done!", []string{"See v1.2.3 of a/b.go.", "It works, e.g. on Linux.", "Done!"}},
		{"a denial stays with what it limits", "Use the pool. But not in tests. Then run it.", []string{"Use the pool. But not in tests.", "Then run it."}},
		{"an answer stays with its question", "Shall we keep it? No. The rest is fine.", []string{"Shall we keep it? No.", "The rest is fine."}},
		{"what is replaced", "We do not call the API. Read the file instead.", []string{"We do not call the API. Read the file instead."}},
		{"what is said in brackets", "Or without flags? (safer, as they hold paths) Fine.", []string{"Or without flags? (safer, as they hold paths) Fine."}},
		{"a label runs into its sentence", "**The bug.** Rows are read twice. They are many.", []string{"**The bug.** Rows are read twice.", "They are many."}},
		{"a quotation is one piece", `Prompts like "keep it all. Then stop..." will be cut to "keep… [2 steps]" now. Next.`, []string{`Prompts like "keep it all. Then stop..." will be cut to "keep… [2 steps]" now.`, "Next."}},
		{"a quotation may end a sentence", `It says "not found." Then it stops.`, []string{`It says "not found."`, "Then it stops."}},
		{"dots that leave something out", "Names are a, b, … and others. Wait… Then go.", []string{"Names are a, b, … and others.", "Wait…", "Then go."}},
		{"lower case", "it hangs. i want the log", []string{"it hangs.", "i want the log"}},
		{"a sign behind the full stop", "All of it is there. ✅\n**Names:** none is missing. ❌\nThe rest.", []string{"All of it is there. ✅", "**Names:** none is missing. ❌", "The rest."}},
		{"a sign in front", "It works. ✅ Tests pass too.", []string{"It works.", "✅ Tests pass too."}},
		{"code and fence", "Run:\n```sh\ngo test ./...\n```\nok?", []string{"Run:", "go test ./...", "ok?"}},
		{"table", "| a | b |\n|---|---|\n| 1 | 2 |", []string{"| a | b |\n|---|---|", "| 1 | 2 |"}},
		{"chinese", "先讀檔案。除非它不存在。再繼續！", []string{"先讀檔案。除非它不存在。", "再繼續！"}},
		{"japanese", "ファイルを読む。ただし書かない。次へ進む。", []string{"ファイルを読む。ただし書かない。", "次へ進む。"}},
		{"korean", "파일을 읽는다. 하지만 쓰지 않는다. 다음 단계.", []string{"파일을 읽는다. 하지만 쓰지 않는다.", "다음 단계."}},
		{"russian", "Читаем файл. Но не пишем. Дальше.", []string{"Читаем файл. Но не пишем.", "Дальше."}},
		{"inline code and brackets hold together", "Call `a. B` (see x. Y) now. End.", []string{"Call `a. B` (see x. Y) now.", "End."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, unitTexts(tt.text)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCrossIsAVerdict(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"❌ **Issues found**": true, "- ✗ the lock is not released": true, "✅ all is well": false, "Use ❌ for no.": false} {
		if got := unitsOf(text)[0].Cues&Decided != 0; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Units cover all words of a text, in order, and never begin or end inside one.
func TestUnitsLoseNoWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		at := 0
		for _, u := range unitsOf(text) {
			if u.Start < at || u.End <= u.Start || u.End > len(text) || u.Lead >= len(unitsOf(text)) {
				t.Fatalf("%q: %+v after %d", text, u, at)
			}
			if gap := text[at:u.Start]; !ruler(gap) && !strings.Contains(gap, "```") && !strings.Contains(gap, "~~~") {
				t.Fatalf("%q lost %q", text, gap)
			}
			at = u.End
		}
	})
}

func TestUndenied(t *testing.T) {
	t.Parallel()
	original := "The cache must not be shared between workers. The lock file is removed at exit. Tests do not pass on Windows yet."
	for result, bad := range map[string]bool{
		"The cache must be shared between workers.":       true,
		"Cache not shared between workers; lock removed.": false,
		"The lock file is removed at exit.":               false,
		"Tests pass on Windows.":                          true,
	} {
		if got := Undenied(original, result); (len(got) > 0) != bad {
			t.Errorf("%s: %q", result, got)
		}
	}
}

func TestUnearned(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		original, result string
		bad              bool
	}{
		{"The tests fail on line 12.", "Tests pass.", true},
		{"Tests do not pass yet, I stopped there.", "The tests pass.", true},
		{"Lint passes. The tests failed with two errors.", "Lint passes, tests failed.", false},
		{"Lint passes. The tests failed with two errors.", "The tests passed.", true},
		{"All 12 tests pass now, and the linter is clean.", "12 tests pass.", false},
		{"I have fixed the parser, and everything works again.", "Done.", false},
		{"測試還沒有通過。", "測試通過。", true},
		{"測試全部通過。接著要更新文件。", "測試通過。", false},
		{"The report is written.", "Report written.", false},
	} {
		if got := Unearned(c.original, c.result); (len(got) > 0) != c.bad {
			t.Errorf("%q → %q: %q", c.original, c.result, got)
		}
	}
}

// A text of megabytes is no reason to go on when nobody waits.
func TestUnitsAreInterrupted(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("The file internal/part.go is read by loadRow.\n", 20_000)
	for left := range 4 {
		asked := 0
		waits := func() bool { asked++; return asked <= left }
		if n := len(Units(text, []Block{{End: len(text)}}, waits)); n > left*askEvery || asked > left+2 {
			t.Errorf("asked %d times, %d units", asked, n)
		}
	}
	// Facts are looked for only while somebody waits, too.
	lines := 20_000/askEvery + 1
	asked := 0
	units := Units(text, []Block{{End: len(text)}}, func() bool { asked++; return asked <= lines+1 })
	if len(units) != 20_000 || len(units[0].Facts) == 0 || len(units[askEvery].Facts) != 0 {
		t.Errorf("%d units, facts %v, then %v", len(units), units[0].Facts, units[askEvery].Facts)
	}
}
