//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// installed runs the agent as init left it: without --plugin-dir, and without a
// mode that grants anything.
func (w *World) installed(prompt string) Stream {
	w.t.Helper()
	cmd := w.command(w.claude, "-p", "--model", Model, "--output-format", "stream-json", "--verbose", prompt)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		w.t.Logf("claude: %v\n%s", err, errs.String())
	}
	return Stream{t: w.t, Events: events(w.t, &out), Stderr: errs.String()}
}

// onPath puts a folder in front of the PATH.
func (w *World) onPath(dir string) {
	w.env["PATH"] = dir + string(os.PathListSeparator) + w.env["PATH"]
}

// init installs the plugin so that the very next session runs with it, and uninstall
// leaves no trace.
func TestInitClaude(t *testing.T) {
	t.Parallel()
	play := &Play{}
	w := NewWorld(t, Overtone, play.Handle)
	w.onPath(filepath.Dir(Claude(t)))
	report := filepath.Join(w.Config, "pipeline-context-s1-REVIEW.md")
	play.Main = []Step{
		call(tool("Read", map[string]any{"file_path": report})),
		call(tool("Read", map[string]any{"file_path": filepath.Join(w.Config, "secret.md")})),
	}
	const before = "{\n    \"cleanupPeriodDays\":   30,\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}"
	settings := filepath.Join(w.Config, "settings.json")
	for path, text := range map[string]string{settings: before, report: "REPORT-TEXT", filepath.Join(w.Config, "secret.md"): "SECRET-TEXT"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	out := w.Exec("overtone", "init", "--yes", "--mode", "auto")
	if !strings.Contains(out, "mode auto") {
		t.Errorf("init says:\n%s", out)
	}
	marketplace := filepath.Join(w.Home, ".overtone", "plugin")
	for _, dir := range []string{marketplace, filepath.Join(marketplace, "overtone")} {
		if out := w.Exec(w.claude, "plugin", "validate", dir); !strings.Contains(out, "Validation passed") {
			t.Errorf("validate %s says:\n%s", dir, out)
		}
	}

	st := w.installed("hello")
	init := st.Find("system", "init")
	if len(init) != 1 {
		t.Fatalf("%d init events\n%s", len(init), st.Stderr)
	}
	var got struct {
		Plugins []struct{ Name string }
		Agents  []string
		Errors  []json.RawMessage `json:"plugin_errors"`
	}
	init[0].Decode(t, &got)
	// The newest brings plugins of its own.
	loaded := slices.ContainsFunc(got.Plugins, func(p struct{ Name string }) bool { return p.Name == "overtone" })
	if !loaded || len(got.Errors) > 0 || !slices.Contains(got.Agents, "overtone:developer") {
		t.Errorf("first session: %+v", got)
	}
	// The reports may be read without a question, and nothing else there.
	requests := w.API.Requests()
	last := requests[len(requests)-1]
	if !last.Has("REPORT-TEXT") || last.Has("SECRET-TEXT") {
		t.Errorf("report %v, secret %v", last.Has("REPORT-TEXT"), last.Has("SECRET-TEXT"))
	}
	doctor := w.Exec("overtone", "doctor", "--json")
	if !gjson.Get(doctor, "ok").Bool() || !gjson.Get(doctor, `checks.#(id=="hooks").fired.stop`).Exists() {
		t.Errorf("doctor says:\n%s", doctor)
	}
	if out := w.Exec("overtone", "init"); !strings.Contains(out, "nothing to change") {
		t.Errorf("a second init says:\n%s", out)
	}

	w.Exec("overtone", "uninstall")
	if data, err := os.ReadFile(settings); err != nil || string(data) != before {
		t.Errorf("settings: %v\n%s", err, data)
	}
	if out := w.Exec(w.claude, "plugin", "list"); strings.Contains(out, "overtone") {
		t.Errorf("plugins left:\n%s", out)
	}
	if out := w.Exec(w.claude, "plugin", "marketplace", "list"); strings.Contains(out, "overtone") {
		t.Errorf("marketplaces left:\n%s", out)
	}
	w.installed("hello again")
	if data, err := os.ReadFile(settings); err != nil || string(data) != before {
		t.Errorf("settings after another session: %v\n%s", err, data)
	}
}

// Codex reads the hooks of init, and none is trusted before the user says so.
func TestInitCodex(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("unused") })
	home := filepath.Join(w.Home, ".codex")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	const mine = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`
	file := filepath.Join(home, "hooks.json")
	if err := os.WriteFile(file, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Exec("overtone", "init", "--host", "codex", "--yes")
	got := codexHooks(t, w, home)
	var ours []string
	for _, h := range got.Get("hooks").Array() {
		command := h.Get("command").String()
		if !strings.HasPrefix(command, filepath.Join(w.bin, host.HookProgram)+" ") {
			continue
		}
		ours = append(ours, h.Get("eventName").String()+" "+h.Get("matcher").String())
		if s := h.Get("trustStatus").String(); s != "untrusted" {
			t.Errorf("%s is %s", command, s)
		}
	}
	slices.Sort(ours)
	want := []string{"postCompact ", "postToolUse Bash|apply_patch|update_plan|spawn_agent|.*wait_agent|.*send_input|.*close_agent", "preCompact ", "preToolUse Bash|apply_patch|spawn_agent", "sessionStart compact|resume", "stop ", "subagentStart ", "subagentStop ", "userPromptSubmit "}
	if !slices.Equal(ours, want) || len(got.Get("hooks").Array()) != len(want)+1 {
		t.Errorf("hooks %v, want %v and one more:\n%s", ours, want, got.Raw)
	}
	for _, list := range []string{"warnings", "errors"} {
		if n := len(got.Get(list).Array()); n > 0 {
			t.Errorf("%s: %s", list, got.Get(list).Raw)
		}
	}
	w.Exec("overtone", "uninstall", "--host", "codex")
	if data, err := os.ReadFile(file); err != nil || string(data) != mine {
		t.Errorf("hooks.json: %v\n%s", err, data)
	}
}

// earlier has init write what the previous version did: the hooks call overtone
// itself. It is a copy of overtone with no program for hooks beside it.
func (w *World) earlier(args ...string) {
	w.t.Helper()
	dir := w.t.TempDir()
	data, err := os.ReadFile(filepath.Join(w.bin, "overtone"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overtone"), data, 0o700)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.Exec(filepath.Join(dir, "overtone"), append([]string{"init", "--yes"}, args...)...)
}

// What the previous version installed works in a session of Claude Code; after init the
// next session calls the program for hooks, by its path, and uninstall leaves no trace.
func TestInitOverEarlier(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, (&Play{}).Handle)
	w.onPath(filepath.Dir(Claude(t)))
	const before = "{\n    \"cleanupPeriodDays\":   30\n}"
	settings := filepath.Join(w.Config, "settings.json")
	if err := os.WriteFile(settings, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	w.earlier("--statusline")
	w.installed("hello")
	said := w.Exec("overtone", "doctor")
	if !strings.Contains(said, "an older set-up") || !strings.Contains(said, "hooks have fired, the last within the hour") {
		t.Errorf("doctor says:\n%s", said)
	}

	// A program for hooks that says what it was called for.
	dir, log := t.TempDir(), filepath.Join(w.Home, "called")
	script := fmt.Sprintf("#!/bin/sh\necho $1 >>%q\nexec %q \"$@\"\n", log, filepath.Join(w.bin, host.HookProgram))
	if err := os.WriteFile(filepath.Join(dir, host.HookProgram), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(w.bin, "overtone"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overtone"), data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Exec(filepath.Join(dir, "overtone"), "init", "--yes")
	if err := os.RemoveAll(filepath.Join(w.Home, ".overtone", "hooks")); err != nil {
		t.Fatal(err)
	}
	w.installed("hello again")
	called, _ := os.ReadFile(log) // none is a failure below
	for _, event := range []string{"session-start", "user-prompt-submit", "stop"} {
		if n := strings.Count(string(called), event+"\n"); n != 1 {
			t.Errorf("%s was called %d times:\n%s", event, n, called)
		}
	}
	if out := w.Exec(filepath.Join(dir, "overtone"), "doctor"); strings.Contains(out, "an older set-up") || !strings.Contains(out, "hooks have fired, the last within the hour") {
		t.Errorf("doctor says:\n%s", out)
	}
	w.Exec("overtone", "uninstall")
	if data, err := os.ReadFile(settings); err != nil || string(data) != before {
		t.Errorf("settings: %v\n%s", err, data)
	}
}

// Codex asks for a new approval when the commands of its hooks change; init and doctor
// say so.
func TestInitCodexOverEarlier(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("unused") })
	home := filepath.Join(w.Home, ".codex")
	w.earlier("--host", "codex")
	var state strings.Builder
	for _, h := range codexHooks(t, w, home).Get("hooks").Array() {
		fmt.Fprintf(&state, "[hooks.state.%q]\ntrusted_hash = %q\n", h.Get("key").String(), h.Get("currentHash").String())
	}
	config := filepath.Join(home, "config.toml")
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, append(text, state.String()...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	statuses := func() map[string]int {
		n := map[string]int{}
		for _, h := range codexHooks(t, w, home).Get("hooks").Array() {
			n[h.Get("trustStatus").String()]++
		}
		return n
	}
	all := len(host.Of(host.Codex).Events)
	if n := statuses(); n["trusted"] != all {
		t.Errorf("approved: %v", n)
	}
	if said := w.Exec("overtone", "doctor"); !strings.Contains(said, fmt.Sprintf("the %d hooks of Codex are reviewed", all)) || !strings.Contains(said, "Codex then asks you to review the hooks again") {
		t.Errorf("doctor says:\n%s", said)
	}
	if out := w.Exec("overtone", "init", "--host", "codex", "--yes", "--json"); !strings.Contains(out, "Codex asks you to review them again") {
		t.Errorf("init says:\n%s", out)
	}
	if n := statuses(); n["modified"] != all {
		t.Errorf("changed: %v", n)
	}
	if said := w.Exec("overtone", "doctor"); !strings.Contains(said, fmt.Sprintf("%d of %d hooks wait for your review in Codex", all, all)) {
		t.Errorf("doctor says:\n%s", said)
	}
}

// codexHooks asks Codex for the hooks it sees.
func codexHooks(t *testing.T, w *World, home string) gjson.Result {
	t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Home, "CODEX_HOME=" + home}
	return newAppServer(t, codexBinary(t), w.Project, env).call("hooks/list", fmt.Sprintf(`{"cwds":[%q]}`, w.Project)).Get("data.0")
}

// The host migrates settings at its first start in a home. The start that init
// and uninstall cause is not the user's, and leaves them alone.
func TestInitKeepsSettings(t *testing.T) {
	t.Parallel()
	w := NewWorld(t, Overtone, (&Play{}).Handle)
	w.onPath(filepath.Dir(Claude(t)))
	const before = "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n"
	settings := filepath.Join(w.Config, "settings.json")
	if err := os.WriteFile(settings, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Exec("overtone", "init", "--yes")
	if data, err := os.ReadFile(settings); err != nil || !strings.HasPrefix(string(data), "{\n  \"model\": \"opus\",\n") {
		t.Errorf("after init (%v):\n%s", err, data)
	}
	w.Exec("overtone", "uninstall")
	if data, err := os.ReadFile(settings); err != nil || string(data) != before {
		t.Errorf("after uninstall (%v):\n%s", err, data)
	}
}
