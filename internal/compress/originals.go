package compress

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// A provider that decides on all texts at once needs no cache: asking it again
// costs nothing, and its results depend on each other. What must outlive the source
// are the originals. They lie in one file for each run, as three files for each
// message would take longer to write than the clone, and half a million of them
// for a gigabyte of session.

// originals is the folder of those files.
func (d Dir) originals() string { return filepath.Join(string(d), "originals") }

// originalFile is such a file while its run writes it: a line for each message,
// with the hashes in front so that they are found without reading the text.
type originalFile struct {
	file *os.File
	w    *bufio.Writer
	path string
	line []byte
	err  error
}

// keep begins the file of a run. What cannot be written is no failure of the run:
// it costs an answer once the source is gone.
func (d Dir) keep(id string, now time.Time) *originalFile {
	store.SweepTemp(d.originals(), now)
	o := &originalFile{path: filepath.Join(d.originals(), filepath.Base(id)+".jsonl")}
	if o.err = os.MkdirAll(d.originals(), 0o700); o.err == nil {
		// SweepTemp knows the name as one that was left over.
		o.file, o.err = os.CreateTemp(d.originals(), "."+filepath.Base(o.path)+".overtone-*")
	}
	if o.err == nil {
		o.w = bufio.NewWriterSize(o.file, 64<<10)
	}
	return o
}

const (
	originalKey = `{"original":"`
	resultKey   = `","result":"`
	hexHash     = 2 * sha256.Size
	hashesEnd   = len(originalKey) + hexHash + len(resultKey) + hexHash
)

func (o *originalFile) add(original string, hash [sha256.Size]byte, result string) {
	if o == nil || o.err != nil {
		return
	}
	made := sha256.Sum256([]byte(result))
	b := append(o.line[:0], originalKey...)
	b = hex.AppendEncode(b, hash[:])
	b = append(b, resultKey...)
	b = hex.AppendEncode(b, made[:])
	b = append(b, `","text":`...)
	text, err := json.Marshal(original)
	if err != nil {
		o.err = err
		return
	}
	b = append(append(b, text...), "}\n"...)
	o.line = b
	_, o.err = o.w.Write(b)
}

// done gives the file its name, before the clone that needs it has one.
func (o *originalFile) done() {
	if o == nil || o.file == nil {
		return
	}
	if o.err == nil {
		o.err = o.w.Flush()
	}
	o.err = errors.Join(o.err, o.file.Close())
	if o.err == nil {
		o.err = os.Rename(o.file.Name(), o.path)
	}
	if o.err != nil {
		_ = os.Remove(o.file.Name())
	}
}

// drop removes the file of a run that failed.
func (o *originalFile) drop() {
	if o == nil || o.file == nil {
		return
	}
	o.file.Close()
	_ = os.Remove(o.file.Name())
	_ = os.Remove(o.path)
}

// eachOriginal reads the lines of all runs whose hashes the caller wants: the rest
// of a line is read when want says so.
func (d Dir) eachOriginal(want func(original, result []byte) bool, take func(line []byte)) {
	files, err := os.ReadDir(d.originals())
	if err != nil {
		return
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) == ".jsonl" && !strings.HasPrefix(f.Name(), ".") {
			readOriginals(filepath.Join(d.originals(), f.Name()), want, take)
		}
	}
}

func readOriginals(path string, want func(original, result []byte) bool, take func(line []byte)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 256<<10)
	for {
		head, err := r.Peek(hashesEnd)
		if err != nil {
			return
		}
		whole := bytes.HasPrefix(head, []byte(originalKey)) && bytes.HasPrefix(head[len(originalKey)+hexHash:], []byte(resultKey)) &&
			want(head[len(originalKey):][:hexHash], head[hashesEnd-hexHash:])
		var line []byte
		for {
			part, err := r.ReadSlice('\n')
			if whole {
				line = append(line, part...)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
		}
		if whole {
			take(line)
		}
	}
}

// original finds the text of one run whose hash begins with the given digits, and
// whether another text's does too.
func (d Dir) original(digits string) (text string, found, several bool) {
	hash := ""
	d.eachOriginal(func(original, _ []byte) bool {
		return bytes.HasPrefix(original, []byte(digits)) && string(original) != hash
	}, func(line []byte) {
		var r struct{ Text string }
		if json.Unmarshal(line, &r) != nil || !strings.HasPrefix(textHash(r.Text), digits) {
			return // damaged
		}
		if !found {
			text, hash, found = r.Text, textHash(r.Text), true
		}
		several = several || textHash(r.Text) != hash
	})
	return text, found, several
}

// results are the beginnings of the hashes of all results that are known: a copy
// of one that lost its mark is not compressed again.
func (d Dir) results() map[uint64]struct{} {
	known := map[uint64]struct{}{}
	add := func(digits []byte) {
		var h [8]byte
		if n, err := hex.Decode(h[:], digits[:16]); err == nil && n == 8 {
			known[binary.BigEndian.Uint64(h[:])] = struct{}{}
		}
	}
	folders, _ := os.ReadDir(string(d))
	for _, f := range folders {
		if len(f.Name()) != 2 {
			continue
		}
		files, _ := os.ReadDir(filepath.Join(string(d), f.Name()))
		for _, f := range files {
			if filepath.Ext(f.Name()) == ".ref" && len(f.Name()) == hexHash+len(".ref") {
				add([]byte(f.Name()))
			}
		}
	}
	d.eachOriginal(func(_, result []byte) bool { add(result); return false }, nil)
	return known
}
