package teamcli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

// What comes from other machines, or from an argument, does not steer the terminal
// of this program either.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "t\x1b]52;c;aGk=\x07\u009b31m\u202eevil\u2066\x7f\u2028\rx"
	home := t.TempDir()
	for _, args := range [][]string{{hostile}, {"--" + hostile}, {"timeline", hostile}, {"timeline", "--since", hostile}, {"join", hostile}, {"share", hostile}, {"fleet", hostile}, {"doctor", hostile}, {"doctor"}} {
		var stdout, stderr bytes.Buffer
		Main(args, cli.Env{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: home, Now: time.Now,
			Getenv:  func(key string) string { return map[string]string{"HOME": home, "LANG": "en"}[key] },
			Environ: func() []string { return nil },
			IsTTY:   func(uintptr) bool { return false },
		})
		if stdout.Len()+stderr.Len() == 0 {
			t.Errorf("%q says nothing", args)
		}
		for _, r := range stdout.String() + stderr.String() {
			if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' {
				t.Errorf("%q: %U: %q", args, r, stdout.String()+stderr.String())
				break
			}
		}
	}
}

// What is no invitation is told so, with where one comes from.
func TestNoInvitation(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, []byte("A$ overtone-team invite bob\n{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, filepath.Join(home, "none")} {
		var out, errs bytes.Buffer
		env := cli.OSEnv()
		env.Getenv = func(k string) string { return map[string]string{"HOME": home, "LANG": "C"}[k] }
		env.Stdout, env.Stderr = &out, &errs
		if code := Main([]string{"join", name}, env); code != 1 || !strings.Contains(errs.String(), "hint: run `overtone-team invite NAME --out FILE`") {
			t.Errorf("%s: exit %d: %s", name, code, errs.String())
		}
	}
}
