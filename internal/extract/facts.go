package extract

import (
	"slices"
	"strings"
	"sync"
)

// Kind says what a fact is.
type Kind uint8

const (
	Path Kind = iota
	URL
	Hash
	Number
	Identifier
	ErrorLine
	Code
	kinds
)

func (k Kind) String() string {
	return [...]string{"path", "url", "hash", "number", "identifier", "error line", "code", "unknown"}[min(k, kinds)]
}

// Fact is one thing that a reader of the text may need again word for word.
// Text is in normal form: a number without unit, thousands separator or leading
// v, a path without ./ in front and / behind, a hash in lower case.
type Fact struct {
	Kind Kind
	Text string
}

// FactSet holds the distinct facts of one text in order of first appearance.
// The zero value is the set of the empty text.
type FactSet struct {
	text  string
	list  []Fact
	index map[Fact]struct{}
}

// Facts reads the facts of text in one pass.
func Facts(text string) FactSet {
	s := FactSet{text: text, index: map[Fact]struct{}{}}
	for _, sp := range scanFacts(nil, text) {
		if f := (Fact{sp.Kind, sp.key(text)}); f.Text != "" && !s.Has(f) {
			s.list = append(s.list, f)
			s.index[f] = struct{}{}
		}
	}
	return s
}

// Has reports whether the text states the fact in the given form.
func (s FactSet) Has(f Fact) bool {
	_, ok := s.index[f]
	return ok
}

// Lost returns the facts of orig that result no longer states, in the order of
// orig. Identifiers, error lines and code count as kept when all their words
// are still there: quoting, fences and indentation may go.
func Lost(orig, result FactSet) []Fact {
	set := sync.OnceValue(func() map[string]struct{} { return wordSet(result.text) })
	var lost []Fact
	for _, f := range orig.list {
		if result.Has(f) {
			continue
		}
		switch f.Kind {
		case Identifier, ErrorLine, Code:
			if hasWords(set(), f.Text) {
				continue
			}
		case Hash:
			if result.abbreviates(f.Text) {
				continue
			}
		}
		lost = append(lost, f)
	}
	return lost
}

// Invented returns the paths, URLs, hashes and numbers of result that orig does
// not have. Shorter forms of something that orig does have are not invented: the
// tail or a folder of a path, the front of a URL or hash, a number that orig
// holds inside a name or writes as a word.
func Invented(orig, result FactSet) []Fact {
	if !slices.ContainsFunc(result.list, func(f Fact) bool { return !orig.Has(f) }) {
		return nil
	}
	paths := sync.OnceValue(func() string { return orig.joined(Path) })
	urls := sync.OnceValue(func() string { return orig.joined(URL) })
	hashes := sync.OnceValue(func() string { return orig.joined(Hash) })
	numbers := sync.OnceValue(func() map[string]struct{} { return numerals(orig.text) })
	var made []Fact
	for _, f := range result.list {
		if orig.Has(f) {
			continue
		}
		switch f.Kind {
		case Path:
			if strings.Contains(paths(), "/"+strings.Trim(f.Text, "/")+"/") ||
				strings.Contains(urls(), "/"+strings.Trim(f.Text, "/")+"/") {
				continue
			}
		case URL:
			if strings.Contains(urls(), "\n/"+strings.TrimSuffix(f.Text, "/")+"/") {
				continue
			}
		case Hash:
			if strings.Contains(hashes(), "\n/"+f.Text) {
				continue
			}
		case Number:
			if _, ok := numbers()[f.Text]; ok {
				continue
			}
		default:
			continue
		}
		made = append(made, f)
	}
	return made
}

// joined writes the texts of one kind as "\n/text/\n", so that whole components
// are found by one substring search with slashes around them.
func (s FactSet) joined(k Kind) string {
	var b strings.Builder
	for _, f := range s.list {
		if f.Kind == k {
			b.WriteString("\n/")
			b.WriteString(strings.Trim(f.Text, "/"))
			b.WriteString("/\n")
		}
	}
	return b.String()
}

// abbreviates reports whether the set has the front of hash h, at least as long
// as the shortest hash there is.
func (s FactSet) abbreviates(h string) bool {
	for n := minHash; n < len(h); n++ {
		if s.Has(Fact{Hash, h[:n]}) {
			return true
		}
	}
	return false
}
