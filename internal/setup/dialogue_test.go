package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// changedLines are those of a difference, and changedText is all of one in JSON: what is
// written into settings is tested elsewhere.
var (
	changedLines = regexp.MustCompile(`(@@ .*\n)(?:[-+ ].*\n)+`)
	changedText  = regexp.MustCompile(`("diff": ").*(",?)`)
)

// talk notes what a run with a person says; answers are the person's, line by line, and
// where there are none nobody sits there.
func (w *world) talk(title, answers string, asJSON bool, run func(*terminal.Terminal) error) {
	w.t.Helper()
	dir := w.t.TempDir()
	in := filepath.Join(dir, "in")
	w.must(os.WriteFile(in, []byte(answers), 0o600))
	stdin, err := os.Open(in)
	w.must(err)
	defer stdin.Close()
	out, err := os.Create(filepath.Join(dir, "out"))
	w.must(err)
	defer out.Close()
	t := &terminal.Terminal{Lang: w.Lang, JSON: asJSON, Program: "overtone"}
	t.Stdin, t.Stdout, t.Stderr, t.Now = stdin, out, out, w.Now
	t.Getenv = func(key string) string { return map[string]string{"COLUMNS": "200", "NO_COLOR": "1"}[key] }
	t.IsTTY = func(uintptr) bool { return answers != "" }
	if err := run(t); err != nil {
		fmt.Fprintf(out, "error: %v; hint: %s\n", message.ErrorText(err, w.Lang), message.HintOf(err, w.Lang))
	}
	text, err := os.ReadFile(out.Name())
	w.must(err)
	said := stamped.ReplaceAllString(w.hidden(string(text)), "STAMP")
	said = changedText.ReplaceAllString(changedLines.ReplaceAllString(said, "$1…\n"), "$1…$2")
	fmt.Fprintf(&w.out, "== %s\n%s", title, said)
	if !strings.HasSuffix(said, "\n") {
		w.out.WriteString("\n")
	}
}

// What init and uninstall say, ask and do.
func TestDialogue(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	codex, gemini := host.Of(host.Codex), host.Of(host.Gemini)
	w.program("overtone", "echo overtone version 1")
	w.file(".gemini/settings.json", "{}\n")
	install := func(o Options) func(*terminal.Terminal) error {
		return func(t *terminal.Terminal) error { return w.Install(ctx, t, o) }
	}
	remove := func(o RemovalOptions) func(*terminal.Terminal) error {
		return func(t *terminal.Terminal) error { return w.Uninstall(ctx, t, o) }
	}
	w.talk("a preview", "", false, install(Options{Host: gemini, DryRun: true}))
	w.talk("nobody to ask", "", false, install(Options{Host: gemini}))
	w.talk("not agreed to", "\nn\n", false, install(Options{Host: gemini}))
	w.talk("an answer that is none, then a language, then yes", "5\n2\nY\n", false, install(Options{Host: gemini}))
	w.talk("nothing to change", "y\n", false, install(Options{Host: gemini}))
	w.talk("in JSON", "", true, install(Options{Host: codex, Yes: true, Mode: "auto", Language: "zh-TW"}))
	w.program("gemini", "echo 999.0.0")
	w.program("claude", "echo '999.0.0 (Claude Code)'")
	w.talk("others are here", "", false, install(Options{Host: host.Of(host.Opencode), Yes: true, NoWorkflows: true}))
	w.talk("mode auto, with our status line", "", false, install(Options{Host: host.Of(host.ClaudeCode), Yes: true, Mode: "auto", StatusLine: true}))
	w.file(".claude/settings.json", `{"statusLine": {"type": "command", "command": "mine"}, `+strings.TrimPrefix(strings.TrimSpace(w.read(".claude/settings.json")), "{"))
	w.talk("a value that the file's layout does not allow", "", false, func(t *terminal.Terminal) error {
		old := w.read(".overtone/config.yaml")
		w.file(".overtone/config.yaml", "compact: {mode: suggest}\n")
		err := w.Install(ctx, t, Options{Host: gemini, Yes: true, Mode: "off"})
		w.file(".overtone/config.yaml", old)
		return err
	})

	w.talk("removing: a preview", "", false, remove(RemovalOptions{Hosts: []*host.Host{gemini}, Host: "gemini", DryRun: true}))
	w.talk("removing: a preview in JSON", "", true, remove(RemovalOptions{Hosts: []*host.Host{gemini}, Host: "gemini", DryRun: true}))
	w.talk("removing: not agreed to", "n\n", false, remove(RemovalOptions{Hosts: []*host.Host{gemini}}))
	w.talk("removing one, with clones", "\n", false, remove(RemovalOptions{Hosts: []*host.Host{gemini}, Clones: 2}))
	w.talk("removing it again", "\n", false, remove(RemovalOptions{Hosts: []*host.Host{gemini}, Clones: 2}))
	w.talk("removing all, in JSON", "", true, remove(RemovalOptions{Hosts: host.All(), Yes: true}))
	for _, dir := range []string{".codex/agents", ".config/opencode", ".gemini", ".claude"} {
		_, err := os.Stat(filepath.Join(w.home, dir))
		fmt.Fprintf(&w.out, "%s there: %v\n", dir, err == nil)
	}
	w.file(".overtone/config.yaml", "compact:\n  mode: auto\n")
	w.talk("purging where nobody can be asked", "", false, remove(RemovalOptions{Hosts: host.All(), Purge: true}))
	w.talk("purging: yes, then no by default", "y\n\n", false, remove(RemovalOptions{Hosts: host.All(), Purge: true, Clones: 1}))
	w.talk("purging: yes, and yes", "y\ny\n", false, remove(RemovalOptions{Hosts: host.All(), Purge: true}))
	if _, err := os.Stat(w.Home.Root()); err == nil {
		t.Error("our folder is still there")
	}
	w.Folders.User = ""
	w.talk("without a home", "", false, install(Options{Host: gemini}))
	w.talk("removing without a home", "", false, remove(RemovalOptions{Hosts: host.All()}))
	golden(t, "dialogue.txt", w.out.String())
}

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.Folders.User, filepath.FromSlash(name)))
	w.must(err)
	return string(data)
}

// What making a service says, and taking it back; here no service manager answers.
func TestServiceDialogue(t *testing.T) {
	w := newWorld(t)
	service, err := w.ShipService("linux", "/usr/bin/overtone-team", "ship")
	w.must(err)
	for _, c := range []struct {
		title             string
		asJSON, dry, gone bool
	}{
		{"a preview", false, true, false},
		{"made", false, false, false},
		{"made twice", true, false, false},
		{"removing: a preview", false, true, true},
		{"removed", false, false, true},
		{"removed twice", false, false, true},
	} {
		w.talk(c.title, "", c.asJSON, func(t *terminal.Terminal) error {
			return w.ChangeService(context.Background(), t, service, c.dry, c.gone)
		})
		_, err := os.Stat(service.Path)
		fmt.Fprintf(&w.out, "there: %v\n", err == nil)
	}
	golden(t, "service.txt", w.out.String())
}
