package compress

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/transcript"
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

// put keeps the text of an outcome, if it has one.
func (t *results) put(out outcome, total int) error {
	text := out.Text
	if out.Status != Success || text == "" {
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

// standing says which of the items' results stands for which entry of a session: of
// two for one entry the later. An item of an entry that is not there is passed over.
func standing(items []Item, kept *results, entries int) map[int32]int {
	of := map[int32]int{}
	for n := range items {
		if i := items[n].Entry; kept.has(n) && i >= 0 && int(i) < entries {
			of[i] = n
		}
	}
	return of
}

// Done is what became of the message of one entry.
type Done struct {
	Entry  int32
	Status Status
	Text   string // the result, "" where there is none
}

// ApplyResults returns a copy of the entries in which the results stand for the
// messages, as a clone has them, without its marks.
func ApplyResults(entries [][]byte, done []Done) ([][]byte, error) {
	kept, items := &results{}, make([]Item, len(done))
	defer kept.Close()
	for n, d := range done {
		items[n].Entry = d.Entry
		if err := kept.put(outcome{job: n, Status: d.Status, Text: d.Text}, len(done)); err != nil {
			return nil, err
		}
	}
	out := slices.Clone(entries)
	for i, n := range standing(items, kept, len(entries)) {
		text, _, err := kept.get(n)
		if err != nil {
			return nil, err
		}
		out[i] = transcript.SetText(entries[i], text)
	}
	return out, nil
}
