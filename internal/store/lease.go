package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// WatchFile is the watcher's memory of a session.
const WatchFile = "watch.json"

// WatchLease is the lease of the watcher that is about to compact a session or to
// hand it a packet; hooks then leave both to it.
const WatchLease = "watch.lease"

// WatcherLease is held by a running watcher of Codex.
const WatcherLease = "watch-codex.lease"

// TryLease claims a named job of this home, like [Session.TryLease].
func (h *Home) TryLease(name string) (release func(), ok bool, err error) {
	if err := os.MkdirAll(h.root, dirPerm); err != nil {
		return nil, false, err
	}
	return TryLock(filepath.Join(h.root, name))
}

// Leased reports whether somebody has claimed the job. It leaves no trace.
func (h *Home) Leased(name string) bool {
	release, ok, err := tryLockFile(filepath.Join(h.root, name), os.O_RDWR)
	if ok {
		release()
	}
	return err == nil && !ok
}

// TryLease claims a named job on the session for this process, for as long as
// it wants: unlike [Session.Update] it keeps nobody from reading or writing the
// session, it only tells others that the job is taken. Without waiting it
// returns ok false when another holder, here or in another process, has it.
//
// Like the session's lock it belongs to an open file, so the system frees it
// when the process dies; there is nothing to renew and nothing that goes stale.
// The file stays where it is.
func (s *Session) TryLease(name string) (release func(), ok bool, err error) {
	if err := checkName(name); err != nil {
		return nil, false, err
	}
	err = s.Update(func(*Tx) error {
		release, ok, err = TryLock(s.path(name))
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("lease %s of session %s: %w", name, s.id, err)
	}
	return release, ok, nil
}

// TryLock claims the file at path, which is made where it is missing and stays
// afterwards, for as long as this process wants. Without waiting it returns ok
// false when another one has it.
func TryLock(path string) (release func(), ok bool, err error) {
	return tryLockFile(path, os.O_RDWR|os.O_CREATE)
}

func tryLockFile(path string, flags int) (release func(), ok bool, err error) {
	f, err := os.OpenFile(path, flags|openFlags, filePerm)
	if err != nil {
		return nil, false, err
	}
	if ok, err = tryLock(f); err != nil || !ok {
		f.Close()
		return nil, false, err
	}
	return func() { free(f) }, true, nil
}

// Claim marks a file of a host's as ours to act upon, for as long as this process
// wants: it says so to our own processes, whatever homes they have, and changes
// nothing. Where files cannot be claimed by readers, everybody may act.
func Claim(path string) (release func(), ok bool) {
	nothing := func() {}
	if path == "" || runtime.GOOS == "windows" { // a lock there would keep the host from writing
		return nothing, true
	}
	release, ok, err := tryLockFile(path, os.O_RDONLY)
	if ok {
		return release, true
	}
	return nothing, err != nil
}
