package store

import (
	"errors"
	"io/fs"
	"os"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// lockTries bounds the race against clean-ups in lock. Each lost round takes a
// clean-up that found the session unused for days, so two in a row do not
// happen by chance.
const lockTries = 16

// lock waits for the session's lock and returns the function that gives it up.
// A missing session is created or, without create, [fs.ErrNotExist].
//
// The lock is an advisory lock on a file (flock, LockFileEx) and belongs to the
// open file: the system drops it when the process dies, however it dies, so
// there are no stale locks and nothing to time out. Waiting happens in the
// kernel, where waiters queue; polling lets some starve.
//
// The file is never removed while the session lives. If it were, one process
// could hold the lock of the removed file while another creates a new file and
// locks that. Clean-up does remove it, with its whole folder: it moves the
// folder away while it holds the lock, and each newcomer checks, once it has
// the lock, that the file it locked is still the one in place.
func (s *Session) lock(create bool) (unlock func(), err error) {
	path := s.path(lockFile)
	for range lockTries {
		if err = s.checkDir(); create && errors.Is(err, fs.ErrNotExist) {
			if err = s.makeDir(); err == nil {
				err = s.checkDir()
			}
		}
		if err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		var f *lockedfile.File
		f, err = lockedfile.OpenFile(path, os.O_RDWR|os.O_CREATE|openFlags, filePerm)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the folder went between the check and the open
		}
		if err != nil {
			return nil, err
		}
		var mine, current fs.FileInfo
		if mine, err = f.Stat(); err == nil {
			current, err = os.Lstat(path)
		}
		if err == nil && os.SameFile(mine, current) {
			return func() { f.Close() }, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, errors.Join(errors.New("the session keeps being cleaned up"), err)
}

// makeDir creates the session's folder and its parents.
func (s *Session) makeDir() error {
	if err := os.MkdirAll(s.home.sessionsDir(), dirPerm); err != nil {
		return err
	}
	if err := os.Mkdir(s.dir, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
