package store

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// The tests that need real processes start this test binary again with
// childEnv naming what the child has to do.
const childEnv = "OVERTONE_STORE_TEST_CHILD"

// fullDisk is set where a full disk can be made up.
var fullDisk func(*Session) error

// holdLock keeps the session's lock, where processes can be stopped.
var holdLock func(*Session) error

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := runChild(job, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runChild(job string, args []string) error {
	s, err := testHome(args[0]).Session("s")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	switch job {
	case "count":
		return countUp(s, n)
	case "emit":
		return emitMany(s, args[2], n)
	case "states":
		return writeStates(s)
	case "hold":
		return holdLock(s)
	case "full":
		return fullDisk(s)
	}
	return fmt.Errorf("unknown job %q", job)
}

// countUp adds one to the number in the state file, n times.
func countUp(s *Session, n int) error {
	for range n {
		err := s.Update(func(tx *Tx) error {
			count, err := readCount(tx)
			if err != nil {
				return err
			}
			return tx.Write(WorkflowFile, []byte(strconv.Itoa(count+1)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func readCount(tx *Tx) (int, error) {
	data, err := tx.Read(WorkflowFile)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(data))
}

// emitMany puts n events on the timeline, a few at a time as hooks do.
func emitMany(s *Session, writer string, n int) error {
	for i := 0; i < n; {
		err := s.Update(func(tx *Tx) error {
			var batch []Event
			for range 1 + i%3 {
				batch = append(batch, On("tool:used", "writer", writer, "seq", i, "pad", strings.Repeat("x", i%40)))
				i++
			}
			return tx.Emit(batch...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeStates replaces the state for ever and says on stdout which one is
// known to be written.
func writeStates(s *Session) error {
	out := bufio.NewWriter(os.Stdout)
	for i := 1; ; i++ {
		if err := s.Update(func(tx *Tx) error { return tx.Write(WorkflowFile, stateOf(i)) }); err != nil {
			return err
		}
		fmt.Fprintln(out, i)
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// stateOf is a state so large that a write in place would show.
func stateOf(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%9d ", i), 100_000) }

func startChild(t *testing.T, job string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+job, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// clock is the time all tests start at.
var clock = time.Date(2026, 3, 1, 9, 30, 0, 120_000_000, time.UTC)

func testHome(dir string) *Home {
	return New(filepath.Join(dir, "overtone"), filepath.Join(dir, "claude"), func() time.Time { return clock })
}

func testSession(t testing.TB) *Session {
	t.Helper()
	return sessionIn(t, testHome(t.TempDir()), "s")
}

func sessionIn(t testing.TB, h *Home, id string) *Session {
	t.Helper()
	s, err := h.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func update(t testing.TB, s *Session, fn func(tx *Tx) error) {
	t.Helper()
	if err := s.Update(fn); err != nil {
		t.Fatal(err)
	}
}

func emit(t testing.TB, s *Session, events ...Event) {
	t.Helper()
	update(t, s, func(tx *Tx) error { return tx.Emit(events...) })
}

// writeRaw puts bytes at a path as somebody else would.
func writeRaw(t testing.TB, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readRaw(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// number is a member of an entry as a number.
func number(e Entry, key string) int64 { return gjson.GetBytes(e.Raw, key).Int() }
