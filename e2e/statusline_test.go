//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// TestStatusline: in the terminal of the real Claude Code the line that
// `init --statusline` asks for is there from the start, and follows the context.
// The host runs it only in its terminal, so it gets one, from script(1).
func TestStatusline(t *testing.T) {
	t.Parallel()
	terminal, err := exec.LookPath("script")
	if err != nil {
		t.Skip("there is no script(1) to make a terminal")
	}
	w := NewWorld(t, Overtone, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("done").Tokens(150_000) })
	w.Exec("overtone", "init", "--yes", "--statusline", "--host", "claude-code")
	// What a person has answered on the first day.
	answered, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "lastOnboardingVersion": string(w.Version),
		"customApiKeyResponses": map[string]any{"approved": []string{w.env["ANTHROPIC_API_KEY"]}},
		"projects":              map[string]any{w.Project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Config, ".claude.json"), answered, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Setenv("TERM", "xterm-256color")
	shown := filepath.Join(w.Home, "terminal")
	cmd := w.command(terminal, "-qfec", "stty cols 100 rows 30; exec "+w.claude+" --model "+Model, shown)
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		endTerminal(t, cmd.Process.Pid)
		_ = cmd.Wait()
	})
	escapes := regexp.MustCompile(`\x1b(\[[0-9;?>]*[a-zA-Z]|\][^\x07]*\x07|[()][A-Z0-9])`)
	screen := func() string {
		data, _ := os.ReadFile(shown) // it is being written
		// The host moves the cursor instead of writing spaces.
		return strings.ReplaceAll(escapes.ReplaceAllString(string(data), ""), " ", "")
	}
	wait := func(text string) {
		t.Helper()
		for end := time.Now().Add(2 * time.Minute); !strings.Contains(screen(), text); time.Sleep(100 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%q is not on the screen:\n%.4000s", text, screen())
			}
		}
	}
	wait("100%contextleft")
	if _, err := keys.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	wait("hello")
	if _, err := keys.Write([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	wait("25%contextleft")
}

// endTerminal ends all that runs in the terminal of script(1), which is a session of
// its own, and then script itself. What is left alive would write into a folder that
// is being removed.
func endTerminal(t *testing.T, script int) {
	t.Helper()
	sessions := map[string]bool{}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		alive := 0
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, name := range stats {
			data, err := os.ReadFile(name)
			if err != nil {
				continue // it is gone
			}
			// pid (name) state parent group session …
			_, rest, _ := strings.Cut(string(data), ") ")
			f := strings.Fields(rest)
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err != nil || len(f) < 4 || f[0] == "Z" {
				continue
			}
			if f[1] == strconv.Itoa(script) && f[3] == strconv.Itoa(pid) {
				sessions[f[3]] = true
			}
			if sessions[f[3]] && pid != script {
				alive++
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if alive == 0 || time.Now().After(end) {
			break
		}
	}
	_ = syscall.Kill(script, syscall.SIGKILL)
}
