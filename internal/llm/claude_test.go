//go:build unix

package llm

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/message"
)

const cliOK = `{"type":"result","subtype":"success","is_error":false,"result":"short","total_cost_usd":0.01,"usage":{"input_tokens":2,"cache_read_input_tokens":9,"output_tokens":3}}`

func TestCLICommand(t *testing.T) {
	t.Parallel()
	s := Service{Model: "haiku", Env: []string{"HOME=/h", "CLAUDECODE=1", "OVERTONE_DISABLE=0"}}
	cmd := s.command(t.Context(), "/empty", "text")
	want := []string{"claude", "-p", "--output-format", "json", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands", "--tools", "", "--model", "haiku", "--system-prompt", message.ModelRole.In(message.EN)}
	if d := cmp.Diff(want, cmd.Args); d != "" {
		t.Errorf("arguments (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"HOME=/h", "OVERTONE_DISABLE=1"}, cmd.Env); d != "" || cmd.Dir != "/empty" {
		t.Errorf("in %s, environment (-want +got):\n%s", cmd.Dir, d)
	}
	if text, err := io.ReadAll(cmd.Stdin); err != nil || string(text) != "text" {
		t.Errorf("asked %q, %v", text, err)
	}
}

func TestCLIOutputs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		out  string
		errs string
		code int
		text string
		kind Kind
	}{
		{"verbose list", `[{"type":"system"},` + cliOK + "]\n", "", 0, "short", ""},
		{"logged out", `{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}`, "", 1, "Invalid API key · Please run /login", Auth},
		{"limit by status", `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error"}`, "", 1, "API Error", RateLimited},
		{"limit by words", `{"type":"result","is_error":true,"result":"Claude usage limit reached"}`, "", 0, "Claude usage limit reached", RateLimited},
		{"too long", `{"type":"result","is_error":true,"result":"Prompt is too long"}`, "", 0, "Prompt is too long", BadRequest},
		{"ran out of turns", `{"type":"result","subtype":"error_max_turns"}`, "", 0, "", Server},
		{"old version", "", "error: unknown option '--tools'", 1, "", Missing},
		{"crash", "", "", 139, "", Server},
		{"nothing", "", "", 0, "", BadReply},
		{"no JSON", "hello", "", 0, "", BadReply},
		{"no text", `{"type":"result","subtype":"success"}`, "", 0, "", BadReply},
		{"endless", strings.Repeat("x", maxReply+1), "", 0, "", BadReply},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := readResult([]byte(tt.out), []byte(tt.errs), tt.code)
			if a.Text != tt.text {
				t.Errorf("text %q, want %q", a.Text, tt.text)
			}
			checkKind(t, err, tt.kind)
		})
	}
}

// fake puts a claude that runs a shell script in front of PATH.
func fake(t *testing.T, script string) Service {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return Service{Env: os.Environ()}
}

func TestCLIRunsAProgram(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	s := fake(t, `{ echo "$OVERTONE_DISABLE"; echo "$#"; pwd; cat; } > `+seen+`
echo noise >&2
echo '`+cliOK+`'
`)
	a, err := s.claude(t.Context(), "from stdin")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Answer{"short", Usage{11, 3}}, a); d != "" {
		t.Errorf("answer (-want +got):\n%s", d)
	}
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if lines[0] != "1" || lines[1] != "10" || !strings.Contains(lines[2], "overtone-claude-") || lines[3] != "from stdin" {
		t.Errorf("the program saw %q", lines)
	}
	if _, err := os.Stat(lines[2]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	_, err = s.claude(t.Context(), "x")
	checkKind(t, err, Missing)
}

func TestCLICancelKillsTheGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	// The child holds the pipe open, and outlives its parent unless the group is killed.
	s := fake(t, "sleep 300 > "+path+" &\nwait\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := s.claude(ctx, "x")
		done <- err
	}()
	held, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	cancel()
	err = <-done
	checkKind(t, err, Canceled)
	if err := held.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the child is still running: %v", err)
	}
}
