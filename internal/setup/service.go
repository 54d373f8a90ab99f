package setup

import (
	"context"
	_ "embed"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Service keeps a program running: a unit of the user's systemd, or an agent of
// launchd.
type Service struct {
	Path string
	Runs string // the command that it keeps running, for people
	// Start and Stop are what the service manager is told, in order.
	Start, Stop [][]string

	text []byte
}

// watchVars are what a watcher must see as its user's shell does: a service
// manager starts with next to nothing.
var watchVars = []string{"PATH", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "OVERTONE_HOME", "OVERTONE_LANG", "LANG", "LC_ALL"}

// WatchService is the service that runs the watcher with these arguments on a
// system of that name.
func (e Env) WatchService(system, program string, args ...string) (Service, error) {
	return e.service(system, "overtone-watch-codex", "overtone watch codex", "Overtone: compacts Codex at natural boundaries",
		append([]string{program}, args...))
}

// ShipService is the service that ships this machine's timelines.
func (e Env) ShipService(system, program string, args ...string) (Service, error) {
	return e.service(system, "overtone-team-ship", "overtone-team ship", "Overtone: ships timelines to the team's hub",
		append([]string{program}, args...))
}

func (e Env) service(system, name, runs, description string, command []string) (Service, error) {
	unit, label := name+".service", strings.ReplaceAll(name, "-", ".")
	var vars [][2]string
	for _, name := range watchVars {
		if v := e.Getenv(name); v != "" {
			vars = append(vars, [2]string{name, v})
		}
	}
	switch system {
	case "linux":
		dir := e.Getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(e.Folders.User, ".config")
		}
		user := []string{"systemctl", "--user"}
		return Service{
			Runs: runs, Path: filepath.Join(dir, "systemd", "user", unit), text: systemdUnit(description, command, vars),
			Start: [][]string{append(user[:2:2], "daemon-reload"), append(user[:2:2], "enable", "--now", unit)},
			Stop:  [][]string{append(user[:2:2], "disable", "--now", unit), append(user[:2:2], "daemon-reload")},
		}, nil
	case "darwin":
		path := filepath.Join(e.Folders.User, "Library", "LaunchAgents", label+".plist")
		domain := fmt.Sprintf("gui/%d", os.Getuid())
		return Service{
			Runs: runs, Path: path, text: launchAgent(label, command, vars),
			Start: [][]string{{"launchctl", "bootstrap", domain, path}},
			Stop:  [][]string{{"launchctl", "bootout", domain + "/" + label}},
		}, nil
	}
	return Service{}, message.WithHint(message.Fail(message.ServiceNone, system), message.HintService, runs)
}

//go:embed systemd.service
var systemdText string

//go:embed launchd.plist
var launchdText string

func systemdUnit(description string, command []string, vars [][2]string) []byte {
	var words []string
	for _, word := range command {
		// In a command line $ would be expanded, too.
		words = append(words, strings.ReplaceAll(systemdQuote(word), "$", "$$"))
	}
	env := ""
	for _, v := range vars {
		env += "Environment=" + systemdQuote(v[0]+"="+v[1]) + "\n"
	}
	return fmt.Appendf(nil, systemdText, description, strings.Join(words, " "), env)
}

// systemdQuote: quotes and backslashes are C's, and % would be expanded.
func systemdQuote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "%", "%%").Replace(word) + `"`
}

func launchAgent(label string, command []string, vars [][2]string) []byte {
	words, env := "", ""
	for _, word := range command {
		words += "<string>" + html.EscapeString(word) + "</string>\n"
	}
	for _, v := range vars {
		env += "<key>" + v[0] + "</key>\n<string>" + html.EscapeString(v[1]) + "</string>\n"
	}
	return fmt.Appendf(nil, launchdText, label, words, env)
}

// planService says what would change; with remove the service goes.
func (e Env) planService(s Service, remove bool) (*serviceChange, error) {
	c := &serviceChange{change: newChange(e, nil), service: s, remove: remove}
	f, err := host.Open(s.Path)
	if err != nil {
		return nil, err
	}
	if remove {
		f.After, f.Gone = nil, f.Exists
	} else {
		f.After = s.text
	}
	c.settings = []*host.File{&f}
	c.describe()
	return c, nil
}

type serviceChange struct {
	change
	service Service
	remove  bool
	stuck   bool // the service manager did not do what it was told
}

// apply writes the file, or removes it, and tells the service manager. Where there
// is none, or it refuses, the file stands and a warning says what to run.
func (c *serviceChange) apply(ctx context.Context) error {
	f := c.settings[0]
	if c.remove && f.Exists {
		c.tell(ctx, c.service.Stop[:1])
	}
	if err := f.Write(); err != nil {
		return err
	}
	switch {
	case !c.remove:
		c.tell(ctx, c.service.Start)
	case f.Exists:
		c.tell(ctx, c.service.Stop[1:])
	}
	return nil
}

func (c *serviceChange) tell(ctx context.Context, commands [][]string) {
	for i, words := range commands {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Env, cmd.WaitDelay = c.env.Environ(), time.Second
		out, err := cmd.CombinedOutput()
		cancel()
		if err == nil {
			continue
		}
		var rest []string
		for _, w := range commands[i:] {
			rest = append(rest, strings.Join(w, " "))
		}
		why := err.Error()
		if text := strings.TrimSpace(string(out)); text != "" {
			why += ": " + text
		}
		c.stuck = true
		c.warn(message.ServiceByHand, why, strings.Join(rest, " && "))
		return
	}
}
