package compress

import (
	"container/heap"
	"slices"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// What things are worth, in points. Only the ratios matter. They were tuned on
// one half of recorded sessions and measured on the other (make eval).
var worth = struct {
	fact                                                                           [8]int // by extract.Kind
	decided, rule, duty, choice, reason, asked, done, trouble, denied, ask, argued int
	user, opening, closing, wordShare, wordMost                                    int
	again, later, narration, code                                                  int // percent
	floor, lead, least, room                                                       int
}{
	fact: [8]int{
		extract.Path: 36, extract.URL: 56, extract.Hash: 50, extract.Number: 24, extract.Identifier: 35,
		extract.Code: 24, extract.ErrorLine: 120,
	},
	decided: 60, rule: 40, duty: 42, choice: 20, reason: 20, asked: 18, done: 12, trouble: 32, denied: 6, ask: 28, argued: 14,
	user: 46, opening: 28, closing: 34, wordShare: 6, wordMost: 28,
	again: 60, later: 125, narration: 20, code: 85,
	floor: 12, lead: 7, least: 4, room: 5,
}

// selection decides what is kept of the texts of a run. It holds no text: some
// forty bytes for each unit and eight for each fact.
type selection struct {
	jobs    []job
	percent func(job) int
	known   map[uint64]int32 // fact → its number
	facts   []factUse
	ids     []int32 // facts of all units, one unit after another
	units   []unitUse
	said    map[uint64]int32 // text of a kept unit → its band + 1
	first   []int32          // by job: its first unit; one more at the end
	size    []int            // by job: UTF-16 units of its text
}

// factUse is one distinct fact of a run.
type factUse struct {
	worth int32
	last  int32 // job that states it last
	band  int32 // band of a kept unit that states it, + 1
	job   int32 // job of a kept unit that states it, + 1
}

// unitUse is what is known of a unit without its text.
type unitUse struct {
	job, index  int32
	ids         [2]int32 // range in selection.ids
	cost        int32
	plain       int32  // worth besides its facts
	lead        int32  // in selection.units, or -1
	text        uint64 // hash
	kind        extract.UnitKind
	governs     bool // a lead that its list cannot do without
	idle        bool // says nothing by itself
	kept, ready bool
}

func newSelection(jobs []job, percent func(job) int) *selection {
	return &selection{jobs: jobs, percent: percent, known: map[uint64]int32{}, said: map[uint64]int32{}}
}

// read takes the units of one text, in the order of the jobs.
func (s *selection) read(n int, text string) {
	s.first = append(s.first, int32(len(s.units)))
	s.size = append(s.size, message.Units(text))
	base := int32(len(s.units))
	opening := true
	list := extract.Units(text)
	closing := lastProse(list)
	for i, u := range list {
		t := text[u.Start:u.End]
		use := unitUse{job: int32(n), index: int32(i), cost: int32(message.Units(t)) + 1, lead: -1, kind: u.Kind}
		if u.Lead >= 0 {
			use.lead = base + int32(u.Lead)
		}
		use.governs = u.Kind == extract.Lead && u.Cues&extract.Denied != 0
		use.ids[0] = int32(len(s.ids))
		for _, f := range u.Facts {
			s.fact(n, f.Kind, t[f.Start:f.End])
		}
		own := s.ids[use.ids[0]:]
		slices.Sort(own)
		s.ids = s.ids[:int(use.ids[0])+len(slices.Compact(own))]
		use.ids[1] = int32(len(s.ids))
		user := s.jobs[n].Role == "user"
		use.plain = int32(plainWorth(u, t, user, opening && user))
		if i == closing {
			use.plain += int32(worth.closing)
		}
		least := worth.least
		if u.Cues&(extract.Decided|extract.Rule) != 0 {
			least = 2 // "Never push to main."
		}
		use.idle = len(u.Facts) == 0 && contentWords(t) < least
		use.text = hashOf(0, t)
		if u.Kind != extract.CodeLine && u.Kind != extract.Lead {
			opening = false
		}
		s.units = append(s.units, use)
	}
}

// lastProse is the last sentence or item of a longer text: where agents say what
// came out and ask what is next. It is -1 for a text of a sentence or two.
func lastProse(units []extract.Unit) int {
	for i := len(units) - 1; i >= 3; i-- {
		if k := units[i].Kind; k == extract.Sentence || k == extract.Item {
			return i
		}
	}
	return -1
}

// fact notes that a job states a fact.
func (s *selection) fact(n int, k extract.Kind, t string) {
	h := hashOf(k, t)
	id, ok := s.known[h]
	if !ok {
		id = int32(len(s.facts))
		s.known[h] = id
		w := worth.fact[k]
		if k == extract.Number && len(t) == 1 {
			w /= 3 // a digit tells little
		}
		s.facts = append(s.facts, factUse{worth: int32(w)})
	}
	s.facts[id].last = int32(n)
	s.ids = append(s.ids, id)
}

// hashOf is FNV-1a over a fact: 64 bits are enough not to mix two of them up, and
// no text has to be held.
func hashOf(k extract.Kind, t string) uint64 {
	h := uint64(14695981039346656037) ^ uint64(k)
	for i := 0; i < len(t); i++ {
		h = (h ^ uint64(t[i])) * 1099511628211
	}
	return h
}

// plainWorth is what a unit is worth besides its facts.
func plainWorth(u extract.Unit, t string, user, opening bool) int {
	w := min(contentWords(t)*worth.wordShare/2, worth.wordMost)
	if u.Kind == extract.CodeLine {
		return w / 2
	}
	for _, c := range [...]struct {
		cue   extract.Cue
		worth int
	}{
		{extract.Decided, worth.decided}, {extract.Rule, worth.rule}, {extract.Duty, worth.duty}, {extract.Choice, worth.choice},
		{extract.Reason, worth.reason}, {extract.Asked, worth.asked}, {extract.Done, worth.done}, {extract.Trouble, worth.trouble},
		{extract.Denied, worth.denied}, {extract.Question, worth.ask}, {extract.Argued, worth.argued},
	} {
		if u.Cues&c.cue != 0 {
			w += c.worth
		}
	}
	// "Looking at the usages, I'd say no" begins like talk and is none.
	if u.Cues&extract.Narration != 0 && u.Cues&(extract.Decided|extract.Rule|extract.Duty|extract.Choice|extract.Reason|extract.Denied) == 0 {
		w = w * worth.narration / 100
	}
	if user {
		w += worth.user
		if opening {
			w += worth.opening
		}
	}
	return w
}

// contentWords counts words of four letters or more; two characters of a script
// without blanks count as one.
func contentWords(t string) int {
	words, run, wide := 0, 0, 0
	for _, r := range t {
		switch {
		case r >= 0x2E80 && unicode.IsLetter(r):
			wide++
			run = 0
		case unicode.IsLetter(r) || r == '_':
			if run++; run == 4 {
				words++
			}
		default:
			run = 0
		}
	}
	return words + wide/2
}

// choose spends each band's budget and returns the kept units of each job.
func (s *selection) choose() [][]int32 {
	s.first = append(s.first, int32(len(s.units)))
	bands := map[int32][]int{}
	var order []int32
	for n, j := range s.jobs {
		if _, ok := bands[j.band]; !ok {
			order = append(order, j.band)
		}
		bands[j.band] = append(bands[j.band], n)
	}
	for _, b := range order {
		s.spend(bands[b])
	}
	kept := make([][]int32, len(s.jobs))
	for n := range s.jobs {
		for _, u := range s.units[s.first[n]:s.first[n+1]] {
			if u.kept {
				kept[n] = append(kept[n], u.index)
			}
		}
	}
	return kept
}

// spend keeps units of one band's jobs, best worth per character first, until
// the budget is used up.
func (s *selection) spend(jobs []int) {
	left := 0
	empty := make(map[int32]bool, len(jobs))
	q := &queue{}
	for _, n := range jobs {
		// Every message costs at least its mark; the first unit that is kept of it
		// takes the mark's place.
		left += s.size[n]*s.percent(s.jobs[n])/100 - markUnits
		empty[int32(n)] = true
		for i := s.first[n]; i < s.first[n+1]; i++ {
			if s.units[i].kind != extract.Lead {
				s.push(q, i)
			}
		}
	}
	heap.Init(q)
	for q.Len() > 0 {
		c := heap.Pop(q).(candidate)
		u := &s.units[c.unit]
		if u.kept {
			continue
		}
		// Facts that were kept meanwhile make a unit worth less.
		if now := s.density(c.unit); now < c.density {
			if now > 0 {
				heap.Push(q, candidate{c.unit, now})
			}
			continue
		}
		cost := s.cost(c.unit)
		if empty[u.job] {
			cost -= markUnits + 1
		}
		if cost > left {
			continue
		}
		left -= cost
		empty[u.job] = false
		s.keep(c.unit)
		if u.lead >= 0 && !s.units[u.lead].kept && !s.units[u.lead].ready {
			// What introduces a kept unit may follow it.
			s.units[u.lead].ready = true
			if d := s.density(u.lead); d > 0 {
				heap.Push(q, candidate{u.lead, d})
			}
		}
	}
}

func (s *selection) push(q *queue, i int32) {
	if d := s.density(i); d > 0 {
		q.list = append(q.list, candidate{i, d})
	}
}

// cost is what keeping a unit adds, with the lead that governs it.
func (s *selection) cost(i int32) int {
	u := &s.units[i]
	cost := int(u.cost)
	if u.lead >= 0 && s.units[u.lead].governs && !s.units[u.lead].kept {
		cost += int(s.units[u.lead].cost)
	}
	return cost
}

// density is what a unit is worth per character, 0 when it is not worth keeping
// at all.
func (s *selection) density(i int32) int {
	u := &s.units[i]
	band := s.jobs[u.job].band + 1
	if u.kind != extract.Lead && (u.idle || s.said[u.text] == band) {
		return 0
	}
	w := int(u.plain)
	if u.kind == extract.Lead {
		w = worth.lead
	}
	for _, id := range s.ids[u.ids[0]:u.ids[1]] {
		f := &s.facts[id]
		v := int(f.worth)
		if f.last > u.job {
			v = v * worth.later / 100
		}
		switch {
		case f.job == u.job+1:
			v = 0
		case f.band == band:
			v = v * worth.again / 100
		}
		if u.kind == extract.CodeLine {
			v = v * worth.code / 100
		}
		w += v
	}
	if w < worth.floor && u.kind != extract.Lead {
		return 0
	}
	return w << 10 / (s.cost(i) + worth.room)
}

// keep marks a unit and the lead that governs it as kept.
func (s *selection) keep(i int32) {
	u := &s.units[i]
	u.kept = true
	band := s.jobs[u.job].band + 1
	s.said[u.text] = band
	for _, id := range s.ids[u.ids[0]:u.ids[1]] {
		s.facts[id].band, s.facts[id].job = band, u.job+1
	}
	if u.lead >= 0 && s.units[u.lead].governs && !s.units[u.lead].kept {
		s.keep(u.lead)
	}
}

// queue holds candidates, the densest first; of equals the one that stands first
// in the session, so that the same input gives the same output.
type queue struct{ list []candidate }

type candidate struct {
	unit    int32
	density int
}

func (q *queue) Len() int { return len(q.list) }
func (q *queue) Less(a, b int) bool {
	x, y := q.list[a], q.list[b]
	return x.density > y.density || x.density == y.density && x.unit < y.unit
}
func (q *queue) Swap(a, b int) { q.list[a], q.list[b] = q.list[b], q.list[a] }
func (q *queue) Push(x any)    { q.list = append(q.list, x.(candidate)) }
func (q *queue) Pop() any {
	last := len(q.list) - 1
	c := q.list[last]
	q.list = q.list[:last]
	return c
}
