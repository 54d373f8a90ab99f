package transcript

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// Block is one block of a message's content, as it stands in the file.
type Block struct {
	Raw  []byte
	Type string
	// ID is the call's, of a call and of a result.
	ID CallID
}

// EditBlocks calls fn for each block of a Claude Code message and builds the
// entry from what it returns: the block itself, another one, or nil to drop it.
// empty reports that no block is left; the entry is then to be removed.
func EditBlocks(entry []byte, fn func(Block) []byte) (out []byte, empty bool) {
	start, end, h, ok := contentSpan(entry)
	if !ok || !chained(h) || entry[start] != '[' {
		return entry, false
	}
	var kept [][]byte
	n, changed := 0, false
	for raw := range elements(entry[start:end]) {
		n++
		got := fn(parseBlock(raw))
		changed = changed || got == nil || &got[0] != &raw[0] || len(got) != len(raw)
		if got != nil {
			kept = append(kept, got)
		}
	}
	if !changed {
		return entry, false
	}
	return slices.Concat(entry[:start], joined(kept), entry[end:]), n > 0 && len(kept) == 0
}

func joined(values [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

func parseBlock(block []byte) Block {
	b := Block{Raw: block}
	var typ, id, use []byte
	readObject(block, str("type", &typ), str("id", &id), str("tool_use_id", &use))
	b.Type = unescape(typ)
	switch b.Type {
	case "tool_use":
		b.ID = CallID{keyOf(id)}
	case "tool_result":
		b.ID = CallID{keyOf(use)}
	}
	return b
}

// MapStrings replaces the strings inside a JSON value, not its keys, by what fn
// makes of them; everything else stays as it is.
func MapStrings(v []byte, fn func(string) string) []byte {
	var out []byte
	last := 0
	whole := walkStrings(v, func(_ []byte, start, end int) {
		old := unescape(v[start:end])
		if s := fn(old); s != old {
			out = appendString(append(out, v[last:start-1]...), s)
			last = end + 1
		}
	})
	if !whole || last == 0 {
		return v
	}
	return append(out, v[last:]...)
}

// MapField applies fn to the raw value of a member of an object; for Codex the
// member of the payload.
func MapField(entry []byte, name string, fn func([]byte) []byte) []byte {
	if field(entry, "payload") != nil {
		name = "payload." + name
	}
	v := gjson.GetBytes(entry, name)
	if !v.Exists() {
		return entry
	}
	return store.SetJSON(entry, name, json.RawMessage(fn([]byte(v.Raw))))
}
