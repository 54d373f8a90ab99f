//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Call is one hook call the recorder saw.
type Call struct {
	Args  []string
	Event string
	N     int
	Stdin json.RawMessage
	Env   []string
	Input HookInput
}

// HookInput is the part of a hook's stdin the tests look at.
type HookInput struct {
	HookEventName        string          `json:"hook_event_name"`
	SessionID            string          `json:"session_id"`
	Source               string          `json:"source"`
	Reason               string          `json:"reason"`
	Prompt               string          `json:"prompt"`
	ToolName             string          `json:"tool_name"`
	ToolInput            json.RawMessage `json:"tool_input"`
	ToolResponse         json.RawMessage `json:"tool_response"`
	ToolUseID            string          `json:"tool_use_id"`
	AgentID              string          `json:"agent_id"`
	AgentType            string          `json:"agent_type"`
	LastAssistantMessage string          `json:"last_assistant_message"`
	StopHookActive       bool            `json:"stop_hook_active"`
	Trigger              string          `json:"trigger"`
	Error                string          `json:"error"`
}

// Calls returns what the recorder saw so far.
func (w *World) Calls() []Call {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Records, "calls.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	var out []Call
	for line := range bytes.Lines(data) {
		var c Call
		if err := json.Unmarshal(line, &c); err != nil {
			w.t.Fatalf("recorder's line %s: %v", line, err)
		}
		if c.Stdin != nil {
			if err := json.Unmarshal(c.Stdin, &c.Input); err != nil {
				w.t.Fatalf("hook stdin %s: %v", c.Stdin, err)
			}
		}
		out = append(out, c)
	}
	return out
}

// CallsOf returns the calls of one event.
func (w *World) CallsOf(event string) []Call {
	w.t.Helper()
	var out []Call
	for _, c := range w.Calls() {
		if c.Event == event {
			out = append(out, c)
		}
	}
	return out
}

// Answer makes the recorder print v (JSON unless it is a string) for an event;
// "stop.1" answers only the first call.
func (w *World) Answer(event string, v any) {
	w.t.Helper()
	text, ok := v.(string)
	if !ok {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			w.t.Fatal(err)
		}
		text = b.String()
	}
	name := filepath.Join(w.Records, event+".out")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// specific builds hook output with a hookSpecificOutput.
func specific(event string, fields map[string]any) map[string]any {
	fields["hookEventName"] = event
	return map[string]any{"hookSpecificOutput": fields}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
