package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// MaxLine bounds the memory one line may take. Real lines reach a few
// megabytes (images); a longer one is reported, skipped by the index and
// copied by a clone like any other bytes.
const MaxLine = 64 << 20

var bom = []byte("\xef\xbb\xbf")

// Lines splits a stream at newlines. A line is valid until the next call.
type Lines struct {
	Off int64 // of the next line
	Err error // why the stream ended before its end

	most int64 // of a longer line only the beginning is kept
	r    *bufio.Reader
	long []byte // a line that did not fit the buffer
}

// Line is a line of a stream.
type Line struct {
	B    []byte // without the newline
	Off  int64  // of its first byte
	Size int64  // bytes including the newline
	// Ended is false for a last line without a newline, Huge true for one that is too long.
	Ended, Huge bool
}

var lineBuffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 256<<10) }}

// ReadLines reads the lines of a stream that begins at off in its file. Who reads many
// files says when done is done with one.
func ReadLines(r io.Reader, off int64) (l *Lines, done func()) {
	b := lineBuffers.Get().(*bufio.Reader)
	b.Reset(r)
	return &Lines{r: b, Off: off, most: MaxLine}, func() { lineBuffers.Put(b) }
}

// Next is the next line; false at the end.
func (l *Lines) Next() (Line, bool) {
	ln := Line{Off: l.Off}
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.Off += int64(len(part))
		ln.Size = l.Off - ln.Off
		more := errors.Is(err, bufio.ErrBufferFull)
		ln.Ended = err == nil
		if more || len(l.long) > 0 {
			if ln.Huge = int64(len(l.long)) >= l.most; !ln.Huge {
				l.long = append(l.long, part...)
			}
			part = l.long
		}
		if more {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			l.Err = err
		}
		ln.B = bytes.TrimSuffix(part, []byte("\n"))
		return ln, ln.Size > 0
	}
}

// objects takes the objects of a line apart, nearly always one, but a crash may glue two
// together, or leave zero bytes behind. fn gets each with where it begins in the line and
// where it ends; those that tell nothing of what is wanted are left out. It is false where
// the line holds something else.
func (r *record) objects(ln Line, h Host, fn func(from, to int)) bool {
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
