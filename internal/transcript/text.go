package transcript

import (
	"bytes"
	"slices"
	"strings"
)

// A message's text lies in one place per host: message.content on Claude,
// payload.content (or content, in the first rollouts) on Codex.

// contentSpan finds the content value of an entry and which host's it is.
func contentSpan(entry []byte) (start, end int, h Host, ok bool) {
	var message, payload, v, typ, role []byte
	if !readObject(entry, raw("message", &message), raw("payload", &payload), raw("data", &payload),
		raw("content", &v), str("type", &typ), str("role", &role)) {
		return 0, 0, "", false
	}
	h = Codex
	if string(typ) != "message" || len(role) == 0 {
		v = nil // not a bare item but a queue operation, a system line
	}
	if said := field(message, "content"); said != nil {
		v, h = said, Claude
	} else if said := field(payload, "content"); said != nil {
		v = said
	}
	start = offsetIn(entry, v)
	return start, start + len(v), h, v != nil
}

// Text is the text of a message: the string itself, or its text blocks joined
// by newlines. Text inside tool results is not part of it.
func Text(entry []byte) string {
	start, end, h, ok := contentSpan(entry)
	if !ok {
		return ""
	}
	v := entry[start:end]
	if s, ok := content(v); ok {
		return unescape(s)
	}
	var parts []string
	for block := range elements(v) {
		if b, ok := textBlock(block, h); ok && b != nil {
			parts = append(parts, unescape(b))
		}
	}
	return strings.Join(parts, "\n")
}

// textBlock reports whether block is a text block, and its raw text; nil when
// the text is missing or no string.
func textBlock(block []byte, h Host) (text []byte, ok bool) {
	var typ, value []byte
	readObject(block, str("type", &typ), raw("text", &value))
	text, _ = content(value)
	t := string(typ)
	return text, t == "text" || h == Codex && (t == "input_text" || t == "output_text")
}

// SetText returns a copy of entry in which the message's text is text: a string
// content is replaced; of a list all text blocks go and one new block stands
// where the first was. An entry without content comes back as it is.
func SetText(entry []byte, text string) []byte {
	start, end, h, ok := contentSpan(entry)
	if !ok {
		return bytes.Clone(entry)
	}
	repl, ok := replaceText(entry[start:end], text, h)
	if !ok {
		return bytes.Clone(entry)
	}
	return slices.Concat(entry[:start], repl, entry[end:])
}

func replaceText(v []byte, text string, h Host) ([]byte, bool) {
	if _, ok := content(v); ok {
		return appendString(nil, text), true
	}
	if len(v) == 0 || v[0] != '[' {
		return nil, false
	}
	var kept [][]byte
	at, typ := -1, []byte(`"text"`)
	for b := range elements(v) {
		if _, is := textBlock(b, h); !is {
			kept = append(kept, b)
		} else if at < 0 {
			at, typ = len(kept), field(b, "type")
		}
	}
	block := slices.Concat([]byte(`{"type":`), typ, []byte(`,"text":`), appendString(nil, text), []byte("}"))
	return joined(slices.Insert(kept, max(0, at), block)), true
}

// ToolSize is what the index counts as tool input and output of an entry, in
// bytes.
func ToolSize(h Host, entry []byte) int {
	var r record
	if len(entry) == 0 || !r.parse(entry, h) {
		return 0
	}
	return r.tool
}
