package compact

import (
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

// Bounds of what is remembered of decisions. They outlive compactions: a
// decision holds until another one replaces it, and old ones fall off the end.
const (
	maxDecisions = 12
	maxDecision  = 300
)

// decide remembers the decisive lines of a text.
func (s *state) decide(text string) {
	for t, own := range ownLines(text) {
		if !own || t == "" {
			continue
		}
		if !extract.Decision(t) {
			continue
		}
		t = headRunes(oneLine(strings.TrimLeft(t, "-*• ")), maxDecision)
		s.Decisions = slices.DeleteFunc(slices.Clone(s.Decisions), func(o string) bool { return o == t })
		s.Decisions = newest(append(s.Decisions, t), maxDecisions)
	}
}
