package compress

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestBuiltinProvider(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	got, err := Builtin{}.Compress(ctx, Request{Text: strings.Repeat("see a/b.go now. ", 9), TargetPercent: 35})
	if err != nil || !strings.Contains(got.Text, "a/b.go") {
		t.Errorf("got %+v, %v", got, err)
	}
	var r *rejectedError
	if _, err := (Builtin{}).Compress(ctx, Request{Text: strings.Repeat("7", 100), TargetPercent: 10}); !errors.As(err, &r) {
		t.Errorf("nothing to keep: got %v, want a rejection", err)
	}
	cancel()
	if _, err := (Builtin{}).Compress(ctx, Request{Text: "text", TargetPercent: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
