//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

func TestMain(m *testing.M) {
	if os.Getenv(reaping) != "" {
		reap(os.Stdin)
		return
	}
	// A background job of a shell ignores these, and what it starts would, too: an agent that
	// is interrupted would never end.
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	go func() { // what runs this was killed
		for parent := os.Getppid(); os.Getppid() == parent; {
			time.Sleep(time.Second)
		}
		os.Exit(1)
	}()
	for _, h := range host.All() {
		if asked(h.Name) != "" {
			tellVersion(h)
		}
	}
	code := m.Run()
	// Of the whole suite; some of it says nothing about versions.
	if list := notRun(); code == 0 && flag.Lookup("test.run").Value.String() == "" && len(list) > 0 {
		fmt.Println("doctor calls verified what no test has run:", list)
		code = 1
	}
	if list := still(agentFolders()...); len(list) > 0 {
		fmt.Println("processes outlive their tests:", list)
		code = 1
	}
	if dir, err := binDir(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// However a run of these tests ends, what it has started ends soon after it.
func TestNothingIsLeft(t *testing.T) {
	if dir := os.Getenv("OVERTONE_E2E_LEAVES"); dir != "" { // the run that is ended
		stay(t, dir)
		cmd := exec.Command("sh", "-c", "setsid sleep 1000 & exec sleep 1000")
		cmd.Dir = dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it never ends by itself
		return
	}
	t.Parallel()
	for name, c := range map[string]struct {
		by   syscall.Signal
		more string
	}{
		"kill -9":                 {syscall.SIGKILL, ""},
		"SIGTERM":                 {syscall.SIGTERM, ""},
		"kill -9 of what runs it": {syscall.SIGKILL, "; :"},
		"-timeout":                {0, " -test.timeout 3s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			line := `"$0" -test.run "^TestNothingIsLeft$"` + c.more
			if !strings.Contains(line, ";") {
				line = "exec " + line
			}
			cmd := exec.Command("sh", "-c", line, os.Args[0])
			cmd.Env = append(os.Environ(), "OVERTONE_E2E_LEAVES="+dir)
			cmd.Dir = "/"
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			until := func(what string, done func(running int) bool) {
				t.Helper()
				for end := time.Now().Add(time.Minute); !done(sleeping(dir)); time.Sleep(20 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("%s: %v", what, left(dir))
					}
				}
			}
			until("two processes run", func(n int) bool { return n == 2 })
			if c.by != 0 {
				syscall.Kill(cmd.Process.Pid, c.by)
			}
			if cmd.Wait() == nil {
				t.Error("the run has passed")
			}
			until("they have ended", func(n int) bool { return n == 0 })
		})
	}
}

// sleeping counts the processes that sleep in a folder.
func sleeping(dir string) (n int) {
	for _, p := range left(dir) {
		if strings.HasPrefix(p.line, "sleep ") {
			n++
		}
	}
	return n
}

// tellVersion says what the version under test is to those that were verified;
// `make e2e-latest` shows it.
func tellVersion(h *host.Host) {
	list, err := underTest(h.Name)
	if err != nil {
		fmt.Printf("host %s: %v\n", h.Name, err)
		return
	}
	verdict := "not in the list of verified versions"
	if slices.ContainsFunc(h.Verified, func(v host.Version) bool { return v.String() == string(list[0]) }) {
		verdict = "in the list of verified versions"
	}
	fmt.Printf("host %s: %s, %s %v\n", h.Name, list[0], verdict, h.Verified)
}
