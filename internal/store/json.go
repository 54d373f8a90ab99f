package store

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// maxDepth is how deep JSON may be nested, as in the standard library. What hosts
// send is a dozen deep.
const maxDepth = 10_000

// ValidJSON is gjson's check, three times as fast as the standard one, for data
// that cannot drive its recursion deep: ten million brackets would overflow the
// stack, which no recover stops, and end the process with 2, which hosts read as
// "block".
func ValidJSON(data []byte) bool {
	if bytes.Count(data, []byte{'['})+bytes.Count(data, []byte{'{'}) > maxDepth && tooDeep(data) {
		return false
	}
	return gjson.ValidBytes(data) //nolint:forbidigo // it is not deep
}

// tooDeep looks at brackets outside of strings only. On data that is no JSON it
// may be wrong by much, but it never calls deep data shallow: a parser that goes
// down has seen the same brackets.
func tooDeep(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// EncodeJSON leaves <, > and & as they are: models and people read it. What cannot be
// encoded is null; callers give strings, numbers, lists and types of their own.
func EncodeJSON(v any) json.RawMessage {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// Field is one member of a JSON object.
type Field struct {
	Key   string
	Value any // anything encoding/json takes
}

// Fields are the members of a JSON object, in order.
type Fields []Field

// Pairs makes members from alternating keys and values. It panics when a key is not a
// string or lacks its value.
func Pairs(pairs ...any) Fields {
	f := make(Fields, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		f.Add(pairs[i].(string), pairs[i+1])
	}
	return f
}

// Add appends a member.
func (f *Fields) Add(key string, value any) { *f = append(*f, Field{key, value}) }

// AddText appends a text, unless it is empty.
func (f *Fields) AddText(key, text string) {
	if text != "" {
		f.Add(key, text)
	}
}

// MarshalJSON fails where a value cannot be encoded.
func (f Fields) MarshalJSON() ([]byte, error) {
	b := bytes.NewBufferString("{")
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for _, m := range f {
		for j, v := range [...]any{m.Key, m.Value} {
			if err := e.Encode(v); err != nil {
				return nil, err
			}
			b.Bytes()[b.Len()-1] = ":,"[j] // in the place of Encode's newline
		}
	}
	if len(f) > 0 {
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSONFile is a document as it stands in a file of its own: two spaces and a final newline.
func JSONFile(v any) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, EncodeJSON(v), "", "  ") // what was encoded is valid
	b.WriteByte('\n')
	return b.Bytes()
}

// SetJSON is a JSON object with another value at a path of gjson's, keys with dots between
// them; objects that are missing on the way are made. No other byte changes. What is no
// object stays as it is.
func SetJSON[T string | []byte](object T, path string, value any) T {
	doc, raw := string(object), string(EncodeJSON(value))
	if at := gjson.Get(doc, path); at.Index > 0 {
		return T(doc[:at.Index] + raw + doc[at.Index+len(at.Raw):])
	}
	dot := strings.LastIndexByte(path, '.')
	if dot >= 0 {
		inner := gjson.Get(doc, path[:dot]).Raw
		if !strings.HasPrefix(inner, "{") {
			inner = "{}"
		}
		return T(SetJSON(doc, path[:dot], json.RawMessage(SetJSON(inner, path[dot+1:], json.RawMessage(raw)))))
	}
	end := len(strings.TrimRight(doc[:max(0, strings.LastIndexByte(doc, '}'))], " \t\r\n"))
	if end == 0 || !gjson.Parse(doc).IsObject() {
		return object
	}
	comma := ","
	if doc[end-1] == '{' {
		comma = ""
	}
	return T(doc[:end] + comma + string(EncodeJSON(path)) + ":" + raw + doc[end:])
}
