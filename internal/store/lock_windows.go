package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// openFlags is empty where making a link takes privileges and open has no flag
// to refuse one.
const openFlags = 0

func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func free(f *os.File) { f.Close() }

func inodeOf(string) string { return "?" }
