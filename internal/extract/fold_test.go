package extract

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", " ": "", "A  b": "a b", "*": "", "a * b": "a b", "__a__": "a", "___": "_", "_*_": "__", "It’s **DONE**\u00a0now": "it's done now", "ÄÖ 完成。\n\tOK\v": "äö 完成。 ok", "a\u2003b": "a b",
	} {
		if got := fold(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestPhrases: looked for together or one by one, phrases are found alike.
func TestPhrases(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		phrase := rapid.StringMatching(`[ab 完成_]{0,4}`)
		list := rapid.SliceOfN(phrase, 0, 5).Draw(t, "phrases")
		text := fold(rapid.StringMatching(`[abc 完成_.]{0,30}`).Draw(t, "text"))
		want := false
		for _, p := range list {
			if p = fold(p); p != "" {
				for i := range text {
					want = want || strings.HasPrefix(text[i:], p) && standsAt(text, i, p)
				}
			}
		}
		if got := NewPhrases(list).In(text); got != want {
			t.Fatalf("%q in %q: %v", list, text, got)
		}
	})
}
