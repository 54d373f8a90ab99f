//go:build unix

package compress

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used: unlike the clock it says the same on a
// busy machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
