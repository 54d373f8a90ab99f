package recall

import "bytes"

// Weights of what may be meant beside a word that was typed.
const (
	joined   = 0.8 // two words that stand as one
	apart    = 0.7 // one word that stands as two
	leastCut = 3   // letters of a part
)

// relate adds to each word what stands for it in other writings, without asking whether
// anybody wrote that.
func relate(words []asked) {
	single := func(w *asked) bool { return !w.optional && !w.pair && !w.part && plain([]byte(w.form)) }
	for i := range words {
		w := &words[i]
		if !single(w) {
			continue
		}
		if i+1 < len(words) && single(&words[i+1]) {
			both := alt{term: string(term([]byte(w.form + words[i+1].form))), weight: joined}
			w.alts, words[i+1].alts = append(w.alts, both), append(words[i+1].alts, both)
		}
	}
}

// split adds the two words that a compound is made of, where both were written: of all
// places to cut it the one whose rarer part is the most common.
func (w *asked) split(segs []*segment) error {
	form := []byte(w.form)
	if len(form) < 2*leastCut || w.part || !plain(form) || bytes.ContainsAny(form, "0123456789") {
		return nil
	}
	best := alt{weight: apart}
	for cut := leastCut; cut <= len(form)-leastCut; cut++ {
		left, right := alt{term: string(term(bytes.Clone(form[:cut])))}, alt{term: string(term(bytes.Clone(form[cut:])))}
		if err := left.count(segs); err != nil || left.docs == 0 {
			if err != nil {
				return err
			}
			continue
		}
		if err := right.count(segs); err != nil {
			return err
		}
		if n := min(left.docs, right.docs); n > best.docs {
			best.term, best.with, best.docs = left.term, right.term, n
		}
	}
	if best.docs > 0 {
		w.alts = append(w.alts, best)
	}
	return nil
}
