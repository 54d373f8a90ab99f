package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// What Codex leaves in the context beside a summary that only its server can read is not
// told again; while the file does not tell of the compaction the packet stays as it was.
func TestPacketKnowsWhatIsKeptBesideTheSummary(t *testing.T) {
	t.Parallel()
	const head = `{"timestamp":"2026-03-01T12:00:00.000Z","type":"session_meta","payload":{"id":"00000000-0000-4000-8000-000000000001"}}` + "\n"
	const line = `{"timestamp":"2026-03-01T12:01:00.000Z","type":"compacted","payload":{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Leave keptName alone."}]},{"type":"compaction","encrypted_content":"zzz"}]}}` + "\n"
	for text, basis := range map[string]compact.Basis{head + line: compact.BasisSlice, head: ""} {
		path := filepath.Join(t.TempDir(), "rollout-2026-03-01T12-00-00-00000000-0000-4000-8000-000000000001.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		record := handover.NewRecord("")
		record.Add(&transcript.Event{Kind: transcript.ToolEnded, Raw: []byte(`"keptName and otherName are slow"`)}, 0)
		s := &conversation{handover: handover.Handover{ID: "p1", Record: record}, read: int64(len(head))}
		s.thread.Transcript = path
		got, of := s.rewritten()
		if of != basis || strings.Contains(got, "otherName") != (basis != "") || strings.Contains(got, "keptName") {
			t.Errorf("%q instead of %q: %s", of, basis, got)
		}
	}
}
