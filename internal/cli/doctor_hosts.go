package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/hook"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/plugin"
)

// checkBinary: the hooks call the overtone on PATH, which had better be this
// one.
func (d *doctor) checkBinary(ctx context.Context) {
	self, _ := os.Executable()
	found, err := exec.LookPath("overtone")
	if err != nil {
		d.advise(d.add("binary", "fail", message.WarnNotOnPath), message.HintPath, filepath.Dir(self))
		return
	}
	if !sameFile(found, self) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, found, "--version")
		cmd.Env, cmd.WaitDelay = d.env.Environ(), time.Second
		out, err := cmd.Output()
		_, v, _ := strings.Cut(string(bytes.TrimSpace(out)), " version ")
		if err != nil || v != version() {
			d.advise(d.add("binary", "warn", message.DoctorVersions, d.short(found), v, version()), message.HintVersions)
			return
		}
	}
	d.add("binary", "ok", message.DoctorBinary, version(), d.short(found))
}

// checkVersion asks a host's program for its version; tooOld is how bad one below
// the floor is. Without the program there is nothing that could be broken.
func (d *doctor) checkVersion(ctx context.Context, id, name string, floor host.Version, tooOld string, good, old, none message.Text) {
	bin, err := exec.LookPath(name)
	if err != nil {
		d.add(id, "warn", none)
		return
	}
	switch v, err := host.Ask(ctx, bin, d.env.Environ()); {
	case err != nil:
		d.add(id, "warn", message.WarnAskVersion, err.Error())
	case v.Less(floor):
		d.advise(d.add(id, tooOld, old, v, floor), message.HintUpgrade, name)
	default:
		d.add(id, "ok", good, v)
	}
}

// checkClaude looks at the installation in Claude Code, if there is one.
func (d *doctor) checkClaude(ctx context.Context, cfg config.Config) (installed bool) {
	c := d.claudeSetup()
	runs, err := d.backups().Open(host.ClaudeCode)
	if err != nil {
		d.add("backup", "warn", message.WarnConfig, err.Error())
	}
	f, err := host.Open(c.Settings())
	path := d.short(f.Path)
	if err != nil {
		d.advise(d.add("settings", "fail", message.DoctorBadJSON, path, err.Error()), message.HintDisk)
		return true
	}
	edits := c.Edits()
	marketplace, enabled, rules := edits[0], edits[1], edits[2:]
	data := trimMark(f.Before)
	on := gjson.GetBytes(data, "enabledPlugins."+gjson.Escape(host.PluginName+"@"+host.PluginName))
	if len(runs) == 0 && !on.Exists() {
		d.add("claude-code", "note", message.DoctorNoClaude)
		return false
	}
	d.checkVersion(ctx, "claude-code", "claude", host.Of(host.ClaudeCode).Floor, "fail", message.DoctorClaude, message.WarnOldClaude, message.WarnNoClaude)

	files, err := host.PluginFiles(plugin.FS)
	if err == nil {
		var s host.PluginState
		if s, err = host.ComparePlugin(c.Plugin, files); err == nil && s.Intact() {
			d.add("plugin", "ok", message.DoctorPlugin, len(files))
		} else if err == nil {
			d.advise(d.add("plugin", "fail", message.DoctorNoPlugin, len(s.Missing), len(s.Changed), len(s.Extra)), message.HintInit)
		}
	}
	if err != nil {
		d.advise(d.add("plugin", "fail", message.DoctorBadJSON, d.short(c.Plugin), err.Error()), message.HintInit)
	}

	if _, _, err := host.Apply(f.Before, nil); err != nil {
		d.advise(d.add("settings", "fail", message.DoctorBadJSON, path, err.Error()), message.HintBrokenJSON, path)
		return true
	}
	var lacks []string
	for _, e := range append([]host.Edit{marketplace}, rules...) {
		if !host.Holds(f.Before, e) {
			lacks = append(lacks, strings.Join(e.Path, "."))
		}
	}
	switch {
	case gjson.GetBytes(data, "disableAllHooks").Bool():
		d.advise(d.add("settings", "fail", message.DoctorNoHooks, path), message.HintNoHooks)
	case on.Exists() && !on.Bool():
		d.advise(d.add("settings", "warn", message.DoctorOff, path), message.HintOn)
	case !host.Holds(f.Before, enabled):
		d.advise(d.add("settings", "fail", message.DoctorNoKeys, path, strings.Join(enabled.Path, ".")), message.HintInit)
	case len(lacks) > 0:
		status := "warn"
		if lacks[0] == strings.Join(marketplace.Path, ".") {
			status = "fail"
		}
		d.advise(d.add("settings", status, message.DoctorNoKeys, path, strings.Join(slices.Compact(lacks), ", ")), message.HintInit)
	default:
		d.add("settings", "ok", message.DoctorSettings, path)
	}
	d.checkMode(c, cfg.Compact, f, runs)
	d.checkFired(string(host.ClaudeCode), hook.Events(), []string{"session-start", "user-prompt-submit"}, message.HintFire)
	return true
}

func trimMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\uFEFF")) }

// checkMode: the gate of mode auto works only below a lowered window, and a
// lowered window without the gate compacts early and anywhere.
func (d *doctor) checkMode(c host.Claude, cfg config.Compact, f host.File, runs []host.Manifest) {
	c.Window, c.Percent = cfg.NativeWindow, cfg.NativePercent
	var (
		odd  []string
		text message.Text
		args []any
	)
	if cfg.Mode == "auto" {
		for _, e := range c.WindowEdits() {
			if !host.Holds(f.Before, e) {
				odd = append(odd, strings.Join(e.Path, "."))
			}
		}
		text, args = message.DoctorNoWindow, []any{d.short(f.Path), strings.Join(odd, ", ")}
	} else {
		for _, e := range host.Edits(runs, f.Path) {
			if name := strings.Join(e.Path, "."); host.IsWindow(e) && host.Holds(f.Before, e) && !slices.Contains(odd, name) {
				odd = append(odd, name)
			}
		}
		text, args = message.DoctorHasWindow, []any{cfg.Mode, d.short(f.Path), strings.Join(odd, ", ")}
	}
	if len(odd) == 0 {
		d.add("mode", "ok", message.DoctorMode, cfg.Mode)
		return
	}
	d.advise(d.add("mode", "warn", text, args...), message.HintInitMode, cfg.Mode)
}

// checkFired tells which hooks a host has called. Some events are rare, so that
// one of them is missing says nothing; core events come with every session.
func (d *doctor) checkFired(name string, events, core []string, hint message.Text) {
	fired := d.env.store().Fired(name)
	var missing, silent []string
	last := time.Time{}
	for _, e := range events {
		at, ok := fired[e]
		switch {
		case !ok && slices.Contains(core, e):
			silent = append(silent, e)
			missing = append(missing, e)
		case !ok:
			missing = append(missing, e)
		case at.After(last):
			last = at
		}
	}
	n := len(events) - len(missing)
	if n == 0 {
		d.advise(d.add("hooks", "warn", message.DoctorNoFire, name), hint)
		return
	}
	f := d.add("hooks", "ok", message.DoctorFired, name, n, len(events), d.ago(last))
	f.Fired = fired
	if len(missing) > 0 {
		d.advise(f, message.DoctorNotYet, strings.Join(missing, ", "))
	}
	if len(silent) > 0 {
		d.advise(d.add("hooks", "warn", message.DoctorCore, name, strings.Join(silent, ", ")), hint)
	}
}

// checkCodex looks at the installation in Codex, if there is one.
func (d *doctor) checkCodex(ctx context.Context) (installed bool) {
	home, err := filepath.Abs(d.env.codexHome())
	if err != nil {
		return false
	}
	runs, err := d.backups().Open(host.Codex)
	if err != nil {
		d.add("backup", "warn", message.WarnConfig, err.Error())
	}
	f, err := host.Open(host.CodexFile(home))
	path := d.short(f.Path)
	if err != nil {
		d.advise(d.add("codex-hooks", "fail", message.DoctorBadJSON, path, err.Error()), message.HintDisk)
		return true
	}
	var lacks []string
	edits := host.CodexEdits()
	for _, e := range edits {
		if !host.Holds(f.Before, e) {
			lacks = append(lacks, strings.Join(e.Path, "."))
		}
	}
	if len(runs) == 0 && len(lacks) == len(edits) {
		d.add("codex", "note", message.DoctorNotCodex)
		return false
	}
	d.checkVersion(ctx, "codex", "codex", host.Of(host.Codex).Floor, "warn", message.DoctorCodex, message.WarnOldCodex, message.DoctorNoCodex)
	if _, _, err := host.Apply(f.Before, nil); err != nil {
		d.advise(d.add("codex-hooks", "fail", message.DoctorBadJSON, path, err.Error()), message.HintBrokenJSON, path)
		return true
	}
	if len(lacks) > 0 {
		d.advise(d.add("codex-hooks", "fail", message.DoctorNoKeys, path, strings.Join(lacks, ", ")), message.HintInitCodex)
	} else {
		d.add("codex-hooks", "ok", message.DoctorSettings, path)
	}
	toml, _ := os.ReadFile(filepath.Join(home, "config.toml")) // a missing file approves nothing
	if approved, total := host.CodexApproved(f.Path, f.Before, toml); approved < total {
		d.advise(d.add("codex-trust", "warn", message.DoctorPending, total-approved, total), message.HintApprove)
	} else if total > 0 {
		d.add("codex-trust", "ok", message.DoctorApproved, total)
	}
	d.checkFired(string(host.Codex), host.Of(host.Codex).Events, []string{"user-prompt-submit"}, message.HintFireCodex)
	return true
}
