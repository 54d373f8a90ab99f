package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is one fact where it stands in a text (which is shorter than 2 GB: a
// message of a session). One of a kind other than ErrorLine and Code never overlaps
// another such one.
type Span struct {
	Start, End int32
	Kind       Kind
	grade      uint8 // of an ErrorLine: mention or report; 0 for other kinds
}

// A line that mentions trouble, and one that a program printed to report it.
const (
	mention = 1 + iota
	report
)

const (
	minHash = 7
	maxHash = 64
	// A longer line is a paragraph that mentions an error, or data.
	maxErrorLine = 400
	// An opening backtick without a partner nearby is a stray one.
	maxInlineCode = 200
	// A shorter quotation is a sign.
	minQuote = 3
)

// Byte classes of the scanner. Everything that is neither part of a word nor a
// digit separates words; what a '.', '/', '-' or ':' means depends on its
// neighbours.
const (
	isLower = 1 << iota
	isUpper
	isDigit
	isJoin // . / - _ ~ $ inside a word
	isHex
	isURL  // what an address has beside letters and digits
	isSign // what code has more of than prose
	isUnder
	isSlash
	isDot
	isMark // what may join the parts of a name: - @ ~ +

	isAlnum = isLower | isUpper | isDigit
	isWord  = isAlnum | isJoin
	isName  = isAlnum | isUnder | isSlash | isDot | isMark
)

// class is indexed by byte. It is a literal so that it costs nothing at start.
var class = [256]uint16{
	'a': isLower | isHex, 'b': isLower | isHex, 'c': isLower | isHex, 'd': isLower | isHex, 'e': isLower | isHex, 'f': isLower | isHex,
	'g': isLower, 'h': isLower, 'i': isLower, 'j': isLower, 'k': isLower, 'l': isLower, 'm': isLower, 'n': isLower, 'o': isLower, 'p': isLower,
	'q': isLower, 'r': isLower, 's': isLower, 't': isLower, 'u': isLower, 'v': isLower, 'w': isLower, 'x': isLower, 'y': isLower, 'z': isLower,
	'A': isUpper | isHex, 'B': isUpper | isHex, 'C': isUpper | isHex, 'D': isUpper | isHex, 'E': isUpper | isHex, 'F': isUpper | isHex,
	'G': isUpper, 'H': isUpper, 'I': isUpper, 'J': isUpper, 'K': isUpper, 'L': isUpper, 'M': isUpper, 'N': isUpper, 'O': isUpper, 'P': isUpper,
	'Q': isUpper, 'R': isUpper, 'S': isUpper, 'T': isUpper, 'U': isUpper, 'V': isUpper, 'W': isUpper, 'X': isUpper, 'Y': isUpper, 'Z': isUpper,
	'0': isDigit | isHex, '1': isDigit | isHex, '2': isDigit | isHex, '3': isDigit | isHex, '4': isDigit | isHex,
	'5': isDigit | isHex, '6': isDigit | isHex, '7': isDigit | isHex, '8': isDigit | isHex, '9': isDigit | isHex,
	'_': isJoin | isURL | isUnder, '.': isJoin | isURL | isDot, '/': isJoin | isURL | isSlash, '-': isJoin | isURL | isMark,
	'~': isJoin | isURL | isMark, '$': isJoin | isURL | isSign, '@': isURL | isMark, '+': isURL | isSign | isMark,
	':': isURL | isSign, '?': isURL, '#': isURL, '!': isURL, '&': isURL | isSign, '*': isURL,
	',': isURL, ';': isURL | isSign, '=': isURL | isSign, '%': isURL,
	'{': isSign, '}': isSign, '(': isSign, ')': isSign, '[': isSign, ']': isSign, '<': isSign, '>': isSign,
	'|': isSign, '\\': isSign, '"': isSign,
}

// scanner walks a text once. Facts are found inside words only, never across a
// blank, so that whole words copied from a text state no fact that the text
// does not state.
type scanner struct {
	text  string
	spans []Span
	// line state
	lineStart int
	fence     bool
	fenceLine bool
	failing   uint8
}

// scanFacts appends the facts of text to dst in order of their ends.
func scanFacts(dst []Span, text string) []Span {
	s := scanner{text: text, spans: dst}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '<' && i+1 < len(text) && text[i+1] == '/':
			// A closing tag is no absolute path.
			i += 2
		case class[c]&isWord != 0:
			i = s.word(i)
		case c == '\n':
			s.endLine(i)
			i++
			s.lineStart = i
		case c == '`':
			i = s.tick(i)
		default:
			i = s.step(i)
		}
	}
	s.endLine(len(text))
	return s.spans
}

// step reads the word or the character at i and returns where it ends.
func (s *scanner) step(i int) int {
	switch c := s.text[i]; {
	case class[c]&isWord != 0:
		return s.word(i)
	case c < utf8.RuneSelf:
		return i + 1
	}
	return s.wide(i)
}

func (s *scanner) emit(kind Kind, start, end int) {
	s.spans = append(s.spans, Span{int32(start), int32(end), kind, 0})
}

func (s *scanner) endLine(end int) {
	start := s.lineStart
	if s.fence && !s.fenceLine {
		if a, b := trimmed(s.text, start, end); a < b {
			s.emit(Code, a, b)
		}
	}
	if s.failing > 0 {
		if a, b := trimmed(s.text, start, end); b-a <= maxErrorLine {
			s.spans = append(s.spans, Span{int32(a), int32(b), ErrorLine, s.failing})
		}
	}
	s.failing, s.fenceLine = 0, false
}

// tick handles a run of backticks at i: a fence at the start of a line, else an
// inline code span.
func (s *scanner) tick(i int) int {
	n := 1
	for i+n < len(s.text) && s.text[i+n] == '`' {
		n++
	}
	if n >= 3 && strings.TrimLeft(s.text[s.lineStart:i], " \t>") == "" {
		s.fence = !s.fence
		s.fenceLine = true
		return i + n
	}
	if n > 1 || s.fence {
		return i + n
	}
	body := s.text[i+1 : min(len(s.text), i+1+maxInlineCode)]
	end := strings.IndexAny(body, "`\n")
	if end <= 0 || body[end] == '\n' {
		return i + 1
	}
	body = body[:end]
	switch {
	case strings.ContainsAny(body, " \t"):
		if a, b := trimmed(s.text, i+1, i+1+end); a < b {
			s.emit(Code, a, b)
		}
	case plainName(body):
		s.emit(Identifier, i+1, i+1+end)
		return i + end + 2
	}
	// The inside is scanned as ordinary words; the closing tick must not open
	// the next span.
	before := len(s.spans)
	for j := i + 1; j < i+1+end; {
		j = s.step(j)
	}
	if len(s.spans) == before && end >= minQuote {
		s.emit(Code, i+1, i+1+end) // `src/`, `*bool`
	}
	return i + end + 2
}

// plainName reports whether an inline code span is one bare word that the word
// rules would not take for a fact.
func plainName(body string) bool {
	letters := 0
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case class[c]&(isLower|isUpper) != 0:
			letters++
		case class[c]&isDigit != 0 || c == '_' || c == '-':
		default:
			return false
		}
	}
	return letters >= 2 && !hexHash(body)
}

func (s *scanner) wide(i int) int {
	r, n := utf8.DecodeRuneInString(s.text[i:])
	if !ideograph(r) {
		if unicode.IsLetter(r) {
			return s.word(i)
		}
		return i + n
	}
	if s.failing < report {
		if n := failingHan(r, s.text[i:]); n > 0 {
			s.fail(i + n)
		}
	}
	return i + n
}

// fail notes a word for failure that ends at j. A colon or bracket behind it is
// how programs report.
func (s *scanner) fail(j int) {
	grade := uint8(mention)
	if rest := s.text[j:]; rest != "" && (strings.IndexByte(":[(", rest[0]) >= 0 || strings.HasPrefix(rest, "：")) {
		grade = report
	}
	s.failing = max(s.failing, grade)
}

// failingHan returns the length of the word for failure that t begins with, whose
// first rune is r; 0 for none.
func failingHan(r rune, t string) int {
	if !strings.ContainsRune("錯错失例異异逾超崩找拒", r) {
		return 0
	}
	for _, w := range [...]string{"錯誤", "错误", "失敗", "失败", "例外", "異常", "异常", "逾時", "超時", "超时", "崩潰", "找不到", "拒絕存取"} {
		if strings.HasPrefix(t, w) {
			return len(w)
		}
	}
	return 0
}

// ideograph reports whether r is written without blanks between words.
func ideograph(r rune) bool {
	return r >= 0x2E80 && (r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0xFF00 && r <= 0xFFEF || r >= 0x20000 && r <= 0x3FFFF)
}

// word reads the word at i, emits its facts and returns where it ends.
func (s *scanner) word(i int) int {
	if end, plain := s.plainWord(i); plain {
		return end
	}
	return s.anyWord(i)
}

// plainWord reads a word at i that is written like nearly all: letters, at most the
// first a capital, and behind it what cannot belong to it. The rules for words find
// no fact in such a one, so that they need not be asked.
func (s *scanner) plainWord(i int) (end int, plain bool) {
	t := s.text
	j := i
	if class[t[j]]&isUpper != 0 {
		j++
	}
	for j < len(t) && class[t[j]]&isLower != 0 {
		j++
	}
	if j == i || j-i > maxName {
		return i, false
	}
	end = j
	if j < len(t) {
		switch c := t[j]; {
		case c == ' ' || c == ',' || c == '\n':
		case c == '.' || c == ':':
			// What closes a sentence, or opens a list.
			if j+1 < len(t) && t[j+1] != ' ' && t[j+1] != '\n' {
				return i, false
			}
			if c == '.' {
				end++
			}
		case c == '(' || c >= utf8.RuneSelf || class[c]&isWord != 0:
			return i, false
		}
	}
	s.failWord(t[i:j], t[i:j], j)
	return end, true
}

func (s *scanner) anyWord(i int) int {
	j, kind := wordEnd(s.text, i)
	switch kind {
	case URL, Path:
		s.emit(kind, i, trimWord(s.text, i, j, kind))
	default:
		s.classify(i, j)
	}
	return j
}

// wordEnd returns where the word that begins at i ends. The kind is URL or Path
// (of a drive) when the form alone says so, else kinds.
func wordEnd(t string, i int) (int, Kind) {
	j := i
	for j < len(t) {
		c := t[j]
		if class[c]&isWord != 0 {
			j++
			continue
		}
		switch {
		case c == ':':
			if strings.HasPrefix(t[j:], "://") && j > i && schemeName(t[i:j]) {
				for j += 3; j < len(t) && class[t[j]]&(isURL|isAlnum) != 0; {
					j++
				}
				return j, URL
			}
			if strings.HasPrefix(t[j:], "::") && j > i && j+2 < len(t) && class[t[j+2]]&(isLower|isUpper) != 0 {
				j += 2
				continue
			}
			if j == i+1 && j+1 < len(t) && t[j+1] == '\\' && class[t[i]]&(isLower|isUpper) != 0 {
				for j++; j < len(t) && (class[t[j]]&isWord != 0 || t[j] == '\\'); {
					j++
				}
				return j, Path
			}
		case c == ',':
			if groupComma(t, i, j) {
				j++
				continue
			}
		case c >= utf8.RuneSelf:
			if r, n := utf8.DecodeRuneInString(t[j:]); !ideograph(r) && unicode.IsLetter(r) {
				j += n
				continue
			}
		}
		break
	}
	return j, kinds
}

// trimWord returns where a word ends without the punctuation of its sentence.
func trimWord(t string, i, j int, kind Kind) int {
	if class[t[j-1]]&isAlnum != 0 {
		return j
	}
	cut := ".-/~$"
	switch kind {
	case URL:
		cut = ".,;:!?*"
	case Path:
		cut = ".\\"
	}
	for j > i && strings.IndexByte(cut, t[j-1]) >= 0 {
		j--
	}
	return j
}

// groupComma reports whether the comma at j separates thousands of a number in
// the word that began at i: 1 to 3 digits before it or a group of 3, and exactly
// 3 after it.
func groupComma(t string, i, j int) bool {
	k := j
	for k > i && class[t[k-1]]&isDigit != 0 {
		if k--; j-k > 3 {
			return false
		}
	}
	if k == j || j+3 >= len(t) && j+4 != len(t) {
		return false
	}
	if k > i && (t[k-1] == ',' && j-k != 3 || strings.IndexByte(",-$~", t[k-1]) < 0) {
		return false
	}
	for m := j + 1; m <= j+3; m++ {
		if class[t[m]]&isDigit == 0 {
			return false
		}
	}
	return j+4 == len(t) || class[t[j+4]]&isAlnum == 0
}

func schemeName(t string) bool {
	for i := 0; i < len(t); i++ {
		if class[t[i]]&isAlnum == 0 {
			return false
		}
	}
	return len(t) >= 2 && len(t) <= 12
}
