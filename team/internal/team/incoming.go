package team

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// incoming is the file of a session that is not in its place yet. It lies in a folder of
// its own, which is locked as long as somebody is at it: what a killed process left goes
// with the next one that fetches something, at once, and what another is at stays.
type incoming struct {
	*os.File
	dir     string
	release func()
}

const (
	incomingPrefix = ".incoming-"
	incomingLock   = "lock"
	incomingPlaced = "placed" // names the copy beside the place
	placedPrefix   = ".overtone-moved-"
)

func newIncoming(base string) (in *incoming, err error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	// Between the folder and its lock nobody else looks.
	unlock, err := store.LockFolder(base)
	if err != nil {
		return nil, err
	}
	defer unlock()
	left, _ := filepath.Glob(filepath.Join(base, incomingPrefix+"*")) // the pattern is good
	for _, dir := range left {
		// A plain file was left by an earlier version.
		release, ok, err := store.TryLock(filepath.Join(dir, incomingLock))
		if ok {
			release()
		}
		if info, failed := os.Lstat(dir); ok || err != nil && failed == nil && info.Mode().IsRegular() {
			dropIncoming(dir)
		}
	}
	in = &incoming{release: func() {}}
	if in.dir, err = os.MkdirTemp(base, incomingPrefix+"*"); err != nil {
		return nil, err
	}
	release, ok, err := store.TryLock(filepath.Join(in.dir, incomingLock))
	if ok {
		in.release = release
		in.File, err = os.OpenFile(filepath.Join(in.dir, "session"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil || !ok {
		in.remove()
		return nil, errors.Join(err, errors.New("cannot receive"))
	}
	return in, nil
}

// beside makes the copy beside a path: a rename within a folder is one step.
func (in *incoming) beside(path string) (*os.File, error) {
	name := filepath.Join(filepath.Dir(path), placedPrefix+strings.TrimPrefix(filepath.Base(in.dir), incomingPrefix)+".tmp")
	if err := os.WriteFile(filepath.Join(in.dir, incomingPlaced), []byte(name), 0o600); err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// remove takes away what is not in its place.
func (in *incoming) remove() {
	if in.File != nil {
		in.Close()
	}
	in.release()
	dropIncoming(in.dir)
}

func dropIncoming(dir string) {
	if name, err := os.ReadFile(filepath.Join(dir, incomingPlaced)); err == nil && strings.HasPrefix(filepath.Base(string(name)), placedPrefix) {
		_ = os.Remove(string(name)) // where it is in its place, it has another name
	}
	_ = os.RemoveAll(dir) // or the next one does
}
