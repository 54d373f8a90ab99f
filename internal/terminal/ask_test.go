package terminal

import (
	"bytes"
	"context"
	"errors"
	"os"
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
	a := &Terminal{Lang: message.EN, Env: Env{Stdin: r, Stderr: &errs, IsTTY: func(uintptr) bool { return true }}}
	if _, err := w.WriteString("one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two"} {
		if got, err := a.Ask(t.Context(), "which?", message.TrustNobody); got != want || err != nil {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Ask(ctx, "which?", message.TrustNobody); !errors.Is(err, context.Canceled) {
		t.Fatalf("after Ctrl-C: %v", err)
	}
}
