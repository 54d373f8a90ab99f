package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// claudeHost is Claude Code.
var claudeHost = Host{
	Name: ClaudeCode, Program: "claude", Floor: Version{2, 1, 197}, dirVar: "CLAUDE_CONFIG_DIR", dirName: ".claude",
	Events: []string{
		"session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "post-tool-use-failure",
		"post-tool-batch", "subagent-start", "subagent-stop", "stop", "stop-failure",
		"pre-compact", "post-compact", "session-end",
	},
	SessionEnv: []string{"CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID"},
	ProjectEnv: []string{"CLAUDE_PROJECT_ROOT", "CLAUDE_PROJECT_DIR"},
	Delivers:   true, Gates: true, AsksAgents: true, Loops: true, AgentsCompact: true,
	Decode: decodeClaude, Encode: encodeHooks,
	AgentTranscript: func(transcript, agent string) string {
		return filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "subagents", "agent-"+filepath.Base(agent)+".jsonl")
	},
}

// PluginName is the plugin's name, and that of the folder it is offered from.
const PluginName = "overtone"

// Claude is an installation in Claude Code.
type Claude struct {
	Dir  string // $CLAUDE_CONFIG_DIR or ~/.claude
	Home string // the user's home
	// Plugin is the folder that the plugin is loaded from. It is what Claude
	// Code calls a marketplace: a folder with a list, and the plugin below it.
	Plugin string
	// Window and Percent lower the point from which Claude Code asks to compact;
	// 0 leaves them alone.
	Window, Percent int
}

// Settings is the path of the user's settings.
func (c Claude) Settings() string { return filepath.Join(c.Dir, "settings.json") }

// Edits are the settings that install the plugin. Agents may read the reports of
// other stages without asking; they cannot be allowed to write there.
func (c Claude) Edits() []Edit {
	source := `{"source":{"source":"directory","path":` + quote(c.Plugin) + `}}`
	edits := []Edit{
		{Path: []string{"extraKnownMarketplaces", PluginName}, Value: source, Own: true},
		{Path: []string{"enabledPlugins", PluginName + "@" + PluginName}, Value: "true", Own: true},
	}
	for _, name := range []string{"pipeline-context-*", "reflection-memory-*"} {
		edits = append(edits, Edit{Path: []string{"permissions", "allow"}, Value: quote("Read(" + c.rule(name) + ")"), Append: true})
	}
	return append(edits, c.WindowEdits()...)
}

// precomputed is the window from which Claude Code may prepare a compaction
// ahead of time and put it in place unasked, past the hook.
const precomputed = 200_000

// WindowEdits are the settings of mode auto.
func (c Claude) WindowEdits() []Edit {
	if c.Window == 0 {
		return nil
	}
	edits := []Edit{
		{Path: []string{"autoCompactWindow"}, Value: strconv.Itoa(c.Window)},
		{Path: []string{"env", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"}, Value: quote(strconv.Itoa(c.Percent))},
	}
	if c.Window >= precomputed {
		edits = append(edits, Edit{Path: []string{"precomputeCompactionEnabled"}, Value: "false"})
	}
	return edits
}

// IsWindow reports whether an edit belongs to mode auto.
func IsWindow(e Edit) bool {
	switch strings.Join(e.Path, ".") {
	case "autoCompactWindow", "env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "precomputeCompactionEnabled":
		return true
	}
	return false
}

// rule is a file of the Claude folder in the form of permission rules: below the
// home with ~, else with two slashes.
func (c Claude) rule(name string) string {
	path := filepath.Join(c.Dir, name)
	if rel, err := filepath.Rel(c.Home, path); c.Home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return "/" + filepath.ToSlash(path)
}

// PluginFile is one file below the plugin's folder.
type PluginFile struct {
	Name string // with slashes
	Data []byte
}

// PluginFiles are the files that install the plugin in fsys.
func PluginFiles(fsys fs.FS) ([]PluginFile, error) {
	list := []PluginFile{{".claude-plugin/marketplace.json", []byte(`{
  "name": "` + PluginName + `",
  "owner": {"name": "Overtone"},
  "plugins": [{"name": "` + PluginName + `", "source": "./` + PluginName + `"}]
}
`)}}
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		list = append(list, PluginFile{PluginName + "/" + name, data})
		return err
	})
	return list, err
}

// PluginState is how a folder differs from the plugin.
type PluginState struct {
	Missing, Changed, Extra []string // names, with slashes
}

// Intact reports whether the folder is the plugin.
func (s PluginState) Intact() bool { return len(s.Missing)+len(s.Changed)+len(s.Extra) == 0 }

// ComparePlugin looks at the plugin's folder.
func ComparePlugin(dir string, files []PluginFile) (PluginState, error) {
	var s PluginState
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			s.Missing = append(s.Missing, f.Name)
		case err != nil:
			return s, err
		case !bytes.Equal(data, f.Data):
			s.Changed = append(s.Changed, f.Name)
		}
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !slices.ContainsFunc(files, func(f PluginFile) bool { return f.Name == name }) {
			s.Extra = append(s.Extra, name)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return s, err
}

// WritePlugin makes the folder the plugin: what differs is written, what an
// older version left is removed.
func WritePlugin(dir string, files []PluginFile, s PluginState) error {
	for _, f := range files {
		if !slices.Contains(s.Missing, f.Name) && !slices.Contains(s.Changed, f.Name) {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := replaceFile(path, f.Data, 0o600); err != nil {
			return err
		}
	}
	for _, name := range s.Extra {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// Registered reports whether Claude Code has noticed the plugin's folder. It
// does so at the start of a session, too late for that session.
func (c Claude) Registered() bool {
	data, err := os.ReadFile(filepath.Join(c.Dir, "plugins", "known_marketplaces.json"))
	return err == nil && gjson.ValidBytes(data) && gjson.GetBytes(data, PluginName+".source.path").String() == c.Plugin
}

// Register has Claude Code itself notice the plugin's folder, so that already
// the next session runs with it. The declaration it asks for goes to a project
// that is thrown away: it would reformat the user's settings.
func (c Claude) Register(ctx context.Context, bin string, env []string) error {
	return c.keeping(func() error {
		return claude(ctx, bin, env, "plugin", "marketplace", "add", c.Plugin, "--scope", "local")
	})
}

// Declared reports whether settings name the plugin's folder, or another of that
// name.
func Declared(settings []byte) bool {
	return gjson.ValidBytes(settings) && gjson.GetBytes(settings, "extraKnownMarketplaces."+PluginName).Exists()
}

// Unregister takes Register back. It is only for settings that do not declare
// the folder any more: Claude Code would remove, and reformat, what is there.
func (c Claude) Unregister(ctx context.Context, bin string, env []string) error {
	return c.keeping(func() error { return claude(ctx, bin, env, "plugin", "marketplace", "remove", PluginName) })
}

// keeping runs the host and gives the user's settings their bytes back: its first
// start in a home migrates them ("model": "opus" goes), and that start was ours,
// not the user's.
func (c Claude) keeping(run func() error) error {
	before, err := Open(c.Settings())
	if err != nil {
		return err
	}
	if err := run(); err != nil {
		return err
	}
	now, err := Open(c.Settings())
	if err != nil {
		return err
	}
	if now.After, now.Gone = before.Before, !before.Exists; !now.Changed() {
		return nil
	}
	return now.Write()
}

// registerWait bounds a call of the claude program, which takes less than a
// second.
const registerWait = 30 * time.Second

func claude(ctx context.Context, bin string, env []string, args ...string) error {
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

// ModelWindow is the context window of a model of Claude Code; the host marks
// the large one in the model's name.
func ModelWindow(names ...string) int64 {
	for _, n := range names {
		if strings.Contains(n, "[1m]") {
			return 1_000_000
		}
	}
	return 200_000
}
