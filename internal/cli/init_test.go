package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

// On a terminal init asks for the language and before it writes; uninstall
// --purge asks twice.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	type step struct {
		args, answers string
		code          int
		out           string // part of what is printed
		config        string // line of the configuration; "" = no such file
	}
	for name, steps := range map[string][]step{
		"yes": {
			{"init --host codex", "1\n\n", 0, "Which language", "language: zh-TW"},
			{"uninstall --purge", "y\nn\n", 1, "all sessions included", "language: zh-TW"},
			{"uninstall --purge", "y\ny\n", 0, "deleted", ""},
		},
		"the locale's":         {{"init --host codex", "\ny\n", 0, "[2]", "language: en"}},
		"by name, second try":  {{"init --host codex", "esperanto\nzh\ny\n", 0, "Apply", "language: zh-TW"}},
		"no":                   {{"init --host codex", "\nn\n", 1, "Apply", ""}},
		"end of input":         {{"init --host codex", "\n", 1, "Apply", ""}},
		"--yes asks nothing":   {{"init --host codex --yes", "", 0, "installed", "language: en"}},
		"--json asks nothing":  {{"init --host codex --json --yes", "", 0, `"schema": 1`, "language: en"}},
		"a preview, neither":   {{"init --host codex --dry-run", "", 0, "preview", ""}},
		"--lang: no question":  {{"init --host codex --lang zh-TW", "y\n", 0, "Apply", "language: zh-TW"}},
		"nothing to do, quiet": {{"init --host codex --yes", "", 0, "", "language: en"}, {"init --host codex", "", 0, "nothing to change", "language: en"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for _, s := range steps {
				out, errs, code := onTerminal(t, home, s.answers, strings.Fields(s.args)...)
				if code != s.code || !strings.Contains(out, s.out) {
					t.Errorf("%s: exit %d, want %d\n%s%s", s.args, code, s.code, out, errs)
				}
				data, err := os.ReadFile(filepath.Join(home, ".overtone", "config.yaml"))
				if (err == nil) != (s.config != "") || !strings.Contains(string(data), s.config) {
					t.Errorf("%s: configuration %v, want %q", s.args, err, s.config)
				}
			}
		})
	}
}

// onTerminal runs the program as if a person sat in front of it.
func onTerminal(t *testing.T, home, answers string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	file := func(name, text string) *os.File {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	out := file("stdout", "")
	var errs bytes.Buffer
	env := map[string]string{"HOME": home, "LANG": "en_US.UTF-8"}
	code = cli.Main(args, cli.Env{
		Stdin: file("stdin", answers), Stdout: out, Stderr: &errs, Dir: t.TempDir(),
		Getenv: func(k string) string { return env[k] }, Environ: func() []string { return nil },
		Now: time.Now, IsTTY: func(uintptr) bool { return true },
	})
	data, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data), errs.String(), code
}
