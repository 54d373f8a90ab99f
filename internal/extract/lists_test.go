package extract

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// slowCues is what cuesOf means, word by word and phrase by phrase.
func slowCues(sentence string) (found Cue) {
	t := cues()
	n, prev, wide := 0, "", false
	for i := 0; i < len(sentence); {
		r, size := utf8.DecodeRuneInString(sentence[i:])
		wide = wide || unspaced(r)
		if !cueLetter(r) {
			i += size
			continue
		}
		j, _ := cueWordEnd(sentence, i)
		if j-i > maxName {
			i, prev = j, ""
			continue
		}
		w := foldWord(sentence[i:j])
		e := t.words[w]
		tells := e.cue
		if strings.HasSuffix(w, "n't") {
			tells |= Denied
		}
		for k := min(len(w), 12); k >= shortStem; k-- {
			if s, ok := t.stems[w[:k]]; ok {
				tells |= s
				break
			}
		}
		if strings.HasPrefix(sentence[j:], ":") {
			tells |= e.colon
		}
		pair := Cue(0)
		if prev != "" {
			pair = t.pairs[prev+" "+w]
		}
		tells |= pair
		if n > 1 || n == 1 && pair&atStart == 0 {
			tells &^= atStart
		}
		found |= tells
		prev = e.first
		n++
		i = j
	}
	if wide {
		head := strings.TrimLeft(sentence, " \t-*•>#0123456789.)、")
		for _, list := range t.phrases {
			for _, p := range list {
				if p.cue&atStart != 0 && strings.HasPrefix(head, p.text) || p.cue&atStart == 0 && strings.Contains(sentence, p.text) {
					found |= p.cue
				}
			}
		}
	}
	if end := strings.TrimRight(sentence, " \t*_\"”」』)）"); strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？") {
		found |= Question
	}
	return found
}

// TestCues: tables and filters give what a look at each word and phrase gives.
func TestCues(t *testing.T) {
	t.Parallel()
	var known []string
	for line := range strings.Lines(cueWords) {
		if _, list, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			for w := range strings.SplitSeq(list, ", ") {
				known = append(known, w, strings.ToUpper(w), strings.TrimSuffix(w, "*")+"ing", w+"_", "x"+w)
			}
		}
	}
	check := func(t interface{ Fatalf(string, ...any) }, text string) {
		if got, want := cuesOf(text), slowCues(text); got != want {
			t.Fatalf("%q: %b, want %b", text, got, want)
		}
	}
	for _, w := range append(known, "", "_", "n't", "Ain'T", "İs not", "don’t", "\xe4\xb8", "\xffnot", strings.Repeat("a", 300)+" never", "不\xe8", "I will", "- **i Will** not", "trade-OFF", "unreachable'", "preventn't") {
		check(t, w)
		check(t, w+": 不")
		check(t, "- "+w+"?")
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom(known), rapid.SampledFrom(known), rapid.StringMatching(`[a-zA-Z'’_-]{1,12}`), rapid.StringMatching(`[不沒決定なまя0-9é\xff]{1,3}`))
		var b strings.Builder
		for _, w := range rapid.SliceOfN(word, 0, 8).Draw(t, "words") {
			b.WriteString(w + rapid.SampledFrom([]string{" ", "", ", ", ": ", " - ", "  "}).Draw(t, "gap"))
		}
		check(t, b.String())
	})
}
