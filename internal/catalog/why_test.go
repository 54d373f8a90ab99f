package catalog

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Each line that says something of the session is followed by the record that shows it,
// and the lines together are the hand-over.
func TestWhy(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"type":"user","uuid":"u0","sessionId":"s1","cwd":"/w","timestamp":"2026-03-01T10:59:00.000Z","message":{"role":"user","content":"` + strings.Repeat("It is slow. ", 300) + `"}}`,
		`{"type":"assistant","uuid":"a0","timestamp":"2026-03-01T10:59:30.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Which part of it?"}]}}`,
		`{"type":"user","uuid":"u1","sessionId":"s1","cwd":"/w","timestamp":"2026-03-01T11:00:00.000Z","message":{"role":"user","content":"Please speed up the parser. Never push to main."}}`,
		`{"type":"assistant","uuid":"a1","timestamp":"2026-03-01T11:00:01.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/w/parse.go","old_string":"a","new_string":"func growBuffer() {}"}}]}}`,
		`{"type":"user","uuid":"r1","timestamp":"2026-03-01T11:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`,
		`{"type":"assistant","uuid":"a2","timestamp":"2026-03-01T11:00:03.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"go test ./parse"}}]}}`,
		`{"type":"user","uuid":"r2","timestamp":"2026-03-01T11:00:04.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"Exit code 1\nparse.go:3:1: undefined: growBuffers"}]}}`,
		`{"type":"assistant","uuid":"a3","timestamp":"2026-03-01T11:00:05.000Z","message":{"role":"assistant","content":[{"type":"text","text":"One test is red. Shall I rename growBuffer?\n\n::git-stage{cwd=\"/w\"}"}]}}`,
	}
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := NewSurvey(context.Background(), transcript.File{Path: path, ID: "s1", Host: transcript.Claude}, 0, Speaks(message.EN))
	if err != nil {
		t.Fatal(err)
	}
	why := func() (text []string, found map[string]string) {
		t.Helper()
		reasons, err := s.Why(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		found = map[string]string{}
		for _, r := range reasons {
			text = append(text, r.Line)
			for _, e := range r.Evidence {
				if e.At.IsZero() || e.Said == "" || strings.Contains(e.Said, "::git") {
					t.Errorf("%s: %+v", r.Line, e)
				}
				found[r.Line] += e.Kind + " " + e.UUID + " "
			}
			if r.Evidence != nil && len(r.Evidence) == 0 {
				found[r.Line] = "nothing"
			}
		}
		return text, found
	}
	text, found := why()
	if !strings.Contains(s.Text, strings.Join(text, "\n")) {
		t.Errorf("the lines are not the hand-over:\n%s", strings.Join(text, "\n"))
	}
	for head, want := range map[string]string{
		"- “Please speed":         "user u1 agent a0",
		"- “It is slow":           "user u0",
		"- failed: `go test":      "call a2 result r2",
		"- you said last: ":       "agent a3",
		"- edited: ":              "call a1",
		"**The work is under way": "agent a3",
	} {
		told := ""
		for line, e := range found {
			if strings.HasPrefix(line, head) {
				told = strings.TrimSpace(e)
			}
		}
		if told != want {
			t.Errorf("%q is shown by %q, want %q, of %v", head, told, want, found)
		}
	}
	// What nobody has said finds nothing.
	s.Parts[1].Text += "\n- “Delete it all.”\n- 7 more"
	_, found = why()
	if found["- “Delete it all.”"] != "nothing" {
		t.Errorf("made up: %v", found)
	}
	for line, e := range found {
		if e == "nothing" && line != "- “Delete it all.”" {
			t.Errorf("nothing shows %q", line)
		}
	}
}
