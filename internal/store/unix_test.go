//go:build unix

package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
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
