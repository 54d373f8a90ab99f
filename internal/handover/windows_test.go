package handover

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// An edit as each host writes it; PATH is the file.
var edits = map[transcript.Host]string{
	transcript.Claude: `{"type":"user","uuid":"u","cwd":CWD,"sessionId":"s","message":{"role":"user","content":"fix the parser"}}
{"type":"assistant","uuid":"a","cwd":CWD,"message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":PATH,"old_string":"a","new_string":"b"}}]}}
{"type":"user","uuid":"r","cwd":CWD,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}`,
	transcript.Codex: `{"timestamp":"2026-01-02T10:00:00Z","type":"session_meta","payload":{"id":"s","cwd":CWD}}
{"type":"event_msg","payload":{"type":"user_message","message":"fix the parser"}}
{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"t","name":"apply_patch","input":PATCH}}
{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"t","output":"{\"output\":\"Success\",\"metadata\":{\"exit_code\":0}}"}}`,
	transcript.Copilot: `{"type":"session.start","timestamp":"2026-01-02T10:00:00Z","id":"1","data":{"sessionId":"s","context":{"cwd":CWD}}}
{"type":"user.message","id":"2","data":{"content":"fix the parser"}}
{"type":"assistant.message","id":"3","data":{"content":"","toolRequests":[{"toolCallId":"t","name":"edit","arguments":{"path":PATH,"old_str":"a","new_str":"b"}}]}}
{"type":"tool.execution_complete","id":"4","data":{"toolCallId":"t","success":true,"result":{"content":"ok"}}}`,
	transcript.Opencode: `{"filePath":PATH,"oldString":"a","newString":"b"}`,
	transcript.Gemini:   `{"file_path":PATH,"old_string":"a","new_string":"b"}`,
}

// A session that was held on Windows is read anywhere: its folder as it stands in the file,
// and a file below it by its name from there, however the host spells either.
func TestSessionsOfWindows(t *testing.T) {
	t.Parallel()
	quote := func(text string) string {
		data, _ := json.Marshal(text) // a string
		return string(data)
	}
	for host, lines := range edits {
		for _, row := range []struct{ cwd, file, want string }{
			{`C:\Users\me\shop`, `C:\Users\me\shop\src\cart.go`, "src/cart.go"},
			{`C:\Users\me\shop`, `c:/Users/me/shop/src/cart.go`, "src/cart.go"},
			{`\\?\C:\Users\me\shop`, `C:\Users\me\shop\new\table.go`, "new/table.go"},
			{`C:\Users\me\shop`, `\\?\C:\Users\me\shop\new\table.go`, "new/table.go"},
			{`\\box\team\shop`, `\\box\team\shop\docs\a b.md`, "docs/a b.md"},
		} {
			text := strings.NewReplacer("CWD", quote(row.cwd), "PATCH", quote("*** Begin Patch\n*** Update File: "+row.file+"\n@@\n-a\n+b\n*** End Patch"), "PATH", quote(row.file)).Replace(lines)
			path := filepath.Join(t.TempDir(), "s.jsonl")
			if strings.HasPrefix(text, `{"type`) || strings.HasPrefix(text, `{"time`) {
				if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			} else {
				tool := map[transcript.Host]string{transcript.Opencode: "edit", transcript.Gemini: "replace"}[host]
				m := transcript.Mirror{Path: path, Host: host, Session: "s", CWD: row.cwd}
				if err := m.Write([]transcript.HostMessage{
					{ID: "m1", Blocks: []transcript.HostBlock{{Text: "fix the parser"}}},
					{ID: "m2", Agent: true, Blocks: []transcript.HostBlock{{ID: "t", Tool: tool, Input: json.RawMessage(text), Answered: true, Answer: "ok"}}},
				}); err != nil {
					t.Fatal(err)
				}
			}
			if got := transcript.FirstCWD(path); got != row.cwd {
				t.Errorf("%s: the folder of %s is %q", host, row.cwd, got)
			}
			r := NewRecord(row.cwd)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := transcript.Events(t.Context(), strings.NewReader(string(data)), 0, host, transcript.Want{}, func(e *transcript.Event) { r.Add(e, e.Off) }); err != nil {
				t.Fatal(err)
			}
			h := Handover{ID: "x", Session: "s", Record: r, Work: r.Work(), Lang: message.EN}
			if got := h.Situation().Tree.Changed; !slices.Equal(got, []string{row.want}) || !strings.Contains(h.Text(), row.want) {
				t.Errorf("%s in %s: %s is told as %q", host, row.cwd, row.file, got)
			}
		}
	}
}
