package transcript

import (
	"bytes"

	"github.com/seed-6d03985f/overtone/internal/store"
)

var bom = []byte("\xef\xbb\xbf")

// objects takes the objects of a line apart, nearly always one, but a crash may glue two
// together, or leave zero bytes behind. fn gets each with where it begins in the line and
// where it ends; those that tell nothing of what is wanted are left out. It is false where
// the line holds something else.
func (r *record) objects(ln store.Line, h Host, fn func(from, to int)) bool {
	i := 0
	if ln.Off == 0 && bytes.HasPrefix(ln.B, bom) {
		i = len(bom)
	}
	for i = space(ln.B, i); i < len(ln.B); i = space(ln.B, i) {
		c := cursor{b: ln.B, i: i}
		if !c.open('{') {
			return false
		}
		r.reset()
		r.Off, r.End = ln.Off, ln.Off+ln.Size
		tells := r.read(&c, h)
		if !tells && !c.bad {
			// Nobody asks for the rest, but it counts where it is broken.
			c.i = skip(ln.B, i)
			c.bad = c.i < 0
		}
		if c.bad {
			return false
		}
		if tells {
			fn(i, c.i)
		}
		i = c.i
	}
	return !ln.Huge
}
