package redact

import "strings"

// strength says how much a name alone tells about the value that it is given.
type strength uint8

const (
	nothing  strength = iota
	someKey           // key, auth, the name of a service: may as well name a cache entry
	token             // token, api_key: the value must not be a word
	secret            // secret, client_secret: anything but a word or a placeholder
	password          // password: anything with a digit or a sign in it
	header            // authorization: whatever follows the scheme
	pairOf            // credentials: a name and a password
)

// meaning is what a name tells: its strength, or that it contains a telling word.
type meaning struct {
	strength strength
	telling  bool
}

// meaningOf remembers the names of a text: there are few, and they come often.
func (s *scanner) meaningOf(name string) meaning {
	m, ok := s.names[name]
	if ok {
		return m
	}
	known := false
	m.strength, known = s.rules.strengthOf(name)
	m.telling = m.strength != nothing || !known && s.rules.telling(name)
	if s.names == nil {
		s.names = map[string]meaning{}
	}
	if len(s.names) < 4096 {
		s.names[name] = m
	}
	return m
}

// strengthOf reads the end of a name, whatever its style: dbPassword,
// DB_PASSWORD, db-password.
func (r *rules) strengthOf(name string) (how strength, known bool) {
	n := joined(name)
	for _, suffix := range [...]string{"base", "prod", "production", "dev", "staging", "live", "test", "value", "string", "text", "plain"} {
		if short, ok := strings.CutSuffix(n, suffix); ok && len(short) > 4 {
			n = short
			break
		}
	}
	if n = strings.TrimRight(n, "0123456789"); n == "" {
		return nothing, false
	}
	for k := r.endings[n[len(n)-1]]; k != 0; k = r.words[k].next {
		if e := &r.words[k]; strings.HasSuffix(n, e.word) && (len(e.word) > 3 || e.word == "pwd" || strength(e.of) < token || hasWord(name, strings.ToLower(name), e.word)) {
			return strength(e.of), true
		}
	}
	return nothing, false
}

// joined is a name in lower case, without what stands between its words.
func joined(name string) string {
	b := make([]byte, 0, 64)
	for i := range len(name) {
		switch c := name[i]; c {
		case '_', '-', '.', '$', ' ', '/':
		default:
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			b = append(b, c)
		}
	}
	return string(b)
}

// telling says whether a name contains the name of a service that issues keys
// without a form of their own, or a word for secrets.
func (r *rules) telling(name string) bool {
	low := strings.ToLower(name)
	if len(low) != len(name) {
		name = low // letters outside ASCII change their size, and have no parts
	}
	for i := range len(low) {
		k := r.telltale[low[i]]
		if k == 0 || !wordStart(name, low, i) {
			continue
		}
		for ; k != 0; k = r.words[k].next {
			if w := &r.words[k]; strings.HasPrefix(low[i:], w.word) && (strength(w.of) == someKey || !goesOn(name, low, w.word)) {
				return true
			}
		}
	}
	return false
}

// goesOn says that the word for a secret is only the beginning of a longer one,
// as in tokenizer.
func goesOn(name, low, word string) bool {
	_, after, _ := strings.Cut(low, word)
	return after != "" && after[0] >= 'a' && name[len(name)-len(after)] >= 'a'
}

// hasWord says whether a name contains word as a word: OKTA_ID and myOktaId, not
// rookTable. low is the name in lower case.
func hasWord(name, low, word string) bool {
	for at := 0; ; at++ {
		i := strings.Index(low[at:], word)
		if i < 0 {
			return false
		}
		at += i
		if wordStart(name, low, at) {
			return true
		}
	}
}

// wordStart says whether a word of a name begins at this place.
func wordStart(name, low string, at int) bool {
	return at == 0 || low[at-1] < 'a' || low[at-1] > 'z' || name[at] != low[at] && name[at-1] == low[at-1]
}
