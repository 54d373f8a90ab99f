package recall

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

// People do not type what they read: Traditional for Simplified Chinese, letters
// without their accents, half for full width. Texts and queries are folded alike,
// a character at a time, so that places in a text stay what they are.

// hanText lists characters that are one word for a search; see its head.
//
//go:embed han.txt
var hanText string

const hanFirst, hanLast = 0x4E00, 0x9FFF

// han is the simple form of each character, worked out when the first text is
// read: a hook reads none.
var han = sync.OnceValue(func() *[hanLast - hanFirst + 1]uint16 {
	t := new([hanLast - hanFirst + 1]uint16)
	for i := range t {
		t[i] = uint16(hanFirst + i)
	}
	for line := range strings.Lines(hanText) {
		if line[0] == '#' {
			continue
		}
		to := rune(0)
		for _, r := range strings.TrimSpace(line) {
			if to == 0 {
				to = r
			}
			t[r-hanFirst] = uint16(to)
		}
	}
	return t
})

// simple is the form that a character is kept in.
func (s *scanner) simple(r rune) rune {
	if r < hanFirst || r > hanLast {
		return r
	}
	return rune(s.han[r-hanFirst])
}

// The letters without their accents, from À and from Ḁ on.
const (
	latin      = "aaaaaa.ceeeeiiii.nooooo.ouuuuy..aaaaaa.ceeeeiiii.nooooo.ouuuuy.yaaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkk.llllll..llnnnnnn...oooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzz.................................oo.............uu"
	latinMore  = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy......aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......"
	latinFirst = 0xC0
	moreFirst  = 0x1E00
)

// letter is a letter or digit beyond ASCII as it is kept; 0 for one that is not: an
// accent that stands for itself, as some systems write names of files.
func letter(r rune) rune {
	folded := byte('.')
	switch {
	case r >= latinFirst && r < latinFirst+rune(len(latin)):
		folded = latin[r-latinFirst]
	case r >= moreFirst && r < moreFirst+rune(len(latinMore)):
		folded = latinMore[r-moreFirst]
	case r >= 0x300 && r <= 0x36F:
		return 0
	case r == 'ё' || r == 'Ё':
		return 'е'
	case r >= '０' && r <= 'ｚ':
		r -= '０' - '0'
	}
	if folded != '.' {
		return rune(folded)
	}
	return unicode.ToLower(r)
}
