//go:build e2e

package e2e

import (
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/mockapi"
)

// TestStatusline: in the terminal of the real Claude Code the line that
// `init --statusline` asks for is there from the start, and follows the context.
func TestStatusline(t *testing.T) {
	t.Parallel()
	// The answer is a part of the context, too.
	w := NewWorld(t, Overtone, func(*mockapi.Request) mockapi.Reply { return mockapi.Text("done").Tokens(149_000) })
	s := w.Terminal("en")
	s.Say("hello")
	s.Wait("25% context left", 1)
}
