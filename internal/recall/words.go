package recall

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/russian"
)

// Words are runs of letters and digits, in lower case and folded (see fold.go). A
// name in camel case is one word and the words it is made of; Chinese, Japanese and
// Korean, which put no or few spaces, are taken two characters at a time.

const (
	maxWord  = 40 // bytes; longer runs are data, not words
	longWord = 80
	// Hashes and ids are told apart by their beginning, and people type no more
	// of them.
	hashKept = 12
	// shortHash is the least that programs print of one.
	shortHash = 7
)

// classes of ASCII bytes.
const (
	other = iota
	lower
	upper
	digit
)

var classOf = func() (t [128]uint8) {
	for c := range t {
		switch {
		case 'a' <= c && c <= 'z':
			t[c] = lower
		case 'A' <= c && c <= 'Z':
			t[c] = upper
		case '0' <= c && c <= '9':
			t[c] = digit
		}
	}
	return t
}

// scanner finds the words of a text. The zero value is ready; it may be used for
// one text after another.
type scanner struct {
	class [128]uint8
	han   *[hanLast - hanFirst + 1]uint16
	buf   []byte
	cuts  []int
}

func newScanner() *scanner { return &scanner{class: classOf(), han: han()} }

// scan calls emit for each word with its place in the text; the word itself is
// valid during the call only. whole is false for a part of a longer word.
func (s *scanner) scan(text []byte, emit func(word []byte, start, end int, whole bool)) {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if s.class[c] == other {
				i++
				if c == escape {
					i = afterColour(text, i)
				}
				// Output of tools is often quoted once more: \n is no letter.
				if c == '\\' && i < len(text) && (text[i] == 'n' || text[i] == 't' || text[i] == 'r') {
					i++
				}
				continue
			}
			i = s.word(text, i, emit)
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case cjk(r):
			i = s.pairs(text, i, emit)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			i = s.word(text, i, emit)
		default:
			i += n
		}
	}
}

// escape begins a sequence that colours what a tool prints.
const escape = 0x1b

// afterColour is where the sequence ends whose escape stands before i: its letter is
// no part of the word behind it.
func afterColour(text []byte, i int) int {
	if i == len(text) || text[i] != '[' {
		return i
	}
	for j := i + 1; j < len(text) && j < i+32; j++ {
		if c := text[j]; c >= 0x40 && c <= 0x7e {
			return j + 1
		}
	}
	return i
}

// word reads the run that starts at i.
func (s *scanner) word(text []byte, i int, emit func([]byte, int, int, bool)) int {
	start := i
	s.buf, s.cuts = s.buf[:0], s.cuts[:0]
	prev := uint8(other)
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			k := s.class[c]
			if k == other {
				break
			}
			if k == upper {
				// fooBar, and HTTPServer before its last capital.
				if prev == lower || prev == digit || prev == upper && i+1 < len(text) && text[i+1] < utf8.RuneSelf && s.class[text[i+1]] == lower {
					s.cuts = append(s.cuts, len(s.buf))
				}
				c |= 0x20
			}
			s.buf = append(s.buf, c)
			prev = k
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if cjk(r) || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
			break
		}
		if r == 'ß' {
			s.buf = append(s.buf, "ss"...)
		} else if r = letter(r); r != 0 {
			s.buf = utf8.AppendRune(s.buf, r)
		}
		prev = lower
		i += n
	}
	n := len(s.buf)
	if n < 2 || n > 4*maxWord {
		return i
	}
	// Longer ones are words where they are letters only, in any script.
	if n <= maxWord || n <= longWord && len(s.cuts) == 0 && !bytes.ContainsAny(s.buf, "0123456789") || hash(s.buf) {
		emit(s.buf, start, i, true)
	}
	// Letters and digits in turn, capitals in turn: an encoded blob, not a name.
	if len(s.cuts) == 0 || len(s.cuts) > 8 && 4*len(s.cuts) > n || len(s.buf) != i-start {
		return i
	}
	from := 0
	for _, to := range append(s.cuts, n) {
		if to-from >= 2 && to-from <= maxWord {
			emit(s.buf[from:to], start+from, start+to, false)
		}
		from = to
	}
	return i
}

// pairs reads a run of characters that are written without spaces. The last one
// stands for itself as well, as a part: who asks for one character finds it where a
// pair begins with it, and here.
func (s *scanner) pairs(text []byte, i int, emit func([]byte, int, int, bool)) int {
	last, at, n := i, 0, 0
	r := rune(0)
	s.buf = s.buf[:0]
	for i < len(text) {
		next, size := utf8.DecodeRune(text[i:])
		if !cjk(next) {
			break
		}
		r = s.simple(next)
		end := len(s.buf)
		s.buf = utf8.AppendRune(s.buf, r)
		if n > 0 {
			emit(s.buf[at:], last, i+size, true)
		}
		last, at = i, end
		i += size
		n++
	}
	if n == 1 || r >= hanFirst && r <= hanLast {
		emit(s.buf[at:], last, i, n == 1)
	}
	return i
}

// cjk says whether a character belongs to a script that puts no or few spaces; those
// of South East Asia are asked for in the same way.
func cjk(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r < 0x2E80:
		return r <= 0x0EFF || r >= 0x1000 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF // Thai, Lao; Burmese; Khmer
	case r >= 0x4E00 && r <= 0x9FFF, // Han
		r >= 0x3040 && r <= 0x30FF,   // Hiragana, Katakana
		r >= 0xAC00 && r <= 0xD7A3,   // Hangul
		r >= 0x3400 && r <= 0x4DBF,   // Han, extension A
		r >= 0x20000 && r <= 0x3FFFF, // Han, the others
		r >= 0xF900 && r <= 0xFAFF, r == 0x3005:
		return true
	}
	return false
}

// hash says whether a word is a long hexadecimal number.
func hash(w []byte) bool {
	if len(w) < 16 {
		return false
	}
	digits := false
	for _, c := range w {
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c < 'a' || c > 'f':
			return false
		}
	}
	return digits
}

// plain says whether a word has letters of a to z only, and so may be an English
// one.
func plain(w []byte) bool {
	for _, c := range w {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// wordy says whether a word may have been mistyped: no digits, and neither too
// short to tell nor a pair of characters.
func wordy(w []byte) bool {
	if len(w) < 4 || len(w) > 48 || utf8.RuneCount(w) > 24 {
		return false
	}
	for i, c := range w {
		if c >= '0' && c <= '9' {
			return false
		}
		if c >= utf8.RuneSelf {
			r, _ := utf8.DecodeRune(w[i:])
			if cjk(r) {
				return false
			}
		}
	}
	return true
}

// term is what a word is kept as: configure, configured and configuration are one,
// and so are настройка and настройки. It may share w's memory.
func term(w []byte) []byte {
	switch {
	case len(w) >= 16 && hash(w):
		return w[:hashKept]
	case len(w) > 3 && plain(w):
		return []byte(english.Stem(string(w), true))
	case len(w) > 6 && cyrillic(w):
		return []byte(russian.Stem(string(w), true))
	}
	return w
}

// oneChar says whether a word is a single character of Chinese, Japanese or Korean;
// two of them are a pair.
func oneChar(w []byte) bool {
	r, n := utf8.DecodeRune(w)
	return n == len(w) && cjk(r)
}

func pair(w []byte) bool {
	r, n := utf8.DecodeRune(w)
	return cjk(r) && n < len(w)
}

// someHash says whether a word may be the beginning of a hash, as people copy it.
func someHash(w []byte) bool {
	return len(w) >= shortHash && len(w) < 16 && bytes.ContainsAny(w, "abcdef") && bytes.ContainsAny(w, "0123456789") && len(bytes.Trim(w, "0123456789abcdef")) == 0
}

// cyrillic says whether a word has letters of а to я only.
func cyrillic(w []byte) bool {
	for _, r := range string(w) {
		if r < 'а' || r > 'я' {
			return false
		}
	}
	return len(w) > 0
}
