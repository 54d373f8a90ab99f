package setup

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// found are the states of a check of the doctor's.
func (w *world) found(check string) (list []host.Health) {
	w.t.Helper()
	for _, f := range w.Examine(context.Background(), nil) {
		if f.ID == check {
			list = append(list, f.Status)
		}
	}
	return list
}

func (w *world) check(title, check string, want ...host.Health) {
	w.t.Helper()
	if d := cmp.Diff(want, w.found(check)); d != "" {
		w.t.Errorf("%s: %s (-want +got):\n%s", title, check, d)
	}
}

// A file that may run commands is told of, one that was changed since in another way, and
// a list of them that nobody can read is no empty one.
func TestDoctorOfTrust(t *testing.T) {
	w := newWorld(t)
	w.check("none is trusted", "trust")
	path := w.file("project/flow.yaml", "x\n")
	w.must(blueprint.Trust(w.Home.Root(), blueprint.File{Path: path, Source: []byte("x\n")}, w.Now()))
	w.check("trusted", "trust", host.Fine)
	w.file("project/flow.yaml", "y\n")
	w.check("changed since", "trust", host.Note)
	w.file(".overtone/"+blueprint.TrustFile, "{")
	w.check("a list that cannot be read", "trust", host.Warn)
}

// Hooks that call a program which is gone are broken, in every host: nothing else would
// say so.
func TestDoctorOfAHookProgramThatIsGone(t *testing.T) {
	for _, h := range host.All() {
		w := newWorld(t)
		w.Hook = filepath.Join(t.TempDir(), host.HookProgram)
		w.must(os.WriteFile(w.Hook, []byte("#!/bin/sh\necho overtone-hook version 1\n"), 0o700))
		w.install(h, "")
		w.check(string(h.Name)+", it is there", "hook-program", host.Fine)
		w.must(os.Remove(w.Hook))
		w.Hook = ""
		if len(w.found("outdated")) == 0 { // of opencode's one file the doctor says that it is another
			w.check(string(h.Name)+", it is gone", "hook-program", host.Warn, host.Broken)
		}
	}
}

// A host's program is looked for and asked: where there is none, and where it is too old,
// init and the doctor say so.
func TestHostsPrograms(t *testing.T) {
	w := newWorld(t)
	codex := host.Of(host.Codex)
	says := func(plan *installation, why message.Text, args ...any) {
		t.Helper()
		if !slices.Contains(plan.Warnings, why.Format(w.Lang, args...)) {
			t.Errorf("%q is not among %q", why.Format(w.Lang, args...), plan.Warnings)
		}
	}
	says(w.install(codex, ""), message.WarnNoProgram, codex.Title, codex.Program)
	w.check("without its program", "codex", host.Warn)
	w.check("another host, which we are not in", "gemini", host.Note)
	if here := Present(); len(here) != 0 {
		t.Errorf("%d hosts are here", len(here))
	}
	w.program("codex", "echo codex-cli 0.1.0")
	w.versions = nil
	says(w.install(codex, ""), message.WarnOld, codex.Title, host.Version{0, 1, 0}, codex.Floor)
	if here := Present(); len(here) != 1 || here[0] != codex {
		t.Errorf("%v are here", here)
	}
}

// What a host keeps its sessions in and cannot be read is told of that host.
func TestDoctorOfSessionsThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.install(host.Of(host.Opencode), "")
	w.check("none yet", "sessions")
	w.file(".local/share/opencode/opencode.db/x", "")
	w.check("a folder in the database's place", "sessions", host.Warn)
}

// What is edited beside a host's settings goes with them, also where nobody noted it, and
// a file that is broken stops init before it writes.
func TestFilesBesideTheSettings(t *testing.T) {
	for _, h := range host.All() {
		w := newWorld(t)
		cfg, _ := w.config()
		for _, b := range w.setup(h, cfg.Compact).Beside {
			const mine = "{\n  \"mine\": {\n    \"a\": 1\n  }\n}\n"
			name, err := filepath.Rel(w.home, b.Path)
			w.must(err)
			w.file(name, "{")
			if _, err := w.planInstall(t.Context(), options(h, "")); err == nil || !strings.Contains(err.Error(), filepath.Base(b.Path)) {
				t.Errorf("%s, broken: %v", name, err)
			}
			w.file(name, mine)
			w.install(h, "")
			if w.read(name) == mine {
				t.Fatalf("%s: nothing was written", name)
			}
			w.must(os.RemoveAll(filepath.Join(w.Home.Root(), "backup")))
			takeOut(t, w.Env, h)
			if now := w.read(name); strings.Contains(now, "overtone") || !strings.Contains(now, `"mine"`) {
				t.Errorf("%s: %s", name, now)
			}
		}
	}
}

// A record of an installation that cannot be read is told, and settings that are no file
// are not taken for a host without us.
func TestDoctorOfWhatCannotBeRead(t *testing.T) {
	for _, h := range host.All() {
		w := newWorld(t)
		plan := w.install(h, "")
		w.must(os.WriteFile(filepath.Join(plan.Backup, "manifest.json"), []byte("{"), 0o600))
		if !slices.Contains(w.found("backup"), host.Warn) {
			t.Errorf("%s: nothing is said of the record", h.Name)
		}
		w.check(string(h.Name), "installed")
		cfg, _ := w.config()
		s := w.setup(h, cfg.Compact)
		if files, _ := s.Plugin.Files(); len(files) > 0 {
			file := filepath.Join(s.Plugin.Dir, files[0].Name)
			w.must(os.Remove(file))
			w.must(os.Mkdir(file, 0o700))
			w.check(string(h.Name)+", a folder in the place of a file", "plugin", host.Broken)
		}
		w.must(os.RemoveAll(s.Settings))
		w.must(os.Mkdir(s.Settings, 0o700))
		w.check(string(h.Name)+", settings that are a folder", "installed")
	}
}

// A version between two that we know is neither old nor new, and said to be unknown.
func TestDoctorOfAVersionBetween(t *testing.T) {
	w := newWorld(t)
	h := host.Of(host.Codex)
	between := h.Verified[0]
	for between[2]++; slices.Contains(h.Verified, between); between[2]++ {
	}
	w.program(h.Program, "echo codex-cli "+between.String())
	w.install(h, "")
	w.check(between.String(), string(h.Name), host.Note)
	w.program(h.Program, "echo codex-cli "+h.Verified[0].String())
	w.check(h.Verified[0].String(), string(h.Name), host.Fine)
}

// Programs of hosts that we are in say their versions all at once, which is shown.
func TestDoctorAsksAtOnce(t *testing.T) {
	w := newWorld(t)
	told := 0
	w.Progress = func(int64, int64) { told++ }
	w.program("codex", "echo codex-cli 0.166.0")
	w.install(host.Of(host.Codex), "")
	w.found("codex")
	if told != 2 {
		t.Errorf("told %d times", told)
	}
}

// Times of hooks are told in hours for two days, and in days from then on.
func TestAgo(t *testing.T) {
	e := newEnv(t)
	now := time.Now()
	e.Now = func() time.Time { return now }
	d := &doctor{Env: e}
	for hours, want := range map[int]string{
		0: message.AgoNow.EN, 1: message.AgoHours.Format(e.Lang, 1), 47: message.AgoHours.Format(e.Lang, 47), 48: message.AgoDays.Format(e.Lang, 2), 73: message.AgoDays.Format(e.Lang, 3),
	} {
		if got := d.ago(now.Add(-time.Duration(hours) * time.Hour)); got != want {
			t.Errorf("%d hours: %q, want %q", hours, got, want)
		}
	}
}

// In a folder among the host's own, what has a name of ours and other content is kept
// before it is written over: it may be the user's.
func TestWhatIsWrittenOverIsKept(t *testing.T) {
	for _, h := range host.All() {
		w := newWorld(t)
		w.install(h, "")
		cfg, _ := w.config()
		p := w.setup(h, cfg.Compact).Plugin
		files, _ := p.Files()
		if !p.Shared || len(files) == 0 {
			continue
		}
		w.must(os.WriteFile(filepath.Join(p.Dir, files[0].Name), []byte("mine"), 0o600))
		plan := w.install(h, "")
		kept := 0
		entries, err := os.ReadDir(plan.Backup)
		w.must(err)
		for _, e := range entries {
			data, _ := os.ReadFile(filepath.Join(plan.Backup, e.Name()))
			if string(data) == "mine" {
				kept++
			}
		}
		if kept != 1 {
			t.Errorf("%s: %d copies in %s", h.Name, kept, plan.Backup)
		}
	}
}

// Removing Overtone takes the service of its watcher along, and the reports of stages where
// no Claude Code has a folder for them; removing it from one host leaves the reports.
func TestRemovalTakesAllOfOurs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("stands in for one service manager")
	}
	log := managers(t, "0")
	e := envAt(t, t.TempDir())
	e.Folders = e.Folders.WithoutClaude()
	e.Environ = os.Environ
	w := &world{t: t, Env: e, home: e.Folders.User}
	w.Home = store.New(e.Folders.Root, e.Folders.Claude, e.Now)
	report := w.file(".overtone/stages/report.md", "x")
	codex := host.Of(host.Codex)
	w.install(codex, "")
	service, err := w.WatchService(runtime.GOOS, "/opt/overtone", "watch", "codex")
	w.must(err)
	made, err := w.planService(service, false)
	w.must(err)
	w.must(made.apply(t.Context()))

	one, err := w.planRemoval([]*host.Host{codex}, false)
	w.must(err)
	named := func(r *removal, path string) bool {
		return slices.ContainsFunc(r.Files, func(f fileReport) bool { return f.Path == path && f.Action == remove })
	}
	if !named(one, service.Path) || named(one, filepath.Dir(report)) {
		t.Errorf("from one host: %+v", one.Files)
	}
	all, err := w.planRemoval(host.All(), true)
	w.must(err)
	if !named(all, service.Path) || !named(all, filepath.Dir(report)) {
		t.Errorf("from all: %+v", all.Files)
	}
	w.must(all.apply(t.Context()))
	for _, path := range []string{service.Path, report, w.Home.Root()} {
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	if !strings.Contains(log(), "disable --now") {
		t.Errorf("the service still runs:\n%s", log())
	}
}

// The program for hooks lies beside this one: first in the folder on PATH that leads to it,
// which outlives an upgrade, then where it really is.
func TestHookProgram(t *testing.T) {
	w := newWorld(t)
	self, err := os.Executable()
	w.must(err)
	if got := HookProgram(); got != "" {
		t.Fatalf("there is one: %s", got)
	}
	beside := filepath.Join(filepath.Dir(self), host.HookProgram)
	w.must(os.WriteFile(beside, nil, 0o700))
	t.Cleanup(func() { os.Remove(beside) })
	w.must(os.Symlink(self, filepath.Join(w.bin, "overtone")))
	if got := HookProgram(); got != beside {
		t.Errorf("beside this program: %q, want %q", got, beside)
	}
	linked := w.program(host.HookProgram, "")
	if got := HookProgram(); got != linked {
		t.Errorf("on PATH: %q, want %q", got, linked)
	}
	w.must(os.Remove(filepath.Join(w.bin, "overtone")))
	w.program("overtone", "")
	if got := HookProgram(); got != beside {
		t.Errorf("another overtone is on PATH: %q, want %q", got, beside)
	}
}

// Nobody asked for a mode, and the one that is set works: init leaves it as it is written,
// or not written.
func TestInitLeavesTheMode(t *testing.T) {
	for _, text := range []string{"language: en\n", "language: en\ncompact:\n  mode: off\n"} {
		w := newWorld(t)
		w.file(".overtone/config.yaml", text)
		if i := w.install(host.Of(host.Gemini), ""); w.read(".overtone/config.yaml") != text {
			t.Errorf("mode %s: %q became %q", i.Mode, text, w.read(".overtone/config.yaml"))
		}
	}
}

// Lines that we add to a TOML file end as its own do.
func TestTableEndsItsLinesAsTheFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "model = \"x\"\n": false, "model = \"x\"\r\n": true} {
		h := newCodexHome(t, t.TempDir())
		h.write(text)
		if _, err := h.init(); err != nil {
			t.Fatal(err)
		}
		now := h.read()
		if lines, crlf := strings.Count(now, "\n"), strings.Count(now, "\r\n"); lines < 3 || want && crlf != lines || !want && crlf > 0 {
			t.Errorf("%q: %d of %d lines end with CRLF", text, crlf, lines)
		}
		// An empty line stands between the user's and ours, and before ours alone none.
		if rest := strings.TrimPrefix(now, text); (strings.TrimLeft(rest, "\r\n") == rest) != (text == "") {
			t.Errorf("%q: %q", text, now)
		}
	}
}

// Our table goes to its last byte, also where the user's editor left no line end behind it.
func TestTakeTableAtTheEnd(t *testing.T) {
	t.Parallel()
	b := host.Block{Key: []string{"mcp_servers", "overtone"}, Marks: []string{"# by overtone init"}, Text: "[mcp_servers.overtone]\ncommand = \"overtone\"\n"}
	for _, end := range []string{"\n", "", "\n# mine\n", "\n\n[tui]\ntheme = \"dark\""} {
		text := "model = \"x\"\n\n# by overtone init\n[mcp_servers.overtone]\ncommand = \"overtone\""
		after, whose, _, err := takeTable([]byte(text+end), b)
		if want := "model = \"x\"\n" + strings.TrimPrefix(end, "\n"); string(after) != want || whose != ours || err != nil {
			t.Errorf("%q: %q, want %q; %v, %v", end, after, want, whose, err)
		}
	}
	if got := written(host.Edit{Value: "# by overtone init\n" + b.Text}, b.Key); !slices.Equal(got.Marks, b.Marks) {
		t.Errorf("marks %q", got.Marks)
	}
}

// A name goes out of a table with what holds nothing else; its neighbours stay.
func TestWithout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"[a.b]\nx = 1\n", ""}, {"[a.b]\nx = 1\n[a.c]\ny = 2\n", "[a.c]\ny = 2\n"}, {"a = 1\n", "a = 1\n"}, {"[a]\nz = 1\n[a.b]\n", "[a]\nz = 1\n"},
	} {
		got, err1 := readTOML([]byte(tt.text))
		want, err2 := readTOML([]byte(tt.want))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if without(got, []string{"a", "b"}); !same(got, want) {
			t.Errorf("%q: %v, want %v", tt.text, got, want)
		}
	}
}
