// Package redact finds secrets in text, so that they can be taken out before the
// text leaves the machine or enters a packet: keys and tokens of known services
// (rules.go), private keys however their lines are shown (key.go), passwords in
// URLs (url.go), values that are assigned to a name such as password or api_key
// (pair.go, name.go), and what follows such a label in a sentence, in several
// languages, or the flag of a command (phrase.go). Whether a value looks like a
// secret or like a word, a variable or a reference is decided in looks.go.
//
// The scan is one pass over the bytes and takes time proportional to the text. What it
// looks for stands in tables.go, which a test makes of the lists of words.
// It is made for text of coding agents, where hashes, UUIDs, digests of lock
// files and identifiers are everywhere: those are not secrets, unless the name
// they are assigned to says so. It prefers to take out too much of a credential
// over too little, and an odd word over none. It is no proof that a text holds
// no secret: a password that is a word looks like one. How good it is on texts made
// for the purpose, and that it stays so, is told by TestCorpus and TestEval.
package redact

import (
	"maps"
	"slices"
	"strings"
)

// Span is a secret in a text: the bytes from Start up to End.
type Span struct {
	Start, End int
	Kind       string
}

// Found counts the secrets of one kind.
type Found struct {
	Kind  string
	Count int
}

const (
	opening = "[REDACTED:"
	closing = "]"
)

// Spans returns the secrets in text, in order and without overlap. They begin and
// end between characters.
func Spans(text string) []Span {
	s := scanner{text: text, rules: &tables}
	s.run()
	return s.spans
}

// maxRounds bounds how often a text is looked at. A token that is glued to
// another one is only seen when the other is gone; more than one round is rare.
const maxRounds = 8

// Text replaces every secret by [REDACTED:kind] and says what it found, sorted by
// kind. A text that was redacted once is not changed again.
func Text(text string) (string, []Found) {
	counts := map[string]int{}
	for range maxRounds {
		spans := Spans(text)
		if len(spans) == 0 {
			break
		}
		var b strings.Builder
		b.Grow(len(text))
		at := 0
		for _, s := range spans {
			b.WriteString(text[at:s.Start])
			b.WriteString(opening + s.Kind + closing)
			at = s.End
			counts[s.Kind]++
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	var found []Found
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		found = append(found, Found{kind, counts[kind]})
	}
	return text, found
}

// Clean is [Text] for those who do not ask what was found.
func Clean(text string) string {
	text, _ = Text(text)
	return text
}
