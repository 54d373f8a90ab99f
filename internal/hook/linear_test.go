package hook

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/eval/cost"
)

// long are the fields of a hook's input that can be as long as somebody likes; %s is
// where the text stands.
var long = map[string][]string{
	"user-prompt-submit": {`"prompt":%s`},
	"pre-tool-use": {
		`"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":%s}`,
		`"tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"a","content":%s}`,
		`"tool_name":"Read","tool_use_id":"t1","tool_input":{"file_path":%s}`,
		`"tool_name":"Agent","tool_use_id":"t1","tool_input":{"subagent_type":"overtone:developer","prompt":%s}`,
		`"agent_id":"a1","agent_type":"overtone:tester","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":%s}`,
	},
	"post-tool-use": {
		`"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":%s},"tool_response":{"stdout":"x"}`,
		`"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"git commit -m x"},"tool_response":{"stdout":%s}`,
		`"tool_name":"Agent","tool_use_id":"t1","tool_input":{"subagent_type":"overtone:developer","prompt":"go"},"tool_response":{"status":"completed","agentId":"a1","content":[{"type":"text","text":%s}]}`,
		`"tool_name":"Read","tool_use_id":"t1","tool_input":{},"tool_response":{"content":%s}`,
		`"tool_name":"TodoWrite","tool_use_id":"t1","tool_input":{"todos":[{"content":%s,"status":"pending"}]},"tool_response":{}`,
	},
	"post-tool-use-failure": {`"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make"},"error":%s`},
	"post-tool-batch":       {`"tool_calls":[{"tool_name":"Read","tool_use_id":"t1","tool_input":{},"tool_response":%s}]`},
	"subagent-start":        {`"agent_id":"a1","agent_type":"overtone:developer","prompt":%s`},
	"subagent-stop":         {`"agent_id":"a1","agent_type":"overtone:developer","last_assistant_message":%s`, `"agent_id":"a1","agent_type":"","last_assistant_message":%s`},
	"stop":                  {`"stop_hook_active":false,"last_assistant_message":%s`},
	"stop-failure":          {`"error":%s,"last_assistant_message":"x"`, `"error":"rate_limit","last_assistant_message":%s`},
	"pre-compact":           {`"trigger":"manual","custom_instructions":%s`},
	"post-compact":          {`"trigger":"auto","compact_summary":%s`},
}

// units are what long texts consist of.
var units = map[string]string{
	"words": "a word of `it` ", "no blank": "deadbeef", "lines": "2026-01-01 12:00:01 error: x\n", "short lines": "x\n", "Chinese": "這是一行。", "paths": "/src/a_b/c.go:12 ",
	"marks": `<!-- PIPELINE_ROUTE: {"verdict" -->`, "brackets": "[workflow:", "elements": "<system-reminder>x</system-reminder>", "commands": "cd x && git commit -m 'y'; ",
}

// work is what a call allocates, and the processor time that it takes.
func work(f func()) (bytes uint64, took time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cost.CPU()
	f()
	took = cost.CPU() - began
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}

// Sixteen times the input is about sixteen times the work, in every field of every hook:
// what is allocated, and the time of the processor, which is compared coarsely. A pass for
// every byte would take sixteen times as much again. The host, and whoever waits for the
// session's lock, wait for it.
func TestLinearHooks(t *testing.T) {
	for event, fields := range long {
		for i, field := range fields {
			for name, unit := range units {
				hosts := []string{"claude-code"}
				if name == "no blank" || name == "short lines" { // what is done with it is the same on all
					hosts = []string{"claude-code", "codex", "", "copilot", "gemini", "opencode"}
				}
				call := func(size int) func() {
					p := newPlace(t)
					p.call("user-prompt-submit", "claude-code", `"prompt":"[workflow:quick] go"`)
					text, err := json.Marshal(strings.Repeat(unit, size/len(unit)))
					if err != nil {
						t.Fatal(err)
					}
					in := fmt.Sprintf(field, text)
					return func() {
						for _, h := range hosts {
							p.call(event, h, in)
						}
					}
				}
				call(1000)() // what is built on first use
				part, small := work(call(32 << 10))
				whole, took := work(call(512 << 10))
				if whole > 24*part { // buffers grow in steps
					t.Errorf("%s, field %d, %s: %d bytes for 512 KiB, %d for a sixteenth of it", event, i, name, whole, part)
				}
				if took > 40*small+slower*time.Duration(len(hosts))*50*time.Millisecond {
					t.Errorf("%s, field %d, %s: %v for 512 KiB, %v for a sixteenth of it", event, i, name, took, small)
				}
			}
		}
	}
}

// A megabyte that somebody pastes while a workflow is at work takes a tenth of a second
// of the processor at most.
func TestLinearPrompts(t *testing.T) {
	for name, unit := range units {
		p := newPlace(t)
		p.call("user-prompt-submit", "claude-code", `"prompt":"[workflow:quick] go"`)
		text, err := json.Marshal(strings.Repeat(unit, 1<<20/len(unit)))
		if err != nil {
			t.Fatal(err)
		}
		in := fmt.Sprintf(`"prompt":%s`, text)
		best := time.Hour
		for range 3 {
			_, took := work(func() { p.call("user-prompt-submit", "claude-code", in) })
			best = min(best, took)
		}
		if best > slower*100*time.Millisecond {
			t.Errorf("%s: %v", name, best)
		}
	}
}
