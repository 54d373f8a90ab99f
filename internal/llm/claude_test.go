//go:build unix

package llm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const cliOK = `{"type":"result","subtype":"success","is_error":false,"result":"short","total_cost_usd":0.01,"usage":{"input_tokens":2,"cache_read_input_tokens":9,"output_tokens":3}}`

func TestCLICommand(t *testing.T) {
	t.Parallel()
	var got command
	c := cli{Model: "haiku", Env: []string{"HOME=/h", "CLAUDECODE=1", "OVERTONE_DISABLE=0"}, Run: func(_ context.Context, c command) (output, error) {
		got = c
		if fs, err := os.ReadDir(c.Dir); err != nil || len(fs) != 0 {
			t.Errorf("folder %s: %v, %v", c.Dir, fs, err)
		}
		return output{Stdout: []byte(cliOK)}, nil
	}}
	a, err := c.ask(t.Context(), Prompt{"be short", "text"})
	if err != nil {
		t.Fatal(err)
	}
	cost := 0.01
	if d := cmp.Diff(Answer{"short", Usage{11, 3, &cost}}, a); d != "" {
		t.Errorf("answer (-want +got):\n%s", d)
	}
	if _, err := os.Stat(got.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	got.Dir = ""
	want := command{
		Path: "claude", Stdin: "text", Env: []string{"HOME=/h", "OVERTONE_DISABLE=1"},
		Args: []string{"-p", "--output-format", "json", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands", "--tools", "", "--model", "haiku", "--system-prompt", "be short"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("command (-want +got):\n%s", d)
	}
}

func TestCLIOutputs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		out  output
		err  error
		text string
		kind Kind
	}{
		{"verbose list", output{Stdout: []byte(`[{"type":"system"},` + cliOK + "]\n")}, nil, "short", ""},
		{"logged out", output{Code: 1, Stdout: []byte(`{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}`)}, nil, "Invalid API key · Please run /login", Auth},
		{"limit by status", output{Code: 1, Stdout: []byte(`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error"}`)}, nil, "API Error", RateLimited},
		{"limit by words", output{Stdout: []byte(`{"type":"result","is_error":true,"result":"Claude usage limit reached"}`)}, nil, "Claude usage limit reached", RateLimited},
		{"too long", output{Stdout: []byte(`{"type":"result","is_error":true,"result":"Prompt is too long"}`)}, nil, "Prompt is too long", BadRequest},
		{"ran out of turns", output{Stdout: []byte(`{"type":"result","subtype":"error_max_turns"}`)}, nil, "", Server},
		{"old version", output{Code: 1, Stderr: []byte("error: unknown option '--tools'")}, nil, "", Missing},
		{"crash", output{Code: 139}, nil, "", Server},
		{"nothing", output{}, nil, "", BadReply},
		{"no JSON", output{Stdout: []byte("hello")}, nil, "", BadReply},
		{"no text", output{Stdout: []byte(`{"type":"result","subtype":"success"}`)}, nil, "", BadReply},
		{"endless", output{Stdout: make([]byte, maxReply+1)}, nil, "", BadReply},
		{"not installed", output{}, &exec.Error{Name: "claude", Err: exec.ErrNotFound}, "", Missing},
		{"cannot run", output{}, errors.New("fork failed"), "", Network},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := cli{Run: func(context.Context, command) (output, error) { return tt.out, tt.err }}
			a, err := c.ask(t.Context(), Prompt{User: "x"})
			if a.Text != tt.text {
				t.Errorf("text %q, want %q", a.Text, tt.text)
			}
			checkKind(t, err, tt.kind)
		})
	}
}

// fake writes a claude that runs a shell script.
func fake(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCLIRunsAProgram(t *testing.T) {
	t.Parallel()
	seen := filepath.Join(t.TempDir(), "seen")
	path := fake(t, `{ echo "$OVERTONE_DISABLE"; echo "$#"; pwd; cat; } > `+seen+`
echo noise >&2
echo '`+cliOK+`'
`)
	a, err := cli{Path: path, Env: os.Environ()}.ask(t.Context(), Prompt{User: "from stdin"})
	if err != nil || a.Text != "short" {
		t.Fatalf("got %+v, %v", a, err)
	}
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if lines[0] != "1" || lines[1] != "10" || !strings.Contains(lines[2], "overtone-claude-") || lines[3] != "from stdin" {
		t.Errorf("the program saw %q", lines)
	}
	_, err = cli{Path: filepath.Join(t.TempDir(), "claude")}.ask(t.Context(), Prompt{User: "x"})
	checkKind(t, err, Missing)
}

func TestCLICancelKillsTheGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Skip(err)
	}
	// The child outlives its parent unless the group is killed.
	path := fake(t, "sleep 300 &\necho $$ $! > "+pids+"\nwait\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := cli{Path: path, Env: os.Environ()}.ask(ctx, Prompt{User: "x"})
		done <- err
	}()
	data, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	var parent, child int
	if _, err := fmt.Sscan(string(data), &parent, &child); err != nil {
		t.Fatal(err)
	}
	cancel()
	err = <-done
	checkKind(t, err, Canceled)
	// A killed orphan may stay as a zombie until someone reaps it.
	for range 200 {
		if gone(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("child %d is still running", child)
}

func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && slices.Contains(strings.Fields(string(data)), "Z")
}
