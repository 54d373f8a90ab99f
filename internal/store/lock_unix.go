//go:build unix

package store

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// openFlags go with every open: a link in place of the file is an error, and a
// pipe put there does not hang the hook.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func tryLock(f *os.File) (bool, error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// inodeOf is the number by which the system knows a file.
func inodeOf(path string) string {
	var s syscall.Stat_t
	if err := syscall.Stat(path, &s); err != nil {
		return "?"
	}
	return strconv.FormatUint(uint64(s.Ino), 10) //nolint:unconvert // 32 bits on some systems
}

// free gives the lock back and closes the file. Closing alone would do so only
// when nobody else has the file open, and a process that is being started has,
// from fork to exec: then the next one would find the job still taken.
func free(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	f.Close()
}
