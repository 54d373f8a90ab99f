package extract

import (
	"strings"
	"unicode/utf8"
)

// A short answer is understood only with what it answers: the end of a message, the
// heading that it stands under, and the point that is named by its number.

// Leans reports a request that is not understood without what was said before it: it
// answers, points back, or names a point by its number.
func Leans(own string) bool {
	words := plainWords(own)
	if len(words) > 40 || wideRunes(own) > 40 {
		return false
	}
	if len(words) > 0 && continues(words[0]) || Chosen(own) != "" {
		return true
	}
	return mentions(" "+strings.Join(words[:min(len(words), 14)], " ")+" ", " that ", " it ", " this ", " those ", " these ", " them ", " again ", " same ", " instead ", " both ", " one ", " so ", " first ", " second ", " third ", " option ") ||
		wideRunes(own) <= 24 && mentions(own, "這", "这", "那", "它", "再", "同樣", "同样", "照", "就", "それ", "これ", "その") ||
		mentions(" "+strings.Join(words[:min(len(words), 14)], " ")+" ", " das ", " es ", " dies ", " ça ", " cela ", " eso ", " esto ", " это ")
}

// Proposal is what a short answer to a message refers to: how the message ends, and
// what stands at the head of its last part.
func Proposal(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(unfenced(text)), "\n")
	var head, body, end []string
	for i := len(lines) - 1; i >= 0; i-- {
		line := unlinked(strings.TrimSpace(lines[i]))
		switch {
		case line == "" || strings.Trim(line, "-*_= ") == "" || line[0] == '|':
		case heading(line):
			if head = append(head, strings.Trim(line, "#* ")); len(end) > 0 {
				i = 0
			}
		case runesIn(end) < most/2:
			end = append([]string{line}, end...)
		default:
			body = append([]string{line}, body...)
		}
	}
	closing := cutStart(strings.Join(end, " "), most*2/3)
	lead := strings.Join(append(head, body...), " ")
	if room := most - utf8.RuneCountInString(closing) - 3; lead != "" && room > 40 {
		if r := []rune(lead); len(r) > room {
			lead = string(r[:room])
		}
		return lead + " … " + strings.TrimPrefix(closing, "… ")
	}
	return closing
}

func runesIn(list []string) (n int) {
	for _, s := range list {
		n += utf8.RuneCountInString(s)
	}
	return n
}

// cutStart keeps the end of a text, from the beginning of a word on.
func cutStart(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	cut := string(r[len(r)-most:])
	if i := strings.IndexByte(cut, ' '); i >= 0 && i < 30 {
		cut = cut[i+1:]
	}
	return "… " + cut
}

// heading reports a line that stands over what follows it.
func heading(line string) bool {
	bare := strings.TrimRight(line, " :")
	return line[0] == '#' || strings.HasPrefix(bare, "**") && strings.HasSuffix(bare, "**") && !strings.ContainsAny(bare, "?？") && strings.Count(bare, "**") == 2
}

// unlinked is a line whose links have lost their addresses.
func unlinked(line string) string {
	for {
		i := strings.Index(line, "](")
		if i < 0 {
			return line
		}
		end := strings.IndexByte(line[i:], ')')
		open := strings.LastIndexByte(line[:i], '[')
		if end < 0 || open < 0 {
			return line
		}
		line = line[:open] + line[open+1:i] + line[i+end+1:]
	}
}

// Options are the numbered points of a text, by their number or letter. Where a number
// stands twice the last one counts: what is offered stands at the end.
func Options(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(unfenced(text)) {
		line = strings.TrimSpace(strings.NewReplacer("**", "", "__", "").Replace(line))
		line = strings.TrimSpace(strings.TrimLeft(line, "-*•# "))
		low := strings.ToLower(line)
		for _, p := range [...]string{"option ", "方案 ", "方案", "選項 ", "選項"} {
			if rest, ok := strings.CutPrefix(low, p); ok {
				line, low = line[len(line)-len(rest):], rest
				break
			}
		}
		at := strings.IndexAny(low, ".):")
		if at < 1 || at > 2 || at+2 > len(low) || strings.Trim(low[:at], "0123456789") != "" && (at > 1 || low[0] < 'a' || low[0] > 'd') {
			continue
		}
		if point := strings.TrimSpace(unlinked(line[at+1:])); point != "" && len(out) < 20 && !strings.HasPrefix(point, "✅") {
			out[low[:at]] = point
		}
	}
	return out
}

// Chosen is the number or letter that a choice names, "" for none.
func Chosen(own string) string {
	words := plainWords(own)
	for i, w := range words {
		switch {
		case strings.Trim(w, "0123456789") == "" && len(w) < 3 && len(words) < 30 && (i+1 == len(words) || !counted(words[i+1])), len(words) < 8 && (w == "b" || w == "c" || w == "d"):
			return w
		case w == "first" && len(words) < 12:
			return "1"
		case w == "second" && len(words) < 12:
			return "2"
		case w == "third" && len(words) < 12:
			return "3"
		}
	}
	return ""
}

// counted reports what numbers count rather than name.
func counted(w string) bool {
	return Listed(w, " times more minutes seconds hours days lines files tests mb kb gb ms percent chars characters items is x ")
}
