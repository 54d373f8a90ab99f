package extract

import "github.com/seed-6d03985f/overtone/internal/message"

// piece is an atom that stays, perhaps shortened.
type piece struct {
	start, end int
	// from and to are the whole atom; what lies between one atom's to and the
	// next one's from is punctuation.
	from, to int
	// after is false when a word before it was dropped.
	after bool
}

// String writes what was kept, in the order of the text.
func (x *extractor) String() string {
	var out []byte
	line := -1
	for ui := range x.units {
		u := &x.units[ui]
		if !u.kept && !u.used {
			continue
		}
		mark := len(out)
		if line == u.line {
			out = append(out, ' ')
		} else if line >= 0 {
			out = append(out, '\n')
		}
		body := len(out)
		if u.kept {
			out = x.appendUnit(out, u)
		} else {
			out = x.appendFacts(out, ui)
		}
		if len(out) == body {
			out = out[:mark]
			continue
		}
		line = u.line
	}
	return string(out)
}

// read finds the pieces of a unit, what its plain words are worth and whether
// one of them says that something was decided, demanded or why.
func (x *extractor) read(u *unit) (worth int, decided bool) {
	t := x.text
	x.pieces = x.pieces[:0]
	si, after, pending := u.facts[0], true, false
	for at := u.start; ; {
		a, ok := x.next(at, u.end)
		if !ok {
			break
		}
		at = a.tail
		p := piece{a.start, a.end, a.start, a.end, after}
		fact := false
		for si < u.facts[1] && int(x.spans[si].start) < a.end {
			fact = true
			si++
		}
		if pending && !fact {
			x.pieces = x.pieces[:len(x.pieces)-1]
			p.after = false
		}
		pending = false
		switch w := t[a.start:a.end]; {
		case fact:
		case a.han:
			p.start, p.end = trimHan(t, a.start, a.end)
			worth += (p.end - p.start) / 3 * worthHan
			decided = decided || decisiveHan(t[p.start:p.end])
		case w == "to":
			// Between two values it says which way.
			pending = true
		case len(w) > maxPath || filler(w):
			p.end = p.start
		default:
			worth += min(len(w), 9) * worthLetter
			decided = decided || decisive(w)
		}
		if after = p.start < p.end; after {
			x.pieces = append(x.pieces, p)
		}
	}
	if pending {
		x.pieces = x.pieces[:len(x.pieces)-1]
	}
	return worth, decided
}

// length is how long appendUnit would make the unit that was just read.
func (x *extractor) length(u *unit) int {
	if u.verbatim {
		return message.Units(x.text[u.start:u.end])
	}
	n := 0
	for i, p := range x.pieces {
		if i > 0 {
			n += message.Units(x.gap(x.pieces[i-1], p, 2))
		}
		n += message.Units(x.text[p.start:p.end])
	}
	return n + message.Units(x.ending(u))
}

// appendUnit writes a unit without its filler, code and output as they are.
func (x *extractor) appendUnit(dst []byte, u *unit) []byte {
	x.read(u)
	if u.verbatim && u.limit == 0 {
		return append(dst, x.text[u.start:u.end]...)
	}
	left := u.limit
	for i, p := range x.pieces {
		gap := ""
		if i > 0 {
			gap = x.gap(x.pieces[i-1], p, 2)
		}
		word := x.text[p.start:p.end]
		if left -= message.Units(gap) + message.Units(word); u.limit > 0 && left < 0 {
			return dst
		}
		dst = append(append(dst, gap...), word...)
	}
	if u.limit == 0 {
		dst = append(dst, x.ending(u)...)
	}
	return dst
}

// ending is the full stop or bracket behind the last piece of a unit.
func (x *extractor) ending(u *unit) string {
	if len(x.pieces) == 0 {
		return ""
	}
	last := x.pieces[len(x.pieces)-1]
	if end := x.text[last.to:u.end]; last.end == last.to && message.Units(end) <= 2 && plainGap(end) {
		return end
	}
	return ""
}

// appendFacts writes the facts of a unit that are kept on their own.
func (x *extractor) appendFacts(dst []byte, ui int) []byte {
	u := &x.units[ui]
	last := piece{}
	for si := u.facts[0]; si < u.facts[1]; si++ {
		f := &x.facts[x.ids[si]]
		if f.state != alone || f.span != si {
			continue
		}
		sp := x.spans[si]
		a, b := int(sp.start), int(sp.end)
		p := piece{a, b, a, b, true}
		if last.to > 0 {
			dst = append(dst, x.gap(last, p, 1)...)
		}
		dst = append(dst, x.text[p.start:p.end]...)
		last = p
	}
	return dst
}

// gap is what to write between two pieces: what stood there when it is short
// and still makes sense, else a blank.
func (x *extractor) gap(a, b piece, limit int) string {
	gap := x.text[a.to:b.from]
	if !b.after || message.Units(gap) > limit || !plainGap(gap) {
		return " "
	}
	if gap == "" && (a.end < a.to || b.from < b.start) {
		return " "
	}
	// 2,345 of 1,2,345 would be another number.
	if limit == 1 && gap == "," {
		return " "
	}
	return gap
}

// plainGap reports whether punctuation can be copied without its partner.
func plainGap(gap string) bool {
	for i := 0; i < len(gap); i++ {
		switch gap[i] {
		case '`', '*', '"', '\'', '<', '\n':
			return false
		}
	}
	return true
}
