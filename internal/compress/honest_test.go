package compress

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What a plan promises is what the clone holds, within five percent, on recorded
// sessions of both hosts and with every preset.
func TestPlanIsHonest(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("OVERTONE_SAMPLES")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "samples")
	}
	files, err := filepath.Glob(filepath.Join(dir, "real", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
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
				p := plan(t, s, Options{
					Bands: ranges(t, ParseBands, preset.Bands), Tools: ranges(t, ParseTools, preset.Tools),
					Thinking: ranges(t, ParseThinking, preset.Thinking), NoUsers: true, Newest: preset.Newest,
				})
				if p.Nothing() || s.Legacy {
					return
				}
				res, err := p.Run(t.Context(), Builtin{}, RunOptions{ID: transcript.NewID(s.Host, runTime), Now: runTime})
				if err != nil {
					t.Fatal(err)
				}
				if d := res.After - p.Target; 20*d > p.Target+200 || -20*d > p.Target+200 {
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
