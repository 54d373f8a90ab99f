package transcript

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// cursor walks one JSON text member by member and validates what it passes.
// Session lines are mostly long strings, so strings are skipped eight bytes at
// a time; that, and visiting every byte once, is what beats a path query per
// field. After any step bad tells whether the text broke the grammar.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

const maxDepth = 10000

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// escape is the length of each escape by its second byte, 0 for none.
var escape = [256]uint8{'"': 2, '\\': 2, '/': 2, 'b': 2, 'f': 2, 'n': 2, 'r': 2, 't': 2, 'u': 6}

// scanString returns the index of the quote that ends the string whose first
// content byte is b[i], or -1. Nearly all bytes of a session pass here.
func scanString(b []byte, i int) int {
	const (
		lo = 0x0101010101010101
		hi = 0x8080808080808080
	)
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i : i+8])
		q := w ^ (lo * '"')
		s := w ^ (lo * '\\')
		// A set high bit marks a quote, a backslash or a control byte. Borrows
		// can raise false marks only above a true one, and the lowest is used.
		m := ((q-lo)&^q | (s-lo)&^s | (w-lo*0x20)&^w) & hi
		if m == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(m) >> 3
		if c := b[i]; c == '"' {
			return i
		} else if c != '\\' {
			return -1
		}
		for i < len(b) && b[i] == '\\' { // in code a line's end is followed by tabs
			if i = scanEscape(b, i); i < 0 {
				return -1
			}
		}
	}
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return i
		case c == '\\':
			if i = scanEscape(b, i); i < 0 {
				return -1
			}
		case c < 0x20:
			return -1
		default:
			i++
		}
	}
	return -1
}

// scanEscape returns the index after the escape at b[i], or -1.
func scanEscape(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	n := int(escape[b[i+1]])
	if n == 2 {
		return i + 2
	}
	if _, ok := hex4(b[i+2:]); n == 0 || !ok {
		return -1
	}
	return i + 6
}

// hex4 reads the four digits at the beginning of b; false where there are none.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch low := c | 0x20; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= low && low <= 'f':
			r = r<<4 | rune(low-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// scanScalar returns the index after the number or literal at b[i], or -1.
func scanScalar(b []byte, i int) int {
	end := i
	for end < len(b) && (b[end] > ' ' && b[end] != ',' && b[end] != ']' && b[end] != '}') {
		end++
	}
	if end == i || !gjson.ValidBytes(b[i:end]) { //nolint:forbidigo // it is not deep
		return -1
	}
	return end
}

// skip returns the index after the value that starts at b[i], or -1.
func skip(b []byte, i int) int { return skipDeep(b, i, maxDepth) }

func skipDeep(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		if i = scanString(b, i+1); i < 0 {
			return -1
		}
		return i + 1
	case '{', '[':
		if depth == 0 {
			return -1
		}
		c := cursor{b: b, i: i + 1}
		for first := true; c.more(b[i]+2, &first); { // '{'+2 is '}' and '['+2 is ']'
			if b[i] == '{' {
				c.key()
			}
			if c.i = skipDeep(b, space(b, c.i), depth-1); c.bad || c.i < 0 {
				return -1
			}
		}
		if c.bad {
			return -1
		}
		return c.i
	}
	return scanScalar(b, i)
}

// open consumes the bracket ch when the next value starts with it.
func (c *cursor) open(ch byte) bool {
	if c.bad {
		return false
	}
	if c.i = space(c.b, c.i); c.i >= len(c.b) || c.b[c.i] != ch {
		return false
	}
	c.i++
	return true
}

// more reports whether another member follows and consumes the comma or the
// closing bracket. first belongs to the caller's loop.
func (c *cursor) more(closing byte, first *bool) bool {
	if c.bad {
		return false
	}
	if c.i = space(c.b, c.i); c.i >= len(c.b) {
		c.bad = true
		return false
	}
	if c.b[c.i] == closing {
		c.i++
		return false
	}
	if *first {
		*first = false
		return true
	}
	if c.b[c.i] != ',' {
		c.bad = true
		return false
	}
	c.i++
	return true
}

// walkStrings calls fn for each string inside a value that is no key, with the key it
// stands under and where its inside begins and ends. It is false where one does not
// end.
func walkStrings(v []byte, fn func(key []byte, start, end int)) bool {
	var key, stack []byte
	for i := 0; i < len(v); {
		switch v[i] {
		case '{', '[':
			stack = append(stack, v[i])
			i++
		case '}', ']':
			stack = stack[:max(0, len(stack)-1)]
			i++
		case '"':
			start := i + 1
			end := scanString(v, start)
			if end < 0 {
				return false
			}
			i = space(v, end+1)
			if len(stack) > 0 && stack[len(stack)-1] == '{' && i < len(v) && v[i] == ':' {
				key = v[start:end]
				i++
				continue
			}
			fn(key, start, end)
		default:
			i++
		}
	}
	return true
}

// member is a member of an object that is of use, and where its value goes.
type member struct {
	name string
	str  *[]byte // what stands between the quotes; nil where it is no string
	raw  *[]byte // the value as it stands
	n    *int64
}

func str(name string, to *[]byte) member  { return member{name: name, str: to} }
func raw(name string, to *[]byte) member  { return member{name: name, raw: to} }
func count(name string, to *int64) member { return member{name: name, n: to} }

// read takes these members of the object whose brace is consumed, and passes over
// the others. Where a name comes twice, the last one counts.
func (c *cursor) read(members ...member) {
next:
	for first := true; c.more('}', &first); {
		k := c.key()
		for i := range members {
			if m := &members[i]; string(k) == m.name {
				switch {
				case m.str != nil:
					*m.str, _ = c.str()
				case m.raw != nil:
					*m.raw = c.raw()
				default:
					*m.n = c.integer()
				}
				continue next
			}
		}
		c.value()
	}
}

// readObject reads members of a value; it reports whether that is a whole object.
func readObject(v []byte, members ...member) bool {
	c := cursor{b: v}
	if !c.open('{') {
		return false
	}
	c.read(members...)
	return !c.bad
}

// elements are the values of a list, as they stand; none where it is no list, and those
// before the break where it is broken.
func elements(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c := cursor{b: list}
		if !c.open('[') {
			return
		}
		for first := true; c.more(']', &first); {
			if v := c.raw(); c.bad || !yield(v) {
				return
			}
		}
	}
}

// key consumes a member's name and its colon. Names with escapes are decoded.
func (c *cursor) key() []byte {
	if c.i = space(c.b, c.i); c.i >= len(c.b) || c.b[c.i] != '"' {
		c.bad = true
		return nil
	}
	start := c.i + 1
	end := scanString(c.b, start)
	if end < 0 {
		c.bad = true
		return nil
	}
	if c.i = space(c.b, end+1); c.i >= len(c.b) || c.b[c.i] != ':' {
		c.bad = true
		return nil
	}
	c.i = space(c.b, c.i+1)
	k := c.b[start:end]
	if bytes.IndexByte(k, '\\') >= 0 {
		return []byte(unescape(k))
	}
	return k
}

// value consumes the next value and returns its span.
func (c *cursor) value() (start, end int) {
	if c.bad {
		return 0, 0
	}
	start = space(c.b, c.i)
	end = skip(c.b, start)
	if end < 0 {
		c.bad = true
		return 0, 0
	}
	c.i = end
	return start, end
}

func (c *cursor) raw() []byte {
	s, e := c.value()
	return c.b[s:e]
}

// str consumes the next value; when it is a string, it returns its content as
// it stands in the file, escapes and all.
func (c *cursor) str() (raw []byte, ok bool) {
	v := c.raw()
	return content(v)
}

// content strips the quotes of a raw string value.
func content(v []byte) ([]byte, bool) {
	if len(v) < 2 || v[0] != '"' {
		return nil, false
	}
	return v[1 : len(v)-1], true
}

func (c *cursor) peek() byte {
	if c.bad {
		return 0
	}
	if c.i = space(c.b, c.i); c.i >= len(c.b) {
		return 0
	}
	return c.b[c.i]
}

func (c *cursor) isTrue() bool { return string(c.raw()) == "true" }

func (c *cursor) integer() int64 {
	v := c.raw()
	var n int64
	for i, d := range v {
		if d < '0' || d > '9' || i > 17 {
			break
		}
		n = n*10 + int64(d-'0')
	}
	return n
}

// unescape decodes the content of a JSON string. Lone surrogates and bytes that are not
// UTF-8 become U+FFFD, as in encoding/json; what is no escape stays as it stands.
func unescape(raw []byte) string {
	if bytes.IndexByte(raw, '\\') >= 0 {
		raw = appendText(make([]byte, 0, len(raw)), raw)
	}
	if utf8.Valid(raw) {
		return string(raw)
	}
	return string([]rune(string(raw)))
}

func appendText(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		if scanEscape(raw, i) < 0 {
			dst, raw = append(dst, '\\'), raw[i+1:]
			continue
		}
		e := raw[i+1]
		raw = raw[i+2:]
		switch e {
		case 'b':
			e = '\b'
		case 'f':
			e = '\f'
		case 'n':
			e = '\n'
		case 'r':
			e = '\r'
		case 't':
			e = '\t'
		case 'u':
			r, _ := hex4(raw)
			raw = raw[4:]
			// Surrogates come in pairs of escapes.
			if rest, ok := bytes.CutPrefix(raw, []byte(`\u`)); ok && utf16.IsSurrogate(r) {
				low, _ := hex4(rest)
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					r, raw = pair, rest[4:]
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, e)
	}
}

func units(raw []byte) (n int) {
	for i := 0; i < len(raw); n++ {
		if raw[i] == '\\' {
			i = max(i+1, scanEscape(raw, i))
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		if i += size; r > 0xFFFF {
			n++
		}
	}
	return n
}

func appendString(dst []byte, s string) []byte { return append(dst, store.EncodeJSON(s)...) }
