package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/mirror"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Finding is the outcome of one check.
type Finding struct {
	ID     string               `json:"id"`
	Status host.Health          `json:"status"`
	Text   string               `json:"text"`
	Hint   string               `json:"hint,omitempty"`
	Fired  map[string]time.Time `json:"fired,omitempty"` // of hooks: when each was last called
}

// doctor collects what it finds and changes nothing.
type doctor struct {
	Env
	findings []Finding
}

// Examine looks at our folder, at every host and at one session, which may be
// nil where there is none yet.
func (e Env) Examine(ctx context.Context, sess *store.Session) []Finding {
	d := &doctor{Env: e}
	cfg, problems := e.config()
	d.checkHome()
	set, _ := session.Settings(e.Home, cfg.Compact) // checkPrompt tells the file's own problems
	d.checkConfig(append(problems, set.Disorder(session.PromptFile(e.Home))...))
	d.checkPrompt()
	d.checkTrust()
	d.checkBinary(ctx)
	d.checkHook(ctx)
	d.Ask(ctx, slices.DeleteFunc(host.All(), func(h *host.Host) bool { return !d.has(h, cfg.Compact) }))
	installed := false
	for _, h := range host.All() {
		if d.checkHost(ctx, h, cfg.Compact) {
			installed = true
		}
	}
	if !installed {
		f := d.add("installed", host.Warn, message.DoctorNowhere)
		if f.advise(d, message.HintInit); len(Present()) == 0 {
			f.advise(d, message.HintNoHosts, host.Names())
		}
	}
	d.checkGoals()
	d.checkSession(sess)
	return d.findings
}

func (d *doctor) add(id string, status host.Health, t message.Text, args ...any) *Finding {
	d.findings = append(d.findings, Finding{ID: id, Status: status, Text: t.Format(d.Lang, args...)})
	return &d.findings[len(d.findings)-1]
}

func (f *Finding) advise(d *doctor, t message.Text, args ...any) { f.Hint = t.Format(d.Lang, args...) }

func (d *doctor) short(path string) string { return d.Folders.Short(path) }

// checkHome looks at the disk, the modes, the locks and what was left behind.
func (d *doctor) checkHome() {
	root := d.Home.Root()
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		d.add("disk", host.Note, message.DoctorNoHome, d.short(root))
		return
	}
	probe, err := os.CreateTemp(root, ".doctor-*")
	if err == nil {
		_, err = probe.WriteString("x")
		err = errors.Join(err, probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		d.add("disk", host.Broken, message.DoctorNoDisk, d.short(root), err.Error()).advise(d, message.HintDisk)
	} else {
		d.add("disk", host.Fine, message.DoctorDisk, d.short(root))
	}
	h, err := d.Home.Health(20_000, 500*time.Millisecond)
	if err != nil {
		d.add("permissions", host.Broken, message.DoctorWalk, d.short(root), err.Error()).advise(d, message.HintDisk)
		return
	}
	if n := len(h.Loose); n > 0 {
		d.add("permissions", host.Broken, message.DoctorLoose, n, d.short(h.Loose[0])).advise(d, message.HintModesFix, d.short(root))
	}
	if n := len(h.Open); n > 0 {
		d.add("permissions", host.Warn, message.DoctorOpen, n, d.short(h.Open[0])).advise(d, message.HintModesFix, d.short(root))
	}
	if len(h.Loose)+len(h.Open) == 0 {
		d.add("permissions", host.Fine, message.DoctorModes, h.Looked)
	}
	if len(h.Held) > 0 {
		d.add("locks", host.Warn, message.DoctorHeld, h.Held).advise(d, message.HintHeld)
	} else {
		d.add("locks", host.Fine, message.DoctorLocks)
	}
	if n := len(h.Leftover); n > 0 {
		d.add("leftovers", host.Warn, message.DoctorLeft, n, d.short(h.Leftover[0])).advise(d, message.HintLeft)
	}
}

func (d *doctor) checkConfig(problems []config.Problem) {
	path := d.Home.ConfigFile()
	for _, p := range problems {
		p.File = d.short(p.File)
		d.add("config", host.Warn, message.WarnConfig, p.In(string(d.Lang))).advise(d, message.HintConfig)
	}
	if len(problems) > 0 {
		return
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		d.add("config", host.Note, message.DoctorNoConfig, d.short(path))
		return
	}
	d.add("config", host.Fine, message.DoctorConfig, d.short(path))
}

func (d *doctor) checkPrompt() {
	path := session.PromptFile(d.Home)
	data, err := config.ReadFile(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		d.add("prompt", host.Note, message.DoctorNoPrompt, d.short(path))
		return
	}
	if err != nil {
		d.add("prompt", host.Warn, message.DoctorBadJSON, d.short(path), err.Error()).advise(d, message.HintConfig)
		return
	}
	_, problems := prompt.ParseAutoCompact(data, d.short(path))
	for _, p := range problems {
		d.add("prompt", host.Warn, message.WarnConfig, p.In(string(d.Lang))).advise(d, message.HintConfig)
	}
	if len(problems) == 0 {
		d.add("prompt", host.Fine, message.DoctorPrompt, d.short(path))
	}
}

// checkTrust lists the workflow files that may run commands, so that nobody has trusted
// one without the user knowing.
func (d *doctor) checkTrust() {
	files, err := blueprint.TrustedFiles(d.Home.Root())
	if err != nil {
		d.add("trust", host.Warn, message.WarnConfig, err.Error())
	}
	for _, f := range files {
		if path, at := d.short(f.Path), f.At.Local().Format("2006-01-02 15:04"); f.Same {
			d.add("trust", host.Fine, message.DoctorTrusted, path, f.Digest, at)
		} else {
			d.add("trust", host.Note, message.DoctorDistrust, path, at)
		}
	}
}

// checkBinary: agents call the overtone on PATH, which had better be this one.
func (d *doctor) checkBinary(ctx context.Context) {
	path, found, same := self()
	if found == "" {
		d.add("binary", host.Broken, message.WarnNotOnPath).advise(d, message.HintPath, filepath.Dir(path))
		return
	}
	if !same {
		if v := d.versionOf(ctx, found); v != d.Build {
			d.add("binary", host.Warn, message.DoctorVersions, d.short(found), v, d.Build).advise(d, message.HintVersions)
			return
		}
	}
	d.add("binary", host.Fine, message.DoctorBinary, d.Build, d.short(found))
}

// checkHook: the program for hooks is of the same making as this one.
func (d *doctor) checkHook(ctx context.Context) {
	if d.Hook == "" {
		path, _, _ := self()
		d.add("hook-program", host.Warn, message.WarnNoHook, d.short(filepath.Dir(path)))
		return
	}
	if v := d.versionOf(ctx, d.Hook); v != d.Build {
		d.add("hook-program", host.Warn, message.DoctorHookOther, d.short(d.Hook), v, d.Build).advise(d, message.HintHookOther)
		return
	}
	d.add("hook-program", host.Fine, message.DoctorHook, d.short(d.Hook), d.Build)
}

// versionOf asks one of our programs for its version, which is empty where it cannot
// tell.
func (d *doctor) versionOf(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env, cmd.WaitDelay = d.Environ(), time.Second
	out, _ := cmd.Output()
	_, v, _ := strings.Cut(string(bytes.TrimSpace(out)), " version ")
	return v
}

// checkOutdated looks for what an earlier version installed, and for hooks that call
// a program which is gone. After an upgrade what this version adds is not there yet.
func (d *doctor) checkOutdated(s host.Setup, f host.File, upgraded bool) (outdated bool) {
	files := [][]byte{f.Before}
	if s.Plugin.Hooks != "" {
		data, _ := os.ReadFile(filepath.Join(s.Plugin.Dir, s.Plugin.Hooks)) // that it is missing is said elsewhere
		files = append(files, data)
	}
	for _, data := range files {
		if gone := host.MissingProgram(data); gone != "" {
			d.add("hook-program", host.Broken, message.DoctorHookGone, s.Title, d.short(gone)).advise(d, message.HintInitHost, s.Name)
			return true
		}
	}
	if outdated = s.Outdated(f.Before) || upgraded && !d.complete(s, f); outdated {
		hint := message.HintInitHost
		if s.Texts.Changed != (message.Text{}) {
			hint = message.HintRetrust
		}
		d.add("outdated", host.Warn, message.DoctorOutdated, s.Title).advise(d, hint, s.Name)
	}
	return outdated
}

// complete reports whether a host has all that this version installs in it.
func (d *doctor) complete(s host.Setup, f host.File) bool {
	files, err := s.Plugin.Files()
	if err != nil {
		return true // which is said elsewhere
	}
	state, err := s.Plugin.Compare(files)
	return err != nil || state.Intact() && !slices.ContainsFunc(s.Edits, func(e host.Edit) bool { return !host.Holds(f.Before, e) })
}

// has reports whether something of ours is installed in a host.
func (d *doctor) has(h *host.Host, cfg config.Compact) bool {
	runs, _ := d.backups().Open(h.Name) // checkHost tells what is wrong
	s := d.setup(h, cfg)
	f, _ := host.Open(s.Settings)
	return len(runs) > 0 || s.Present(f.Before)
}

func (d *doctor) checkHost(ctx context.Context, h *host.Host, cfg config.Compact) (installed bool) {
	if err := mirror.Check(ctx, h, d.Folders.Find); err != nil {
		d.add("sessions", host.Warn, message.MirrorProblem, h.Title, err).advise(d, message.HintStore, h.Title)
	}
	s := d.setup(h, cfg)
	runs, err := d.backups().Open(h.Name)
	if err != nil {
		d.add("backup", host.Warn, message.WarnConfig, err.Error())
	}
	f, err := host.Open(s.Settings)
	path := d.short(f.Path)
	if err != nil {
		d.add(h.SettingsCheck, host.Broken, message.DoctorBadJSON, path, err.Error()).advise(d, message.HintDisk)
		return true
	}
	if len(runs) == 0 && !s.Present(f.Before) {
		if bin, err := exec.LookPath(h.Program); err == nil {
			d.add(string(h.Name), host.Note, message.DoctorHere, h.Title, d.short(bin)).advise(d, message.HintInitHost, h.Name)
		} else {
			d.add(string(h.Name), host.Note, message.DoctorAway, h.Title)
		}
		return false
	}
	version := d.checkVersion(ctx, h)
	// Another version has installed what is there.
	upgraded := len(runs) > 0 && runs[0].Version != d.Version && s.Present(f.Before) && (s.Plugin.Dir == "" || s.Plugin.There())
	outdated := d.checkOutdated(s, f, upgraded)
	d.checkPlugin(s, outdated, upgraded)
	if err := s.Readable(f.Before); err != nil {
		d.add(h.SettingsCheck, host.Broken, message.DoctorBadJSON, path, err.Error()).advise(d, message.HintRepair, path)
		return true
	}
	for _, one := range s.Check(f, path) {
		if one.ID == h.SettingsCheck && one.Status != host.Fine && outdated && upgraded {
			continue // said in other words
		}
		d.findings = append(d.findings, Finding{ID: one.ID, Status: one.Status, Text: one.Text.In(d.Lang), Hint: one.Hint.In(d.Lang)})
	}
	for _, b := range s.Blocks {
		d.checkTable(h, b)
	}
	if s.HasAuto() {
		d.checkMode(s, cfg.Mode, version, f, runs)
	}
	d.checkStatusLine(s, f)
	d.checkFired(h)
	if h.Watched {
		d.checkWatcher(cfg.Mode)
	}
	return true
}

// checkTable looks at a TOML file with a table of ours: the host does not start
// with one that it cannot read.
func (d *doctor) checkTable(h *host.Host, b host.Block) {
	var file table
	f, err := host.Open(b.Path)
	if err == nil {
		file, err = readTOML(f.Before)
	}
	path := d.short(b.Path)
	if err != nil {
		d.add("tools", host.Broken, message.DoctorBadJSON, path, err.Error()).advise(d, message.HintRepair, path)
	} else if whose, _ := claimed(file, b); whose == nobodys {
		d.add("tools", host.Warn, message.DoctorNoKeys, path, strings.Join(b.Key, ".")).advise(d, message.HintInitHost, h.Name)
	}
}

// checkWatcher: what compacts in a host whose hooks cannot.
func (d *doctor) checkWatcher(mode string) {
	service, err := d.WatchService(runtime.GOOS, "")
	if err == nil {
		_, err = os.Stat(service.Path)
	}
	status := host.Note
	if mode == "auto" {
		status = host.Warn
	}
	switch {
	case d.Home.Leased(store.WatcherLease):
		d.add("watcher", host.Fine, message.DoctorWatching)
	case err == nil:
		d.add("watcher", host.Warn, message.DoctorIdleUnit).advise(d, message.HintWatchUnit, d.short(service.Path))
	case mode != compact.ModeOff:
		d.add("watcher", status, message.DoctorNoWatcher, mode).advise(d, message.HintWatcher)
	}
}

// checkGoals tells of a goal that a watcher has paused that died before it could set it
// going: nobody works on it, and the host does not say why.
func (d *doctor) checkGoals() {
	list, err := d.Home.Sessions()
	if err != nil || d.Home.Leased(store.WatcherLease) {
		return
	}
	for _, one := range list[:min(len(list), 50)] {
		s, err := d.Home.Session(one.ID)
		if err != nil {
			continue
		}
		if w, _, err := session.ReadWatched(s); err == nil && w.Goal != nil {
			name := strings.TrimSpace(one.ID + " " + message.Cut(message.OneLine(w.Goal.Objective), 120))
			d.add("watcher", host.Warn, message.DoctorGoalRests, name).advise(d, message.HintGoalRests)
		}
	}
}

// checkVersion asks the host's program for its version. Without the program there
// is nothing that could be broken.
func (d *doctor) checkVersion(ctx context.Context, h *host.Host) host.Version {
	id := string(h.Name)
	bin, err := exec.LookPath(h.Program)
	if err != nil {
		d.add(id, host.Warn, message.WarnNoProgram, h.Title, h.Program)
		return host.Version{}
	}
	v, err := d.version(ctx, bin)
	switch {
	case err != nil:
		d.add(id, host.Warn, message.WarnAskVersion, err.Error())
	case v.Less(h.Floor):
		status := host.Warn
		if h.NeedsFloor {
			status = host.Broken
		}
		d.add(id, status, message.WarnOld, h.Title, v, h.Floor).advise(d, message.HintUpgrade, h.Program)
	case h.Newer(v):
		newest := h.Verified[len(h.Verified)-1]
		d.add(id, host.Note, message.DoctorNewer, h.Title+" "+v.String(), newest).advise(d, message.HintNewer, newest)
	case len(h.Verified) > 0 && !slices.Contains(h.Verified, v):
		verified := strings.ReplaceAll(strings.Trim(fmt.Sprint(h.Verified), "[]"), " ", ", ")
		d.add(id, host.Note, message.DoctorBetween, h.Title+" "+v.String(), verified)
	default:
		d.add(id, host.Fine, message.DoctorVerified, h.Title+" "+v.String())
	}
	return v
}

// checkPlugin compares the folder that a host loads with what belongs there. Of one
// that is outdated only what is missing is worth a word, and nothing after an upgrade.
func (d *doctor) checkPlugin(s host.Setup, outdated, upgraded bool) {
	files, err := s.Plugin.Files()
	if err == nil && len(files) == 0 {
		return
	}
	var state host.PluginState
	if err == nil {
		state, err = s.Plugin.Compare(files)
	}
	switch {
	case err != nil:
		d.add("plugin", host.Broken, message.DoctorBadJSON, d.short(s.Plugin.Dir), err.Error()).advise(d, message.HintInit)
	case outdated && (upgraded || len(state.Missing) == 0):
	case !state.Intact():
		d.add("plugin", host.Broken, message.DoctorNoPlugin, len(state.Missing), len(state.Changed), len(state.Extra)).
			advise(d, message.HintInit)
	default:
		d.add("plugin", host.Fine, message.DoctorPlugin, len(files))
	}
}

// checkMode: the gate of mode auto works only below a lowered window, and a
// lowered window without the gate compacts early and anywhere. Both the gate and an
// older host need the hook at the end of a round of tools.
func (d *doctor) checkMode(s host.Setup, mode string, v host.Version, f host.File, runs []host.Manifest) {
	var odd []string
	for _, e := range s.Auto {
		if mode == "auto" && !host.Holds(f.Before, e) {
			odd = append(odd, e.Key())
		}
	}
	for _, e := range s.Rounds {
		switch {
		case !s.NeedsRounds(mode, v) || host.Holds(f.Before, e):
		case mode == "auto":
			odd = append(odd, e.Key())
		default:
			d.add("mode", host.Warn, message.DoctorNoRounds, v, e.Key(), d.short(f.Path)).advise(d, message.HintInit)
			return
		}
	}
	for _, e := range host.Edits(runs, f.Path) {
		if mode != "auto" && s.IsAuto(e) && host.Holds(f.Before, e) && !slices.Contains(odd, e.Key()) {
			odd = append(odd, e.Key())
		}
	}
	switch keys, path := strings.Join(odd, ", "), d.short(f.Path); {
	case len(odd) == 0:
		d.add("mode", host.Fine, message.DoctorMode, mode)
	case mode == "auto":
		d.add("mode", host.Warn, message.DoctorNoWindow, path, keys).advise(d, message.HintInitMode, mode)
	default:
		d.add("mode", host.Warn, message.DoctorHasWindow, mode, path, keys).advise(d, message.HintInitMode, mode)
	}
}

// checkStatusLine: a status line is nice to have, and there is room for one.
func (d *doctor) checkStatusLine(s host.Setup, f host.File) {
	switch ours, taken := s.StatusLine(f.Before); {
	case s.Status == nil:
	case ours:
		d.add("statusline", host.Fine, message.DoctorStatusOurs)
	case taken:
		d.add("statusline", host.Note, message.DoctorStatusKept)
	default:
		d.add("statusline", host.Note, message.DoctorStatusNone).advise(d, message.HintStatusLine)
	}
}

// checkFired tells which hooks a host has called. Some events are rare, so that
// one of them is missing says nothing; core events come with every session.
func (d *doctor) checkFired(h *host.Host) {
	fired := d.Home.Fired(string(h.Name))
	var missing, silent []string
	last := time.Time{}
	for _, e := range h.Events {
		at, ok := fired[e]
		switch {
		case !ok && slices.Contains(h.Core, e):
			silent = append(silent, e)
			missing = append(missing, e)
		case !ok:
			missing = append(missing, e)
		case at.After(last):
			last = at
		}
	}
	n := len(h.Events) - len(missing)
	if n == 0 {
		d.add("hooks", host.Warn, message.DoctorNoFire, h.Name).advise(d, h.Texts.Fire)
		return
	}
	f := d.add("hooks", host.Fine, message.DoctorFired, h.Name, n, len(h.Events), d.ago(last))
	f.Fired = fired
	if len(missing) > 0 {
		f.advise(d, message.DoctorNotYet, missing)
	}
	if len(silent) > 0 {
		d.add("hooks", host.Warn, message.DoctorCore, h.Name, silent).advise(d, h.Texts.Fire)
	}
}

// ago is a time as a person says it; the times of hooks are exact to the hour.
func (d *doctor) ago(t time.Time) string {
	switch h := int(d.Now().Sub(t).Hours()); {
	case h < 1:
		return message.AgoNow.In(d.Lang)
	case h < 48:
		return message.AgoHours.Format(d.Lang, h)
	default:
		return message.AgoDays.Format(d.Lang, h/24)
	}
}
