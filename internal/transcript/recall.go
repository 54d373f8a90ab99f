package transcript

import (
	"strconv"
	"strings"
)

// Find returns the entry that a reference within the session names: a uuid, or
// L and a line number.
func (s *Session) Find(ref string) (int, bool) {
	if i := s.at(keyOf([]byte(ref))); i >= 0 && chained(s.Host) {
		return int(i), true
	}
	if n, ok := strings.CutPrefix(ref, "L"); ok {
		line, err := strconv.Atoi(n)
		for i := range s.Entries {
			if err == nil && int(s.Entries[i].Line) == line {
				return i, true
			}
		}
	}
	return 0, false
}
