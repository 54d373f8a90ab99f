package host

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// geminiHost is Gemini CLI. Its hooks are named in its settings and come in Claude
// Code's form, under names of their own. None tells of a compaction: its file does,
// afterwards. A sub-agent's hooks do not say that they are one's, so there are no
// stages.
var geminiHost = Host{
	Name: Gemini, Title: "Gemini CLI", Program: "gemini", Floor: Version{0, 61, 0}, Verified: []Version{{0, 61, 0}},
	Events:     []string{"session-start", "user-prompt-submit", "post-tool-use", "stop"},
	Core:       []string{"user-prompt-submit"},
	SessionEnv: []string{"GEMINI_SESSION_ID"},
	ProjectEnv: []string{"GEMINI_PROJECT_DIR"},
	Delivers:   true, NoStages: true, FileTells: true, Unannounced: true, Mirrored: true,
	Resume: func(session string) string { return "gemini --resume " + session },
	Decode: decodeGemini, Encode: encodeGemini,
	Sessions: SessionFiles{Dir: "gemini", Depth: 1, ByProject: true},

	SettingsCheck: "gemini-hooks",
	Texts: Texts{
		Fire: message.HintFireGemini, Next: message.InitGemini,
	},
	dirName: ".gemini", setup: setupGemini,
}

// geminiHooks: what is said, the tools whose results are boundaries, and the end of a
// turn. The hook before a compression comes at every request, whether there is one or
// not, and can do nothing about it.
var geminiHooks = [...]struct{ event, command, matcher string }{
	{"SessionStart", "session-start", "*"},
	{"BeforeAgent", "user-prompt-submit", "*"},
	{"AfterTool", "post-tool-use", "run_shell_command|write_file|replace|write_todos"},
	{"AfterAgent", "stop", "*"},
}

func setupGemini(p Place) Setup {
	edits := []Edit{{Path: []string{"mcpServers", "overtone"}, Value: `{"command":"overtone","args":["mcp"]}`, Own: true, Comments: true}}
	for _, h := range geminiHooks {
		command, mark := p.softLine(Gemini, h.command)
		edits = append(edits, Edit{
			Path: []string{"hooks", h.event}, Append: true, Mark: mark, Comments: true,
			Value: fmt.Sprintf(`{"matcher":%s,"hooks":[{"type":"command","name":"overtone","command":%s,"timeout":10000}]}`, quote(h.matcher), quote(command)),
		})
	}
	return Setup{
		Settings: filepath.Join(p.Dir, "settings.json"), Edits: edits,
		Check: func(f File, path string) []Finding {
			findings := []Finding{checkHooks("gemini-hooks", Broken, path, lacking(f.Before, edits), Gemini)}
			if off := p.geminiOff(f.Before, path); off != "" {
				findings = append(findings, found("gemini-off", Broken, message.DoctorHooksOff, "Gemini CLI", off).advise(message.HintHooksOff))
			}
			// A session that was resumed may be deleted at a later start.
			if keeps := gjson.GetBytes(withoutComments(f.Before), "general.sessionRetention.enabled"); keeps.Type != gjson.False {
				findings = append(findings, found("gemini-retention", Warn, message.DoctorRetention).advise(message.HintRetention))
			}
			return findings
		},
	}
}

// geminiOff is the setting that switches our hooks off: of the four files that Gemini CLI
// reads the last one that speaks of all hooks decides, and each may name single ones.
func (p Place) geminiOff(user []byte, path string) string {
	system := "/etc/gemini-cli/settings.json"
	switch runtime.GOOS {
	case "darwin":
		system = "/Library/Application Support/GeminiCli/settings.json"
	case "windows":
		system = `C:\ProgramData\gemini-cli\settings.json`
	}
	system = cmp.Or(p.Getenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH"), system)
	defaults := cmp.Or(p.Getenv("GEMINI_CLI_SYSTEM_DEFAULTS_PATH"), filepath.Join(filepath.Dir(system), "system-defaults.json"))
	var all, ours string
	for _, file := range []string{defaults, path, filepath.Join(p.Project, ".gemini", "settings.json"), system} {
		settings := user
		if file != path {
			settings = readSome(file)
		}
		c := gjson.GetBytes(withoutComments(settings), "hooksConfig")
		switch on := c.Get("enabled"); on.Type {
		case gjson.True:
			all = ""
		case gjson.False:
			all = file + ": hooksConfig.enabled = false"
		}
		if slices.ContainsFunc(c.Get("disabled").Array(), func(name gjson.Result) bool { return name.String() == "overtone" }) {
			ours = file + ": hooksConfig.disabled"
		}
	}
	return cmp.Or(all, ours)
}

func decodeGemini(event string, data []byte) Call {
	p := readPayload(event, data)
	c, t := &p.call, &p.call.Tool
	if event == "stop" {
		c.Answer = text(gjson.GetBytes(data, "prompt_response"))
		c.Prompt = ""
	}
	switch {
	case t.Kind == ShellTool:
		said := p.response.Get("llmContent")
		if said.IsArray() {
			said = said.Get("0.text")
		}
		t.Output, t.Exit = GeminiEnd(text(said))
	case t.Kind.Edits():
		t.Done = edited(t.File)
	case t.Name == "write_todos":
		t.Done = []Event{PlanWritten{Steps: steps(p.input.Get("todos"), "description")}}
	}
	return p.call
}

// GeminiEnd takes a command's output apart: "Output: one", then "Exit Code: 3", which
// is left out where it is 0, and the process group.
func GeminiEnd(answer string) (string, *int) {
	answer = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(answer, "<untrusted_context>")), "</untrusted_context>"))
	output, ok := strings.CutPrefix(answer, "Output: ")
	if !ok {
		return answer, nil
	}
	code := 0
	if i := strings.LastIndex(output, "\nProcess Group PGID: "); i >= 0 {
		output = output[:i]
	}
	if i := strings.LastIndex(output, "\nExit Code: "); i >= 0 {
		if n, err := strconv.Atoi(strings.TrimSpace(output[i+len("\nExit Code: "):])); err == nil {
			output, code = output[:i], n
		}
	}
	return output, &code
}

// encodeGemini: what the model is to read is handed on by these events; what the
// person is to read, by all of them.
func encodeGemini(in *Call, r Reply) []byte {
	var o store.Fields
	if r.Block != "" && in.Event == "user-prompt-submit" {
		o.Add("decision", "deny")
		o.Add("reason", r.Block)
	}
	o.AddText("systemMessage", r.Person)
	for _, h := range geminiHooks {
		if h.command == in.Event && r.Context != "" && in.Event != "stop" {
			o.Add("hookSpecificOutput", store.Pairs("hookEventName", h.event, "additionalContext", r.Context))
		}
	}
	return printed(o)
}
