package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

// Whatever titles, folders, messages, files and arguments hold, no command lets a
// character through that steers the terminal, in tables, errors and JSON alike.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "t\x1b]52;c;aGk=\x07\x1b[2J\u009b31m\u202eevil\u2066\x7f\u2028\rx"
	home, _ := newHome(t)
	quote := func(s string) string {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const id = "0b7e1d8a-5a4e-4c39-9d0f-3c6d0c3e6f01"
	folder := "p" + strings.ReplaceAll(hostile, "\x00", "")
	line := func(kind, uuid, parent, body string) string {
		return `{"type":"` + kind + `","uuid":"` + uuid + `","parentUuid":` + parent + `,"sessionId":"` + id + `","cwd":` + quote(filepath.Join(home, folder)) +
			`,"gitBranch":` + quote(hostile) + `,"version":` + quote(hostile) + `,"timestamp":"2026-03-01T08:00:00.000Z","message":` + body + "}\n"
	}
	transcript := line("user", "u1", "null", `{"role":"user","content":`+quote("please "+hostile+" now\nand more")+`}`) +
		line("assistant", "u2", `"u1"`, `{"role":"assistant","model":`+quote(hostile)+`,"content":[{"type":"text","text":`+quote("done "+hostile)+`},{"type":"tool_use","id":"t1","name":`+quote(hostile)+`,"input":{"command":`+quote(hostile)+`}}],"usage":{"input_tokens":9,"output_tokens":9}}`) +
		`{"type":"summary","summary":` + quote(hostile) + `,"leafUuid":"u2"}` + "\n"
	write(".claude/projects/"+folder+"/"+id+".jsonl", transcript)
	write(".claude/settings.json", `{"x":`+quote(hostile)+`,`+hostile)
	write(".overtone/config.yaml", "language: "+quote(hostile)+"\n"+quote(hostile)+": 1\n")
	write(".overtone/sessions/s1/timeline.jsonl", `{"ts":`+quote(hostile)+`,"type":"tool:failure","category":"tool","label":`+quote(hostile)+`,"error":`+quote(hostile)+"}\n")
	write(".overtone/auto-compact.md", "---\nmode: "+quote(hostile)+"\n---\n"+hostile)
	state, err := os.ReadFile(filepath.Join(home, ".overtone/sessions/s1/workflow.json"))
	if err != nil {
		t.Fatal(err)
	}
	write(".overtone/sessions/s1/workflow.json", strings.Replace(string(state), `"workflowType": "quick"`, `"workflowType": `+quote(hostile)+`, "featureName": `+quote(hostile), 1))
	if err := os.MkdirAll(filepath.Join(home, folder, "specs/features/in-progress", folder), 0o700); err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{},
		{hostile},
		{"--" + hostile},
		{"doctor"},
		{"doctor", "--session", "s1"},
		{"sessions"},
		{"sessions", "--all"},
		{"sessions", "list"},
		{"timeline", "--session", "s1"},
		{"timeline", "--session", hostile},
		{"timeline", "--session", "s1", "--type", hostile},
		{"workflow", "list"},
		{"workflow", "status", "--session", "s1"},
		{"workflow", "show", "quick"},
		{"workflow", "show", hostile},
		{"workflow", "start", hostile, "--session", "s2"},
		{"workflow", "status", "--session", hostile},
		{"compact", "explain", "--session", "s1"},
		{"compact", "check", "--session", "s1"},
		{"compact", "explain", "--session", id},
		{"compress", id, "--dry-run"},
		{"compress", id, "--dry-run", "--bands", "0-50:heavy-compress"},
		{"compress", hostile},
		{"compress", id, "--bands", hostile},
		{"recall", id},
		{"recall", "please"},
		{"recall", hostile},
		{"recall", id, "1"},
		{"route", "check", hostile},
		{"route", hostile},
		{"statusline"},
		{"cleanup", "--dry-run"},
		{"cleanup"},
		{"init", hostile},
		{"init", "claude-code", "--dry-run"},
		{"uninstall", hostile},
		{"uninstall", "claude-code", "--dry-run"},
		{"watch", hostile},
		{"hook", hostile},
		{"hook", "stop", "--host", hostile},
	}
	for _, args := range commands {
		for _, extra := range [][]string{nil, {"--json"}} {
			var stdout, stderr bytes.Buffer
			cli.Main(append(append([]string{}, args...), extra...), cli.Env{
				Stdin: strings.NewReader(`{"session_id":"s1","cwd":` + quote(hostile) + `,"model":{"id":` + quote(hostile) + `}}`), Stdout: &stdout, Stderr: &stderr, Dir: filepath.Join(home, folder), Now: time.Now,
				Getenv:  func(key string) string { return map[string]string{"HOME": home, "LANG": "en"}[key] },
				Environ: func() []string { return nil },
				IsTTY:   func(uintptr) bool { return false },
			})
			for name, out := range map[string]string{"stdout": stdout.String(), "stderr": stderr.String()} {
				for _, r := range out {
					if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' {
						t.Errorf("%q %q: %U on %s: %q", args, extra, r, name, out)
						break
					}
				}
			}
		}
	}
}
