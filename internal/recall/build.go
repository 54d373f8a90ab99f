package recall

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"hash/maphash"
	"io"
	"iter"
	"math"
	"math/bits"
	"os"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// builder collects documents in memory and writes them as one segment.
type builder struct {
	scan *scanner
	// forms maps a word as it stands in texts to its term, so that a stem is
	// worked out once per form. Words are known by their hashes alone: of a million
	// words two share one of 64 bits once in many million segments, and then one of
	// them finds the other's places, where it is not seen in the text.
	forms map[uint64]uint32
	terms map[uint64]uint32
	seed  maphash.Seed
	names arena     // of the terms
	typed arena     // the forms that someone may mistype
	use   []termUse // of each term
	log   []posting
	docs  []doc
	norms []byte
	spans []fileSpan
	words uint64 // of all documents
	stem  [longWord]byte
}

// termUse is how often a term was logged, and where last: the posting, and the
// document, plus one, so that the posting need not be looked at for another one.
type termUse struct{ last, doc, count uint32 }

// posting says that a term stands in a document. It fits in eight bytes: a
// segment holds at most 2^24 documents.
type posting struct {
	term uint32
	doc  uint32 // number << 8 | how often, at most 255
}

// doc is what is kept of an entry: where it stands, not what it says.
type doc struct {
	Fold       uint64 // equal texts have equal values
	Time, Off  int64
	Size, Line uint32
	Role       uint8
	Marked     bool // stands for an original that is elsewhere
}

const docSize = 8 + 8 + 8 + 4 + 4 + 2

// fileSpan says which file documents belong to, from first on.
type fileSpan struct{ File, First uint32 }

// A builder is full when the next document might take it beyond its memory of
// some hundred megabytes.
const (
	maxPostings = 4 << 20
	maxForms    = 1 << 20
	maxDocs     = 1<<24 - 1
)

func newBuilder() *builder {
	return &builder{scan: newScanner(), seed: maphash.MakeSeed(), forms: map[uint64]uint32{}, terms: map[uint64]uint32{}}
}

func (b *builder) full() bool {
	return len(b.log) > maxPostings || len(b.forms) > maxForms || len(b.docs) == maxDocs
}

// begin says that the following documents belong to a file.
func (b *builder) begin(file uint32) {
	b.spans = append(b.spans, fileSpan{file, uint32(len(b.docs))})
}

// add takes one document. Each of the texts is searched; more than one is rare.
func (b *builder) add(d doc, texts ...[]byte) {
	n := uint32(len(b.docs))
	words := 0
	emit := func(w []byte, _, _ int, whole bool) {
		if whole {
			words++
		}
		b.word(w, n)
	}
	for _, t := range texts {
		b.scan.scan(t, emit)
	}
	b.docs = append(b.docs, d)
	b.norms = append(b.norms, norm(words))
	b.words += uint64(words)
}

func (b *builder) word(w []byte, n uint32) {
	h := maphash.Bytes(b.seed, w)
	t, known := b.forms[h]
	if !known {
		t = b.termOf(append(b.stem[:0], w...))
		b.forms[h] = t
		if wordy(w) {
			b.typed.add(w)
		}
	}
	u := &b.use[t]
	if u.doc == n+1 {
		if p := &b.log[u.last]; p.doc&0xff != 0xff {
			p.doc++
		}
		return
	}
	*u = termUse{uint32(len(b.log)), n + 1, u.count + 1}
	b.log = append(b.log, posting{t, n<<8 | 1})
}

func (b *builder) termOf(w []byte) uint32 {
	form := len(w)
	w = term(w)
	// Stems are letters, and cut hashes are of one length: no other form has a term
	// like that of a name with a digit, of which there are most.
	if len(w) == form && form != hashKept && !plain(w) && !cyrillic(w) {
		return b.newTerm(w)
	}
	h := maphash.Bytes(b.seed, w)
	t, known := b.terms[h]
	if !known {
		t = b.newTerm(w)
		b.terms[h] = t
	}
	return t
}

func (b *builder) newTerm(w []byte) uint32 {
	b.names.add(w)
	b.use = append(b.use, termUse{})
	return uint32(len(b.use) - 1)
}

// arena is a list of words in one piece of memory.
type arena struct {
	text []byte
	ends []uint32
}

func (a *arena) add(w []byte) {
	a.text = append(a.text, w...)
	a.ends = append(a.ends, uint32(len(a.text)))
}

func (a *arena) word(i uint32) []byte {
	from := uint32(0)
	if i > 0 {
		from = a.ends[i-1]
	}
	return a.text[from:a.ends[i]]
}

// sorted lists the numbers of the words in the order of these. Most comparisons are of
// the first eight bytes, which are kept beside the number.
func (a *arena) sorted() iter.Seq[uint32] {
	type key struct {
		head uint64
		word uint32
	}
	keys := make([]key, len(a.ends))
	for i := range keys {
		var head [8]byte
		copy(head[:], a.word(uint32(i)))
		keys[i] = key{binary.BigEndian.Uint64(head[:]), uint32(i)}
	}
	slices.SortFunc(keys, func(x, y key) int {
		if x.head != y.head {
			return cmp.Compare(x.head, y.head)
		}
		return bytes.Compare(a.word(x.word), a.word(y.word))
	})
	return func(yield func(uint32) bool) {
		for _, k := range keys {
			if !yield(k.word) {
				return
			}
		}
	}
}

// norm keeps a length in a byte, an eighth of a doubling at a time.
func norm(words int) byte {
	return byte(min(255, math.Round(8*math.Log2(float64(words+1)))))
}

func length(n byte) float64 { return math.Exp2(float64(n)/8) - 1 }

// A segment is one immutable file. Numbers are little-endian or varints:
//
//	header     magic, version
//	postings   per term: documents as differences, each with its count
//	terms      blocks of 32 in order, prefixes shared
//	blocks     uint32 offsets of the blocks of terms
//	forms      words as they were written, for those who mistype; also blocks
//	formBlocks uint32 offsets
//	signatures uint64 per form, see signature
//	docs       34 bytes each
//	norms      a byte per document
//	spans      which file the documents belong to
//	footer     sizes, checksum, magic
const (
	segmentMagic   = "overtone index\n"
	segmentVersion = 5
	blockTerms     = 32
	sections       = 9
	footerSize     = 8*(sections+4) + 4 + len(segmentMagic)
)

const (
	secPostings = iota
	secTerms
	secBlocks
	secForms
	secFormBlocks
	secSignatures
	secDocs
	secNorms
	secSpans
)

type footer struct {
	Size                      [sections]uint64
	Docs, Terms, Forms, Words uint64
}

// segmentWriter writes the sections of a segment in their order.
type segmentWriter struct {
	f     *os.File
	w     *bufio.Writer
	foot  footer
	terms []byte
	index []byte
	prev  []byte
	post  []byte
}

func createSegment(path string) (*segmentWriter, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	s := &segmentWriter{f: f, w: bufio.NewWriterSize(f, 1<<20)}
	_, _ = s.w.WriteString(segmentMagic)
	return s, s.w.WriteByte(segmentVersion)
}

// term adds a term; terms come in order, and each with its documents in order.
func (s *segmentWriter) term(name []byte, docs []uint32) error {
	s.post = s.post[:0]
	prev := uint32(0)
	for _, d := range docs {
		// A count of one, the usual one, costs no byte of its own.
		n, tf := d>>8, d&0xff
		if tf == 1 {
			s.post = binary.AppendUvarint(s.post, uint64(n-prev)<<1|1)
		} else {
			s.post = binary.AppendUvarint(s.post, uint64(n-prev)<<1)
			s.post = append(s.post, byte(tf))
		}
		prev = n
	}
	if s.foot.Terms%blockTerms == 0 {
		s.index = binary.LittleEndian.AppendUint32(s.index, uint32(len(s.terms)))
		s.prev = s.prev[:0]
	}
	s.terms = appendShared(s.terms, s.prev, name)
	if s.foot.Terms%blockTerms == 0 {
		s.terms = binary.AppendUvarint(s.terms, s.foot.Size[secPostings])
	}
	s.terms = store.AppendNumbers(s.terms, uint64(len(docs)), uint64(len(s.post)))
	s.prev = append(s.prev[:0], name...)
	s.foot.Terms++
	s.foot.Size[secPostings] += uint64(len(s.post))
	_, err := s.w.Write(s.post)
	return err
}

// appendShared writes a name as what it does not share with the one before.
func appendShared[T string | []byte](dst []byte, prev, name T) []byte {
	n := 0
	for n < len(prev) && n < len(name) && prev[n] == name[n] {
		n++
	}
	return append(store.AppendNumbers(dst, uint64(n), uint64(len(name)-n)), name[n:]...)
}

func (s *segmentWriter) section(n int, b []byte) error {
	s.foot.Size[n] = uint64(len(b))
	_, err := s.w.Write(b)
	return err
}

// finish writes everything but the postings. The forms come in order.
func (s *segmentWriter) finish(forms func(add func(form []byte)) error, docs []doc, norms []byte, spans []fileSpan, words uint64) (made segmentInfo, err error) {
	defer s.f.Close()
	var list, index, sigs, prev []byte
	count := 0
	err = forms(func(f []byte) {
		if count%blockTerms == 0 {
			index = binary.LittleEndian.AppendUint32(index, uint32(len(list)))
			prev = prev[:0]
		}
		list = appendShared(list, prev, f)
		prev = append(prev[:0], f...)
		sigs = binary.LittleEndian.AppendUint64(sigs, signature(f))
		count++
	})
	if err != nil {
		return made, err
	}
	for n, b := range [][]byte{secTerms: s.terms, secBlocks: s.index, secForms: list, secFormBlocks: index, secSignatures: sigs, secDocs: fixed(docs), secNorms: norms, secSpans: fixed(spans)} {
		if n == secPostings {
			continue
		}
		if err := s.section(n, b); err != nil {
			return made, err
		}
	}
	s.foot.Docs, s.foot.Forms, s.foot.Words = uint64(len(docs)), uint64(count), words
	foot := fixed(s.foot)
	foot = append(binary.LittleEndian.AppendUint32(foot, crc32.ChecksumIEEE(foot)), segmentMagic...)
	if _, err := s.w.Write(foot); err != nil {
		return made, err
	}
	if err := s.w.Flush(); err != nil {
		return made, err
	}
	size, err := s.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return made, err
	}
	return segmentInfo{size: uint64(size), docs: s.foot.Docs}, s.f.Close()
}

// fixed are values of a fixed size as they stand in a file.
func fixed(v any) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, v) // they are
	return b
}

// readFixed is [fixed] the other way round.
func readFixed(b []byte, v any) error {
	if _, err := binary.Decode(b, binary.LittleEndian, v); err != nil {
		return errDamaged
	}
	return nil
}

// write makes the segment. The builder is of no use afterwards.
func (b *builder) write(path string) (made segmentInfo, err error) {
	s, err := createSegment(path)
	if err != nil {
		return made, err
	}
	// Postings were logged document by document; a counting sort by term keeps
	// that order within each.
	starts := make([]uint32, len(b.use)+1)
	for t, u := range b.use {
		starts[t+1] = starts[t] + u.count
	}
	sorted := make([]uint32, len(b.log))
	at := slices.Clone(starts[:len(b.use)])
	for _, p := range b.log {
		sorted[at[p.term]] = p.doc
		at[p.term]++
	}
	b.log, b.forms, b.terms = nil, nil, nil
	for n := range b.names.sorted() {
		if err := s.term(b.names.word(n), sorted[starts[n]:starts[n+1]]); err != nil {
			s.f.Close()
			return made, err
		}
	}
	return s.finish(func(add func([]byte)) error {
		for n := range b.typed.sorted() {
			add(b.typed.word(n))
		}
		return nil
	}, b.docs, b.norms, b.spans, b.words)
}

// signature tells which letters a word has, up to two of each, and in the top
// bits its length. One edit changes at most two bits and the length by one, so
// nearly all words that are too far away are seen from it.
func signature(w []byte) uint64 {
	var s uint64
	for _, c := range w {
		k := 2 * (uint(c|0x20) % 26)
		if s&(1<<k) != 0 {
			k++
		}
		s |= 1 << k
	}
	return s | uint64(min(len(w), 63))<<58
}

// near says whether a word of signature x may be within a number of edits of
// one with y, given how many bytes an edit changes.
func near(x, y uint64, edits, bytes int) bool {
	const letters = 1<<52 - 1
	d := int(x>>58) - int(y>>58)
	return d <= edits*bytes && d >= -edits*bytes && bits.OnesCount64((x^y)&letters) <= 2*edits*bytes
}
