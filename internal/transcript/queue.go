package transcript

import "bytes"

// queued is what a person typed while the agent worked, as Claude Code notes it when it
// is typed. What becomes of it stands on another line, or nowhere: it may be passed to the
// model in mid-turn without a message of its own, or still wait when the context is
// compacted.
type queued struct {
	raw  []byte // the JSON string
	own  bool   // the user's words, no notice of the host's
	told bool   // they were passed on
}

// queue takes a line of the queue's.
func (s *stream) queue() {
	r := &s.r
	n := min(1, len(s.waiting))
	switch string(r.operation) {
	case "enqueue":
		text, ok := content(r.queued)
		notice := bytes.HasPrefix(text, []byte(`{\"task_id\":`)) && bytes.HasSuffix(text, []byte("}"))
		own := ok && len(text) > 0 && !notice && !hostText(text)
		s.waiting = append(s.waiting, queued{raw: bytes.Clone(r.queued), own: own})
		return
	case "remove": // the model reads it in mid-turn
		s.tell(s.waiting[:n], r.Off, r.End, r.Time)
		s.passed = append(s.passed, s.waiting[:n]...)
	case "popAll": // its user has taken it back
		n = len(s.waiting)
	}
	s.waiting = s.waiting[n:] // else a message follows that says it
}

// tell passes on what waits and was not passed on.
func (s *stream) tell(list []queued, off, end, at int64) {
	for i := range list {
		if q := &list[i]; q.own && !q.told {
			q.told = true
			s.fn(&Event{Kind: UserSaid, How: Queued, Off: off, End: end, Time: at, Raw: q.raw})
		}
	}
}

// again reports whether words that were typed meanwhile were passed on already; else
// they are now.
func (s *stream) again(raw []byte) bool {
	same := func(q *queued) bool { return bytes.Equal(q.raw, raw) }
	for i := range s.passed {
		if same(&s.passed[i]) && s.passed[i].told {
			s.passed[i].told = false
			return true
		}
	}
	for i := range s.waiting {
		if q := &s.waiting[i]; same(q) && !q.told {
			q.told = true
			return false
		}
	}
	return false
}
