package blueprint

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Of many that write one new file at once, one does; what is there stays.
func TestWriteNew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	var written atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if writeNew(path, []byte("x")) == nil {
				written.Add(1)
			}
		})
	}
	wg.Wait()
	if written.Load() != 1 {
		t.Errorf("%d wrote it", written.Load())
	}
}
