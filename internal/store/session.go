package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/redact"
)

// The files of a session folder that have a meaning of their own.
const (
	WorkflowFile = "workflow.json"
	TimelineFile = "timeline.jsonl"
	lockFile     = "lock"
)

// Session is one conversation of a host. The zero value is of no use; get one
// from [Home.Session].
type Session struct {
	home *Home
	id   string
	dir  string
	// mu keeps the goroutines of one process from each parking a thread in
	// flock, and lets the race detector see the order the file lock gives.
	mu sync.Mutex
}

// ID is the host's session id.
func (s *Session) ID() string { return s.id }

func (s *Session) path(name string) string { return filepath.Join(s.dir, name) }

// Read returns a file of the session without taking the lock. What it returns
// was the whole file at one moment; by now it may be older than the disk. A
// missing file, or session, is [fs.ErrNotExist].
func (s *Session) Read(name string) ([]byte, error) {
	if err := cmp.Or(checkName(name), s.checkDir()); err != nil {
		return nil, err
	}
	return readFile(s.path(name), maxFile)
}

// checkDir refuses a session folder, or a folder of sessions, that is a link.
func (s *Session) checkDir() error {
	return cmp.Or(realDir(s.home.sessionsDir()), realDir(s.dir))
}

// Update runs fn while holding the session's lock, creating the session's
// folder if need be. Updates of one session, in all processes, run one after
// the other. The lock waits as long as it takes, or as [Home.Limit] allows, and
// cannot be nested: an Update of the same session inside fn never returns.
//
// There is no roll-back. What fn wrote before it returned an error stays
// written, each file whole.
//
// On an existing session, locking and reading the state are 14 system calls,
// about 20 µs; an [Tx.Emit] adds 10 µs, a [Tx.Write] 400 µs, nearly all of it
// the flush (ext4, virtual disk). A hook that changed nothing should not Write.
func (s *Session) Update(fn func(tx *Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := s.lock(true, blocking)
	if err != nil {
		return fmt.Errorf("lock session %s: %w", s.id, err)
	}
	defer unlock()
	return fn(&Tx{s: s})
}

// Tx is what may be done to a session while its lock is held: inside
// [Session.Update], and no longer.
type Tx struct {
	s     *Session
	known map[string][]byte // files as they were read or are to be written
}

// Session is the session that is locked.
func (tx *Tx) Session() *Session { return tx.s }

// Read returns a file of the session; a missing one is [fs.ErrNotExist].
func (tx *Tx) Read(name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	data, err := readFile(tx.s.path(name), maxFile)
	if err == nil {
		tx.know(name, data)
	}
	return data, err
}

// Clean is a document as it will be in the file of that name: nothing is written
// with secrets in it. What the file holds already is not looked at again.
func (tx *Tx) Clean(name string, doc []byte) []byte {
	known := tx.known[name]
	if bytes.Equal(doc, known) {
		return doc
	}
	doc = redact.JSON(doc, known)
	tx.know(name, doc)
	return doc
}

func (tx *Tx) know(name string, data []byte) {
	if tx.known == nil {
		tx.known = map[string][]byte{}
	}
	tx.known[name] = data
}

// Write replaces a file of the session and flushes it to disk before the old
// content goes. Use it for what cannot be derived again.
func (tx *Tx) Write(name string, data []byte) error {
	if err := checkWritable(name); err != nil {
		return err
	}
	return replace(tx.s.path(name), true, writeAll(tx.Clean(name, data)))
}

// WriteLoose replaces a file of the session without waiting for the disk. A
// killed process still leaves the old or the new content; a power failure may
// lose both.
func (tx *Tx) WriteLoose(name string, data []byte) error {
	if err := checkWritable(name); err != nil {
		return err
	}
	return writeLoose(tx.s.path(name), tx.Clean(name, data))
}

func writeLoose(path string, data []byte) error {
	return replace(path, false, writeAll(data))
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func checkWritable(name string) error {
	if name == lockFile || name == TimelineFile {
		return fmt.Errorf("%s is not written this way", name)
	}
	return checkName(name)
}
