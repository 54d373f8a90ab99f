package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// A summary is compared with the names most likely to be needed again; of the others it
// is counted how many it does not state either.
func TestSurveyCountsTheOthers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10, surveyed + 25} {
		var code strings.Builder
		for i := range n {
			fmt.Fprintf(&code, `func loadTotals%c%c(x int) {\n`, 'A'+i/26, 'a'+i%26)
		}
		path := filepath.Join(t.TempDir(), "s.jsonl")
		err := os.WriteFile(path, []byte(strings.Join([]string{
			`{"type":"user","uuid":"u1","cwd":"/w/p","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"make the totals strict"}}`,
			`{"type":"assistant","uuid":"u2","parentUuid":"u1","timestamp":"2026-03-01T11:00:01.000Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/w/p/totals.go","content":"` + code.String() + `"}}]}}`,
			`{"type":"user","uuid":"u3","parentUuid":"u2","timestamp":"2026-03-01T11:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"written"}]}}`,
			`{"type":"system","subtype":"compact_boundary","uuid":"c","timestamp":"2026-03-01T11:00:03.000Z","compactMetadata":{"trigger":"auto","preTokens":150000}}`,
			`{"type":"user","uuid":"u4","parentUuid":"c","isCompactSummary":true,"timestamp":"2026-03-01T11:00:04.000Z","message":{"role":"user","content":"totals.go is strict now."}}`,
		}, "\n")+"\n"), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSurvey(context.Background(), transcript.File{Path: path, ID: "s1", Host: transcript.Claude}, 1, Speaks(message.EN))
		if err != nil {
			t.Fatal(err)
		}
		shown := len(s.States) + len(s.Lacks)
		if shown+s.More != n+1 || shown > surveyed || len(s.States) != 1 || (s.More > 0) != (n > surveyed) {
			t.Errorf("of %d names and their file: states %v, lacks %d, and %d more", n, s.States, len(s.Lacks), s.More)
		}
	}
}
