package recall

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type asked struct {
	form string // as it was typed, in lower case
	alts []alt  // the terms that answer it, the likeliest first
	idf  float64
	// A word that may be missing: one that says little, or the whole of a name
	// whose parts are asked for as well.
	optional bool
	pair     bool // two characters of a run without spaces
	part     bool // of a longer name
	slip     bool // nobody wrote it, or anything that begins so
}

// instead tells of the words that nobody wrote what is shown for them, "" for nothing, and
// whether all that was asked for are such words.
func instead(words []asked) (list []Instead, all bool) {
	all = true
	for _, w := range words {
		said := func(a alt) bool { return a.docs > 0 && (a.weight > oneEdit || a.with != "") } // perhaps joined, or apart
		switch {
		case w.slip && !slices.ContainsFunc(w.alts, said):
			other := ""
			if i := slices.IndexFunc(w.alts, func(a alt) bool { return a.docs > 0 && a.weight <= oneEdit }); i >= 0 {
				other = w.alts[i].term
			}
			list = append(list, Instead{w.form, other})
		case !w.optional:
			all = false
		}
	}
	return list, all && len(list) > 0
}

type alt struct {
	term   string
	with   string // a second term, of which a document has both; "" for none
	weight float64
	docs   uint64
}

// count adds up in how many documents the term stands.
func (a *alt) count(segs []*segment) error {
	for _, s := range segs {
		e, ok, err := s.find([]byte(a.term))
		if err != nil {
			return err
		}
		if ok {
			a.docs += e.docs
		}
	}
	return nil
}

const (
	maxAsked = 32 // words of a query that count; one bit each
	bm25K    = 1.2
	bm25B    = 0.6
)

// stopWords say little on their own; a query of nothing else is asked as it is.
func stopWord(w string) bool {
	switch w {
	case "the", "an", "of", "to", "in", "is", "are", "was", "were", "be", "been", "and", "or", "for", "with", "on", "at", "by", "it", "its", "this", "that", "these", "those",
		"as", "from", "we", "you", "he", "she", "they", "our", "my", "your", "their", "do", "does", "did", "have", "has", "had", "what", "when", "where", "which", "who", "why", "how",
		"not", "can", "could", "should", "would", "will", "about", "there", "then", "than", "so", "if", "me", "us", "them", "but":
		return true
	}
	return false
}

func parse(text string) []asked {
	var words []asked
	seen := map[string]bool{}
	whole := -1
	newScanner().scan([]byte(text), func(w []byte, _, _ int, is bool) {
		form := string(w)
		switch {
		case is:
			whole = -1
		case oneChar(w):
			return // the pairs ask for it already
		case whole >= 0:
			words[whole].optional = true
		}
		if seen[form] || len(words) == maxAsked {
			return
		}
		seen[form] = true
		t := string(term(bytes.Clone(w)))
		words = append(words, asked{form: form, alts: []alt{{term: t, weight: 1}}, optional: stopWord(form) || oneChar(w), pair: pair(w), part: !is})
		if is {
			whole = len(words) - 1
		}
	})
	if !slices.ContainsFunc(words, func(w asked) bool { return !w.optional }) {
		for i := range words {
			words[i].optional = false
		}
	}
	relate(words)
	return words
}

// Words says whether there is anything in a text that a search can look for.
func Words(text string) bool { return len(parse(text)) > 0 }

// answer finds the terms that answer each word, and how much each word tells.
func answer(segs []*segment, words []asked) error {
	total := 0.0
	for _, s := range segs {
		total += float64(s.foot.Docs)
	}
	for i := range words {
		w := &words[i]
		for n := range w.alts {
			if err := w.alts[n].count(segs); err != nil {
				return err
			}
		}
		if err := w.other(segs, total); err != nil {
			return err
		}
		docs := uint64(0)
		for _, a := range w.alts {
			docs = max(docs, a.docs)
		}
		w.idf = math.Log(1 + (total-float64(docs)+0.5)/(float64(docs)+0.5))
	}
	return nil
}

const manyDocs = 2000

// other adds the terms that may be meant as well.
func (w *asked) other(segs []*segment, total float64) error {
	form := []byte(w.form)
	switch n := w.alts[0].docs; {
	case oneChar(form):
		if w.optional {
			return nil // it tells too little for what it costs
		}
		return w.begin(segs, manyAlts)
	case someHash(form):
		return w.begin(segs, maxAlts)
	case hash(form):
		for n := shortHash; n < hashKept; n++ {
			a := alt{term: w.form[:n], weight: beginsWith}
			if err := a.count(segs); err != nil {
				return err
			}
			w.alts = append(w.alts, a)
		}
	// What nobody wrote is a slip; what hardly anybody wrote among so many may
	// be one.
	case n == 0 || n <= 2 && total > manyDocs:
		if err := w.split(segs); err != nil {
			return err
		}
		return w.widen(segs)
	case n <= fewDocs:
		return w.split(segs)
	}
	return nil
}

// fewDocs is in how many documents a word may stand that is looked for in two parts.
const fewDocs = 20

// begin adds the terms that begin with a word, those in most documents first.
func (w *asked) begin(segs []*segment, most int) error {
	docs := map[string]uint64{}
	err := eachBeginning(segs, []byte(w.form), math.MaxInt, func(e *entry) { docs[string(e.name)] += e.docs })
	if err != nil {
		return err
	}
	delete(docs, w.alts[0].term)
	alts := make([]alt, 0, len(docs))
	for term, n := range docs {
		alts = append(alts, alt{term: term, weight: beginsWith, docs: n})
	}
	slices.SortFunc(alts, func(a, b alt) int { return cmp.Or(cmp.Compare(b.docs, a.docs), cmp.Compare(a.term, b.term)) })
	w.alts = append(w.alts, alts[:min(len(alts), most)]...)
	return nil
}

// eachBeginning passes the terms that begin with a word, a number of them from each
// segment.
func eachBeginning(segs []*segment, form []byte, most int, fn func(*entry)) error {
	for _, s := range segs {
		n := 0
		err := s.from(form, func(e *entry) bool {
			if n++; n > most || !bytes.HasPrefix(e.name, form) {
				return false
			}
			fn(e)
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Weights of terms that are not what was typed.
const (
	beginsWith = 0.7
	oneEdit    = 0.7
	twoEdits   = 0.4
	maxAlts    = 24
	manyAlts   = 200 // of a single character
)

// widen adds the terms that begin with a word, and those of words within one or
// two edits of it.
func (w *asked) widen(segs []*segment) error {
	weights := map[string]float64{}
	add := func(term string, weight float64) {
		if term != w.alts[0].term {
			weights[term] = max(weights[term], weight)
		}
	}
	form := []byte(w.form)
	if len(form) >= 4 || !plain(form) {
		if err := eachBeginning(segs, form, 4*maxAlts, func(e *entry) { add(string(e.name), beginsWith) }); err != nil {
			return err
		}
	}
	w.slip = len(weights) == 0 && !w.optional && !w.pair && !w.part && wordy(form)
	limit := 2
	if utf8.RuneCount(form) < 6 {
		limit = 1
	}
	for _, s := range segs {
		if !wordy(form) {
			break
		}
		err := s.similar(form, limit, func(f []byte, edits int) {
			weight := oneEdit
			if edits > 1 {
				weight = twoEdits
			}
			add(string(term(bytes.Clone(f))), weight)
		})
		if err != nil {
			return err
		}
	}
	// A long list of unlikely ones would cost more than it finds.
	var alts []alt
	for term, weight := range weights {
		alts = append(alts, alt{term: term, weight: weight})
	}
	slices.SortFunc(alts, func(a, b alt) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term)) })
	alts = alts[:min(len(alts), 8*maxAlts)]
	for i := range alts {
		if err := alts[i].count(segs); err != nil {
			return err
		}
	}
	slices.SortStableFunc(alts, func(a, b alt) int {
		return cmp.Compare(b.weight*math.Log1p(float64(b.docs)), a.weight*math.Log1p(float64(a.docs)))
	})
	alts = alts[:min(len(alts), maxAlts)]
	slices.SortStableFunc(alts, func(a, b alt) int { return cmp.Compare(b.weight, a.weight) })
	w.alts = append(w.alts, alts...)
	return nil
}

type candidate struct {
	n      uint32
	doc    doc
	file   *file
	clone  bool
	source string // of a clone that had it when it was made
	score  float64
	copies int
	text   []byte
	match  match
	uuid   string
}

// Of how many documents more than their scores is looked at: their records, and
// then what they say.
const (
	recordsRead = 400
	textsRead   = 40
)

func (x *Index) ask(ctx context.Context, q Query) (Result, error) {
	words := parse(q.Text)
	if len(words) == 0 {
		return Result{}, nil
	}
	segs, err := x.segments()
	if err != nil {
		return Result{}, err
	}
	defer closeAll(segs)
	if err := answer(segs, words); err != nil {
		return Result{}, err
	}
	files := map[uint32]*file{}
	for i := range x.man.files {
		if f := &x.man.files[i]; x.wanted(f, &q) {
			files[f.number] = f
		}
	}
	var found []candidate
	var res Result
	beyond := 0
	for _, fewer := range [...]bool{false, true} {
		if found, err = score(ctx, segs, words, files, fewer); err != nil {
			return Result{}, err
		}
		found = x.foldCopies(found)
		looked := min(len(found), max(textsRead, q.Limit))
		beyond = len(found) - looked
		found = x.read(found, words, looked)
		if len(found) < looked {
			beyond = 0 // they are no better than those that were dropped
		}
		if res.Fewer = fewer && len(found) > 0; len(found) > 0 {
			break
		}
	}
	res.Instead, res.Unsaid = instead(words)
	limit := cmp.Or(q.Limit, 20)
	res.Total = len(found) + beyond
	for i := range found[:min(len(found), max(limit, 0))] {
		res.Hits = append(res.Hits, x.hit(&found[i], words))
	}
	if q.Titles {
		err = x.title(ctx, found, res.Hits)
	}
	return res, err
}

func (x *Index) title(ctx context.Context, found []candidate, hits []Hit) error {
	var files []transcript.File
	for i := range hits {
		f := found[i].file
		files = append(files, transcript.File{Path: f.path, Size: f.size, ModTime: time.Unix(0, f.mtime), Inode: f.inode})
	}
	facts, err := x.Facts(ctx, files)
	for i := range facts {
		hits[i].Title = facts[i].Title
	}
	return err
}

func (x *Index) wanted(f *file, q *Query) bool {
	switch {
	case q.Session != "" && !strings.HasPrefix(f.id, q.Session) && !strings.HasPrefix(f.parent, q.Session) && f.path != q.Session:
		return false
	case q.Host != "" && f.host != q.Host:
		return false
	case q.Project != "" && !strings.Contains(strings.ToLower(project(f)), strings.ToLower(q.Project)):
		return false
	}
	return true
}

func project(f *file) string { return cmp.Or(f.cwd, f.folder) }

// score gives each document its BM25 value and returns the best of those that
// have enough of the words; with fewer, any of them.
func score(ctx context.Context, segs []*segment, words []asked, files map[uint32]*file, fewer bool) ([]candidate, error) {
	docs, total := 0.0, 0.0
	for _, s := range segs {
		docs += float64(s.foot.Docs)
		total += float64(s.foot.Words)
	}
	mean := max(1, total/max(1, docs))
	k := scorer{words: words, files: files, docs: docs, name: true}
	for i := range k.norms {
		k.norms[i] = float32(bm25K * (1 - bm25B + bm25B*length(byte(i))/mean))
	}
	for i, w := range words {
		if !w.optional {
			k.need |= 1 << i
			k.all += w.idf
			k.name = k.name && w.part
		}
		if w.pair {
			k.pairs |= 1 << i
		}
	}
	k.slack = slack(bits.OnesCount32(k.need&^k.pairs), bits.OnesCount32(k.need&k.pairs))
	if fewer {
		k.slack = 2 * len(words)
	}
	tops := make([]top, len(segs))
	errs := make([]error, len(segs))
	var wg sync.WaitGroup
	for i, s := range segs {
		wg.Go(func() {
			defer transcript.Catch("", &errs[i])
			tops[i], errs[i] = k.segment(ctx, s)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var all top
	for i, t := range tops {
		for _, c := range t.best() {
			c.seg = segs[i]
			all.add(c)
		}
	}
	found := make([]candidate, len(all.best()))
	for i, v := range all.list {
		d, err := v.seg.doc(v.n)
		if err != nil {
			return nil, err
		}
		found[i] = candidate{n: v.n, doc: d, file: v.file, score: v.score * prior(transcript.Role(d.Role))}
	}
	return best(found), nil
}

// scorer is what all segments are asked alike.
type scorer struct {
	words []asked
	files map[uint32]*file
	docs  float64
	norms [256]float32
	need  uint32 // the words that count
	pairs uint32 // those that are half a word
	all   float64
	slack int  // how much of them may be missing, in halves
	name  bool // all of them are parts of one name
}

func (k *scorer) segment(ctx context.Context, s *segment) (top, error) {
	if err := ctx.Err(); err != nil {
		return top{}, err
	}
	scores, masks, err := s.accumulate(k.words, &k.norms, k.docs)
	if err != nil {
		return top{}, err
	}
	// How much of the query a set of words covers is worked out once per set.
	covers := map[uint32]float64{}
	var found top
	s.each(func(number, first, end uint32) {
		f := k.files[number]
		if f == nil {
			return
		}
		last, cover := uint32(0), 0.0
		for n := first; n < end; n++ {
			has := masks[n] & k.need
			if has == 0 || float64(scores[n]) < found.least {
				continue
			}
			if has != last {
				var known bool
				if cover, known = covers[has]; !known {
					cover = k.cover(has)
					covers[has] = cover
				}
				last = has
			}
			if cover > 0 {
				found.add(scored{score: float64(scores[n]) * cover * cover, n: n, file: f})
			}
		}
	})
	return found, nil
}

// cover is the share of the query that a set of words makes up; 0 when too many
// are missing.
func (k *scorer) cover(has uint32) float64 {
	missing := k.need &^ has
	if 2*bits.OnesCount32(missing&^k.pairs)+bits.OnesCount32(missing&k.pairs) > k.slack {
		return 0
	}
	got := 0.0
	for i := range k.words {
		if has&(1<<i) != 0 {
			got += k.words[i].idf
		}
	}
	if k.name && got < least*k.all {
		return 0
	}
	return got / k.all
}

// least is the share of a query for one name, by what its parts tell, below which a
// text does not answer it: of a name of which nobody wrote the first part, a second one
// that everybody writes is no answer.
const least = 0.3

type scored struct {
	score float64
	n     uint32
	file  *file
	seg   *segment
}

// top keeps the best documents: in any order, and now and then only those. Of those
// that are worth the same it does not matter which came first: how the index came
// about decides that, and a question has one answer.
type top struct {
	list  []scored
	least float64 // what a document must be worth to be one of them
}

func (t *top) add(c scored) {
	if c.score < t.least {
		return
	}
	if t.list = append(t.list, c); len(t.list) >= 2*recordsRead {
		t.best()
	}
}

func (t *top) best() []scored {
	if len(t.list) > recordsRead {
		slices.SortFunc(t.list, func(a, b scored) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.file.path, b.file.path), cmp.Compare(a.n, b.n))
		})
		t.list = t.list[:recordsRead]
		t.least = t.list[recordsRead-1].score
	}
	return t.list
}

// slack is how much of a query may be missing, in halves of words. A pair of
// characters is one half: one wrong character spoils two pairs, an ending or a
// particle that the text does not have as many.
func slack(words, pairs int) int {
	halves := (pairs + 1) / 2
	return max(2*allowed(words+halves), halves)
}

// allowed is how many words of a query may be missing.
func allowed(required int) int {
	switch {
	case required < 2:
		return 0
	case required < 4:
		return 1
	}
	return required / 2
}

// prior: what people and models said to each other is asked for more often than
// what a tool printed.
func prior(r transcript.Role) float64 {
	switch r {
	case transcript.SaidUser:
		return 1.15
	case transcript.SaidAssistant:
		return 1.1
	case transcript.SaidThinking, transcript.SaidSummary:
		return 0.7
	case transcript.SaidHost:
		return 0.6
	}
	return 0.85
}

func best(c []candidate) []candidate {
	slices.SortFunc(c, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.doc.Time, a.doc.Time), cmp.Compare(a.file.path, b.file.path), cmp.Compare(a.n, b.n))
	})
	return c
}

// common is the number of documents beyond which a word is not worth counting
// when others are asked for as well.
const common = 200_000

// accumulate adds up what each word gives each document of a segment, and notes
// which words it has.
func (s *segment) accumulate(words []asked, norms *[256]float32, docs float64) (scores []float32, masks []uint32, err error) {
	if err := s.load(&s.norms, secNorms); err != nil {
		return nil, nil, err
	}
	scores, masks = make([]float32, s.foot.Docs), make([]uint32, s.foot.Docs)
	for i := range words {
		w := &words[i]
		if w.optional && float64(w.alts[0].docs) > min(common, docs/4) {
			continue
		}
		bit := uint32(1) << i
		for _, a := range w.alts {
			e, ok, err := s.find([]byte(a.term))
			if err != nil {
				return nil, nil, err
			}
			if !ok {
				continue
			}
			weight := float32(a.weight * w.idf * (bm25K + 1))
			var both map[uint32]bool
			if a.with != "" {
				both = map[uint32]bool{}
				if err := s.postings(&e, func(d, _ uint32) { both[d] = true }); err != nil {
					return nil, nil, err
				}
				if e, ok, err = s.find([]byte(a.with)); err != nil {
					return nil, nil, err
				}
				if !ok {
					continue
				}
			}
			err = s.postings(&e, func(d, tf uint32) {
				if both != nil && !both[d] {
					return
				}
				if masks[d]&bit != 0 {
					return // a likelier term was there
				}
				masks[d] |= bit
				f := float32(tf)
				scores[d] += weight * f / (f + norms[s.norms[d]])
			})
			if err != nil {
				return nil, nil, err
			}
		}
	}
	return scores, masks, nil
}

// foldCopies makes one hit of entries that say the same: the source's, before a
// clone's, a session's before a sub-agent's.
func (x *Index) foldCopies(found []candidate) []candidate {
	at := map[uint64]int{}
	out := found[:0:0]
	sessions := map[string]bool{} // that are no clones
	for i := range found {
		c := &found[i]
		source, size := c.file.source, int64(0)
		if of, made := x.opts.Clone(c.file.id); of != "" {
			source, size = of, made
		}
		if c.clone = source != ""; c.clone && c.doc.Off < size {
			c.source = source
		}
	}
	for _, c := range found {
		if c.source == "" {
			sessions[c.file.id] = true
		}
	}
	for _, c := range found {
		// What stood in a clone as it was made happened in its source, and is no news.
		if c.source != "" && sessions[c.source] {
			continue
		}
		i, seen := at[c.doc.Fold]
		if !seen || c.doc.Fold == 0 {
			at[c.doc.Fold] = len(out)
			out = append(out, c)
			continue
		}
		o := &out[i]
		copies, score := o.copies+1, max(o.score, c.score)
		if before(&c, o) {
			*o = c
		}
		o.copies, o.score = copies, score
	}
	return out
}

func before(a, b *candidate) bool {
	rank := func(c *candidate) (n int) {
		if c.doc.Marked {
			n += 4
		}
		if c.clone {
			n += 2
		}
		if c.file.agent {
			n++
		}
		return n
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.doc.Time, b.doc.Time), cmp.Compare(a.file.number, b.file.number)) < 0
}

// read looks at what the best candidates say and orders them by it.
func (x *Index) read(found []candidate, words []asked, n int) []candidate {
	files := map[string]*os.File{}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	newest := int64(0)
	for i := range found {
		newest = max(newest, found[i].doc.Time)
	}
	m := newMatcher(words)
	out := found[:0:0]
	for i := range found[:min(n, len(found))] {
		c := found[i]
		f := files[c.file.path]
		if f == nil {
			var err error
			if f, err = os.Open(c.file.path); err != nil {
				continue
			}
			files[c.file.path] = f
		}
		if !x.say(f, &c) {
			continue
		}
		c.match = m.match(c.text)
		age := float64(newest-c.doc.Time) / float64(30*24*time.Hour/time.Millisecond)
		c.score *= c.match.factor() * (1 + 0.05/(1+max(0, age)))
		out = append(out, c)
	}
	out = best(out)
	// What is so much worse than the best is there by accident.
	for i := range out {
		if out[i].score < worthless*out[0].score {
			return out[:i]
		}
	}
	return out
}

const worthless = 0.04

// say reads a candidate's text. False means that it is not there any more.
func (x *Index) say(f io.ReaderAt, c *candidate) bool {
	if c.doc.Size > store.MaxLine { // of a damaged index
		return false
	}
	b := make([]byte, c.doc.Size)
	if _, err := f.ReadAt(b, c.doc.Off); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	s, _, ok := transcript.Say(b, hostOf(c.file), nil)
	if !ok || s.Role == transcript.SaidNothing {
		return false
	}
	c.uuid, c.text = string(s.UUID), s.Text
	if !c.doc.Marked {
		return foldOf(&s) == c.doc.Fold
	}
	if m, ok := transcript.MarkerOf(b); ok {
		if text, ok := x.opts.Original(m.Hash, string(s.Text[:s.Message])); ok {
			c.text = []byte(text)
		}
	}
	return true
}

type matcher struct {
	words []asked
	scan  *scanner
	// terms maps a term to the words it answers.
	terms map[string]answered
	forms map[string]answered // a word as it stands in texts → which one it answers
	// begins has the first two bytes of the terms: stems only lose their ends, so
	// that most words of a text need not be looked up.
	begins map[[2]byte]bool
}

// answered is which word of a query a word of a text stands for.
type answered struct {
	word  int
	ok    bool
	typed bool // it is the one that was typed, or a form of it
}

func newMatcher(words []asked) *matcher {
	m := &matcher{words: words, scan: newScanner(), terms: map[string]answered{}, forms: map[string]answered{}, begins: map[[2]byte]bool{}}
	add := func(term string, a answered) {
		if old, ok := m.terms[term]; term != "" && (!ok || a.typed && !old.typed) {
			m.terms[term] = a
			m.begins[begin([]byte(term))] = true
		}
	}
	for i, w := range words {
		for n, a := range w.alts {
			add(a.term, answered{i, true, n == 0})
			add(a.with, answered{i, true, false})
		}
	}
	return m
}

func begin(w []byte) (b [2]byte) {
	copy(b[:], w)
	return b
}

func (m *matcher) wordOf(w []byte) answered {
	if !m.begins[begin(w)] {
		return answered{}
	}
	a, ok := m.forms[string(w)]
	if !ok {
		a = m.terms[string(term(bytes.Clone(w)))]
		m.forms[string(w)] = a
	}
	return a
}

type match struct {
	near, exact, phrase float64
	similar             float64 // what is answered by other words than those that were typed
	start, end          int     // the stretch with most of it
}

func (m match) factor() float64 {
	return (0.5 + 0.5*m.near + 0.25*m.exact + 0.5*m.phrase) * (1 - 0.5*m.similar)
}

type place struct {
	word, token int
	start, end  int
}

// window is how many words apart two words may stand to count as near.
const window = 40

func (m *matcher) match(text []byte) match {
	var places []place
	exact, typed := map[int]bool{}, map[int]bool{}
	token := 0
	m.scan.scan(text, func(w []byte, start, end int, whole bool) {
		if whole {
			token++
		}
		if a := m.wordOf(w); a.ok {
			places = append(places, place{a.word, token, start, end})
			typed[a.word] = typed[a.word] || a.typed
			if string(w) == m.words[a.word].form {
				exact[a.word] = true
			}
		}
	})
	var out match
	if len(places) == 0 {
		return out
	}
	out.start, out.end = places[0].start, places[0].end
	// The best stretch: the words in it that tell most, and then the narrowest.
	counts := make([]int, len(m.words))
	sum, from, bestSum, narrow := 0.0, 0, -1.0, 0
	pairs := make([]bool, len(m.words))
	for i, p := range places {
		if counts[p.word]++; counts[p.word] == 1 {
			sum += m.words[p.word].idf
		}
		for p.token-places[from].token > window || counts[places[from].word] > 1 {
			q := places[from]
			if counts[q.word]--; counts[q.word] == 0 {
				sum -= m.words[q.word].idf
			}
			from++
		}
		if span := p.end - places[from].start; sum > bestSum+1e-9 || sum > bestSum-1e-9 && span < narrow {
			bestSum, narrow = sum, span
			out.start, out.end = places[from].start, p.end
		}
		if i > 0 && p.word == places[i-1].word+1 && p.token-places[i-1].token <= 1 {
			pairs[p.word] = true
		}
	}
	total, next, met := 0.0, 0, 0.0
	for i, w := range m.words {
		total += w.idf
		if own, there := typed[i]; there {
			if met += w.idf; !own {
				out.similar += w.idf
			}
		}
		if pairs[i] {
			next++
		}
	}
	if total > 0 {
		out.near = bestSum / total
	}
	if met > 0 {
		out.similar /= met
	}
	out.exact = float64(len(exact)) / float64(len(m.words))
	if len(m.words) > 1 {
		out.phrase = float64(next) / float64(len(m.words)-1)
	}
	return out
}

func (x *Index) hit(c *candidate, words []asked) Hit {
	f := c.file
	h := Hit{
		Session: f.id, Host: f.host, Project: project(f), Path: f.path, Line: int(c.doc.Line), Role: transcript.Role(c.doc.Role).String(),
		Removed: c.doc.Off < f.boundary, Copies: c.copies, Score: math.Round(100*c.score) / 100,
	}
	h.Ref = f.id + "#" + refOf(c.uuid, h.Line)
	if f.agent {
		h.Agent, h.Session = f.id, cmp.Or(f.parent, f.id)
	}
	if c.doc.Time != 0 {
		h.Time = transcript.Time(c.doc.Time).Format(time.RFC3339)
	}
	h.Snippet, h.Marks = snippet(c.text, c.match, newMatcher(words))
	return h
}

// Lengths of a snippet, in bytes: what it should have, and how much around it is
// looked at for secrets, which may begin before it.
const (
	snippetSize = 240
	secretSize  = 4 << 10
	wordSize    = 24
)

// snippet is the stretch of a text that matches best, on one line, without
// secrets.
func snippet(text []byte, m match, mt *matcher) (string, [][2]int) {
	end := min(m.end, m.start+snippetSize)
	room := max(0, snippetSize-(end-m.start))
	from, to := max(0, m.start-room/3), min(len(text), end+room-min(m.start, room/3))
	if to == len(text) {
		from = max(0, min(from, to-snippetSize))
	}
	// Not in the middle of a word, where one ends nearby.
	if from > 0 {
		if i := bytes.IndexAny(text[from:min(m.start, from+wordSize)], " \n\t"); i >= 0 {
			from += i + 1
		}
	}
	if to < len(text) {
		if i := bytes.LastIndexAny(text[max(end, to-wordSize):to], " \n\t"); i >= 0 {
			to = max(end, to-wordSize) + i
		}
	}
	outer, last := max(0, from-secretSize), min(len(text), to+secretSize)
	for from > outer && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < last && !utf8.RuneStart(text[to]) {
		to++
	}
	// The parts are redacted together and told apart by a byte that no text has.
	const cut = "\x00"
	part := strings.ToValidUTF8(string(text[outer:from])+cut+string(text[from:to])+cut+string(text[to:last]), "")
	clean := redact.Clean(strings.ReplaceAll(part, cut, ""))
	if clean == strings.ReplaceAll(part, cut, "") {
		clean = part
		if parts := strings.Split(part, cut); len(parts) == 3 {
			clean = parts[1]
		}
	} else {
		clean = around(clean, mt)
	}
	line := strings.Join(strings.Fields(legible(clean)), " ")
	if from > 0 {
		line = "…" + line
	}
	if to < len(text) {
		line += "…"
	}
	var marks [][2]int
	mt.scan.scan([]byte(line), func(w []byte, start, end int, _ bool) {
		if !mt.wordOf(w).ok {
			return
		}
		if n := len(marks); n > 0 && start <= marks[n-1][1] {
			marks[n-1][1] = max(end, marks[n-1][1])
			return
		}
		marks = append(marks, [2]int{start, end})
	})
	return line, marks
}

// legible is a text without colours, and without characters that steer a terminal or
// turn the order of what is read.
func legible(text string) string {
	return message.Plain(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d': // these two join letters
			return -1
		case unicode.IsControl(r) && r != escape && r != '\a': // which ends a title
			return ' '
		}
		return r
	}, text))
}

// around finds the best stretch of a text anew, after secrets were taken out.
func around(text string, mt *matcher) string {
	m := mt.match([]byte(text))
	from, to := max(0, m.start-snippetSize/3), min(len(text), max(m.end, m.start+2*snippetSize/3))
	to = min(to, from+2*snippetSize)
	return strings.ToValidUTF8(text[from:to], "")
}

func refOf(uuid string, line int) string {
	if uuid != "" {
		return uuid
	}
	return "L" + strconv.Itoa(line)
}
