package host

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// codexHost is Codex CLI. Its sub-agents are threads of their own.
var codexHost = Host{
	Name: Codex, Title: "Codex", Program: "codex", Floor: Version{0, 166, 0}, Verified: []Version{{0, 166, 0}, {0, 169, 0}},
	Events: []string{
		"session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "subagent-start", "subagent-stop", "pre-compact", "post-compact", "stop",
	},
	SessionEnv: []string{"CODEX_SESSION_ID", "CODEX_THREAD_ID"},
	Core:       []string{"user-prompt-submit"},
	Delivers:   true, Watched: true, AsksAgents: true, Loops: true, BriefsAtStart: true, WaitTool: "wait_agent", CloseTool: "close_agent", NoCommands: true,
	Resume: func(session string) string { return "codex resume " + session },
	Decode: decodeCodex, Encode: encodeHooks, Plans: codexPlans, AgentFile: codexAgentFile, Aborted: codexAborted,
	Sessions: SessionFiles{Dir: "sessions", Depth: 3, Prefix: "rollout-", Archive: "archived_sessions"},

	SettingsCheck: "codex-hooks",
	Texts: Texts{
		Fire: message.HintFireCodex, Next: message.InitCodex, NextAuto: message.InitCodexRun, Changed: message.WarnCodexTrust,
	},
	dirVar: "CODEX_HOME", dirName: ".codex", setup: setupCodex,
}

// codexPlans: hooks are told how commands are approved, and not in which mode the turn is.
func codexPlans(line []byte) (plans, told bool) {
	mode := gjson.GetBytes(line, "payload.collaboration_mode_kind").String()
	return mode == "plan", mode != ""
}

// codexAgentFile: files lie in the folder of the day on which their thread began.
func codexAgentFile(main, agent string, now time.Time) string {
	day := filepath.Dir(main)
	for _, dir := range []string{day, filepath.Join(day, "..", "..", "..", now.Format("2006"), now.Format("01"), now.Format("02"))} {
		if found, err := filepath.Glob(filepath.Join(dir, "rollout-*-"+agent+".jsonl")); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

func codexAborted(line []byte) (aborted, told bool) {
	switch gjson.GetBytes(line, "payload.type").String() {
	case "turn_aborted":
		return true, true
	case "task_started", "task_complete":
		return false, true
	}
	return false, false
}

// CodexSocket is where the daemon that codex starts by itself listens, below
// Codex's folder.
func CodexSocket(dir string) string {
	return filepath.Join(dir, "app-server-control", "app-server-control.sock")
}

func setupCodex(p Place) Setup {
	edits := p.codexEdits()
	return Setup{
		Settings: filepath.Join(p.Dir, "hooks.json"), Edits: edits,
		Plugin: Plugin{Dir: filepath.Join(p.Dir, "agents", pluginName), files: p.codexAgents, Shared: true},
		Blocks: []Block{{
			Path: filepath.Join(p.Dir, "config.toml"), Key: []string{"mcp_servers", "overtone"}, Text: codexTools,
			Marks: []string{"# by overtone init", "# >>> overtone >>>", "# <<< overtone <<<"},
		}},
		Check: func(f File, path string) []Finding {
			return checkCodex(f, path, readSome(filepath.Join(p.Dir, "config.toml")), edits) // a missing file approves nothing
		},
	}
}

// codexTools let the model ask back what a compaction took away. Codex hands its
// environment on by name.
const codexTools = `[mcp_servers.overtone]
command = "overtone"
args = ["mcp"]
env_vars = ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "OVERTONE_HOME"]
`

// checkCodex looks for the hooks, and for the user's approval of them.
func checkCodex(f File, path string, configTOML []byte, edits []Edit) []Finding {
	findings := []Finding{checkHooks("codex-hooks", Broken, path, lacking(f.Before, edits), Codex)}
	if codexSays(configTOML, "features.hooks=false") {
		findings = append(findings, found("codex-off", Warn, message.DoctorHooksOff, "Codex", "config.toml: [features] hooks = false").advise(message.HintHooksOff))
	}
	findings = append(findings, found("codex-route", Note, message.DoctorCodexRoute))
	if !codexSays(configTOML, "tools.update_plan.enabled=true", "tools.update_plan={enabled=true}") {
		findings = append(findings, found("codex-plan", Note, message.DoctorNoPlan).advise(message.HintPlan))
	}
	switch approved, total := codexApproved(f.Path, f.Before, configTOML); {
	case approved < total:
		findings = append(findings, found("codex-trust", Warn, message.DoctorPending, total-approved, total).advise(message.HintApprove))
	case total > 0:
		findings = append(findings, found("codex-trust", Fine, message.DoctorApproved, total))
	}
	return findings
}

// codexSays tells whether Codex's settings have one of these lines, each with the
// name of its table before it and without spaces.
func codexSays(configTOML []byte, lines ...string) bool {
	table := ""
	for line := range strings.Lines(string(configTOML)) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.Join(strings.Fields(line), "")
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(line, "[]") + "."
			continue
		}
		if slices.Contains(lines, table+line) {
			return true
		}
	}
	return false
}

// codexHook is one event that Codex reports. One that speaks gives the model
// texts that must arrive whole.
type codexHook struct {
	event, command, matcher string
	speaks                  bool
}

// codexHooks: a compaction from its beginning to the packet, the tools whose
// results are boundaries, and what stages of a workflow are handed over and end by.
// Sessions otherwise start and end unreported.
var codexHooks = [...]codexHook{
	{"SessionStart", "session-start", "compact|resume", true},
	{"UserPromptSubmit", "user-prompt-submit", "", true},
	{"PreToolUse", "pre-tool-use", "Bash|apply_patch|spawn_agent", false},
	{"PostToolUse", "post-tool-use", "Bash|apply_patch|update_plan|spawn_agent|.*wait_agent|.*send_input|.*close_agent", true},
	{"SubagentStart", "subagent-start", "", true},
	{"SubagentStop", "subagent-stop", "", false},
	{"PreCompact", "pre-compact", "", false},
	{"PostCompact", "post-compact", "", false},
	{"Stop", "stop", "", false},
}

// codexAgents are the plugin's agents in Codex's own form.
func (p Place) codexAgents() ([]PluginFile, error) {
	var list []PluginFile
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, a := range pluginAgents() {
		head := "name = " + quote(pluginName+":"+a.name) + "\ndescription = " + quote(a.about) + "\ndeveloper_instructions = \"\"\"\n"
		list = append(list, PluginFile{a.name + ".toml", []byte(head + quoted.Replace(a.body+"\n\n"+codexNote) + "\n\"\"\"\n")})
	}
	if p.NoWorkflows {
		return nil, nil
	}
	return list, nil
}

// codexNote is what the agents are told there.
const codexNote = `## In Codex

The Node Context stands in a message of its own before your task. There is no Write tool: put the report into your last message, above the conclusion and the marker; it is saved for you, and you may be asked to repeat the conclusion alone.`

// codexEdits add the hooks to hooks.json. Each goes to the end of its event:
// Codex remembers the user's approval of a hook by its place in the list.
func (p Place) codexEdits() []Edit {
	var edits []Edit
	for _, h := range codexHooks {
		command, mark := p.hookLine(Codex, h.command)
		matcher := ""
		if h.matcher != "" {
			matcher = `"matcher":` + quote(h.matcher) + `,`
		}
		limit := ""
		if h.speaks {
			// Beyond 2,500 tokens Codex would cut the middle out and name a
			// file instead; a packet has bounds of its own.
			limit = `,"additionalContextLimit":0`
		}
		edits = append(edits, Edit{
			Path: []string{"hooks", h.event}, Append: true, Mark: mark,
			Value: fmt.Sprintf(`{%s"hooks":[{"type":"command","command":%s,"timeout":10%s}]}`, matcher, quote(command), limit),
		})
	}
	return edits
}

// codexApproved counts which of the hooks in hooks.json (at path) the user has
// decided about, according to Codex's config.toml. An approval that was given while
// the hook called overtone itself does not count for the program for hooks. Nothing
// is ever approved from here.
func codexApproved(path string, hooks, configTOML []byte) (approved, total int) {
	if !store.ValidJSON(hooks) {
		return 0, 0
	}
	for _, h := range codexHooks {
		for i, group := range gjson.GetBytes(hooks, "hooks."+h.event).Array() {
			for j, hook := range group.Get("hooks").Array() {
				if command := hook.Get("command").String(); !strings.Contains(command, "overtone") || !strings.HasSuffix(command, " "+h.command+" --host codex") {
					continue
				}
				total++
				key := fmt.Sprintf("%s:%s:%d:%d", path, strings.ReplaceAll(h.command, "-", "_"), i, j)
				_, decided, found := strings.Cut(string(configTOML), key)
				decided, _, _ = strings.Cut(decided, "\n[")
				earlier := strings.Join(Place{}.hookCommand(Codex, h.command), " ")
				if found && (hook.Get("command").String() == earlier || !strings.Contains(decided, codexHash(h.command, group, hook, earlier))) {
					approved++
				}
			}
		}
	}
	return approved, total
}

// codexHash is what Codex remembers of a hook that the user approved, had it this
// command.
func codexHash(event string, group, hook gjson.Result, command string) string {
	handler, _ := hook.Value().(map[string]any) // keys are sorted when it is encoded
	if handler == nil {
		return ""
	}
	handler["async"], handler["command"] = false, command
	identity := map[string]any{"event_name": strings.ReplaceAll(event, "-", "_"), "hooks": []any{handler}}
	if m := group.Get("matcher"); m.Exists() {
		identity["matcher"] = m.String()
	}
	return "sha256:" + sum(store.EncodeJSON(identity))
}
