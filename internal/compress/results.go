package compress

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
)

// results keeps the results of a run: in memory while they are small, else in a
// file that has no name.
type results struct {
	at   []textSpan
	buf  []byte
	file *os.File
	base int64 // bytes in the file
	// originals is where the texts they stand for are kept; nil where they are not.
	originals *originalFile
	printed   bool // they are printed, and no clone refers to the originals
}

type textSpan struct {
	off  int64
	len  int32 // -1 for none
	hash [sha256.Size]byte
}

const textsInMemory = 16 << 20

func (t *results) put(out outcome, total int) error {
	text := out.Text
	if !Stands(out.Status, text) {
		return nil
	}
	if t.at == nil {
		t.at = make([]textSpan, total)
		for i := range t.at {
			t.at[i].len = -1
		}
	}
	if len(t.buf)+len(text) > textsInMemory {
		if t.file == nil {
			f, err := os.CreateTemp("", "overtone-results-*")
			if err != nil {
				return err
			}
			t.file = f
			// Where the system allows it the file vanishes with the process.
			_ = os.Remove(f.Name())
		}
		if _, err := t.file.Write(t.buf); err != nil {
			return err
		}
		t.base += int64(len(t.buf))
		t.buf = t.buf[:0]
	}
	t.at[out.job] = textSpan{t.base + int64(len(t.buf)), int32(len(text)), out.hash}
	t.buf = append(t.buf, text...)
	return nil
}

func (t *results) has(n int) bool { return t.at != nil && t.at[n].len >= 0 }

func (t *results) get(n int) (text, hash string, err error) {
	s := t.at[n]
	if s.off >= t.base {
		off := s.off - t.base
		return string(t.buf[off : off+int64(s.len)]), hex.EncodeToString(s.hash[:]), nil
	}
	b := make([]byte, s.len)
	_, err = t.file.ReadAt(b, s.off)
	return string(b), hex.EncodeToString(s.hash[:]), err
}

func (t *results) Close() error {
	if t.file == nil {
		return nil
	}
	name := t.file.Name()
	err := t.file.Close()
	_ = os.Remove(name)
	return err
}

// Stands reports whether what became of a message takes its place.
func Stands(s Status, text string) bool { return s == Success && text != "" }

// Standing says which of n results stands for which of a session's entries: of two for
// one entry the later. One for an entry that is not there is passed over.
func Standing(n, entries int, of func(n int) (entry int32, stands bool)) map[int32]int {
	standing := map[int32]int{}
	for n := range n {
		if i, ok := of(n); ok && i >= 0 && int(i) < entries {
			standing[i] = n
		}
	}
	return standing
}

func (p *Plan) standing(kept *results) map[int32]int {
	return Standing(len(p.Items), len(p.Session.Entries), func(n int) (int32, bool) { return p.Items[n].Entry, kept.has(n) })
}
