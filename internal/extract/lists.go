package extract

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Cue is what the words of a sentence tell about it.
type Cue uint16

const (
	Decided   Cue = 1 << iota // something was decided
	Rule                      // what must never, or always, be done
	Duty                      // what must be done
	Choice                    // weaker words of choosing, changing, preferring
	Reason                    // why
	Asked                     // somebody is asked to do something
	Done                      // what was done, or came out
	Trouble                   // something failed
	Denied                    // a denial, an exception, a condition
	Contrast                  // begins by limiting what was said before
	Narration                 // begins like talk about what comes next
	Argued                    // weighs one thing against another, or says when
	Back                      // begins with a word that stands for what was said before
	Open                      // introduces options, or is one of them
	Question
)

// cueWords are the lists: one line for each cue and language. A word that ends in
// * stands for all that begin so, two words stand side by side; in scripts that
// put no blanks between words a phrase is found anywhere. Words that would make
// every other sentence a decision ("use", "set") are left out: a list that finds
// everything says nothing.
//
//go:embed cues.txt
var cueWords string

// cueTable is cueWords ready to be asked. A word, a stem and a pair of words are
// known by their hash, so that a text is read once and nothing of it is copied.
type cueTable struct {
	words map[uint64]cueWord
	// has is a bit for each hash: nearly no word of a text is in the table.
	has     [1 << 6]uint64
	phrases map[[3]byte][]cuePhrase // found anywhere, by their first character
}

// cueWord is what a word tells: by itself, with a colon behind it, and as the
// beginning of another.
type cueWord struct {
	cue, colon, stem Cue
	pairs            bool // with the word behind it
}

type cuePhrase struct {
	text string
	cue  Cue
}

// atStart are the cues that count at the beginning of a sentence only.
const atStart = Contrast | Narration | Back

var cueNames = map[string]Cue{
	"decided": Decided, "rule": Rule, "duty": Duty, "choice": Choice, "reason": Reason, "asked": Asked, "done": Done,
	"trouble": Trouble, "denied": Denied, "contrast": Contrast, "narration": Narration, "argued": Argued, "back": Back, "open": Open,
}

var cues = sync.OnceValue(func() *cueTable {
	t := &cueTable{words: map[uint64]cueWord{}, phrases: map[[3]byte][]cuePhrase{}}
	for line := range strings.Lines(cueWords) {
		name, list, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		for w := range strings.SplitSeq(list, ", ") {
			if w != "" {
				t.add(w, cueNames[name])
			}
		}
	}
	return t
})

func (t *cueTable) add(w string, cue Cue) {
	if first, _ := utf8.DecodeRuneInString(w); unspaced(first) {
		k := [3]byte([]byte(w))
		t.phrases[k] = append(t.phrases[k], cuePhrase{w, cue})
		return
	}
	w, stem := strings.CutSuffix(w, "*")
	w, colon := strings.CutSuffix(w, ":")
	h := uint64(0)
	for i, word := range strings.Fields(w) {
		if i > 0 {
			e := t.words[h]
			e.pairs = true
			t.note(h, e)
		}
		h = pairHash(h, wordHash(word))
	}
	e := t.words[h]
	switch {
	case stem:
		e.stem |= cue
	case colon:
		e.colon |= cue
	default:
		e.cue |= cue
	}
	t.note(h, e)
}

func (t *cueTable) note(h uint64, e cueWord) {
	t.words[h] = e
	t.has[h>>58] |= 1 << (h >> 52 & 63)
}

func (t *cueTable) word(h uint64) (e cueWord) {
	if t.has[h>>58]>>(h>>52&63)&1 != 0 {
		e = t.words[h]
	}
	return e
}

const hashStart, hashStep = 14695981039346656037, 1099511628211

func wordHash(w string) uint64 {
	h := uint64(hashStart)
	for _, r := range w {
		h = (h ^ uint64(r)) * hashStep
	}
	return h
}

// pairHash is the hash of a word behind another; 0 stands for none.
func pairHash(before, h uint64) uint64 { return h ^ before*hashStep }

// unspaced reports whether words of r's script are found anywhere in a text:
// Chinese and Japanese put no blanks between them, Korean glues endings on.
func unspaced(r rune) bool { return ideograph(r) || r >= 0x3040 && r <= 0x30FF }

// cuesOf reads the cues of a sentence. What it quotes as code tells nothing of it.
func cuesOf(sentence string) Cue {
	t := cues()
	var found Cue
	n, before := 0, uint64(0) // words so far; the last one, where it may begin a pair
	wide := false
	for i := 0; i < len(sentence); {
		c := sentence[i]
		switch {
		case c == '`':
			i += 2 + strings.IndexByte(sentence[i+1:], '`')
			continue
		case c < utf8.RuneSelf && class[c]&isAlnum == 0 && c != '_':
			i++
			continue
		case c >= utf8.RuneSelf:
			if r, size := utf8.DecodeRuneInString(sentence[i:]); !cueLetter(r) {
				wide = wide || unspaced(r)
				i += size
				continue
			}
		}
		h, end, tells := t.stems(sentence, i)
		e := t.word(h)
		tells |= e.cue
		if strings.HasPrefix(sentence[end:], ":") {
			tells |= e.colon
		}
		pair := Cue(0)
		if before != 0 {
			pair = t.word(pairHash(before, h)).cue
			tells |= pair
		}
		// The first words may stand behind a list mark or emphasis.
		if n > 1 || n == 1 && pair&atStart == 0 {
			tells &^= atStart
		}
		found |= tells
		if before = 0; e.pairs {
			before = h
		}
		n++
		i = end
	}
	if wide {
		found |= t.wide(sentence)
	}
	if end := strings.TrimRight(sentence, " \t*_\"”」』)）"); strings.HasSuffix(end, "?") || strings.HasSuffix(end, "？") {
		found |= Question
	}
	if crossed(sentence) {
		found |= Decided | Trouble
	}
	return found
}

// crossed reports whether a unit begins with the sign of a verdict against
// something. Whoever leaves it out takes a failed review for a pass.
func crossed(t string) bool {
	t = strings.TrimLeft(t, "-*_#>|0123456789.) ")
	return strings.HasPrefix(t, "❌") || strings.HasPrefix(t, "✗") || strings.HasPrefix(t, "✘") || strings.HasPrefix(t, "🚫") || strings.HasPrefix(t, "⛔") || strings.HasPrefix(t, "🔴")
}

// stems reads the word at i: its hash, where it ends, and what the stems that it
// begins with tell.
func (t *cueTable) stems(s string, i int) (h uint64, end int, tells Cue) {
	h = hashStart
	var last [2]rune
	for end = i; end < len(s); {
		r, size := rune(s[end]), 1
		switch {
		case class[s[end]]&isUpper != 0:
			r += 'a' - 'A'
		case class[s[end]]&isAlnum != 0 || r == '_':
		case r < utf8.RuneSelf && r != '\'' && r != '-':
			return h, end, tells
		default:
			r, size = utf8.DecodeRuneInString(s[end:])
			if r == '’' {
				r = '\''
			}
			if !cueLetter(r) && !joinsWord(r, s[end+size:]) {
				return h, end, tells
			}
			r = unicode.ToLower(r)
		}
		h = (h ^ uint64(r)) * hashStep
		end += size
		tells |= t.word(h).stem
		if r == 't' && last == [2]rune{'n', '\''} {
			tells |= Denied
		}
		last = [2]rune{last[1], r}
	}
	return h, end, tells
}

// wide finds the phrases of scripts without blanks. What counts at the start is
// looked for there.
func (t *cueTable) wide(sentence string) (found Cue) {
	head := len(sentence) - len(strings.TrimLeft(sentence, " \t-*•>#0123456789.)、"))
	for i := 0; i+2 < len(sentence); i++ {
		if sentence[i] < wideLead {
			continue
		}
		for _, p := range t.phrases[[3]byte([]byte(sentence[i:i+3]))] {
			if (p.cue&atStart == 0 || i == head) && strings.HasPrefix(sentence[i:], p.text) {
				found |= p.cue
			}
		}
	}
	return found
}

// wideLead is the least byte that a character of those scripts begins with.
const wideLead = 0xE2

func cueLetter(r rune) bool {
	return (unicode.IsLetter(r) || r == '_' || unicode.IsDigit(r)) && !unspaced(r)
}

// joinsWord reports whether r holds a word together: don't, trade-off.
func joinsWord(r rune, rest string) bool {
	if r != '\'' && r != '-' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return cueLetter(next)
}
