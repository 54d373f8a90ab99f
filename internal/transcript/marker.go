package transcript

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/seed-6d03985f/overtone/internal/store"
)

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
	end := bytes.LastIndexByte(entry, '}')
	if end < 0 {
		return entry
	}
	marker := store.EncodeJSON(store.Pairs("source", m.Source, "uuid", m.UUID, "level", m.Level, "sha256", m.Hash))
	return slices.Concat(entry[:end], []byte(`,"`+markerKey+`":`), marker, entry[end:])
}

// MarkerOf reads an entry's marker.
func MarkerOf(entry []byte) (Marker, bool) {
	var source, uuid, level, hash []byte
	if !readObject(field(entry, markerKey), str("source", &source), str("uuid", &uuid), str("level", &level), str("sha256", &hash)) {
		return Marker{}, false
	}
	return Marker{unescape(source), unescape(uuid), unescape(level), unescape(hash)}, true
}

// field is the raw value of a top-level member, nil when absent.
func field(entry []byte, name string) []byte {
	var v []byte
	readObject(entry, raw(name, &v))
	return v
}

// Ref names an entry within its session: its uuid, or its line where the host
// gives none.
func Ref(h Host, entry []byte, line int) string {
	if id, _ := content(field(entry, "uuid")); chained(h) && len(id) > 0 {
		return unescape(id)
	}
	return "L" + strconv.Itoa(line)
}
