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

// Weights say what things are worth, in points: only the ratios matter. make eval prints
// what is lost without each. docs/internals/compressor.md tells the rule in words, and how
// far the numbers can be trusted.
type Weights struct {
	// Name is for each name that no kept unit of its message states yet: a path, an
	// identifier, code, a quantity, a reference, a line that reports an error. They are
	// needed word for word.
	Name int
	// Say is for what a user says, twice for his last paragraph and for questions: nothing
	// else says it. A sentence of an agent's has it that surely decides or explains
	// something, a verdict, the first sentence and the question that a message ends with;
	// others have a share of it, by the odds that they decide.
	Say int
	// Start is where the odds of a sentence begin, in halves of a doubling: most decide nothing.
	Start int
	// Cue is for each sign of a duty, a choice, a denial, of trouble or of weighing one
	// thing against another, for emphasis, for a lead that has such a sign, and for the last
	// third of a longer message; twice for saying why. It is taken off for standing below a
	// lead, which enumerates more often than it decides, and for few words.
	Cue int
}

// Tuned are the weights that the compressor uses.
func Tuned() Weights {
	return Weights{Name: 60, Say: 500, Start: -4, Cue: 2}
}

// selection decides what is kept of the texts of a run. It holds no text: some
// fifty bytes for each unit and eight for each name that it states.
type selection struct {
	Weights
	jobs     []job
	percent  func(job) int
	known    map[uint64]int32 // names of the job that is read → their mentions
	mentions []mention        // each name of each job
	named    []int32          // by job: its first mention; one more at the end
	listed   []int32          // by job: room for names that no kept unit states
	ids      []int32          // mentions of all units, one unit after another
	units    []unitUse
	said     map[uint64]int32 // text of a kept unit → its band + 1
	open     []bool           // by job: something of it is kept
	told     []bool           // by job: its best unit is kept
	first    []int32          // by job: its first unit; one more at the end
	size     []int32          // by job: UTF-16 units of its text
	opening  bool             // each message gets its first unit now
	kept     int              // units
}

// mention is a name where its text states it first.
type mention struct {
	start, end int32 // equal for what tells nothing alone: a part of another, a number, an error
	open       bool  // no kept unit states it yet
}

// unitUse is what is known of a unit without its text.
type unitUse struct {
	job, line  int32
	start, end int32
	ids        int32 // in selection.ids, up to the next unit's
	cost       int32
	plain      int32  // worth besides its names
	rest       int32  // lines of a fence behind it, -1 for what is no part of one
	lead       int32  // the unit that it is kept with, in selection.units, or -1
	text       uint64 // hash
	gone       uint8  // bits of what a report counts it as when it is not kept: sentence, request, decision
	bound      bool   // says nothing without its lead
	begins     bool   // an item or a row, which its lead introduces
	heads      bool   // a heading, or what introduces a list
	partly     bool   // such a one that it introduces is kept
	tells      bool   // decides, explains or asks something, or may
	aside      bool   // code, talk or an option, whose names are worth less
	idle       bool   // is not kept for its own sake
	apart      bool   // a blank line stands before it
	must       bool   // is kept whatever the room
	kept       bool
}

func newSelection(w Weights, jobs []job, percent func(job) int) *selection {
	n := 0
	for _, j := range jobs {
		n += j.Tokens
	}
	return &selection{
		Weights: w, jobs: jobs, percent: percent, known: map[uint64]int32{}, said: map[uint64]int32{}, open: make([]bool, len(jobs)), told: make([]bool, len(jobs)),
		// A unit has some twenty tokens: growing on the way would hold everything twice.
		units: make([]unitUse, 0, n/17), first: make([]int32, 0, len(jobs)+1), size: make([]int32, 0, len(jobs)),
	}
}

// read takes the units of one text, in the order of the jobs.
func (s *selection) read(n int, text string, list []extract.Unit) {
	base := int32(len(s.units))
	s.first = append(s.first, base)
	s.size = append(s.size, int32(message.Units(text)))
	s.named = append(s.named, int32(len(s.mentions)))
	clear(s.known)
	spoken, named := int32(-1), int32(-1) // the last unit that is no code, the last heading with names
	last, begun, decides, opener := lastSaid(list), false, false, -1
	// A user's last paragraph is what he wants, unless it is too long for that, as a log is.
	final := 0
	for final < last && (list[final].Block != list[last].Block || list[last].End-list[final].Start > mustUnits) {
		final++
	}
	opening := 0 // where his first paragraph ends, in which he says what it is about
	for _, u := range list {
		if u.Block != list[0].Block || u.Kind == extract.Item || u.End-list[0].Start > mustUnits {
			break
		}
		opening++
	}
	end := closing(list, text, last)
	options := end // of the question that it ends with
	asks := slices.ContainsFunc(list[end:], func(u extract.Unit) bool { return u.Cues&extract.Question != 0 })
	if !asks || list[len(list)-1].End-list[end].Start > optionsSize {
		options = len(list)
	}
	long, brief := len(list) >= longMessageUnits || len(text) >= longMessageSize, len(text) <= briefMessageSize
	var first [3][]int32 // what is kept whatever the room, by what comes first
	for i, u := range list {
		at := base + int32(i)
		x := sight{Unit: u, text: text[u.Start:u.End], at: i, of: len(list), user: s.jobs[n].Role == "user", amid: s.jobs[n].amid}
		x.ends = !x.user && !x.amid
		x.closes = u.Cues&extract.Question != 0 && (i >= end || x.ends && u.Kind == extract.Sentence && !u.Quoted)
		use := unitUse{
			job: int32(n), line: int32(u.Line), start: int32(u.Start), end: int32(u.End), apart: u.Apart, begins: u.Begins, rest: -1,
			heads: u.Kind == extract.Lead && (i == 0 || list[i-1].Block != u.Block),
			ids:   int32(len(s.ids)), cost: int32(message.Units(x.text)) + 1, text: hashOf(0, x.text),
		}
		if u.Rest > 0 {
			use.rest, use.cost = int32(u.Rest), use.cost+restUnits
		}
		if u.Apart {
			use.cost++
		}
		lost := u.Loss(x.user)
		use.gone = uint8(lost.Sentences | lost.Requests<<1 | lost.Decisions<<2)
		x.names = s.names(u, x.text)
		x.words = contentWords(x.text)
		if u.Lead >= 0 {
			lead := list[u.Lead].Cues
			x.leads, x.asked = lead&substance != 0, lead&extract.Question != 0
		}
		x.end = i == last || x.user && last >= 0 &&
			(u.Block == list[last].Block && (i >= final || u.Block != list[max(i-1, 0)].Block) || u.Begins && list[last].Begins && u.Lead == list[last].Lead)
		switch {
		case begun || x.words < 2 && x.names == 0 && u.Kind != extract.Lead || u.Kind == extract.CodeLine && (u.Lead < 0 || u.Lead != opener):
		case u.Kind == extract.Lead: // what it introduces says what
			opener = i
		default:
			x.first = !x.idle() && !x.talk() && (!u.Begins || u.Lead == opener)
			begun = x.first || u.Begins
		}
		x.title = x.user && (i <= 1 && strings.HasPrefix(x.text, "#") || i < opening)
		if x.asks() {
			use.text ^= uint64(n) // what is asked again waits for another answer
		}
		use.aside = x.talk() || x.option() || u.Kind == extract.CodeLine && !u.Reports()
		use.plain, use.tells = s.worth(x)
		again := func(o unitUse) bool { return o.text == use.text }
		whole := x.ends && (brief || i >= options && u.Kind == extract.Item) && !x.talk()
		use.idle = x.idle() && !whole || x.user && slices.ContainsFunc(s.units[max(base, at-repeats):], again)
		switch {
		case use.idle:
		case x.says() && x.end, !x.user && x.verdict():
			first[0] = append(first[0], at)
		case x.title, x.first && x.says(), whole, !x.user && long && (x.asks() || x.first && !x.amid):
			first[1] = append(first[1], at)
		case x.says() && x.Cues&extract.Question != 0:
			first[2] = append(first[2], at)
		case !x.user && x.Cues&(extract.Decided|extract.Question) == extract.Decided:
			decides = true
		case x.ends && long && x.end && u.Kind == extract.Sentence && u.Lead < 0:
			first[2] = append(first[2], at)
		}
		use.lead, use.bound = s.lead(x, list, base, spoken, named)
		if use.bound && use.lead >= 0 { // what it is kept with may tell something
			use.tells = use.tells || s.units[use.lead].tells && s.units[use.lead].idle
		}
		if u.Kind != extract.CodeLine {
			spoken = at
		}
		if u.Kind == extract.Lead && x.names > 0 {
			named = at
		}
		s.units = append(s.units, use)
	}
	room := int32(mustUnits)
	for _, list := range first {
		for _, at := range list {
			if u := &s.units[at]; u.cost <= room {
				u.must, room = true, room-u.cost
			}
		}
	}
	s.listed = append(s.listed, s.list(n))
	// What is kept in any case is enough where it takes all of the message's room and
	// nothing else decides.
	s.told[n] = room < mustUnits && int(mustUnits-room+s.listed[n]) >= s.own(n) && !decides
}

// own is the room that a job has for itself.
func (s *selection) own(n int) int { return int(s.size[n]) * s.percent(s.jobs[n]) / 100 }

// follows reports whether a message of the same turn stands before a job's.
func (s *selection) follows(n int) bool {
	return n > 0 && s.jobs[n-1].amid && s.jobs[n-1].band == s.jobs[n].band
}

// mark is the length of what stands for a job's message when nothing of it is kept: within
// a turn most follow one of which nothing is kept either.
func (s *selection) mark(n int) int {
	if s.follows(n) {
		return message.Units(markAgain)
	}
	return markUnits
}

// closing is where a text's end begins, in which questions ask for an answer: the last
// paragraph, else the list above it with what introduces that, or the question above the
// lines of which one is to be chosen.
func closing(list []extract.Unit, text string, last int) int {
	from, asked, lines := len(list), false, true
	for i, u := range slices.Backward(list) {
		t := text[u.Start:u.End]
		switch {
		case i > last && last >= 0: // a fence, what tells the agent's window something
			continue
		case last < 0 || u.Quoted || u.Block != list[last].Block && u.Kind == extract.CodeLine:
			return from
		case u.Block == list[last].Block && u.Kind == extract.Sentence && list[last].Kind == extract.Item && u.Cues&extract.Question != 0:
			return i
		case u.Block == list[last].Block || u.Kind == extract.Item && (!asked || list[last].Kind == extract.Item):
			asked = asked || u.Cues&extract.Question != 0 && u.Block == list[last].Block
			lines = lines && (u.Kind == extract.Item || strings.TrimRight(t, ".。!！") == t)
		case asked && list[last].Kind != extract.Item:
			return from
		case u.Block == list[i+1].Block || list[i+1].Kind == extract.Item && list[i+1].Lead == i || lines && u.Cues&extract.Question != 0:
			return i
		default:
			return from
		}
		from = i
	}
	return from
}

// repeats is how far back a line of what a user pastes is looked for: traces and logs say
// the same again and again.
const repeats = 64

const (
	// From so many units or so much text on a message has a beginning and an end.
	longMessageUnits, longMessageSize = 6, 400
	// briefMessageSize is up to what size the message that ends a turn is kept whole. Sizes
	// are in bytes: a character of Chinese says as much as three letters.
	briefMessageSize = 160
	// optionsSize is up to what size the options of the question that a message ends with
	// are kept.
	optionsSize = 400
)

// mustUnits is how much of a message is kept whatever the room: a user's last paragraph
// and questions, an agent's verdicts, beginning and end.
const mustUnits = 600

// restUnits is the length of what ends a fence of which lines are left out.
const restUnits = 16

// worth is what a unit is worth besides its names, and whether it has something to say.
func (s *selection) worth(x sight) (plain int32, tells bool) {
	switch {
	case !x.user && x.verdict():
		return int32(s.Say), true
	case x.talk() || x.Kind == extract.CodeLine || x.titles() && !x.title:
		return 0, false
	case x.says() && (x.end || x.title || x.Cues&extract.Question != 0): // what he asks for comes last
		return int32(2 * s.Say), true
	case x.says():
		return int32(s.Say), true
	case x.user: // what he quotes is not what he says
		return 0, false
	case (x.asks() || x.first) && x.of >= longMessageUnits || x.Cues&(extract.Decided|extract.Question) == extract.Decided:
		return int32(s.Say), x.Cues&extract.Question == 0
	case x.asks():
		return int32(s.Say / 2), false
	case x.Cues&extract.Question != 0:
		return 0, false
	}
	odds := s.Start + x.cues()*s.Cue
	if x.Cues&extract.Reason != 0 && !x.option() {
		odds += 2 * s.Cue
	}
	if x.of >= 4 && 3*x.at >= 2*x.of {
		odds += s.Cue
	}
	if x.end && x.of >= 4 && x.words >= 4 && x.Cues&(substance|extract.Argued) != 0 {
		odds += 2 * s.Cue
	}
	if x.Lead >= 0 && x.Kind != extract.Sentence {
		odds -= s.Cue
	}
	for _, few := range [...]int{8, 4} {
		if x.words < few {
			odds -= s.Cue
		}
	}
	return int32(float64(s.Say) / (1 + math.Exp2(-float64(odds)/2))), x.of < longMessageUnits && !x.amid || x.of >= longMessageUnits && x.words >= 4
}

// lastSaid finds the last unit of what is said, -1 for none: what an agent asks
// and what he does next is not what came out.
func lastSaid(list []extract.Unit) int {
	for i, u := range slices.Backward(list) {
		if u.Kind != extract.CodeLine && u.Kind != extract.Lead && !u.Quoted {
			return i
		}
	}
	return -1
}

// lead finds the unit that x is kept with, -1 for none, and whether x says nothing
// without it.
func (s *selection) lead(x sight, list []extract.Unit, base, spoken, named int32) (lead int32, bound bool) {
	switch {
	case x.Bound:
		return base + int32(x.Lead), true
	case x.Kind == extract.CodeLine && spoken >= 0:
		return spoken, x.names == 0 || x.user || list[spoken-base].Kind == extract.Lead && list[spoken-base].Block == x.Block // code that names nothing tells little
	case x.at > 0 && (x.user && x.Kind == extract.Sentence || x.Cues&extract.Back != 0) && list[x.at-1].Kind == x.Kind && list[x.at-1].Line == x.Line && !s.units[base+int32(x.at)-1].aside:
		// "This is why it fails." tells what only with the sentence before it, and what
		// a user asks for with what he said before.
		return base + int32(x.at) - 1, true
	case x.asks() && x.Kind == extract.Sentence && x.at > 0 && (x.words < 5 && x.at+1 == x.of || list[x.at-1].Line == x.Line && list[x.at-1].Kind == extract.Sentence):
		// "Shall I?", what: what stands above a list, else before it
		about := x.at - 1
		for about > 0 && (list[about].Kind == extract.Item || list[about].Kind == extract.Row || list[about].Kind == extract.CodeLine) {
			about--
		}
		return base + int32(about), true
	case x.Lead >= 0: // what is said below a heading with names is about these
		return base + int32(x.Lead), !x.user && base+int32(x.Lead) == named
	}
	return -1, false
}

type sight struct {
	extract.Unit
	text         string
	at, of       int  // which of how many units of its text it is
	first        bool // it begins what is said
	title        bool // a user says with it what all is about: his heading, his first paragraph
	closes       bool // it is the question that its text ends with
	end          bool // it ends what is said; of a user's the last paragraph does
	user         bool // wrote it
	amid, ends   bool // an agent wrote it, and more of the turn follows, or nothing does
	words, names int
	leads, asked bool // what introduces it decides or explains, or is a question
}

// Cues of a sentence that decides, explains or limits something, without those of
// weighing one thing against another; those of a wish.
const (
	substance = extract.Decided | extract.Rule | extract.Duty | extract.Choice | extract.Reason | extract.Denied | extract.Trouble
	wishes    = extract.Asked | extract.Question | extract.Rule | extract.Duty | extract.Denied | extract.Decided
)

// talk reports whether an agent talks about what he does next, or announces the call of a
// tool. Where he says instead of what, or what not, it is more than that.
func (x sight) talk() bool {
	more := extract.Decided | extract.Rule | extract.Choice
	if x.names > 0 {
		more |= extract.Denied
	}
	calls := x.amid && x.Cues&(substance|extract.Argued) == 0 && x.at+1 == x.of && strings.HasSuffix(strings.TrimRight(x.text, "*_ "), ":")
	return !x.user && (calls || x.Cues&extract.Narration != 0) && x.Cues&more == 0
}

// option reports one of several options, or answers to a question, of which it is not said
// that it was chosen.
func (x sight) option() bool {
	return !x.user && (x.asked || x.Cues&extract.Open != 0) && x.Cues&extract.Decided == 0
}

// asks reports the question of an agent's that a message ends with.
func (x sight) asks() bool { return !x.user && x.closes }

// says reports whether a user says x himself: it is no quotation and no tag ("<img …>").
func (x sight) says() bool {
	tag := strings.HasPrefix(x.text, "<") && strings.IndexByte(x.text, '>') == len(x.text)-1
	return x.user && !tag && !x.Quoted
}

// titles reports a heading or a table's header.
func (x sight) titles() bool {
	return x.Kind == extract.Lead && (strings.HasPrefix(x.text, "#") || strings.HasPrefix(x.text, "|"))
}

// verdict reports the marker of a route, or a line of the form "Status: DONE".
func (x sight) verdict() bool {
	if strings.Contains(x.text, "PIPELINE_ROUTE:") {
		return true
	}
	label, word, ok := strings.Cut(strings.Trim(x.text, "*_`[]<>- "), ":")
	word = strings.Trim(word, "*_`. ")
	letters := strings.IndexFunc(word, unicode.IsUpper) >= 0 && strings.ToUpper(word) == word
	return ok && letters && len(word) > 1 && len(word) <= 40 && len(label) <= 40 && strings.Count(word, " ") < 4
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
	case x.verdict() && !x.user, x.says() && x.end && x.words > 0:
		return false
	case x.Kind == extract.Lead: // it is kept with what it introduces
		return !x.title
	case strings.HasPrefix(x.text, "::"): // what Codex tells its window
		return true
	case x.Kind == extract.CodeLine:
		return x.words < 2 && x.names < 2 || strings.HasSuffix(x.text, ":") && x.words > 3 // "It fails because:", not "class Store:"
	case x.Kind == extract.Row:
		return x.names == 0 && x.words < 6
	case x.Cues&extract.Decided != 0 && x.words > 0: // "**APPROVED**"
		return false
	case x.asks():
		return x.words == 0
	case x.bare() && x.Lead < 0, x.names == 0 && x.words < 2, (x.names == 0 || x.amid) && x.talk():
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
			s.mentions = append(s.mentions, mentionOf(u, t, f, f.Start >= end))
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

// list is the room that the names of a job's message have that no kept unit states: a
// share of its own, as far as it has such names.
func (s *selection) list(n int) int32 {
	if s.jobs[n].Role == "user" {
		return 0
	}
	room := int32(0)
	for _, m := range s.mentions[s.named[n]:] {
		room += m.cost()
	}
	return min(room+listSigns, int32(s.own(n)/listShare))
}

// listShare is the part of a message's share that names have which no kept unit states.
const listShare = 4

// listSigns is what stands around them.
const listSigns = int32(len("\n. ()"))

// addNames adds such names to the pieces of a job, in brackets behind the sign for what is
// left out; gap tells that the sign stands there already.
func (s *selection) addNames(n int, c *chosen, gap bool) {
	room, join := s.listed[n]-listSigns, byte(firstName)
	for _, m := range s.mentions[s.named[n]:s.named[n+1]] {
		cost := m.cost()
		if !m.open || cost == 0 || cost > room {
			continue
		}
		if join == firstName && !gap {
			c.pieces = append(c.pieces, piece{join: leftOut})
		}
		c.pieces = append(c.pieces, piece{start: m.start, end: m.end, join: join})
		room, join = room-cost, nextName
	}
	if join == nextName {
		c.pieces = append(c.pieces, piece{join: noMoreNames})
	}
}

// cost is what a name takes in a list, 0 where it stands in none.
func (m mention) cost() int32 {
	if m.end == m.start {
		return 0
	}
	return m.end - m.start + int32(len(", "))
}

func mentionOf(u extract.Unit, t string, f extract.Span, whole bool) mention {
	m := mention{open: true}
	if whole && u.Kind != extract.CodeLine && f.Kind != extract.Number && f.Kind != extract.ErrorLine {
		a, b := int(f.Start), int(f.End)
		if a > 0 && t[a-1] == '`' && b < len(t) && t[b] == '`' {
			a, b = a-1, b+1
		}
		m.start, m.end = int32(u.Start+a), int32(u.Start+b)
	}
	return m
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
	s.named = append(s.named, int32(len(s.mentions)))
	for from, to := 0, 0; from < len(s.jobs); from = to {
		for to < len(s.jobs) && s.jobs[to].band == s.jobs[from].band {
			to++
		}
		if err := s.spend(ctx, from, to); err != nil {
			return nil, err
		}
	}
	jobs := len(s.jobs)
	c := &chosen{pieces: make([]piece, 0, s.kept+s.kept/8), first: make([]int32, 0, jobs+1), gone: make([]extract.Losses, jobs), runs: make([]int, jobs)}
	var said []uint64
	head := 0 // of a run of messages of which nothing is kept
	for n := range s.jobs {
		c.first = append(c.first, int32(len(c.pieces)))
		if !s.follows(n) || s.open[n] || s.open[n-1] || s.size[n-1] <= markUnits {
			head = n
		}
		if s.size[n] > markUnits {
			c.runs[head]++
		}
		said = s.pieces(n, c, said[:0])
	}
	c.first = append(c.first, int32(len(c.pieces)))
	return c, ctx.Err()
}

// pieces adds what is kept of a job to c, and counts what is not; said is room.
func (s *selection) pieces(n int, c *chosen, said []uint64) []uint64 {
	units := s.units[s.first[n]:s.first[n+1]]
	last, gap, section := -1, false, false
	part := slices.ContainsFunc(units, func(u unitUse) bool { return u.heads && u.kept })
	for i := range units {
		u := &units[i]
		if !u.kept { // an item below what is kept, or a heading with what stands below it
			gap = gap || u.begins && (s.units[u.lead].kept || s.units[u.lead].partly) || section && part && last >= 0
			section = u.heads
			continue
		}
		section = false
		if gap = gap && last >= 0; gap {
			c.pieces = append(c.pieces, piece{join: leftOut})
		}
		p := piece{start: u.start, end: u.end, join: ' ', rest: u.rest}
		switch {
		case last < 0:
			p.join = 0
		case slices.ContainsFunc(units[last+1:i+1], func(u unitUse) bool { return u.apart }):
			p.join = apart
		case units[last].line != u.line:
			p.join = '\n'
		case last == i-1:
			p.join = asItStood
		}
		if gap && (p.join == ' ' || !u.apart && u.begins) {
			p.join = '\n'
		}
		gap = false
		c.pieces = append(c.pieces, p)
		said = append(said, u.text)
		last = i
	}
	if gap {
		c.pieces = append(c.pieces, piece{join: leftOut})
	}
	if last >= 0 {
		s.addNames(n, c, gap)
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
		left += s.own(n) - s.mark(n)
	}
	// The room is no reason to lose all of a message that decides or asks something.
	s.opening = true
	left, err := s.fill(ctx, from, to, left)
	if s.opening = false; err != nil {
		return err
	}
	// Its share is a message's own: short ones are dense, and would take it all.
	for n := from; n < to; n++ {
		own := s.own(n)
		if s.open[n] {
			own -= int(s.listed[n])
		}
		for i := s.first[n]; i < s.first[n+1]; i++ {
			if s.units[i].kept {
				own -= int(s.units[i].cost)
			}
		}
		if own <= 0 {
			continue
		}
		rest, err := s.fill(ctx, n, n+1, own)
		if err != nil {
			return err
		}
		left -= own - rest
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
			u := &s.units[c.unit]
			s.told[u.job] = s.told[u.job] || !u.must
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
	if u.kept || u.idle || again || s.opening && !u.must && (!u.tells || s.told[u.job]) {
		return b
	}
	w, cost, mark := 0, 0, 0
	if !s.open[u.job] {
		mark = s.mark(int(u.job)) + 1 - int(s.listed[u.job])
	}
	for own := u.text; ; {
		// What says the same once more adds nothing.
		if cost == 0 || u.text != own {
			w += s.value(i)
		}
		cost += int(u.cost)
		end := u.lead < 0 || s.units[u.lead].kept
		if d := w << 10 / cost; d > b.density && (end || !u.bound) {
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
		if s.mentions[m].open {
			w += s.Name
		}
	}
	if u.aside {
		w /= 2 // code can be read again
	}
	return w + int(u.plain)
}

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
		if u.begins {
			s.units[u.lead].partly = true
		}
		s.said[u.text] = s.jobs[u.job].band + 1
		for _, m := range s.stated(i) {
			s.mentions[m].open = false
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
