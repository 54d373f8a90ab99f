package extract

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// slowFold is what fold means, step by step.
func slowFold(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("’", "'", "*", "", "__", "").Replace(strings.ToLower(text))), " ")
}

// TestFold: one pass gives what the steps give, also on what is no text.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "A  b", "*", "a * b", "__a__", "___", "_*_", "It’s **DONE**\u00a0now", "ÄÖ 完成。\n\tOK\v", "\xff\xfeA", "İ K", "a\u2003b", "\x85"} {
		if got, want := fold(text), slowFold(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z*_’ \n完成ÄİK]{0,40}`), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) })).Draw(t, "text")
		if got, want := fold(text), slowFold(text); got != want {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	})
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
				want = want || contains(text, p)
			}
		}
		if got := NewPhrases(list).In(text); got != want {
			t.Fatalf("%q in %q: %v", list, text, got)
		}
	})
}
