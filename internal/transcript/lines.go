package transcript

import (
	"bytes"
	"io"
	"sync"
)

// maxLine bounds the memory one line may take. Real lines reach a few
// megabytes (images); a longer one is reported, skipped by the index and
// copied by a clone like any other bytes.
const maxLine = 64 << 20

var bom = []byte("\xef\xbb\xbf")

// lineReader splits a stream at newlines. A line is valid until the next call.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int
	off        int64 // file offset of buf[start]
	eof        bool
	err        error
	max        int
}

type line struct {
	b       []byte // without the newline; empty for an oversized line
	off     int64  // of its first byte
	size    int64  // bytes including the newline
	newline bool
	huge    bool
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: r, buf: make([]byte, lineBuffer), max: maxLine}
}

const lineBuffer = 256 << 10

// lineBuffers are for those who read many files. What grew for a long line is not
// kept.
var lineBuffers = sync.Pool{New: func() any { return new([lineBuffer]byte) }}

func pooledLineReader(r io.Reader) (l *lineReader, done func()) {
	b := lineBuffers.Get().(*[lineBuffer]byte)
	return &lineReader{r: r, buf: b[:], max: maxLine}, func() { lineBuffers.Put(b) }
}

func (l *lineReader) fill() {
	if l.start > 0 {
		copy(l.buf, l.buf[l.start:l.end])
		l.end -= l.start
		l.start = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	if err != nil {
		l.eof = true
		if err != io.EOF {
			l.err = err
		}
	}
}

func (l *lineReader) next() (line, bool) {
	seen := 0
	for {
		if i := bytes.IndexByte(l.buf[l.start+seen:l.end], '\n'); i >= 0 {
			n := seen + i
			ln := line{b: l.buf[l.start : l.start+n], off: l.off, size: int64(n) + 1, newline: true}
			l.start += n + 1
			l.off += ln.size
			return ln, true
		}
		seen = l.end - l.start
		if l.eof {
			if seen == 0 {
				return line{}, false
			}
			ln := line{b: l.buf[l.start:l.end], off: l.off, size: int64(seen)}
			l.start = l.end
			l.off += ln.size
			return ln, true
		}
		if seen >= l.max {
			return l.discard(), true
		}
		l.fill()
	}
}

// discard passes over the rest of an oversized line.
func (l *lineReader) discard() line {
	ln := line{off: l.off, huge: true}
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			ln.size += int64(i) + 1
			ln.newline = true
			l.start += i + 1
			break
		}
		ln.size += int64(l.end - l.start)
		l.start = l.end
		if l.eof {
			break
		}
		l.fill()
	}
	l.off += ln.size
	return ln
}
