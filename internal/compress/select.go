package compress

import (
	"container/heap"
	"context"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// What things are worth, in points. Only the ratios matter. They were tuned on
// some of the recorded sessions and measured on others (make eval).
var worth = struct {
	fact                    [8]int // by extract.Kind
	quantity, listed        int    // a number with a unit; one in a line of code
	quoted, place           int    // a path that is written as code, in percent; a line of a file
	word, version           int    // a name of one word; a number that is quoted
	talk, plea              int    // where little is kept, in percent: what an agent says besides facts, what a user says
	decision, verdict       int    // a sentence that is certain to be one; one that says so
	trouble                 int    // one that tells of a failure
	user, opening, goal     int    // the user's sentences, the first of a message, of all
	request, rule, question int    // what he asks for, what he rules, what he wants to know
	brief                   int    // what he says in a few words
	wordShare, wordMost     int
	later, code             int // percent of a fact that later messages name again, of one in a line of code
	floor, lead, least      int
	room                    int
	headline                int // what was done, before it is told how
	crux, sure              int // what a text leads up to, and how likely a unit has to be it, in percent
}{
	fact: [8]int{
		extract.Path: 48, extract.URL: 80, extract.Hash: 40, extract.Number: 8, extract.Identifier: 52,
		extract.Code: 46, extract.ErrorLine: 110,
	},
	quantity: 65, listed: 15,
	quoted: 200, place: 40, talk: 160, plea: 102,
	word: 10, version: 75,
	decision: 125, verdict: 50, trouble: 30,
	user: 45, opening: 50, goal: 100, request: 58, rule: 48, question: 50, brief: 90,
	wordShare: 13, wordMost: 18,
	later: 135, code: 80,
	floor: 20, lead: 11, least: 4, room: 6,
	headline: 60, crux: 40, sure: 30,
}

// signs are what speaks for and against a sentence being a decision, a rule or a
// cause, in tenths of log-odds: a logistic regression on sentences that were
// judged by reading. Decided and Rule were too rare there and are set by hand.
var signs = [...]struct {
	cue   extract.Cue
	tenth int
}{
	{extract.Decided, 15},
	{extract.Rule, 8},
	{extract.Reason, 12},
	{extract.Denied, 8},
	{extract.Duty, 7},
	{extract.Choice, 6},
	{extract.Argued, 6},
	{extract.Past, 6},
	{extract.Trouble, 5},
	{extract.Done, -4},
	{extract.Narration, -9},
	{extract.Question, -19},
}

// decides is how likely unit i of a text is a decision, in percent; n is its
// length.
func decides(units []extract.Unit, i, n int) int {
	u := units[i]
	z := -22
	for _, s := range signs {
		if u.Cues&s.cue != 0 {
			z += s.tenth
		}
	}
	switch u.Kind {
	case extract.Item:
		if u.Cues&extract.Decided == 0 {
			z -= 10
		}
	case extract.Row:
		z -= 3
	case extract.CodeLine:
		return 0
	}
	if slices.ContainsFunc(u.Facts, func(f extract.Span) bool { return f.Kind == extract.Path }) {
		z -= 6
	}
	// Longer texts end with what came out.
	if len(units) >= 4 {
		z += 3
		if i*3 >= len(units)*2 {
			z += 5
		}
		if u.Line == units[len(units)-1].Line {
			z += 5
		}
	}
	// Ten for each e-fold of length: 55 characters are neither long nor short.
	for at := 60; n > at && at < 400; at = at * 11 / 9 {
		z += 2
	}
	// A verdict is short.
	for at := 50; n < at && at > 10 && u.Cues&extract.Decided == 0; at = at * 9 / 11 {
		z -= 2
	}
	return logistic[min(max(z+40, 0), 80)/4]
}

// logistic is 100/(1+e^-z) for z from -4 to 4 in steps of 0.4. A table, so that
// every machine decides alike.
var logistic = [...]int{2, 3, 4, 6, 8, 12, 17, 23, 31, 40, 50, 60, 69, 77, 83, 88, 92, 94, 96, 97, 98}

// selection decides what is kept of the texts of a run. It holds no text: some
// fifty bytes for each unit and eight for each fact that it states.
type selection struct {
	jobs     []job
	percent  func(job) int
	known    map[uint64]int32 // fact → its number
	facts    []factUse
	mentions []int32 // facts of all jobs, one job after another, each once; ^fact when a kept unit of the job states it
	ids      []int32 // mentions of all units, one unit after another
	units    []unitUse
	said     map[uint64]int32 // text of a kept unit → its band + 1
	main     []int32          // by job: the unit that says what it is about, or -1
	open     []bool           // by job: something of it is kept
	begun    bool             // the user's first sentence was read: what all this is for
	first    []int32          // by job: its first unit; one more at the end
	size     []int32          // by job: UTF-16 units of its text
}

// factUse is one distinct fact of a run.
type factUse struct {
	worth   int32
	last    int32 // job that states it last
	mention int32 // of the last job
}

// unitUse is what is known of a unit without its text.
type unitUse struct {
	job, line   int32
	start, end  int32
	ids         int32 // in selection.ids, up to the next unit's
	cost        int32
	plain       int32  // worth besides its facts
	lead        int32  // in selection.units, or -1
	text        uint64 // hash
	kind        extract.UnitKind
	loss        loss
	governs     bool // a lead that its list cannot do without
	bare        bool // a name or two, which mean nothing without their lead
	back        bool // points at the unit before, which is its lead
	stands      bool // a lead that tells something by itself
	loud        bool // a line of code that reports an error
	idle        bool // says nothing by itself
	kept, ready bool
}

// loss is what a report counts a unit as when it is not kept.
type loss uint8

const (
	lostNothing loss = iota
	lostSentence
	lostRequest
	lostDecision
)

func newSelection(jobs []job, percent func(job) int) *selection {
	n := 0
	for _, j := range jobs {
		n += j.Tokens
	}
	return &selection{
		jobs: jobs, percent: percent, known: map[uint64]int32{}, said: map[uint64]int32{}, open: make([]bool, len(jobs)), main: slices.Repeat([]int32{-1}, len(jobs)),
		// A unit has some twenty tokens: growing on the way would hold everything twice.
		units: make([]unitUse, 0, n/17), first: make([]int32, 0, len(jobs)+1), size: make([]int32, 0, len(jobs)),
	}
}

// read takes the units of one text, in the order of the jobs.
func (s *selection) read(n int, text string, list []extract.Unit) {
	s.first = append(s.first, int32(len(s.units)))
	s.size = append(s.size, int32(message.Units(text)))
	base := int32(len(s.units))
	opening := true
	asker := s.jobs[n].Role == "user"
	headline := -1                 // what was done, in one of the first sentences
	crux, surest := -1, worth.sure // what the text leads up to: what was found, decided or is wrong
	for i, u := range list {
		t := text[u.Start:u.End]
		length, words := message.Units(t), contentWords(t)
		names := namesIn(u, t, words)
		use := unitUse{
			job: int32(n), line: int32(u.Line), start: int32(u.Start), end: int32(u.End),
			ids: int32(len(s.ids)), cost: int32(length) + 1, lead: -1, kind: u.Kind,
		}
		if u.Lead >= 0 {
			use.lead = base + int32(u.Lead)
		}
		if u.Cues&extract.Back != 0 && u.Kind == extract.Sentence && i > 0 && list[i-1].Kind == extract.Sentence && (list[i-1].Line == u.Line || pronoun(t)) && !s.units[len(s.units)-1].idle {
			// "This is why it fails." tells what only with the sentence before it.
			use.lead, use.back = base+int32(i)-1, true
		}
		use.governs = u.Kind == extract.Lead && governs(u, t, length, words, asker)
		for _, f := range u.Facts {
			s.fact(n, f.Kind, t[f.Start:f.End], worthOf(f, u, t))
			if end := lineNumber(f, t); end > f.End && worth.place > 0 {
				s.fact(n, extract.URL, t[f.Start:end], worth.place)
			}
		}
		for a, b := range quotes(t, u.Facts) {
			s.fact(n, extract.Code, t[a:b], worth.fact[extract.Code])
		}
		own := s.ids[use.ids:]
		slices.Sort(own)
		s.ids = s.ids[:int(use.ids)+len(slices.Compact(own))]
		// What a user quotes is not what he says.
		user := asker && !strings.HasPrefix(t, ">")
		likely := decides(list, i, length+wide(t))
		if likely >= surest && u.Kind != extract.Lead {
			crux, surest = len(s.units), likely
		}
		if headline < 0 && i < headlines && tellsDone(u, words, names) {
			headline = len(s.units)
		}
		use.plain = int32(plainWorth(u, t, words, likely, user, opening && user, len(list) <= brief))
		if user && opening && !s.begun {
			use.plain += int32(worth.goal)
			s.begun = true
		}
		if u.Kind == extract.Lead {
			// "Replaced all casts with `Must()`:" tells what was done even where it
			// introduces nothing.
			use.stands = !asker && i < headlines && tellsDone(u, words, names) && !slices.ContainsFunc(list[i+1:], func(x extract.Unit) bool { return x.Lead == i })
			use.plain = int32(worth.lead)
		}
		// An item of a list, or the answer below the heading of a form.
		use.bare = u.Kind == extract.Item && words < 3 && names < 2 || u.Kind == extract.Sentence && words < 2 && names == 0 && u.Cues&extract.Decided == 0
		use.idle = idle(u, t, words, names, user) || use.bare && u.Lead < 0
		use.loud = slices.ContainsFunc(u.Facts, func(f extract.Span) bool { return f.Kind == extract.ErrorLine })
		use.text = hashOf(0, t)
		use.loss = lossOf(u, asker)
		if u.Kind != extract.CodeLine && u.Kind != extract.Lead {
			opening = false
		}
		s.units = append(s.units, use)
	}
	if headline >= 0 && len(list) > 2 && !asker {
		h := &s.units[headline]
		h.plain += int32(worth.headline)
		if h.kind == extract.Sentence {
			s.main[n] = int32(headline)
		}
	}
	// Where names alone are counted, a list of them outlives the sentence that says why.
	if crux >= 0 && len(list) > 1 && !asker {
		s.units[crux].plain += int32(worth.crux)
		if surest >= certain {
			s.main[n] = int32(crux)
		}
	}
}

// governs reports whether what a lead introduces means something else without it:
// numbers without their table's header, reasons without what they speak for ("I
// would take the first, because:"), names without the "Removed:" above them.
func governs(u extract.Unit, t string, length, words int, asker bool) bool {
	switch {
	case u.Cues&extract.Denied != 0 || t[0] == '|':
		return true
	case length <= shortLabel:
		return u.Cues&(extract.Done|extract.Choice|extract.Trouble) != 0
	}
	return !asker && words > 1 && u.Cues&(extract.Reason|extract.Decided) != 0
}

// shortLabel is how long a lead may be that says in a word what became of the
// things below it.
const shortLabel = 18

// pronoun reports whether a sentence begins with a word that stands for a thing
// named before, be it in another paragraph: "It is only used here."
func pronoun(t string) bool {
	for _, w := range [...]string{"It ", "It's ", "It’s ", "They ", "They're ", "它", "それ", "그것", "Он ", "Она ", "Оно ", "Они "} {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	return false
}

// brief is how many units a message has that somebody wrote rather than pasted.
const brief = 4

// tellsDone reports whether a unit says what was done.
func tellsDone(u extract.Unit, words, names int) bool {
	switch u.Kind {
	case extract.Sentence:
		return u.Cues&extract.Done != 0 && (names > 0 || words >= worth.least)
	case extract.Lead:
		return u.Cues&(extract.Done|extract.Choice) != 0 && u.Cues&(extract.Narration|extract.Intent) == 0 && names > 0 // "Replaced all casts with `Must()`:"
	}
	return false
}

// certain is how likely a unit has to be what its message leads up to, in
// percent, for nothing to be kept without it.
const certain = 60

// headlines is how many units a report may begin with before it tells details.
const headlines = 4

// substance are the cues of a sentence that says more than what comes next.
const substance = extract.Decided | extract.Rule | extract.Duty | extract.Choice | extract.Reason | extract.Denied | extract.Question

// namesIn counts the facts of a unit that tell what it is about.
func namesIn(u extract.Unit, t string, words int) (n int) {
	end := 0
	for _, f := range u.Facts {
		if f.Start < end {
			continue // a part of the one before
		}
		end = f.End
		switch f.Kind {
		case extract.Number:
		case extract.Hash:
			// It needs a word about it.
			if words > 0 {
				n++
			}
		case extract.Identifier:
			// JSON and CLI are words.
			if u.Kind == extract.CodeLine || worthOf(f, u, t) > worth.word {
				n++
			}
		default:
			n++
		}
	}
	return n
}

// idle reports whether a unit says nothing by itself: filler, a bare number, a
// row or a line of code without a name.
func idle(u extract.Unit, t string, words, names int, user bool) bool {
	facts := len(u.Facts)
	switch {
	case u.Kind == extract.CodeLine:
		return words < 2 && names < 2 || breaksOff(t) || strings.HasPrefix(t, "::") // what Codex tells its window
	case u.Kind == extract.Row:
		return names == 0 && words < 6
	case names == 0 && words < 2:
		return u.Cues&(extract.Rule|extract.Decided) == 0 || words == 0 // "**APPROVED**"
	case u.Cues&extract.Intent != 0 && names == 0 && !user:
		// "Let me make sure that nothing is broken." denies nothing.
		return u.Cues&(substance&^extract.Denied) == 0
	case u.Cues&extract.Narration != 0 && names == 0:
		return u.Cues&substance == 0
	case u.Cues&(extract.Decided|extract.Rule) != 0:
		return false // "Never push to main."
	}
	if user {
		return facts == 0 && words < worth.least
	}
	return facts == 0 && words <= worth.least // "This confirms the root cause."
}

// breaksOff reports whether a line of code is half of a statement.
func breaksOff(t string) bool {
	for _, end := range [...]string{"&&", "||", "(", "=", "+", "\\"} {
		if strings.HasSuffix(t, end) {
			return true
		}
	}
	// "It fails because:", not "class Store:".
	return strings.HasSuffix(t, ":") && contentWords(t) > 3
}

// worthOf is what a fact of a unit is worth. A writer who quotes a path or a
// version as code means exactly that one.
func worthOf(f extract.Span, u extract.Unit, t string) int {
	w := worth.fact[f.Kind]
	quoted := f.Start > 0 && t[f.Start-1] == '`'
	switch f.Kind {
	case extract.Number:
		switch {
		case quoted:
			return worth.version
		case u.Kind == extract.CodeLine:
			if measured(t[f.End:]) {
				return worth.listed
			}
			return 0
		case measured(t[f.End:]):
			return worth.quantity
		case f.End-f.Start == 1:
			return 0
		}
	case extract.Identifier:
		if !quoted && !hump(t[f.Start:f.End]) {
			return worth.word
		}
	case extract.Path, extract.Hash:
		if quoted {
			return w * worth.quoted / 100
		}
	}
	return w
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

// quotes tells what a text quotes as code that is no fact by itself: `src/`,
// `*bool`.
func quotes(t string, facts []extract.Span) iter.Seq2[int, int] {
	return func(yield func(a, b int) bool) {
		for at := 0; ; {
			i := strings.IndexByte(t[at:], '`')
			if i < 0 {
				return
			}
			a := at + i + 1
			n := strings.IndexByte(t[a:], '`')
			if n < 0 {
				return
			}
			at = a + n + 1
			inside := func(f extract.Span) bool { return f.Start >= a-1 && f.End <= at && f.Kind != extract.ErrorLine }
			if n >= shortQuote && n <= longQuote && !slices.ContainsFunc(facts, inside) && !yield(a, a+n) {
				return
			}
		}
	}
}

// Lengths of a quotation that is a name: a shorter one is a sign, a longer one
// lost its other tick.
const shortQuote, longQuote = 3, 80

// lineNumber is where the number of a line behind a path ends.
func lineNumber(f extract.Span, t string) int {
	if f.Kind != extract.Path || !strings.HasPrefix(t[f.End:], ":") {
		return f.End
	}
	end := f.End + 1
	for end < len(t) && t[end] >= '0' && t[end] <= '9' {
		end++
	}
	if end == f.End+1 {
		return f.End
	}
	return end
}

// fact notes that a job states a fact. It is worth what it is where it is worth
// most.
func (s *selection) fact(n int, k extract.Kind, t string, w int) {
	h := hashOf(k, t)
	if k == extract.Number && w == worth.quantity {
		h++ // 5 seconds are not section 5
	}
	id, ok := s.known[h]
	if !ok {
		id = int32(len(s.facts))
		s.known[h] = id
		s.facts = append(s.facts, factUse{last: -1})
	}
	f := &s.facts[id]
	if f.last != int32(n) {
		f.last, f.mention = int32(n), int32(len(s.mentions))
		s.mentions = append(s.mentions, id)
	}
	f.worth = max(f.worth, int32(w))
	s.ids = append(s.ids, f.mention)
}

// lossOf says what is lost with a unit, as extract.Missing counts it.
func lossOf(u extract.Unit, user bool) loss {
	switch {
	case u.Kind == extract.CodeLine || u.Kind == extract.Lead:
		return lostNothing
	case user && u.Cues&(extract.Asked|extract.Question|extract.Rule) != 0:
		return lostRequest
	case u.Cues&(extract.Decided|extract.Rule) != 0:
		return lostDecision
	}
	return lostSentence
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

// plainWorth is what a unit is worth besides its facts; likely is how likely it is
// a decision.
func plainWorth(u extract.Unit, t string, words, likely int, user, opening, short bool) int {
	w := min(words*worth.wordShare/2, worth.wordMost)
	if u.Kind == extract.CodeLine {
		return w / 2
	}
	if !user {
		if u.Cues&extract.Trouble != 0 {
			w += worth.trouble
		}
		if u.Cues&extract.Decided != 0 {
			w += worth.verdict
		}
		return w + worth.decision*likely/100
	}
	wish := 0
	switch {
	case u.Cues&extract.Asked != 0 || commands(t):
		wish = worth.request
	case u.Cues&(extract.Rule|extract.Duty|extract.Decided|extract.Denied) != 0:
		wish = worth.rule
	}
	if u.Cues&extract.Question != 0 {
		wish += worth.question
	}
	if opening {
		wish += worth.opening
	}
	if short && wish > 0 {
		wish += worth.brief
	}
	return w + worth.user + wish
}

// commands reports whether a sentence begins without a subject, as English
// requests do: "Accept both names." Languages that say please or bend the verb have
// cues of their own.
func commands(t string) bool {
	t = strings.TrimLeft(t, "-*>#•0123456789.) ")
	i := strings.IndexByte(t, ' ')
	if i < 2 {
		return false
	}
	word := strings.ToLower(t[:i])
	for _, r := range word {
		if r < 'a' || r > 'z' {
			return false
		}
	}
	switch word {
	case "the", "an", "it", "its", "we", "you", "he", "she", "they", "this", "that", "these", "those", "there", "here", "my", "our", "your", "his", "her", "their",
		"in", "on", "at", "by", "for", "from", "to", "with", "of", "as", "and", "or", "but", "so", "because", "since", "after", "before", "while", "once", "until", "both", "each", "all", "some", "many", "most",
		"no", "not", "yes", "ok", "okay", "thanks", "hmm", "well", "maybe", "perhaps", "also", "just", "now", "then", "still", "only", "even", "currently", "however", "actually", "basically",
		"what", "which", "who", "whose", "where", "why", "how", "was", "were", "has", "have", "had", "another", "other", "one", "two", "three", "regarding", "about", "nothing", "everything", "something":
		return false
	}
	return true
}

// measured reports whether a number at the front of t is counted in something:
// 12ms, 40 %, 200 commits, 3 個.
func measured(t string) bool {
	t = strings.TrimPrefix(t, " ")
	n := 0
	for i, r := range t {
		switch {
		case r == '%' || r == '×':
			return i == 0
		case r >= 0x2E80 && unicode.IsLetter(r):
			return i == 0
		case !unicode.IsLetter(r):
			return n >= 4 || n > 0 && unit(t[:i])
		}
		n++
	}
	return n >= 4 || unit(t)
}

func unit(w string) bool {
	switch w {
	case "ms", "s", "min", "h", "KB", "MB", "GB", "kB", "x", "px", "sec", "m", "k", "M", "d":
		return true
	}
	return false
}

// wide is how much longer a text would be in letters: a character of a script
// without blanks says what two or three of them do.
func wide(t string) (n int) {
	for _, r := range t {
		if r >= 0x2E80 {
			n++
		}
	}
	return n * 3 / 2
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

// choose spends each band's budget and tells what is kept of each job.
func (s *selection) choose(ctx context.Context) (*chosen, error) {
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
		if err := s.spend(ctx, bands[b]); err != nil {
			return nil, err
		}
	}
	kept := 0
	for i := range s.units {
		if s.units[i].kept {
			kept++
		}
	}
	c := &chosen{pieces: make([]piece, 0, kept), first: make([]int32, 0, len(s.jobs)+1), gone: make([]extract.Losses, len(s.jobs))}
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
		if u.kept || u.loss == lostNothing {
			continue
		}
		if _, again := slices.BinarySearch(said, u.text); again {
			continue
		}
		g := &c.gone[n]
		g.Sentences++
		switch u.loss {
		case lostRequest:
			g.Requests++
		case lostDecision:
			g.Decisions++
		}
	}
	return said
}

// spend keeps units of one band's jobs, best worth per character first, until
// the budget is used up.
func (s *selection) spend(ctx context.Context, jobs []int) error {
	left := 0
	q := &queue{}
	for i, n := range jobs {
		if i%spendSteps == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		// Every message costs at least its mark; the first unit that is kept of it
		// takes the mark's place.
		left += int(s.size[n])*s.percent(s.jobs[n])/100 - markUnits
		// A line of code alone tells little: it waits until something is said.
		spoken := false
		for i := s.first[n]; i < s.first[n+1]; i++ {
			if u := &s.units[i]; u.kind != extract.Lead && u.kind != extract.CodeLine && !u.idle {
				spoken = true
			}
		}
		for i := s.first[n]; i < s.first[n+1]; i++ {
			if u := &s.units[i]; (u.kind != extract.Lead || u.stands) && (u.kind != extract.CodeLine || u.loud || !spoken || s.named(u)) {
				s.push(q, i)
			}
		}
	}
	heap.Init(q)
	for step := 0; q.Len() > 0; step++ {
		if step%spendSteps == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
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
		opener := s.opener(c.unit)
		if opener >= 0 && cost+int(s.units[opener].cost) <= left {
			cost += int(s.units[opener].cost)
		} else {
			opener = -1 // space that is left over helps nobody
		}
		_, joined := s.joint(c.unit, s.value(c.unit), cost)
		if joined && cost+int(s.units[u.lead].cost) <= left {
			left -= int(s.units[u.lead].cost)
		} else if joined = false; cost > left {
			continue
		}
		left -= cost
		fresh := !s.open[u.job]
		s.keep(c.unit)
		if opener >= 0 {
			s.keep(opener)
		}
		if joined {
			s.keep(u.lead)
		}
		for i := s.first[u.job]; fresh && i < s.first[u.job+1]; i++ {
			if s.units[i].kind != extract.CodeLine {
				continue
			}
			if d := s.density(i); d > 0 && !s.units[i].kept {
				heap.Push(q, candidate{i, d})
			}
		}
		if u.lead >= 0 && !s.units[u.lead].kept && !s.units[u.lead].ready {
			// What introduces a kept unit may follow it.
			s.units[u.lead].ready = true
			if d := s.density(u.lead); d > 0 {
				heap.Push(q, candidate{u.lead, d})
			}
		}
	}
	return nil
}

// spendSteps is after how many it is looked whether somebody still waits: all of a
// gigabyte are a million.
const spendSteps = 1 << 10

func (s *selection) push(q *queue, i int32) {
	if d := s.density(i); d > 0 {
		q.list = append(q.list, candidate{i, d})
	}
}

// cost is what keeping a unit adds, with the lead that governs it. The first of a
// message takes its mark's place.
func (s *selection) cost(i int32) int {
	u := &s.units[i]
	cost := int(u.cost)
	if !s.open[u.job] {
		cost -= markUnits + 1
	}
	for s.needsLead(u) {
		u = &s.units[u.lead]
		cost += int(u.cost)
	}
	return cost
}

// density is what a unit is worth per character, alone or with what introduces
// it; 0 when it is not worth keeping at all.
func (s *selection) density(i int32) int {
	u := &s.units[i]
	if u.kind != extract.Lead && (u.idle || s.said[u.text] == s.jobs[u.job].band+1) {
		return 0
	}
	w := s.value(i)
	if w < worth.floor && u.kind != extract.Lead {
		return 0
	}
	if u.back && s.needsLead(u) {
		w += s.besides(u.lead, i)
	}
	d, _ := s.joint(i, w, s.cost(i))
	if m := s.opener(i); m >= 0 {
		d = min(d, (w+s.besides(m, i))<<10/(s.cost(i)+int(s.units[m].cost)+worth.room))
	}
	return d
}

// opener is the unit that has to be kept with unit i where it would be the first
// of its message: where little is kept, what a message is about comes before its
// details. -1 for none.
func (s *selection) opener(i int32) int32 {
	u := &s.units[i]
	if m := s.main[u.job]; m >= 0 && m != i && !s.open[u.job] && s.scarce(u) {
		return m
	}
	return -1
}

// scarce reports whether so little of a unit's band is kept that names take the
// place of sentences.
func (s *selection) scarce(u *unitUse) bool { return s.percent(s.jobs[u.job]) < 20 }

// value is what a unit is worth, given what is kept already.
func (s *selection) value(i int32) int {
	u := &s.units[i]
	w := s.plain(u)
	for _, m := range s.stated(i) {
		w += s.factValue(u, m)
	}
	return w
}

// plain is what a unit is worth besides its facts.
func (s *selection) plain(u *unitUse) int {
	switch {
	case s.scarce(u) && s.jobs[u.job].Role == "user":
		return int(u.plain) * worth.plea / 100
	case s.scarce(u):
		return int(u.plain) * worth.talk / 100
	}
	return int(u.plain)
}

// stated are the mentions of a unit.
func (s *selection) stated(i int32) []int32 {
	end := int32(len(s.ids))
	if int(i)+1 < len(s.units) {
		end = s.units[i+1].ids
	}
	return s.ids[s.units[i].ids:end]
}

func (s *selection) factValue(u *unitUse, mention int32) int {
	id := s.mentions[mention]
	if id < 0 {
		return 0 // told already
	}
	f := &s.facts[id]
	v := int(f.worth)
	if f.last > u.job {
		v = v * worth.later / 100
	}
	if u.kind == extract.CodeLine && !u.loud {
		v = v * worth.code / 100
	}
	return v
}

// joint is the density of a unit of this worth and cost, and whether it is
// higher with its lead: "In `+"`data.go`"+` there is a limit:" brings the line below it
// along.
func (s *selection) joint(i int32, w, cost int) (density int, joined bool) {
	u := &s.units[i]
	density = w << 10 / (max(cost, 1) + worth.room)
	if u.lead < 0 || s.units[u.lead].kept || s.needsLead(u) {
		return density, false
	}
	l := &s.units[u.lead]
	if s.needsLead(l) {
		return density, false // it would bring a third along
	}
	w += s.besides(u.lead, i)
	if with := w << 10 / (max(cost+int(l.cost), 1) + worth.room); with > density {
		return with, true
	}
	return density, false
}

// besides is what unit i is worth where unit j is kept.
func (s *selection) besides(i, j int32) int {
	u := &s.units[i]
	w := s.plain(u)
	own := s.stated(j)
	for _, m := range s.stated(i) {
		if _, both := slices.BinarySearch(own, m); !both {
			w += s.factValue(u, m)
		}
	}
	return w
}

// named reports whether a unit's lead states facts.
func (s *selection) named(u *unitUse) bool {
	return u.lead >= 0 && len(s.stated(u.lead)) > 0
}

// keep marks a unit and the lead that governs it as kept.
func (s *selection) keep(i int32) {
	u := &s.units[i]
	u.kept, s.open[u.job] = true, true
	s.said[u.text] = s.jobs[u.job].band + 1
	for _, m := range s.stated(i) {
		if id := s.mentions[m]; id >= 0 {
			s.mentions[m] = ^id
		}
	}
	if s.needsLead(u) {
		s.keep(u.lead)
	}
}

// needsLead reports whether a unit's lead has to be kept with it, and is not yet.
func (s *selection) needsLead(u *unitUse) bool {
	return u.lead >= 0 && (u.bare || u.back || s.units[u.lead].governs) && !s.units[u.lead].kept
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
