package host

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// copilotHost is GitHub Copilot CLI. Its hooks come in Claude Code's form where
// their names do, but they answer in a form of their own, and none of them tells
// when a compaction is over.
var copilotHost = Host{
	Name: Copilot, Title: "Copilot CLI", Program: "copilot", Floor: Version{1, 0, 102}, Verified: []Version{{1, 0, 102}},
	Events:     []string{"session-start", "user-prompt-submit", "post-tool-use", "pre-compact", "stop"},
	Core:       []string{"user-prompt-submit"},
	ProjectEnv: []string{"COPILOT_PROJECT_DIR"},
	Delivers:   true, NoStages: true, FileTells: true, NoPerson: true, NoCommands: true,
	Resume: func(session string) string { return "copilot --resume=" + session },
	Decode: decodeCopilot, Encode: encodeCopilot, TurnOver: copilotOver,
	Sessions: SessionFiles{Dir: "session-state", Depth: 1, Prefix: "events"},

	SettingsCheck: "copilot-hooks",
	Texts: Texts{
		Fire: message.HintFireCopilot, Next: message.InitCopilot, NoClone: message.NoCopilotClone,
	},
	dirVar: "COPILOT_HOME", dirName: ".copilot", setup: setupCopilot,
}

// copilotHooks: a compaction from its beginning to the packet, and the tools whose
// results are boundaries.
var copilotHooks = [...]struct{ event, command string }{
	{"SessionStart", "session-start"},
	{"UserPromptSubmit", "user-prompt-submit"},
	{"PostToolUse", "post-tool-use"},
	{"PreCompact", "pre-compact"},
	{"Stop", "stop"},
}

// setupCopilot: every file in its folder of hooks counts, so ours is one of our own. No
// setting allows a tool everywhere, but a hook may, without a process for any other tool;
// what the user denies stays denied.
func setupCopilot(p Place) Setup {
	edits := []Edit{{Path: []string{"version"}, Value: "1", Own: true, Last: true}}
	for _, h := range copilotHooks {
		command, mark := p.softLine(Copilot, h.command)
		edits = append(edits, Edit{
			Path: []string{"hooks", h.event}, Append: true, Mark: mark,
			Value: fmt.Sprintf(`{"type":"command","command":%s,"timeout":10}`, quote(command)),
		})
	}
	edits = append(edits, Edit{
		Path: []string{"hooks", "PermissionRequest"}, Append: true, Mark: "^overtone-",
		Value: `{"matcher":"^overtone-(recall|packet|status)$","type":"command","command":"echo '{\"behavior\":\"allow\"}'","timeout":10}`,
	})
	tools := Beside{filepath.Join(p.Dir, "mcp-config.json"), []Edit{{
		Path: []string{"mcpServers", "overtone"}, Value: `{"type":"local","command":"overtone","args":["mcp"],"tools":["*"]}`, Own: true,
	}}}
	return Setup{
		Settings: filepath.Join(p.Dir, "hooks", "overtone.json"), Edits: edits, Beside: []Beside{tools},
		Present: func(settings []byte) bool { return len(lacking(settings, edits[1:])) < len(edits)-1 },
		Check: func(f File, path string) []Finding {
			lacks := append(lacking(f.Before, edits), lacking(readSome(tools.Path), tools.Edits)...)
			return []Finding{checkHooks("copilot-hooks", Broken, path, lacks, Copilot)}
		},
	}
}

// copilotOver: the host writes its own hooks down, behind what they are told of.
func copilotOver(line []byte) (over, told bool) {
	switch gjson.GetBytes(line, "type").String() {
	case "hook.start":
		over = gjson.GetBytes(line, "data.hookType").String() == "agentStop"
		return over, over
	case "user.message":
		return false, true
	}
	return false, false
}

// decodeCopilot: a sub-agent calls under a session of its own and names the one
// that it works for.
func decodeCopilot(event string, data []byte) Call {
	p := readPayload(event, data)
	c := &p.call
	if parent := text(gjson.GetBytes(data, "parent_agent_id")); parent != "" && c.AgentID != "" {
		c.Session = parent
	}
	t := &c.Tool
	switch {
	case t.Kind == ShellTool:
		t.Output, t.Exit = copilotEnd(text(gjson.GetBytes(data, "tool_result.text_result_for_llm")))
	case t.Kind.Edits():
		t.File = cmp.Or(t.File, text(p.input.Get("path")))
		t.Done = edited(t.File)
	}
	return p.call
}

// copilotEnd takes the exit status off a command's output, which stands in its
// last line: "<shellId: 0 completed with exit code 1>".
func copilotEnd(output string) (string, *int) {
	i := strings.LastIndex(output, "<shellId: ")
	if i < 0 {
		return output, nil
	}
	_, code, ok := strings.Cut(output[i:], " completed with exit code ")
	code, _, _ = strings.Cut(code, ">")
	n, err := strconv.Atoi(code)
	if !ok || err != nil {
		return output, nil
	}
	return strings.TrimSuffix(output[:i], "\n"), &n
}

// encodeCopilot: what the model is to read stands at the top; only these events
// hand it on.
func encodeCopilot(in *Call, r Reply) []byte {
	if r.Context != "" && slices.Contains([]string{"session-start", "user-prompt-submit", "post-tool-use"}, in.Event) {
		return store.EncodeJSON(store.Pairs("additionalContext", r.Context))
	}
	return nil
}
