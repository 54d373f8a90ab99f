package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Speaks is a tongue that knows one language.
func Speaks(l message.Lang) Tongue { return func(message.Lang) message.Lang { return l } }

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
		// The hand-over states names that the summary lacks, and its counts say how many.
		handed := 0
		for _, name := range s.Lacks {
			if strings.Contains(s.Text, name) {
				handed++
			}
		}
		if len(s.Handed) != handed || handed == 0 || s.MoreHanded < 0 || s.MoreHanded > s.More || n <= surveyed && s.MoreHanded != 0 {
			t.Errorf("of %d names %d and %d more are handed over, the text has %d", n, len(s.Handed), s.MoreHanded, handed)
		}
	}
}

// The audit, the packet and the index count the compactions of a file in one way, also
// those of which the first versions wrote a summary only.
func TestCompactionsAreCountedInOneWay(t *testing.T) {
	t.Parallel()
	const (
		prompt   = `{"type":"user","uuid":"u%d","parentUuid":"x","timestamp":"2026-03-01T11:%02d:00.000Z","message":{"role":"user","content":"make loadTotals strict"}}`
		answer   = `{"type":"assistant","uuid":"a%d","parentUuid":"x","timestamp":"2026-03-01T11:%02d:00.000Z","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":5,"output_tokens":5}}}`
		boundary = `{"type":"system","subtype":"compact_boundary","uuid":"c%d","timestamp":"2026-03-01T11:%02d:00.000Z"}`
		alone    = `{"type":"user","uuid":"s%d","isCompactSummary":true,"timestamp":"2026-03-01T11:%02d:00.000Z","message":{"role":"user","content":"It is strict."}}`
		chained  = `{"type":"user","uuid":"s%d","parentUuid":"c","isCompactSummary":true,"timestamp":"2026-03-01T11:%02d:00.000Z","message":{"role":"user","content":"It is strict."}}`
		agents   = `{"type":"user","uuid":"s%d","isSidechain":true,"isCompactSummary":true,"timestamp":"2026-03-01T11:%02d:00.000Z","message":{"role":"user","content":"It is strict."}}`
	)
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"a boundary with its summary":          {[]string{prompt, answer, boundary, chained, prompt, answer}, 1},
		"a summary alone":                      {[]string{prompt, answer, alone, prompt, answer}, 1},
		"two of them":                          {[]string{prompt, answer, alone, prompt, answer, alone, prompt}, 2},
		"a boundary, words, its summary":       {[]string{prompt, answer, boundary, prompt, alone, answer}, 1},
		"a summary that hangs below something": {[]string{prompt, answer, chained, prompt, answer}, 0},
		"of a sub-agent":                       {[]string{prompt, answer, boundary, agents, alone, agents, prompt}, 1},
		"at the beginning of the file":         {[]string{alone, prompt, answer}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for i, line := range c.lines {
				fmt.Fprintf(&b, line+"\n", i, i)
			}
			path := filepath.Join(t.TempDir(), "s1.jsonl")
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			file := transcript.File{Path: path, ID: "s1", Host: transcript.Claude, Size: int64(b.Len())}
			index, err := transcript.Read(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			survey, err := NewSurvey(t.Context(), file, 0, Speaks(message.EN))
			if err != nil {
				t.Fatal(err)
			}
			report, _, err := audit.Run(t.Context(), audit.Options{Files: []transcript.File{file}, Now: time.Now(), Loc: time.UTC, Settings: config.Defaults().Compact, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			got := [3]int{len(index.Compactions), survey.Total, len(report.Sessions[0].Compactions)}
			if got != [3]int{c.want, c.want, c.want} {
				t.Errorf("index, packet and audit count %v, want %d", got, c.want)
			}
		})
	}
}
