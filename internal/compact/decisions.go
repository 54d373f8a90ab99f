package compact

import (
	"slices"
	"strings"
)

// Bounds of what is remembered of decisions. They outlive compactions: a
// decision holds until another one replaces it, and old ones fall off the end.
const (
	maxDecisions = 12
	maxDecision  = 300
)

// decisive words make a line a decision or an invariant. They are few and
// strong: a packet that lists every "should" says nothing.
var decisive = []string{
	"decided", "decision:", "we will use", "we'll use", "must not", "must never", "must always", "never ", "invariant",
	"do not ", "don't ", "agreed", "constraint:", "requirement:", "from now on",
	"決定", "決策", "必須", "不可", "不得", "禁止", "一律", "不要", "約定", "原則",
}

// decide remembers the decisive lines of a text.
func (s *State) decide(text string) {
	for t, own := range ownLines(text) {
		if !own || t == "" {
			continue
		}
		low := strings.ToLower(t)
		if !slices.ContainsFunc(decisive, func(w string) bool { return strings.Contains(low, w) }) {
			continue
		}
		t = headRunes(oneLine(strings.TrimLeft(t, "-*• ")), maxDecision)
		s.Decisions = slices.DeleteFunc(slices.Clone(s.Decisions), func(o string) bool { return o == t })
		s.Decisions = newest(append(s.Decisions, t), maxDecisions)
	}
}
