package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// Edit is one change of a JSON file. Once applied it holds what it takes to undo
// it. Values are JSON text, kept as strings because a round trip through
// encoding/json would reformat what was the user's.
type Edit struct {
	Path  []string `json:"path"`  // keys from the root
	Value string   `json:"value"` // of the member at Path, or of a new element
	// Append adds an element to the array at Path instead of setting a member.
	// Mark, with our name, recognises an element of ours that differs from Value.
	Append bool   `json:"append,omitempty"`
	Mark   string `json:"mark,omitempty"`
	// Own says that the key is named after us: undoing removes it whatever it
	// holds by then. Any other value that was changed since is left alone.
	Own bool `json:"own,omitempty"`
	// Last says that what else is in the file by then needs it, too: undoing removes it
	// when nothing else is left.
	Last bool `json:"last,omitempty"`

	Old   *string `json:"old,omitempty"`   // what was there
	Made  int     `json:"made,omitempty"`  // containers made for it, the array included
	Inner string  `json:"inner,omitempty"` // white space in the container that was empty, or the comma at its end
	// Block marks an edit of a TOML file: Value is the text that was added at its
	// end, see [Block].
	Block bool `json:"block,omitempty"`
	// Comments marks an edit of a file whose host reads JSON with comments and with
	// commas at the ends of lists.
	Comments bool `json:"comments,omitempty"`
}

// commented reports whether edits are of a file that may hold comments.
func commented(edits []Edit) bool { return len(edits) > 0 && edits[0].Comments }

// Key is the path as people write it.
func (e Edit) Key() string { return strings.Join(e.Path, ".") }

// syntaxError says where a file stops being JSON.
type syntaxError struct {
	Line, Column int
	Err          error
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err)
}
func (e *syntaxError) Unwrap() error { return e.Err }

// Apply makes the edits in a JSON object and leaves every other byte as it is.
// New text follows the indentation and line ends around it. An empty file counts
// as an empty object. done lists the edits that changed something: edits that
// find their value in place are left out, so applying twice changes nothing.
func Apply(data []byte, edits []Edit) (after []byte, done []Edit, err error) {
	d, err := parse(data, commented(edits))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range edits {
		changed, err := d.apply(&e)
		if err != nil {
			return nil, nil, err
		}
		if changed {
			done = append(done, e)
		}
	}
	if len(done) == 0 {
		return data, nil, nil
	}
	if !json.Valid(d.plain) {
		return nil, nil, errors.New("the result would not be JSON")
	}
	return d.bytes(), done, nil
}

// revert undoes edits, the last one first, in a file that may have been edited
// since. kept lists those whose place holds something else by now.
func revert(data []byte, edits []Edit) (after []byte, kept []Edit, err error) {
	d, err := parse(data, commented(edits))
	if err != nil {
		return nil, nil, err
	}
	before := string(d.text)
	for _, edit := range slices.Backward(edits) {
		if !d.revert(edit) {
			kept = append(kept, edit)
		}
	}
	if string(d.text) == before {
		return data, kept, nil
	}
	return d.bytes(), kept, nil
}

// Holds reports whether a JSON file has what an edit wants, or an element of ours
// in its place.
func Holds(data []byte, e Edit) bool {
	there, _ := holds(data, e)
	return there
}

// holds is [Holds]; exact says that it is what the edit wants.
func holds(data []byte, e Edit) (there, exact bool) {
	d, err := parse(data, e.Comments)
	if err != nil {
		return false, false
	}
	changed, err := d.apply(&e)
	return err == nil && (!changed || e.Append && e.Old != nil), err == nil && !changed
}

// empty reports whether a JSON file is an object without members.
func empty(data []byte, comments bool) bool {
	d, err := parse(data, comments)
	if err != nil {
		return false
	}
	list, _ := items(d.plain, d.root())
	return len(list) == 0 && bytes.Equal(d.text, d.plain)
}

const bom = "\uFEFF"

// doc is valid JSON text, an object, under edit.
type doc struct {
	text []byte
	// plain is the text with blanks in the place of comments and of commas that
	// nothing follows: JSON, in which everything stands where it stands in text.
	plain    []byte
	comments bool
	bom      bool
	unit     string // one step of indentation
	nl       string
	wide     bool // one member a line
}

func parse(data []byte, comments bool) (*doc, error) {
	d := &doc{unit: "  ", nl: "\n", wide: true, comments: comments}
	text := data
	if t, ok := bytes.CutPrefix(data, []byte(bom)); ok {
		d.bom, text = true, t
	}
	if len(bytes.TrimSpace(text)) == 0 {
		d.text = []byte("{}\n")
		d.look()
		return d, nil
	}
	d.text = bytes.Clone(text)
	d.look()
	var root any
	if err := json.Unmarshal(d.plain, &root); err != nil {
		var s *json.SyntaxError
		if !errors.As(err, &s) {
			return nil, err
		}
		// The offset counts the bytes read, the offending one included.
		at := max(int(s.Offset)-1, 0)
		line := bytes.Count(text[:at], []byte("\n")) + 1
		return nil, &syntaxError{Line: line, Column: at - bytes.LastIndexByte(text[:at], '\n'), Err: err}
	}
	if _, ok := root.(map[string]any); !ok {
		return nil, errors.New("not a JSON object")
	}
	if bytes.Contains(text, []byte("\r\n")) {
		d.nl = "\r\n"
	}
	if list, _ := items(d.plain, d.root()); len(list) > 0 {
		lead := string(d.text[d.root()+1 : list[0].start])
		i := strings.LastIndexByte(lead, '\n')
		d.wide = i >= 0
		if d.wide && lead[i+1:] != "" {
			d.unit = lead[i+1:]
		}
	}
	return d, nil
}

func (d *doc) bytes() []byte {
	if d.bom {
		return append([]byte(bom), d.text...)
	}
	return d.text
}

func (d *doc) root() int { return skipSpace(d.plain, 0) }

// look reads the text anew.
func (d *doc) look() {
	if d.plain = d.text; d.comments {
		d.plain = withoutComments(d.text)
	}
}

// withoutComments is JSON with comments as JSON, of the same length: what is no JSON
// becomes white space.
func withoutComments(text []byte) []byte {
	out := bytes.Clone(text)
	comma := -1 // the newest one, as long as nothing but white space follows it
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case bytes.HasPrefix(out[i:], []byte("//")):
			line, _, _ := bytes.Cut(out[i:], []byte("\n"))
			i += copy(out[i:], bytes.Repeat([]byte(" "), len(line))) - 1
		case bytes.HasPrefix(out[i:], []byte("/*")):
			inside, _, closed := bytes.Cut(out[i+2:], []byte("*/"))
			n := 2 + len(inside)
			if closed {
				n += 2
			}
			i += copy(out[i:], bytes.Repeat([]byte(" "), n)) - 1
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return out
}

// item is a member of an object or an element of an array, by offsets. A
// member starts at its key.
type item struct {
	key               string
	start, value, end int
	colon             string // what stands between key and value
}

// items lists what is in the object or array that begins at at; end is where
// its closing bracket stands.
func items(b []byte, at int) (list []item, end int) {
	end = endOfValue(b, at)
	gjson.ParseBytes(b[at:end]).ForEach(func(key, value gjson.Result) bool {
		it := item{start: at + value.Index, value: at + value.Index, end: at + value.Index + len(value.Raw)}
		if b[at] == '{' {
			it.key, it.start = key.String(), at+key.Index
			it.colon = string(b[it.start+len(key.Raw) : it.value])
		}
		list = append(list, it)
		return true
	})
	return list, end - 1
}

func skipSpace(b []byte, i int) int { return len(b) - len(bytes.TrimLeft(b[i:], " \t\r\n")) }

// endOfValue is the offset behind the value that begins at i.
func endOfValue(b []byte, i int) int {
	var raw json.RawMessage
	_ = json.NewDecoder(bytes.NewReader(b[i:])).Decode(&raw) // the whole is JSON
	return i + len(raw)
}

// member finds a key; where it stands twice, the last one counts, as it does for
// the hosts.
func member(b []byte, at int, key string) (list []item, i int) {
	list, _ = items(b, at)
	for i = len(list) - 1; i >= 0; i-- {
		if list[i].key == key {
			break
		}
	}
	return list, i
}

// locate goes down the path as far as it exists. at is where the last value
// found begins, n how many keys were found.
func (d *doc) locate(path []string) (at, n int) {
	at = d.root()
	for n < len(path) {
		if d.plain[at] != '{' {
			return at, n
		}
		list, i := member(d.plain, at, path[n])
		if i < 0 {
			return at, n
		}
		at = list[i].value
		n++
	}
	return at, n
}

// find is locate for the whole path.
func (d *doc) find(path []string) (at int, there bool) {
	at, n := d.locate(path)
	return at, n == len(path)
}

func (d *doc) valueAt(at int) string { return string(d.text[at:endOfValue(d.plain, at)]) }

// means reports whether the value at an offset is that one.
func (d *doc) means(at int, value string) bool {
	return same(string(d.plain[at:endOfValue(d.plain, at)]), value)
}

func (d *doc) splice(from, to int, text string) {
	d.text = append(d.text[:from:from], append([]byte(text), d.text[to:]...)...)
	d.look()
}

func (d *doc) apply(e *Edit) (changed bool, err error) {
	at, n := d.locate(e.Path)
	if n < len(e.Path) {
		if d.plain[at] != '{' {
			return false, fmt.Errorf("%s is not an object", strings.Join(e.Path[:n], "."))
		}
		value := e.Value
		if e.Append {
			value = "[" + value + "]"
			e.Made++
		}
		for i := len(e.Path) - 1; i > n; i-- {
			value = "{" + quote(e.Path[i]) + ":" + value + "}"
			e.Made++
		}
		e.Inner = d.insert(at, e.Path[n], value)
		return true, nil
	}
	if !e.Append {
		return d.replace(at, e), nil
	}
	if d.plain[at] != '[' {
		return false, fmt.Errorf("%s is not an array", strings.Join(e.Path, "."))
	}
	list, i, ours := d.element(at, *e)
	switch {
	case i < 0:
		e.Inner = d.insert(at, "", e.Value)
		return true, nil
	case !ours:
		return false, nil
	}
	return d.replace(list[i].value, e), nil
}

// replace puts an edit's value in the place of another one.
func (d *doc) replace(at int, e *Edit) (changed bool) {
	old := d.valueAt(at)
	if d.means(at, e.Value) {
		return false
	}
	e.Old = &old
	d.splice(at, at+len(old), d.render(e.Value, d.indent(at)))
	return true
}

// element finds an element that is the edit's, or that holds its mark. ours is
// false for one that holds more than that: it was merged by hand.
func (d *doc) element(at int, e Edit) (list []item, i int, ours bool) {
	list, _ = items(d.plain, at)
	for i = len(list) - 1; i >= 0; i-- {
		raw := string(d.plain[list[i].value:list[i].end])
		if same(raw, e.Value) {
			return list, i, true
		}
		if e.Mark != "" && strings.Contains(raw, e.Mark) && strings.Contains(raw, "overtone") {
			return list, i, single(raw)
		}
	}
	return list, i, false
}

// single reports whether an element is a hook, or a group with one.
func single(raw string) bool {
	var g struct {
		Command string
		Hooks   []json.RawMessage
	}
	return json.Unmarshal([]byte(raw), &g) == nil && (g.Command != "" || len(g.Hooks) == 1)
}

// insert adds a member (or, with an empty key, an element) at the end of the
// container at at, in the manner of its neighbours. It returns the white space
// that an empty container held.
func (d *doc) insert(at int, key, value string) (inner string) {
	list, end := items(d.plain, at)
	colon, wide, lead := ": ", d.wide, ""
	if n := len(list); n > 0 {
		from := at + 1
		if n > 1 {
			from = skipSpace(d.plain, list[n-2].end) + 1
		}
		lead = string(d.plain[from:list[n-1].start])
		i := strings.LastIndexByte(lead, '\n')
		if wide = i >= 0; wide {
			lead = lead[i+1:]
		} else if n == 1 && (strings.HasSuffix(list[0].colon, " ") || list[0].colon == "" && d.wide) {
			lead = " "
		}
		if c := list[n-1].colon; c != "" && !strings.ContainsAny(c, "\r\n") {
			colon = c
		}
	}
	prefix := ""
	if key != "" {
		prefix = quote(key) + colon
	}
	outer := d.indent(at)
	switch {
	case len(list) > 0 && wide:
		last := list[len(list)-1].end
		// A comment behind the last one on its line is about that one.
		line := last + bytes.IndexByte(append(d.plain[last:end:end], '\n'), '\n')
		line = last + len(bytes.TrimRight(d.text[last:line], " \t\r"))
		if bytes.Equal(d.text[last:line], d.plain[last:line]) {
			line = last
		}
		d.splice(line, line, d.nl+lead+prefix+d.render(value, lead))
		if d.plain[skipSpace(d.plain, last)] == ',' {
			return "," // one that nothing followed
		}
		d.splice(last, last, ",")
	case len(list) > 0:
		d.splice(list[len(list)-1].end, list[len(list)-1].end, ","+lead+prefix+value)
	case wide || len(bytes.TrimSpace(d.text[at+1:end])) > 0:
		inner = string(d.text[at+1 : end])
		d.splice(at+1, end, strings.TrimRight(inner, " \t\r\n")+d.nl+outer+d.unit+prefix+d.render(value, outer+d.unit)+d.nl+outer)
	default:
		inner = string(d.text[at+1 : end])
		d.splice(at+1, end, prefix+value)
	}
	return inner
}

// render lays a value out for a line with this indentation.
func (d *doc) render(value, indent string) string {
	if !d.wide {
		return value
	}
	var b bytes.Buffer
	if json.Indent(&b, []byte(value), indent, d.unit) != nil {
		return value
	}
	return strings.ReplaceAll(b.String(), "\n", d.nl)
}

// indent is the white space that the line of an offset begins with.
func (d *doc) indent(at int) string {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// revert undoes one edit; false means that its place holds something else.
func (d *doc) revert(e Edit) bool {
	if list, _ := items(d.plain, d.root()); e.Last && len(list) > 1 {
		return true
	}
	at, there := d.find(e.Path)
	if !there {
		return true // gone already
	}
	if e.Append {
		if d.plain[at] != '[' {
			return false
		}
		list, i, ours := d.element(at, e)
		switch {
		case i < 0:
		case !ours:
			return false
		case e.Old != nil:
			d.splice(list[i].value, list[i].end, *e.Old)
			return true
		default:
			d.remove(at, list, i, e.inner(e.Made))
		}
		d.prune(e.Path, e)
		return true
	}
	raw := d.valueAt(at)
	switch {
	case !e.Own && !d.means(at, e.Value):
		return false
	case e.Old != nil && !e.Own:
		d.splice(at, at+len(raw), *e.Old)
		return true
	}
	d.drop(e.Path, e.inner(e.Made))
	d.prune(e.Path[:len(e.Path)-1], e)
	return true
}

// inner is what the innermost container held; one of those that were made held nothing.
func (e Edit) inner(made int) string {
	if made > 0 {
		return ""
	}
	return e.Inner
}

func (d *doc) drop(path []string, inner string) {
	last := len(path) - 1
	parent, _ := d.locate(path[:last])
	list, i := member(d.plain, parent, path[last])
	d.remove(parent, list, i, inner)
}

// prune removes containers that were made for an edit and are empty again,
// from the one at path upwards.
func (d *doc) prune(path []string, e Edit) {
	for made := e.Made; made > 0 && len(path) > 0; made-- {
		at, there := d.find(path)
		if list, _ := items(d.plain, at); !there || len(list) > 0 {
			return
		}
		d.drop(path, e.inner(made-1))
		path = path[:len(path)-1]
	}
}

// remove takes an item out with its comma and the white space around it.
func (d *doc) remove(at int, list []item, i int, inner string) {
	switch {
	case i+1 < len(list):
		d.splice(list[i].start, list[i+1].start, "")
	case i > 0:
		from, last := list[i-1].end, list[i].start
		comma := skipSpace(d.plain, from)
		d.splice(from+len(bytes.TrimRight(d.text[from:last], " \t\r\n")), list[i].end, "")
		if inner != "," {
			d.splice(comma, comma+1, "")
		}
	default:
		_, end := items(d.plain, at)
		d.splice(at+1, end, inner)
	}
}

func quote(s string) string { return string(store.EncodeJSON(s)) }

// same reports whether two JSON texts mean the same.
func same(a, b string) bool {
	return a == b || reflect.DeepEqual(decode(a), decode(b))
}

func decode(s string) any {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}
