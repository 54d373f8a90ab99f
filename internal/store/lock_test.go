//go:build unix

package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// stoppedHolder is a process that has the lock of the session and was stopped.
func stoppedHolder(t *testing.T, dir string) (resume func()) {
	t.Helper()
	cmd := startChild(t, "hold", dir, "0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the child has no lock")
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func init() {
	holdLock = func(s *Session) error {
		return s.Update(func(*Tx) error {
			fmt.Println("held")
			_, err := io.Copy(io.Discard, os.Stdin) // as long as the test lives
			return err
		})
	}
}

// A holder that was stopped keeps its lock for ever: who may not wait gives up,
// and what it had to do can be left for later.
func TestLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	resume := stoppedHolder(t, dir)
	h := testHome(dir)
	h.Limit(300 * time.Millisecond)
	s := sessionIn(t, h, "s")
	begin := time.Now()
	for range 5 {
		if err := s.Update(func(*Tx) error { t.Error("two holders"); return nil }); !errors.Is(err, ErrBusy) {
			t.Fatalf("Update: %v", err)
		}
	}
	if err := s.Record(On("session:start")); !errors.Is(err, ErrBusy) {
		t.Errorf("Record: %v", err)
	}
	if took := time.Since(begin); took < 300*time.Millisecond || took > 3*time.Second {
		t.Errorf("all waits together took %s", took)
	}
	for i := range 3 {
		if err := s.Defer([]byte{byte('a' + i)}); err != nil {
			t.Fatal(err)
		}
		h.now = func() time.Time { return clock.Add(time.Duration(i+1) * time.Second) }
	}
	resume()
	h.Limit(time.Minute) // those who gave up still pass their turns on
	if err := s.Update(func(*Tx) error { return nil }); err != nil {
		t.Errorf("the holder is gone: %v", err)
	}
	var got string
	for _, name := range s.Deferred() {
		data, ok := s.TakeDeferred(name)
		if _, again := s.TakeDeferred(name); !ok || again {
			t.Errorf("taken %v, and again %v", ok, again)
		}
		got += string(data)
	}
	if got != "abc" {
		t.Errorf("deferred %q", got)
	}
	if _, err := os.Lstat(s.deferredDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder stays: %v", err)
	}
}

// A turn that comes after we have left is passed on.
func TestLimitPassesTheTurnOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, release := make(chan struct{}), make(chan struct{})
	holder := sessionIn(t, testHome(dir), "s")
	done := make(chan error, 1)
	go func() { done <- holder.Update(func(*Tx) error { close(held); <-release; return nil }) }()
	<-held
	h := testHome(dir)
	h.Limit(50 * time.Millisecond)
	if err := sessionIn(t, h, "s").Update(func(*Tx) error { return nil }); !errors.Is(err, ErrBusy) {
		t.Fatalf("Update: %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for range 20 {
		update(t, sessionIn(t, testHome(dir), "s"), func(*Tx) error { return nil })
	}
}

// A clean-up waits for nobody.
func TestCleanupDoesNotWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stoppedHolder(t, dir)
	h := testHome(dir)
	h.now = func() time.Time { return time.Now().Add(100 * 24 * time.Hour) }
	begin := time.Now()
	report, err := h.Cleanup(CleanupOptions{MaxAge: time.Hour})
	if err != nil || len(report.Failed) > 0 || len(report.Spared) != 1 || len(report.Sessions) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("the clean-up took %s", took)
	}
	if _, err := os.Lstat(filepath.Join(h.sessionsDir(), "s", lockFile)); err != nil {
		t.Error(err)
	}
}

func TestDeferIsBounded(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	if err := s.Defer([]byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a session: %v", err)
	}
	update(t, s, func(*Tx) error { return nil })
	if err := s.Defer(make([]byte, maxNote+1)); err == nil {
		t.Error("a large note was taken")
	}
	// The clock stands still, and no note takes another's place.
	for i := range maxDeferred + 1 {
		if err := s.Defer([]byte("x")); (err != nil) != (i == maxDeferred) {
			t.Fatalf("note %d: %v", i, err)
		}
	}
}
