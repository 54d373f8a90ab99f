package compress

import (
	"context"
	"errors"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

// Builtin is the provider that needs no model and no network. It takes words
// away and adds none: what remains stands in the original, in its order.
type Builtin struct{}

// Name is how the provider is chosen.
func (Builtin) Name() string { return "builtin" }

// Compress shortens the text to its target. A text that has nothing short
// enough to keep (one endless number) is rejected.
func (Builtin) Compress(ctx context.Context, r Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	text := extract.Shorten(r.Text, r.TargetPercent)
	if text == "" {
		return Reply{}, &rejectedError{errors.New("nothing in the text fits the target length")}
	}
	return Reply{Text: text}, nil
}
