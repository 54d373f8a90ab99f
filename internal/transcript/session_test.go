package transcript

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustRead(t testing.TB, path string) *Session {
	t.Helper()
	s, err := Read(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func liveLines(s *Session) []int {
	var out []int
	for _, i := range s.Live() {
		out = append(out, int(s.Entries[i].Line))
	}
	slices.Sort(out)
	return out
}

// Every recorded session gives the counts that a naive reader gives.
func TestRecordedSessions(t *testing.T) {
	t.Parallel()
	for _, host := range []Host{Claude, Codex} {
		pattern, read := "claude_*.jsonl", readNaiveClaude
		if host == Codex {
			pattern, read = "codex_*.jsonl", readNaiveCodex
		}
		for _, path := range recorded(t, pattern) {
			name := filepath.Base(path)
			if slices.Contains([]string{"claude_hook_stdin_samples.jsonl", "claude_statusline_stdin.jsonl", "codex_appserver_transcript.jsonl", "codex_appserver_two_clients_transcript.jsonl", "codex_commit_items.jsonl"}, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := mustRead(t, path)
				if s.Host != host {
					t.Fatalf("host %s", s.Host)
				}
				want := read(t, path)
				got := naive{
					lines: s.Lines, bad: s.Unreadable, compactions: len(s.Compactions),
					turns: len(s.Turns(s.Live())), allTurns: len(s.Turns(s.All())),
					tokens: float64(s.Usage.Tokens()), live: liveLines(s),
				}
				if d := cmp.Diff(want, got, cmp.AllowUnexported(naive{})); d != "" {
					t.Error(d)
				}
				if u, ok := TailUsage(path); ok != s.HasUsage || u.Tokens() != s.Usage.Tokens() {
					t.Errorf("tail usage %v %v, index %v %v", u, ok, s.Usage, s.HasUsage)
				}
				after := int64(0)
				if n := len(s.Compactions); n > 0 {
					after = s.Compactions[n-1].End
				}
				if got, _ := LastCompaction(path, 1<<30); got != after {
					t.Errorf("last compaction at %d, index %d", got, after)
				}
			})
		}
	}
}
