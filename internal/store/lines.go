package store

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// MaxLine bounds the memory one line may take. Real lines of sessions reach a few
// megabytes (images); a longer one is reported, skipped by the index and copied by a
// clone like any other bytes.
const MaxLine = 64 << 20

// Lines splits a stream at newlines. A line is valid until the next call.
type Lines struct {
	Off  int64 // of the next line
	Err  error // why the stream ended before its end
	Most int64 // of a longer line only the beginning is kept

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

// ReadLines reads the lines of a stream that begins at off in its file. Calling done gives
// the buffer back, for the next file.
func ReadLines(r io.Reader, off int64) (l *Lines, done func()) {
	b := lineBuffers.Get().(*bufio.Reader)
	b.Reset(r)
	return &Lines{r: b, Off: off, Most: MaxLine}, func() { lineBuffers.Put(b) }
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
			if ln.Huge = int64(len(l.long)) >= l.Most; !ln.Huge {
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

// LinesBack calls yield with the lines of the first size bytes of r from the last to the
// first, until it returns false or limit bytes were read. Empty lines are left out, and so
// is the part of a line that the limit has cut; the last line may lack its newline.
func LinesBack(r io.ReaderAt, size, limit int64, yield func(line []byte) bool) error {
	var rest []byte // what precedes the first newline of the block read before
	var read int64
	for block := int64(64 << 10); size > 0 && read < limit; block = min(block*4, 1<<20) {
		block = min(block, size, limit-read)
		buf := make([]byte, block, int(block)+len(rest))
		if _, err := r.ReadAt(buf, size-block); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		size -= block
		read += block
		buf = append(buf, rest...)
		for {
			i := bytes.LastIndexByte(buf, '\n')
			if i < 0 {
				break
			}
			if line := buf[i+1:]; len(line) > 0 && !yield(line) {
				return nil
			}
			buf = buf[:i]
		}
		rest = buf
	}
	if size == 0 && len(rest) > 0 {
		yield(rest)
	}
	return nil
}

// ReadLine reads a line of any length, with its end; of one that is longer than most, its
// first most+1 bytes.
func ReadLine(r *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), most+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
