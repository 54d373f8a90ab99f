//go:build unix

package cli

import "syscall"

// minFiles is how many files a call may have open at once. The runtime needs
// some for itself, and gives up the process where it gets none.
const minFiles = 16

// starved reports whether the limits of the process are so low that even to fail
// properly is out of reach. It also spares the disk the image of a crash.
func starved() bool {
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) // at worst there is an image
	var files syscall.Rlimit
	return syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files) == nil && files.Cur < minFiles
}
