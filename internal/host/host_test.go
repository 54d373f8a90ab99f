package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/plugin"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2.1.197 (Claude Code)\n": "2.1.197",
		"codex-cli 0.166.0":       "0.166.0",
		"v1.2.3-beta.1":           "1.2.3",
		"tool 10.0.1+build":       "10.0.1",
		"nothing":                 "",
		"1.2":                     "",
		"1.-2.3":                  "",
	} {
		v, ok := parseVersion(text)
		if got := v.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s %v, want %q", text, got, ok, want)
		}
	}
	order := []Version{{0, 166, 0}, {2, 1, 99}, {2, 1, 197}, {2, 2, 0}, {3, 0, 0}}
	for i, a := range order {
		for j, b := range order {
			if a.Less(b) != (i < j) {
				t.Errorf("%v < %v: %v", a, b, a.Less(b))
			}
		}
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAsk(t *testing.T) {
	t.Parallel()
	bin := write(t, filepath.Join(t.TempDir(), "agent"), "#!/bin/sh\necho agent 1.2.3\n")
	if err := os.Chmod(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if v, err := Ask(context.Background(), bin, nil); err != nil || v != (Version{1, 2, 3}) {
		t.Errorf("%v, %v", v, err)
	}
	write(t, bin, "#!/bin/sh\necho none\n")
	if _, err := Ask(context.Background(), bin, nil); err == nil || !strings.Contains(err.Error(), "no version") {
		t.Errorf("no version: %v", err)
	}
	if _, err := Ask(context.Background(), bin+"x", nil); err == nil {
		t.Error("no program: no error")
	}
	// A package from npm says it in its manifest: nothing is started.
	dir := filepath.Join(filepath.Dir(bin), "node_modules", "opencode-ai")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"version":"1.18.33"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "opencode")
	if err := os.Rename(bin, filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "run"), link); err != nil {
		t.Fatal(err)
	}
	if v, err := Ask(context.Background(), link, nil); err != nil || v != (Version{1, 18, 33}) {
		t.Error(v, err)
	}
}

func TestClaudeEdits(t *testing.T) {
	t.Parallel()
	values := func(edits []Edit) (list []string) {
		for _, e := range edits {
			list = append(list, strings.Join(e.Path, ".")+" = "+e.Value)
		}
		return list
	}
	home := string(filepath.Separator) + "home"
	c := claude{Place: Place{Dir: filepath.Join(home, ".claude"), User: home}, plugin: filepath.Join(home, ".overtone", "plugin")}
	want := []string{
		`extraKnownMarketplaces.overtone = {"source":{"source":"directory","path":` + quote(c.plugin) + `}}`,
		`enabledPlugins.overtone@overtone = true`,
		`env.CLAUDE_CODE_FORK_SUBAGENT = "0"`,
		`permissions.allow = "Read(~/.claude/pipeline-context-*)"`,
		`permissions.allow = "Read(~/.claude/reflection-memory-*)"`,
		`permissions.allow = "Bash(overtone recall:*)"`,
		`permissions.allow = "Bash(overtone compact packet:*)"`,
		`permissions.allow = "Bash(overtone workflow status:*)"`,
		`permissions.allow = "mcp__plugin_overtone_overtone__recall"`,
		`permissions.allow = "mcp__plugin_overtone_overtone__packet"`,
		`permissions.allow = "mcp__plugin_overtone_overtone__status"`,
	}
	if diff := cmp.Diff(want, values(c.edits())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = []string{"autoCompactWindow = 100000", `env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE = "60"`}
	if diff := cmp.Diff(want, values(autoEdits(100_000, 60))); diff != "" {
		t.Errorf("mode auto (-want +got):\n%s", diff)
	}
	// From this window on a compaction may be prepared past the hook.
	if got := values(autoEdits(200_000, 60)); len(got) != 3 || got[2] != "precomputeCompactionEnabled = false" {
		t.Errorf("large window: %v", got)
	}
	for _, e := range append(c.edits(), autoEdits(200_000, 60)...) {
		if claudeHost.IsAuto(e) == (e.Own || e.Append || e.Key() == "env.CLAUDE_CODE_FORK_SUBAGENT") {
			t.Errorf("%v", e.Path)
		}
	}
	c.Dir = filepath.Join(string(filepath.Separator)+"srv", "claude")
	if got := c.rule("x-*"); got != "//srv/claude/x-*" {
		t.Errorf("outside the home: %s", got)
	}
}

func TestPluginFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "plugin")
	p := Plugin{Dir: dir, files: func() ([]PluginFile, error) {
		return Place{}.pluginFiles(fstest.MapFS{".claude-plugin/plugin.json": {Data: []byte("{}")}, "agents/a.md": {Data: []byte("a")}})
	}}
	files, err := p.Files()
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	state := func() PluginState {
		t.Helper()
		s, err := p.Compare(files)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := state(); len(s.Missing) != 3 || s.Intact() {
		t.Errorf("nothing there: %+v", s)
	}
	if err := p.Write(files, state()); err != nil {
		t.Fatal(err)
	}
	if s := state(); !s.Intact() {
		t.Errorf("written: %+v", s)
	}
	info, err := os.Stat(filepath.Join(dir, "overtone", "agents", "a.md"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info, err)
	}
	write(t, filepath.Join(dir, "overtone", "agents", "a.md"), "b")
	write(t, filepath.Join(dir, "overtone", "agents", "old.md"), "b")
	if err := os.Remove(filepath.Join(dir, ".claude-plugin", "marketplace.json")); err != nil {
		t.Fatal(err)
	}
	want := PluginState{Missing: []string{".claude-plugin/marketplace.json"}, Changed: []string{"overtone/agents/a.md"}, Extra: []string{"overtone/agents/old.md"}}
	if diff := cmp.Diff(want, state()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := p.Write(files, state()); err != nil || !state().Intact() {
		t.Errorf("repaired: %v, %+v", err, state())
	}
}

func TestCodexApproved(t *testing.T) {
	t.Parallel()
	hooks, _, err := Apply([]byte(`{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}`), Place{}.codexEdits())
	if err != nil {
		t.Fatal(err)
	}
	n := len(Of(Codex).Events)
	if a, total := codexApproved("/c/hooks.json", hooks, nil); a != 0 || total != n {
		t.Errorf("%d of %d", a, total)
	}
	// The user's hook is the first of its event, ours the second.
	toml := `[hooks.state."/c/hooks.json:stop:1:0"]
[hooks.state."/c/hooks.json:post_tool_use:0:0"]
[hooks.state."/other/hooks.json:pre_compact:0:0"]`
	if a, total := codexApproved("/c/hooks.json", hooks, []byte(toml)); a != 2 || total != n {
		t.Errorf("%d of %d", a, total)
	}
	if _, total := codexApproved("/c/hooks.json", []byte("{"), nil); total != 0 {
		t.Errorf("broken file: %d", total)
	}
}

// A run that is killed between the backup and the write, or whose file somebody
// else wrote meanwhile, loses nothing.
func TestRunsAndUndo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := Backups{Dir: filepath.Join(dir, "backup")}
	path := write(t, filepath.Join(dir, "settings.json"), `{"a": 1}`)
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	edit := func(key string) *File {
		t.Helper()
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Edit([]Edit{{Path: []string{key}, Value: "true"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Save(now, ClaudeCode, "1", []*File{&f}); err != nil {
			t.Fatal(err)
		}
		return &f
	}
	undo := func() (string, []Manifest) {
		t.Helper()
		runs, err := b.Open(ClaudeCode)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Undo(runs, nil); err != nil {
			t.Fatal(err)
		}
		return string(f.After), runs
	}

	edit("killed")
	if got, runs := undo(); got != `{"a": 1}` || len(runs) != 1 {
		t.Errorf("killed before the write: %s, %d runs", got, len(runs))
	}
	first := edit("x")
	if err := first.Write(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	late := edit("y")
	write(t, path, `{"a": 1, "x": true, "mine": 2}`)
	if err := late.Write(); err == nil || !strings.Contains(err.Error(), "changed by someone else") {
		t.Errorf("written over: %v", err)
	}
	if got, runs := undo(); got != `{"a": 1, "mine": 2}` || len(runs) != 3 {
		t.Errorf("edited since: %s, %d runs", got, len(runs))
	}

	// The order of runs is that of their names, also within a millisecond.
	write(t, path, `{"a": 1, "x": true}`)
	second := edit("z")
	if err := second.Write(); err != nil {
		t.Fatal(err)
	}
	got, runs := undo()
	if got != `{"a": 1}` || len(runs) != 4 || !strings.HasSuffix(runs[0].Dir, "-04") {
		t.Errorf("two runs: %s, %s", got, runs[0].Dir)
	}
	// A damaged copy: the edits are known all the same.
	write(t, filepath.Join(runs[0].Dir, "settings.json"), "lost")
	if got, _ := undo(); got != `{"a": 1}` {
		t.Errorf("damaged copy: %s", got)
	}
	// A damaged manifest is told, the others count.
	write(t, filepath.Join(runs[3].Dir, manifestFile), "{")
	if list, err := b.Open(ClaudeCode); err == nil || len(list) != 3 {
		t.Errorf("damaged manifest: %d, %v", len(list), err)
	}
	if list, err := b.Open(Codex); err == nil || len(list) != 0 {
		t.Errorf("another host: %d, %v", len(list), err)
	}
	for _, m := range runs[:3] {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if list, _ := b.Open(ClaudeCode); len(list) != 0 {
		t.Errorf("undone runs are open: %d", len(list))
	}
}

// A file of ours in folders of ours goes with them, up to the first that holds
// something else.
func TestTidy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := Backups{Dir: filepath.Join(dir, "backup")}
	path := filepath.Join(dir, "a", "b", "hooks.json")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Edit(Place{}.codexEdits()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(time.Now(), Codex, "1", []*File{&f}); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a", "other"), "")
	runs, err := b.Open(Codex)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Undo(runs, nil); err != nil || !g.Gone {
		t.Fatalf("gone: %v, %v", g.Gone, err)
	}
	if err := g.Write(); err != nil {
		t.Fatal(err)
	}
	g.Tidy()
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("the empty folder is left")
	}
	if got := read(t, filepath.Join(dir, "a", "other")); got != "" {
		t.Error("another file went")
	}
}

// The host's newest versions start agents in the background where the call does
// not say otherwise; a call that says so is left alone.
func TestPromptKeepsAgentsInTheForeground(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ input, want string }{
		{`{"subagent_type":"a","prompt":"x"}`, `{"subagent_type":"a","prompt":"y","run_in_background":false}`},
		{`{"prompt":"x","run_in_background":true}`, `{"prompt":"y","run_in_background":true}`},
		{`{"prompt":"x","run_in_background":false}`, `{"prompt":"y","run_in_background":false}`},
	} {
		if got := string(withPrompt([]byte(c.input), "y")); got != c.want {
			t.Errorf("%s becomes %s", c.input, got)
		}
	}
}

// What a session carries of ours that runs no workflow: the agents, as Claude Code lists
// them. Commands are kept from the model.
func TestAgentsCostLittle(t *testing.T) {
	t.Parallel()
	list, err := Place{}.pluginFiles(plugin.FS)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, f := range list {
		if !strings.Contains(f.Name, "/agents/") {
			continue
		}
		field := func(name string) string {
			_, rest, _ := strings.Cut(string(f.Data), "\n"+name+": ")
			value, _, _ := strings.Cut(rest, "\n")
			return value
		}
		size += len("- overtone:" + field("name") + ": " + field("description") + " (Tools: " + field("tools") + ")\n")
	}
	if size == 0 || size > 1200 {
		t.Errorf("%d characters", size)
	}
	bare, err := Place{NoWorkflows: true}.pluginFiles(plugin.FS)
	var names []string
	for _, f := range bare {
		names = append(names, f.Name)
	}
	want := []string{".claude-plugin/marketplace.json", "overtone/.claude-plugin/plugin.json", "overtone/.mcp.json", "overtone/hooks/hooks.json"}
	if diff := cmp.Diff(want, names); diff != "" || err != nil {
		t.Errorf("without workflows: %v (-want +got):\n%s", err, diff)
	}
}

// The host's own clean-up can delete a session that was resumed: whoever has not
// switched it off is told so, whatever else the file holds.
func TestGeminiRetention(t *testing.T) {
	t.Parallel()
	s := Of(Gemini).Setup(Place{Dir: t.TempDir(), Getenv: func(string) string { return "" }})
	for text, want := range map[string]bool{
		"":   true,
		"{}": true,
		`{"general":{"sessionRetention":{"enabled":true}}}`:                         true,
		"{ // off\n \"general\": {\"sessionRetention\": {\"enabled\": false}, }, }": false,
	} {
		warned := false
		for _, f := range s.Check(File{Before: []byte(text)}, "settings.json") {
			warned = warned || f.ID == "gemini-retention"
		}
		if warned != want {
			t.Errorf("%q: warned %v", text, warned)
		}
	}
}

// Hooks that a setting of Gemini CLI switches off do not run, in whichever of its files it
// stands: of all hooks the strongest file decides.
func TestGeminiHooksOff(t *testing.T) {
	t.Parallel()
	const on, off, ours, other = `{"hooksConfig":{"enabled":true}}`, "{ // no\n\"hooksConfig\": {\"enabled\": false}, }", `{"hooksConfig":{"disabled":["x","overtone"]}}`, `{"hooksConfig":{"disabled":["x"]}}`
	for _, row := range []struct{ defaults, user, project, system, want string }{
		{"", "", "", "", ""},
		{on, on, on, on, ""},
		{other, `{"hooksConfig":{"enabled":"false"}}`, `{"hooksConfig":7}`, "[", ""},
		{off, "", "", "", "system-defaults.json: hooksConfig.enabled = false"},
		{off, on, "", "", ""},
		{"", off, "", "", "~: hooksConfig.enabled = false"},
		{"", off, on, "", ""},
		{"", on, off, "", "project/.gemini/settings.json: hooksConfig.enabled = false"},
		{"", on, off, on, ""},
		{on, on, on, off, "system/settings.json: hooksConfig.enabled = false"},
		{"", ours, "", "", "~: hooksConfig.disabled"},
		{"", "", "", ours, "system/settings.json: hooksConfig.disabled"},
		{ours, on, on, on, "system-defaults.json: hooksConfig.disabled"},
		{ours, off, "", "", "~: hooksConfig.enabled = false"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"system/system-defaults.json": row.defaults, "project/.gemini/settings.json": row.project, "system/settings.json": row.system} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := Of(Gemini).Setup(Place{Dir: dir, Project: filepath.Join(dir, "project"), Getenv: func(key string) string {
			return map[string]string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH": filepath.Join(dir, "system", "settings.json")}[key]
		}})
		got := ""
		for _, f := range s.Check(File{Before: []byte(row.user)}, "~") {
			if f.ID == "gemini-off" {
				got = f.Text.In(message.EN)
			}
		}
		if row.want == "" != (got == "") || !strings.Contains(filepath.ToSlash(got), row.want) {
			t.Errorf("%+v: told %q", row, got)
		}
	}
}

// Claude Code cuts the name of a long folder, and adds its hash.
func TestLongProjectFolder(t *testing.T) {
	t.Parallel()
	short := "/w/" + strings.Repeat("a", 197)
	long := "/w/文/" + strings.Repeat("a", 300)
	if got := projectFolder(short); got != "-w-"+strings.Repeat("a", 197) {
		t.Error(got)
	}
	if got, want := projectFolder(long), "-w---"+strings.Repeat("a", 195)+"-om52pd"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
