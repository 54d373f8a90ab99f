package extract

import (
	"slices"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestPlainWords: what is passed over as an ordinary word states nothing by the
// rules for words either, wherever it stands.
func TestPlainWords(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Fatalf(string, ...any) }, text string) {
		for i := range text {
			if text[i] >= utf8.RuneSelf || class[text[i]]&isWord == 0 {
				continue
			}
			fast := scanner{text: text}
			end, plain := fast.plainWord(i)
			if !plain {
				continue
			}
			slow := scanner{text: text}
			if want := slow.anyWord(i); end != want || len(slow.spans) > 0 || slow.failing != fast.failing {
				t.Fatalf("%q at %d: ends at %d, by the rules at %d with %v, failing %d and %d", text, i, end, want, slow.spans, fast.failing, slow.failing)
			}
		}
	}
	for _, text := range []string{
		"error", "Error: x", "failed:", "Error:x", "Panic.", "panic.go", "fatal(", "I", "A.", "a:b", "c:\\x", "std::x", "http://x", "Node.js", "cannot,", "refused, 1", "word\n", "V1", "denied`",
	} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.OneOf(rapid.String(), rapid.StringMatching(`(([A-Z]?[a-z]{0,3}|error|Failed|Exception)[.,:(\x60 \n/\\1é完_-]?[ .]?){0,6}`)).Draw(t, "text"))
	})
}

// TestScanWithoutShortCut: a text is scanned alike with and without the short cut.
func TestScanWithoutShortCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(([A-Z]?[a-z]{0,5}|error|v1\.2|src/a\.go|[0-9]{1,3})[.,:( \n]{1,2}){0,12}`).Draw(t, "text")
		var want []Span
		s := scanner{text: text}
		for i := 0; i < len(text); {
			switch c := text[i]; {
			case class[c]&isWord != 0:
				i = s.anyWord(i)
			case c == '\n':
				s.endLine(i)
				i++
				s.lineStart = i
			default:
				i++
			}
		}
		s.endLine(len(text))
		want = s.spans
		if got := scanFacts(nil, text); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	})
}
