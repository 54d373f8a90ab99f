package setup

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// managers puts stand-ins for the service managers on PATH, which note how they
// were called.
func managers(t *testing.T, status string) (log func() string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "log")
	for _, name := range []string{"systemctl", "launchctl"} {
		script := "#!/bin/sh\necho " + name + ` "$@" >> ` + file + "\nexit " + status + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	return func() string {
		b, _ := os.ReadFile(file)
		return string(b)
	}
}

func serviceEnv(t *testing.T, vars map[string]string) Env {
	home := t.TempDir()
	return Env{
		Folders: store.Folders{User: home}, Lang: message.EN,
		Getenv: func(k string) string { return vars[k] }, Environ: os.Environ,
	}
}

func TestWatchService(t *testing.T) {
	log := managers(t, "0")
	e := serviceEnv(t, map[string]string{"CODEX_HOME": `/a b/"c"/100%`, "OTHER": "x"})
	s, err := e.WatchService("linux", "/opt/my tools/$x/overtone", "watch", "codex")
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.planService(s, false)
	if err != nil || !p.Changed {
		t.Fatalf("plan = %+v, %v", p.Report, err)
	}
	if _, err := os.Stat(s.Path); err == nil {
		t.Fatal("a plan wrote something")
	}
	if err := p.apply(t.Context()); err != nil || len(p.Warnings) > 0 {
		t.Fatal(err, p.Warnings)
	}
	unit, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`ExecStart="/opt/my tools/$$x/overtone" "watch" "codex"` + "\n", "Restart=always\n", "WantedBy=default.target\n",
		`Environment="CODEX_HOME=/a b/\"c\"/100%%"` + "\n",
	} {
		if !strings.Contains(string(unit), want) {
			t.Errorf("the unit lacks %q:\n%s", want, unit)
		}
	}
	if strings.Contains(string(unit), "OTHER") {
		t.Error("a variable that is none of its business")
	}
	if got, want := log(), "systemctl --user daemon-reload\nsystemctl --user enable --now overtone-watch-codex.service\n"; got != want {
		t.Errorf("ran\n%s", got)
	}
	if again, err := e.planService(s, false); err != nil || again.Changed {
		t.Errorf("a second time: %+v, %v", again, err)
	}

	gone, err := e.planService(s, true)
	if err != nil || !gone.Changed {
		t.Fatal(gone, err)
	}
	if err := gone.apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Path); err == nil || !strings.Contains(log(), "disable --now") {
		t.Errorf("still there: %s", log())
	}
	if none, err := e.planService(s, true); err != nil || none.Changed {
		t.Errorf("nothing to remove: %+v, %v", none, err)
	}
}

func TestWatchServiceWithoutManager(t *testing.T) {
	managers(t, "1")
	e := serviceEnv(t, nil)
	s, _ := e.WatchService("linux", "/opt/overtone", "watch", "codex")
	p, err := e.planService(s, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Path); err != nil || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "systemctl --user daemon-reload && systemctl --user enable") {
		t.Errorf("%v, warnings %q", err, p.Warnings)
	}
}

func TestWatchServiceOfLaunchd(t *testing.T) {
	log := managers(t, "0")
	e := serviceEnv(t, map[string]string{"PATH": "/a&b"})
	s, err := e.WatchService("darwin", "/opt/a<b/overtone", "watch", "codex")
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.planService(s, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	plist, _ := os.ReadFile(s.Path)
	for d := xml.NewDecoder(strings.NewReader(string(plist))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v:\n%s", err, plist)
		}
	}
	if !strings.Contains(string(plist), "<key>ProgramArguments</key>\n<array>\n<string>/opt/a&lt;b/overtone</string>") || !strings.Contains(log(), "launchctl bootstrap gui/") {
		t.Errorf("%s\n%s", plist, log())
	}
}

func TestWatchServiceElsewhere(t *testing.T) {
	if _, err := serviceEnv(t, nil).WatchService("plan9", "/x"); err == nil {
		t.Error("no error")
	}
}
