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

// BlockKind says what a block of a text is.
type BlockKind uint8

const (
	ParagraphBlock BlockKind = iota
	HeadingBlock
	FenceBlock
)

// Block is a leaf of the tree that a text is in Markdown, with its marks.
type Block struct {
	Kind       BlockKind
	Start, End int
	Level      int  // of a heading
	Depth      int  // how many items it stands in
	Item, List bool // it begins an item, and a list with it
	Quoted     bool
	Code       int // where what stands in a fence begins
	Lines      int // of a fence
}

// Unit is the smallest piece of a text that says something by itself: a
// sentence, a list item, a table row, a fence. A sentence that limits the
// one before it ("But not on Windows.", "No.", 除非 …) is one unit with it.
type Unit struct {
	Start, End int // in the text
	Line       int // units of one line are joined by a blank
	Block      int // units of one block belong to one paragraph
	Kind       UnitKind
	// Lead is the unit that introduces this one, or -1, and Bound that this one says
	// nothing without it: an item without its list's lead-in, a row without its header.
	Lead  int
	Bound bool
	// Begins is true for what begins an item or a row below its lead.
	Begins bool
	// Apart is true where a blank line stands before the unit, Quoted for a quotation.
	Apart, Quoted bool
	// Rest is how many lines of a fence are not in the unit, which is its first.
	Rest  int
	Cues  Cue
	Facts []Span // as offsets in the unit's text
}

// Bounds of splitting.
const (
	// A longer list item is split into its sentences.
	longItem = 240
	// A fence with more lines is its first one.
	longFence = 3
	// A bracket that does not close within this many bytes is a stray one.
	maxBracket = 240
	// A line this long that ends without a full stop goes on in the next.
	wrapped = 60
	// Two sentences that belong together are not joined beyond this.
	maxJoined = 600
	// A longer one says something by itself.
	maxLabel = 40
)

// Units splits a text of which the blocks are known. Nothing of it is left out except
// blank lines, rulers and what a fence holds behind its first line; offsets never fall inside a word. What it
// returns is of no use once nobody waits any more, which it asks now and then: a text
// may have megabytes.
func Units(text string, blocks []Block, waits func() bool) []Unit {
	units := split(text, blocks, waits)
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

// flat is a text as one block: its lines and sentences, without their shape.
func flat(text string) []Unit {
	return split(text, []Block{{End: len(text)}}, func() bool { return true })
}

func split(text string, blocks []Block, waits func() bool) []Unit {
	s := splitter{text: text, head: -1, colon: -1, intro: -1, waits: waits, units: make([]Unit, 0, 2+len(text)/96)}
	for n := range blocks {
		s.block(blocks, n)
	}
	if s.colon >= 0 { // nothing follows
		s.units[s.colon].Kind = Sentence
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
		if u.Lead >= 0 && (u.Bound || u.Kind == Item) {
			u.Cues |= s.units[u.Lead].Cues & Open
		}
	}
	return s.units
}

type splitter struct {
	text  string
	units []Unit
	waits func() bool
	lines int
	now   Block
	at    int      // number of the block
	apart bool     // the next unit has a blank line before it
	head  int      // the heading above, or -1
	colon int      // a unit that introduces what comes next, or -1
	intro int      // the last such unit
	items []opened // around the block, outermost first
}

// opened is an item that is read: its first unit, and what introduces its list.
type opened struct {
	first, lead int
	bound       bool
}

func (s *splitter) block(blocks []Block, n int) {
	b := blocks[n]
	a, e := trimmed(s.text, b.Start, b.End)
	if s.now, s.at = b, n; a == e || ruler(s.text[a:e]) {
		return
	}
	s.apart = n > 0 && strings.Count(s.text[blocks[n-1].End:a], "\n") > 1
	above := len(s.units) - 1 // what stands right above it
	switch {
	case b.List && n > 0:
		s.enter(blocks[n-1], above)
	case b.Item && len(s.items) >= b.Depth:
		s.items = s.items[:b.Depth]
	case b.Item:
		s.enter(Block{}, -1)
	default:
		s.items = s.items[:min(len(s.items), b.Depth)]
	}
	switch {
	case b.Kind == HeadingBlock:
		s.end()
		s.head = s.add(a, e, Lead)
		s.units[s.head].Lead, s.units[s.head].Bound = -1, false
		return
	case b.Kind == FenceBlock:
		s.fence(b)
	case b.Item && e-a <= longItem && !strings.Contains(s.text[a:e], "\n|"):
		s.lines++
		s.add(a, e, Item)
		s.introduces(a, e)
	case s.heads(blocks, n, a, e):
		s.end()
		s.head = s.add(a, e, Lead)
		s.units[s.head].Lead, s.units[s.head].Bound = -1, false
		return
	default:
		s.paragraph(a, e)
	}
}

// end notes that nothing follows what ended in a colon.
func (s *splitter) end() {
	if s.colon >= 0 {
		s.units[s.colon].Kind = Sentence
	}
	s.colon = -1
}

// enter begins a list below the block before it, whose last unit is above.
func (s *splitter) enter(before Block, above int) {
	depth := min(s.now.Depth-1, len(s.items))
	s.items = s.items[:depth]
	o := opened{first: -1, lead: s.head}
	switch {
	case above < 0 || before.Kind == FenceBlock:
	case depth > 0: // what has items of its own is what they are about
		if o.lead, o.bound = above, true; before.Depth != depth {
			o.lead = s.items[depth-1].first
		}
		if u := &s.units[above]; before.Item && u.Kind == Item && (u.End-u.Start <= maxLabel || bold(s.text[u.Start+listMark(s.text[u.Start:u.End]):u.End])) {
			u.Kind = Lead
		}
	case before.Depth == 0:
		o.lead = above
		t := s.text[s.units[above].Start:s.units[above].End]
		o.bound = above == s.head || above == s.colon || bold(t) || s.units[above].Cues&Question != 0 || !s.apart && len(t) < 2*wrapped
	}
	s.items = append(s.items, o)
}

// lead is what introduces the next unit of the block.
func (s *splitter) lead() (lead int, bound bool) {
	n := len(s.items)
	switch {
	case s.colon >= 0:
		return s.colon, true
	case s.intro >= 0 && s.units[s.intro].Block == s.at: // the lines below it
		return s.intro, true
	case n > 0 && (s.now.Item && s.items[n-1].first < 0 || s.now.Item && s.units[s.items[n-1].first].Block != s.at):
		return s.items[n-1].lead, s.items[n-1].bound
	case n > 0:
		return s.items[n-1].first, true
	case s.now.Quoted && len(s.units) > 0 && s.units[len(s.units)-1].Block == s.at-1:
		return len(s.units) - 1, true
	}
	return s.head, false
}

func (s *splitter) add(a, b int, kind UnitKind) int {
	u := Unit{Start: a, End: b, Line: s.lines, Block: s.at, Kind: kind, Apart: s.apart, Quoted: s.now.Quoted}
	u.Lead, u.Bound = s.lead()
	if n := len(s.units); n > 0 && s.units[n-1].Kind == CodeLine && s.units[n-1].Block != s.at && goesOn(s.text[a:b]) {
		u.Lead, u.Bound = n-1, true // "… and send it to stderr", behind what was shown
	}
	s.apart, s.colon = false, -1
	if kind != CodeLine {
		u.Cues = cuesOf(s.text[a:b])
	}
	s.units = append(s.units, u)
	at := len(s.units) - 1
	if n := len(s.items); n > 0 && s.now.Item && (s.items[n-1].first < 0 || s.units[s.items[n-1].first].Block != s.at) {
		s.items[n-1].first, s.units[at].Begins = at, u.Lead >= 0
	}
	return at
}

// fence adds a fence: all of a short one, of others the first line that says something.
func (s *splitter) fence(b Block) {
	s.lines++
	a, _ := trimmed(s.text, b.Start, b.End)
	left := b.Lines
	for at := b.Code; at < b.End; {
		x, y, next := s.span(at)
		left--
		if at = next; x == y || ruler(s.text[x:y]) {
			continue
		}
		if b.Lines <= longFence {
			_, y = trimmed(s.text, a, b.End)
			if x, z, _ := s.span(b.End); fenceOf(s.text[x:z]) != "" {
				y = z
			}
			left = 0
		}
		u := s.add(a, y, CodeLine)
		s.units[u].Rest = max(left, 0)
		return
	}
}

// paragraph adds the lines of a block, and those that a writer wrapped as one.
func (s *splitter) paragraph(a, e int) {
	header, intro, fence, first := -1, -1, "", len(s.units) // a table's header, what stands above items
	for at := a; at < e && (s.lines%askEvery != 0 || s.waits()); {
		x, y, next := s.span(at)
		y = min(y, e)
		s.lines++
		t := s.text[x:y]
		mark := fenceOf(t)
		switch at = next; {
		case mark != "" && (fence == "" || fence == mark): // of plain lines
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
		case x >= y || ruler(t):
			if x >= y {
				header, s.apart = -1, true
			}
		case fence != "" || t[0] != '|' && output(t):
			s.add(x, y, CodeLine)
		case t[0] == '|':
			below, end, _ := s.span(next)
			if header < 0 && end > below && ruler(s.text[below:end]) {
				header = s.add(x, end, Lead)
			} else if u := s.add(x, y, Row); header >= 0 {
				s.units[u].Lead, s.units[u].Bound, s.units[u].Begins = header, true, true
			}
		case listMark(t) > 0 && !s.now.Item: // ✅, •, 1、
			if above := len(s.units) - 1; intro < 0 && above >= first && s.units[above].Kind != Item {
				intro = above
			}
			if u := s.add(x, y, Item); intro >= 0 {
				s.units[u].Lead, s.units[u].Bound, s.units[u].Begins = intro, true, true
			}
			continue
		default:
			for at < e && y-x >= wrapped && !ended(s.text[x:y]) {
				p, q, after := s.span(at)
				if p == q || listMark(s.text[p:q]) > 0 || s.text[p] == '|' || s.text[p] == '>' || output(s.text[p:q]) {
					break
				}
				y, at = min(q, e), after
			}
			kind := Sentence
			if s.now.Item {
				kind = Item
			}
			if p, q, _ := s.span(at); bold(t) && !ended(t) && at < e && p < q && !bold(s.text[p:q]) && kind == Sentence {
				s.head = s.add(x, y, Lead)
				break
			}
			s.sentences(x, y, kind)
			s.introduces(x, y)
		}
		intro = -1
	}
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

// heads reports whether a paragraph in bold is the heading of what stands below it.
func (s *splitter) heads(blocks []Block, n, a, b int) bool {
	t := s.text[a:b]
	if !bold(t) || ended(t) || len(blocks) == n+1 || blocks[n].Depth > 0 {
		return false
	}
	next := blocks[n+1]
	x, y := trimmed(s.text, next.Start, next.End)
	return next.Kind != HeadingBlock && !bold(s.text[x:y])
}

// bold reports whether all of a line is emphasised: writers use it as a heading.
func bold(t string) bool {
	return len(t) > len("****") && strings.HasPrefix(t, "**") && strings.Index(t[2:], "**") == len(t)-4
}

// introduces makes a lead of the last unit when it ends with a colon: "The steps
// are:" says nothing without what follows.
func (s *splitter) introduces(a, b int) {
	t := strings.TrimRight(s.text[a:b], "*_ ")
	if last := len(s.units) - 1; last >= 0 && (strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：")) {
		s.units[last].Kind, s.colon, s.intro = Lead, last, last
	}
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
	case r == '[' && len(t) > 3 && t[2:4] == "] ": // [A] of a menu
		return 4
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
	if directive(t) || len(t) >= 2 && (t[0] == '+' || t[0] == '-') && t[1] != ' ' && t[1] != '-' || strings.HasPrefix(t, "@@ ") || strings.HasPrefix(t, "at ") && strings.IndexByte(t, '(') > 0 {
		return true
	}
	// Trees, tables and frames are drawn.
	if r, _ := utf8.DecodeRuneInString(t); r >= 0x2500 && r <= 0x257F {
		return true
	}
	signs, letters := 0, 0
	for i := listMark(t); i < len(t); i++ {
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
