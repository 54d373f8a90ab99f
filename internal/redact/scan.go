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
}

func (s *scanner) run() {
	text, r := s.text, s.rules
	for i := 0; i < len(text); i++ {
		c := text[i]
		if i+1 < len(text) && r.groups[pair(c, text[i+1])] != 0 {
			if sp, ok := s.prefixed(i); ok {
				i = s.add(sp)
				continue
			}
		}
		if r.special[c] {
			if sp, ok := s.shaped(i, c); ok {
				i = s.add(sp)
			}
		}
	}
}

// add records a span and returns the position to go on from, less one.
func (s *scanner) add(sp Span) int {
	sp.Start = max(sp.Start, s.from)
	if sp.Start < sp.End {
		s.spans = append(s.spans, sp)
		s.from = sp.End
	}
	if sp.Kind == "aws-access-key" {
		if secret, ok := s.awsSecret(sp.End); ok {
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
		if sp, ok := s.telegram(i); ok {
			return sp, true
		}
		return s.assigned(i)
	case '=':
		return s.assigned(i)
	case ',':
		return s.argument(i)
	case '>':
		return s.element(i)
	case '-':
		return s.dashed(i)
	case '.':
		return s.dotted(i)
	case '~':
		return s.azure(i)
	case '|':
		return s.facebook(i)
	}
	return Span{}, false
}

// is says whether the byte at i exists and belongs to c.
func (s *scanner) is(i int, c class) bool {
	return i >= 0 && i < len(s.text) && s.rules.classes[s.text[i]]&c != 0
}

// runFrom returns the end of the run of c that begins at i.
func (s *scanner) runFrom(i int, c class) int {
	for s.is(i, c) {
		i++
	}
	return i
}

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
	block := alnum
	if opt&strict != 0 {
		block = base64 | urlSafe
	}
	if !s.is(i-1, block) {
		return true
	}
	t := s.text
	switch {
	case i >= 2 && t[i-2] == '\\' && strings.IndexByte("nrtbf", t[i-1]) >= 0:
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

// prefixed finds the tokens of the table.
func (s *scanner) prefixed(i int) (Span, bool) {
	group := s.rules.byGroup[s.rules.groups[pair(s.text[i], s.text[i+1])]]
	for k := range group {
		r := &group[k]
		if !strings.HasPrefix(s.text[i:], r.prefix) || !s.starts(i, r.opt) {
			continue
		}
		// A run that holds many beginnings is judged by its first part only, or a
		// text of nothing else would take quadratic time.
		const window = 512
		start := i + len(r.prefix)
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
	switch {
	case r.opt&random != 0 && (!looksRandom(tail) || isDigest(tail)),
		r.opt&digital != 0 && countDigits(tail) < 2,
		r.opt&anywhere == 0 && isFiller(tail),
		r.opt&dotted != 0 && !strings.Contains(tail, "."),
		r.opt&basic != 0 && !isBasic(tail),
		r.opt&jwt != 0 && !isJWT(tail):
		return false
	}
	return true
}

func countDigits(v string) int {
	digits, _, _ := shape(v)
	return digits
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

// awsSecret finds the secret that stands next to its key id, as in the file that
// the console offers for download.
func (s *scanner) awsSecret(i int) (Span, bool) {
	start := i
	for start < len(s.text) && start-i < 8 && strings.IndexByte(", \t\"':|\r\n", s.text[start]) >= 0 {
		start++
	}
	end := s.runOf(start, 41, base64)
	if start == i || end-start != 40 || !looksRandom(s.text[start:end]) {
		return Span{}, false
	}
	return Span{start, end, "aws-secret-key"}, true
}

// dashed finds private key blocks, values of flags, and Mailchimp keys.
func (s *scanner) dashed(i int) (Span, bool) {
	rest := s.text[i:]
	switch {
	case strings.HasPrefix(rest, "-----BEGIN "):
		return s.privateKey(i)
	case strings.HasPrefix(rest, "--"):
		return s.flag(i)
	case strings.HasPrefix(rest, "-u "), strings.HasPrefix(rest, "-u\""), strings.HasPrefix(rest, "-u'"):
		return s.curlUser(i + 2)
	case strings.HasPrefix(rest, "-us") && s.is(i+3, digit):
		start := s.back(i, hexDigit, 33)
		if end := s.runOf(i+3, 3, digit); i-start == 32 && end-i <= 5 && !s.is(end, alnum) && s.starts(start, 0) {
			return Span{start, end, "mailchimp-key"}, true
		}
	}
	return Span{}, false
}

// privateKey takes the whole block; one that breaks off goes as far as its text
// looks like one. A mention of the marker is no key.
func (s *scanner) privateKey(i int) (Span, bool) {
	const marker, longest, least = "-----", 64 << 10, 24
	head := s.text[i+len(marker):]
	head = head[:min(len(head), 80)]
	stop := strings.Index(head, marker)
	if stop < 0 || !strings.Contains(head[:stop], "PRIVATE KEY") {
		return Span{}, false
	}
	body := i + len(marker) + stop + len(marker)
	end, encoded := body, 0
	for end < len(s.text) && end-body < longest {
		switch {
		case strings.HasPrefix(s.text[end:], marker):
			if encoded < least {
				return Span{}, false
			}
			tail := s.text[end+len(marker) : min(len(s.text), end+80)]
			if close := strings.Index(tail, marker); close >= 0 && strings.HasPrefix(tail, "END ") {
				end += len(marker) + close + len(marker)
			}
			return Span{i, end, "private-key"}, true
		case s.is(end, base64|equal):
			encoded++
		case !s.is(end, colon|dash|dot|under) && strings.IndexByte(" \t\r\n\\,()\"'+@<>", s.text[end]) < 0:
			return s.brokenKey(i, body, end, encoded >= least)
		}
		end++
	}
	return s.brokenKey(i, body, end, encoded >= least)
}

func (s *scanner) brokenKey(start, body, end int, ok bool) (Span, bool) {
	return Span{start, body + len(strings.TrimRight(s.text[body:end], " \t\r\n\\,()\"'+@<>")), "private-key"}, ok
}

// dotted finds tokens that are told by the distance of their dots.
func (s *scanner) dotted(i int) (Span, bool) {
	if i+7 < len(s.text) && s.text[i+7] == '.' && s.is(i-1, alnum) {
		start := s.back(i, urlSafe, 29)
		end := s.runOf(i+8, 64, urlSafe)
		if n := i - start; n >= 23 && n <= 28 && strings.IndexByte("MNO", s.text[start]) >= 0 && end-i-8 >= 25 &&
			s.runOf(i+1, 7, urlSafe) == i+7 && s.starts(start, strict) && looksRandom(s.text[start:i]) {
			return Span{start, end, "discord-token"}, true
		}
	}
	const atlas = ".atlasv1."
	if strings.HasPrefix(s.text[i:], atlas) {
		start := s.back(i, alnum, 15)
		end := s.runOf(i+len(atlas), 128, urlSafe|equal)
		if i-start == 14 && end-i-len(atlas) >= 40 && !isFiller(s.text[i+len(atlas):end]) {
			return Span{start, end, "terraform-token"}, true
		}
	}
	return Span{}, false
}

// azure finds client secrets: three characters, a digit, "Q~" and the rest.
func (s *scanner) azure(i int) (Span, bool) {
	const around = word | dot | tilde | dash
	if i < 5 || s.text[i-1] != 'Q' || !s.is(i-2, digit) {
		return Span{}, false
	}
	start := s.back(i, around, 6)
	end := s.runOf(i+1, 35, around)
	if n := end - i - 1; i-start != 5 || n < 31 || n > 34 || isFiller(s.text[i+1:end]) {
		return Span{}, false
	}
	return Span{start, end, "azure-client-secret"}, true
}

// facebook finds app tokens: the app's number, a bar and the secret.
func (s *scanner) facebook(i int) (Span, bool) {
	start := s.back(i, digit, 17)
	end := s.runOf(i+1, 41, urlSafe)
	if n, m := i-start, end-i-1; n < 15 || n > 16 || m < 27 || m > 40 || !looksRandom(s.text[i+1:end]) {
		return Span{}, false
	}
	return Span{start, end, "facebook-token"}, true
}

// telegram finds bot tokens: the bot's number, a colon and 35 characters that
// begin with A.
func (s *scanner) telegram(i int) (Span, bool) {
	if i+1 >= len(s.text) || s.text[i+1] != 'A' || !s.is(i-1, digit) {
		return Span{}, false
	}
	start := s.back(i, digit, 17)
	end := s.runOf(i+1, 36, urlSafe)
	if n := i - start; n < 7 || n > 16 || end-i-1 != 35 || !looksRandom(s.text[i+1:end]) {
		return Span{}, false
	}
	return Span{start, end, "telegram-token"}, true
}
