package redact

import (
	encoding "encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// abroad finds a password behind a label in another language: Kennwort: X, le mot de
// passe est X. The label's first letter, in whatever case, stands before start.
func (s *scanner) abroad(start, end int) (Span, bool) {
	if first := s.back(start, letter, 2); first != start-1 || s.is(end, word) || s.is(first-1, word) {
		return Span{}, false
	}
	if at := s.runSpace(end); at < len(s.text) && (s.text[at] == ':' || s.text[at] == '=') {
		v, ok := s.valueAfter(s.runSpace(at + 1))
		if !ok {
			return Span{}, false
		}
		return s.weigh(password, "password", v, setting)
	}
	return s.afterLabel(end, password, "password")
}

// codes finds a list of codes behind its label.
func (s *scanner) codes(end int) (Span, bool) {
	sp, n, words := Span{Kind: "recovery-code"}, 0, 0
	at := end
	if s.is(at, letter) {
		at = s.runFrom(at, letter) // codes, Codes
	}
	for at < len(s.text) && n < 32 {
		if strings.IndexByte(" \t\r\n,;:*|\"'`()[]=#>+", s.text[at]) >= 0 {
			at++
			continue
		}
		if s.text[at] == '\\' && at+1 < len(s.text) { // the line ends of JSON
			at += 2
			continue
		}
		if r, size := utf8.DecodeRuneInString(s.text[at:]); size > 1 && !unicode.IsLetter(r) {
			at += size // a bullet, or a colon as wide as the letters
			continue
		}
		stop := s.runFrom(at, alnum|dash)
		code := strings.Trim(s.text[at:stop], "-")
		digits, _, _ := shape(code)
		switch {
		case digits > 1 && len(code) >= 4 && !s.is(stop, slash|dot|under|colon):
			if n == 0 {
				sp.Start = at
			}
			sp.End, n = stop, n+1
		case n > 0 || stop == at && s.text[at] != '-' || words > 5:
			return sp, sp.End-sp.Start >= 8
		default:
			words++ // are, for the account; the number of a list
		}
		at = max(stop, at+1)
	}
	return sp, sp.End-sp.Start >= 8
}

// beforePhrase are words that may stand between the name of a phrase and the phrase.
const beforePhrase = " phrase words seed for the wallet are "

// seedPhrase finds the words of a wallet: twelve or more of three to eight letters, as
// no sentence has them.
func (s *scanner) seedPhrase(end int) (Span, bool) {
	sp, n := Span{Kind: "seed-phrase"}, 0
	for at := end; at < len(s.text) && at-end < 400; {
		stop := s.runFrom(at, lower)
		switch long := stop - at; {
		case long >= 3 && long <= 8 && !s.is(stop, alnum|under|dash|slash|equal) && !(n == 0 && strings.Contains(beforePhrase, " "+s.text[at:stop]+" ")):
			if n == 0 {
				sp.Start = at
			}
			sp.End, n = stop, n+1
		case long > 0 && n > 0:
			return sp, n >= 12
		case long == 0 && n > 0 && strings.IndexByte(" ,\r\n\t0123456789.)", s.text[at]) < 0:
			return sp, n >= 12
		}
		at = max(stop, at+1)
	}
	return sp, n >= 12
}

// escapedName finds the value of a JSON member whose name is written with escapes.
func (s *scanner) escapedName(start, end int) (Span, bool) {
	from, to := strings.LastIndexByte(s.text[max(0, start-64):start], '"'), strings.IndexByte(s.text[end:min(len(s.text), end+64)], '"')
	if from < 0 || to < 0 {
		return Span{}, false
	}
	from, to = max(0, start-64)+from, end+to+1
	name, err := strconv.Unquote(s.text[from:to])
	at := s.runSpace(to)
	if err != nil || at >= len(s.text) || s.text[at] != ':' {
		return Span{}, false
	}
	how := s.meaningOf(name).strength
	v, ok := s.valueAfter(s.runSpace(at + 1))
	if !ok || how < token || how > password {
		return Span{}, false
	}
	return s.weigh(how, name, v, setting)
}

// encodedLine finds base64 in which a secret is found.
func (s *scanner) encodedLine(start, end int) (Span, bool) {
	const longest = 8 << 10
	if start < s.decoded {
		return Span{}, false // once is enough, and as often as a word occurs too often
	}
	sp := Span{s.back(start, base64, longest), s.runOf(end, longest, base64), "encoded-secret"}
	s.decoded = sp.End
	plain, err := encoding.RawStdEncoding.DecodeString(s.text[sp.Start:sp.End])
	if err != nil || len(plain) < 12 || !utf8.Valid(plain) || strings.ContainsFunc(string(plain), func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' }) {
		return Span{}, false
	}
	inner := scanner{text: string(plain), rules: s.rules}
	inner.run()
	return sp, len(inner.spans) > 0 && sp.Start >= s.from
}

// untilQuote finds a key that ends with its quotes or at a space.
func (s *scanner) untilQuote(start, end int) (Span, bool) {
	stop := end
	for stop < len(s.text) && strings.IndexByte(" \t\r\n\"'`", s.text[stop]) < 0 {
		stop++
	}
	kind := "framework-key"
	if s.text[start] == '$' {
		kind = "password-hash"
	}
	return Span{start, stop, kind}, stop-end >= 20
}
