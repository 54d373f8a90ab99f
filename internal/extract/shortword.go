package extract

// shortWords finds words of at most eight ASCII bytes, which one number holds: most
// words of a text are so short, and a table of numbers is asked faster than one of
// strings.
type shortWords struct {
	keys [shortSlots]uint64 // 0 where there is none
	at   [shortSlots]uint16
	list []cueWord
}

const (
	shortWord  = 8
	shortSlots = 1 << 11
	// caseBits make small letters of capitals. Digits, hyphen and apostrophe have
	// them, and what an underscore becomes is in no word.
	caseBits = 0x2020202020202020
)

// shortKey is the word t[i:j] of one to eight ASCII bytes as a number, without its
// case.
func shortKey(t string, i, j int) uint64 {
	if t = t[i:]; len(t) >= shortWord {
		// One load, where most words are followed by others.
		k := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 | uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		rest := 8 * uint(shortWord-(j-i))
		return (k | caseBits) << rest >> rest
	}
	var k uint64
	for n := j - i - 1; n >= 0; n-- {
		k = k<<8 | uint64(t[n]) | ' '
	}
	return k
}

func shortSlot(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> (64 - 11) }

func (s *shortWords) fill(words map[string]cueWord) {
	for w, e := range words {
		if len(w) > shortWord || !ascii(w) {
			continue
		}
		key := shortKey(w, 0, len(w))
		at := shortSlot(key)
		for s.keys[at] != 0 {
			at = (at + 1) % shortSlots
		}
		s.keys[at], s.at[at] = key, uint16(len(s.list))
		s.list = append(s.list, e)
	}
}

func (s *shortWords) find(key uint64) cueWord {
	for at := shortSlot(key); s.keys[at] != 0; at = (at + 1) % shortSlots {
		if s.keys[at] == key {
			return s.list[s.at[at]]
		}
	}
	return cueWord{}
}

func ascii(w string) bool {
	for i := 0; i < len(w); i++ {
		if w[i] >= 0x80 {
			return false
		}
	}
	return true
}

// plain is word for sentence[i:j], which is all ASCII and not folded yet.
func (t *cueTable) plain(sentence string, i, j int) (e cueWord, tells Cue) {
	w := sentence[i:j]
	if len(w) > shortWord {
		at, bit := filterBit(w[0]|' ', w[1]|' ', w[2]|' ', len(w))
		head, first := filterBit(w[0]|' ', w[1]|' ', w[2]|' ', int(w[3]|' '))
		if t.maybe[at]&bit == 0 && t.heads[head]&first == 0 && w[len(w)-2] != '\'' {
			return e, 0
		}
		var room [maxName]byte
		return t.word(appendFolded(room[:0], w, true))
	}
	e = t.short.find(shortKey(sentence, i, j))
	tells = e.cue
	if n := len(w); n > 2 && w[n-2] == '\'' && w[n-1]|' ' == 't' && w[n-3]|' ' == 'n' {
		tells |= Denied
	}
	if len(w) < shortStem {
		return e, tells
	}
	if at, bit := filterBit(w[0]|' ', w[1]|' ', w[2]|' ', int(w[3]|' ')); t.heads[at]&bit == 0 {
		return e, tells
	}
	var room [shortWord]byte
	return e, tells | t.stem(appendFolded(room[:0], w, true))
}

// appendFolded appends a word in small letters; plain says that all of it is ASCII.
func appendFolded(b []byte, w string, plain bool) []byte {
	if !plain {
		return append(b, foldWord(w)...)
	}
	for _, c := range []byte(w) {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}
