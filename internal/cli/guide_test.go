package cli_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/cli"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Every command line of the guide runs, in its order and in one project, with the
// files that the guide shows; and the guide knows every workflow and command.
func TestWorkflowGuide(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, name := range (blueprint.Library{}).Names() {
		if !strings.Contains(page, "`/overtone:"+name+"`") {
			t.Errorf("the guide does not list the workflow %s", name)
		}
	}
	commands, err := filepath.Glob("../../plugin/commands/*.md")
	if err != nil || len(commands) != 29 || strings.Count(page, "| `/overtone:") != len(commands) {
		t.Errorf("%d commands, %d in the guide, %v", len(commands), strings.Count(page, "| `/overtone:"), err)
	}
	home, project := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"STYLE.md": "plain\n", ".git/HEAD": "ref: refs/heads/main\n", "Makefile": "test check:\n"} {
		writeGuide(t, filepath.Join(project, name), text)
	}
	kind, block, lines := "", "", 0
	for line := range strings.Lines(page) {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && kind == "":
			kind, block = fence, ""
			if kind == "" {
				kind = "text"
			}
			continue
		case isFence:
			if name, ok := strings.CutPrefix(block, "# "); ok && kind == "yaml" {
				name, _, _ = strings.Cut(name, "\n")
				writeGuide(t, filepath.Join(project, filepath.FromSlash(name)), block)
			}
			kind = ""
			continue
		}
		block += line
		if command, ok := strings.CutPrefix(line, "$ overtone "); ok && kind == "console" {
			lines++
			runGuide(t, home, project, strings.TrimSpace(command))
		}
	}
	if lines < 15 {
		t.Errorf("%d command lines in the guide", lines)
	}
}

func writeGuide(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runGuide runs one line as a person at a terminal who types what is asked.
func runGuide(t *testing.T, home, project, line string) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	file, _ := os.ReadFile(filepath.Join(project, ".overtone", "workflows", "release.yaml")) // not there yet at first
	sum := sha256.Sum256(file)
	if _, err := fmt.Fprintf(out, "%x\n", sum[:4]); err != nil {
		t.Fatal(err)
	}
	out.Close()
	env := cli.OSEnv()
	var stdout, stderr bytes.Buffer
	vars := map[string]string{"HOME": home, "LANG": "C", "CLAUDE_CODE_SESSION_ID": "guide"}
	env.Getenv = func(k string) string { return vars[k] }
	env.Environ = func() []string { return nil }
	env.Ancestors = func() ([]terminal.Process, error) { return nil, nil }
	env.Dir, env.Stdin, env.Stdout, env.Stderr = project, in, &stdout, &stderr
	env.IsTTY = func(uintptr) bool { return true }
	if code := cli.Main(guideWords(t, line), env); code != 0 || stdout.Len() == 0 {
		t.Errorf("overtone %s: exit %d\n%s%s", line, code, stdout.String(), stderr.String())
	}
}

// guideWords takes a line apart as a shell does: the guide quotes with " only.
func guideWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	for i, part := range strings.Split(line, `"`) {
		switch {
		case i%2 == 0:
			words = append(words, strings.Fields(part)...)
		default:
			words = append(words, part)
		}
	}
	return words
}
