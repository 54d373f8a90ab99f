package compress

import (
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
				if d := res.After - p.Target; d*20 > p.Tokens || -d*20 > p.Tokens {
					t.Errorf("%d tokens, promised %d of %d", res.After, p.Target, p.Tokens)
				}
				if preset.Name == "routine" {
					t.Logf("%d → %d, promised %d", res.Before, res.After, p.Target)
				}
			})
		}
	}
}
