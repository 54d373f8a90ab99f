package transcript

import (
	"strconv"
	"strings"
)

// Find returns the entry that a reference within the session names: a uuid, or
// L and a line number.
func (s *Session) Find(ref string) (int, bool) {
	if i := s.at(keyOf([]byte(ref))); i >= 0 && s.Host == Claude {
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

// AllText is everything a model read of an entry: its text, and the strings of
// tool calls and results.
func AllText(entry []byte) string {
	parts := []string{}
	if t := Text(entry); t != "" {
		parts = append(parts, t)
	}
	collect := func(v []byte) []byte {
		return MapStrings(v, func(s string) string {
			parts = append(parts, s)
			return s
		})
	}
	if field(entry, "payload") != nil || field(entry, "call_id") != nil {
		for _, name := range [...]string{"arguments", "input", "output"} {
			MapField(entry, name, collect)
		}
	} else {
		EditBlocks(entry, func(b Block) []byte {
			switch b.Type {
			case "tool_use":
				MapField(b.Raw, "input", collect)
			case "tool_result":
				MapField(b.Raw, "content", collect)
			}
			return b.Raw
		})
	}
	return strings.Join(parts, "\n")
}
