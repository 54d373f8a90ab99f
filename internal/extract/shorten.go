package extract

import (
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// minBudget is the length that even the shortest text may keep, up to half of
// it: below, not one name would fit.
const minBudget = 32

// budget is how many UTF-16 units the extract of text may have.
func budget(text string, percent int) int {
	n := message.Units(text)
	if percent >= 100 {
		return n
	}
	return max(n*max(percent, 0)/100, min(minBudget, n/2))
}

// Shorten shortens text to percent of its length in UTF-16 units (a text of a
// few words may keep up to half). It is deterministic, its time grows linearly
// with the text, and it prefers what cannot be guessed again: paths, names,
// numbers, hashes, error lines, code, decisions and their reasons.
//
// The text is split into units (sentences, clauses, lines of code or output).
// Every fact on its own and every unit as a whole, without filler words,
// competes for the budget by what it adds per character; so a loose target
// leaves shortened sentences, a tight one a list of facts.
func Shorten(text string, percent int) string {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	limit := budget(text, percent)
	if percent >= 100 || limit >= message.Units(text) {
		return text
	}
	// The first unit has no separator before it.
	x := extractor{text: text, limit: limit, left: limit + 1, missed: -1}
	x.split()
	x.choose()
	x.fill()
	if s := x.String(); s != "" {
		return s
	}
	return longWord(text, limit)
}

// longWord returns the front of the first run of letters: the best that can be
// done for a text without one word that fits.
func longWord(text string, limit int) string {
	for i := 0; i < len(text); i++ {
		j := i
		for j < len(text) && j-i < limit && class[text[j]]&(isLower|isUpper) != 0 {
			j++
		}
		if j > i {
			return text[i:j]
		}
	}
	return ""
}
