package recall

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
)

// builder collects documents in memory and writes them as one segment.
type builder struct {
	scan *scanner
	// forms maps a word as it stands in texts to its term, so that a stem is
	// worked out once per form.
	forms map[string]uint32
	terms map[string]uint32
	names []string // of the terms
	last  []uint32 // of each term: its latest posting in log, plus one
	count []uint32 // of each term: its postings
	log   []posting
	docs  []doc
	norms []byte
	spans []fileSpan
	words uint64 // of all documents
	stem  [64]byte
}

// posting says that a term stands in a document. It fits in eight bytes: a
// segment holds at most 2^24 documents.
type posting struct {
	term uint32
	doc  uint32 // number << 8 | how often, at most 255
}

// doc is what is kept of an entry: where it stands, not what it says.
type doc struct {
	fold   uint64 // equal texts have equal values
	time   int64
	off    int64
	size   uint32
	line   uint32
	role   uint8
	marked bool // stands for an original that is elsewhere
}

const docSize = 8 + 8 + 8 + 4 + 4 + 2

// fileSpan says which file documents belong to, from first on.
type fileSpan struct{ file, first uint32 }

// A builder is full when the next document might take it beyond its memory of
// some hundred megabytes.
const (
	maxPostings = 4 << 20
	maxForms    = 1 << 20
	maxDocs     = 1<<24 - 1
)

func newBuilder() *builder {
	return &builder{scan: newScanner(), forms: map[string]uint32{}, terms: map[string]uint32{}}
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
	t, ok := b.forms[string(w)]
	if !ok {
		t = b.termOf(append(b.stem[:0], w...))
		b.forms[string(w)] = t
	}
	if at := b.last[t]; at > 0 && b.log[at-1].doc>>8 == n {
		if p := &b.log[at-1]; p.doc&0xff != 0xff {
			p.doc++
		}
		return
	}
	b.log = append(b.log, posting{t, n<<8 | 1})
	b.last[t] = uint32(len(b.log))
	b.count[t]++
}

func (b *builder) termOf(w []byte) uint32 {
	w = term(w)
	if t, ok := b.terms[string(w)]; ok {
		return t
	}
	t := uint32(len(b.names))
	name := string(w)
	b.terms[name] = t
	b.names = append(b.names, name)
	b.last = append(b.last, 0)
	b.count = append(b.count, 0)
	return t
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
	segmentVersion = 1
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

// footer closes a segment: sizes of the sections, and counts.
type footer struct {
	size                      [sections]uint64
	docs, terms, forms, words uint64
}

// segmentWriter writes the sections of a segment in their order.
type segmentWriter struct {
	f     *os.File
	w     *bufio.Writer
	foot  footer
	terms []byte
	index []byte
	prev  string
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
func (s *segmentWriter) term(name string, docs []uint32) error {
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
	if s.foot.terms%blockTerms == 0 {
		s.index = binary.LittleEndian.AppendUint32(s.index, uint32(len(s.terms)))
		s.prev = ""
	}
	s.terms = appendShared(s.terms, s.prev, name)
	if s.foot.terms%blockTerms == 0 {
		s.terms = binary.AppendUvarint(s.terms, s.foot.size[secPostings])
	}
	s.terms = binary.AppendUvarint(s.terms, uint64(len(docs)))
	s.terms = binary.AppendUvarint(s.terms, uint64(len(s.post)))
	s.prev = name
	s.foot.terms++
	s.foot.size[secPostings] += uint64(len(s.post))
	_, err := s.w.Write(s.post)
	return err
}

// appendShared writes a name as what it does not share with the one before.
func appendShared(dst []byte, prev, name string) []byte {
	n := 0
	for n < len(prev) && n < len(name) && prev[n] == name[n] {
		n++
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	dst = binary.AppendUvarint(dst, uint64(len(name)-n))
	return append(dst, name[n:]...)
}

func (s *segmentWriter) section(n int, b []byte) error {
	s.foot.size[n] = uint64(len(b))
	_, err := s.w.Write(b)
	return err
}

// finish writes everything but the postings.
func (s *segmentWriter) finish(forms []string, docs []doc, norms []byte, spans []fileSpan, words uint64) (size int64, err error) {
	defer s.f.Close()
	var list, index, sigs []byte
	prev := ""
	for i, f := range forms {
		if i%blockTerms == 0 {
			index = binary.LittleEndian.AppendUint32(index, uint32(len(list)))
			prev = ""
		}
		list = appendShared(list, prev, f)
		prev = f
		sigs = binary.LittleEndian.AppendUint64(sigs, signature([]byte(f)))
	}
	table := make([]byte, 0, docSize*len(docs))
	for i := range docs {
		table = docs[i].append(table)
	}
	where := []byte{}
	for _, sp := range spans {
		where = binary.LittleEndian.AppendUint32(where, sp.file)
		where = binary.LittleEndian.AppendUint32(where, sp.first)
	}
	for n, b := range [][]byte{secTerms: s.terms, secBlocks: s.index, secForms: list, secFormBlocks: index, secSignatures: sigs, secDocs: table, secNorms: norms, secSpans: where} {
		if n == secPostings {
			continue
		}
		if err := s.section(n, b); err != nil {
			return 0, err
		}
	}
	s.foot.docs, s.foot.forms, s.foot.words = uint64(len(docs)), uint64(len(forms)), words
	if _, err := s.w.Write(s.foot.append(nil)); err != nil {
		return 0, err
	}
	if err := s.w.Flush(); err != nil {
		return 0, err
	}
	size, err = s.f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	return size, s.f.Close()
}

func (d *doc) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, d.fold)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.time))
	b = binary.LittleEndian.AppendUint64(b, uint64(d.off))
	b = binary.LittleEndian.AppendUint32(b, d.size)
	b = binary.LittleEndian.AppendUint32(b, d.line)
	marked := byte(0)
	if d.marked {
		marked = 1
	}
	return append(b, d.role, marked)
}

func (f *footer) append(b []byte) []byte {
	start := len(b)
	for _, n := range f.size {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	for _, n := range [...]uint64{f.docs, f.terms, f.forms, f.words} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
	return append(b, segmentMagic...)
}

// write makes the segment. The builder is of no use afterwards.
func (b *builder) write(path string) (int64, error) {
	s, err := createSegment(path)
	if err != nil {
		return 0, err
	}
	// Postings were logged document by document; a counting sort by term keeps
	// that order within each.
	starts := make([]uint32, len(b.names)+1)
	for t, n := range b.count {
		starts[t+1] = starts[t] + n
	}
	sorted := make([]uint32, len(b.log))
	at := slices.Clone(starts[:len(b.names)])
	for _, p := range b.log {
		sorted[at[p.term]] = p.doc
		at[p.term]++
	}
	b.log = nil
	order := make([]uint32, len(b.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		if b.names[x] < b.names[y] {
			return -1
		}
		return 1
	})
	for _, t := range order {
		if err := s.term(b.names[t], sorted[starts[t]:starts[t+1]]); err != nil {
			s.f.Close()
			return 0, err
		}
	}
	forms := make([]string, 0, len(b.forms)/2)
	for f := range b.forms {
		if wordy([]byte(f)) {
			forms = append(forms, f)
		}
	}
	slices.Sort(forms)
	return s.finish(forms, b.docs, b.norms, b.spans, b.words)
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
