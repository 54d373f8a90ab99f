package redact

import (
	stdbase64 "encoding/base64"
	"strings"
)

// scanner walks over a text once. Detectors are called at the byte that gives
// their kind of secret away; each looks at a bounded stretch around it, or at a
// run that it then skips, so the whole takes linear time.
type scanner struct {
	text  string
	rules *rules
	spans []Span
	from  int // end of the last span
	names map[string]meaning

	runStart, runEnd int // the last run of bare bytes
	decoded          int // end of the last base64 that was looked into
}

func (s *scanner) run() {
	text, r := s.text, s.rules
	for i := 0; i < len(text); i++ {
		c := text[i]
		if i+2 < len(text) {
			if g := r.groups[int(c)<<8|int(text[i+1])]; g != 0 && r.entries[g].goesOn(text[i+2]) {
				if sp, ok := s.word(i, &r.entries[g]); ok {
					i = s.add(sp)
					continue
				}
			}
		}
		if r.special[c] {
			if sp, ok := s.shaped(i, c); ok {
				i = s.add(sp)
			}
		}
	}
}

// word looks at what begins at i.
func (s *scanner) word(i int, e *entry) (Span, bool) {
	if sp, ok := s.prefixed(i, e.tokens); ok {
		return sp, true
	}
	for k := e.triggers; k != 0; k = s.rules.words[k].next {
		if t := &s.rules.words[k]; strings.HasPrefix(s.text[i:], t.word) {
			if sp, ok := s.found(t, i, i+len(t.word)); ok {
				return sp, true
			}
		}
	}
	return Span{}, false
}

// add records a span and returns the position to go on from, less one.
func (s *scanner) add(sp Span) int {
	sp.Start = max(sp.Start, s.from)
	if sp.Start < sp.End {
		s.spans = append(s.spans, sp)
		s.from = sp.End
	}
	if sp.Kind == "aws-access-key" {
		if secret, ok := s.nextTo(sp.End, 40, base64, "aws-secret-key"); ok {
			return s.add(secret)
		}
	}
	return sp.End - 1
}

func (s *scanner) shaped(i int, c byte) (Span, bool) {
	switch c {
	case ':':
		if strings.HasPrefix(s.text[i:], "://") {
			return s.urlPassword(i)
		}
		if sp, ok := s.pgpass(i); ok {
			return sp, true
		}
		return s.assigned(i)
	case '=':
		return s.assigned(i)
	case ',':
		return s.argument(i)
	case '>':
		return s.element(i)
	case '/':
		return s.slashed(i)
	case '-':
		return s.dashed(i)
	case '@':
		return s.dsn(i)
	case '.':
		return s.infixed(i, i+1, &botToken)
	case '|', '?':
		if sp, ok := s.infixed(i, i+1, &appToken); ok {
			return sp, true
		}
		if sp, ok := s.fallback(i); ok || c == '?' {
			return sp, ok
		}
		return s.cell(i)
	}
	return Span{}, false
}

// is says whether the byte at i exists and belongs to c.
func (s *scanner) is(i int, c class) bool {
	return i >= 0 && i < len(s.text) && s.rules.classes[s.text[i]]&c != 0
}

// runFrom returns the end of the run of c that begins at i.
func (s *scanner) runFrom(i int, c class) int { return s.runOf(i, len(s.text), c) }

// runOf is runFrom for no more than n bytes.
func (s *scanner) runOf(i, n int, c class) int {
	for ; n > 0 && s.is(i, c); n-- {
		i++
	}
	return i
}

// back returns the start of the run of c that ends at i, at most n bytes before.
func (s *scanner) back(i int, c class, n int) int {
	for j := i; ; j-- {
		if i-j == n || !s.is(j-1, c) {
			return j
		}
	}
}

// starts says whether a token may begin at i. In text that is JSON, a URL or from
// a terminal a token can follow a letter that ends an escape.
func (s *scanner) starts(i int, opt option) bool {
	if i == 0 || opt&anywhere != 0 {
		return true
	}
	if s.text[i-1] == '\\' && strings.IndexByte("nrtbf", s.text[i]) >= 0 {
		return false // the letter is the escape's
	}
	block := alnum
	if opt&strict != 0 {
		block = base64 | urlSafe
	}
	if !s.is(i-1, block) {
		// Behind - or _ it may still be in the middle of encoded data.
		const long = 40
		return !s.is(i-1, urlSafe) || i-s.back(i, urlSafe, long) < long || !looksRandom(s.text[i-long:i])
	}
	t := s.text
	switch {
	case s.escape(i):
		return true
	case i >= 3 && t[i-3] == '%' && s.is(i-2, anyHex) && s.is(i-1, anyHex):
		return true
	case t[i-1] == 'm':
		j := i - 1
		for j > 0 && i-j < 16 && (s.is(j-1, digit) || t[j-1] == ';') {
			j--
		}
		return j > 0 && t[j-1] == '['
	}
	return false
}

// escape says whether an escape ends at i, as in text that is JSON.
func (s *scanner) escape(i int) bool {
	return i >= 2 && s.text[i-2] == '\\' && strings.IndexByte("nrtbf", s.text[i-1]) >= 0
}

func (s *scanner) prefixed(i int, k uint16) (Span, bool) {
	for ; k != 0; k = s.rules.words[k].next {
		w := &s.rules.words[k]
		r := &prefixed[w.of]
		if !strings.HasPrefix(s.text[i:], w.word) || !s.starts(i, r.opt) {
			continue
		}
		// A run that holds many beginnings is judged by its first part only, or a
		// text of nothing else would take quadratic time.
		const window = 512
		start := i + len(w.word)
		end := s.runOf(start, max(window, r.min, r.max)+1, r.tail)
		if r.tail&dot != 0 {
			for end > start && s.text[end-1] == '.' {
				end--
			}
		}
		if n := end - start; n < r.min || r.max > 0 && n > r.max {
			continue
		}
		if !r.accepts(s.text[start:end]) {
			continue
		}
		if end-start > window {
			end = s.runFrom(end, r.tail)
		}
		if r.opt&keep == 0 {
			start = i
		}
		return Span{start, end, r.kind}, true
	}
	return Span{}, false
}

func (r *rule) accepts(tail string) bool {
	digits, _, _ := shape(tail)
	switch {
	case r.opt&random != 0 && !looksRandom(tail),
		r.opt&digital != 0 && digits < 2,
		isFiller(tail), strings.Contains(tail, "EXAMPLE"), strings.ContainsAny(tail, "-_") && isPlaceholder(tail),
		r.opt&dotted != 0 && !strings.Contains(tail, "."),
		r.opt&basic != 0 && !isBasic(tail),
		r.opt&jwt != 0 && !isJWT(tail):
		return false
	}
	return true
}

// isJWT takes what follows "eyJ": the second part is JSON, too, or there is a
// signature.
func isJWT(tail string) bool {
	head, rest, _ := strings.Cut(tail, ".")
	body, sign, _ := strings.Cut(rest, ".")
	return len(head) >= 8 && len(body) >= 8 && (strings.HasPrefix(body, "eyJ") || len(sign) >= 20)
}

func isBasic(tail string) bool {
	plain, err := stdbase64.RawStdEncoding.DecodeString(strings.TrimRight(tail, "="))
	if err != nil {
		return false
	}
	for _, b := range plain {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return strings.Contains(string(plain), ":")
}

// nextTo finds the secret of n characters that stands next to its key id, as in
// the file that a console offers for download. i is the end of the id.
func (s *scanner) nextTo(i, n int, of class, kind string) (Span, bool) {
	start := i
	for start < len(s.text) && start-i < 8 && strings.IndexByte(", \t\"'\\:|\r\n", s.text[start]) >= 0 {
		start++
	}
	end := s.runOf(start, n+1, of)
	if start == i || end-start != n || !looksRandom(s.text[start:end]) {
		return Span{}, false
	}
	return Span{start, end, kind}, true
}

// dashed finds private key blocks and values of flags.
func (s *scanner) dashed(i int) (Span, bool) {
	rest := s.text[i:]
	switch {
	case strings.HasPrefix(rest, "-----BEGIN "):
		return s.privateKey(i)
	case strings.HasPrefix(rest, "-----END "):
		return s.keyBefore(i)
	case len(rest) > 2 && !s.is(i-1, urlSafe):
		return s.flag(i)
	}
	return Span{}, false
}

// infixed finds the tokens that are told by what they have in the middle.
func (s *scanner) infixed(start, end int, r *infix) (Span, bool) {
	if r.opt&dotted != 0 && (end+6 >= len(s.text) || s.text[end+6] != '.') {
		return Span{}, false
	}
	from := s.back(start, r.before, r.most[0]+1)
	to := s.runOf(end, r.most[1]+1, r.after)
	before, after := start-from, to-end
	if before < r.least[0] || before > r.most[0] || after < r.least[1] || after > r.most[1] || !s.starts(from, r.opt) ||
		isFiller(s.text[end:to]) || r.opt&random != 0 && !looksRandom(s.text[from:to]) {
		return Span{}, false
	}
	if r.opt&keep != 0 {
		return s.nextTo(to, 32, hexDigit, r.kind)
	}
	return Span{from, to, r.kind}, true
}
