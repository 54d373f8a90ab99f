package redact

import "testing"

// Every word of the tables is found again where the scanner looks for it, behind all that
// are longer, however many there are.
func TestTablesAreWhole(t *testing.T) {
	t.Parallel()
	r := &tables
	within := func(list uint16, k int) bool {
		last := 1 << 10
		for ; list != 0; list = r.words[list].next {
			if n := len(r.words[list].word); n > last {
				t.Errorf("%q stands behind a shorter one", r.words[list].word)
			} else {
				last = n
			}
			if int(list) == k {
				return true
			}
		}
		return false
	}
	for k, w := range r.words[1:] {
		k++
		listed := within(r.endings[w.word[len(w.word)-1]], k) || within(r.telltale[w.word[0]], k)
		if e := r.find(w.word[0], w.word[1]); !listed {
			listed = within(e.tokens, k) || within(e.triggers, k)
			if len(w.word) > 2 && !e.goesOn(w.word[2]) {
				t.Errorf("%q: its third byte is not known", w.word)
			}
		}
		if !listed {
			t.Errorf("%q is lost", w.word)
		}
	}
	if e := r.find('q', 'q'); e.tokens+e.triggers > 0 || e.goesOn('q') {
		t.Error("the entry that stands for none has words")
	}
}
