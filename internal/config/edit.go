package config

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"strings"
)

// Set returns the text of a settings file with one key changed to a plain word.
// One line is touched or added: the line that sets the key, else the commented
// line that shows its default, else a new one in its section. Everything else,
// comments included, stays. A file whose layout does not allow that is an error,
// as is a value that the key does not take.
func Set(src []byte, key, value string) ([]byte, error) {
	before, problems := values(src)
	if before[key] == value {
		return src, nil
	}
	nl := "\n"
	if bytes.Contains(src, []byte("\r\n")) {
		nl = "\r\n"
	}
	text := string(src)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += nl
	}
	lines := strings.SplitAfter(text, "\n")
	path := strings.Split(key, ".")
	from, to, pad := 0, len(lines), ""
	for len(path) > 1 {
		start, end, deeper := sectionLines(lines[from:to], path[0], pad)
		if start == 0 {
			break
		}
		from, to, pad, path = from+start, from+end, deeper, path[1:]
	}
	found, name := -1, path[0]
	for i := to - 1; i >= from && len(path) == 1; i-- {
		switch rest, ok := strings.CutPrefix(lines[i], pad); {
		case !ok:
		case strings.HasPrefix(rest, name+":"):
			lines[i] = pad + name + ": " + value + comment(rest) + lineEnd(lines[i])
			return verified(strings.Join(lines, ""), before, problems, key, value)
		case strings.HasPrefix(rest, "#"+name+":"), strings.HasPrefix(rest, "# "+name+":"):
			found = i
		}
	}
	added := "" // the sections that are missing, and the key
	for i, name := range path[:len(path)-1] {
		added += pad + strings.Repeat("  ", i) + name + ":" + nl
	}
	added += pad + strings.Repeat("  ", len(path)-1) + path[len(path)-1] + ": " + value + nl
	switch {
	case found >= 0:
		lines[found] = pad + name + ": " + value + lineEnd(lines[found])
	case pad == "" && len(path) > 1 && text != "":
		lines = append(lines, nl+added)
	default:
		lines[from] = added + lines[from]
	}
	return verified(strings.Join(lines, ""), before, problems, key, value)
}

// Check lists what is wrong with a key or its value, as for a file that holds nothing
// else.
func Check(key, value string) []Problem {
	text, pad := "", ""
	for part := range strings.SplitSeq(key, ".") {
		text, pad = text+"\n"+pad+part+":", pad+"  "
	}
	c := Defaults()
	problems := DecodeYAML([]byte(strings.TrimPrefix(text, "\n")+" "+value+"\n"), "", 1, &c)
	for i := range problems {
		problems[i].Line = 0
	}
	return problems
}

// sectionLines finds the lines of a section whose own line is indented by outer, behind
// that line, and their indentation. from is 0 where there is none.
func sectionLines(lines []string, name, outer string) (from, to int, pad string) {
	for i, line := range lines {
		body := strings.TrimRight(line, "\r\n")
		if from == 0 {
			if rest, ok := strings.CutPrefix(body, outer+name+":"); ok && strings.TrimSpace(strings.SplitN(rest, "#", 2)[0]) == "" {
				from, to = i+1, i+1
			}
			continue
		}
		text := strings.TrimLeft(body, " ")
		indent := body[:len(body)-len(text)]
		switch {
		case text == "":
		case len(indent) <= len(outer) && text[0] != '#':
			return from, to, cmp.Or(pad, outer+"  ")
		case len(indent) > len(outer):
			to = i + 1
			// A comment shows the indentation only as long as nothing else does.
			if pad == "" || len(indent) < len(pad) {
				pad = indent
			}
		}
	}
	return from, to, cmp.Or(pad, outer+"  ")
}

// comment is the comment at the end of a line, with the space before it.
func comment(line string) string {
	if before, _, ok := strings.Cut(line, " #"); ok {
		return strings.TrimRight(line[len(strings.TrimRight(before, " ")):], "\r\n")
	}
	return ""
}

func lineEnd(line string) string { return line[len(strings.TrimRight(line, "\r\n")):] }

// verified checks that an edit did what it was meant to do, and nothing else.
func verified(text string, before map[string]string, problems int, key, value string) ([]byte, error) {
	after, more := values([]byte(text))
	before[key] = value
	// A key that stands twice is no more than a problem to the decoder.
	if !reflect.DeepEqual(before, after) || more > problems {
		return nil, fmt.Errorf("set %s to %s: the file's layout does not allow it, or the value is not one of this key's", key, value)
	}
	return []byte(text), nil
}

// values are the settings of a file by key, as text, and how many problems it
// has. A file that names no language has none, not the default: see [Config.Chosen].
func values(src []byte) (out map[string]string, problems int) {
	c := Defaults()
	c.Language = ""
	problems = len(DecodeYAML(src, "", 1, &c))
	return Values(c), problems
}
