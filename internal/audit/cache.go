package audit

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// The cache is one file with the traces of all sessions, each under its path,
// size and time of change. It is made anew and put in place by a rename whenever
// a trace was added; two audits at once overwrite each other, and either result
// is whole. It can be thrown away at any time.
//
//	magic, then for each file: length, checksum, body
//	body: path, size, mtime, head as JSON, requests, marks

// cacheVersion changes with the reader: what an older one left out is read anew.
const cacheVersion = 9

type cache struct {
	path  string
	magic []byte
	at    map[string]entry
	fresh atomic.Bool
}

type entry struct {
	size, mtime int64
	body        []byte // behind the key
	whole       []byte
}

// openCache reads the cache; what is damaged or of another version is empty.
func openCache(path string, set compact.Settings) *cache {
	c := &cache{path: path, at: map[string]entry{}}
	// The words that make a boundary are part of what was read.
	h := fnv.New64a()
	fmt.Fprintf(h, "%q", set.Markers)
	c.magic = fmt.Appendf(nil, "overtone audit %d %016x\n", cacheVersion, h.Sum64())
	if path == "" {
		return c
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, c.magic) {
		return c
	}
	rest := data[len(c.magic):]
	for len(rest) >= 8 {
		n, sum := int(binary.LittleEndian.Uint32(rest)), binary.LittleEndian.Uint32(rest[4:])
		if n > len(rest)-8 || crc32.ChecksumIEEE(rest[8:8+n]) != sum {
			break
		}
		d := decoder{store.Decoder{B: rest[8 : 8+n]}}
		name, size, mtime := d.text(), d.Varint(), d.Varint()
		if !d.Bad {
			c.at[name] = entry{size, mtime, d.B, rest[:8+n]}
		}
		rest = rest[8+n:]
	}
	return c
}

func (c *cache) find(f transcript.File) *trace {
	e, ok := c.at[f.Path]
	if !ok || e.size != f.Size || e.mtime != f.ModTime.UnixNano() {
		return nil
	}
	d := decoder{store.Decoder{B: e.body}}
	t := &trace{packed: e.body}
	if err := json.Unmarshal([]byte(d.text()), &t.head); err != nil {
		return nil
	}
	return t
}

func (t *trace) pack() {
	t.packed = t.encode(nil)
	t.leave()
}

// save writes the cache where something was read. Of files that were not looked
// at now the old traces stay, as long as they exist.
func (c *cache) save(all []transcript.File, list []traced) error {
	if c.path == "" || !c.fresh.Load() {
		return nil
	}
	now := make(map[string]*traced, len(list))
	for i := range list {
		now[list[i].file.Path] = &list[i]
	}
	out := bytes.Clone(c.magic)
	for i := range all {
		f := &all[i]
		e, ok := c.at[f.Path]
		switch t := now[f.Path]; {
		case ok && e.size == f.Size && e.mtime == f.ModTime.UnixNano():
			out = append(out, e.whole...)
		case t != nil:
			out = appendTrace(out, t)
		}
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	return store.LooseWrite(c.path, out, 0o600)
}

func appendTrace(out []byte, t *traced) []byte {
	body := appendText(nil, t.file.Path)
	body = binary.AppendVarint(body, t.file.Size)
	body = binary.AppendVarint(body, t.file.ModTime.UnixNano())
	body = append(body, t.packed...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(body)))
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(body))
	return append(out, body...)
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// encode writes numbers as varints and times as differences: thirty bytes for a
// request, of which eight tell it from others.
func (t *trace) encode(b []byte) []byte {
	h, err := json.Marshal(t.head)
	if err != nil {
		h = []byte("{}") // numbers and strings
	}
	b = appendText(b, string(h))
	b = binary.AppendUvarint(b, uint64(len(t.requests)))
	clock := int64(0)
	for i := range t.requests {
		r := &t.requests[i]
		b = binary.LittleEndian.AppendUint64(b, r.key)
		b = binary.AppendVarint(b, r.time-clock)
		clock = r.time
		b = binary.AppendUvarint(b, uint64(r.model)<<1|store.Bit(r.side))
		for _, n := range [...]int64{r.tokens.Input, r.tokens.Output, r.tokens.CacheWrite, r.tokens.CacheHour, r.tokens.CacheRead} {
			b = binary.AppendVarint(b, n)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(t.marks)))
	for i := range t.marks {
		m := &t.marks[i]
		b = store.AppendNumbers(b, uint64(m.at), uint64(m.actions))
		b = binary.AppendVarint(b, m.time)
		b = binary.AppendUvarint(b, uint64(m.signals)<<1|store.Bit(m.turn))
	}
	return b
}

// decoder adds what traces are made of.
type decoder struct{ store.Decoder }

func (d *decoder) text() string { return string(d.Take(d.Uvarint())) }

func (d *decoder) key() uint64 {
	b := d.Take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// count is the length of a list whose items take at least that many bytes.
func (d *decoder) count(least int) int {
	n := d.Uvarint()
	if n > uint64(len(d.B)/least) {
		d.Bad = true
		return 0
	}
	return int(n)
}

// room is memory for one unpacked trace after the other.
type room struct {
	requests []request
	marks    []mark
}

// unpack makes the requests and the marks, until the next trace takes the room. A
// record that is not what it says has none.
func (t *trace) unpack(r *room) {
	d := decoder{store.Decoder{B: t.packed}}
	d.Take(d.Uvarint()) // the head
	n := d.count(15)
	r.requests = slices.Grow(r.requests[:0], n)[:n]
	clock := int64(0)
	for i := range r.requests {
		key := d.key()
		clock += d.Varint()
		m := d.Uvarint()
		if m>>1 >= uint64(len(t.Models)) {
			d.Bad = true
			break
		}
		r.requests[i] = request{
			key: key, time: clock, model: int(m >> 1), side: m&1 != 0,
			tokens: Tokens{d.Varint(), d.Varint(), d.Varint(), d.Varint(), d.Varint()},
		}
	}
	n = d.count(4)
	r.marks = slices.Grow(r.marks[:0], n)[:n]
	for i := range r.marks {
		m := mark{at: int(d.Uvarint()), actions: int(d.Uvarint()), time: d.Varint()}
		s := d.Uvarint()
		m.signals, m.turn = compact.Signals(s>>1), s&1 != 0
		r.marks[i] = m
	}
	if !d.Bad {
		t.requests, t.marks = r.requests, r.marks
	}
}

func (t *trace) leave() { t.requests, t.marks = nil, nil }
