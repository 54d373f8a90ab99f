package setup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// newEnv is a home of its own, on a machine without any agent.
func newEnv(t *testing.T) Env {
	t.Helper()
	t.Setenv("PATH", t.TempDir())
	return envAt(t, t.TempDir())
}

func envAt(t interface{ Fatal(args ...any) }, home string) Env {
	getenv := func(key string) string { return map[string]string{"HOME": home}[key] }
	folders, err := store.FindFolders(getenv)
	if err != nil {
		t.Fatal(err)
	}
	return Env{
		Folders: folders, Home: store.New(folders.Root, folders.Claude, time.Now), Dir: filepath.Join(home, "project"), Getenv: getenv,
		Environ: func() []string { return nil }, Now: time.Now, Version: "1", Build: "1", Lang: message.EN,
	}
}

func options(h *host.Host, mode string) Options {
	return Options{
		Host: h, Mode: mode, tell: func(message.Text, ...any) {},
		askLanguage: func() (message.Lang, bool, error) { return message.EN, true, nil },
	}
}

// settingsOf is the file of a host's settings, with these of the user's in it.
func settingsOf(t *testing.T, e Env, h *host.Host, mine string) (path string) {
	t.Helper()
	cfg, _ := e.config()
	path = e.setup(h, cfg.Compact).Settings
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(mine), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func install(t *testing.T, e Env, o Options) *installation {
	t.Helper()
	plan, err := e.planInstall(t.Context(), o)
	if err == nil {
		err = plan.apply(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func takeOut(t *testing.T, e Env, hosts ...*host.Host) *removal {
	t.Helper()
	plan, err := e.planRemoval(hosts, false)
	if err == nil {
		err = plan.apply(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func actions(r Report) map[action]int {
	n := map[action]int{}
	for _, f := range r.Files {
		n[f.Action]++
	}
	return n
}

// Programs are asked for their versions all at once: here each answers only once the other
// one has been started, too.
func TestAskAllAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no shell scripts")
	}
	e := newEnv(t)
	dir := os.Getenv("PATH")
	pipe := filepath.Join(dir, "pipe")
	if out, err := exec.Command("/usr/bin/mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	script := func(name, line string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+line+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script("claude", "echo '2.1.197 (Claude Code)' > "+pipe+"; echo 2.1.197")
	script("codex", "read line < "+pipe+"; echo codex-cli 0.166.0")
	var told [][2]int64
	e.Progress = func(done, total int64) { told = append(told, [2]int64{done, total}) }
	e.Ask(context.Background(), host.All())
	for name, want := range map[string]host.Version{"claude": {2, 1, 197}, "codex": {0, 166, 0}} {
		if got := e.versions[filepath.Join(dir, name)]; got.err != nil || got.Version != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if d := cmp.Diff([][2]int64{{0, 2}, {1, 2}, {2, 2}}, told); d != "" {
		t.Error(d)
	}
}

// Every host: a plan writes nothing, applying it twice changes nothing more, the
// doctor is content with the settings, and removing gives the user's bytes back.
func TestInstallAndRemove(t *testing.T) {
	ctx := context.Background()
	for _, h := range host.All() {
		t.Run(string(h.Name), func(t *testing.T) {
			e := newEnv(t)
			const mine = "{\n\t\"mine\": [1,2]   ,\"z\":{}\n}"
			path := settingsOf(t, e, h, mine)
			left := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".overtone-12345")
			if err := os.WriteFile(left, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if old := time.Now().Add(-2 * time.Hour); os.Chtimes(left, old, old) != nil {
				t.Fatal(left)
			}
			plan, err := e.planInstall(ctx, options(h, ""))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(e.Home.Root()); err == nil || !plan.Changed || actions(plan.Report)[edit] != 1 {
				t.Errorf("plan: %v, %+v", err, plan.Files)
			}
			if err := plan.apply(ctx); err != nil {
				t.Fatal(err)
			}
			if plan.Backup == "" || len(plan.next()) == 0 {
				t.Errorf("backup %q, next %v", plan.Backup, plan.next())
			}
			if _, err := os.Lstat(left); err == nil {
				t.Error("what a killed run left is still there")
			}
			again, err := e.planInstall(ctx, options(h, ""))
			if err != nil || again.Changed {
				t.Errorf("again: %v, %+v", err, again.Files)
			}
			var health []host.Health
			for _, f := range e.Examine(ctx, nil) {
				if f.ID == h.SettingsCheck {
					health = append(health, f.Status)
				}
			}
			if !slices.Equal(health, []host.Health{host.Fine}) {
				t.Errorf("doctor on the settings: %v", health)
			}
			takeOut(t, e, h)
			data, err := os.ReadFile(path)
			if diff := cmp.Diff(mine, string(data)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if nothing, err := e.planRemoval(host.All(), false); err != nil || nothing.Changed {
				t.Errorf("removed twice: %v, %+v", err, nothing.Files)
			}
		})
	}
}

// Every host: what was installed without a program for hooks calls overtone itself;
// once there is one the doctor says so, installing puts it in place, and removing gives
// the user's bytes back.
func TestInstallOverEarlier(t *testing.T) {
	ctx := context.Background()
	for _, h := range host.All() {
		t.Run(string(h.Name), func(t *testing.T) {
			e := newEnv(t)
			const mine = "{\n\t\"mine\": [1,2]   ,\"z\":{}\n}"
			path := settingsOf(t, e, h, mine)
			again := func() *installation {
				t.Helper()
				o := options(h, "")
				o.StatusLine = true
				return install(t, e, o)
			}
			outdated := func() (n int) {
				for _, f := range e.Examine(ctx, nil) {
					if f.ID == "outdated" {
						n++
					}
				}
				return n
			}
			again()
			if n := outdated(); n != 0 {
				t.Errorf("without a program for hooks: outdated %d", n)
			}
			e.Hook = filepath.Join(t.TempDir(), host.HookProgram)
			if err := os.WriteFile(e.Hook, nil, 0o700); err != nil {
				t.Fatal(err)
			}
			if n := outdated(); n != 1 {
				t.Errorf("with one: outdated %d", n)
			}
			if plan := again(); !plan.Changed || slices.Contains(plan.Warnings, message.WarnCodexTrust.EN) != (h.Texts.Changed != message.Text{}) {
				t.Errorf("over the earlier one: changed %v, warnings %q", plan.Changed, plan.Warnings)
			}
			if plan := again(); plan.Changed || outdated() != 0 {
				t.Errorf("twice: %+v", plan.Files)
			}
			takeOut(t, e, h)
			data, err := os.ReadFile(path)
			if diff := cmp.Diff(mine, string(data)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Mode auto needs the program of a host whose compactions a hook may refuse.
func TestAutoIsGivenUp(t *testing.T) {
	for _, h := range host.All() {
		e := newEnv(t)
		plan, err := e.planInstall(context.Background(), options(h, "auto"))
		want := "auto"
		if h.Gates {
			want = "suggest"
		}
		if err != nil || plan.Mode != want {
			t.Errorf("%s: mode %s, want %s; %v", h.Name, plan.Mode, want, err)
		}
	}
}

// A purge never takes the user's home, or the folder one is in, along.
func TestPurgeIsRefused(t *testing.T) {
	e := newEnv(t)
	e.Dir = filepath.Join(e.Home.Root(), "below")
	if _, err := e.planRemoval(host.All(), true); err == nil {
		t.Error("the folder that one is in")
	}
	e = newEnv(t)
	e.Folders.User = e.Home.Root()
	if _, err := e.planRemoval(host.All(), true); err == nil {
		t.Error("the home")
	}
}

// Without an installation the doctor warns and finds nothing broken but the
// missing program.
func TestExamineNothing(t *testing.T) {
	e := newEnv(t)
	status := map[string]host.Health{}
	for _, f := range e.Examine(context.Background(), nil) {
		status[f.ID] = f.Status
	}
	want := map[string]host.Health{
		"disk": host.Note, "config": host.Note, "prompt": host.Note, "binary": host.Broken, "hook-program": host.Warn,
		"claude-code": host.Note, "codex": host.Note, "copilot": host.Note, "opencode": host.Note, "gemini": host.Note, "installed": host.Warn, "session": host.Note,
	}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A link in the place of a folder of ours is not followed: what would be written
// there is somebody else's.
func TestInstallFollowsNoLinks(t *testing.T) {
	ctx := context.Background()
	h := host.All()[0]
	e := newEnv(t)
	plan, err := e.planInstall(ctx, options(h, ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.apply(ctx); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(e.Home.Root())
	if err != nil {
		t.Fatal(err)
	}
	folders := 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		folders++
		e := newEnv(t)
		elsewhere := t.TempDir()
		if err := os.MkdirAll(e.Home.Root(), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, filepath.Join(e.Home.Root(), entry.Name())); err != nil {
			t.Fatal(err)
		}
		if plan, err := e.planInstall(ctx, options(h, "")); err == nil {
			err = plan.apply(ctx)
			if err == nil {
				t.Errorf("%s: a link, and all is well", entry.Name())
			}
		}
		if list, err := os.ReadDir(elsewhere); err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v in somebody else's folder", entry.Name(), list, err)
		}
	}
	if folders < 2 {
		t.Errorf("%d folders", folders)
	}
}

// Every host: after an upgrade what the new version adds is not there yet, which is an
// older set-up; the same gap in this version's own is damage.
func TestDoctorAfterAnUpgrade(t *testing.T) {
	ctx := context.Background()
	for _, h := range host.All() {
		t.Run(string(h.Name), func(t *testing.T) {
			e := newEnv(t)
			install(t, e, options(h, ""))
			cfg, _ := e.config()
			s := e.setup(h, cfg.Compact)
			f, err := host.Open(s.Settings)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Drop(s.Edits[len(s.Edits)-1:]); err != nil {
				t.Fatal(err)
			}
			if files, _ := s.Plugin.Files(); len(files) > 0 {
				err = os.WriteFile(filepath.Join(s.Plugin.Dir, files[0].Name), []byte("older"), 0o600)
			} else {
				err = f.Write()
			}
			if err != nil {
				t.Fatal(err)
			}
			for version, want := range map[string]string{"1": "damaged", "2": "outdated"} {
				e.Version = version
				got := ""
				for _, one := range e.Examine(ctx, nil) {
					switch {
					case one.ID == "outdated":
						got += "outdated"
					case one.Status == host.Broken && (one.ID == "plugin" || one.ID == h.SettingsCheck):
						got += "damaged"
					}
				}
				// Of its one file opencode's says only that it differs.
				if h.Name == host.Opencode {
					want = "outdated"
				}
				if got != want {
					t.Errorf("version %s: %q, want %q", version, got, want)
				}
			}
			e.Version = "2"
			install(t, e, options(h, ""))
			for _, one := range e.Examine(ctx, nil) {
				if one.ID == "outdated" || one.ID == h.SettingsCheck && one.Status != host.Fine {
					t.Errorf("after init: %+v", one)
				}
			}
		})
	}
}

// Every host: a manifest of a newer version is left alone, and what bears our name goes
// all the same, the user's own stays.
func TestRemoveBesideANewerManifest(t *testing.T) {
	ctx := context.Background()
	for _, h := range host.All() {
		t.Run(string(h.Name), func(t *testing.T) {
			e := newEnv(t)
			const mine = "{\n  \"mine\": [1, 2]\n}\n"
			path := settingsOf(t, e, h, mine)
			plan := install(t, e, options(h, ""))
			manifest := filepath.Join(plan.Backup, "manifest.json")
			data, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			newer := bytes.Replace(data, []byte(`"schema": 1`), []byte(`"schema": 2`), 1)
			if err := os.WriteFile(manifest, newer, 0o600); err != nil {
				t.Fatal(err)
			}
			gone := takeOut(t, e, host.All()...)
			if len(gone.Warnings) == 0 {
				t.Error("nothing is said of the manifest")
			}
			if data, err := os.ReadFile(manifest); err != nil || !bytes.Equal(data, newer) {
				t.Errorf("the manifest: %v", err)
			}
			want := mine
			if h.Name == host.Copilot { // it does not read a file without it
				want = strings.Replace(mine, "]", "],\n  \"version\": 1", 1)
			}
			now, err := os.ReadFile(path)
			if diff := cmp.Diff(want, string(now)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			for _, one := range e.Examine(ctx, nil) {
				if one.ID == h.SettingsCheck {
					t.Errorf("still there: %+v", one)
				}
			}
		})
	}
}
