package prompt

import "bytes"

// splitFront separates YAML front matter from the body. Front matter starts with a
// first line that is exactly "---" (a byte order mark and CRLF are tolerated) and
// ends with the next such line; frontLine is the line of the file on which its
// text begins. The body is what follows, byte for byte.
//
// Without front matter ok is false and the whole file is the body; frontLine is
// then 0, or 1 when front matter was opened and never closed.
func splitFront(src []byte) (front []byte, frontLine int, body string, ok bool) {
	rest := bytes.TrimPrefix(src, []byte("\ufeff"))
	line, rest, _ := bytes.Cut(rest, []byte("\n"))
	if !isFence(line) {
		return nil, 0, string(src), false
	}
	for at := 0; at < len(rest); {
		line, _, more := bytes.Cut(rest[at:], []byte("\n"))
		end := at + len(line)
		if more {
			end++
		}
		if isFence(line) {
			return rest[:at], 2, string(rest[end:]), true
		}
		at = end
	}
	return nil, 1, string(src), false
}

func isFence(line []byte) bool {
	return string(bytes.TrimSuffix(line, []byte("\r"))) == "---"
}
