package extract

import (
	"math/bits"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// What things are worth. Only the ratios matter: a fact competes with the
// sentences around it by worth per character. The values were found by measuring
// (see the quality test) so that no kind of fact is sacrificed to another.
const (
	worthDecision = 120 // at most: a short clause is worth less
	worthFirst    = 70
	worthLast     = 30
	worthLetter   = 4
	worthHan      = 3
	// A sentence without facts whose words are worth less is dropped.
	minTalk = 30
)

// worthOf is what a fact of n characters is worth. Length counts, or a text full
// of short numbers would keep none of its paths.
func worthOf(k Kind, w string, n int) int {
	switch k {
	case Path, URL:
		return 92 + 11*n
	case Hash:
		return 106 + 8*n
	case Identifier:
		if strings.ToUpper(w) == w {
			// An acronym, or a word that is shouted.
			return 20 + 8*n
		}
		return 44 + 11*n
	}
	if n == 1 {
		// A digit without its sentence tells little.
		return 18
	}
	return 26 + 8*n
}

// worthOfTrouble is what a whole line of n characters is worth besides its
// facts, when a program reports an error in it or it mentions one.
func worthOfTrouble(grade uint8, n int) int {
	switch grade {
	case report:
		return 171 + 7*n
	case mention:
		return 68 + 4*n
	}
	return 0
}

// factState is one distinct fact of the text.
type factState struct {
	worth, cost int
	home, span  int // unit and span of its first appearance
	state       uint8
	round       int // last call of gain that counted it
}

// A fact is missing, kept on its own, or part of a kept unit.
const (
	missing = iota
	alone
	covered
)

// number gives equal facts the same id and every fact a home.
func (x *extractor) number() {
	x.ids = make([]int32, len(x.spans))
	byText := make(map[string]int32, len(x.spans)/2)
	for ui := range x.units {
		u := &x.units[ui]
		for si := u.facts[0]; si < u.facts[1]; si++ {
			sp := x.spans[si]
			w := x.text[sp.start:sp.end]
			id, ok := byText[w]
			if !ok {
				id = int32(len(x.facts))
				byText[w] = id
				n := message.Units(w)
				x.facts = append(x.facts, factState{worth: worthOf(sp.kind, w, n), cost: n + 1, home: ui, span: si})
			}
			x.ids[si] = id
		}
	}
}

// weigh finds the cost and the worth of every unit.
func (x *extractor) weigh() {
	seen := make(map[string]struct{}, len(x.units))
	for ui := range x.units {
		u := &x.units[ui]
		raw := x.text[u.start:u.end]
		words, decided := x.read(u)
		u.cost = x.length(u) + 1
		if _, again := seen[raw]; again {
			u.worth = 0
			continue
		}
		seen[raw] = struct{}{}
		switch {
		case decided:
			words += min(worthDecision, 4*u.cost)
		case u.facts[0] == u.facts[1]:
			// A sentence without a single fact is usually talk, a short one always.
			if words /= 2; words < minTalk {
				continue
			}
		}
		u.worth += words
		if ui == 0 {
			u.worth += worthFirst
		}
		if ui == len(x.units)-1 {
			u.worth += worthLast
		}
	}
}

// The queue holds units (i ≥ 0) and facts (^i) in classes of worth per
// character, eight to the octave, best first. Within a class the order of the
// text decides, so equal input gives equal output.
const classes = 8 * 40

func classOf(worth, cost int) int {
	d := uint(max(worth, 0)) << 12 / uint(max(cost, 1))
	if d < 8 {
		return int(d)
	}
	n := bits.Len(d)
	return min((n-3)*8+int(d>>(n-4)&7), classes-1)
}

// choose spends the budget greedily. The worth of a unit falls when its facts
// are kept elsewhere; such a unit is put back into the class it now belongs to.
func (x *extractor) choose() {
	x.number()
	x.weigh()
	var queue [classes][]int
	for ui := range x.units {
		c := classOf(x.gain(ui))
		queue[c] = append(queue[c], ui)
	}
	for id, f := range x.facts {
		c := classOf(f.worth, f.cost)
		queue[c] = append(queue[c], ^id)
	}
	for c := classes - 1; c >= 0; c-- {
		for k := 0; k < len(queue[c]); k++ {
			i := queue[c][k]
			if i < 0 {
				if f := &x.facts[^i]; f.state == missing && f.cost <= x.left {
					f.state = alone
					x.left -= f.cost
					x.units[f.home].used = true
				}
				continue
			}
			worth, cost := x.gain(i)
			if now := classOf(worth, cost); now < c {
				queue[now] = append(queue[now], i)
				continue
			}
			if worth > 0 && cost <= x.left {
				x.keep(i, cost)
			} else if x.missed < 0 {
				x.missed = i
			}
		}
	}
}

// gain is what keeping unit ui as a whole would add, and what it would cost
// beyond the facts that are kept already.
func (x *extractor) gain(ui int) (worth, cost int) {
	u := &x.units[ui]
	worth, cost = u.worth, u.cost
	x.round++
	for si := u.facts[0]; si < u.facts[1]; si++ {
		f := &x.facts[x.ids[si]]
		if f.round == x.round {
			continue
		}
		f.round = x.round
		switch f.state {
		case missing:
			worth += f.worth
		case alone:
			cost -= f.cost
		}
	}
	return worth, cost
}

func (x *extractor) keep(ui, cost int) {
	u := &x.units[ui]
	u.kept = true
	x.left -= cost
	for si := u.facts[0]; si < u.facts[1]; si++ {
		x.facts[x.ids[si]].state = covered
	}
}

// fill takes the front of the best unit when no unit and no fact was short
// enough.
func (x *extractor) fill() {
	if x.left > x.limit && x.limit > 0 && x.missed >= 0 {
		u := &x.units[x.missed]
		u.kept, u.limit = true, x.limit
	}
}
