package compact

import (
	"strings"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/extract"
)

// maxMessage bounds the part of a message in which markers are looked for: the
// end, where agents say that they are done.
const maxMessage = 16 << 10

// Marks are the phrases that make an agent's message a signal, ready to be looked
// for.
type Marks struct{ opens, done, notDone, shift, conclusion *extract.Phrases }

// NewMarks prepares them, for those who read many messages.
func NewMarks(m config.Markers) *Marks {
	opens, within := anchored(m.AgentDone)
	return &Marks{
		opens: extract.NewPhrases(opens), done: extract.NewPhrases(within), notDone: extract.NewPhrases(m.AgentDoneNegative),
		shift: extract.NewPhrases(m.TopicShift), conclusion: extract.NewPhrases(m.ConcludingThought),
	}
}

// In is the signals of what an agent said last in a turn.
func (m *Marks) In(text string) Signals {
	if len(text) > maxMessage {
		text = text[len(text)-maxMessage:]
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	text = dropPackets(text)
	begins := m.opens.Open(text)
	text = extract.Spoken(text)
	var s Signals
	if (begins || m.done.In(text)) && !m.notDone.In(text) {
		s |= setOf(AgentDone)
	}
	if m.shift.In(text) {
		s |= setOf(TopicShift)
	}
	if m.conclusion.In(text) {
		s |= setOf(ConcludingThought)
	}
	return s
}

// anchored parts the phrases that must open a message, marked by ^, from those
// that may stand anywhere in it.
func anchored(phrases []string) (opens, within []string) {
	for _, p := range phrases {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(p), "^"); ok {
			opens = append(opens, rest)
		} else {
			within = append(within, p)
		}
	}
	return opens, within
}
