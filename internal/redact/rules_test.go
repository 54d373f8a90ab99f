package redact

import (
	"slices"
	"strings"
	"testing"
)

// Every word of the tables is found again where the scanner looks for it, however many
// there are.
func TestTablesAreWhole(t *testing.T) {
	t.Parallel()
	r := compiled()
	look := func(word string) *entry {
		e := &r.entries[r.groups[pair(word[0], word[1])]]
		if len(word) > 2 && !e.goesOn(word[2]) {
			t.Errorf("%q: its third byte is not known", word)
		}
		return e
	}
	for _, w := range triggers() {
		if e := look(w.word); !slices.ContainsFunc(e.triggers, func(t trigger) bool { return t.word == w.word }) {
			t.Errorf("%q is lost", w.word)
		}
	}
	for _, p := range prefixed {
		for prefix := range strings.SplitSeq(p.prefix, "|") {
			if e := look(prefix); !slices.ContainsFunc(e.rules, func(r rule) bool { return r.prefix == prefix }) {
				t.Errorf("%q is lost", prefix)
			}
		}
	}
	if len(r.entries[0].triggers)+len(r.entries[0].rules) > 0 {
		t.Error("the entry that stands for none has words")
	}
	t.Logf("%d groups", len(r.entries))
}
