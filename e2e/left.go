//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// folders are those of the tests that run agents.
var folders sync.Map

// stay makes a folder that of a test that runs an agent: what still runs in it when the test
// is over, such as the tools of a host that was killed, ends with it.
func stay(t *testing.T, dir string) {
	t.Helper()
	folders.Store(dir, true)
	if err := tellReaper(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, p := range still(dir) {
			t.Logf("ended with its test: %s", p)
			syscall.Kill(p.id, syscall.SIGKILL)
		}
	})
}

// reaping is set for the process that ends what a run of the tests leaves behind.
const reaping = "OVERTONE_E2E_REAPS"

// tellReaper tells a folder to a process in a session of its own. The pipe to it is closed
// when this process ends, however that comes about: by kill -9, too.
func tellReaper(dir string) error {
	w, err := reaper()
	if err == nil {
		_, err = fmt.Fprintln(w, dir)
	}
	return err
}

var reaper = sync.OnceValues(func() (io.Writer, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), reaping+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	w, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return w, cmd.Start()
})

// reap waits for the end of those who tell it folders, and then ends what runs in them until
// nothing has for a second.
func reap(told io.Reader) {
	data, _ := io.ReadAll(told) // whatever came is all that there is
	for quiet := 0; quiet < 10; quiet++ {
		for _, p := range left(strings.Fields(string(data))...) {
			syscall.Kill(p.id, syscall.SIGKILL)
			quiet = 0
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// agentFolders are the folders of all tests that have run an agent.
func agentFolders() (dirs []string) {
	folders.Range(func(dir, _ any) bool {
		dirs = append(dirs, dir.(string))
		return true
	})
	return dirs
}

// still are the processes that go on in one of the folders. One whose host has just ended
// gets a moment to notice that: the server of our tools, for example, whose input is closed.
func still(dirs ...string) (list []process) {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if list = left(dirs...); len(list) == 0 || time.Now().After(end) {
			return list
		}
	}
}

type process struct {
	id          int
	line, state string
}

func (p process) String() string { return fmt.Sprintf("%d (%s) %s", p.id, p.state, p.line) }

// stateOf is how a process stands, its parent, its group and its session: one that a host has
// forked into a session of its own does not end with the host's group.
func stateOf(proc string) string {
	stat, _ := os.ReadFile(filepath.Join(proc, "stat")) // it may have ended meanwhile
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return strings.Join(fields[:min(4, len(fields))], " ")
}

// left are the processes whose environment or working folder points into one of the folders.
// Only Linux tells.
func left(dirs ...string) (list []process) {
	found, _ := filepath.Glob("/proc/[0-9]*") // the pattern is a good one
	for _, proc := range found {
		id, _ := strconv.Atoi(filepath.Base(proc))
		env, _ := os.ReadFile(filepath.Join(proc, "environ")) // it may have ended meanwhile
		cwd, _ := os.Readlink(filepath.Join(proc, "cwd"))
		for _, dir := range dirs {
			if id != os.Getpid() && (bytes.Contains(env, []byte(dir)) || strings.HasPrefix(cwd, dir)) {
				line, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
				list = append(list, process{id, strings.ReplaceAll(string(line), "\x00", " "), stateOf(proc)})
				break
			}
		}
	}
	return list
}
