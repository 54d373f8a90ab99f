package recall

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sort"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// errDamaged is the error of a file of ours that cannot be what we wrote. The
// index is then made anew.
var errDamaged = errors.New("damaged index")

// segment reads one segment file. What a search needs is read when it needs it:
// a process that searches once pays for no more than that.
type segment struct {
	f      *os.File
	foot   footer
	start  [sections]int64
	blocks []byte
	norms  []byte
	spans  []fileSpan
	fblock []byte
}

func openSegment(path string, size int64) (*segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &segment{f: f}
	if err := s.open(size); err != nil {
		f.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return s, nil
}

func (s *segment) open(size int64) error {
	info, err := s.f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, len(segmentMagic)+1)
	tail := make([]byte, footerSize)
	if info.Size() != size || size < int64(len(head)+len(tail)) {
		return errDamaged
	}
	if _, err := s.f.ReadAt(head, 0); err != nil {
		return err
	}
	if _, err := s.f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return err
	}
	n := 8 * (sections + 4)
	if string(head) != segmentMagic+string(rune(segmentVersion)) || crc32.ChecksumIEEE(tail[:n]) != binary.LittleEndian.Uint32(tail[n:]) || string(tail[n+4:]) != segmentMagic {
		return errDamaged
	}
	at := int64(len(head))
	if err := readFixed(tail, &s.foot); err != nil {
		return err
	}
	for i, size := range s.foot.Size {
		s.start[i] = at
		at += int64(size)
	}
	if at != size-int64(len(tail)) || s.foot.Size[secNorms] != s.foot.Docs || s.foot.Size[secDocs] != docSize*s.foot.Docs {
		return errDamaged
	}
	where, err := s.section(secSpans)
	if err != nil {
		return err
	}
	s.spans = make([]fileSpan, len(where)/8)
	if err := readFixed(where, s.spans); err != nil {
		return err
	}
	for i, sp := range s.spans {
		if uint64(sp.First) > s.foot.Docs || i > 0 && sp.First < s.spans[i-1].First {
			return errDamaged
		}
	}
	return nil
}

func (s *segment) close() { s.f.Close() }

func closeAll(segs []*segment) {
	for _, s := range segs {
		s.close()
	}
}

// load reads a section into where it is kept, unless it is there.
func (s *segment) load(into *[]byte, n int) (err error) {
	if *into == nil {
		*into, err = s.section(n)
	}
	return err
}

func (s *segment) section(n int) ([]byte, error) {
	b := make([]byte, s.foot.Size[n])
	if _, err := s.f.ReadAt(b, s.start[n]); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// each calls fn for the documents of each file, first to end.
func (s *segment) each(fn func(file, first, end uint32)) {
	for i, sp := range s.spans {
		end := uint32(s.foot.Docs)
		if i+1 < len(s.spans) {
			end = s.spans[i+1].First
		}
		fn(sp.File, sp.First, end)
	}
}

func (s *segment) doc(n uint32) (d doc, err error) {
	var b [docSize]byte
	if uint64(n) >= s.foot.Docs {
		return d, errDamaged
	}
	if _, err := s.f.ReadAt(b[:], s.start[secDocs]+int64(n)*docSize); err != nil {
		return d, err
	}
	err = readFixed(b[:], &d)
	return d, err
}

type entry struct {
	name      []byte
	docs      uint64
	off, size uint64 // of its postings
}

func (s *segment) block(n int) (list []entry, err error) {
	if err := s.load(&s.blocks, secBlocks); err != nil {
		return nil, err
	}
	b, err := s.blockBytes(s.blocks, n, secTerms)
	if err != nil {
		return nil, err
	}
	r := reader{store.Decoder{B: b}}
	for e := (entry{}); len(r.B) > 0; e.off += e.size {
		e.name = r.shared(slices.Clone(e.name))
		if len(list) == 0 {
			e.off = r.Uvarint()
		}
		e.docs, e.size = r.Uvarint(), r.Uvarint()
		if r.Bad || e.off+e.size > s.foot.Size[secPostings] {
			return nil, errDamaged
		}
		list = append(list, e)
	}
	return list, nil
}

// blockBytes reads block n of a section with the given offsets.
func (s *segment) blockBytes(index []byte, n, sec int) ([]byte, error) {
	if 4*n+4 > len(index) {
		return nil, errDamaged
	}
	from, to := uint64(binary.LittleEndian.Uint32(index[4*n:])), s.foot.Size[sec]
	if 4*n+8 <= len(index) {
		to = uint64(binary.LittleEndian.Uint32(index[4*n+4:]))
	}
	if from > to || to > s.foot.Size[sec] {
		return nil, errDamaged
	}
	b := make([]byte, to-from)
	_, err := s.f.ReadAt(b, s.start[sec]+int64(from))
	return b, err
}

// headSize is enough for the longest name and what tells its length.
const headSize = longWord + 16

func (s *segment) head(index []byte, n, sec int, buf []byte) ([]byte, error) {
	b := buf[:headSize]
	at := s.start[sec] + int64(binary.LittleEndian.Uint32(index[4*n:]))
	k, err := s.f.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	r := reader{store.Decoder{B: b[:k]}}
	name := r.shared(nil)
	if r.Bad {
		return nil, errDamaged
	}
	return name, nil
}

// seek finds the block in which a name would stand.
func (s *segment) seek(index []byte, sec int, name []byte) (int, error) {
	var buf [headSize]byte
	var failure error
	n := sort.Search(len(index)/4, func(i int) bool {
		h, err := s.head(index, i, sec, buf[:])
		if err != nil {
			failure = err
			return true
		}
		return bytes.Compare(h, name) > 0
	})
	return max(n-1, 0), failure
}

func (s *segment) find(name []byte) (found entry, ok bool, err error) {
	err = s.from(name, func(e *entry) bool {
		if ok = bytes.Equal(e.name, name); ok {
			found = *e
		}
		return false
	})
	return found, ok, err
}

// from walks the dictionary from name on, until fn returns false.
func (s *segment) from(name []byte, fn func(*entry) bool) error {
	if s.foot.Terms == 0 {
		return nil
	}
	if err := s.load(&s.blocks, secBlocks); err != nil {
		return err
	}
	n, err := s.seek(s.blocks, secTerms, name)
	if err != nil {
		return err
	}
	for ; n < len(s.blocks)/4; n++ {
		list, err := s.block(n)
		if err != nil {
			return err
		}
		for i := range list {
			if bytes.Compare(list[i].name, name) >= 0 && !fn(&list[i]) {
				return nil
			}
		}
	}
	return nil
}

// postings calls fn with each document of a term and how often it is there.
func (s *segment) postings(e *entry, fn func(doc, tf uint32)) error {
	b := make([]byte, e.size)
	if _, err := s.f.ReadAt(b, s.start[secPostings]+int64(e.off)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return s.decode(b, fn)
}

func (s *segment) decode(b []byte, fn func(doc, tf uint32)) error {
	n := uint64(0)
	for i := 0; i < len(b); {
		v, k := uint64(b[i]), 1
		if v >= 0x80 {
			if v, k = binary.Uvarint(b[i:]); k <= 0 {
				return errDamaged
			}
		}
		i += k
		tf := uint32(1)
		if v&1 == 0 {
			if i == len(b) {
				return errDamaged
			}
			tf = uint32(b[i])
			i++
		}
		if n += v >> 1; n >= s.foot.Docs {
			return errDamaged
		}
		fn(uint32(n), tf)
	}
	return nil
}

// similar lists the written words within limit edits of w.
func (s *segment) similar(w []byte, limit int, fn func(form []byte, edits int)) error {
	sigs, err := s.section(secSignatures)
	if err != nil {
		return err
	}
	if err := s.load(&s.fblock, secFormBlocks); err != nil {
		return err
	}
	want := signature(w)
	bytes := 1
	if !plain(w) {
		bytes = 2
	}
	m := meter{}
	for i := 0; i+8 <= len(sigs); {
		if !near(binary.LittleEndian.Uint64(sigs[i:]), want, limit, bytes) {
			i += 8
			continue
		}
		// One block is decoded once for all its candidates.
		n := i / 8 / blockTerms
		b, err := s.blockBytes(s.fblock, n, secForms)
		if err != nil {
			return err
		}
		r := reader{store.Decoder{B: b}}
		var name []byte
		for j := n * blockTerms; len(r.B) > 0; j++ {
			if name = r.shared(name); r.Bad {
				return errDamaged
			}
			if 8*j >= i && 8*j+8 <= len(sigs) && near(binary.LittleEndian.Uint64(sigs[8*j:]), want, limit, bytes) {
				if d := m.edits(w, name, limit); d <= limit {
					fn(name, d)
				}
			}
		}
		i = 8 * (n + 1) * blockTerms
	}
	return nil
}

// reader decodes names, too.
type reader struct{ store.Decoder }

// shared reads a name that shares its beginning with the one before, in place.
func (r *reader) shared(prev []byte) []byte {
	n := r.Uvarint()
	rest := r.Take(r.Uvarint())
	if r.Bad || n > uint64(len(prev)) {
		r.Bad = true
		return nil
	}
	return append(prev[:n], rest...) // the name before is done with
}

// meter counts edits: letters put in, left out, changed, or swapped with the next.
type meter struct {
	a, b, c []int
	x, y    []rune
}

func (m *meter) edits(v, w []byte, limit int) int {
	m.x, m.y = m.x[:0], m.y[:0]
	for _, r := range string(v) {
		m.x = append(m.x, r)
	}
	for _, r := range string(w) {
		m.y = append(m.y, r)
	}
	x, y := m.x, m.y
	if d := len(x) - len(y); d > limit || d < -limit {
		return limit + 1
	}
	before, prev, cur := slices.Grow(m.a[:0], len(y)+1)[:len(y)+1], slices.Grow(m.b[:0], len(y)+1)[:len(y)+1], slices.Grow(m.c[:0], len(y)+1)[:len(y)+1]
	m.a, m.b, m.c = before, prev, cur
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		best := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[j-2]+1)
			}
			cur[j] = d
			best = min(best, d)
		}
		if best > limit {
			return limit + 1
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}

// merge writes the documents of several segments as one, without those of files
// that are gone.
func merge(ctx context.Context, path string, segs []*segment, live func(file uint32) bool) (made segmentInfo, err error) {
	w, err := createSegment(path)
	if err != nil {
		return made, err
	}
	defer w.f.Close()
	var all mergedDocs
	numbers := make([][]int32, len(segs))
	for i, s := range segs {
		if numbers[i], err = all.take(s, live); err != nil {
			return made, err
		}
	}
	walks := make([]*walk, len(segs))
	terms, forms := make([]func() ([]byte, error), len(segs)), make([]func() ([]byte, error), len(segs))
	for i, s := range segs {
		walks[i] = &walk{s: s}
		terms[i] = walks[i].next
		list, err := s.section(secForms)
		if err != nil {
			return made, err
		}
		forms[i] = nextForm(list)
	}
	var docs []uint32
	err = ordered(ctx, terms, func(term []byte, in []int) error {
		docs = docs[:0]
		for _, i := range in {
			b, err := walks[i].postings()
			if err == nil {
				err = segs[i].decode(b, func(d, tf uint32) {
					if n := numbers[i][d]; n >= 0 {
						docs = append(docs, uint32(n)<<8|tf)
					}
				})
			}
			if err != nil {
				return err
			}
		}
		if len(docs) == 0 {
			return nil
		}
		return w.term(term, docs)
	})
	if err != nil {
		return made, err
	}
	return w.finish(func(add func([]byte)) error {
		return ordered(ctx, forms, func(form []byte, _ []int) error {
			add(form)
			return nil
		})
	}, all.docs, all.norms, all.spans, all.words)
}

// ordered walks several ordered lists of names as one: fn gets each name once, with the
// lists that have it. Each gives its next name, nil at its end; they are few, so that
// looking at each is cheap enough.
func ordered(ctx context.Context, lists []func() ([]byte, error), fn func(name []byte, in []int) error) (err error) {
	heads := make([][]byte, len(lists))
	in := make([]int, len(lists))
	for i := range in {
		in[i] = i
	}
	var name []byte
	for {
		for _, i := range in {
			if heads[i], err = lists[i](); err != nil {
				return err
			}
		}
		var least []byte
		for _, h := range heads {
			if h != nil && (least == nil || bytes.Compare(h, least) < 0) {
				least = h
			}
		}
		if least == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		name, in = append(name[:0], least...), in[:0]
		for i, h := range heads {
			if h != nil && bytes.Equal(h, name) {
				in = append(in, i)
			}
		}
		if err := fn(name, in); err != nil {
			return err
		}
	}
}

type mergedDocs struct {
	docs  []doc
	norms []byte
	spans []fileSpan
	words uint64
}

// take adds the living documents of a segment and tells their new numbers.
func (m *mergedDocs) take(s *segment, live func(uint32) bool) ([]int32, error) {
	table, err := s.section(secDocs)
	if err != nil {
		return nil, err
	}
	if err := s.load(&s.norms, secNorms); err != nil {
		return nil, err
	}
	docs := make([]doc, s.foot.Docs)
	if err := readFixed(table, docs); err != nil {
		return nil, err
	}
	numbers := make([]int32, s.foot.Docs)
	for i := range numbers {
		numbers[i] = -1
	}
	s.each(func(file, first, end uint32) {
		if !live(file) || first == end {
			return
		}
		m.spans = append(m.spans, fileSpan{file, uint32(len(m.docs))})
		for d := first; d < end; d++ {
			numbers[d] = int32(len(m.docs))
			m.docs = append(m.docs, docs[d])
			m.norms = append(m.norms, s.norms[d])
			m.words += uint64(length(s.norms[d]))
		}
	})
	return numbers, nil
}

// walk goes through a dictionary.
type walk struct {
	s     *segment
	block int
	rest  []entry
	cur   entry

	ahead []byte // postings that were read, from here on
	from  uint64
}

// postings are those of the term that the walk is at. They stand in the order of the
// terms, of which most have but a few bytes: reading each for itself would be most of
// what a merge does.
func (k *walk) postings() ([]byte, error) {
	off, end := k.cur.off, k.cur.off+k.cur.size
	if off < k.from || end > k.from+uint64(len(k.ahead)) {
		n := min(max(k.cur.size, readAhead), k.s.foot.Size[secPostings]-off)
		k.ahead, k.from = slices.Grow(k.ahead[:0], int(n))[:n], off
		if _, err := k.s.f.ReadAt(k.ahead, k.s.start[secPostings]+int64(off)); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return k.ahead[off-k.from : end-k.from], nil
}

const readAhead = 256 << 10

func (k *walk) next() (name []byte, err error) {
	for ; len(k.rest) == 0; k.block++ {
		if uint64(k.block)*blockTerms >= k.s.foot.Terms {
			return nil, nil
		}
		if k.rest, err = k.s.block(k.block); err != nil {
			return nil, err
		}
	}
	k.cur, k.rest = k.rest[0], k.rest[1:]
	return k.cur.name, nil
}

// nextForm reads the written words of a segment one by one.
func nextForm(list []byte) func() ([]byte, error) {
	r, n, name := reader{store.Decoder{B: list}}, 0, []byte(nil)
	return func() ([]byte, error) {
		if len(r.B) == 0 {
			return nil, nil
		}
		if n%blockTerms == 0 {
			name = name[:0]
		}
		n++
		if name = r.shared(name); r.Bad {
			return nil, errDamaged
		}
		return name, nil
	}
}
