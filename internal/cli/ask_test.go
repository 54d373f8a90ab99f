package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Ctrl-C ends a question that nobody answers, and one answer leaves the next.
func TestAsk(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	var errs bytes.Buffer
	a := &app{lang: message.EN, env: Env{Stdin: r, Stderr: &errs, IsTTY: func(uintptr) bool { return true }}}
	if _, err := w.WriteString("one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		if got, err := a.ask(t.Context(), "which?", message.TrustNobody); got != want || err != nil {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.ask(ctx, "which?", message.TrustNobody); !errors.Is(err, context.Canceled) {
		t.Fatalf("after Ctrl-C: %v", err)
	}
}

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
