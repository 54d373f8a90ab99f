package redact

import "strings"

const (
	fence      = "-----"
	longestKey = 64 << 10
	leastKey   = 24 // base64 characters; a mention of the marker has fewer
)

// keyMarker says whether the fence at i opens a line that names a private key, and
// where that line ends.
func (s *scanner) keyMarker(i int) (end int, ok bool) {
	head := s.text[i+len(fence):]
	stop := strings.Index(head[:min(len(head), 80)], fence)
	if stop < 0 || !strings.Contains(head[:stop], "PRIVATE KEY") {
		return 0, false
	}
	return i + len(fence) + stop + len(fence), true
}

// privateKey takes a block from -----BEGIN to -----END, in whatever way its lines
// are shown: numbered, commented, quoted, as a diff, as a string. One that breaks
// off goes as far as its lines look like a key. i is the position of the fence.
func (s *scanner) privateKey(i int) (Span, bool) {
	body, ok := s.keyMarker(i)
	if !ok {
		return Span{}, false
	}
	end, encoded := s.keyLines(body, i-s.lineStart(i), longestKey)
	if encoded < leastKey {
		return Span{}, false
	}
	rest := s.text[end:min(len(s.text), end+200)]
	if k := strings.Index(rest, fence+"END "); k >= 0 {
		if stop, ok := s.keyMarker(end + k); ok {
			end = stop
		}
	}
	return Span{i, end, "private-key"}, true
}

// keyLines returns the end of the lines of base64 from i on, and how many
// characters they have. indent is the width of what is shown before each line.
func (s *scanner) keyLines(i, indent, longest int) (end, encoded int) {
	end = i
	limit := min(len(s.text), i+longest)
	if k := strings.Index(s.text[i:limit], fence); k >= 0 {
		limit = i + k
	}
	for at, others := i, 0; at < limit && others < 12; {
		stop, next := s.lineEnd(at, limit)
		from, to, more := keyLine(s.text[at:stop], indent, encoded > 0)
		if to > from {
			end, encoded = at+to, encoded+to-from
		} else {
			others++
		}
		if !more {
			break
		}
		at = next
	}
	return end, encoded
}

// keyBefore takes the lines of base64 before -----END, where the beginning was not
// shown. i is the position of the fence.
func (s *scanner) keyBefore(i int) (Span, bool) {
	if _, ok := s.keyMarker(i); !ok {
		return Span{}, false
	}
	at := s.lineStart(i)
	indent := i - at
	start, encoded := at, 0
	for at > s.from && i-at < longestKey {
		stop := at
		for stop > s.from && strings.IndexByte("\\nr\r\n", s.text[stop-1]) >= 0 {
			if stop--; s.text[stop] == '\\' || s.text[stop] == '\n' {
				break
			}
		}
		at = s.lineStart(stop)
		from, to, _ := keyLine(s.text[at:stop], indent, encoded > 0)
		if to == from || encoded > 0 && to-from < 40 {
			break
		}
		start, encoded = at+from, encoded+to-from
	}
	return Span{start, i, "private-key"}, encoded >= leastKey
}

// keyLine finds the base64 of one line of a key. more is false where the key ends.
func keyLine(line string, indent int, started bool) (from, to int, more bool) {
	// What is shown after a line: the bar of a table, the end of a string.
	to = len(strings.TrimRight(line, " \t\r|\"'`,;)\\"))
	if to > 3 && strings.IndexByte("+.", line[to-1]) >= 0 && strings.IndexByte("\"'", line[to-3]) >= 0 {
		to = len(strings.TrimRight(line[:to-3], "\\n"))
	}
	from = to
	for from > 0 && isBase64(line[from-1]) {
		from--
	}
	before := strings.Trim(line[:from], " \t|#*>\"'`+(")
	switch n := to - from; {
	case n >= 16 && len(line[:from]) <= indent+12, started && n >= 4 && len(line[:from]) <= indent+8:
		return from, to, true
	case n >= 16 && strings.Trim(before, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= ") == "" && len(before) > 40:
		return strings.Index(line, before), to, true // a key on one line, with spaces
	case len(line) <= indent+8, !started && strings.Contains(line, ": "):
		return 0, 0, true // an empty line, or a header as Proc-Type: 4,ENCRYPTED
	}
	return 0, 0, false
}

func isBase64(c byte) bool {
	return c == '+' || c == '/' || c == '=' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// lineStart returns where the line of i begins, in text or in a JSON string.
func (s *scanner) lineStart(i int) int {
	const longest = 400
	for j := i; j > 0 && i-j < longest; j-- {
		if c := s.text[j-1]; c == '\n' || (c == 'n' || c == 'r') && j > 1 && s.text[j-2] == '\\' {
			return j
		}
	}
	return max(0, i-longest)
}

// lineEnd returns where the line of i ends and where the next one begins.
func (s *scanner) lineEnd(i, limit int) (end, next int) {
	for j := i; j < limit; j++ {
		switch s.text[j] {
		case '\n':
			return j, j + 1
		case '\\':
			k := j
			for k < limit && s.text[k] == '\\' {
				k++
			}
			if k < limit && (s.text[k] == 'n' || s.text[k] == 'r') {
				return j, k + 1
			}
			j = k - 1
		}
	}
	return limit, limit
}

// puttyKey takes the lines after Private-Lines. end is that of the label.
func (s *scanner) puttyKey(start, end int) (Span, bool) {
	stop, body := s.lineEnd(end, min(len(s.text), end+8))
	if stop == body {
		return Span{}, false
	}
	last, encoded := s.keyLines(body, start-s.lineStart(start), 4096)
	return Span{body, last, "private-key"}, encoded >= leastKey
}
