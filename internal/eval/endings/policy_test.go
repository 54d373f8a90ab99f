package endings

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// TestEvalPolicy prints what the default tiers come to on recorded sessions, beside the
// wider ones before them, what happened and hindsight; each half of the sessions by itself
// keeps within one interruption more and 55 % of the compactions.
func TestEvalPolicy(t *testing.T) {
	found := samples.Find("real/*.jsonl", "compactions/*.jsonl.gz")
	if len(found) == 0 {
		t.Skip("no recorded sessions")
	}
	var files []transcript.File
	home := t.TempDir()
	for _, path := range found {
		name := samples.Name(path)
		data := bytes.Join(read(t, path), []byte("\n"))
		file := filepath.Join(home, name+".jsonl")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		host := transcript.Claude
		if strings.HasPrefix(name, "codex") {
			host = transcript.Codex
		}
		files = append(files, transcript.File{Path: file, Host: host, ID: name, Size: int64(len(data)), ModTime: time.Now()})
	}
	play := func(half int, set compact.Settings) audit.WhatIf {
		var some []transcript.File
		for i, f := range files {
			if half < 0 || i%2 == half {
				some = append(some, f)
			}
		}
		r, _, err := audit.Run(t.Context(), audit.Options{Files: some, Now: time.Now(), Loc: time.UTC, Settings: set, Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		return r.Totals.WhatIf
	}
	set := config.Defaults().Compact
	wide := set
	wide.Trigger.EarlyPercentRemainingLT, wide.Trigger.ReadyPercentRemainingLT, wide.Trigger.AsapPercentRemainingLT = 85, 75, 65
	for half, name := range map[int]string{-1: "all", 0: "even", 1: "odd"} {
		now, before := play(half, set), play(half, wide)
		t.Logf("%-4s  policy: %d of %d compactions interrupt (85/75/65: %d of %d; happened: %d of %d; hindsight: %d of %d)", name,
			now.Forced, now.Boundary+now.Forced, before.Forced, before.Boundary+before.Forced, now.HappenedMid, now.Happened, now.LateForced, now.LateBoundary+now.LateForced)
		if now.Forced > before.Forced+1 || (now.Boundary+now.Forced)*100 > (before.Boundary+before.Forced)*55 {
			t.Errorf("%s: %d of %d", name, now.Forced, now.Boundary+now.Forced)
		}
	}
}
