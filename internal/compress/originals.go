package compress

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// What must outlive the source are the originals. They lie in one file for each run,
// as three files for each message, as a cache of results has them, would take longer
// to write than the clone, and be half a million for a gigabyte of session.

func (d Dir) originals() string { return filepath.Join(string(d), "originals") }

// originalFile is such a file while its run writes it: a line for each message,
// with the hashes in front so that they are found without reading the text.
type originalFile struct {
	file *os.File
	w    *bufio.Writer
	path string
	line []byte
}

// keep begins the file of a run. A run that cannot write it fails: the references
// in its clone would lead nowhere once the source is gone.
func (d Dir) keep(id string, now time.Time) (*originalFile, error) {
	store.SweepTemp(d.originals(), now)
	o := &originalFile{path: d.originalsOf(id)}
	if err := os.MkdirAll(d.originals(), 0o700); err != nil {
		return nil, fmt.Errorf("keep originals: %w", err)
	}
	// SweepTemp knows the name as one that was left over.
	f, err := os.CreateTemp(d.originals(), "."+filepath.Base(o.path)+".overtone-*")
	if err != nil {
		return nil, fmt.Errorf("keep originals: %w", err)
	}
	o.file, o.w = f, bufio.NewWriterSize(f, 64<<10)
	return o, nil
}

func (d Dir) originalsOf(id string) string {
	return filepath.Join(d.originals(), filepath.Base(id)+".jsonl")
}

const (
	originalKey = `{"original":"`
	resultKey   = `","result":"`
	hexHash     = 2 * sha256.Size
	hashesEnd   = len(originalKey) + hexHash + len(resultKey) + hexHash
)

func (o *originalFile) add(original string, hash [sha256.Size]byte, result string) error {
	if o == nil {
		return nil
	}
	made := sha256.Sum256([]byte(result))
	b := o.line[:0]
	b = append(b, originalKey...)
	b = hex.AppendEncode(b, hash[:])
	b = append(b, resultKey...)
	b = hex.AppendEncode(b, made[:])
	b = append(b, `","text":`...)
	text, err := json.Marshal(original)
	if err != nil {
		return err
	}
	b = append(append(b, text...), "}\n"...)
	o.line = b
	if _, err = o.w.Write(b); err != nil {
		return fmt.Errorf("keep originals: %w", err)
	}
	return nil
}

// done gives the file its name, before the clone that needs it has one.
func (o *originalFile) done() error {
	if o == nil {
		return nil
	}
	err := o.w.Flush()
	if err == nil {
		err = o.file.Sync()
	}
	if err = errors.Join(err, o.file.Close()); err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		_ = os.Remove(o.file.Name())
		return fmt.Errorf("keep originals: %w", err)
	}
	return nil
}

func (o *originalFile) drop() {
	if o == nil {
		return
	}
	o.file.Close()
	_ = os.Remove(o.file.Name())
	_ = os.Remove(o.path)
}

// Originals finds what compressions replaced by the hash of its text. What the
// files hold is read when it is first asked for, and again when there are others.
type Originals struct {
	dir   Dir
	mu    sync.Mutex
	files []string
	at    []originalAt // by hash
}

type originalAt struct {
	hash uint64 // its first digits
	off  int64
	len  int32
	file int32
}

// Originals are the texts that are kept in the folder.
func (d Dir) Originals() *Originals { return &Originals{dir: d} }

// Find gives the text whose SHA-256 begins with the given digits, at least eight
// of them. Two texts with the same digits are no answer. The eight of a mark also stand
// for the messages behind it of which nothing was kept either.
func (o *Originals) Find(digits string) (string, bool) {
	if len(digits) < 8 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", false
	}
	text, kept, several := o.kept(digits)
	if several {
		return "", false
	}
	cached, ok := o.dir.cached(digits)
	switch {
	case ok && kept:
		return text, strings.HasPrefix(text, cached)
	case ok:
		return cached, true
	}
	return text, kept
}

// kept is Find among the files of runs; several says that there are two texts.
func (o *Originals) kept(digits string) (text string, found, several bool) {
	behind := ""
	for _, at := range o.places(digits) {
		f, err := os.Open(o.files[at.file])
		if err != nil {
			continue
		}
		in := bufio.NewReader(io.NewSectionReader(f, at.off, math.MaxInt64-at.off))
		own, _, ok := nextOriginal(in)
		more := ""
		for len(digits) == markUnits-2 && ok {
			next, result, there := nextOriginal(in)
			if !there || result != textHash(markAgain) {
				break
			}
			more += "\n\n" + next
		}
		f.Close()
		if !ok || !strings.HasPrefix(textHash(own), digits) {
			continue // damaged
		}
		several = several || found && own != text
		if text, found = own, true; len(more) > len(behind) {
			behind = more
		}
	}
	return text + behind, found, several
}

// nextOriginal reads a line: a text, and the hash of what stands for it.
func nextOriginal(in *bufio.Reader) (text, result string, ok bool) {
	b, err := in.ReadBytes('\n')
	var r struct{ Text, Result string }
	ok = err == nil && json.Unmarshal(b, &r) == nil
	return r.Text, r.Result, ok
}

// places lists the lines whose hash begins with the digits. The files never change,
// so that only who finds nothing has to look whether there are others.
func (o *Originals) places(digits string) []originalAt {
	o.mu.Lock()
	defer o.mu.Unlock()
	least, most := hashRange(digits)
	for {
		from, _ := slices.BinarySearchFunc(o.at, least, func(a originalAt, h uint64) int { return cmp.Compare(a.hash, h) })
		to := from
		for to < len(o.at) && o.at[to].hash <= most {
			to++
		}
		if to > from {
			return o.at[from:to]
		}
		files := o.dir.originalFiles()
		if slices.Equal(files, o.files) {
			return nil
		}
		o.files, o.at = files, nil
		for n, f := range files {
			readOriginals(f, func(original, _ []byte, off int64, size int) {
				h, _ := hashRange(string(original))
				o.at = append(o.at, originalAt{h, off, int32(size), int32(n)})
			})
		}
		slices.SortFunc(o.at, func(a, b originalAt) int {
			return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.file, b.file), cmp.Compare(a.off, b.off))
		})
	}
}

// hashRange are the least and the most that the first 16 digits of a hash can be
// which begins so.
func hashRange(digits string) (least, most uint64) {
	digits = digits[:min(len(digits), 16)]
	least, _ = strconv.ParseUint(digits+"0000000000000000"[len(digits):], 16, 64)
	most, _ = strconv.ParseUint(digits+"ffffffffffffffff"[len(digits):], 16, 64)
	return least, most
}

func (d Dir) originalFiles() (files []string) {
	list, _ := os.ReadDir(d.originals())
	for _, f := range list {
		if filepath.Ext(f.Name()) == ".jsonl" && !strings.HasPrefix(f.Name(), ".") {
			files = append(files, filepath.Join(d.originals(), f.Name()))
		}
	}
	return files
}

// readOriginals tells the hashes of each line and where it stands.
func readOriginals(path string, tell func(original, result []byte, off int64, size int)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 256<<10)
	var hashes [hashesEnd]byte
	for off := int64(0); ; {
		head, _ := r.Peek(hashesEnd)
		whole := copy(hashes[:], head) == hashesEnd && bytes.HasPrefix(head, []byte(originalKey)) && bytes.HasPrefix(head[len(originalKey)+hexHash:], []byte(resultKey))
		size := 0
		for {
			part, err := r.ReadSlice('\n')
			size += len(part)
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return // what has no end was not finished
			}
		}
		if whole {
			tell(hashes[len(originalKey):][:hexHash], hashes[hashesEnd-hexHash:], off, size)
		}
		off += int64(size)
	}
}

// results are the beginnings of the hashes of all results that are known: a copy
// of one that lost its mark is not compressed again.
func (d Dir) results() map[uint64]struct{} {
	known := map[uint64]struct{}{}
	add := func(digits string) {
		h, _ := hashRange(digits)
		known[h] = struct{}{}
	}
	folders, _ := os.ReadDir(string(d))
	for _, f := range folders {
		if len(f.Name()) != 2 {
			continue
		}
		files, _ := os.ReadDir(filepath.Join(string(d), f.Name()))
		for _, f := range files {
			if filepath.Ext(f.Name()) == ".ref" && len(f.Name()) == hexHash+len(".ref") {
				add(f.Name())
			}
		}
	}
	for _, f := range d.originalFiles() {
		readOriginals(f, func(_, result []byte, _ int64, _ int) { add(string(result)) })
	}
	return known
}
