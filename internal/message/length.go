package message

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The contract counts text in UTF-16 units, as the origins' language does.

// Units is the length of s in UTF-16 units.
func Units(s string) int {
	n := 0
	// Most texts are ASCII: eight bytes at a look.
	for len(s) >= 8 {
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		if w&0x8080808080808080 != 0 {
			break
		}
		n, s = n+8, s[8:]
	}
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Cut is the beginning of s, at most n UTF-16 units long and never ending inside
// a surrogate pair.
func Cut(s string, n int) string {
	units := 0
	for i, r := range s {
		w := 1
		if r > 0xFFFF {
			w = 2
		}
		if units+w > n {
			return s[:i]
		}
		units += w
	}
	return s
}

// Head is the first n characters of s.
func Head(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// End keeps the last n characters and does not begin with a mark that belongs to
// the character before it.
func End(s string, n int) string {
	at := len(s)
	for range n {
		if at == 0 {
			return s
		}
		_, w := utf8.DecodeLastRuneInString(s[:at])
		at -= w
	}
	return unmarked(s, at)
}

// EndUnits keeps the end of s within n UTF-16 units.
func EndUnits(s string, n int) string {
	units, at := 0, len(s)
	for at > 0 {
		r, w := utf8.DecodeLastRuneInString(s[:at])
		if r > 0xFFFF {
			units++
		}
		if units++; units > n {
			break
		}
		at -= w
	}
	return unmarked(s, at)
}

func unmarked(s string, at int) string {
	if at == 0 {
		return s
	}
	return strings.TrimLeftFunc(s[at:], func(r rune) bool { return unicode.Is(unicode.M, r) || r == '\u200d' })
}

// Tokens is how many tokens the contract counts for a text of so many UTF-16
// units: one for four, rounded up.
func Tokens(units int) int { return (units + 3) / 4 }

// Short is s in at most n characters, with an ellipsis where something is cut.
func Short(s string, n int) string {
	if Head(s, n) == s {
		return s
	}
	return Head(s, n-1) + "…"
}

// Tail is the end of a text, at most n characters.
func Tail(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return s
}
