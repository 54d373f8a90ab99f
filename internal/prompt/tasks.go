package prompt

import (
	"bytes"
	"strings"
)

// tasks are the check boxes of one task list.
type tasks struct {
	checked   int
	unchecked []string
}

// parseTasks reads the check boxes of the "## Tasks" section, else of "## Stages",
// else of the whole file. Front matter and fenced code do not count, and a box
// without text is no task.
func parseTasks(src []byte) tasks {
	_, _, body, _ := splitFront(src)
	lines := proseLines(body)
	for _, heading := range []string{"## Tasks", "## Stages"} {
		if section, ok := sectionOf(lines, heading); ok {
			lines = section
			break
		}
	}
	var t tasks
	for _, l := range lines {
		switch text, done, ok := checkbox(l.text); {
		case !ok:
		case done:
			t.checked++
		default:
			t.unchecked = append(t.unchecked, text)
		}
	}
	return t
}

// line is one line of a body without its end, and where it starts.
type line struct {
	text string
	at   int
}

// proseLines returns the lines that are not part of fenced code.
func proseLines(body string) []line {
	var lines []line
	fence := ""
	at := 0
	for raw := range strings.Lines(body) {
		text := strings.TrimRight(raw, "\r\n")
		mark := fenceMark(text)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence == "":
			lines = append(lines, line{text, at})
		case mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.Trim(text, " \t"+mark[:1]) == "":
			fence = ""
		}
		at += len(raw)
	}
	return lines
}

// fenceMark returns the run of backquotes or tildes that opens or closes fenced
// code. A line with backquotes after the run is inline code.
func fenceMark(text string) string {
	text = strings.TrimLeft(text, " \t")
	if text == "" || text[0] != '`' && text[0] != '~' {
		return ""
	}
	rest := strings.TrimLeft(text, text[:1])
	mark := text[:len(text)-len(rest)]
	if len(mark) < 3 || mark[0] == '`' && strings.Contains(rest, "`") {
		return ""
	}
	return mark
}

func sectionOf(lines []line, heading string) ([]line, bool) {
	for i, l := range lines {
		if strings.TrimRight(l.text, " \t") != heading {
			continue
		}
		rest := lines[i+1:]
		for j, l := range rest {
			if strings.HasPrefix(l.text, "## ") {
				return rest[:j], true
			}
		}
		return rest, true
	}
	return nil, false
}

// checkbox reads "- [ ] text" and "- [x] text" with any bullet and indentation.
func checkbox(l string) (text string, done, ok bool) {
	l = strings.TrimSpace(l)
	if len(l) < 2 || !strings.ContainsRune("-*+", rune(l[0])) || l[1] != ' ' && l[1] != '\t' {
		return "", false, false
	}
	l = strings.TrimLeft(l[1:], " \t")
	if len(l) < 3 || l[0] != '[' || l[2] != ']' || !strings.ContainsRune(" xX", rune(l[1])) {
		return "", false, false
	}
	done, text = l[1] != ' ', l[3:]
	// "[x](url)", "[x][ref]" and "[x]: url" are links.
	if text != "" && strings.ContainsRune("([:", rune(text[0])) {
		return "", false, false
	}
	text = strings.TrimSpace(text)
	return text, done, text != ""
}

// tick marks the first line that is exactly "- [ ] stage" as done and leaves
// every other byte as it is. The second result is false when there is none.
func tick(src []byte, stage string) ([]byte, bool) {
	_, _, body, _ := splitFront(src)
	start := len(src) - len(body)
	for _, l := range proseLines(body) {
		if strings.TrimRight(l.text, " \t") == "- [ ] "+stage && stage != "" {
			out := bytes.Clone(src)
			out[start+l.at+len("- [")] = 'x'
			return out, true
		}
	}
	return src, false
}
