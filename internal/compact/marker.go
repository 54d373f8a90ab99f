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

// markersIn finds the signals of an agent's message.
func markersIn(text string, m config.Markers) Signals {
	if len(text) > maxMessage {
		text = text[len(text)-maxMessage:]
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	opens, within := anchored(m.AgentDone)
	begins := extract.Opens(dropPackets(text), opens)
	text = spoken(text)
	var s Signals
	if (begins || extract.Mentions(text, within)) && !extract.Mentions(text, m.AgentDoneNegative) {
		s |= setOf(AgentDone)
	}
	if extract.Mentions(text, m.TopicShift) {
		s |= setOf(TopicShift)
	}
	if extract.Mentions(text, m.ConcludingThought) {
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

// SignalsIn is the signals of what an agent said last in a turn.
func SignalsIn(text string, m config.Markers) Signals { return markersIn(text, m) }

// spoken is what the agent says itself: without code, quotations and our own
// packets.
func spoken(text string) string { return extract.Spoken(dropPackets(text)) }
