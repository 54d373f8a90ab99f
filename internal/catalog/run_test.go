package catalog

import (
	"strings"
	"testing"
)

// A command's hint is how it ended and the last line that it printed, bounded.
func TestHintOfACommand(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{"": "exit 1", "a\nb\n": "exit 1 b", "\n\n": "exit 1", strings.Repeat("x", 300): "exit 1 " + strings.Repeat("x", 173)} {
		if got := hintOf("exit 1", output); got != want {
			t.Errorf("%.10q: %q", output, got)
		}
	}
}
