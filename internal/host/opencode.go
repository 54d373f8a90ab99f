package host

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/plugin"
)

// opencodeHost is opencode. It calls no programs: a plugin of ours, one file of
// JavaScript, hands what happens to `overtone-hook serve` and does what that answers.
// Its sessions lie in a database, of which we keep mirrors.
var opencodeHost = Host{
	Name: Opencode, Title: "opencode", Program: "opencode", Floor: Version{1, 18, 33}, Verified: []Version{{1, 18, 33}},
	Events: []string{
		"session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "subagent-start", "pre-compact", "post-compact", "stop",
	},
	Core:       []string{"user-prompt-submit"},
	SessionEnv: []string{"OVERTONE_SESSION"},
	Delivers:   true, Loops: true, Steers: true, Mirrored: true, NoCommands: true,
	Resume: func(session string) string { return "opencode -s " + session },
	Decode: decodeOpencode, Encode: encodeOpencode,
	Sessions: SessionFiles{Dir: "opencode", Depth: 1, ByProject: true},

	SettingsCheck: "opencode-settings",
	Texts: Texts{
		Fire: message.HintFireOpencode, Next: message.InitOpencode,
	},
	dirVar: "XDG_CONFIG_HOME", dirName: ".config", dirBelow: "opencode", setup: setupOpencode,
}

// setupOpencode adds the file of the plugin, and the tools for the model to the
// settings that are there: they may be JSON with comments.
func setupOpencode(p Place) Setup {
	edits := []Edit{{
		Path: []string{"mcp", "overtone"}, Own: true, Comments: true,
		Value: `{"type":"local","command":["overtone","mcp"],"enabled":true}`,
	}}
	settings := filepath.Join(p.Dir, "opencode.json")
	if other := settings + "c"; !exists(settings) && exists(other) {
		settings = other
	}
	files := Plugin{Dir: filepath.Join(p.Dir, "plugin"), Shared: true, files: func() ([]PluginFile, error) {
		return []PluginFile{{"overtone.js", p.opencodePlugin()}}, nil
	}}
	return Setup{
		Settings: settings, Edits: edits, Plugin: files,
		bare: func() bool {
			return bytes.Contains(readSome(filepath.Join(files.Dir, "overtone.js")), []byte(noWorkflows))
		},
		Present: func(settings []byte) bool { return files.There() || Holds(settings, edits[0]) },
		outdated: func() bool {
			return files.There() && !bytes.Equal(readSome(filepath.Join(files.Dir, "overtone.js")), p.opencodePlugin())
		},
		Check: func(f File, path string) []Finding {
			return []Finding{checkHooks("opencode-settings", Warn, path, lacking(f.Before, edits), Opencode)}
		},
	}
}

// readSome is a file's content, nothing where it cannot be read.
func readSome(path string) []byte {
	data, _ := os.ReadFile(path) // that it is missing is said elsewhere
	return data
}

// noWorkflows is the line of the plugin that leaves the agents of stages out.
const noWorkflows = "const WORKFLOWS = false"

// opencodePlugin is the plugin with the program for hooks in its place.
func (p Place) opencodePlugin() []byte {
	words := p.hookCommand(Opencode, "")
	command := make([]string, len(words)-3)
	for i := range command {
		command[i] = quote(words[i])
	}
	line := []byte("const COMMAND = [" + strings.Join(command, ", ") + "]")
	text := bytes.Replace(plugin.Opencode, []byte(`const COMMAND = ["`+HookProgram+`"]`), line, 1)
	if p.NoWorkflows {
		text = bytes.Replace(text, []byte("const WORKFLOWS = true"), []byte(noWorkflows), 1)
	}
	return text
}

// OpencodeHello is what the plugin adds to the host's configuration while it runs: the
// agents of the Claude Code plugin.
func OpencodeHello() map[string]any {
	agents := map[string]any{}
	for _, a := range pluginAgents() {
		agents[pluginName+":"+a.name] = map[string]any{"mode": "subagent", "description": a.about, "prompt": a.body}
	}
	return map[string]any{"agents": agents}
}

// OpencodeAborted is the error of an answer that the user broke off.
const OpencodeAborted = "MessageAbortedError"

// decodeOpencode: the plugin sends Claude Code's fields, with the tools as this host
// names and fills them.
func decodeOpencode(event string, data []byte) Call {
	p := readPayload(event, data)
	c, t := &p.call, &p.call.Tool
	// The summary is told like the end of a sub-agent without a type.
	if event == "subagent-stop" && c.AgentType == "" {
		c.Summary = c.Answer
	}
	output := text(p.response.Get("output"))
	switch t.Kind {
	case ShellTool:
		t.Output = output
		if event == "post-tool-use-failure" {
			t.Output, t.Exit = t.Error, new(1)
		} else if exit := p.response.Get("metadata.exit"); exit.Type == gjson.Number {
			t.Exit = new(int(exit.Int()))
		}
	case EditTool, WriteTool:
		t.File = text(p.input.Get("filePath"))
		changed := patchedFiles(text(p.input.Get("patchText")))
		if event == "post-tool-use" {
			changed = append([]string{t.File}, changed...)
		}
		t.Done = edited(changed...)
	case AgentTool:
		report := output
		if inner := between(output, "<task_result>", "</task_result>"); inner != "" {
			report = strings.TrimSpace(inner)
		}
		t.Agent = Agent{
			Type: text(p.input.Get("subagent_type")), Prompt: text(p.input.Get("prompt")),
			ID: text(p.response.Get("metadata.sessionId")), Text: report,
		}
		// One that was started and has failed died, unless somebody stopped it.
		t.Agent.Died = event == "post-tool-use-failure" && t.Agent.ID != "" &&
			!p.response.Get("metadata.interrupted").Bool() && text(p.response.Get("died_of")) != OpencodeAborted
	}
	if t.Name == "todowrite" && event == "post-tool-use" {
		t.Done = []Event{PlanWritten{Steps: steps(p.input.Get("todos"), "content")}}
	}
	return p.call
}

// encodeOpencode writes what the plugin does, word for word.
func encodeOpencode(_ *Call, r Reply) []byte {
	o := slices.DeleteFunc(store.Pairs(
		"context", r.Context, "person", r.Person, "deny", r.Deny, "block", r.Block, "prompt", r.Prompt, "answer", r.Answer,
	), func(f store.Field) bool { return f.Value == "" })
	if r.Compact {
		o.Add("compact", true)
	}
	if r.Steers {
		o.Add("steers", true)
		o.Add("hold", r.Hold)
	}
	return printed(o)
}

// OpencodeEvents are what a part of a message says: a tool that has ended, in the words
// of the plugin's calls.
func OpencodeEvents(part gjson.Result) []Event {
	state, event := part.Get("state"), "post-tool-use"
	switch state.Get("status").String() {
	case "completed":
	case "error":
		event = "post-tool-use-failure"
	default:
		return nil
	}
	payload := []byte(`{}`)
	for _, f := range [][2]string{
		{"tool_name", part.Get("tool").Raw},
		{"tool_use_id", part.Get("callID").Raw},
		{"tool_input", state.Get("input").Raw},
		{"tool_response.output", state.Get("output").Raw},
		{"tool_response.metadata", state.Get("metadata").Raw},
		{"error", state.Get("error").Raw},
	} {
		if f[1] != "" {
			payload = store.SetJSON(payload, f[0], json.RawMessage(f[1]))
		}
	}
	t := decodeOpencode(event, payload).Tool
	if t.Kind != ShellTool {
		return t.Done
	}
	return []Event{CommandFinished{ID: t.ID, Observation: shellcmd.Observation{
		Line: t.Command, Output: t.Output, Exit: t.Exit, Ended: time.UnixMilli(state.Get("time.end").Int()),
	}}}
}
