package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type value struct {
	start, end int
	quoted     bool
	ends       bool // nothing follows it on its line
}

// place says how text without quotes is to be read.
type place int

const (
	code    place = iota // a bare word may be a variable
	prose                // a bare word may be a word, or the argument of a command
	setting              // text: quoted, or in a file of settings
)

// assigned finds name = value, name: value, "name": "value", name := value,
// name => value. i is the position of the sign.
func (s *scanner) assigned(i int) (Span, bool) {
	if strings.HasPrefix(s.text[i:], ":=") {
		return Span{}, false // the next sign counts
	}
	name, ok := s.nameBefore(i)
	if !ok || !s.meaningOf(name).telling && name != "d" && name != "user" || name == "PASS" && s.text[i] == ':' {
		return Span{}, false
	}
	from := i + 1
	if s.text[i] == ':' {
		from = s.skipYAML(s.runSpace(from))
	}
	v, ok := s.valueAfter(from)
	if !ok {
		return Span{}, false
	}
	switch name {
	case "user": // of .curlrc
		if s.text[i] != '=' {
			return Span{}, false
		}
		return s.divide(v, ":")
	case "d": // of a JSON web key
		return Span{v.start, v.end, "private-key"}, v.end-v.start > 40 && looksRandom(s.text[v.start:v.end]) && strings.Contains(s.text[max(0, i-1024):i], `"kty`)
	}
	if !v.quoted && strings.HasPrefix(s.text[v.end:], "(") { // String::from("…")
		if inner, ok := s.valueAfter(v.end + 1); ok && inner.quoted {
			return s.judge(name, inner, prose)
		}
	}
	if v.quoted {
		return s.judge(name, v, setting)
	}
	// NAME=value as in a shell or an .env file, and name: value as in YAML, are
	// text even without quotes; elsewhere a bare word is a variable.
	where := code
	switch s.text[i] {
	case '=':
		if s.meaningOf(name).strength == header {
			return Span{}, false // code: a header is written with a colon
		}
		if v.start == i+1 {
			where = setting
		} else if v.ends {
			where = prose
		}
	case ':':
		if v.start > i+1 && v.ends {
			where = setting
		} else if v.start > i+1 {
			where = prose
		}
	}
	return s.judge(name, v, where)
}

// argument finds f("name", "value"). i is the position of the comma.
func (s *scanner) argument(i int) (Span, bool) {
	if i == 0 || s.text[i-1] != '"' && s.text[i-1] != '\'' {
		return Span{}, false
	}
	if end := s.skipBack(i, 12); strings.HasSuffix(s.text[:s.back(end, urlSafe|dot, 80)], "/") {
		return Span{}, false // the end of a path in a list of paths is no name
	}
	return s.pair(i, i+1)
}

// fallback finds name ?? "value" and name || "value". i is that of the sign.
func (s *scanner) fallback(i int) (Span, bool) {
	if i+1 >= len(s.text) || s.text[i+1] != s.text[i] {
		return Span{}, false
	}
	return s.pair(i, i+2)
}

// pair judges the name before i and the quoted value at j.
func (s *scanner) pair(i, j int) (Span, bool) {
	name, ok := s.nameBefore(i)
	if !ok || !s.meaningOf(name).telling {
		return Span{}, false
	}
	if v, ok := s.valueAfter(j); ok && v.quoted {
		return s.judge(name, v, setting)
	}
	return Span{}, false
}

// cell finds | name | value |. i is the position of the bar between them.
func (s *scanner) cell(i int) (Span, bool) {
	name, ok := s.nameBefore(i)
	if !ok || !s.meaningOf(name).telling || strings.Contains(s.text[i-1:min(len(s.text), i+2)], "||") {
		return Span{}, false
	}
	if s.is(i-1, word) && s.is(i+1, word) {
		// A pattern (one|other) has no spaces at its bars either, but a row of a table that
		// has none begins with a bar.
		line := s.lineStart(i)
		if first := strings.IndexByte(s.text[line:], '|'); strings.ContainsFunc(s.text[line:line+first], unicode.IsLetter) {
			return Span{}, false
		}
	}
	v, ok := s.valueAfter(i + 1)
	if rest := s.text[v.end:min(len(s.text), v.end+8)]; !ok || !strings.Contains(rest, "|") {
		return s.column(i, name)
	}
	if sp, ok := s.judge(name, v, prose); ok {
		return sp, true
	}
	return s.column(i, name)
}

// column finds the first secret below | name | in a table. i is that of the bar
// after the name.
func (s *scanner) column(i int, name string) (Span, bool) {
	const rows, widest = 12, 400
	limit := func(at int) int { return min(len(s.text), at+widest) }
	at := strings.Count(s.text[s.lineStart(i):i], "|")
	_, next := s.lineEnd(i, limit(i))
	for row := range rows {
		start := next
		end, after := s.lineEnd(start, limit(start))
		line := s.text[start:end]
		if row == 0 && !strings.Contains(line, "|--") && !strings.Contains(line, "| --") || strings.Count(line, "|") <= at {
			break
		}
		for range at {
			start += strings.IndexByte(s.text[start:end], '|') + 1
		}
		if v, ok := s.valueAfter(start); ok && row > 0 && v.end <= end && v.start >= s.from {
			if sp, ok := s.judge(name, v, prose); ok {
				return sp, true
			}
		}
		next = after
	}
	return Span{}, false
}

// element finds <name>value</name>, also where an attribute or the element before
// gives the name. i is the position of the first ">".
func (s *scanner) element(i int) (Span, bool) {
	from := max(0, i-120)
	open := strings.LastIndexByte(s.text[from:i], '<')
	if open += from; open < from || !s.is(open+1, letter) {
		return Span{}, false
	}
	inner := s.text[i+1 : min(len(s.text), i+1+longestValue)]
	end := strings.IndexByte(inner, '<')
	if end < 0 || !strings.HasPrefix(inner[end:], "</") {
		return Span{}, false
	}
	inner = inner[:end]
	v := value{start: i + 1 + len(inner) - len(strings.TrimLeft(inner, " \t\r\n")), quoted: true}
	v.end = v.start + len(strings.TrimSpace(inner))
	name := s.text[open+1 : s.runFrom(open+1, urlSafe|dot|colon)]
	if sp, ok := s.judge(name, v, setting); ok {
		return sp, true
	}
	before := strings.TrimRight(s.text[from:open], " \t\r\n")
	switch attribute := strings.LastIndex(before, `name="`); {
	case s.text[i-1] == '"': // <string name="api_key">
	case strings.HasSuffix(before, "</key>"):
		i = from + len(before) - len("</key>")
	case attribute >= 0 && name == "value":
		i = s.runFrom(from+attribute+len(`name="`), urlSafe|dot)
	default:
		return Span{}, false
	}
	if name, ok := s.nameBefore(i); ok {
		return s.judge(name, v, setting)
	}
	return Span{}, false
}

// flag finds --name value and -name value; --name=value is an assignment.
func (s *scanner) flag(i int) (Span, bool) {
	start := s.runOf(i, 2, dash)
	end := s.runFrom(start, urlSafe)
	if end-start < 2 || end-i > 64 || end >= len(s.text) || s.text[end] != ' ' {
		return Span{}, false
	}
	name := s.text[start:end]
	v, ok := s.valueAfter(end + 1)
	if !ok || s.text[v.start] == '-' {
		return Span{}, false
	}
	return s.judge(name, v, setting)
}

// nameBefore returns the identifier on the left of the sign at i, without quotes,
// brackets and a type. Where a name says no more than value or default, the one
// before it counts.
func (s *scanner) nameBefore(i int) (string, bool) {
	const ident = urlSafe | dot | dollar
	if i > 1 && s.text[i-1] == '.' && s.text[i-2] == ' ' {
		i-- // $name .= "…"
	}
	end := s.skipBack(i, 12)
	start := s.back(end, ident, 80)
	if start == end {
		return "", false
	}
	if start > 1 && s.text[start-1] == '\\' && end-start > 1 {
		start++ // the n of \n
	}
	name := s.text[start:end]
	switch name {
	case "string", "String", "str", "SecretStr", "Secret", "text", "any", "value", "Value", "default", "1", "2", "3", "4", "5":
		digits := name[0] <= '9'
		// password: string = "…", var password string = "…", Key 1: …
		if before := s.skipBack(start, 24); before > 0 && before < start {
			if from := s.back(before, ident, 80); from < before && strings.Trim(s.text[from:before], "0123456789-") != "" && !strings.HasSuffix(s.text[:from], "\\") {
				if whole := s.wholeName(from, before); !digits || len(whole) > before-from {
					return whole, true
				}
			}
		}
		// - name: PASSWORD
		//   value: …
		if line := s.lineStart(start); line > 0 && end-start > 4 {
			before := line + len(strings.TrimRight(s.text[max(0, line-12):line], " \t\r\n\\|\"'n")) - min(12, line)
			return s.text[s.back(before, ident, 80):before], true
		}
	}
	return s.wholeName(start, end), true
}

// wholeName adds the word before to a name that says only key: public key.
func (s *scanner) wholeName(start, end int) string {
	name := s.text[start:end]
	if (name == "key" || name == "Key") && start > 1 && s.text[start-1] == ' ' {
		return s.text[s.back(start-1, urlSafe, 40):end]
	}
	return name
}

// skipBack steps over what may stand between a name and its sign.
func (s *scanner) skipBack(i, most int) int {
	end := i
	for end > 0 && i-end < most && (s.rules.between[s.text[end-1]] || most > 12 && strings.IndexByte("\r\n,{", s.text[end-1]) >= 0) {
		end--
	}
	return end
}

const longestValue = 4096

// valueAfter returns the value that begins at or soon after i.
func (s *scanner) valueAfter(i int) (value, bool) {
	t := s.text
	limit := min(len(t), i+12)
	for i < limit && (strings.IndexByte(" \t=>:", t[i]) >= 0 || t[i] == '*' && t[i-1] == '*' || strings.HasPrefix(t[i:], "**")) {
		i++
	}
	// Prefixes of literals: b"…", r'…', @"…", N'…'.
	if i+1 < len(t) && strings.IndexByte("brfu@N", t[i]) >= 0 && strings.IndexByte("\"'", t[i+1]) >= 0 {
		i++
	}
	escaped := false
	for k := i; k < min(len(t), i+8); k++ {
		if t[k] != '\\' {
			if k > i && strings.IndexByte("\"'", t[k]) >= 0 {
				i, escaped = k, true
			}
			break
		}
	}
	if i >= len(t) {
		return value{}, false
	}
	v := value{start: i}
	if q := t[i]; q == '"' || q == '\'' || q == '`' {
		v.start, v.quoted = i+1, true
		for j := i + 1; j < len(t) && j-i < longestValue; j++ {
			switch {
			case t[j] == '\n' || t[j] == '\r', escaped && t[j] == '\\', t[j] == q:
				v.end = j
			case t[j] == '\\':
				j++
				continue
			default:
				continue
			}
			break
		}
		return v, v.end > v.start && t[v.end] != '\n' && t[v.end] != '\r'
	}
	v.end = s.bareEnd(i)
	if v.end == v.start {
		return value{}, false
	}
	rest := strings.TrimLeft(t[v.end:min(len(t), v.end+4)], " \t")
	v.ends = v.end == len(t) || rest == "" || strings.IndexByte("\r\n\\\"'#|", rest[0]) >= 0
	return v, true
}

// skipYAML steps over a tag, an anchor, or the sign of a block.
func (s *scanner) skipYAML(i int) int {
	t := s.text
	if i >= len(t) {
		return i
	}
	switch t[i] {
	case '!', '&':
		if end := s.runOf(i+1, 20, urlSafe); end > i+1 && end < len(t) && t[end] == ' ' || strings.HasPrefix(t[i:], "!!str ") {
			return i + strings.IndexByte(t[i:], ' ') + 1
		}
	case '|', '>':
		j := i + 1
		for j < len(t) && j < i+2 && (t[j] == '+' || t[j] == '-') {
			j++
		}
		if stop, next := s.lineEnd(j, min(len(t), j+3)); stop == j && next > stop {
			return s.afterMargin(next)
		}
	}
	return i
}

// afterMargin steps over what is shown before a line: its number, a sign of a
// comment or a diff.
func (s *scanner) afterMargin(i int) int {
	for j := i; j < len(s.text) && j < i+24; j++ {
		if c := s.text[j]; strings.HasPrefix(s.text[j:], "→") {
			return s.runSpace(j + len("→"))
		} else if c > '9' || c < '0' && strings.IndexByte(" \t#*+-|>/", c) < 0 {
			break
		}
	}
	for i < len(s.text) && strings.IndexByte(" \t#*+-|>/", s.text[i]) >= 0 {
		i++
	}
	return i
}

func (s *scanner) runSpace(i int) int {
	for i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '\t') {
		i++
	}
	return i
}

// bareEnd returns the end of the value without quotes at i. It remembers the run:
// a run may hold many signs.
func (s *scanner) bareEnd(i int) int {
	if i >= s.runStart && i < s.runEnd {
		return s.runEnd
	}
	end := i
	for end < len(s.text) && s.rules.bare[s.text[end]] {
		end++
	}
	s.runStart, s.runEnd = i, end
	return end
}

// judge decides whether v is a secret, given the name that it is assigned to.
func (s *scanner) judge(name string, v value, where place) (Span, bool) {
	m := s.meaningOf(name)
	if !m.telling {
		return Span{}, false
	}
	return s.weigh(max(m.strength, someKey), name, v, where)
}

// weigh is judge for a name of known strength.
func (s *scanner) weigh(how strength, name string, v value, where place) (Span, bool) {
	// A token that is known by its form is named by it.
	if v.start+2 < len(s.text) {
		if e := s.rules.find(s.text[v.start], s.text[v.start+1]); e.goesOn(s.text[v.start+2]) {
			if sp, ok := s.prefixed(v.start, e.tokens); ok {
				return sp, sp.Start >= s.from
			}
		}
	}
	if how == header {
		v = s.credentials(v.start)
	}
	if where == prose {
		v.end = v.start + len(strings.TrimRight(strings.TrimSuffix(s.text[v.start:v.end], "**"), ".:?")) // bold ends there
	}
	text := s.text[v.start:v.end]
	if !convincing(how, name, text, where) || v.quoted && !utf8.ValidString(text) {
		return Span{}, false
	}
	kind := "secret"
	switch how {
	case password:
		kind = "password"
	case header:
		kind = "authorization"
	}
	return Span{v.start, v.end, kind}, true
}

// credentials returns what follows the scheme of an Authorization header.
func (s *scanner) credentials(i int) value {
	end := i
	for end < len(s.text) && end-i < 2048 && s.text[end] >= ' ' && s.text[end] < 0x7f && strings.IndexByte("\"'`\\<>", s.text[end]) < 0 {
		end++
	}
	v := value{start: i, end: end, quoted: true}
	if scheme := s.runOf(i, end-i, alnum|dash); scheme < end && s.text[scheme] == ' ' {
		v.start = scheme + 1
	}
	for v.end = v.start; v.end < end; v.end++ {
		if c := s.text[v.end]; c == ',' || c == ';' || c == ' ' {
			// Credential=…, Signature=…
			if c == ' ' && strings.IndexByte(",;", s.text[v.end-1]) < 0 || !strings.Contains(s.text[v.end:min(end, v.end+20)], "=") {
				break
			}
		} else if strings.IndexByte("()[]{}", c) >= 0 {
			break
		}
	}
	return v
}
