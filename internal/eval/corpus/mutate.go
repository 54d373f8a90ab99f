package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// mutation is a session after an accident. same says that it still tells the same: the
// tokens have to be what they were.
type mutation struct {
	name string
	same bool
	data []byte
}

// part is a piece of a session that is small enough to be read thousands of times: its
// head, and the lines around a compaction, where there is one.
func part(data []byte, most int, r *rand.Rand) []byte {
	lines := slices.Collect(bytes.Lines(data))
	if len(data) <= most || len(lines) < 4 {
		return data
	}
	var struck []int
	for i, l := range lines[2:] {
		if bytes.Contains(l[:min(len(l), 2000)], []byte(`compact_boundary"`)) || bytes.Contains(l[:min(len(l), 200)], []byte(`"compacted"`)) {
			struck = append(struck, i+2)
		}
	}
	at := 2 + r.IntN(len(lines)-2)
	if len(struck) > 0 {
		at = struck[r.IntN(len(struck))]
	}
	from, to, size := at, at, len(lines[0])+len(lines[1])
	for size < most && (from > 2 || to < len(lines)) {
		if from > 2 && (size < most*2/3 || to == len(lines)) {
			from--
			size += len(lines[from])
		} else if to < len(lines) {
			size += len(lines[to])
			to++
		}
	}
	return bytes.Join(append([][]byte{lines[0], lines[1]}, lines[from:to]...), nil)
}

// mutations of a session: n cuts, and one or more of each other kind.
func mutations(data []byte, cuts int, r *rand.Rand) (list []mutation) {
	add := func(name string, same bool, data []byte) { list = append(list, mutation{name, same, data}) }
	lines := slices.Collect(bytes.Lines(data))
	for i := range cuts {
		at := len(data)*i/cuts + r.IntN(len(data)/cuts+1)
		add(fmt.Sprint("cut at ", at), false, data[:min(at, len(data))])
	}
	for phase := range 6 {
		add(fmt.Sprint("escapes, phase ", phase), true, escaped(lines, phase))
	}
	twice := func(l [][]byte) []byte {
		var out []byte
		for _, line := range l {
			out = append(append(out, line...), line...)
		}
		return out
	}
	add("every line twice", false, twice(lines))
	add("the file twice", false, slices.Concat(data, data))
	mixed := slices.Clone(lines)
	r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	add("shuffled", false, bytes.Join(mixed, nil))
	near := slices.Clone(lines)
	for i := 1; i < len(near); i++ {
		if r.IntN(4) == 0 {
			near[i-1], near[i] = near[i], near[i-1]
		}
	}
	add("neighbours swapped", false, bytes.Join(near, nil))
	some := func(odds int, change func([]byte) []byte) []byte {
		var out []byte
		for _, line := range lines {
			if r.IntN(odds) == 0 {
				line = change(line)
			}
			out = append(out, line...)
		}
		return out
	}
	add("lines joined", false, some(3, func(l []byte) []byte { return bytes.TrimRight(l, "\r\n") }))
	add("lines missing", false, some(3, func([]byte) []byte { return nil }))
	add("lines cut", false, some(4, func(l []byte) []byte { return append(slices.Clone(l[:r.IntN(len(l))]), '\n') }))
	add("members sorted", true, some(1, sorted))
	add("CRLF", true, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
	add("byte order mark", true, slices.Concat([]byte("\ufeff"), data))
	add("NUL", false, some(5, func(l []byte) []byte { l = slices.Clone(l); l[r.IntN(len(l))] = 0; return l }))
	add("bytes flipped", false, some(5, func(l []byte) []byte { l = slices.Clone(l); l[r.IntN(len(l))] ^= 1 << r.IntN(8); return l }))
	add("a tail of NULs", false, slices.Concat(data, make([]byte, 4096)))
	for n := range 3 {
		add(fmt.Sprint("other types ", n), false, some(2, func(l []byte) []byte { return otherTypes(l, r) }))
	}
	return list
}

// escaped has every longer text written with \u escapes from its phase-th character on,
// so that a cut at any length falls into an escape in one of the phases.
func escaped(lines [][]byte, phase int) []byte {
	var out []byte
	for _, line := range lines {
		inString, start := false, 0
		for i := 0; i < len(line); i++ {
			switch {
			case inString && line[i] == '\\':
				i++
			case line[i] == '"' && !inString:
				inString, start = true, i
			case line[i] == '"':
				inString = false
				var s string
				if i-start < 80 || json.Unmarshal(line[start:i+1], &s) != nil || !utf8.ValidString(s) {
					out = append(out, line[start:i+1]...)
					continue
				}
				out = append(out, '"')
				for n, c := range []rune(s) {
					if n < phase && c >= ' ' && c != '"' && c != '\\' {
						out = utf8.AppendRune(out, c)
						continue
					}
					for _, u := range utf16.Encode([]rune{c}) {
						out = fmt.Appendf(out, `\u%04x`, u)
					}
				}
				out = append(out, '"')
			case !inString:
				out = append(out, line[i])
			}
		}
		if inString { // the line ends in it
			out = append(out, line[start:]...)
		}
	}
	return out
}

// sorted has the members of a line in the order of their names.
func sorted(line []byte) []byte {
	head, body := row(line)
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return line
	}
	out, err := json.Marshal(v)
	if err != nil {
		return line
	}
	return slices.Concat(head, out, []byte("\n"))
}

// row cuts what stands before the JSON of a row of a database.
func row(line []byte) (head, body []byte) {
	i := bytes.LastIndexByte(line[:min(200, len(line))], '\t') + 1
	return line[:i], line[i:]
}

// otherTypes gives one or two members of a line a value of another type.
func otherTypes(line []byte, r *rand.Rand) []byte {
	head, body := row(line)
	var v any
	if json.Unmarshal(body, &v) != nil {
		return line
	}
	others := []any{nil, true, 7.0, -1.0, 1e30, "", "x", []any{}, []any{nil, 1.0, "x"}, map[string]any{}, map[string]any{"type": 1.0}, strings.Repeat("é", 3000)}
	var visit func(any) any
	left := 1 + r.IntN(2)
	visit = func(v any) any {
		if left > 0 && r.IntN(12) == 0 {
			left--
			return others[r.IntN(len(others))]
		}
		switch v := v.(type) {
		case map[string]any:
			keys := make([]string, 0, len(v))
			for k := range v {
				keys = append(keys, k)
			}
			slices.Sort(keys) // the same seed, the same session
			for _, k := range keys {
				v[k] = visit(v[k])
			}
		case []any:
			for i := range v {
				v[i] = visit(v[i])
			}
		}
		return v
	}
	out, err := json.Marshal(visit(v))
	if err != nil {
		return line
	}
	return slices.Concat(head, out, []byte("\n"))
}
