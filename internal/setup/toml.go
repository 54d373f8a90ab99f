package setup

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// table is what a table of a TOML file means.
type table = map[string]any

const bom = "\uFEFF"

func readTOML(data []byte) (table, error) {
	t := table{}
	err := toml.Unmarshal(bytes.TrimPrefix(data, []byte(bom)), &t)
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return nil, fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	return t, err
}

// lookup finds what a name stands for, nil where it stands for nothing.
func lookup(t table, key []string) any {
	var v any = t
	for _, k := range key {
		sub, _ := v.(table)
		v = sub[k]
	}
	return v
}

// without takes a name out, and the tables that hold nothing else.
func without(t table, key []string) {
	if len(key) == 1 {
		delete(t, key[0])
	} else if sub, ok := t[key[0]].(table); ok {
		if without(sub, key[1:]); len(sub) == 0 {
			delete(t, key[0])
		}
	}
}

// same compares two tables by what is printed of them: NaN does not equal itself.
func same(a, b table) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// claim says whose table it is that a file has under the name of a block.
type claim int

const (
	nobodys claim = iota // there is none; tables below it may be left
	ours                 // it has the values of the block, and may have more
	theirs
)

// claimed looks for a block's table; more names what it holds beside the block.
func claimed(file table, b host.Block) (whose claim, more []string) {
	found := lookup(file, b.Key)
	t, ok := found.(table)
	if !ok && found != nil {
		return theirs, nil
	}
	text, _ := readTOML([]byte(b.Text)) // one that cannot be read is found nowhere
	want, _ := lookup(text, b.Key).(table)
	has := table{}
	for _, k := range slices.Sorted(maps.Keys(t)) {
		if _, ok := want[k]; ok {
			has[k] = t[k]
			continue
		}
		more = append(more, strings.Join(b.Key, ".")+"."+k)
		if _, ok := t[k].(table); !ok {
			whose = theirs
		}
	}
	switch {
	case same(has, want):
		whose = ours
	case len(has) > 0:
		whose = theirs
	}
	return whose, more
}

// errShape says that a file is written so that no such table can be added.
var errShape = errors.New("no table can be added")

// addTable puts a block at the end of a file that has no such table. The file
// must then mean what it meant before, and the block.
func addTable(f *host.File, b host.Block) error {
	text := b.Marks[0] + "\n" + b.Text
	if len(f.Before) > 0 {
		text = "\n" + text // an empty line, or the end of the user's last one
	}
	if bytes.Contains(f.Before, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	after := append(bytes.Clone(f.Before), text...)
	if whose, ok := alike(f.Before, after, b); whose != ours || !ok {
		return errShape
	}
	f.After = after
	f.Edits = append(f.Edits, host.Edit{Path: b.Key, Value: text, Block: true})
	return nil
}

// alike reports whether two files mean the same but for a block's table, and
// whose the second one has.
func alike(before, after []byte, b host.Block) (whose claim, ok bool) {
	old, err1 := readTOML(before)
	now, err2 := readTOML(after)
	if err1 != nil || err2 != nil {
		return theirs, false
	}
	whose, _ = claimed(now, b)
	without(old, b.Key)
	without(now, b.Key)
	return whose, same(old, now)
}

// takeTable takes a block's table out of a file, with comment lines that are its
// marks, unless it is the user's. Ours is known by its values, wherever it stands
// and whatever stands around it by then: Codex writes its servers anew, without
// comments, and puts other tables between ours and the end of the file. What was
// added to our table, such as the approval of one of its tools, goes with it: Codex
// would not start otherwise. more names that.
func takeTable(data []byte, b host.Block) (after []byte, whose claim, more []string, err error) {
	file, err := readTOML(data)
	if err != nil {
		return nil, nobodys, nil, err
	}
	whose, more = claimed(file, b)
	after = cutTable(data, b)
	if left, ok := alike(data, after, b); whose == theirs || left != nobodys || !ok {
		return data, theirs, nil, nil
	}
	return after, whose, more, nil
}

// cutTable leaves out the lines of a block's table and of all below it, and those
// of its marks, each with an empty line before it. Other comments stay.
func cutTable(data []byte, b host.Block) []byte {
	text := bytes.TrimPrefix(data, []byte(bom))
	after := bytes.Clone(data[:len(data)-len(text)])
	done := 0 // up to here text is copied, or left out
	var header []string
	p := unstable.Parser{KeepComments: true}
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		at, end := int(e.Raw.Offset), int(e.Raw.Offset+e.Raw.Length) // 0 of a header
		goes := slices.Contains(b.Marks, string(bytes.TrimSpace(e.Data)))
		if e.Kind != unstable.Comment {
			var name []string
			for it := e.Key(); it.Next(); {
				name = append(name, string(it.Node().Data))
				end = max(end, int(it.Node().Raw.Offset+it.Node().Raw.Length))
			}
			if e.Kind == unstable.KeyValue {
				name = append(slices.Clone(header), name...)
			} else {
				header, at = name, end
			}
			goes = len(name) >= len(b.Key) && slices.Equal(name[:len(b.Key)], b.Key)
		}
		if !goes {
			continue
		}
		from := bytes.LastIndexByte(text[:at], '\n') + 1
		if e.Kind != unstable.KeyValue && from > done {
			line := bytes.LastIndexByte(text[:from-1], '\n') + 1
			if len(bytes.Trim(text[line:from], "\r\n")) == 0 { // ours; one with spaces is the user's
				from = line
			}
		}
		after = append(after, text[done:from]...)
		if c := e.Next(); c.Valid() {
			done = int(c.Raw.Offset) // a comment behind it
		} else if n := bytes.IndexByte(text[end:], '\n'); n >= 0 {
			done = end + n + 1
		} else {
			done = len(text)
		}
	}
	return append(after, text[done:]...)
}

// marked reports whether one of the comments right above a block's table is its mark. In
// a text of the user's, or above another table, it says nothing.
func marked(data []byte, b host.Block) bool {
	p := unstable.Parser{KeepComments: true}
	p.Reset(bytes.TrimPrefix(data, []byte(bom)))
	for above := false; p.NextExpression(); {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			above = above || slices.Contains(b.Marks, string(bytes.TrimSpace(e.Data)))
			continue
		}
		var name []string
		for it := e.Key(); it.Next(); {
			name = append(name, string(it.Node().Data))
		}
		if above && e.Kind == unstable.Table && slices.Equal(name, b.Key) {
			return true
		}
		above = false
	}
	return false
}

// written is the block that an edit of an earlier run has written.
func written(e host.Edit, key []string) host.Block {
	b := host.Block{Key: key, Text: e.Value}
	for line := range strings.Lines(e.Value) {
		if strings.HasPrefix(line, "#") {
			b.Marks = append(b.Marks, strings.TrimSpace(line))
		}
	}
	return b
}

// tomlHint says what to do about a file that a block cannot be added to.
func (c *change) tomlHint(err error, b host.Block) error {
	if !errors.Is(err, errShape) {
		return c.jsonHint(fmt.Errorf("edit %s: %w", b.Path, err), b.Path)
	}
	n := len(b.Key) - 1
	parent, lines := strings.Join(b.Key[:n], "."), strings.Split(strings.TrimSpace(b.Text), "\n")
	return message.WithHint(message.Fail(message.TableRefused, c.env.Folders.Short(b.Path), strings.Join(b.Key, "."), parent),
		message.HintTableRefused, parent, b.Key[n]+" = { "+strings.Join(lines[1:], ", ")+" }")
}
