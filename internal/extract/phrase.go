package extract

import (
	"iter"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Spoken is what the writer of a text says himself: without code and
// quotations, folded to lower case with single blanks, ready for Mentions.
func Spoken(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 1)
	for line, own := range OwnLines(text) {
		if own {
			b.WriteString(dropQuoted(line))
		}
		b.WriteByte('\n') // words around what is left out do not join
	}
	return fold(b.String())
}

// Undirected is a text without directives: lines such as `::git-push{branch="main"}`, by
// which an agent tells the app around it what it has done. The app shows a button in their
// place, so nobody has said them.
func Undirected(text string) string {
	if !strings.Contains(text, "::") {
		return text // most have none
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !directive(strings.TrimSpace(line)) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// directive reports a line that begins with the name of a directive and its first
// attribute, and ends with the last one.
func directive(line string) bool {
	rest, marked := strings.CutPrefix(line, "::")
	name, rest, opened := strings.Cut(rest, "{")
	key, _, set := strings.Cut(rest, "=")
	words := func(s, letters string) bool { return s != "" && strings.Trim(s, letters) == "" }
	const lower = "abcdefghijklmnopqrstuvwxyz"
	return marked && opened && set && strings.HasSuffix(rest, "}") &&
		words(name, lower+"-_0123456789") && words(key, lower+"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_0123456789")
}

// OwnLines walks a text line by line, and tells which are the writer's own: not code and
// not a quotation.
func OwnLines(text string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		fence := ""
		for line := range strings.Lines(text) {
			t := strings.TrimSpace(line)
			own := fence == "" && !strings.HasPrefix(t, ">")
			if mark := fenceOf(t); mark != "" && (fence == "" || fence == mark) {
				own = false
				if fence == "" {
					fence = mark
				} else {
					fence = ""
				}
			}
			if !yield(line, own) {
				return
			}
		}
	}
}

func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// dropQuoted removes inline code and quoted words from a line. Single quotes
// stay: they are apostrophes more often than quotes.
func dropQuoted(line string) string {
	if !strings.ContainsAny(line, "`\"“「『«") {
		return line // most have none
	}
	var b strings.Builder
	for len(line) > 0 {
		r, n := utf8.DecodeRuneInString(line)
		if end, ok := closing(r); ok {
			if i := strings.IndexRune(line[n:], end); i >= 0 {
				line = line[n+i+utf8.RuneLen(end):]
				b.WriteString(" \x00 ") // words around a quotation do not join
				continue
			}
		}
		b.WriteString(line[:n])
		line = line[n:]
	}
	return b.String()
}

func closing(open rune) (rune, bool) {
	switch open {
	case '`', '"':
		return open, true
	case '“':
		return '”', true
	case '「':
		return '」', true
	case '『':
		return '』', true
	case '«':
		return '»', true
	}
	return 0, false
}

// folds are the signs that fold takes away or straightens.
var folds = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("’", "'", "*", "", "__", "") })

// fold makes texts comparable: lower case, straight apostrophes, no emphasis,
// single blanks.
func fold(text string) string {
	return strings.Join(strings.Fields(folds().Replace(strings.ToLower(text))), " ")
}

// Phrases are looked for together: a text is read once, however many there are.
type Phrases struct {
	folded []string
	at     [256][]string // by their first byte
}

// NewPhrases prepares phrases. Empty ones are left out.
func NewPhrases(list []string) *Phrases {
	p := &Phrases{}
	for _, s := range list {
		if s = fold(s); s != "" {
			p.folded = append(p.folded, s)
			p.at[s[0]] = append(p.at[s[0]], s)
		}
	}
	return p
}

// In reports whether one of the phrases stands in the folded text. Where a phrase
// begins or ends with a letter of a script that separates words, the text must
// have a word's edge there; Chinese and its like are found anywhere.
func (p *Phrases) In(text string) bool {
	inside := false // a word
	for i := 0; i < len(text); i++ {
		again := inside
		if inside = class[text[i]]&isAlnum != 0; inside && again {
			continue
		}
		for _, s := range p.at[text[i]] {
			if strings.HasPrefix(text[i:], s) && standsAt(text, i, s) {
				return true
			}
		}
	}
	return false
}

// standsAt reports whether the phrase found there is no part of a longer word.
func standsAt(text string, i int, phrase string) bool {
	first, _ := utf8.DecodeRuneInString(phrase)
	last, _ := utf8.DecodeLastRuneInString(phrase)
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+len(phrase):])
	return !(spaced(first) && spaced(before) || spaced(last) && spaced(after))
}

// spaced reports whether r is a letter or digit of a script that puts blanks
// between words.
func spaced(r rune) bool {
	if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
		return false
	}
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// opening is how many sentences of a text open it: agents may say "Perfect!"
// before they say what they did.
const opening = 2

// Open reports whether one of the phrases begins a sentence with which the writer
// of a text opens it. What he asks is not said.
func (p *Phrases) Open(text string) bool {
	n := 0
	for line, own := range OwnLines(text) {
		if !own {
			continue
		}
		line = strings.TrimSpace(dropQuoted(line))
		for a, e := 0, 0; a < len(line); a = e {
			e = sentenceEnd(line, a, len(line))
			s := strings.TrimLeftFunc(fold(line[a:e]), func(r rune) bool { return r != 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if s == "" {
				continue
			}
			if !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, "？") && p.begin(s) {
				return true
			}
			if n++; n == opening {
				return false
			}
		}
	}
	return false
}

// begin reports whether a folded sentence begins with one of them.
func (p *Phrases) begin(s string) bool {
	for _, phrase := range p.folded {
		if !strings.HasPrefix(s, phrase) {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(phrase)
		after, _ := utf8.DecodeRuneInString(s[len(phrase):])
		if len(s) == len(phrase) || !spaced(last) || !spaced(after) {
			return true
		}
	}
	return false
}
