//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { fullDisk = emitOnFullDisk }

// A pipe in place of a file is an error and does not hang.
func TestPipes(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	update(t, s, func(*Tx) error { return nil })
	for _, name := range []string{"x", TimelineFile} {
		if err := syscall.Mkfifo(s.path(name), 0o600); err != nil {
			t.Skip("no pipes here:", err)
		}
	}
	if _, err := s.Read("x"); !errors.Is(err, errNotRegular) {
		t.Errorf("read: %v", err)
	}
	if _, _, err := s.Last(1, Filter{}); !errors.Is(err, errNotRegular) {
		t.Errorf("timeline: %v", err)
	}
	emit(t, s, On("session:start"))
	if list, _, err := s.Last(1, Filter{}); err != nil || len(list) != 1 {
		t.Errorf("after an event: %d, %v", len(list), err)
	}
}

// A write that fails half-way leaves only whole lines behind.
func TestEmitOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := sessionIn(t, testHome(dir), "s")
	emit(t, s, On("session:start"))
	before := readRaw(t, s.path(TimelineFile))
	if out, err := startChild(t, "full", dir, "0").Output(); err != nil || !strings.Contains(string(out), "too large") {
		t.Fatalf("the child could write: %s %v", out, err)
	}
	if got := readRaw(t, s.path(TimelineFile)); got != before {
		t.Errorf("timeline is now %q", got)
	}
}

// emitOnFullDisk runs in a child process: the limit holds for all its files.
func emitOnFullDisk(s *Session) error {
	return s.Update(func(tx *Tx) error {
		limit := syscall.Rlimit{Cur: 200, Max: 200}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		err := tx.Emit(On("session:end", "reason", strings.Repeat("x", 300)))
		fmt.Println(err)
		if !errors.Is(err, syscall.EFBIG) {
			return fmt.Errorf("emit over the limit: %w", err)
		}
		return nil
	})
}

// A process that is being started has our files open until it runs its program:
// what we give back meanwhile is free all the same.
func TestLeaseOutlivesNoFork(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), time.Now)
	release, ok, err := h.TryLease("job.lease")
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no list of open files")
	}
	for _, e := range list {
		if at, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && at == filepath.Join(h.Root(), "job.lease") {
			fd, err := strconv.Atoi(e.Name())
			if err != nil {
				t.Fatal(err)
			}
			child, err := syscall.Dup(fd)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Close(child) }()
		}
	}
	release()
	again, ok, err := h.TryLease("job.lease")
	if err != nil || !ok {
		t.Fatalf("still taken: %v", err)
	}
	again()
}

// Who waits for a lock can be told who has it.
func TestHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	release, ok, err := TryLock(path)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	want := fmt.Sprintf("%d (", os.Getpid())
	if got := Holder(path); runtime.GOOS == "linux" && (!strings.HasPrefix(got, want) || !strings.Contains(got, filepath.Base(os.Args[0]))) {
		t.Errorf("%q", got)
	}
	release()
	for _, p := range []string{path, path + "x"} {
		if got := Holder(p); got != "" {
			t.Errorf("%q has locked %s, which is free", got, p)
		}
	}
}
