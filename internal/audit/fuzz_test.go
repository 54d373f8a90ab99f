package audit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Whatever the bytes of a session are, it can be audited: the report is JSON, its totals
// are those of its rows, and what is kept of it tells the same.
func FuzzAudit(f *testing.F) {
	for _, s := range samples.Small() {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, h := range []transcript.Host{transcript.Claude, transcript.Codex, transcript.Copilot} {
			path := filepath.Join(dir, "s.jsonl")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			o := Options{
				Files: []transcript.File{{Path: path, ID: "s", Host: h, Size: int64(len(data))}}, Now: time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC), Loc: time.UTC,
				Settings: settings(), Workers: 1,
			}
			r := run(t, o)
			if len(r.Faults) > 0 {
				t.Fatal(r.Faults[0])
			}
			if _, err := json.Marshal(r); err != nil {
				t.Fatal(err)
			}
			var rows, days, models Tokens
			compactions := 0
			for _, s := range r.Sessions {
				rows.add(s.Tokens)
				compactions += len(s.Compactions)
			}
			for _, d := range r.Days {
				days.add(d.Tokens)
			}
			for _, m := range r.Models {
				models.add(m.Tokens)
			}
			if rows != r.Totals.Tokens || days != rows || models != rows || compactions != r.Totals.Compactions {
				t.Errorf("%s: sessions %+v, days %+v, models %+v, %d compactions, totals %+v", h, rows, days, models, compactions, r.Totals.Bucket)
			}
		}
	})
}
