package compact

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Words are what the user has said, word for word, and what the last thing was that
// happened. They outlive compactions and are bounded. Nothing in them is judged: a rule,
// a task and a thank-you are all quoted, the newest first, and whoever reads them knows
// what they mean.
type Words struct {
	// First is the session's first message, Heard are the newest ones, oldest first, and
	// Count is how many were typed.
	First Word   `json:"first,omitzero"`
	Heard []Word `json:"heard,omitempty"`
	Count int    `json:"count,omitempty"`
	// Last is what happened last. Over says that the host has told the end of the turn.
	Last Last `json:"last,omitempty"`
	Over bool `json:"over,omitempty"`
	// Asking is the question that the agent asks with a tool, as long as nobody has
	// answered. Proposed says that a plan of the agent's waits for its user's approval.
	Asking   string `json:"asking,omitempty"`
	Proposed bool   `json:"proposed,omitempty"`
	// Closing is the end of the agent's last message, until the user says something: a
	// short answer refers to it.
	Closing string `json:"closing,omitempty"`
}

// Word is something that the user said.
type Word struct {
	Text string `json:"text"`
	// To is what it answers: the question of a tool, or the end of what the agent had said
	// before a short message.
	To  string `json:"to,omitempty"`
	How How    `json:"how,omitempty"`
	// At is when a hook heard it, in Unix milliseconds; 0 for what stands in a file.
	At int64 `json:"at,omitempty"`
}

// How is the way in which the user said something.
type How string

const (
	// Typed is a prompt, also one that was typed while the agent worked.
	Typed How = ""
	// WithAnswer is the answer to a question of a tool, WithRefusal what was said with the
	// refusal of one.
	WithAnswer  How = "answer"
	WithRefusal How = "refusal"
	// WithCompact was typed behind the command that compacts.
	WithCompact How = "compact"
	// AsPlan is a plan of the agent's that the user has approved, AsGoal the goal that the
	// host pursues turn after turn.
	AsPlan How = "plan"
	AsGoal How = "goal"
)

// prompts reports whether it begins a turn of the agent's.
func (h How) prompts() bool { return h == Typed || h == AsPlan || h == AsGoal }

// aside reports whether it came through a tool.
func (h How) aside() bool { return h == WithAnswer || h == WithRefusal }

// Last is what happened last in a conversation.
type Last string

const (
	LastUser        Last = "user"        // the user's words
	LastAgent       Last = "agent"       // the agent's words
	LastTool        Last = "tool"        // a tool's call, or its answer
	LastInterrupted Last = "interrupted" // the user stopped the turn
)

// Lengths in UTF-16 units.
const (
	// maxNewest is kept of the newest message, maxOlder of each other one. Of a longer one
	// the beginning and the end are kept: what is asked stands in one of them.
	maxNewest = 600
	maxOlder  = 320
	// A message shorter than short is kept with the end of what it answers, the newest with
	// more of it.
	short      = 80
	maxClosing = 600
	maxTo      = 200
	maxHeard   = 24
	// mostAside is how many of the words are kept that came through tools.
	mostAside = 2
	// maxListened is how much of each end of a long message is looked at.
	maxListened = 2000
)

// between stands between the two ends of what was cut.
const between = " … "

// Hear takes something that the user said; at is when a hook heard it.
func (w Words) Hear(text string, how How, at time.Time) Words {
	most := maxOlder
	if how.prompts() {
		most = maxNewest
	}
	if text = ends(text, most); text == "" {
		return w
	}
	said := Word{Text: text, How: how}
	if !at.IsZero() {
		said.At = at.UnixMilli()
	}
	if how.prompts() {
		if message.Units(text) < short {
			said.To = w.Closing
		}
		if w.Count == 0 {
			w.First = Word{Text: cutEnds(text, maxOlder), How: how}
		}
		w.Count++
		w.Last, w.Over, w.Asking, w.Proposed, w.Closing = LastUser, false, "", false, ""
	}
	return w.append(said)
}

// WholeSince is the first prompt that a hook has heard since, if none of it was cut.
func (w Words) WholeSince(at time.Time) string {
	for _, said := range w.Heard {
		if said.How == Typed && said.At >= at.UnixMilli() {
			if strings.Contains(said.Text, between) {
				return ""
			}
			return said.Text
		}
	}
	return ""
}

// Answer takes what the user answered to a question of a tool.
func (w Words) Answer(question, answer string) Words {
	if answer = ends(answer, maxOlder); answer == "" {
		return w
	}
	return w.append(Word{Text: answer, To: ends(question, maxTo), How: WithAnswer})
}

func (w Words) append(said Word) Words {
	list := slices.Clone(w.Heard)
	aside := 1 // of what came through tools, which must not crowd out what was typed
	for i, h := range slices.Backward(list) {
		switch {
		case said.How.prompts():
			list[i].Text, list[i].To = cutEnds(h.Text, maxOlder), tail(h.To, maxTo)
		case !said.How.aside() || !h.How.aside():
		case aside == mostAside:
			list = slices.Delete(list, i, i+1)
		default:
			aside++
		}
	}
	w.Heard = newest(append(list, said), maxHeard)
	return w
}

// Missed adds what hooks have heard and a session's file does not have yet: the file's
// newest piece is of the time end, in Unix milliseconds. What hooks know of the turn is then
// the newest, too. at is when the last of them was heard, zero where nothing was missed.
func (w Words) Missed(heard Words, end int64) (_ Words, at time.Time) {
	for _, h := range heard.Heard {
		known := func(o Word) bool { return cutEnds(o.Text, maxOlder) == cutEnds(h.Text, maxOlder) }
		if h.At <= end || !h.How.prompts() || slices.ContainsFunc(newest(w.Heard, 3), known) {
			continue
		}
		at = time.UnixMilli(h.At)
		if w.Count == 0 {
			w.First = Word{Text: cutEnds(h.Text, maxOlder), How: h.How}
		}
		w = w.append(h)
		w.Count++
	}
	if !at.IsZero() {
		w.Last, w.Over, w.Asking, w.Proposed, w.Closing = heard.Last, heard.Over, heard.Asking, heard.Proposed, heard.Closing
	}
	return w, at
}

// Said takes a message of the agent's to its user.
func (w Words) Said(text string) Words {
	if text = message.OneLine(extract.Tail(extract.Undirected(text), 2*maxClosing)); text == "" {
		return w
	}
	w.Last, w.Over, w.Closing = LastAgent, false, tail(text, maxClosing)
	return w
}

// tail is the end of a line, within so many units.
func tail(text string, most int) string {
	if message.Units(text) <= most {
		return text
	}
	return strings.TrimPrefix(between, " ") + strings.TrimPrefix(message.EndUnits(text, most-message.Units(between)+1), " ")
}

// Worked: the agent used a tool, so it neither waits nor rests.
func (w Words) Worked() Words {
	w.Last, w.Over, w.Proposed = LastTool, false, false
	return w
}

// Ended: the host has told the end of the turn.
func (w Words) Ended(interrupted bool) Words {
	if w.Over = true; interrupted {
		w.Last = LastInterrupted
	}
	return w
}

// AsksWith: the agent asks with a tool; "" is the end of it.
func (w Words) AsksWith(question string) Words {
	w.Asking = ends(question, maxTo)
	return w
}

// Newest is the last message that the user typed, the zero value where there is none.
func (w Words) Newest() Word {
	for _, h := range slices.Backward(w.Heard) {
		if h.How.prompts() {
			return h
		}
	}
	return w.First
}

// Quote chooses the user's words that fit into so many units, newest first. The newest
// message always has its room, also when words that came through tools follow it. Words
// that do not fit are passed over. cost is the length of a word as it will be quoted. more
// counts the typed ones that are left out.
func (w Words) Quote(most int, cost func(Word) int) (list []Word, more int) {
	shown, kept := 0, cost(w.Newest())
	seen := map[Word]bool{}
	for _, h := range slices.Backward(w.Heard) {
		if h.How.prompts() {
			kept = 0
		}
		n, same := cost(h), Word{Text: h.Text, How: h.How}
		if seen[same] || n > most-kept {
			continue
		}
		seen[same] = true
		most -= n
		if list = append(list, h); h.How.prompts() {
			shown++
		}
	}
	return list, max(0, w.Count-shown)
}

// In reports whether one of the lines ends with these words, or has both ends of those that
// were cut.
func (w Word) In(lines string) bool {
	head, end, cut := strings.Cut(w.Text, between)
	for line := range strings.Lines(lines) {
		line = " " + strings.TrimSuffix(line, "\n")
		if !cut && strings.HasSuffix(line, " "+head) || cut && strings.HasSuffix(line, end) && strings.Contains(line, " "+head) {
			return true
		}
	}
	return false
}

// ends keeps both ends of a text from outside, without its secrets, on one line. Where all
// of it may be a secret, only the mark of a cut is left.
func ends(text string, most int) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	line := ""
	if len(text) <= 4*maxListened {
		line = message.OneLine(extract.Head(text, 4*maxListened))
	} else {
		head, end := message.OneLine(extract.Head(text, maxListened)), message.OneLine(extract.Tail(text, maxListened))
		line = strings.TrimSpace(head + between + end)
	}
	return cutEnds(cmp.Or(line, strings.TrimSpace(between)), most)
}

// cutEnds keeps both ends of a line.
func cutEnds(text string, most int) string {
	if message.Units(text) <= most {
		return text
	}
	room := most - message.Units(between)
	head := room * 2 / 3
	return strings.TrimSuffix(message.Cut(text, head), " ") + between + strings.TrimPrefix(message.EndUnits(text, room-head), " ")
}

// Lang is the language of the user's own texts, "" where too little was said. Short
// messages tell it; pasted logs are English everywhere.
func (w Words) Lang() message.Lang {
	han, latin := 0, 0
	for _, long := range [...]bool{false, true} {
		for _, h := range append(slices.Clone(w.Heard), w.First) {
			if how := h.How; how == Typed && (message.Units(h.Text) > maxOlder-short) == long { // what was cut is long
				a, b := spoken(h.Text)
				han, latin = han+a, latin+b
			}
		}
		switch {
		case han+latin < 3:
		case han >= 2*latin || han > 20 && han > latin:
			return message.ZH
		default:
			return message.EN
		}
	}
	return ""
}

// spoken counts what a text is written in: ideographs, and words in letters. A word of
// Chinese has some two ideographs; names of files and of things in code are no language.
func spoken(text string) (han, latin int) {
	for f := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune("./_-'", r)
	}) {
		word := true
		for _, r := range f {
			switch {
			case unicode.Is(unicode.Hiragana, r), unicode.Is(unicode.Katakana, r):
				latin++ // of the two languages, not Chinese
				word = false
			case unicode.Is(unicode.Han, r):
				han++
				word = false
			case !unicode.IsLetter(r) && r != '\'':
				word = word && r == '.' && strings.HasSuffix(f, ".")
			}
		}
		if word {
			latin++
		}
	}
	return han, latin
}
