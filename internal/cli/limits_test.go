//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// product builds the program itself: the test binary starts a runtime of another
// size, and with the race detector one that no limit would let begin.
func product(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "overtone")
	cmd := exec.Command("go", "build", "-o", path, "../../cmd/overtone")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// Input that is nested millions deep ends like any other that is no good: with
// exit 0 and little memory, in every event and in the status line.
func TestDeepInput(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	before := state(t, home)
	program := product(t)
	deep := map[string][]byte{
		"brackets": bytes.Repeat([]byte{'['}, 10_000_000),
		"closed":   append(bytes.Repeat([]byte{'['}, 5_000_000), bytes.Repeat([]byte{']'}, 5_000_000)...),
		"objects":  append([]byte(`{"session_id":"s1","tool_input":`), bytes.Repeat([]byte(`{"a":`), 2_000_000)...),
		"in a string": append(append([]byte(`{"session_id":"s1","cwd":"/","prompt":"`), bytes.Repeat([]byte{'['}, 5_000_000)...),
			[]byte(`"}`)...),
	}
	calls := [][]string{{"statusline"}}
	for _, event := range host.Plain().Events {
		calls = append(calls, []string{"hook", event, "--host", "claude-code"})
	}
	for i, args := range calls {
		j := 0
		for name, in := range deep {
			// Each call meets the first, and its share of the others.
			if j++; name != "brackets" && (i+j)%3 != 0 {
				continue
			}
			if name == "in a string" && args[0] == "hook" && args[1] != "post-compact" {
				continue // it is good input, and would change the state
			}
			cmd := exec.Command(program, args...)
			cmd.Env, cmd.Dir, cmd.Stdin = env, home, bytes.NewReader(in)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%q, %s: %v: %.300s", args, name, err, out)
			}
			// A child's peak begins with that of the process it was forked from.
			var own syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
				t.Fatal(err)
			}
			if rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; rss > max(200<<10, own.Maxrss) {
				t.Errorf("%q, %s: %d MB", args, name, rss>>10)
			}
		}
	}
	if after := state(t, home); after != before {
		t.Errorf("changed the state:\n%s\n%s", before, after)
	}
}

// Under limits of the process no call ends with 2, which hosts read as "block":
// it ends with 0, or, where the runtime cannot go on, with a signal. Before main
// the runtime has its own way (see SECURITY.md): such limits are not tried.
func TestLowLimits(t *testing.T) {
	t.Parallel()
	home, env := newHome(t)
	program := product(t)
	try := func(limit string, args ...string) (string, error) {
		cmd := exec.Command("sh", "-c", limit+`; exec "$0" "$@"`, program)
		cmd.Args = append(cmd.Args, args...)
		cmd.Env, cmd.Dir, cmd.Stdin = env, home, strings.NewReader(inputs()["user-prompt-submit"][0])
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for n := 3; n < 24; n++ {
		for _, args := range [][]string{{"hook", "user-prompt-submit", "--host", "claude-code"}, {"statusline"}} {
			if out, err := try(fmt.Sprintf("ulimit -n %d", n), args...); err != nil {
				t.Errorf("%d files, %q: %v: %s", n, args, err, out)
			}
		}
	}
	for kb := 64 << 10; kb < 4<<20; kb += kb / 4 {
		out, err := try(fmt.Sprintf("ulimit -v %d", kb), "hook", "user-prompt-submit", "--host", "claude-code")
		var exit *exec.ExitError
		if errors.As(err, &exit) && strings.Contains(out, "main.main") {
			t.Errorf("%d MB: %v: %.300s", kb>>10, err, out)
		}
	}
}

// A program that cannot even start ends with 2 by itself. Where a host runs our line in a
// shell, and asks nobody about a changed one, the line ends with 0.
func TestStarvedIsNoBlock(t *testing.T) {
	t.Parallel()
	program := product(t)
	starved := func(line string) error { return exec.Command("sh", "-c", "ulimit -v 300000; "+line).Run() }
	if err := starved(program + " hook stop"); err == nil || err.Error() != "exit status 2" {
		t.Skip("the runtime starts here: ", err)
	}
	for _, name := range []string{"gemini", "copilot"} {
		h, _ := host.Named(name)
		lines := 0
		for _, e := range h.Setup(host.Place{Dir: t.TempDir(), Hook: program}).Edits {
			for _, path := range []string{"command", "hooks.0.command"} {
				line := gjson.Get(e.Value, path).String()
				if !strings.Contains(line, program) {
					continue
				}
				lines++
				if err := starved(line); err != nil {
					t.Errorf("%s: %s: %v", name, line, err)
				}
			}
		}
		if lines < 4 {
			t.Errorf("%s: %d lines", name, lines)
		}
	}
}

// A crash that nothing stops is an abort.
func TestCrashIsNoBlock(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(overtone(), "hook", "stop")
	cmd.Env = append(os.Environ(), "OVERFLOW=1", "HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader("{}")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() == 2 || !bytes.Contains(out, []byte("stack overflow")) {
		t.Errorf("%v: %.300s", err, out)
	}
}

// A wrong call of what hosts call is no block either.
func TestWrongUsageIsNoBlock(t *testing.T) {
	t.Parallel()
	_, env := newHome(t)
	for _, args := range [][]string{{"hook"}, {"hook", "--help", "--bogus"}, {"hook", "stop", "--bogus"}, {"statusline", "--bogus"}, {"statusline", "x"}} {
		cmd := exec.Command(overtone(), args...)
		cmd.Env = env
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
			t.Errorf("%q: exit %d", args, code)
		}
	}
}
