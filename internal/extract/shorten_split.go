package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/message"
)

const (
	// A clause that has reached this length ends at the next comma.
	longClause    = 60
	longHanClause = 8
	// Text without any punctuation is cut into pieces of this many bytes.
	maxUnit = 320
	// A longer line that mentions an error is prose and may lose words.
	maxMention = 160
)

// unit is the smallest piece that is kept or dropped as a whole.
type unit struct {
	start, end int
	line       int    // units of one line are joined by a blank
	facts      [2]int // range in extractor.spans
	cost       int    // length when kept, with the separator before it
	worth      int    // what it is worth besides its facts
	verbatim   bool   // code, output: every word matters
	kept       bool
	limit      int  // when not 0, only the front of that length is kept
	used       bool // some of its facts are kept one by one
}

// extractor holds one run of Extract.
type extractor struct {
	text  string
	limit int // longest result
	left  int // budget not yet spent
	spans []span
	ids   []int32 // fact of each span
	facts []factState
	units []unit
	// missed is the best unit that was too long for what was left, or -1.
	missed int
	round  int     // calls of gain
	pieces []piece // scratch
}

func (x *extractor) split() {
	all := scanFacts(nil, x.text)
	// Spans of whole lines are taken out in place.
	x.spans = all[:0]
	line := 0
	for start := 0; start < len(x.text); line++ {
		end := len(x.text)
		if i := strings.IndexByte(x.text[start:], '\n'); i >= 0 {
			end = start + i
		}
		a, b := trimmed(x.text, start, end)
		first := len(x.spans)
		code, grade := false, uint8(0)
		for len(all) > 0 && int(all[0].start) < end {
			switch sp := all[0]; sp.kind {
			case ErrorLine:
				grade = sp.grade
			case Code:
				code = code || int(sp.start) == a && int(sp.end) == b
			default:
				x.spans = append(x.spans, sp)
			}
			all = all[1:]
		}
		x.splitLine(a, b, line, first, code, grade)
		start = end + 1
	}
}

// splitLine makes the units of the line [a,b), whose facts begin at first.
func (x *extractor) splitLine(a, b, line, first int, code bool, grade uint8) {
	if a == b || strings.HasPrefix(x.text[a:b], "```") {
		return
	}
	u := unit{line: line, facts: [2]int{first, first}}
	if b-a <= maxErrorLine && (code || grade == report || output(x.text[a:b])) || grade > 0 && b-a <= maxMention && x.sentenceEnd(a, b) == b {
		u.verbatim = true
		u.worth = worthOfTrouble(grade, message.Units(x.text[a:b]))
		x.add(u, a, b)
		return
	}
	for a < b {
		e := x.clauseEnd(a, b)
		u.facts[0] = x.add(u, a, e)
		a = e
	}
}

// add appends the unit [a,b) with its facts from u.facts[0] on and returns
// where the facts after it begin.
func (x *extractor) add(u unit, a, b int) int {
	u.facts[1] = u.facts[0]
	for u.facts[1] < len(x.spans) && int(x.spans[u.facts[1]].start) < b {
		u.facts[1]++
	}
	if u.start, u.end = trimmed(x.text, a, b); u.start < u.end {
		x.units = append(x.units, u)
	}
	return u.facts[1]
}

// sentenceEnd returns where the first sentence of [a,b) ends, commas or not.
func (x *extractor) sentenceEnd(a, b int) int {
	// The mark of a list item such as "12. " ends none.
	a = min(a+4, b)
	t := x.text[a:b]
	end := len(t)
	for _, stop := range [...]string{". ", "! ", "? ", "。", "！", "？", "；"} {
		if i := strings.Index(t[:end], stop); i >= 0 {
			end = i + len(strings.TrimRight(stop, " "))
		}
	}
	return a + end
}

// clauseEnd returns where the sentence or clause that begins at a ends. It ends
// between two words, never inside one.
func (x *extractor) clauseEnd(a, b int) int {
	t := x.text
	han := 0
	for i := a; i < b; {
		c := t[i]
		if c < utf8.RuneSelf {
			if class[c]&isWord != 0 {
				j, kind := wordEnd(t, i)
				// The full stop is part of the word for the scanner.
				stop := t[j-1] == '.' && kind == kinds
				if i = min(j, b); stop && (i == b || t[i] == ' ') && !abbreviation(t[a:i]) {
					return i
				}
				continue
			}
			i++
			next := byte(' ')
			if i < b {
				next = t[i]
			}
			switch c {
			case '!', '?', ';':
				if next == ' ' {
					return i
				}
			case ',':
				if i-a >= longClause && next == ' ' {
					return i
				}
			case ' ', '\t':
				if i-a >= maxUnit {
					return i
				}
			case '{', '}', '(', ')', '"', '|':
				if i-a >= 2*maxUnit {
					return i
				}
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(t[i:])
		if !ideograph(r) && unicode.IsLetter(r) {
			i, _ = wordEnd(t, i)
			continue
		}
		i += n
		switch r {
		case '。', '！', '？', '；':
			for i < b && strings.HasPrefix(t[i:], "」") {
				i += len("」")
			}
			return i
		case '，', '：', '、':
			if han >= longHanClause {
				return i
			}
		}
		if ideograph(r) {
			if han++; han >= maxUnit {
				return i
			}
		}
	}
	return b
}

// abbreviation reports whether the full stop at the end of t ends no sentence:
// e.g., i.e., vs., a single letter.
func abbreviation(t string) bool {
	if t[len(t)-1] != '.' {
		return false
	}
	t = t[:len(t)-1]
	w := t[strings.LastIndexAny(t, " (")+1:]
	switch w {
	case "e.g", "i.e", "vs", "etc", "cf", "approx", "resp", "Mr", "Dr":
		return true
	}
	return len(w) == 1
}

// output reports whether a line is code, a diff, a trace or a table rather than
// prose: many signs for its length, or a form that only programs write.
func output(t string) bool {
	if len(t) >= 2 && (t[0] == '+' || t[0] == '-') && t[1] != ' ' && t[1] != '-' || strings.HasPrefix(t, "@@ ") || strings.HasPrefix(t, "at ") && strings.IndexByte(t, '(') > 0 {
		return true
	}
	if t[0] == '|' {
		return false
	}
	signs, letters := 0, 0
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case class[c]&isAlnum != 0:
			letters++
		case strings.IndexByte("{}()[]<>=;&|+*\\\"$:", c) >= 0:
			signs++
		case c >= utf8.RuneSelf:
			letters++
		}
	}
	return signs*6 > letters
}

// atom is a whole word of the scanner or a run of Chinese. Text is copied by
// atoms: a part of a word could read as a fact that the text does not state.
type atom struct {
	start, end int
	// tail is where the word ends with the punctuation that belongs to its
	// sentence.
	tail int
	han  bool
}

// next returns the first atom in [i,end).
func (x *extractor) next(i, end int) (atom, bool) {
	t := x.text
	for i < end {
		c := t[i]
		switch {
		case c == '<' && i+1 < end && t[i+1] == '/':
			i += 2
			continue
		case c < utf8.RuneSelf && class[c]&isWord == 0:
			i++
			continue
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(t[i:])
			if hanLetter(r) {
				j := i + n
				for j < end {
					r, n := utf8.DecodeRuneInString(t[j:])
					if !hanLetter(r) {
						break
					}
					j += n
				}
				return atom{i, j, j, true}, true
			}
			if ideograph(r) || !unicode.IsLetter(r) {
				i += n
				continue
			}
		}
		j, kind := wordEnd(t, i)
		if e := trimWord(t, i, j, kind); e > i {
			return atom{i, e, j, false}, true
		}
		i = j
	}
	return atom{}, false
}

// hanLetter reports whether r is a letter of a script without blanks.
func hanLetter(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || ideograph(r) && unicode.IsLetter(r)
}
