package host

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// Plain stands for a call by no host: Claude Code's input, or either host's tools,
// and the specifications' output.
func Plain() *Host {
	return &Host{
		Events: claudeHost.Events, SessionEnv: claudeHost.SessionEnv, ProjectEnv: claudeHost.ProjectEnv,
		Loops: true,
		Decode: func(event string, data []byte) Call {
			c := decodeClaude(event, data)
			if c.Tool.Done == nil {
				c.Tool.Done = codexDone(c.Tool)
			}
			return c
		},
		Encode: encodePlain,
	}
}

func decodeClaude(event string, data []byte) Call {
	p := readPayload(event, data)
	c := &p.call
	// The summariser ends like a sub-agent without a type. It alone tells the
	// summary before the session starts again; PostCompact comes after that.
	if event == "subagent-stop" && c.AgentType == "" {
		c.Summary = c.Answer
	}
	c.Summary = summaryText(c.Summary)
	c.Note = strings.HasPrefix(strings.TrimSpace(c.Prompt), "<task-notification>")
	t, in, resp := &c.Tool, p.input, p.response
	// A failure is an event of its own.
	failed := event == "post-tool-use-failure"
	switch t.Kind {
	case ShellTool:
		if t.Output = shellOutput(resp); failed {
			t.Output = t.Error
		}
		if failed || resp.Type != gjson.String {
			t.Exit = claudeExit(t.Output, failed, resp)
		}
		t.RunsOn = resp.Get("backgroundTaskId").Exists()
	case AgentTool:
		t.Agent = Agent{
			Type: text(in.Get("subagent_type")), Prompt: in.Get("prompt").String(), Async: in.Get("run_in_background").Bool(),
			ID: resp.Get("agentId").String(), Launched: resp.Get("status").String() == "async_launched",
			Text: agentText(resp.Get("content")),
		}
		t.Agent.Died = strings.HasPrefix(t.Agent.Text, "API Error") && resp.Get("totalTokens").Int() == 0
	case MessageTool:
		t.Agent.ID = text(resp.Get("resumedAgentId"))
	case HaltTool:
		t.Agent.ID = text(in.Get("task_id"))
	}
	t.Done = claudeDone(t.Name, in, resp, failed)
	return p.call
}

// agentText is what an agent answered, without the list of its tools that newer
// versions put in front.
func agentText(content gjson.Result) string {
	said := contentText(content)
	if _, after, ok := strings.Cut(said, "</tools-used-before-summary>"); ok && strings.HasPrefix(said, "<tools-used-before-summary>") {
		return strings.TrimLeft(after, "\n")
	}
	return said
}

// claudeExit is the exit status of a command, nil while it may still run.
func claudeExit(said string, failed bool, result gjson.Result) *int {
	switch {
	case failed:
		return new(exitCode(said))
	case result.Get("interrupted").Bool() || result.Get("backgroundTaskId").Exists():
		return nil
	}
	return new(0)
}

// claudeEnd is how a command ended, by its line in the session's file. What has no
// exit status was refused or broken off.
func claudeEnd(said string, failed bool, result json.RawMessage) (string, *int) {
	resp := gjson.ParseBytes(result)
	switch {
	case failed && !strings.HasPrefix(said, "Exit code "):
		return said, nil
	case failed || !resp.IsObject():
		return said, claudeExit(said, failed, resp)
	}
	return shellOutput(resp), claudeExit(said, false, resp)
}

// claudeBackgroundEnd is how such a command ended. The note has a word of its status at the
// end of a sentence that repeats the command, and names the file of its output; who was
// stopped has no status.
func claudeBackgroundEnd(note string) (output string, exit *int) {
	said := between(note, "<summary>", "</summary>")
	if i := strings.LastIndex(said, "exit code "); i > strings.LastIndexByte(said, '"') {
		exit = new(exitCode("Exit code " + strings.TrimRight(said[i+len("exit code "):], ")")))
	}
	data, err := config.ReadFile(between(note, "<output-file>", "</output-file>"), maxTaskOutput)
	if err != nil {
		return "", nil // a status without the words may mean anything
	}
	return string(data), exit
}

// maxTaskOutput is how much of a command's output is read; of more there is no
// telling what it means.
const maxTaskOutput = 64 << 10

func between(s, open, end string) string {
	_, s, ok := strings.Cut(s, open)
	if i := strings.LastIndex(s, end); ok && i >= 0 {
		return s[:i]
	}
	return ""
}

// summaryText is a summary without its writer's notes to himself.
func summaryText(text string) string {
	if _, rest, ok := strings.Cut(text, "</analysis>"); ok {
		text = rest
	}
	if _, inner, ok := strings.Cut(text, "<summary>"); ok {
		text, _, _ = strings.Cut(inner, "</summary>")
	}
	return strings.TrimSpace(text)
}

// claudeDone is what the end of a tool tells, beside a command's. One that failed
// has changed nothing.
func claudeDone(name string, input, result gjson.Result, failed bool) []Event {
	events := claudeChanges(name, input, result)
	if failed && events != nil {
		return []Event{ToolActivity{}}
	}
	return events
}

func claudeChanges(name string, input, result gjson.Result) []Event {
	switch name {
	case "TodoWrite":
		return []Event{PlanWritten{Steps: steps(input.Get("todos"), "content")}}
	case "TaskCreate":
		id := cmp.Or(text(result.Get("task.id")), result.Get("id").String())
		return []Event{TaskCreated{ID: id, Text: text(input.Get("subject"))}}
	case "TaskUpdate":
		status := text(input.Get("status"))
		return []Event{TaskUpdated{
			ID: input.Get("taskId").String(), Text: text(input.Get("subject")), Status: Status(status), Deleted: status == "deleted",
		}}
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
		file := cmp.Or(text(input.Get("file_path")), text(input.Get("notebook_path")))
		return []Event{FileChanged{File: file}}
	}
	return nil
}

// steps reads a plan that is written as a whole; what is no list has no step.
func steps(list gjson.Result, key string) []Step {
	var out []Step
	if !list.IsArray() {
		return out
	}
	for _, s := range list.Array() {
		out = append(out, Step{ID: s.Get("id").String(), Text: s.Get(key).String(), Status: Status(s.Get("status").String())})
	}
	return out
}
