package setup

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

var update = flag.Bool("update", false, "write what the tests see into testdata")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if diff := cmp.Diff(string(want), got); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got; -update writes it):\n%s", path, err, diff)
	}
}

// world is a home with programs in it, and a clock that stands.
type world struct {
	t *testing.T
	Env
	bin  string // on PATH
	home string
	sess *store.Session
	out  strings.Builder
}

func newWorld(t *testing.T) *world {
	if runtime.GOOS == "windows" {
		t.Skip("no shell scripts")
	}
	e := newEnv(t)
	now := time.Now()
	e.Now = func() time.Time { return now }
	e.Home = store.New(e.Folders.Root, e.Folders.Claude, e.Now)
	return &world{t: t, Env: e, bin: os.Getenv("PATH"), home: e.Folders.User}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// file writes a file below the home.
func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.Folders.User, filepath.FromSlash(name))
	w.must(os.MkdirAll(filepath.Dir(path), 0o700))
	w.must(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// program puts one on PATH that says this of its version.
func (w *world) program(name, version string) string {
	w.t.Helper()
	path := filepath.Join(w.bin, name)
	w.must(os.WriteFile(path, []byte("#!/bin/sh\n"+version+"\n"), 0o700))
	return path
}

func (w *world) install(h *host.Host, mode string) *installation {
	w.t.Helper()
	return install(w.t, w.Env, options(h, mode))
}

// stamped is the name of a backup.
var stamped = regexp.MustCompile(`\d{8}T\d{6}\.\d+Z(-\d+)?`)

// counted are numbers that change with what is installed, or from run to run.
var counted = regexp.MustCompile(`\d+( files)|(\.doctor-|intact: )\d+`)

// hidden makes what differs from run to run the same.
func (w *world) hidden(text string) string {
	path, _, _ := self()
	service, _ := w.WatchService(runtime.GOOS, "")
	if service.Path != "" {
		text = strings.ReplaceAll(text, w.Folders.Short(service.Path), "SERVICE")
	}
	names := []string{path, "SELF", w.bin, "BIN", w.home, "HOME", filepath.Dir(path), "TEST"}
	for _, h := range host.All() {
		names = append(names, h.Floor.String(), "FLOOR", h.Verified[len(h.Verified)-1].String(), "NEWEST")
	}
	return counted.ReplaceAllString(strings.NewReplacer(names...).Replace(text), "${2}N$1")
}

// examine notes what the doctor says, with these checks only where some are named.
func (w *world) examine(title string, checks ...string) {
	w.t.Helper()
	fmt.Fprintf(&w.out, "== %s\n", title)
	for _, f := range w.Examine(context.Background(), w.sess) {
		named := len(checks) == 0
		for _, id := range checks {
			named = named || id == f.ID
		}
		if !named {
			continue
		}
		line := fmt.Sprintf("%-6s %s: %s", f.Status, f.ID, f.Text)
		if f.Hint != "" {
			line += " → " + f.Hint
		}
		w.out.WriteString(strings.ReplaceAll(w.hidden(line), "\n", " ") + "\n")
	}
}

// What the doctor says of our own folder, settings and programs.
func TestDoctorOfOurs(t *testing.T) {
	w := newWorld(t)
	w.examine("nothing is here")

	w.file(".overtone/config.yaml", "compact: {mode: suggest}\n")
	w.file(".overtone/auto-compact.md", "---\nversion: 1\n---\nWrite a packet.\n")
	w.examine("settings and prompt", "disk", "permissions", "locks", "leftovers", "config", "prompt")
	config := w.file(".overtone/config.yaml", "compact: {mode: odd}\nworkflow: [\n")
	prompt := w.file(".overtone/auto-compact.md", "---\nversion: 7\nodd: 1\n---\n")
	w.examine("problems in both", "config", "prompt")
	w.file(".overtone/config.yaml", "compact: {trigger: {early_percent_remaining_lt: 10}}\n")
	w.must(os.Remove(prompt))
	w.must(os.Mkdir(prompt, 0o700))
	w.examine("tiers in the wrong order, a prompt that is none", "config", "prompt")
	w.must(os.Remove(prompt))

	w.must(os.Chmod(config, 0o644))
	w.examine("readable by others", "permissions")
	loose := w.file(".overtone/loose", "")
	w.must(os.Chmod(loose, 0o622))
	w.examine("writable by others", "permissions")
	w.must(os.Remove(loose))
	w.must(os.Chmod(config, 0o600))

	half := w.file(".overtone/sessions/s1/.workflow.json-1.tmp", "")
	w.must(os.Chtimes(half, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)))
	sess, err := w.Home.Session("s1")
	w.must(err)
	w.must(sess.Update(func(*store.Tx) error {
		w.examine("a lock that is held", "locks", "leftovers")
		return nil
	}))

	root := w.Home.Root()
	w.must(os.Rename(root, root+"-aside"))
	w.must(os.WriteFile(root, nil, 0o600))
	w.examine("a file in the place of our folder", "disk", "permissions")
	w.must(os.Remove(root))
	w.must(os.Rename(root+"-aside", root))

	w.program("overtone", "echo overtone version 0.9")
	w.examine("another overtone is on PATH", "binary", "hook-program")
	w.program("overtone", "echo overtone version 1")
	w.Hook = w.program(host.HookProgram, "echo overtone-hook version 2")
	w.examine("the same one, and another program for hooks", "binary", "hook-program")
	w.program(host.HookProgram, "echo overtone-hook version 1")
	w.examine("both are of one making", "binary", "hook-program")
	golden(t, "doctor-ours.txt", w.out.String())
}

// What the doctor says of an installation in each host, whole and damaged.
func TestDoctorOfHosts(t *testing.T) {
	for _, h := range host.All() {
		t.Run(string(h.Name), func(t *testing.T) {
			w := newWorld(t)
			say := func(version string) {
				if h.Name == host.ClaudeCode {
					version += " (Claude Code)"
				}
				w.program(h.Program, "case $1 in --version|-v|version) echo '"+version+"';; esac")
			}
			say(h.Floor.String())
			w.examine("the program alone", string(h.Name), "installed")
			w.install(h, "")
			w.examine("installed")
			for _, e := range h.Events {
				w.Home.MarkFired(string(h.Name), e)
			}
			w.examine("every hook has fired", "hooks")
			w.Hook = w.program(host.HookProgram, "echo overtone-hook version 1")
			w.examine("a program for hooks has come", "outdated", "hook-program")
			w.Hook = ""
			dir := filepath.Join(w.Home.Root(), "hooks", string(h.Name))
			w.must(os.Remove(filepath.Join(dir, h.Core[0])))
			old := w.Now().Add(-30 * time.Hour)
			for _, e := range h.Events[1:] {
				_ = os.Chtimes(filepath.Join(dir, e), old, old)
			}
			_ = os.Chtimes(filepath.Join(dir, h.Events[0]), old.Add(-50*time.Hour), old.Add(-50*time.Hour))
			w.examine("not one that comes with every session", "hooks")

			for _, v := range []host.Version{{0, 0, 1}, h.Verified[len(h.Verified)-1], {999, 0, 0}} {
				say(v.String())
				w.examine(w.hidden("version "+v.String()), string(h.Name))
			}
			w.program(h.Program, "exit 1")
			w.examine("a program that fails", string(h.Name))
			say(h.Verified[0].String())

			for _, mode := range []string{"auto", "off"} {
				w.file(".overtone/config.yaml", "compact: {mode: "+mode+"}\n")
				w.examine("settings say "+mode, "mode", "watcher")
			}
			w.must(os.Remove(filepath.Join(w.Home.Root(), "config.yaml")))
			if h.Gates {
				w.install(h, "auto")
				w.examine("installed for auto", "mode")
				w.file(".overtone/config.yaml", "compact: {mode: suggest}\n")
				w.examine("and set to suggest by hand", "mode")
			}

			cfg, _ := w.config()
			s := w.setup(h, cfg.Compact)
			if files, _ := s.Plugin.Files(); len(files) > 1 {
				w.must(os.Remove(filepath.Join(s.Plugin.Dir, files[0].Name)))
				w.must(os.WriteFile(filepath.Join(s.Plugin.Dir, files[1].Name), nil, 0o600))
				w.must(os.WriteFile(filepath.Join(s.Plugin.Dir, "foreign"), nil, 0o600))
				w.examine("a damaged plugin", "plugin")
			}
			for _, b := range s.Blocks {
				text, err := os.ReadFile(b.Path)
				w.must(err)
				w.must(os.WriteFile(b.Path, nil, 0o600))
				w.examine("no table of ours", "tools")
				w.must(os.WriteFile(b.Path, []byte("= broken"), 0o600))
				w.examine("a table that cannot be read", "tools")
				w.must(os.WriteFile(b.Path, text, 0o600))
			}
			if s.Status != nil {
				o := options(h, "")
				o.StatusLine = true
				plan, err := w.planInstall(context.Background(), o)
				w.must(err)
				w.must(plan.apply(context.Background()))
				w.examine("our status line", "statusline")
				text, err := os.ReadFile(s.Settings)
				w.must(err)
				w.must(os.WriteFile(s.Settings, []byte(strings.ReplaceAll(string(text), "overtone statusline", "mine")), 0o600))
				w.examine("the user's", "statusline")
			}
			w.must(os.WriteFile(s.Settings, []byte("{}"), 0o600))
			w.examine("settings without us", h.SettingsCheck)
			w.must(os.WriteFile(s.Settings, []byte("{"), 0o600))
			w.examine("settings that cannot be read", h.SettingsCheck)
			w.must(os.Remove(s.Settings))
			w.must(os.Mkdir(s.Settings, 0o700))
			w.examine("settings that are a folder", h.SettingsCheck)
			golden(t, "doctor-"+string(h.Name)+".txt", w.out.String())
		})
	}
}

// What the doctor says of watchers and of a goal that one has left resting.
func TestDoctorOfWatchers(t *testing.T) {
	w := newWorld(t)
	w.install(host.Of(host.Codex), "")
	release, ok, err := w.Home.TryLease(store.WatcherLease)
	w.must(err)
	if !ok {
		t.Fatal("no lease")
	}
	w.examine("one runs", "watcher")
	release()
	w.examine("none runs", "watcher")
	w.file(".overtone/sessions/thread/watch.json", `{"schema":1,"host":"codex","goal":{"objective":"ship\nit"}}`)
	w.examine("one died in a compaction", "watcher")
	service, err := w.WatchService(runtime.GOOS, "")
	w.must(err)
	w.must(os.MkdirAll(filepath.Dir(service.Path), 0o700))
	w.must(os.WriteFile(service.Path, nil, 0o600))
	w.examine("its service does not run", "watcher")
	golden(t, "doctor-watchers.txt", w.out.String())
}

// What the doctor says of a session.
func TestDoctorOfASession(t *testing.T) {
	w := newWorld(t)
	var err error
	w.sess, err = w.Home.Session("s1")
	w.must(err)
	timeline := ".overtone/sessions/s1/" + store.TimelineFile
	w.file(timeline, `{"ts":"2026-01-02T03:04:05Z","type":"`+message.EventSessionStart+"\"}\n")
	checks := []string{"session", "timeline", "workflow", "receipt", "window"}
	w.examine("one that has just begun", checks...)
	for _, state := range []string{`{"version":4,"sessionId":"s1"}`, `{"version":99}`, `{`} {
		w.file(".overtone/sessions/s1/"+store.WorkflowFile, state)
		w.examine("the workflow is "+state, "workflow")
	}
	ago := w.Now().Add(-11 * time.Minute).UTC().Format(time.RFC3339)
	soon := w.Now().Add(-9 * time.Minute).UTC().Format(time.RFC3339)
	for _, k := range []string{
		`"status":"failed"`, `"status":"begun","at":"` + soon + `"`, `"status":"begun","at":"` + ago + `"`, `"status":"done"`,
		`"receipt":{"state":"delivered","via":"session-start"}`, `"trigger":"auto","receipt":{"state":"printing"}`, `"receipt":{"state":"unknown"}`,
		`"receipt":{"state":"delivering","via":"prompt"}`, `"receipt":{"state":"expired","reason":"too old"}`, `"receipt":{"state":"dropped"}`, `"receipt":{"state":"created"}`,
	} {
		w.file(".overtone/sessions/s1/"+session.MemoryFile, `{"schema":1,"compaction":{"n":2,`+k+"}}\n")
		w.examine(strings.NewReplacer(ago, "ELEVEN MINUTES AGO", soon, "NINE MINUTES AGO").Replace(k), "receipt")
	}
	w.file(".overtone/sessions/s1/"+session.MemoryFile, "not JSON\n")
	for _, typ := range []string{message.EventPacketCreated, message.EventPacketDelivered, message.EventPacketExpired, message.EventSessionCompactFailed} {
		w.file(timeline, `{"ts":"","type":"`+typ+`"}`+"\n")
		w.examine("a watcher's "+typ, "receipt")
	}
	w.file(timeline, `{"ts":"2026-01-02T03:04:05Z","type":"`+message.EventSessionStart+"\"}\nodd\n")
	w.examine("a damaged line", "timeline")
	w.must(os.Remove(filepath.Join(w.Home.Root(), "sessions", "s1", session.MemoryFile)))
	w.file(".overtone/sessions/s1/"+session.MemoryFile, `{"schema":1,"watch":{"usage":{"used":70000,"window":0}}}`+"\n")
	w.examine("a window that nobody has told", "window")
	w.file(".overtone/config.yaml", "compact: {context_window: 100000}\n")
	w.examine("one that the settings tell", "window")
	golden(t, "doctor-session.txt", w.out.String())
}
