package main

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const printed = `== internal/store
BenchmarkLatest-2      	     200	         0 ns/op	        12.50 µs-1000	         1.100 ratio
BenchmarkUpdate/pre-emit-2 	     200	     15000 ns/op
Claude Code 2.1.325, 70 Bash calls, with hooks:   47.1 ms a call, +11.1
opencode 1.18.33, 30 shell calls, with hooks:      21.2 ms a call, +0.9
`

// Every kind of ratio is compared, each in its own direction.
func TestWhatIsWorse(t *testing.T) {
	t.Parallel()
	for unit, value := range map[string]float64{"ratio": 1.3, "x-floor": 1.3, "x-large-home": 1.3, "×ideal": 1.3, "lost": 1.3, "×gjson": 0.7, "recall": 0.7, "needed-stated": 0.7} {
		old, now := []row{{"p", "B", unit, 1}}, []row{{"p", "B", unit, value}}
		if p := compare(old, now); len(p) != 1 {
			t.Errorf("%s: %q", unit, p)
		}
		if p := compare(now, old); len(p) != 0 && unit != "lost" {
			t.Errorf("%s the other way: %q", unit, p)
		}
	}
	if p := compare([]row{{"p", "B", "lost", 0}}, []row{{"p", "B", "lost", 1}}); len(p) != 1 {
		t.Errorf("one lost: %q", p)
	}
}

// A number elsewhere that points to a row points to one that is there.
func TestNumbersHaveTheirRows(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	table, err := os.ReadFile(filepath.Join(root, "docs", "internals", "benchmarks.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no page yet: make bench")
	}
	if err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	digits := regexp.MustCompile(`\d+(\.\d+)?`)
	for _, path := range append(docs, filepath.Join(root, "README.md"), filepath.Join(root, "docs", "internals", "measured.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\[([^\]]*)\]\([^)]*benchmarks\.md#([^)\s]+)\)`).FindAllStringSubmatch(string(text), -1) {
			_, row, ok := strings.Cut(string(table), `<a id="`+m[2]+`"></a>`)
			if !ok {
				t.Errorf("%s points to %s, which is not on the page", filepath.Base(path), m[2])
				continue
			}
			// What it says is what stands there, as far as anybody notices.
			row, _, _ = strings.Cut(row, " |\n")
			said, told := digits.FindString(strings.ReplaceAll(m[1], ",", "")), digits.FindString(row[strings.LastIndex(row, "|"):])
			a, _ := strconv.ParseFloat(said, 64)
			b, _ := strconv.ParseFloat(told, 64)
			if said != "" && math.Abs(a-b) > b/4 {
				t.Errorf("%s says %s, its row %s", filepath.Base(path), m[1], told)
			}
		}
	}
}

func TestPageIsReadBack(t *testing.T) {
	t.Parallel()
	rows, err := parse(strings.NewReader(printed))
	if err != nil || len(rows) != 5 || rows[2].Name != "Update/pre-emit" || rows[3].Value != 47.1 || rows[4].Value != 21.2 {
		t.Fatal(rows, err)
	}
	text := page(rows, "a machine", time.Now())
	if !strings.Contains(text, "Update/pre-emit | time | 15µs |") {
		t.Error(text)
	}
	again := read(text)
	// Times are for people: machines differ, they are not compared.
	if want := slices.Concat(rows[:2], rows[3:]); !slices.Equal(want, again) {
		t.Errorf("%v, want %v", again, want)
	}
	if p := compare(rows, again); len(p) > 0 {
		t.Error(p)
	}
	slow := slices.Clone(rows)
	slow[0].Value *= 10 // no ratio
	if p := compare(rows, slow); len(p) > 0 {
		t.Error(p)
	}
	slow[1].Value *= 1.3
	if p := compare(rows, slow); len(p) != 1 || !strings.Contains(p[0], "Latest") {
		t.Error(p)
	}
	if p := compare(rows, rows[:1]); len(p) != 1 {
		t.Error(p)
	}
}
