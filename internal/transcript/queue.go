package transcript

import (
	"bytes"
	"slices"
	"strings"
)

// queued is what a person typed while the agent worked, as Claude Code notes it when it
// is typed. What becomes of it stands on another line, or nowhere: it may be passed to the
// model in mid-turn without a message of its own, or still wait when the context is
// compacted. Notices of the host's own wait in the same queue, and the person's words are
// taken before them.
type queued struct {
	text string // "" where there are no words to tell
	told bool
	at   int64 // when it was typed, or passed to the model
}

func wordsOf(raw []byte) string {
	text, _ := content(raw)
	return strings.TrimSpace(unescape(text))
}

// saying is the first of those with these words, -1 for none.
func saying(list []queued, text string) int {
	return slices.IndexFunc(list, func(q queued) bool { return text != "" && q.text == text })
}

func (s *stream) queue() {
	r := &s.r
	text, _ := content(r.queued)
	switch notice := commandText(text); string(r.operation) {
	case "enqueue":
		if !notice {
			s.waiting = append(s.waiting, queued{text: wordsOf(r.queued), told: len(text) == 0 || loneCommand(text), at: r.Time})
		}
	case "remove": // the model reads it in mid-turn
		i := s.next(wordsOf(r.queued))
		if i < 0 || notice {
			return
		}
		q := s.waiting[i]
		if s.waiting = slices.Delete(s.waiting, i, i+1); !q.told {
			q.at = r.Time
			s.passed = append(s.passed, q)
		}
	case "dequeue": // a message follows that says it
		if s.dequeued = true; len(s.waiting) > 0 && s.waiting[0].told {
			s.waiting, s.dequeued = s.waiting[1:], false
		}
	case "popAll": // its user has taken it back
		s.waiting = s.waiting[:0]
	}
}

// next is which of those that wait is taken: the one with these words, else the oldest; a
// slash command waits for the end of the turn.
func (s *stream) next(text string) int {
	i := saying(s.waiting, text)
	if i < 0 {
		i = slices.IndexFunc(s.waiting, func(q queued) bool { return !strings.HasPrefix(q.text, "/") })
	}
	if i < 0 && len(s.waiting) > 0 {
		i = 0
	}
	return i
}

// loneCommand reports the name of a slash command, and nothing else.
func loneCommand(text []byte) bool {
	name, ok := bytes.CutPrefix(text, []byte("/"))
	return ok && !bytes.ContainsAny(name, `/. \`)
}

// arrived takes a message from the queue that stands in the file.
func (s *stream) arrived(raw []byte) {
	text := wordsOf(raw)
	if i := s.next(text); i >= 0 && (s.dequeued || s.waiting[i].text == text) {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.dequeued = false
}

// settle tells what was passed to the model before a time, 0 for all of it. The host
// writes the lines of the conversation a little later than those of the queue: what came
// before the words may stand behind them.
func (s *stream) settle(before int64) {
	for i := range s.passed {
		if q := &s.passed[i]; before == 0 || q.at < before {
			s.tell(q)
		}
	}
	for len(s.passed) > maxPassed && s.passed[0].told {
		s.passed = s.passed[1:]
	}
}

// maxPassed bounds how many words are kept after they were passed on. They are needed until
// the line that repeats them, which follows soon.
const maxPassed = 64

// tell passes words on, once. As the line of the queue is no part of the conversation, the
// words get the place of the conversation's newest event.
func (s *stream) tell(q *queued) {
	if q.told || q.text == "" {
		return
	}
	q.told = true
	off, end := s.newest.off, s.newest.end
	if end == 0 {
		off, end = s.r.Off, s.r.End
	}
	s.fn(&Event{Kind: UserSaid, How: Queued, Off: off, End: end, Time: q.at, Raw: appendString(nil, q.text)})
}

// again reports whether words that were typed meanwhile were passed on already; else
// they are now.
func (s *stream) again(raw []byte) bool {
	text := wordsOf(raw)
	if i := saying(s.passed, text); i >= 0 {
		told := s.passed[i].told
		s.passed = slices.Delete(s.passed, i, i+1)
		return told
	}
	if i := slices.IndexFunc(s.waiting, func(q queued) bool { return !q.told && q.text == text }); i >= 0 {
		s.waiting[i].told = true
	}
	return false
}
