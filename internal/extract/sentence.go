package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// UnitKind says what a unit of a text is.
type UnitKind uint8

const (
	Sentence UnitKind = iota
	Item              // of a list
	Row               // of a table
	CodeLine          // inside a fence, or written like code
	Lead              // introduces what follows: a heading, a table's header, "the steps are:"
)

// Unit is the smallest piece of a text that says something by itself: a
// sentence, a list item, a table row, a line of code. A sentence that limits the
// one before it ("But not on Windows.", "No.", 除非 …) is one unit with it.
type Unit struct {
	Start, End int // in the text
	Line       int // units of one line are joined by a blank
	Kind       UnitKind
	// Lead is the unit that introduces this one, or -1. Denied leads govern: "Do
	// not:" means something else without its list, and its list without it.
	Lead  int
	Cues  Cue
	Facts []Span // as offsets in the unit's text
}

// Bounds of splitting.
const (
	// A longer list item is split into its sentences.
	longItem = 240
	// A bracket that does not close within this many bytes is a stray one.
	maxBracket = 240
	// A line this long that ends without a full stop goes on in the next.
	wrapped = 60
	// Two sentences that belong together are not joined beyond this.
	maxJoined = 600
	// A longer one says something by itself.
	maxLabel = 40
)

// Units splits a text. Nothing of it is left out except blank lines, fences and
// rulers; offsets never fall inside a word. What it returns is of no use once nobody
// waits any more, which it asks now and then: a text may have megabytes.
func Units(text string, waits func() bool) []Unit {
	units := split(text, waits)
	var facts []Span
	for i := range units {
		if i%askEvery == 0 && !waits() {
			break
		}
		u := &units[i]
		from := len(facts)
		facts = scanFacts(facts, text[u.Start:u.End])
		u.Facts = slices.DeleteFunc(facts[from:], func(f Span) bool { return f.Kind == ErrorLine && f.grade != report && u.Kind != CodeLine })
		facts = facts[:from+len(u.Facts)]
		u.Facts = slices.Clip(u.Facts)
		if u.Reports() {
			u.Cues |= Trouble
		}
	}
	return units
}

// Reports tells whether a unit is an error as a program reports it.
func (u *Unit) Reports() bool {
	return slices.ContainsFunc(u.Facts, func(f Span) bool { return f.Kind == ErrorLine })
}

// askEvery is after how many lines or units it is asked whether somebody waits.
const askEvery = 1 << 10

// Split is Units without facts.
func Split(text string) []Unit { return split(text, func() bool { return true }) }

func split(text string, waits func() bool) []Unit {
	s := splitter{text: text, lead: -1, units: make([]Unit, 0, 2+len(text)/96)}
	for at := 0; at < len(text) && (s.lines%askEvery != 0 || waits()); {
		at = s.line(at)
	}
	var section Cue // Open below a heading that introduces options
	for i := range s.units {
		u := &s.units[i]
		if u.Kind != Lead || u.Cues&Decided != 0 {
			u.Cues &^= Open
		}
		switch t := text[u.Start:u.End]; {
		case t[0] == '#':
			section = u.Cues & Open
		case u.Kind == Item || strings.HasPrefix(t, "**"):
			u.Cues |= section
		}
		if u.Lead >= 0 {
			u.Cues |= s.units[u.Lead].Cues & Open
		}
	}
	return s.units
}

type splitter struct {
	text  string
	units []Unit
	lines int
	fence string
	lead  int // the unit that introduces what comes, or -1
	// The items around this one, outermost first.
	around []nest
	// What ended with a blank line: the paragraph, not yet the list.
	blank bool
}

// nest is an item that has items of its own, and what introduces it.
type nest struct{ indent, lead int }

// line reads the line at offset at, with those that continue it, and returns
// where the next one begins.
func (s *splitter) line(at int) int {
	a, b, next := s.span(at)
	s.lines++
	t := s.text[a:b]
	mark := fenceOf(t)
	switch {
	case mark != "" && (s.fence == "" || s.fence == mark):
		if s.fence == "" {
			s.fence = mark
		} else {
			s.fence, s.lead = "", -1
		}
		return next
	case t == "":
		s.blank = true
		return next
	case ruler(t):
		return next
	case s.fence != "":
		s.add(a, b, CodeLine)
		return next
	}
	defer func() { s.blank = false }()
	if listMark(t) == 0 {
		s.around = s.around[:0]
	}
	switch {
	case t[0] == '#' && strings.HasPrefix(strings.TrimLeft(t, "#"), " "):
		s.lead = -1
		s.lead = s.add(a, b, Lead)
	case t[0] == '|':
		s.row(a, b, next)
	case listMark(t) > 0:
		return s.item(at, a, b, next)
	default:
		return s.prose(a, b, next)
	}
	return next
}

// span is the line at an offset without the blanks around it, and where the next
// one begins.
func (s *splitter) span(at int) (a, b, next int) {
	end := len(s.text)
	next = end
	if i := strings.IndexByte(s.text[at:], '\n'); i >= 0 {
		end, next = at+i, at+i+1
	}
	a, b = trimmed(s.text, at, end)
	return a, b, next
}

func (s *splitter) add(a, b int, kind UnitKind) int {
	u := Unit{Start: a, End: b, Line: s.lines, Kind: kind, Lead: s.lead}
	if kind != CodeLine {
		u.Cues = cuesOf(s.text[a:b])
	}
	s.units = append(s.units, u)
	return len(s.units) - 1
}

// row adds a table's row. The first row of a table is its header.
func (s *splitter) row(a, b, next int) {
	if n := len(s.units); n == 0 || s.blank || s.units[n-1].Kind != Row && (s.units[n-1].Kind != Lead || s.text[s.units[n-1].Start] != '|') {
		if x, y, after := s.span(next); after > next && ruler(s.text[x:y]) {
			s.lead = s.add(a, b, Lead)
			return
		}
	}
	s.add(a, b, Row)
}

// item adds a list item with the lines that continue it.
func (s *splitter) item(at, a, b, next int) int {
	indent := a - at
	for next < len(s.text) {
		x, y, after := s.span(next)
		if x == y || x-next <= indent || listMark(s.text[x:y]) > 0 || fenceOf(s.text[x:y]) != "" || s.text[x] == '|' {
			break
		}
		b, next = y, after
	}
	for n := len(s.around); n > 0 && indent <= s.around[n-1].indent; n-- {
		s.lead, s.around = s.around[n-1].lead, s.around[:n-1]
	}
	outer := s.lead
	if b-a > longItem {
		s.sentences(a, b, Item)
	} else {
		s.add(a, b, Item)
	}
	introduced := s.introduces(a, b, next)
	if x, y, _ := s.span(next); x < y && x-next > indent && listMark(s.text[x:y]) > 0 {
		// What has items of its own is what they are about.
		last := len(s.units) - 1
		if !introduced && b-a <= maxLabel {
			s.units[last].Kind = Lead
		}
		s.lead, s.around = last, append(s.around, nest{indent, outer})
	}
	return next
}

// prose adds the sentences of a paragraph line with those that a writer wrapped,
// or a line that only programs write as a whole.
func (s *splitter) prose(a, b, next int) int {
	if output(s.text[a:b]) {
		s.add(a, b, CodeLine)
		return next
	}
	for next < len(s.text) && b-a >= wrapped && !ended(s.text[a:b]) {
		x, y, after := s.span(next)
		if x == y || listMark(s.text[x:y]) > 0 || s.text[x] == '|' || s.text[x] == '#' || s.text[x] == '>' || fenceOf(s.text[x:y]) != "" || output(s.text[x:y]) {
			break
		}
		b, next = y, after
	}
	if s.blank || s.lead >= 0 && s.units[s.lead].Kind == Lead && s.text[s.units[s.lead].Start] == '|' {
		s.lead = -1
	}
	if s.heads(a, b, next) {
		s.lead = -1
		s.lead = s.add(a, b, Lead)
		return next
	}
	s.sentences(a, b, Sentence)
	if s.introduces(a, b, next) {
		return next
	}
	// So does the line right above a list.
	if x, y, _ := s.span(next); x < y && b-a < wrapped*2 && listMark(s.text[x:y]) > 0 {
		s.lead = len(s.units) - 1
		return next
	}
	// A list's lead-in ends with the list; a heading goes on.
	if s.lead >= 0 && s.text[s.units[s.lead].Start] != '#' && !bold(s.text[s.units[s.lead].Start:s.units[s.lead].End]) {
		s.lead = -1
	}
	return next
}

// heads reports whether a line in bold is the heading of what stands below it.
func (s *splitter) heads(a, b, next int) bool {
	t := s.text[a:b]
	if !bold(t) || ended(t) {
		return false
	}
	x, y, _ := s.span(next)
	if x == y {
		x, y = s.following(next)
		return x < y && (listMark(s.text[x:y]) > 0 || fenceOf(s.text[x:y]) != "" || s.text[x] == '|')
	}
	return !bold(s.text[x:y])
}

// bold reports whether all of a line is emphasised: writers use it as a heading.
func bold(t string) bool {
	return len(t) > len("****") && strings.HasPrefix(t, "**") && strings.Index(t[2:], "**") == len(t)-4
}

// introduces makes a lead of the last unit when it ends with a colon: "The steps
// are:" says nothing without what follows, or where nothing does.
func (s *splitter) introduces(a, b, next int) bool {
	t := strings.TrimRight(s.text[a:b], "*_ ")
	if len(s.units) == 0 || !strings.HasSuffix(t, ":") && !strings.HasSuffix(t, "：") {
		return false
	}
	last := len(s.units) - 1
	s.units[last].Kind = Lead
	if x, y := s.following(next); x < y && (listMark(s.text[x:y]) > 0 || fenceOf(s.text[x:y]) != "" || s.text[x] == '|' || output(s.text[x:y])) {
		s.lead = last
	}
	return true
}

// following is the next line that is not blank.
func (s *splitter) following(at int) (a, b int) {
	for at < len(s.text) {
		a, b, at = s.span(at)
		if a < b {
			return a, b
		}
	}
	return 0, 0
}

// sentences adds the sentences of [a,b); one that limits the one before joins it.
func (s *splitter) sentences(a, b int, kind UnitKind) {
	first := len(s.units)
	for a < b {
		e := sentenceEnd(s.text, a, b)
		x, y := trimmed(s.text, a, e)
		for x < y && s.text[x] == '\n' {
			x, y = trimmed(s.text, x+1, y)
		}
		a = e
		if x == y {
			continue
		}
		n := len(s.units)
		if n == first || y-s.units[n-1].Start > maxJoined {
			s.add(x, y, kind)
			continue
		}
		u := s.add(x, y, kind)
		last := &s.units[n-1]
		before := s.text[last.Start:last.End]
		if label(before) || limits(s.text[x:y], s.units[u].Cues) && !interjection(before, last.Cues) {
			last.End, last.Cues = y, cuesOf(s.text[last.Start:y])
			s.units = s.units[:n]
		}
	}
}

// label reports whether a sentence is a heading that runs into its paragraph:
// "**The bug.**"
func label(t string) bool {
	return len(t) < maxLabel && strings.HasPrefix(t, "**") && strings.HasSuffix(t, "**") && len(t) > len("****")
}

// interjection reports whether a sentence is a word or two of talk that nothing
// can limit: "Great!", "Good point."
func interjection(t string, c Cue) bool {
	return len(t) < 24 && strings.Count(t, " ") < 3 && c&Narration != 0 && c&Denied == 0
}

// limits reports whether a sentence denies, excepts, answers or explains in
// brackets the one before.
func limits(t string, c Cue) bool {
	if c&Contrast != 0 || t[0] == '(' || strings.HasPrefix(t, "（") {
		return true
	}
	if c&Denied == 0 {
		return false
	}
	// "Use B instead." needs what it replaces.
	low := strings.ToLower(t)
	return strings.Contains(low, " instead") && !strings.Contains(low, "instead of")
}

// sentenceEnd returns where the sentence that begins at a ends: behind the full
// stop and what closes with it, never inside a word, inline code or a bracket.
func sentenceEnd(t string, a, b int) int {
	i := a + listMark(t[a:b])
	depth, opened := 0, 0
	for i < b {
		if c := t[i]; c == ' ' || class[c]&isAlnum != 0 {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(t[i:])
		switch r {
		case '`':
			if j := strings.IndexByte(t[i+1:b], '`'); j >= 0 {
				i += j + 2
				continue
			}
		case '"':
			// What is quoted is one piece, and may end the sentence.
			if j := strings.IndexByte(t[i+1:b], '"'); j > 0 && j <= maxBracket && (i == a || class[t[i-1]]&isAlnum == 0) {
				if e := closeSentence(t, i+j+1, b); strings.IndexByte(".!?", t[i+j]) >= 0 && depth == 0 && (e == b || blank(t[e]) && !goesOn(t[e:b])) {
					return e
				}
				i += j + 2
				continue
			}
		case '(', '（', '「', '『', '“', '【':
			if depth++; depth == 1 {
				opened = i
			}
		case ')', '）', '」', '』', '”', '】':
			depth = max(0, depth-1)
		case '。', '！', '？':
			if e := closeSentence(t, i+n, b); depth == 0 || i-opened > maxBracket {
				return e
			}
		case '.', '!', '?', '…':
			e := closeSentence(t, i+n, b)
			if e == b || blank(t[e]) && (depth == 0 || i-opened > maxBracket) && (r != '.' || !abbreviation(t[a:i+1])) && !trails(t[i:b]) {
				return e
			}
		}
		i += n
	}
	return b
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// trails reports whether the dots at the front of t leave something out in the
// middle of a sentence: "a, b, … and z", "Fix the … [more]".
func trails(t string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(t, "…"), "...")
	return len(rest) < len(t) && goesOn(rest)
}

// goesOn reports whether what follows is no sentence of its own.
func goesOn(t string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(t, " \n\t"))
	return unicode.IsLower(r) || r == '[' || r == '('
}

// closeSentence passes over what closes with a full stop, and over the sign of a verdict
// that ends the line behind it.
func closeSentence(t string, i, b int) int {
	for i < b {
		r, n := utf8.DecodeRuneInString(t[i:])
		if !strings.ContainsRune(".!?。！？\"'”」』)）*_`", r) {
			break
		}
		i += n
	}
	if rest := t[i:b]; strings.HasPrefix(rest, " ") {
		r, n := utf8.DecodeRuneInString(rest[1:])
		if e := 1 + n; strings.ContainsRune("✅❌✓✗✔✘", r) && (e == len(rest) || rest[e] == '\n') {
			return i + e
		}
	}
	return i
}

// ended reports whether a line ends like a sentence, a heading or a lead-in.
func ended(t string) bool {
	t = strings.TrimRight(t, "*_\"'”」』)）`")
	r, _ := utf8.DecodeLastRuneInString(t)
	return strings.ContainsRune(".!?:;。！？：；…", r)
}

// abbreviation reports whether the full stop at the end of t ends no sentence:
// e.g., i.e., vs., a single letter.
func abbreviation(t string) bool {
	t = t[:len(t)-1]
	w := strings.TrimLeft(strings.ToLower(t[strings.LastIndexAny(t, " (\n")+1:]), "*_")
	switch w {
	case "e.g", "i.e", "vs", "etc", "cf", "approx", "resp", "mr", "dr", "fig", "incl", "т.е", "т.к", "т.д", "напр", "см":
		return true
	}
	// "3. Title" behind a heading's mark, emphasis or a colon, not "instead of 11."
	if strings.Trim(w, "0123456789") == "" {
		before := strings.Trim(t, "#*_> 0123456789")
		return before == "" || strings.HasSuffix(before, ":")
	}
	return utf8.RuneCountInString(w) == 1 || strings.Trim(w, "#*_0123456789") == ""
}

// listMark is the length of the mark that begins a list item, 0 for none.
func listMark(t string) int {
	r, n := utf8.DecodeRuneInString(t)
	switch {
	case r == '-' || r == '*' || r == '+':
		if len(t) > 1 && t[1] == ' ' {
			return 2
		}
	case strings.ContainsRune("•◦▪‣·✅❌✓✗☐☑①②③④⑤⑥⑦⑧⑨", r):
		return n
	case r >= '0' && r <= '9':
		i := 1
		for i < len(t) && i < 3 && t[i] >= '0' && t[i] <= '9' {
			i++
		}
		if i+1 < len(t) && (t[i] == '.' || t[i] == ')') && t[i+1] == ' ' {
			return i + 2
		}
		if strings.HasPrefix(t[i:], "、") {
			return i + len("、")
		}
	}
	return 0
}

// ruler reports whether a line has no letter or digit: a rule, a table's
// separator, a bracket alone.
func ruler(t string) bool {
	return !strings.ContainsFunc(t, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// output reports whether a line is code, a diff, a trace or a log rather than
// prose: many signs for its length, or a form that only programs write.
func output(t string) bool {
	if len(t) >= 2 && (t[0] == '+' || t[0] == '-') && t[1] != ' ' && t[1] != '-' || strings.HasPrefix(t, "@@ ") || strings.HasPrefix(t, "at ") && strings.IndexByte(t, '(') > 0 {
		return true
	}
	// Trees, tables and frames are drawn.
	if r, _ := utf8.DecodeRuneInString(t); r >= 0x2500 && r <= 0x257F {
		return true
	}
	signs, letters := 0, 0
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case c == '`':
			// Inline code is quoted by prose.
			if j := strings.IndexByte(t[i+1:], '`'); j >= 0 {
				i += j + 1
				letters += 4
			}
		case class[c]&isAlnum != 0:
			letters++
		case class[c]&isSign != 0:
			signs++
		case c >= utf8.RuneSelf:
			letters++
		}
	}
	return signs*6 > letters && signs > 1
}
