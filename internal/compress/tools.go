package compress

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Limits of a tool string that is cut short.
const (
	cutLines = 2
	cutUnits = 120
)

// cutMiddle shortens a tool's string to its first two lines and 120 UTF-16 units; a
// string that is not longer stays.
func cutMiddle(s string) string {
	short := s
	for n, i := 0, 0; ; n++ {
		j := strings.IndexByte(s[i:], '\n')
		if j < 0 {
			break
		}
		if n == cutLines-1 {
			short = s[:i+j]
			break
		}
		i += j + 1
	}
	units := 0
	for i, r := range short {
		n := 1
		if r > 0xFFFF {
			n = 2
		}
		if units += n; units > cutUnits {
			short = short[:i]
			break
		}
	}
	short = strings.TrimRight(short, " \t\r\n")
	if len(short)+3 >= len(s) {
		return s
	}
	return short + "..."
}

// editTools applies the plan's removals and cuts to one entry. gone reports
// that nothing of it is left.
func (p *Plan) editTools(i int32, entry []byte) (out []byte, gone bool) {
	if p.Session.Itemised() {
		return p.editItem(i, entry)
	}
	return transcript.EditBlocks(entry, func(b transcript.Block) []byte {
		switch b.Type {
		case "thinking", "redacted_thinking":
			if p.thinking[i] {
				return nil
			}
		case "tool_use":
			if p.removed[b.ID] {
				return nil
			}
			if p.truncated[b.ID] {
				return transcript.MapField(b.Raw, "input", cutStrings)
			}
		case "tool_result":
			if p.removed[b.ID] {
				return nil
			}
			if p.truncated[b.ID] {
				return transcript.MapField(b.Raw, "content", cutContent)
			}
		}
		return b.Raw
	})
}

// editItem is editTools for a rollout, where a call or an output is an entry of
// its own.
func (p *Plan) editItem(i int32, entry []byte) ([]byte, bool) {
	e := &p.Session.Entries[i]
	if p.thinking[i] {
		return entry, true
	}
	id := p.Session.CallIDOf(int(i))
	if p.removed[id] {
		return entry, true
	}
	if !p.truncated[id] {
		return entry, false
	}
	if e.Kind == transcript.Output {
		return transcript.MapField(entry, "output", cutContent), false
	}
	entry = transcript.MapField(entry, "input", cutStrings)
	return transcript.MapField(entry, "arguments", cutArguments), false
}

func cutStrings(v []byte) []byte { return transcript.MapStrings(v, cutMiddle) }

// cutContent cuts a result: a string, or the texts of a list; images and the
// names of block types stay.
func cutContent(v []byte) []byte {
	return transcript.MapStrings(v, func(s string) string {
		if strings.HasPrefix(s, "data:") || len(s) > cutUnits && !strings.ContainsAny(s[:cutUnits], " \n") && utf8.ValidString(s) && base64ish(s) {
			return s
		}
		return cutMiddle(s)
	})
}

// base64ish guards image data: half an image is worse than none.
func base64ish(s string) bool {
	if len(s) < 1000 {
		return false
	}
	for _, c := range []byte(s[:1000]) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '+' && c != '/' && c != '=' {
			return false
		}
	}
	return true
}

// cutArguments cuts the strings inside a call's arguments, which are JSON
// inside a string.
func cutArguments(v []byte) []byte {
	var inner string
	if json.Unmarshal(v, &inner) != nil || !json.Valid([]byte(inner)) {
		return cutStrings(v)
	}
	out, err := json.Marshal(string(cutStrings([]byte(inner))))
	if err != nil {
		return v
	}
	return out
}
