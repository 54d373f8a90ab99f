package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/plugin"
)

var claudeHost = Host{
	Name: ClaudeCode, Title: "Claude Code", Program: "claude", Floor: Version{2, 1, 197}, NeedsFloor: true,
	Verified: []Version{{2, 1, 197}, {2, 1, 325}, {2, 1, 326}, {2, 1, 327}, {2, 1, 328}},
	Events: []string{
		"session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "post-tool-use-failure",
		"post-tool-batch", "subagent-start", "subagent-stop", "stop", "stop-failure",
		"pre-compact", "post-compact", "session-end",
	},
	Core:       []string{"session-start", "user-prompt-submit"},
	SessionEnv: []string{"CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID"},
	ProjectEnv: []string{"CLAUDE_PROJECT_ROOT", "CLAUDE_PROJECT_DIR"},
	Delivers:   true, Gates: true, Asks: true, AsksAgents: true, Loops: true, ForksAsResumed: true, PutsBack: 5,
	AgentsCompact: true, NamesAgents: Version{2, 1, 325},
	CommandEnd: claudeEnd, BackgroundEnd: claudeBackgroundEnd,
	BackgroundTask: func(result json.RawMessage) string { return gjson.GetBytes(result, "backgroundTaskId").String() },
	window:         claudeWindow, model: claudeModel,
	Resume: func(session string) string { return "claude --resume " + session },
	Decode: decodeClaude, Encode: encodeHooks,
	// Sub-agents' files lie deeper, or beside the sessions under a name of theirs.
	Sessions: SessionFiles{Dir: "projects", Depth: 1, ByProject: true, Except: "agent-"},
	AgentTranscript: func(transcript, agent string) string {
		return filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "subagents", "agent-"+filepath.Base(agent)+".jsonl")
	},

	SettingsCheck: "settings",
	Texts: Texts{
		Fire: message.HintFire, Next: message.InitNext,
	},
	dirVar: "CLAUDE_CONFIG_DIR", dirName: ".claude",
	autoKeys: []string{"autoCompactWindow", "env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "precomputeCompactionEnabled"},
	setup:    setupClaude,
}

// pluginName is the plugin's name, and that of the folder it is offered from.
const pluginName = "overtone"

// claudeWindow: one variable keeps every context small.
func claudeWindow(getenv func(string) string) int64 {
	switch strings.ToLower(getenv("CLAUDE_CODE_DISABLE_1M_CONTEXT")) {
	case "1", "true", "yes", "on":
		return SmallWindow
	}
	return 0
}

// claudeModel is the model that a variable or the settings choose, the nearest first. The
// name of a session's file has no mark of the large window.
func claudeModel(getenv func(string) string, dir, project string) string {
	if m := getenv("ANTHROPIC_MODEL"); m != "" {
		return m
	}
	for _, path := range []string{filepath.Join(project, ".claude", "settings.local.json"), filepath.Join(project, ".claude", "settings.json"), filepath.Join(dir, "settings.json")} {
		data, err := config.ReadFile(path, 1<<20)
		if m := gjson.GetBytes(data, "model").String(); err == nil && m != "" {
			return m
		}
	}
	return ""
}

func setupClaude(p Place) Setup {
	c := claude{Place: p, plugin: filepath.Join(p.Root, "plugin")}
	return Setup{
		Settings: c.settings(), Edits: c.edits(), Auto: autoEdits(p.Window, p.Percent), Rounds: p.claudeRounds(), Status: p.statusLine(),
		Plugin:  Plugin{Dir: c.plugin, Hooks: pluginName + "/hooks/hooks.json", files: func() ([]PluginFile, error) { return p.pluginFiles(plugin.FS) }},
		Present: func(settings []byte) bool { return enabled(settings).Exists() },
		outdated: func() bool {
			hooks := readSome(filepath.Join(c.plugin, pluginName, "hooks", "hooks.json"))
			return p.Hook != "" && bytes.Contains(hooks, []byte(`"command": "overtone"`))
		},
		Check: c.check, Register: c.register, Unregister: c.unregister,
	}
}

// claude is an installation in Claude Code. The folder that the plugin is loaded from is
// what that calls a marketplace: a folder with a list, and the plugin below it.
type claude struct {
	Place
	plugin string
}

func (c claude) settings() string { return filepath.Join(c.Dir, "settings.json") }

// edits are the settings that install the plugin: where it is, that it is on, that the
// tools which our texts name need no permission, that stages stay in the foreground in
// versions that would fork them, and that agents may read the reports of other stages
// without asking; they cannot be allowed to write there.
func (c claude) edits() []Edit {
	source := `{"source":{"source":"directory","path":` + quote(c.plugin) + `}}`
	edits := []Edit{
		{Path: []string{"extraKnownMarketplaces", pluginName}, Value: source, Own: true},
		{Path: []string{"enabledPlugins", pluginName + "@" + pluginName}, Value: "true", Own: true},
	}
	var allowed []string
	if !c.NoWorkflows {
		edits = append(edits, Edit{Path: []string{"env", "CLAUDE_CODE_FORK_SUBAGENT"}, Value: `"0"`})
		for _, name := range []string{"pipeline-context-*", "reflection-memory-*"} {
			allowed = append(allowed, "Read("+c.rule(name)+")")
		}
	}
	allowed = append(allowed, "Bash(overtone recall:*)", "Bash(overtone compact packet:*)", "Bash(overtone workflow status:*)", "mcp__plugin_overtone_overtone__recall", "mcp__plugin_overtone_overtone__packet", "mcp__plugin_overtone_overtone__status")
	for _, rule := range allowed {
		edits = append(edits, Edit{Path: []string{"permissions", "allow"}, Value: quote(rule), Append: true})
	}
	return edits
}

// statusLine has Claude Code show our line. There is room for one program only.
func (p Place) statusLine() *Edit {
	return &Edit{Path: []string{"statusLine"}, Value: `{"type":"command","command":` + quote(shellLine([]string{cmp.Or(p.Hook, "overtone"), "statusline"})) + `}`}
}

// precomputed is the window from which Claude Code may prepare a compaction
// ahead of time and put it in place unasked, past the hook.
const precomputed = 200_000

// autoEdits are the settings of mode auto: they lower the point from which Claude
// Code asks to compact.
func autoEdits(window, percent int) []Edit {
	if window == 0 {
		return nil
	}
	edits := []Edit{
		{Path: []string{"autoCompactWindow"}, Value: strconv.Itoa(window)},
		{Path: []string{"env", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"}, Value: quote(strconv.Itoa(percent))},
	}
	if window >= precomputed {
		edits = append(edits, Edit{Path: []string{"precomputeCompactionEnabled"}, Value: "false"})
	}
	return edits
}

// claudeRounds registers PostToolBatch. It stands in the settings and not in the
// plugin, which is the same for everybody.
func (p Place) claudeRounds() []Edit {
	words := p.hookCommand(ClaudeCode, "post-tool-batch")
	for i, w := range words {
		words[i] = quote(w)
	}
	hook := `{"hooks":[{"type":"command","command":` + words[0] + `,"args":[` + strings.Join(words[1:], ",") + `],"timeout":10}]}`
	return []Edit{{Path: []string{"hooks", "PostToolBatch"}, Value: hook, Append: true, Mark: `"post-tool-batch"`}}
}

// enabled is the switch of the plugin in settings.
func enabled(settings []byte) gjson.Result {
	settings = bytes.TrimPrefix(settings, []byte("\uFEFF"))
	return gjson.GetBytes(settings, "enabledPlugins."+gjson.Escape(pluginName+"@"+pluginName))
}

// check looks at the switches, then at what is missing: without the plugin's
// folder nothing loads, without a rule agents ask more often.
func (c claude) check(f File, path string) []Finding {
	const id = "settings"
	edits := c.edits()
	source, on, rules := edits[0], edits[1], edits[2:]
	lacks := slices.Compact(lacking(f.Before, append([]Edit{source}, rules...)))
	switch sw := enabled(f.Before); {
	case gjson.GetBytes(bytes.TrimPrefix(f.Before, []byte("\uFEFF")), "disableAllHooks").Bool():
		return []Finding{found(id, Broken, message.DoctorNoHooks, path).advise(message.HintNoHooks)}
	case sw.Exists() && !sw.Bool():
		return []Finding{found(id, Warn, message.DoctorOff, path).advise(message.HintOn)}
	case !Holds(f.Before, on):
		return []Finding{found(id, Broken, message.DoctorNoKeys, path, on.Key()).advise(message.HintInitHost, ClaudeCode)}
	case slices.Contains(lacks, source.Key()):
		return []Finding{checkHooks(id, Broken, path, lacks, ClaudeCode)}
	}
	return []Finding{checkHooks(id, Warn, path, lacks, ClaudeCode)}
}

// rule is a file of the Claude folder in the form of permission rules: below the
// home with ~, else with two slashes.
func (c claude) rule(name string) string {
	path := filepath.Join(c.Dir, name)
	if rel, err := filepath.Rel(c.User, path); c.User != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return "/" + filepath.ToSlash(path)
}

// registered reports whether Claude Code has noticed the plugin's folder. It
// does so at the start of a session, too late for that session.
func (c claude) registered() bool {
	data := readSome(filepath.Join(c.Dir, "plugins", "known_marketplaces.json"))
	return store.ValidJSON(data) && gjson.GetBytes(data, pluginName+".source.path").String() == c.plugin
}

// register has Claude Code itself notice the plugin's folder, so that already
// the next session runs with it. The declaration it asks for goes to a project
// that is thrown away: it would reformat the user's settings.
func (c claude) register(ctx context.Context, bin string, env []string) error {
	if c.registered() {
		return nil
	}
	return c.keeping(func() error {
		return runClaude(ctx, bin, env, "plugin", "marketplace", "add", c.plugin, "--scope", "local")
	})
}

// unregister takes register back, once the settings do not declare the folder
// any more: Claude Code would remove, and reformat, what is there.
func (c claude) unregister(ctx context.Context, bin string, env []string) error {
	settings := readSome(c.settings())
	declared := store.ValidJSON(settings) && gjson.GetBytes(settings, "extraKnownMarketplaces."+pluginName).Exists()
	if declared || !c.registered() {
		return nil
	}
	return c.keeping(func() error { return runClaude(ctx, bin, env, "plugin", "marketplace", "remove", pluginName) })
}

// keeping runs the host and gives the user's settings their bytes back: its first
// start in a home migrates them ("model": "opus" goes), and that start was ours,
// not the user's.
func (c claude) keeping(run func() error) error {
	before, err := Open(c.settings())
	if err == nil {
		err = run()
	}
	if err != nil {
		return err
	}
	now, err := Open(c.settings())
	if err != nil {
		return err
	}
	now.After, now.Gone = before.Before, !before.Exists
	return now.Write()
}

// registerWait bounds a call of the claude program, which takes less than a
// second.
const registerWait = 30 * time.Second

func runClaude(ctx context.Context, bin string, env []string, args ...string) error {
	dir, err := os.MkdirTemp("", "overtone-init-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(ctx, registerWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append(slices.Clone(env), "OVERTONE_DISABLE=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run claude %s: %w: %.300s", strings.Join(args[:3], " "), err, bytes.TrimSpace(out))
	}
	return nil
}
