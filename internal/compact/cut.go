package compact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// oneLine folds a text into one line without control characters.
func oneLine(s string) string { return message.OneLine(s) }

// plain removes terminal escapes and control characters.
func plain(s string) string { return message.Plain(s) }

// headRunes keeps the first n characters.
func headRunes(s string, n int) string { return message.Head(s, n) }

// tailRunes keeps the last n characters and does not begin with a mark that
// belongs to the character before it.
func tailRunes(s string, n int) string {
	at := len(s)
	for range n {
		if at == 0 {
			return s
		}
		_, w := utf8.DecodeLastRuneInString(s[:at])
		at -= w
	}
	if at == 0 {
		return s
	}
	return strings.TrimLeftFunc(s[at:], func(r rune) bool { return unicode.Is(unicode.M, r) || r == '\u200d' })
}

// cleanHead and cleanTail keep so much of a text from outside without its secrets.
// What is cut first may hold a part of one, which nobody recognises any more.
func cleanHead(s string, n int) string { return headRunes(redact.Start(s, 4*n), n) }

func cleanTail(s string, n int) string { return tailRunes(redact.End(s, 4*n), n) }

// tailUTF16 keeps the end of s within n UTF-16 units.
func tailUTF16(s string, n int) string {
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
	if at == 0 {
		return s
	}
	return strings.TrimLeftFunc(s[at:], func(r rune) bool { return unicode.Is(unicode.M, r) || r == '\u200d' })
}
