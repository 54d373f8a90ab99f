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
	text := "See a/b.go now. " + strings.Repeat("Nothing of this matters very much today. ", 9)
	got, err := Builtin{}.Compress(ctx, Request{Text: text, TargetPercent: 35})
	if err != nil || !strings.Contains(got.Text, "See a/b.go now.") {
		t.Errorf("got %+v, %v", got, err)
	}
	endless := strings.Repeat("7", 200)
	if got, err := (Builtin{}).Compress(ctx, Request{Text: endless, TargetPercent: 10}); err != nil || got.Text != markOf(endless) {
		t.Errorf("nothing to keep: got %+v, %v, want a mark", got, err)
	}
	cancel()
	if _, err := (Builtin{}).Compress(ctx, Request{Text: "text", TargetPercent: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
