//go:build unix

package hook

import "syscall"

// minFiles is how many files a call may have open at once, minSpace how much address
// space it may reserve. The runtime needs much of both for itself, and gives up the
// process where it gets none.
const (
	minFiles = 16
	minSpace = 1_000_000 << 10
)

// starved reports whether the limits of the process are so low that even to fail
// properly is out of reach. It also spares the disk the image of a crash.
func starved() bool {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) // at worst there is an image
	low := func(which int, least uint64) bool {
		var l syscall.Rlimit
		return syscall.Getrlimit(which, &l) == nil && uint64(l.Cur) < least //nolint:unconvert // signed on some systems
	}
	return low(syscall.RLIMIT_NOFILE, minFiles) || low(syscall.RLIMIT_AS, minSpace)
}
