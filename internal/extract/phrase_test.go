package extract

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFoldInOneReading: what fold does in one reading is what the library does in four.
func TestFoldInOneReading(t *testing.T) {
	t.Parallel()
	signs := strings.NewReplacer("’", "'", "*", "", "__", "")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.StringOf(rapid.SampledFrom([]rune("aZ _*’'\t\n　\u00a0İÄ中\ufffd"))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "text")
		if got, want := fold(text), strings.Join(strings.Fields(signs.Replace(strings.ToLower(text))), " "); got != want {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	})
}
