package terminal

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// TestTablesFit: whatever the cells hold, no line is wider than the terminal,
// and no cell is lost altogether.
func TestTablesFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]int{20, 40, 80, 120}).Draw(t, "width")
		a := &Terminal{Env: Env{Getenv: func(k string) string {
			return map[string]string{"COLUMNS": map[int]string{20: "20", 40: "40", 80: "80", 120: "120"}[width]}[k]
		}}}
		n := rapid.IntRange(1, 9).Draw(t, "columns")
		cell := rapid.StringMatching(`[a-z測 /.]{0,60}`)
		rows := [][]string{}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row := make([]string, n)
			for i := range row {
				row[i] = cell.Draw(t, "cell")
			}
			rows = append(rows, row)
		}
		var out strings.Builder
		a.columns(&out, rows, rapid.Bool().Draw(t, "head"))
		for line := range strings.Lines(out.String()) {
			if got := Columns(strings.TrimSuffix(line, "\n")); got > width {
				t.Fatalf("%d columns of %d: %q", got, width, line)
			}
		}
	})
}

// TestColour: marks of the program's own only on a terminal, and never with
// NO_COLOR.
func TestColour(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tty  bool
		vars map[string]string
		want bool
	}{
		"terminal":  {true, nil, true},
		"file":      {false, nil, false},
		"no colour": {true, map[string]string{"NO_COLOR": "1"}, false},
		"dumb":      {true, map[string]string{"TERM": "dumb"}, false},
	} {
		f, err := os.Create(t.TempDir() + "/out")
		if err != nil {
			t.Fatal(err)
		}
		a := &Terminal{Lang: message.EN, Env: Env{Getenv: func(k string) string { return c.vars[k] }, IsTTY: func(uintptr) bool { return c.tty }}}
		a.Table(NewScreen(f), [][]string{{"HEAD", "B"}, {"cell", "b"}})
		f.Close()
		data, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(data), "\x1b[1mHEAD"); got != c.want || strings.Contains(string(data), "\x1b[1mcell") {
			t.Errorf("%s: %q", name, data)
		}
	}
}

// TestRowsFit: each row is one line that fits, a cell that may not be cut is whole
// or not there, and what is left out is what the plan names first.
func TestRowsFit(t *testing.T) {
	t.Parallel()
	print := func(width string) string {
		var out strings.Builder
		a := &Terminal{Env: Env{Getenv: func(k string) string { return map[string]string{"COLUMNS": width}[k] }}}
		a.Rows(&out, [][]string{
			{"WHEN", "PROJECT", "TOKENS", "SIZE", "TITLE"},
			{"2026-11-15", "/home/mei/a/folder/of/projects/shop-api", "114,424", "88 kB", "加上公開 API 的速率限制，每分鐘六十次"},
			{"2026-11-14", "~/x", "9", "1 B", "short"},
		}, Plan{Cut: []int{4}, Paths: []int{1}, Drop: []int{3, 1, 2}, Right: []int{2, 3}})
		return out.String()
	}
	for width, want := range map[string]string{
		"200": `WHEN        PROJECT                                   TOKENS   SIZE  TITLE
2026-11-15  /home/mei/a/folder/of/projects/shop-api  114,424  88 kB  加上公開 API 的速率限制，每分鐘六十次
2026-11-14  ~/x                                            9    1 B  short
`,
		// A pipe.
		"": `WHEN        PROJECT                               TOKENS   SIZE  TITLE
2026-11-15  …/mei/a/folder/of/projects/shop-api  114,424  88 kB  加上公開 API 的速率限制，每分鐘六…
2026-11-14  ~/x                                        9    1 B  short
`,
		"80": `WHEN        PROJECT                     TOKENS   SIZE  TITLE
2026-11-15  …der/of/projects/shop-api  114,424  88 kB  加上公開 API 的速率限制…
2026-11-14  ~/x                              9    1 B  short
`,
		"40": `WHEN        TITLE
2026-11-15  加上公開 API 的速率限制，每…
2026-11-14  short
`,
		"20": `2026-11-15
`,
	} {
		got := print(width)
		if width == "20" {
			got = got[:len("2026-11-15\n")]
		}
		for line := range strings.Lines(got) {
			if n := Columns(strings.TrimSuffix(line, "\n")); width == "80" && n > 80 || width == "40" && n > 40 {
				t.Errorf("%d columns: %q", n, line)
			}
		}
		if got != want {
			t.Errorf("at %q:\n%s\nwant:\n%s", width, got, want)
		}
	}
}

// What is in bold stays so across lines, no line is too wide, and only spaces get lost.
func TestMarked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]string{"20", "40", "80"}).Draw(t, "width")
		text := rapid.StringMatching(`[a-z測試，🚀 ]{0,160}`).Draw(t, "text")
		text = strings.Join(strings.Fields(text), " ")
		var bold [][2]int
		for i, last := 0, 0; i < 4; i++ {
			a, b := rapid.IntRange(last, len(text)).Draw(t, "from"), rapid.IntRange(last, len(text)).Draw(t, "to")
			if a >= b || !utf8.RuneStart((text + " ")[a]) || !utf8.RuneStart((text + " ")[b]) {
				continue
			}
			bold, last = append(bold, [2]int{a, b}), b
		}
		var out strings.Builder
		term := &Terminal{Env: Env{Stdout: &out, Getenv: func(string) string { return width }}}
		term.Marked("    ", text, bold)
		room, _ := strconv.Atoi(width)
		var got strings.Builder
		for line := range strings.Lines(out.String()) {
			if n := Columns(strings.TrimSuffix(line, "\n")); n > room {
				t.Fatalf("%d columns of %d: %q", n, room, line)
			}
			got.WriteString(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "    "))
		}
		if a, b := strings.ReplaceAll(got.String(), " ", ""), strings.ReplaceAll(text, " ", ""); a != b {
			t.Fatalf("%q of %q", a, b)
		}
	})
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	term := &Terminal{Env: Env{Stdout: NewScreen(f), Getenv: func(k string) string { return map[string]string{"COLUMNS": "20"}[k] }, IsTTY: func(uintptr) bool { return true }}}
	term.Marked("  ", "one two three four five six", [][2]int{{4, 13}, {14, 23}})
	f.Close()
	data, _ := os.ReadFile(f.Name())
	if want := "  one \x1b[1mtwo three\x1b[0m \x1b[1mfour\x1b[0m\n  \x1b[1mfive\x1b[0m six\n"; string(data) != want {
		t.Errorf("%q, want %q", data, want)
	}
}
