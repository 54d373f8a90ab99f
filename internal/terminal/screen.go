package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"unicode/utf8"
)

// screen is what the program writes to instead of its standard files. Titles,
// folders, messages and errors come from outside: on their way to a terminal,
// whatever could steer it, or turn the order of what is read, is written as an
// escape. In JSON, where such characters occur only within strings, the escape is
// the same string, so one rule serves people and programs.
type screen struct {
	mu   sync.Mutex
	w    io.Writer
	tty  *os.File    // what is read in the end, where w only holds it back for that
	part []byte      // the beginning of a character whose end is not written yet
	err  error       // the first that writing met
	tell func(error) // is told of it; may be nil
}

// NewScreen makes a screen of a standard file.
func NewScreen(w io.Writer) io.Writer {
	if _, ok := w.(*screen); ok {
		return w
	}
	return &screen{w: w}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := p
	if len(s.part) > 0 {
		text = slices.Concat(s.part, p)
	}
	n := whole(text)
	s.part = append([]byte(nil), text[n:]...)
	if err := s.pass(appendSafe(nil, text[:n])); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *screen) pass(text []byte) error {
	_, err := s.w.Write(text)
	if err != nil && s.err == nil && s.tell != nil {
		s.tell(err)
	}
	s.err = cmp.Or(s.err, err)
	return err
}

// divert has the screen write to something else, of which tty shows the end.
func (s *screen) divert(w io.Writer, tty *os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w, s.tty = w, tty
}

// OnError has f called when a screen cannot be written to, once.
func OnError(w io.Writer, f func(error)) {
	if s, ok := w.(*screen); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tell = f
	}
}

// WriteError is what went wrong while a screen was written to, in the system's
// words alone.
func WriteError(w io.Writer) error {
	s, ok := w.(*screen)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if path, ok := errors.AsType[*fs.PathError](s.err); ok {
		return path.Err
	}
	return s.err
}

// whole is how much of a text ends with a complete character. A carriage return
// waits for what follows it.
func whole(text []byte) int {
	n := len(text)
	for i := n - 1; i >= 0 && i >= n-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	if n > 0 && text[n-1] == '\r' {
		return n - 1
	}
	return n
}

// Flush writes what is left at the end.
func Flush(w io.Writer) {
	s, ok := w.(*screen)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.part) > 0 {
		_, _ = s.w.Write(appendSafe(nil, s.part)) // nobody is left to be told
		s.part = nil
	}
}

// Raw is the file behind a screen, for what the program itself draws.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.w
	}
	return w
}

// File is the standard file behind a screen, where it is one.
func File(w io.Writer) (*os.File, bool) {
	if s, ok := w.(*screen); ok && s.tty != nil {
		return s.tty, true
	}
	f, ok := Raw(w).(*os.File)
	return f, ok
}

// appendSafe appends text without what must not reach a terminal.
func appendSafe(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case !steers(r):
			dst = append(dst, text[i:i+size]...)
		case r > 0xffff:
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		i += size
	}
	return dst
}

// steers reports whether a character controls a terminal, turns the direction of
// text, breaks lines, or is a letter that nobody sees.
func steers(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0: // control characters, C0 and C1
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // direction
		return true
	case r == 0x2028, r == 0x2029, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe007f: // lines, notes, tags
		return true
	}
	return false
}
