package message

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// TestUnits: texts are as long as UTF-16 makes them, also what is no UTF-8.
func TestUnits(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		if got, want := Units(text), len(utf16.Encode([]rune(text))); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for n := range 20 {
		for _, tail := range []string{"", "é", "完", "😀", "\xff", "\xf0\x9f", "é plain again"} {
			check(t, strings.Repeat("a", n)+tail)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.String().Draw(t, "text")) })
}
