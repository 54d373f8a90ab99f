package hook

import (
	"time"

	"golang.org/x/sys/unix"
)

// Awake is how long this machine has been awake since it was started; 0 where it cannot
// be told.
func Awake() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
