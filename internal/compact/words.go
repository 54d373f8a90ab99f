package compact

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Words is what the user said that still matters, and what was decided. It
// outlives compactions, is bounded, and the newest word wins: a later task
// replaces an earlier one, a correction the decision that it overrules.
type Words struct {
	// Latest is the last thing that the user said, with what it answers where it
	// alone does not tell what is meant.
	Latest Reply `json:"latest,omitzero"`
	// Goal is the newest task, in the user's own words; Since is what else was said
	// before the latest, oldest first.
	Goal   string  `json:"goal,omitempty"`
	GoalAt int     `json:"goalAt,omitempty"` // the request that it was
	Since  []Reply `json:"since,omitempty"`
	// Held are rules, wishes and corrections, oldest first; Decided are lines
	// in which the agent settled something.
	Held    []Held   `json:"held,omitempty"`
	Decided []string `json:"decided,omitempty"`
	// Han and Latin count what the user's own texts are written in: ideographs, and
	// words in letters.
	Han   int `json:"han,omitempty"`
	Latin int `json:"latin,omitempty"`
	// Requests counts the requests so far.
	Requests int `json:"requests,omitempty"`
	// Concluded is what the agent concluded with, Asked the question that the agent ended with, as long as nothing was
	// said after it.
	Concluded string `json:"said,omitempty"`
	Asked     string `json:"asked,omitempty"`
	// Proposal is the end of the agent's last message, which a short answer refers to.
	Proposal string `json:"proposal,omitempty"`
	// Options are the choices that came with it.
	Options map[string]string `json:"options,omitempty"`
	// Asking is what the agent asks with a tool, as long as nobody has answered.
	Asking string `json:"asking,omitempty"`
	// Evidence is what both sides have said and done about going on.
	Evidence Evidence `json:"evidence,omitempty"`
}

// Reply is a word of the user's with what it answers, if it is short.
type Reply struct {
	To   string `json:"to,omitempty"`
	Text string `json:"text"`
	// Task is the number of the request, for a task that another one has replaced.
	Task int `json:"task,omitempty"`
}

// Held is a sentence of the user's that is to be kept to.
type Held struct {
	Text string       `json:"text"`
	Hold extract.Hold `json:"hold"`
	// At is the request it was part of.
	At int `json:"at,omitempty"`
}

const (
	maxHeard    = 16 << 10 // characters of a message that are listened to, at both its ends
	maxGoal     = 1200     // UTF-16 units
	maxHeld     = 14
	maxRules    = 8 // of them, kept even when newer wishes come
	maxHeldLen  = 220
	maxSaid     = 1000 // characters of an agent's sentence that are looked at
	maxOfOne    = 5    // sentences of one message
	maxSince    = 16
	plainSince  = 6 // of them, without anything that is to be kept to
	maxSinceLen = 400
	maxGist     = 180
	maxOption   = 160
	maxProposal = 420 // of what a short answer refers to
	maxDecided  = 8
	// A wish is part of its task; a few requests later that is another one.
	wishLife = 3
)

// Hear takes a message that stands as the user's.
func (w Words) Hear(text string) Words {
	said, own, judged := saidIn(text)
	if said == extract.NotSaid {
		return w
	}
	whole := message.Ends(message.Plain(own), maxGoal)
	if whole == w.Latest.Text && said == extract.Requested {
		return w.again(own) // two observers may tell of one message
	}
	asked, options, proposal, answers := w.Asked != "", w.Options, w.Proposal, cmp.Or(w.Asked, w.Concluded) != ""
	w = w.answered()
	w.Evidence = w.Evidence.heard(said, own).last(UserLast) &^ Interrupted
	if judged { // what is pasted is English everywhere
		w = w.spoken(own)
	}
	latest := Reply{Text: whole}
	if said != extract.Requested || asked || extract.Leans(own) {
		latest.To = proposal
		if o := message.Cut(message.OneLine(options[extract.Chosen(own)]), maxOption); o == "" {
		} else if said == extract.Requested {
			latest.To = o + " … " + latest.To
		} else {
			latest.Text = message.OneLine(own) + " (" + o + ")"
		}
	}
	tasks := said == extract.Requested && (w.Goal == "" || extract.Tasks(own))
	w = w.passed(tasks)
	w.Latest = latest
	if said != extract.Requested {
		if !answers { // a nudge that answers nothing belongs to what was said before it
			w.Latest.To = ""
		}
		return w
	}
	if w.Requests++; tasks {
		w.Goal, w.GoalAt = whole, w.Requests
	}
	w.Held = slices.DeleteFunc(slices.Clone(w.Held), func(h Held) bool { return h.Hold == extract.Wish && w.Requests-h.At >= wishLife })
	kept := 0
	for _, s := range extract.Sentences(own) {
		// A long sentence is a story, or was pasted; and one message must not crowd out
		// the rules of all others.
		if hold := extract.Holds(s); hold != extract.Free && message.Units(s) <= maxHeldLen && kept < maxOfOne {
			w = w.hold(message.OneLine(s), hold)
			kept++
		}
	}
	return w
}

// saidIn is what a message that stands as the user's is, with his own words in it.
// Where all of it looks pasted, or it is longer than what is listened to, nothing in it is
// judged: both its ends are his own words.
func saidIn(text string) (said extract.Said, own string, judged bool) {
	// What is pasted may be a part of a secret; without it the rest looks like none.
	text, whole := extract.Ends(text, maxHeard)
	said, own = extract.Request(text)
	if said == extract.NotSaid || said != extract.Pasted && whole {
		return said, own, true
	}
	return extract.Requested, strings.TrimSpace(extract.OwnText(text)), false
}

// again takes a message that is told once more, after what followed it: it can still
// stop the work, but sets nothing going.
func (w Words) again(own string) Words {
	if extract.Stops(own) {
		w.Evidence |= ToldToStop
	}
	return w
}

// Aim takes a goal that the user has set, which is a task however it is worded.
func (w Words) Aim(goal string) Words {
	w.Goal, w.GoalAt = message.Cut(message.Plain(strings.TrimSpace(goal)), maxGoal), w.Requests
	return w
}

// spoken counts what a text is written in. A word of Chinese has some two ideographs;
// names of files and of things in code are no language.
func (w Words) spoken(own string) Words {
	for f := range strings.FieldsFuncSeq(own, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune("./_-'", r)
	}) {
		latin := true
		for _, r := range f {
			switch {
			case unicode.Is(unicode.Hiragana, r), unicode.Is(unicode.Katakana, r):
				w.Latin++ // of the two languages, not Chinese
				latin = false
			case unicode.Is(unicode.Han, r):
				w.Han++
				latin = false
			case !unicode.IsLetter(r) && r != '\'':
				latin = latin && r == '.' && strings.HasSuffix(f, ".")
			}
		}
		if latin {
			w.Latin++
		}
	}
	return w
}

// Lang is the language of the user's own texts, "" where too little was said.
func (w Words) Lang() message.Lang {
	switch {
	case w.Han+w.Latin < 3:
		return ""
	case w.Han >= 2*w.Latin || w.Han > 20 && w.Han > w.Latin:
		return message.ZH
	}
	return message.EN
}

// passed puts what was said last, and a task that another one replaces, to what was said
// before.
func (w Words) passed(replaced bool) Words {
	said, _, _ := saidIn(w.Latest.Text)
	if replaced && w.Goal != "" {
		w = w.since(Reply{Text: w.Goal, Task: w.GoalAt})
	}
	if w.Latest.Text != w.Goal && (said == extract.Requested || w.Latest.To != "") {
		w = w.since(w.Latest)
	}
	return w
}

// Chose takes the user's choice among the options of a question that a tool asked.
func (w Words) Chose(question, answer string) Words {
	w = w.passed(false)
	w.Latest = Reply{To: message.OneLine(question), Text: message.Head(message.OneLine(extract.Head(answer, 4*maxSinceLen)), maxSinceLen)}
	for _, s := range extract.Sentences(w.Latest.Text) {
		if hold := extract.Holds(s); hold >= extract.Lasting && message.Units(s) <= maxHeldLen {
			w = w.hold(s, hold)
		}
	}
	return w
}

// since keeps something that was said before: of a long message what is to be kept to,
// and of those that ask for nothing to be kept to only the newest.
func (w Words) since(r Reply) Words {
	r.Text, r.To = gist(r.Text), message.Cut(r.To, maxHeldLen)
	list := slices.DeleteFunc(slices.Clone(w.Since), func(o Reply) bool { return o.Text == r.Text })
	list = append(list, r)
	for i := len(list) - plainSince - 1; i >= 0; i-- {
		if !weighs(list[i].Text) {
			list = slices.Delete(list, i, i+1)
		}
	}
	w.Since = newest(list, maxSince)
	return w
}

func weighs(text string) bool {
	return slices.ContainsFunc(extract.Sentences(text), extract.Bears)
}

// gist is a message on one line, the sentences that are to be kept to where it is long.
func gist(text string) string {
	line := message.OneLine(text)
	if message.Units(line) <= maxGist {
		return line
	}
	if held := Holding(text); held != "" {
		return held
	}
	return message.Cut(line, maxGist) + "…"
}

// Holding is the sentences of a message that are to be kept to.
func Holding(text string) string {
	var kept []string
	for _, s := range extract.Sentences(text) {
		if room := maxSinceLen - message.Units(strings.Join(kept, " … ")); extract.Bears(s) && room > 60 {
			kept = append(kept, message.Cut(message.OneLine(s), min(room, maxGist)))
		}
	}
	return strings.Join(kept, " … ")
}

// hold keeps a sentence and drops what it overrules.
func (w Words) hold(text string, hold extract.Hold) Words {
	about := subject(text)
	opposed := func(old string) bool { return overrules(about, subject(old)) }
	w.Held = slices.DeleteFunc(slices.Clone(w.Held), func(h Held) bool {
		overruled := h.Text != text && h.Hold != extract.Guard && opposed(h.Text)
		if overruled {
			w.Since = unsay(w.Since, h.Text)
		}
		return overruled || h.Text == text
	})
	w.Decided = slices.DeleteFunc(slices.Clone(w.Decided), opposed)
	w.Held = append(w.Held, Held{text, hold, w.Requests})
	for len(w.Held) > maxHeld {
		w.Held = slices.Delete(w.Held, w.oldest(), w.oldest()+1)
	}
	return w
}

// unsay takes a sentence that was overruled out of what was said before.
func unsay(list []Reply, sentence string) []Reply {
	list = slices.Clone(list)
	for i := range list {
		list[i].Text = strings.Trim(strings.Replace(list[i].Text, sentence, "", 1), " …")
	}
	return slices.DeleteFunc(list, func(r Reply) bool { return r.Text == "" })
}

// oldest is what has to go: rules stay longer than wishes, because they are
// said once and hold until they are taken back.
func (w Words) oldest() int {
	rules := 0
	for _, h := range w.Held {
		if h.Hold >= extract.Lasting {
			rules++
		}
	}
	i := slices.IndexFunc(w.Held, func(h Held) bool { return h.Hold < extract.Lasting })
	if i < 0 || rules > maxRules {
		i = slices.IndexFunc(w.Held, func(h Held) bool { return h.Hold == extract.Lasting })
	}
	return max(i, 0)
}

// Answered takes a message of the agent's to its user.
func (w Words) Answered(text string) Words {
	text = extract.Undirected(text)
	if strings.TrimSpace(text) == "" {
		return w
	}
	w.Evidence = w.Evidence.last(AgentLast) &^ Interrupted
	w.Asked = message.Cut(unmarked(extract.Head(extract.OpenQuestion(text), maxSaid)), maxHeldLen)
	w.Concluded = message.Cut(unmarked(extract.Head(extract.LastSentence(text), maxSaid)), maxHeldLen)
	w.Proposal = unmarked(extract.Proposal(extract.Tail(text, maxHeard), maxProposal))
	w.Options = nil
	if list := extract.Options(text); len(list) > 0 {
		w.Options = list
	}
	for k, o := range w.Options {
		w.Options[k] = message.Cut(extract.Head(o, maxSaid), maxOption)
	}
	for line, own := range extract.OwnLines(text) {
		if !own || !settles(line) {
			continue
		}
		line = message.Cut(message.OneLine(extract.Head(strings.TrimLeft(line, "-*• "), maxSaid)), maxHeldLen)
		w.Decided = slices.DeleteFunc(slices.Clone(w.Decided), func(o string) bool { return o == line })
		w.Decided = newest(append(w.Decided, line), maxDecided)
	}
	return w
}

// Closed takes what the agent's last message says of going on, and the signals that its
// phrases are. It is apart from [Words.Answered], because of many messages only the last
// has to be asked.
func (w Words) Closed(text string, spoken Signals) Words {
	text = extract.Undirected(text)
	w.Evidence = w.Evidence.last(AgentLast) &^ (closers | Interrupted)
	if extract.Yields(text) {
		w.Evidence |= Yields
	}
	if extract.Announces(text) {
		w.Evidence |= Announces
	}
	if spoken.Has(AgentDone) || extract.SaysDone(text) {
		w.Evidence |= SaysDone
	}
	return w
}

// unmarked is a sentence without the emphasis around it.
func unmarked(s string) string { return message.OneLine(strings.ReplaceAll(s, "**", "")) }

// settles reports a line in which the agent says that something is decided. A
// list of every "must" that it wrote would say nothing.
func settles(line string) bool {
	low := strings.ToLower(line)
	return slices.ContainsFunc([]string{"decided to", "decision:", "we will use ", "we'll use ", "agreed to", "agreed on", "going with ", "決定", "決策", "約定"}, func(w string) bool { return strings.Contains(low, w) })
}

// Lines are what holds on, oldest first.
func (w Words) Lines() []string {
	var out []string
	for _, h := range w.Held {
		out = append(out, h.Text)
	}
	return append(out, w.Decided...)
}

// Worked: the agent used a tool, so it did not wait for an answer.
func (w Words) Worked() Words {
	w = w.answered()
	w.Evidence = w.Evidence.last(AtWork) &^ Interrupted
	return w
}

// Last says what was the last thing that happened: [AtWork], [UserLast] or [AgentLast].
func (w Words) Last(kind Evidence) Words {
	w.Evidence = w.Evidence.last(kind)
	return w
}

// Planned: the agent has written a plan.
func (w Words) Planned() Words {
	w.Evidence = w.Evidence&^Wonders | Planned
	return w
}

// HearAside takes words of the user's that leave it as it was what the agent is at: they
// came with a compaction, a refusal or an answer.
func (w Words) HearAside(text string) Words {
	const kept = AtWork | UserLast | AgentLast | Interrupted
	before := w.Evidence
	w = w.Hear(text)
	w.Evidence = w.Evidence&^kept | before&kept
	return w
}

// Interrupted: the user has stopped the agent.
func (w Words) Interrupted() Words {
	w.Evidence |= Interrupted | ToldToStop
	return w
}

// AsksWith: the agent asks with a tool; "" is the end of it.
func (w Words) AsksWith(question string) Words {
	if w.Asking = question; question != "" {
		w.Evidence |= ToolAsks
	} else {
		w.Evidence &^= ToolAsks
	}
	return w
}

// answered forgets what the agent had asked and proposed.
func (w Words) answered() Words {
	w.Asked, w.Concluded, w.Proposal, w.Options = "", "", "", nil
	return w
}

// subject is the words that a sentence is about.
func subject(text string) map[string]bool {
	set := map[string]bool{}
	var han []rune
	flush := func() {
		for i := 0; i+1 < len(han); i++ {
			set[string(han[i:i+2])] = true
		}
		han = han[:0]
	}
	for f := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.' && r != '/'
	}) {
		var latin []rune
		for _, r := range f {
			if unicode.Is(unicode.Han, r) {
				han = append(han, r)
				continue
			}
			flush()
			latin = append(latin, r)
		}
		flush()
		if word := strings.Trim(string(latin), "./-"); len(word) > 1 && !common(word) {
			set[word] = true
		}
	}
	return set
}

// overrules reports whether a new sentence speaks of what an old one settled:
// most of the shorter one's words are in the other.
func overrules(now, old map[string]bool) bool {
	shared := 0
	for w := range now {
		if old[w] {
			shared++
		}
	}
	least := min(len(now), len(old))
	return least > 0 && (shared >= 2 && shared*2 >= least || shared == least && least == 1)
}

// common words tell nothing about a subject.
func common(w string) bool {
	switch w {
	case "to", "in", "of", "on", "is", "it", "be", "do", "no", "we", "me", "my", "or", "as", "at", "by", "an", "if", "so", "up", "us", "he", "am",
		"the", "and", "for", "with", "that", "this", "not", "use", "uses", "used", "using", "you", "your", "are", "was", "will", "would", "should", "must", "never", "always", "don't", "dont",
		"can", "could", "have", "has", "had", "but", "let", "let's", "lets", "please", "make", "made", "sure", "instead", "rather", "want", "need", "just", "only", "keep", "then", "than",
		"from", "into", "when", "what", "which", "why", "how", "all", "any", "our", "we'll", "we're", "i'll", "decided", "decision", "agreed", "actually", "now", "also", "here", "there", "like", "think", "wrong", "before", "after", "one", "its", "it's", "too", "some", "see", "still", "more", "out", "does", "did", "been":
		return true
	}
	return false
}
