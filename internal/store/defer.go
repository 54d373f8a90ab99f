package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/seed-6d03985f/overtone/internal/redact"
)

// What could not be recorded because the lock was held is put off: one file for
// each note, in a folder of the session that is there only while there are some.
// Writing one needs no lock, as no two have the same name.

// maxDeferred bounds how many notes wait, maxNote how large one may be: a holder
// that was stopped for good must not fill the disk.
const (
	maxDeferred = 256
	maxNote     = 1 << 20
)

// deferred tells the notes of one process apart where its clock does not: one that
// takes several and cannot act on them puts all of them off again.
var deferred atomic.Int64

func (s *Session) deferredDir() string { return s.path("deferred") }

// Defer leaves a note for whoever next gets the lock.
func (s *Session) Defer(note []byte) error {
	if len(note) > maxNote {
		return fmt.Errorf("put off: larger than %d bytes", maxNote)
	}
	note = redact.JSON(note, nil)
	if err := s.checkDir(); err != nil {
		return err
	}
	if len(s.Deferred()) >= maxDeferred {
		return errors.New("put off: too much waits already")
	}
	path := filepath.Join(s.deferredDir(), fmt.Sprintf("%020d-%d-%04d", s.home.now().UnixNano(), os.Getpid(), deferred.Add(1)))
	err := LooseWrite(path, note, filePerm)
	// Whoever took the last note removes the folder.
	for range lockTries {
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err = os.Mkdir(s.deferredDir(), dirPerm); err == nil || errors.Is(err, fs.ErrExist) {
			err = LooseWrite(path, note, filePerm)
		}
	}
	return err
}

// Deferred lists the notes that wait, the oldest first. Where there are none, as
// is usual, it costs one system call.
func (s *Session) Deferred() []string {
	if _, err := os.Lstat(s.deferredDir()); err != nil || s.checkDir() != nil || realDir(s.deferredDir()) != nil {
		return nil
	}
	entries, err := os.ReadDir(s.deferredDir())
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if checkName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// TakeDeferred returns a note and removes it; false where another process has it.
// It goes before it is acted upon: to do a thing late and twice is worse than not
// to do it.
func (s *Session) TakeDeferred(name string) ([]byte, bool) {
	if checkName(name) != nil || realDir(s.deferredDir()) != nil {
		return nil, false
	}
	path := filepath.Join(s.deferredDir(), name)
	data, err := readFile(path, 2*maxNote) // a mark may be longer than its secret
	if removed := os.Remove(path); err != nil || removed != nil {
		return nil, false
	}
	_ = os.Remove(s.deferredDir()) // succeeds for the last one
	return data, true
}

// Reachable waits for the lock as long as it may and gives it up at once.
func (s *Session) Reachable() error {
	unlock, err := s.lock(false, blocking)
	if err == nil {
		unlock()
	}
	return err
}
