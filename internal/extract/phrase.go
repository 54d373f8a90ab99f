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
	for line, own := range OwnLines(text) {
		if own {
			b.WriteString(dropQuoted(line))
		}
		b.WriteByte('\n') // words around what is left out do not join
	}
	return fold(b.String())
}

// OwnLines walks a text line by line, trimmed, and tells which are the writer's
// own: not code and not a quotation.
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
			if !yield(t, own) {
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

// fold makes texts comparable: lower case, straight apostrophes, no emphasis,
// single blanks.
func fold(text string) string {
	if folded(text) {
		return text
	}
	return strings.Join(strings.Fields(emphasis().Replace(strings.ToLower(text))), " ")
}

var emphasis = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("’", "'", "*", "", "__", "") })

// folded reports short texts of plain small letters, which most phrases are.
func folded(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == ' ' && (i == 0 || i == len(text)-1 || text[i-1] == ' ') || c != ' ' && c != '\'' && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// Mentions reports whether one of the phrases stands in the folded text. Where a
// phrase begins or ends with a letter of a script that separates words, the text
// must have a word's edge there; Chinese and its like are found anywhere.
func Mentions(text string, phrases []string) bool {
	for _, p := range phrases {
		if p = fold(p); p != "" && contains(text, p) {
			return true
		}
	}
	return false
}

func contains(text, phrase string) bool {
	first, _ := utf8.DecodeRuneInString(phrase)
	last, _ := utf8.DecodeLastRuneInString(phrase)
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(phrase):])
		inside := spaced(first) && spaced(before) || spaced(last) && spaced(after)
		if !inside {
			return true
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		from = i + n
	}
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

// Opens reports whether one of the phrases begins a sentence with which the
// writer of a text opens it. What he asks is not said.
func Opens(text string, phrases []string) bool {
	n := 0
	for line, own := range OwnLines(text) {
		if !own {
			continue
		}
		for _, s := range sentencesOf(dropQuoted(line)) {
			s = strings.TrimLeftFunc(fold(s), func(r rune) bool { return r != 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if s == "" {
				continue
			}
			if !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, "？") && beginsWith(s, phrases) {
				return true
			}
			if n++; n == opening {
				return false
			}
		}
	}
	return false
}

func beginsWith(s string, phrases []string) bool {
	for _, p := range phrases {
		if p = fold(p); p == "" || !strings.HasPrefix(s, p) {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(p)
		after, _ := utf8.DecodeRuneInString(s[len(p):])
		if len(s) == len(p) || !spaced(last) || !spaced(after) {
			return true
		}
	}
	return false
}

// sentencesOf cuts a line after the marks that end a sentence.
func sentencesOf(line string) []string {
	var out []string
	from := 0
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?':
			if end < len(line) && line[end] != ' ' {
				continue
			}
		case '。', '！', '？':
		default:
			continue
		}
		out = append(out, line[from:end])
		from = end
	}
	return append(out, line[from:])
}
