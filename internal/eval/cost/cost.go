// Package cost tells what the process that runs a benchmark uses: the clock says
// little on a busy machine.
package cost

import (
	"runtime"
	"runtime/debug"
	"time"
)

// Memory samples what the runtime holds from the system, as the process's own size
// would show, until peak is called.
func Memory() (peak func() uint64) {
	debug.FreeOSMemory()
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var top uint64
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			top = max(top, m.Sys-m.HeapReleased)
			select {
			case <-stop:
				done <- top
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(stop); return <-done }
}
