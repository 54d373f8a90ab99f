package compress

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What a plan promises is what the clone holds, within five percent or half a percent of
// the session, on recorded sessions of both hosts and with every preset.
func TestPlanIsHonest(t *testing.T) {
	t.Parallel()
	files := samples.Find("real/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions")
	}
	for _, f := range files {
		for _, preset := range presets() {
			t.Run(strings.TrimSuffix(filepath.Base(f), ".jsonl")+"/"+preset.Name, func(t *testing.T) {
				t.Parallel()
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), filepath.Base(f))
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				s := open(t, path)
				p := presetPlan(t, s, preset.Name)
				if p.Nothing() {
					return
				}
				o := RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime}
				var res *Result
				if s.Legacy {
					_, res, err = p.Packet(t.Context(), Builtin{}, o)
				} else {
					res, err = p.Run(t.Context(), Builtin{}, o)
				}
				if err != nil {
					t.Fatal(err)
				}
				if d, most := res.After-p.Target, max(p.Target/20+10, p.Tokens/200); d > most || -d > most {
					t.Errorf("%d tokens, promised %d of %d", res.After, p.Target, p.Tokens)
				}
				if preset.Name == "routine" {
					t.Logf("%d → %d, promised %d", res.Before, res.After, p.Target)
				}
			})
		}
	}
}

// A harsher preset leaves no more than a gentler one, however a session's tools are
// spread over its turns.
func TestHarsherPresetsLeaveLess(t *testing.T) {
	t.Parallel()
	for _, calls := range [][]int{{1, 1, 1}, {9, 1, 1}, {1, 9, 1}, {1, 1, 9}, {20, 20, 20}, {1, 2, 30, 2, 2}, {2, 2, 2, 30, 9}, {40, 2, 2, 2}, {3, 3, 3, 3, 3, 3, 3}, {12}, {3, 12}, {5, 5, 5, 2, 9, 1, 9}} {
		var c chat
		n := 0
		for _, k := range calls {
			c.user("go on")
			for range k {
				n++
				c.blocks(thinking, toolUse(fmt.Sprint("t", n), "ls"))
				c.result(fmt.Sprint("t", n), strings.Repeat("some output\n", 40+n%7))
			}
			c.blocks(textBlock(long("answer")))
		}
		s := c.write(t)
		left := -1
		for _, name := range PresetNames() {
			p := presetPlan(t, s, name)
			if left >= 0 && p.Target > left {
				t.Errorf("calls %v: %s leaves %d tokens, the preset before it %d", calls, name, p.Target, left)
			}
			left = p.Target
		}
	}
}

// What is counted as gone is what a reader of the clone misses.
func TestGoneIsHonest(t *testing.T) {
	t.Parallel()
	var c chat
	for n := range 6 {
		c.user(fmt.Sprintf("Please make the parser in internal/cfg/part%d.go refuse empty keys. Never push to main. It was a pleasant day for all of us. %s", n, long("question")))
		c.blocks(textBlock(fmt.Sprintf("We decided to keep version %d because 14 users still have it. Looking at it was quite pleasant. The weather was fine as well. %s", n, long("answer"))))
	}
	s := c.write(t)
	for _, b := range []string{"0-100:compress", "0-100:heavy-compress"} {
		res, clone := runPlan(t, plan(t, s, Options{Bands: bands(t, b)}), Builtin{})
		before, after := texts(t, s), texts(t, clone)
		if len(before) != 12 || len(after) != 12 {
			t.Fatalf("%d messages, %d in the clone", len(before), len(after))
		}
		var want extract.Losses
		for i := range before {
			want.Add(extract.Missing(unitsOf(before[i], waiting), before[i], after[i], i%2 == 0))
		}
		if res.Gone != want || want.Sentences == 0 {
			t.Errorf("%s: %+v, counted on the clone %+v", b, res.Gone, want)
		}
	}
}

func texts(t *testing.T, s *transcript.Session) (list []string) {
	t.Helper()
	f, err := os.Open(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, i := range s.Live() {
		raw, err := s.Raw(f, int(i))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, transcript.Text(raw))
	}
	return list
}

// Calls and results alternate: a sample that takes every second entry sees only one
// of the two.
func TestPlanOfManyCutsIsHonest(t *testing.T) {
	t.Parallel()
	var c chat
	c.user("go on")
	for n := range 2 * sampledCuts {
		c.blocks(toolUse(fmt.Sprint("t", n), strings.Repeat("echo something ", 1+n%9)))
		c.result(fmt.Sprint("t", n), strings.Repeat("some output\n", 20+n%311))
	}
	s := c.write(t)
	p := plan(t, s, Options{Tools: ranges(t, ParseTools, "0-100:truncate")})
	res, err := p.Run(t.Context(), Builtin{}, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime})
	if err != nil {
		t.Fatal(err)
	}
	if d := res.After - p.Target; 20*d > p.Target || -20*d > p.Target {
		t.Errorf("%d tokens, promised %d of %d", res.After, p.Target, p.Tokens)
	}
}
