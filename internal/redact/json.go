package redact

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// JSON takes the secrets out of the strings of a JSON document. Strings that known
// holds, too, an earlier version that is clean, are not looked at again. A document
// without secrets is returned as it is.
func JSON(doc, known []byte) []byte {
	var (
		out  []byte
		at   int
		seen map[string]struct{}
	)
	literals(doc, func(start, end int) {
		raw := doc[start:end]
		if isPlain(raw) {
			return
		}
		if seen == nil {
			seen = map[string]struct{}{}
			literals(known, func(start, end int) { seen[view(known[start:end])] = struct{}{} })
		}
		if _, ok := seen[view(raw)]; ok {
			return
		}
		text := view(raw)
		if bytes.IndexByte(raw, '\\') >= 0 {
			if json.Unmarshal(doc[start-1:end+1], &text) != nil {
				return
			}
		}
		clean, found := Text(text)
		if len(found) == 0 {
			return
		}
		out = append(append(out, doc[at:start]...), quoted(clean)...)
		at = end
	})
	if out == nil {
		return doc
	}
	return append(out, doc[at:]...)
}

// literals hands over where the insides of a document's strings begin and end.
func literals(doc []byte, yield func(start, end int)) {
	for i := 0; ; i++ {
		n := bytes.IndexByte(doc[i:], '"')
		if n < 0 {
			return
		}
		start := i + n + 1
		for i = start; i < len(doc) && doc[i] != '"'; i++ {
			if doc[i] == '\\' {
				i++
			}
		}
		if i >= len(doc) {
			return
		}
		yield(start, i)
	}
}

// quoted is the inside of a string's literal.
func quoted(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can be encoded
	return b.Bytes()[1 : b.Len()-2]
}

// isPlain says, without the rules, that a text holds no secret: a number, a time, a
// UUID, or a name or path whose parts are short or lower case words. To make the
// rules costs more than most hooks' texts are worth.
func isPlain(text []byte) bool {
	const shortest = 15 // of a token that needs no label
	hex, path := true, true
	run, low := 0, true // the part of the path
	for _, c := range text {
		switch lower, number := 'a' <= c && c <= 'z' || c == '_' || c == '-', '0' <= c && c <= '9'; {
		case c == '/' || c == '.':
			run, low = 0, true
		case lower || number || 'A' <= c && c <= 'Z':
			run++
			low = low && lower
			path = path && (low || run < shortest)
		default:
			path = false
		}
		if (c < '0' || c > ':') && (c < 'a' || c > 'f') && c != '.' && c != '-' && c != 'T' && c != 'Z' {
			hex = false
		}
		if !hex && !path {
			return false
		}
	}
	return true
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// margin is how much more of a long text is looked at than is wanted of it: a secret
// that the cut goes through ends there, a private key of the usual sizes included.
const margin = 4 << 10

// Start is the beginning of a text without its secrets, for who keeps n bytes of it
// or less: some more than that, but no more than is needed to know what the cut will
// go through.
func Start(text string, n int) string {
	if end := n + margin; end < len(text) {
		for !utf8.RuneStart(text[end]) {
			end--
		}
		// Of a word that goes on, nobody knows what it is.
		for end > 0 && inToken(text[end]) && inToken(text[end-1]) {
			end--
		}
		text = text[:end]
	}
	return Clean(text)
}

// End is the end of a text, as [Start] is its beginning.
func End(text string, n int) string {
	if start := len(text) - n - margin; start > 0 {
		for start < len(text) && (!utf8.RuneStart(text[start]) || inToken(text[start-1]) && inToken(text[start])) {
			start++
		}
		text = text[start:]
	}
	return Clean(text)
}

func inToken(c byte) bool {
	return c > ' ' && c < utf8.RuneSelf && strings.IndexByte("\"'`,;()[]{}<>&|\\", c) < 0
}
