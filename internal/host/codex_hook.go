package host

import (
	"strings"

	"github.com/tidwall/gjson"
)

// decodeCodex: Codex has taken over Claude Code's form, but tells neither how
// long a command ran nor how it ended.
func decodeCodex(event string, data []byte) Call {
	p := readPayload(event, data)
	t := &p.call.Tool
	switch t.Kind {
	case ShellTool:
		t.Output = shellOutput(p.response)
	case AgentTool:
		// Its answer is JSON in a text. All work in the background.
		id := gjson.Get(text(p.response), "agent_id").String()
		t.Agent = Agent{Type: text(p.input.Get("agent_type")), Prompt: text(p.input.Get("message")), Async: true, ID: id, Launched: id != ""}
	case MessageTool, HaltTool:
		t.Agent.ID = text(p.input.Get("target"))
	case WaitTool:
		t.Agent.Dead, t.Agent.Alive = codexAgentStates(text(p.response))
	}
	t.Done = codexDone(*t)
	return p.call
}

// codexAgentStates reads the answer to a wait: a word for each agent, or an object
// whose member is that word.
func codexAgentStates(answer string) (dead, alive []string) {
	gjson.Get(answer, "status").ForEach(func(id, state gjson.Result) bool {
		word := state.Str
		for key := range state.Map() {
			word = key
		}
		switch word {
		case "errored", "shutdown", "interrupted", "not_found":
			dead = append(dead, id.Str)
		case "running", "pending_init":
			alive = append(alive, id.Str)
		}
		return true
	})
	return dead, alive
}

// codexDone is what the end of a tool tells, beside a command's.
func codexDone(t Tool) []Event {
	switch t.Name {
	case "update_plan":
		return []Event{PlanWritten{Steps: steps(gjson.GetBytes(t.Input, "plan"), "step")}}
	case "apply_patch":
		return edited(patched(text(gjson.ParseBytes(t.Response)))...)
	}
	return nil
}

// patched reads the files that apply_patch says it changed.
func patched(output string) []string {
	_, list, _ := strings.Cut(output, "Success. Updated the following files:\n")
	var files []string
	for line := range strings.Lines(list) {
		if kind, file, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " "); ok {
			switch kind {
			case "A", "M", "D":
				files = append(files, file)
			}
		}
	}
	return files
}

// shellOutput is what a command printed: a text, or both of its streams.
func shellOutput(response gjson.Result) string {
	if response.Type == gjson.String {
		return response.String()
	}
	return response.Get("stdout").String() + "\n" + response.Get("stderr").String()
}
