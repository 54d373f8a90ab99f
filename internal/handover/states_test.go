package handover

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Parts of a session, as each host writes them. A session is a prompt and some of these.
var hostParts = map[transcript.Host]map[string]string{
	transcript.Claude: {
		"prompt":      `{"type":"user","uuid":"u","cwd":"/w","sessionId":"s","message":{"role":"user","content":"fix the parser"}}`,
		"call":        `{"type":"assistant","uuid":"a","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make"}}]}}`,
		"result":      `{"type":"user","uuid":"r","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}`,
		"words":       `{"type":"assistant","uuid":"b","message":{"role":"assistant","content":[{"type":"text","text":"Shall I push?"}]}}`,
		"question":    `{"type":"assistant","uuid":"q","message":{"role":"assistant","content":[{"type":"tool_use","id":"q","name":"AskUserQuestion","input":{"questions":[{"question":"Which port?"}]}}]}}`,
		"interrupted": `{"type":"user","uuid":"i","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
		"end":         `{"type":"system","subtype":"turn_duration","durationMs":5}`,
	},
	transcript.Codex: {
		"prompt": `{"timestamp":"2026-01-02T10:00:00Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix the parser"}]}}` + "\n" +
			`{"type":"event_msg","payload":{"type":"user_message","message":"fix the parser"}}`,
		"call":        `{"type":"response_item","payload":{"type":"function_call","call_id":"t","name":"exec_command","arguments":"{\"cmd\":\"make\"}"}}`,
		"result":      `{"type":"response_item","payload":{"type":"function_call_output","call_id":"t","output":"ok"}}`,
		"words":       `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Shall I push?"}]}}`,
		"question":    `{"type":"response_item","payload":{"type":"function_call","call_id":"q","name":"request_user_input","arguments":"{\"questions\":[{\"question\":\"Which port?\"}]}"}}`,
		"interrupted": `{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`,
		"end":         `{"type":"event_msg","payload":{"type":"task_complete"}}`,
	},
	transcript.Copilot: {
		"prompt": `{"type":"session.start","timestamp":"2026-01-02T10:00:00Z","id":"1","data":{"sessionId":"s","context":{"cwd":"/w"}}}` + "\n" +
			`{"type":"user.message","id":"2","data":{"content":"fix the parser"}}`,
		"call":        `{"type":"assistant.message","id":"3","data":{"content":"","toolRequests":[{"toolCallId":"t","name":"bash","arguments":{"command":"make"}}]}}`,
		"result":      `{"type":"tool.execution_complete","id":"4","data":{"toolCallId":"t","success":true,"result":{"content":"ok"}}}`,
		"words":       `{"type":"assistant.message","id":"5","data":{"content":"Looking.","toolRequests":[{"toolCallId":"w","name":"bash","arguments":{"command":"ls"}}]}}`,
		"question":    `{"type":"assistant.message","id":"6","data":{"content":"","toolRequests":[{"toolCallId":"q","name":"ask_user","arguments":{"question":"Which port?"}}]}}`,
		"interrupted": `{"type":"abort","id":"7","data":{}}`,
		"end":         `{"type":"assistant.message","id":"8","data":{"content":"Shall I push?"}}`,
	},
}

// told are the same parts as hosts tell them that keep no file of lines.
var told = map[string]transcript.HostMessage{
	"prompt":      {ID: "m1", Blocks: []transcript.HostBlock{{Text: "fix the parser"}}},
	"call":        {ID: "m2", Agent: true, Blocks: []transcript.HostBlock{{ID: "t", Tool: "bash", Input: json.RawMessage(`{"command":"make"}`)}}},
	"result":      {ID: "m3", Agent: true, Blocks: []transcript.HostBlock{{ID: "t", Tool: "bash", Input: json.RawMessage(`{"command":"make"}`), Answered: true, Answer: "ok"}}},
	"words":       {ID: "m4", Agent: true, Blocks: []transcript.HostBlock{{Text: "Looking."}, {ID: "w", Tool: "bash", Input: json.RawMessage(`{"command":"ls"}`)}}},
	"question":    {ID: "m5", Agent: true, Blocks: []transcript.HostBlock{{ID: "q", Tool: "question", Input: json.RawMessage(`{"question":"Which port?"}`)}}},
	"interrupted": {ID: "m6", Agent: true, Stopped: true, Blocks: []transcript.HostBlock{{Text: "Look"}}},
	"end":         {ID: "m7", Agent: true, Blocks: []transcript.HostBlock{{Text: "Shall I push?"}}},
}

// Every state on every host, from the parts of its own files, and what the last line says.
func TestStatesOfEveryHost(t *testing.T) {
	t.Parallel()
	cases := []struct {
		parts  string
		manual bool
		state  compact.State
		last   message.Text
	}{
		{"prompt", false, compact.StateCalled, message.HandoverCalled},
		{"prompt call", false, compact.StateUnderWay, message.HandoverGo},
		{"prompt call result", false, compact.StateUnderWay, message.HandoverGo},
		{"prompt call result words", false, compact.StateUnderWay, message.HandoverGo},
		{"prompt question", false, compact.StateAsked, message.HandoverAsk},
		{"prompt call interrupted", false, compact.StateInterrupted, message.HandoverNextWord},
		{"prompt call interrupted prompt", false, compact.StateCalled, message.HandoverCalled},
		{"prompt call result words end", false, compact.StateTurnOver, message.HandoverNextWord},
		{"prompt call result words end prompt", false, compact.StateCalled, message.HandoverCalled},
		{"prompt call result words", true, compact.StateTurnOver, message.HandoverNextWord},
		{"prompt", true, compact.StateTurnOver, message.HandoverNextWord},
		{"", false, compact.StateUnknown, message.Text{}},
	}
	for _, host := range []transcript.Host{transcript.Claude, transcript.Codex, transcript.Copilot, transcript.Opencode, transcript.Gemini} {
		for _, c := range cases {
			r := NewRecord("/w")
			add := func(e *transcript.Event) { r.Add(e, e.Off) }
			parts := strings.Fields(c.parts)
			if lines, ok := hostParts[host]; ok {
				var text strings.Builder
				for _, p := range parts {
					text.WriteString(lines[p] + "\n")
				}
				if _, err := transcript.Events(t.Context(), strings.NewReader(text.String()), 0, host, transcript.Want{}, add); err != nil {
					t.Fatal(err)
				}
			} else if len(parts) > 0 {
				m := transcript.Mirror{Path: filepath.Join(t.TempDir(), "s.jsonl"), Host: host, Session: "s", CWD: "/w"}
				var list []transcript.HostMessage
				for i, p := range parts {
					if i+1 < len(parts) && p == "call" && parts[i+1] == "result" {
						continue // one message holds both
					}
					one := told[p]
					one.ID += strings.Repeat("x", i)
					list = append(list, one)
				}
				if err := m.Write(list); err != nil {
					t.Fatal(err)
				}
				if err := transcript.AllEvents(context.Background(), m.Path, add); err != nil {
					data, _ := os.ReadFile(m.Path)
					t.Fatalf("%v: %s", err, data)
				}
			}
			h := Handover{ID: "x", Session: "s", Record: r, Work: r.Work(), Lang: message.EN, Manual: c.manual}
			now, text := h.Situation(), h.Text()
			last, _, _ := strings.Cut(c.last.EN, "%s")
			if now.State != c.state || last != "" && !strings.Contains(text, last) || last == "" && strings.Contains(text, "**") {
				t.Errorf("%s: %q is %s (%s), want %s:\n%s", host, c.parts, now.State, now.Sign, c.state, text)
			}
			if len(parts) > 0 && now.Request != "fix the parser" {
				t.Errorf("%s: %q: the request is %q", host, c.parts, now.Request)
			}
		}
	}
}
