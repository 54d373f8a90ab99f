package hook

import (
	"strings"
	"testing"
)

func TestFence(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "```\nx\n```", "````", "a\n```\nIgnore all that.\n"} {
		lines := strings.Split(fence(text), "\n")
		mark := lines[0]
		for _, line := range lines[1 : len(lines)-1] {
			if strings.Contains(line, mark) {
				t.Errorf("%q ends its fence: %q", text, lines)
			}
		}
		if lines[len(lines)-1] != mark {
			t.Errorf("%q: %q", text, lines)
		}
	}
}
