package shrink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
)

// corpus is some sessions, each compressed as one band.
type corpus struct {
	name  string
	files []string
}

// tuned are the recorded sessions on which weights and lists of words were tuned,
// seen those that were scored and whose misses were read, so that they say little
// about sessions of tomorrow. Fresh is nothing that anyone read for the purpose:
// what sub-agents were asked and what they reported, see agentSessions.
var (
	tuned = []string{
		"claude_03_v2076_compact", "claude_05_glued_lines", "claude_07_orphan_result", "claude_11_starts_with_boundary", "claude_15_unanswered",
		"claude_22_small", "claude_27_sidechains", "codex_32_compacted", "codex_35_aborted", "codex_42_2lines",
		"0442a060", "11906c19", "21a2e002", "43b2bd6e",
	}
	seen = []string{
		"claude_04_microcompact", "claude_06_interrupts", "claude_08_two_sids", "claude_13_small_interrupt", "claude_17_image",
		"claude_25_v2150", "claude_30_v2179", "codex_34_v01445", "codex_38_zh", "codex_44_rollout",
		"08940314", "15b634ab", "375d5d79", "44df7d08",
	}
)

// corpora are the recorded sessions, or generated ones where there are none.
func corpora(t *testing.T) []corpus {
	found := samples.Find("real/*.jsonl", "compactions/*.jsonl.gz")
	if len(found) == 0 {
		t.Logf("no recorded sessions in %s: the numbers below are of generated ones", samples.Folder())
		return []corpus{{"generated", generatedFiles(t)}}
	}
	named := func(list []string) (out []string) {
		for _, f := range found {
			if slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(filepath.Base(f), p) }) {
				out = append(out, f)
			}
		}
		return out
	}
	rest := slices.DeleteFunc(slices.Clone(found), func(f string) bool { return slices.Contains(named(append(slices.Clone(tuned), seen...)), f) })
	out := []corpus{{"tuned on", named(tuned)}, {"seen", named(seen)}, {"fresh", agentSessions(t, found)}}
	if len(rest) > 0 {
		out = append(out, corpus{"other", rest})
	}
	return out
}

// agentSessions makes a session of each recorded one that sent sub-agents: what
// each was asked is the user's message, what it reported the agent's. The product
// leaves these texts alone where they stand, in calls and their results, so they
// were in nobody's way while it was tuned.
func agentSessions(t *testing.T, found []string) []string {
	var out []string
	for _, f := range found {
		var s made
		asked := map[string]bool{}
		for line := range bytes.Lines(readAll(t, f)) {
			var e struct {
				Message struct {
					Content json.RawMessage
				}
				ToolUseResult json.RawMessage
			}
			if json.Unmarshal(line, &e) != nil {
				continue
			}
			var blocks []struct {
				Type, ID, Name string
				Tool           string `json:"tool_use_id"`
				Input          struct{ Prompt, Plan string }
				Content        json.RawMessage
			}
			if json.Unmarshal(e.Message.Content, &blocks) != nil {
				continue
			}
			for _, b := range blocks {
				switch {
				case b.Type == "tool_use" && (b.Name == "Task" || b.Name == "Agent"):
					asked[b.ID] = true
					s.say("user", b.Input.Prompt)
				case b.Type == "tool_use" && b.Name == "ExitPlanMode":
					s.say("assistant", b.Input.Plan)
				case b.Type == "tool_result" && asked[b.Tool]:
					var texts []struct{ Text string }
					if json.Unmarshal(b.Content, &texts) != nil {
						continue
					}
					for _, x := range texts {
						if !strings.HasPrefix(x.Text, "agentId:") {
							s.say("assistant", x.Text)
						}
					}
				}
			}
		}
		if s.n > 0 {
			out = append(out, s.write(t, "agents-"+strings.TrimSuffix(filepath.Base(f), ".gz")))
		}
	}
	return out
}

// made writes a session of texts alone.
type made struct {
	n     int
	lines bytes.Buffer
}

func (s *made) say(role, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	content, parent := quote(text), "null"
	if role == "assistant" {
		content = fmt.Sprintf(`[{"type":"text","text":%s}]`, content)
	}
	if s.n > 0 {
		parent = fmt.Sprintf(`"%08d-0000-4000-8000-000000000000"`, s.n-1)
	}
	fmt.Fprintf(&s.lines, `{"parentUuid":%s,"type":%q,"uuid":"%08d-0000-4000-8000-000000000000","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":%q,"model":"m","content":%s}}`+"\n", parent, role, s.n, role, content)
	s.n++
}

func (s *made) write(t *testing.T, name string) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, s.lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func generatedFiles(t *testing.T) []string {
	var files []string
	for i, tg := range []tongue{english, chinese} {
		var s made
		for n, m := range generateSession(uint64(i+1), tg) {
			role := "assistant"
			if n%4 == 0 {
				role = "user"
			}
			s.say(role, m)
		}
		files = append(files, s.write(t, fmt.Sprintf("generated-%d.jsonl", i)))
	}
	return files
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func readAll(t *testing.T, file string) []byte {
	t.Helper()
	b, err := samples.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// copied puts a session where the product may write beside it.
func copied(t *testing.T, file string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(file), ".gz"))
	if err := os.WriteFile(path, readAll(t, file), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
