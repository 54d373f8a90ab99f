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
	section, name, nested := strings.Cut(key, ".")
	if group, leaf, deep := strings.Cut(name, "."); deep {
		return setDeep(src, section, group, leaf, value, before, problems)
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
	from, to, pad := 0, len(lines), ""
	if !nested {
		name = section
	} else if from, to, pad = sectionLines(lines, section); from == 0 {
		if text != "" {
			text += nl
		}
		return verified(text+section+":"+nl+"  "+name+": "+value+nl, before, problems, key, value)
	}
	found := -1
	for i := to - 1; i >= from; i-- {
		switch rest, ok := strings.CutPrefix(lines[i], pad); {
		case !ok:
		case strings.HasPrefix(rest, name+":"):
			lines[i] = pad + name + ": " + value + comment(rest) + lineEnd(lines[i])
			return verified(strings.Join(lines, ""), before, problems, key, value)
		case strings.HasPrefix(rest, "#"+name+":"), strings.HasPrefix(rest, "# "+name+":"):
			found = i
		}
	}
	if found >= 0 {
		lines[found] = pad + name + ": " + value + lineEnd(lines[found])
	} else {
		lines[from] = pad + name + ": " + value + nl + lines[from]
	}
	return verified(strings.Join(lines, ""), before, problems, key, value)
}

// setDeep is Set for a key of a group within a section.
func setDeep(src []byte, section, group, leaf, value string, before map[string]string, problems int) ([]byte, error) {
	key := section + "." + group + "." + leaf
	text := string(src)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines := strings.SplitAfter(text, "\n")
	from, to, pad := sectionLines(lines, section)
	if from == 0 {
		return verified(text+section+":\n  "+group+":\n    "+leaf+": "+value+"\n", before, problems, key, value)
	}
	at := -1 // the line that opens the group
	for i := from; i < to; i++ {
		body := strings.TrimRight(lines[i], " \r\n")
		indent := len(body) - len(strings.TrimLeft(body, " "))
		switch {
		case at < 0 && (body == pad+group+":" || strings.HasPrefix(body, pad+group+": #")):
			at = i
		case at >= 0 && strings.HasPrefix(strings.TrimLeft(body, " "), leaf+":") && indent > len(pad):
			lines[i] = body[:indent] + leaf + ": " + value + comment(body) + lineEnd(lines[i])
			return verified(strings.Join(lines, ""), before, problems, key, value)
		case at >= 0 && body != "" && indent <= len(pad):
			to = i
		}
	}
	deeper := pad + "  "
	if at >= 0 && at+1 < len(lines) {
		if next := strings.TrimRight(lines[at+1], "\r\n"); len(next)-len(strings.TrimLeft(next, " ")) > len(pad) {
			deeper = next[:len(next)-len(strings.TrimLeft(next, " "))]
		}
		lines[at] += deeper + leaf + ": " + value + "\n"
	} else {
		lines[from] = pad + group + ":\n" + deeper + leaf + ": " + value + "\n" + lines[from]
	}
	return verified(strings.Join(lines, ""), before, problems, key, value)
}

// sectionLines finds the lines of a section, behind the one that opens it, and
// their indentation. from is 0 where there is none.
func sectionLines(lines []string, name string) (from, to int, pad string) {
	for i, line := range lines {
		body := strings.TrimRight(line, "\r\n")
		if from == 0 {
			if rest, ok := strings.CutPrefix(body, name+":"); ok && strings.TrimSpace(strings.SplitN(rest, "#", 2)[0]) == "" {
				from, to = i+1, i+1
			}
			continue
		}
		text := strings.TrimLeft(body, " ")
		indent := body[:len(body)-len(text)]
		switch {
		case text == "":
		case indent == "" && text[0] != '#':
			return from, to, cmp.Or(pad, "  ")
		case indent != "":
			to = i + 1
			// A comment shows the indentation only as long as nothing else does.
			if pad == "" || len(indent) < len(pad) {
				pad = indent
			}
		}
	}
	return from, to, cmp.Or(pad, "  ")
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
// has.
func values(src []byte) (out map[string]string, problems int) {
	c := Defaults()
	problems = len(DecodeYAML(src, "", 1, &c))
	return Values(c), problems
}
