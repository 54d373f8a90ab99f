package transcript

import "strconv"

// markerKey is the key a clone adds to the lines whose text it replaced. Hosts
// ignore it (seen with Claude Code 2.1.197 and Codex 0.166.0); it keeps a later
// run from compressing the text again and leads back to the original.
const markerKey = "overtone"

// Marker says what a compressed line stands for.
type Marker struct {
	Source string // id of the session that holds the original
	UUID   string // of the original message; on Codex its line number
	Level  string
	Hash   string // SHA-256 of the original text, hex
}

// Mark returns entry with the marker as its last member.
func Mark(entry []byte, m Marker) []byte {
	end := len(entry) - 1
	for end >= 0 && entry[end] != '}' {
		end--
	}
	if end < 0 {
		return entry
	}
	out := append([]byte(nil), entry[:end]...)
	out = append(out, `,"`+markerKey+`":{"source":`...)
	out = appendString(out, m.Source)
	out = append(out, `,"uuid":`...)
	out = appendString(out, m.UUID)
	out = append(out, `,"level":`...)
	out = appendString(out, m.Level)
	out = append(out, `,"sha256":`...)
	out = appendString(out, m.Hash)
	out = append(out, '}')
	return append(out, entry[end:]...)
}

// MarkerOf reads an entry's marker.
func MarkerOf(entry []byte) (Marker, bool) {
	var m Marker
	v := field(entry, markerKey)
	c := cursor{b: v}
	if !c.open('{') {
		return m, false
	}
	for first := true; c.more('}', &first); {
		to := (*string)(nil)
		switch string(c.key()) {
		case "source":
			to = &m.Source
		case "uuid":
			to = &m.UUID
		case "level":
			to = &m.Level
		case "sha256":
			to = &m.Hash
		}
		if s, ok := c.str(); ok && to != nil {
			*to = unescape(s)
		}
	}
	return m, !c.bad
}

// field is the raw value of a top-level member, nil when absent.
func field(entry []byte, name string) []byte {
	c := cursor{b: entry}
	if !c.open('{') {
		return nil
	}
	var v []byte
	for first := true; c.more('}', &first); {
		if string(c.key()) == name {
			v = c.raw()
			continue
		}
		c.value()
	}
	return v
}

// UUID is an entry's uuid, empty when it has none.
func UUID(entry []byte) string {
	s, _ := content(field(entry, "uuid"))
	return unescape(s)
}

// Ref names an entry within its session: its uuid, or its line where the host
// gives none.
func (s *Session) Ref(i int, entry []byte) string {
	if s.Host == Claude {
		if id := UUID(entry); id != "" {
			return id
		}
	}
	return "L" + strconv.Itoa(int(s.Entries[i].Line))
}
