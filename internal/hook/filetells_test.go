package hook

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// A host that tells only in its file that a compaction is over, and goes on working
// meanwhile: nothing is handed over before, and nothing is taken for a failure; then
// the first call that a model reads has it, and no other.
func TestCopilotFileTells(t *testing.T) {
	t.Parallel()
	for _, carrier := range []string{"user-prompt-submit", "post-tool-use"} {
		t.Run(carrier, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			path := p.write(".copilot/session-state/s1/events.jsonl", strings.Join([]string{
				`{"type":"session.start","data":{"sessionId":"s1","copilotVersion":"1.0.102","context":{"cwd":"/p"}},"id":"1","timestamp":"2026-03-01T11:00:00.000Z"}`,
				`{"type":"user.message","data":{"content":"Please speed up the parser, and keep scanToken."},"id":"2","timestamp":"2026-03-01T11:00:01.000Z"}`,
				`{"type":"assistant.message","data":{"content":"scanToken is in lexer.go.","toolRequests":[]},"id":"3","timestamp":"2026-03-01T11:00:02.000Z"}`,
				"",
			}, "\n"))
			on := `"transcript_path":` + string(mustJSON(t, path))
			input := map[string]string{"user-prompt-submit": `"prompt":"and now?"`, "post-tool-use": `"tool_name":"Bash","tool_input":{"command":"ls"},"tool_result":{"text_result_for_llm":"a"}`}[carrier]
			p.call("user-prompt-submit", "copilot", `"prompt":"Please speed up the parser, and keep scanToken."`)
			p.call("stop", "copilot", on)
			if out, _ := p.call("pre-compact", "copilot", on+`,"trigger":"auto"`); out != "" {
				t.Errorf("pre-compact prints %s", out)
			}
			if out, _ := p.call(carrier, "copilot", input); strings.Contains(out, "overtone-packet") {
				t.Errorf("handed over before the compaction was over: %s", out)
			}
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(f, `{"type":"session.compaction_complete","data":{"success":true,"summaryContent":"The parser."},"id":"9","timestamp":%q}`+"\n", p.now.Format("2006-01-02T15:04:05.000Z"))
			f.Close()
			p.now = p.now.Add(time.Second)
			// A sub-agent's call is not read by the main model.
			if out, _ := p.call(carrier, "copilot", input+`,"agent_id":"a1","parent_agent_id":"s1"`); out != "" {
				t.Errorf("an agent is told %s", out)
			}
			out, _ := p.call(carrier, "copilot", input)
			if strings.Count(out, "<overtone-packet") != 1 || !strings.Contains(out, "scanToken") || strings.Contains(out, "not known") {
				t.Errorf("not handed over: %s", out)
			}
			for range 2 {
				if out, _ := p.call(carrier, "copilot", input); strings.Contains(out, "overtone-packet") {
					t.Errorf("handed over again: %s", out)
				}
			}
			if m := p.memory(); m.Compactions != 1 || m.Compaction.Status == "failed" {
				t.Errorf("%+v", m.Compaction)
			}
		})
	}
}
