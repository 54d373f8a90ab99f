package compress

import (
	"container/heap"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Weights say what things are worth, in points: only the ratios matter. They were
// fitted to what a reader marked in half of the recorded sessions, with the totals of the
// others in view: what make eval prints of those is somewhat optimistic. It also prints
// what is lost without each.
// docs/internals/compressor.md tells the rule in words.
type Weights struct {
	// Name is for each name that no kept unit of its message states yet: a path, an
	// identifier, code, a quantity, a reference, a line that reports an error. They are
	// needed word for word.
	Name int
	// User is for what a user says, twice for what he begins with, asks, forbids or wants
	// to know: nothing else says it.
	User int
	// Say is for a sentence of an agent's that surely decides or explains something; others
	// have a share of it, by the odds that they do. A verdict has all of it, the question that
	// a message ends with half: what the user answers means nothing without it.
	Say int
	// Start and those below it are the odds, in halves of a doubling: Start is where a
	// sentence begins, since most decide nothing.
	Start int
	// Cue is for each sign of a duty, a choice, a denial, of trouble or of weighing one
	// thing against another, for emphasis, and for a lead that has such a sign.
	Cue int
	// Reason is for saying why, the surest sign of all, and for what follows "Found the cause."
	Reason int
	// Late is for the last third of a longer message, and once more for the last sentence of
	// its prose: it ends with what came out.
	Late int
	// Under is for what stands below a lead: it enumerates more often than it decides.
	Under int
	// Short is for fewer than eight words, and again for fewer than four: they hold names
	// or acknowledge something.
	Short int
	// Least is the least odds with which a message has something to say. Its best unit is
	// kept, whatever the room: what decides or asks something never becomes a mark.
	Least int
	// Aside is what a name is worth in code, in talk about the next step, among options
	// and in a message's first unit, in percent: code can be read again, and a decision
	// comes before names.
	Aside int
	// Opening is added to the length of what may be a message's first unit, in characters:
	// the best sentence opens it rather than the shortest.
	Opening int
}

// Tuned are the weights that the compressor uses.
func Tuned() Weights {
	return Weights{Name: 150, User: 300, Say: 500, Start: -4, Cue: 2, Reason: 4, Late: 3, Under: -3, Short: -2, Least: -8, Aside: 65, Opening: 60}
}

// shortLabel is how long a lead may be that says in a word what became of the things
// below it ("Removed:"), which are never kept without it: nobody could place them.
const shortLabel = 20

// selection decides what is kept of the texts of a run. It holds no text: some
// fifty bytes for each unit and eight for each name that it states.
type selection struct {
	Weights
	jobs     []job
	percent  func(job) int
	known    map[uint64]int32 // names of the job that is read → their mentions
	mentions []bool           // each name of each job: no kept unit states it yet
	ids      []int32          // mentions of all units, one unit after another
	units    []unitUse
	said     map[uint64]int32 // text of a kept unit → its band + 1
	open     []bool           // by job: something of it is kept
	first    []int32          // by job: its first unit; one more at the end
	size     []int32          // by job: UTF-16 units of its text
	opening  bool             // each message gets its first unit now
	kept     int              // units
}

// unitUse is what is known of a unit without its text.
type unitUse struct {
	job, line  int32
	start, end int32
	ids        int32 // in selection.ids, up to the next unit's
	cost       int32
	plain      int32  // worth besides its names
	lead       int32  // the unit that it is kept with, in selection.units, or -1
	text       uint64 // hash
	gone       uint8  // bits of what a report counts it as when it is not kept: sentence, request, decision
	bound      bool   // says nothing without its lead
	tells      bool   // decides, explains or asks something, or may
	aside      bool   // code, talk or an option, whose names are worth less
	idle       bool   // is not kept for its own sake
	kept       bool
}

func newSelection(w Weights, jobs []job, percent func(job) int) *selection {
	n := 0
	for _, j := range jobs {
		n += j.Tokens
	}
	return &selection{
		Weights: w, jobs: jobs, percent: percent, known: map[uint64]int32{}, said: map[uint64]int32{}, open: make([]bool, len(jobs)),
		// A unit has some twenty tokens: growing on the way would hold everything twice.
		units: make([]unitUse, 0, n/17), first: make([]int32, 0, len(jobs)+1), size: make([]int32, 0, len(jobs)),
	}
}

// read takes the units of one text, in the order of the jobs.
func (s *selection) read(n int, text string, list []extract.Unit) {
	base := int32(len(s.units))
	s.first = append(s.first, base)
	s.size = append(s.size, int32(message.Units(text)))
	clear(s.known)
	spoken := int32(-1) // the last unit that is no code
	last := lastSaid(list)
	for i, u := range list {
		at := base + int32(i)
		x := sight{Unit: u, text: text[u.Start:u.End], at: i, of: len(list), last: i == last, user: s.jobs[n].Role == "user"}
		use := unitUse{
			job: int32(n), line: int32(u.Line), start: int32(u.Start), end: int32(u.End),
			ids: int32(len(s.ids)), cost: int32(message.Units(x.text)) + 1, text: hashOf(0, x.text),
		}
		lost := u.Loss(x.user)
		use.gone = uint8(lost.Sentences | lost.Requests<<1 | lost.Decisions<<2)
		x.names = s.names(u, x.text)
		x.words = contentWords(x.text)
		if u.Lead >= 0 {
			lead := list[u.Lead].Cues
			x.leads, x.asked = lead&substance != 0, lead&extract.Question != 0
		}
		if i > 0 && u.Kind == extract.Sentence {
			x.found = announces(list[i-1], text)
		}
		use.aside = x.talk() || x.option() || u.Kind == extract.CodeLine && !u.Reports()
		use.plain, use.tells = s.worth(x)
		use.idle = x.idle()
		if use.lead, use.bound = s.lead(x, text, list, base, spoken); x.closes() && use.lead >= 0 && s.units[use.lead].idle {
			use.idle = true // "Options:", and then which?
		}
		if u.Kind != extract.CodeLine {
			spoken = at
		}
		s.units = append(s.units, use)
	}
}

// worth is what a unit is worth besides its names, and whether it has something to say.
func (s *selection) worth(x sight) (plain int32, tells bool) {
	switch {
	case x.talk() || x.Kind == extract.CodeLine || x.Kind == extract.Lead && x.idle():
		return 0, false
	case x.says() && (x.at == 0 || x.Cues&wishes != 0): // he begins with what he wants
		return int32(2 * s.User), true
	case x.says():
		return int32(s.User), true
	case x.closes():
		return int32(s.Say / 2), false // alone it asks about nothing
	case x.user || x.Cues&extract.Question != 0: // what a user quotes is not what he says
		return 0, false
	case x.Cues&extract.Decided != 0:
		return int32(s.Say), true
	}
	odds := s.Start + x.cues()*s.Cue
	if (x.Cues&extract.Reason != 0 || x.found) && !x.option() {
		odds += s.Reason
	}
	if x.of >= 4 && 3*x.at >= 2*x.of {
		odds += s.Late
	}
	if x.of >= 4 && x.last && x.words >= 4 && x.Cues&(substance|extract.Argued) != 0 {
		odds += s.Late
	}
	if x.Lead >= 0 {
		odds += s.Under
	}
	for _, few := range [...]int{8, 4} {
		if x.words < few {
			odds += s.Short
		}
	}
	return int32(float64(s.Say) / (1 + math.Exp2(-float64(odds)/2))), odds >= s.Least
}

// lastSaid finds the last sentence that stands by itself and is neither a question nor talk
// about the next step, -1 for none.
func lastSaid(list []extract.Unit) int {
	for i, u := range slices.Backward(list) {
		if u.Kind == extract.Sentence && u.Lead < 0 && u.Cues&(extract.Narration|extract.Question) == 0 {
			return i
		}
	}
	return -1
}

// announces reports a sentence that only says that a cause was found: the next one tells it.
func announces(u extract.Unit, text string) bool {
	return u.Kind == extract.Sentence && u.Cues&(extract.Reason|extract.Trouble) != 0 && u.Cues&extract.Question == 0 && contentWords(text[u.Start:u.End]) < 5
}

// lead finds the unit that x is kept with, -1 for none, and whether x says nothing
// without it.
func (s *selection) lead(x sight, text string, list []extract.Unit, base, spoken int32) (lead int32, bound bool) {
	switch {
	case x.Kind == extract.CodeLine && x.Lead < 0:
		return spoken, x.names == 0 // a line of code that names nothing tells little
	case x.closes() && x.at > 0: // what it asks about: what stands above a list, else before it
		about := x.at - 1
		for about > 0 && (list[about].Kind == extract.Item || list[about].Kind == extract.Row || list[about].Kind == extract.CodeLine) {
			about--
		}
		return base + int32(about), true
	case x.at > 0 && (x.user && x.Kind == extract.Sentence || x.Cues&extract.Back != 0) && list[x.at-1].Kind == x.Kind && list[x.at-1].Line == x.Line && !s.units[base+int32(x.at)-1].aside:
		// "This is why it fails." tells what only with the sentence before it, and what
		// a user asks for with what he said before.
		return base + int32(x.at) - 1, true
	case x.Kind == extract.Sentence:
		return -1, false
	case x.Lead < 0:
		return -1, false
	}
	// Numbers mean nothing without their table's header, names without the "Removed:"
	// above them, reasons without what they speak for ("I would take the first, because:").
	lead = base + int32(x.Lead)
	switch l := list[x.Lead]; {
	case x.Kind == extract.CodeLine:
		return lead, x.user || x.names == 0
	case x.Kind == extract.Row:
		return lead, x.words < 4
	default:
		return lead, x.user || x.Kind != extract.Item || x.bare() || l.Cues&(extract.Denied|extract.Reason|extract.Decided) != 0 || l.End-l.Start <= shortLabel || then(text[l.Start:l.End])
	}
}

// then reports a lead that says when what is below it holds: what was before reads like
// what is now without it.
func then(lead string) bool {
	lead = strings.ToLower(strings.TrimLeft(lead, "#*_ "))
	for _, p := range [...]string{"之前", "之後", "之后", "原本", "原来", "原來", "修改前", "修改後", "修改后"} {
		if strings.HasPrefix(lead, p) {
			return true
		}
	}
	end := strings.IndexFunc(lead+" ", func(r rune) bool { return !unicode.IsLetter(r) })
	return listed(lead[:end], " before after old new previous previously formerly originally was now ")
}

// sight is what one look at a unit shows.
type sight struct {
	extract.Unit
	text         string
	at, of       int  // which of how many units of its text it is
	last         bool // the last sentence of its prose
	user         bool // wrote it
	words, names int
	found        bool // the sentence before says that the cause was found
	leads, asked bool // what introduces it decides or explains, or is a question
}

// Cues of a sentence that decides, explains or limits something, without those of
// weighing one thing against another; those of a wish.
const (
	substance = extract.Decided | extract.Rule | extract.Duty | extract.Choice | extract.Reason | extract.Denied | extract.Trouble
	wishes    = extract.Asked | extract.Question | extract.Rule | extract.Duty | extract.Denied | extract.Decided
)

// talk reports whether an agent talks about what he does next. Where he says instead of
// what, or what not, it is more than that.
func (x sight) talk() bool {
	more := extract.Decided | extract.Rule | extract.Choice
	if x.names > 0 {
		more |= extract.Denied
	}
	return !x.user && x.Cues&extract.Narration != 0 && x.Cues&more == 0
}

// option reports one of several options, or answers to a question, of which it is not said
// that it was chosen.
func (x sight) option() bool {
	return !x.user && (x.asked || x.Cues&extract.Open != 0) && x.Cues&extract.Decided == 0
}

// closes reports the question of an agent's that a message ends with.
func (x sight) closes() bool { return !x.user && x.Cues&extract.Question != 0 && x.at == x.of-1 }

// says reports whether a user says x himself: it is no quotation and no tag ("<img …>").
func (x sight) says() bool {
	tag := strings.HasPrefix(x.text, "<") && strings.IndexByte(x.text, '>') == len(x.text)-1
	return x.user && !tag && !strings.HasPrefix(x.text, ">")
}

// cues counts what speaks for a unit of an agent's; among options, of which none may be
// chosen, nothing does.
func (x sight) cues() int {
	if x.option() {
		return 0
	}
	weighs := extract.Rule | extract.Duty | extract.Choice | extract.Denied | extract.Trouble | extract.Argued | extract.Asked | extract.Back
	k := bits.OnesCount16(uint16(x.Cues & weighs))
	if x.leads { // "The fix:"
		k++
	}
	if strings.Contains(x.text[:min(len(x.text), 6)], "**") { // "**The bug.** …"
		k++
	}
	return k
}

// bare reports a name or two, which mean nothing alone.
func (x sight) bare() bool {
	return x.names == 0 && x.words < 2 || x.Kind == extract.Item && x.names < 2 && x.words < 3
}

// idle reports whether a unit says nothing by itself: filler, a bare number, a
// row or a line of code without a name.
func (x sight) idle() bool {
	switch {
	case x.Kind == extract.Lead && (x.Cues&extract.Decided != 0 && x.words >= 3 || x.user && x.at == 0 && x.words >= 6) && !strings.HasPrefix(x.text, "#"):
		return false // "I suggest the second, which needs no lock:"
	case x.Kind == extract.Lead: // "The fix is to drop the cache:" says something, "The steps:" does not
		return bits.OnesCount16(uint16(x.Cues&substance)) < 2 && (x.Cues&extract.Reason == 0 || x.words < 8) || x.words < 6 || x.talk() || strings.HasPrefix(x.text, "#") || strings.HasPrefix(x.text, "|")
	case strings.HasPrefix(x.text, "::"): // what Codex tells its window
		return true
	case x.Kind == extract.CodeLine:
		return x.words < 2 && x.names < 2 || strings.HasSuffix(x.text, ":") && x.words > 3 // "It fails because:", not "class Store:"
	case x.Kind == extract.Row:
		return x.names == 0 && x.words < 6
	case x.Cues&extract.Decided != 0 && x.words > 0: // "**APPROVED**"
		return false
	case x.closes():
		return x.words < 2
	case x.bare() && x.Lead < 0, x.names == 0 && (x.words < 2 || x.talk()):
		return true
	case x.names > 0 || x.user || x.Kind == extract.Item || x.Cues&extract.Done != 0:
		return false
	case x.Cues&substance != 0 && x.Cues&extract.Back == 0 && !strings.HasSuffix(x.text, "**"):
		return x.words < 3 // not "Found the cause."
	}
	return x.words < 5
}

// names notes the names that a unit of the job that is read states, and counts them.
func (s *selection) names(u extract.Unit, t string) (n int) {
	from, end := len(s.ids), int32(0)
	code := int32(0) // where what is quoted as code ends: it is one name, whatever it is made of
	for _, f := range u.Facts {
		w := t[f.Start:f.End]
		quoted := f.Start > 0 && t[f.Start-1] == '`'
		switch f.Kind {
		case extract.Code:
			code = f.End
		case extract.Number, extract.Identifier:
			if f.End <= code {
				continue
			}
		}
		switch f.Kind {
		case extract.Number:
			if !quoted && (u.Kind == extract.CodeLine || !measured(w, t[f.End:])) {
				continue
			}
		case extract.Identifier:
			// JSON and P1 are words.
			if !quoted && !hump(w) {
				continue
			}
		}
		h := hashOf(f.Kind, w)
		m, ok := s.known[h]
		if !ok {
			m = int32(len(s.mentions))
			s.known[h] = m
			s.mentions = append(s.mentions, true)
		}
		s.ids = append(s.ids, m)
		if f.Start >= end { // no part of the one before
			n, end = n+1, f.End
		}
	}
	own := s.ids[from:]
	slices.Sort(own)
	s.ids = s.ids[:from+len(slices.Compact(own))]
	return n
}

// hump reports whether a name is made of several words, which nobody writes by
// chance: loadRow, load_row; not JSON or P1.
func hump(w string) bool {
	w = strings.Trim(w, "_") // emphasis
	for i := 1; i < len(w); i++ {
		if w[i] == '_' || w[i] >= 'A' && w[i] <= 'Z' && w[i-1] >= 'a' && w[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// measured reports whether a number counts something: 12ms, 40 %, 200 commits, 3 個.
func measured(number, behind string) bool {
	t := strings.TrimPrefix(behind, " ")
	end := strings.IndexFunc(t+".", func(r rune) bool { return !unicode.IsLetter(r) })
	r, _ := utf8.DecodeRuneInString(t)
	return strings.Trim(number[len(number)-1:], "0123456789") != "" || r == '%' || r == '×' || end > 0 && r >= 0x2E80 || end >= 4 ||
		end > 0 && listed(t[:end], " ms s sec min h d KB kB MB GB k M x px m ")
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

// contentWords counts words of four letters or more; two characters of a script
// without blanks count as one, Japanese particles and endings as none.
func contentWords(t string) int {
	words, run, wide := 0, 0, 0
	for _, r := range t {
		switch {
		case r >= 0x2E80 && unicode.IsLetter(r):
			if r < 0x3041 || r > 0x309F {
				wide++
			}
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

// choose spends each band's budget and tells what is kept of each job. The jobs of a
// band follow each other.
func (s *selection) choose(ctx context.Context) (*chosen, error) {
	s.first = append(s.first, int32(len(s.units)))
	for from, to := 0, 0; from < len(s.jobs); from = to {
		for to < len(s.jobs) && s.jobs[to].band == s.jobs[from].band {
			to++
		}
		if err := s.spend(ctx, from, to); err != nil {
			return nil, err
		}
	}
	c := &chosen{pieces: make([]piece, 0, s.kept), first: make([]int32, 0, len(s.jobs)+1), gone: make([]extract.Losses, len(s.jobs))}
	var said []uint64
	for n := range s.jobs {
		c.first = append(c.first, int32(len(c.pieces)))
		said = s.pieces(n, c, said[:0])
	}
	c.first = append(c.first, int32(len(c.pieces)))
	return c, ctx.Err()
}

// pieces adds what is kept of a job to c, and counts what is not; said is room.
func (s *selection) pieces(n int, c *chosen, said []uint64) []uint64 {
	units := s.units[s.first[n]:s.first[n+1]]
	last := -1
	for i := range units {
		u := &units[i]
		if !u.kept {
			continue
		}
		p := piece{start: u.start, end: u.end, join: ' '}
		switch {
		case last < 0:
			p.join = 0
		case units[last].line != u.line:
			p.join = '\n'
		case last == i-1:
			p.join = asItStood
		}
		c.pieces = append(c.pieces, p)
		said = append(said, u.text)
		last = i
	}
	slices.Sort(said)
	for i := range units {
		u := &units[i]
		if _, again := slices.BinarySearch(said, u.text); !u.kept && !again {
			c.gone[n].Add(extract.Losses{Sentences: int(u.gone & 1), Requests: int(u.gone >> 1 & 1), Decisions: int(u.gone >> 2)})
		}
	}
	return said
}

// spend keeps units of one band, whose jobs are those from from up to to, until its
// budget is used up.
func (s *selection) spend(ctx context.Context, from, to int) error {
	left := 0
	for n := from; n < to; n++ {
		// Every message costs at least its mark; the first unit that is kept of it
		// takes the mark's place.
		left += int(s.size[n])*s.percent(s.jobs[n])/100 - markUnits
	}
	// The room is no reason to lose all of a message that decides or asks something.
	s.opening = true
	left, err := s.fill(ctx, from, to, left)
	if s.opening = false; err != nil {
		return err
	}
	_, err = s.fill(ctx, from, to, left)
	return err
}

// fill keeps units, best worth per character first, as long as they fit into what is left
// of the budget, and returns what is left then. A message's first unit fits always.
func (s *selection) fill(ctx context.Context, from, to, left int) (int, error) {
	q := &queue{}
	for n := from; n < to; n++ {
		if n%spendSteps == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		for i := s.first[n]; i < s.first[n+1]; i++ {
			if b := s.best(i); b.density > 0 {
				*q = append(*q, candidate{i, b.density})
			}
		}
	}
	heap.Init(q)
	for step := 0; len(*q) > 0 && (left > 0 || s.opening); step++ {
		if step%spendSteps == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		c := heap.Pop(q).(candidate)
		// What was kept meanwhile makes a unit worth less, or cheaper.
		b := s.best(c.unit)
		switch {
		case b.density < c.density:
			if b.density > 0 {
				heap.Push(q, candidate{c.unit, b.density})
			}
		case b.cost <= left || s.opening:
			left -= b.cost
			s.keep(c.unit, b.last)
		}
	}
	return left, nil
}

// spendSteps is after how many it is looked whether somebody still waits: all of a
// gigabyte are a million.
const spendSteps = 1 << 10

// bundle is a unit with the leads that it is kept with.
type bundle struct {
	density, cost int
	last          int32 // of the leads, or the unit itself
}

// best is the bundle of a unit that is worth most per character; its density is 0
// where the unit is not worth keeping.
func (s *selection) best(i int32) (b bundle) {
	u := &s.units[i]
	again := s.said[u.text] == s.jobs[u.job].band+1 && s.jobs[u.job].Role != "user" // he says it again because it matters
	if u.kept || u.idle || again || s.opening && (!u.tells || s.open[u.job]) {
		return b
	}
	w, cost, mark, more := 0, 0, 0, 0
	if !s.open[u.job] {
		mark = markUnits + 1
	}
	if s.opening {
		more = s.Opening
	}
	for own := u.text; ; {
		// What says the same once more adds nothing.
		if cost == 0 || u.text != own {
			w += s.value(i)
		}
		cost += int(u.cost)
		end := u.lead < 0 || s.units[u.lead].kept
		if d := w << 10 / (cost + more); d > b.density && (end || !u.bound) {
			b = bundle{d, cost - mark, i}
		}
		if end {
			return b
		}
		i, u = u.lead, &s.units[u.lead]
	}
}

// value is what a unit is worth, given what is kept already.
func (s *selection) value(i int32) int {
	u := &s.units[i]
	w := 0
	for _, m := range s.stated(i) {
		if s.mentions[m] {
			w += s.Name
		}
	}
	if u.aside || s.opening {
		w = w * s.Aside / 100
	}
	return w + int(u.plain)
}

// stated are the mentions of a unit.
func (s *selection) stated(i int32) []int32 {
	end := int32(len(s.ids))
	if int(i)+1 < len(s.units) {
		end = s.units[i+1].ids
	}
	return s.ids[s.units[i].ids:end]
}

// keep marks a unit and its leads up to last as kept.
func (s *selection) keep(i, last int32) {
	for {
		u := &s.units[i]
		u.kept, s.open[u.job] = true, true
		s.kept++
		s.said[u.text] = s.jobs[u.job].band + 1
		for _, m := range s.stated(i) {
			s.mentions[m] = false
		}
		if i == last {
			return
		}
		i = u.lead
	}
}

// queue holds candidates, the densest first; of equals the one that stands first
// in the session, so that the same input gives the same output.
type queue []candidate

type candidate struct {
	unit    int32
	density int
}

func (q queue) Len() int { return len(q) }
func (q queue) Less(a, b int) bool {
	return q[a].density > q[b].density || q[a].density == q[b].density && q[a].unit < q[b].unit
}
func (q queue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }
func (q *queue) Push(x any)   { *q = append(*q, x.(candidate)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	*q = (*q)[:last]
	return c
}

// listed reports whether a word stands in a list of words with a blank on each side.
func listed(word, list string) bool { return strings.Contains(list, " "+word+" ") }
