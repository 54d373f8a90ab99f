package transcript

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Session is the index of one file.
type Session struct {
	Path  string
	Host  Host
	Size  int64 // as read; the host may have appended since
	Lines int

	// ID names the session to its host: the file's name decides, on both hosts.
	ID    string
	Title string
	CWD   string
	// Legacy is a rollout of the first Codex versions, which later ones do not
	// open any more.
	Legacy  bool
	Version string

	Entries     []Entry
	Unreadable  int // lines that are broken or too long
	Compactions []Compaction
	// Usage is the last one after the last compaction; HasUsage is false when
	// the main thread asked nothing since.
	Usage    Usage
	HasUsage bool

	bom        bool
	torn       bool // the last line has no newline
	tools      []toolRef
	pending    []pendingParent
	superseded map[int32]int32 // entry → the later one with its uuid
	nodes      map[key]int32   // uuid → its entry; the last of duplicates
	msgs       map[key]int32   // message ids, numbered from 1
	preserved  preservedSegment
	named      []key   // by any compaction
	ids        []span  // where the session is named, in their order
	lastUsage  record  // only its usage and model
	counts     []int32 // Codex: the entries that report usage
	rolled     []rollback
	leaf       leafHint
	live       liveChain
	titleRank  int
	thread     string // Codex: the id in the first session_meta
}

type (
	pendingParent struct {
		entry int32
		id    key
	}
	span struct {
		off int64
		len int32
	}
	rollback struct {
		entry int32
		turns int64
	}
	// leafHint is the host's note about where it stood: the last one counts, a
	// compaction takes it back, and a later message makes it no longer explicit.
	leafHint struct {
		id                     key
		set, explicit, cleared bool
	}
	// preservedSegment is what the last compaction kept.
	preservedSegment struct {
		boundary           int32
		head, anchor, tail key
		keys               []key
		list               []int32 // the keys' entries, -1 where missing
		set                bool    // the last compaction kept something
		any                bool    // one of the compactions did
	}
)

// Read indexes a session file. It reads what is there at the time of the call;
// what the host appends later is not part of the session.
func Read(ctx context.Context, path string) (*Session, error) {
	return ReadTo(ctx, path, math.MaxInt64)
}

// ReadTo is Read for what stands before an offset, which is the start of a line.
func ReadTo(ctx context.Context, path string, end int64) (*Session, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size = min(size, end)
	s, err := read(ctx, io.NewSectionReader(f, 0, size), path)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", path, err)
	}
	return s, nil
}

func read(ctx context.Context, r *io.SectionReader, path string) (*Session, error) {
	host, err := hostOf(r)
	if err != nil {
		return nil, err
	}
	return index(interruptible{ctx, r}, r.Size(), path, host)
}

// interruptible is a reader that ends with its context.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (r interruptible) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// hostOf tells whose file it is; an empty one may be anybody's.
func hostOf(r *io.SectionReader) (Host, error) {
	if r.Size() == 0 {
		return Claude, nil
	}
	return hostIn(r)
}

// ErrUnknown means that neither host wrote this file.
var ErrUnknown = errors.New("neither a Claude Code session nor a Codex rollout")

func index(r io.Reader, size int64, path string, host Host) (*Session, error) {
	s := &Session{Path: path, Host: host}
	s.ID = idFromName(path, host)
	// Real lines average two kilobytes or more; growing on the way would copy
	// and hash everything several times.
	s.Entries = make([]Entry, 0, size/2048)
	s.nodes, s.msgs, s.superseded = make(map[key]int32, size/2048), make(map[key]int32, size/8192), map[int32]int32{}
	lines, done := store.ReadLines(r, 0)
	defer done()
	var rec record
	for ln, ok := lines.Next(); ok; ln, ok = lines.Next() {
		s.Lines++
		s.torn, s.bom = !ln.Ended, s.bom || ln.Off == 0 && bytes.HasPrefix(ln.B, bom)
		if !rec.objects(ln, host, func(from, to int) { s.add(&rec, ln.B[from:to], ln.Off+int64(from)) }) {
			s.Unreadable++
		}
	}
	if lines.Err != nil {
		return nil, lines.Err
	}
	s.Size = lines.Off
	s.finish()
	return s, nil
}

func (s *Session) add(r *record, obj []byte, off int64) {
	n := int32(len(s.Entries))
	e := Entry{
		Off: off, Len: int32(len(obj)), Line: int32(s.Lines), Parent: noParent,
		Kind: r.kind, Flags: r.flags, Time: r.Time,
		Text: int32(r.text), Tool: int32(r.tool), Think: int32(r.think),
		tool0: int32(len(s.tools)),
	}
	s.tools = append(s.tools, r.tools...)
	switch {
	case chained(s.Host):
		s.place(r, &e, n, obj)
	case s.Host == Codex:
		s.ownIDs(r, &e, obj)
	}
	switch {
	case e.Has(Sidechain):
	case len(r.parts) > 0 && r.parts[0].kind == Compacted:
		s.Compactions = append(s.Compactions, Compaction{Entry: int(n), End: r.End})
		s.lastUsage.usage = s.lastUsage.usage[:0]
	case r.rollback > 0:
		s.rolled = append(s.rolled, rollback{n, r.rollback})
	case r.hasUsage():
		s.usage(r)
		if s.Itemised() {
			s.counts = append(s.counts, n)
		}
	}
	s.describe(r, &e)
	s.Entries = append(s.Entries, e)
}

// place puts a line of Claude Code's into the tree.
func (s *Session) place(r *record, e *Entry, n int32, obj []byte) {
	// Some versions write the id a second time, under another key.
	for _, id := range [...][]byte{r.Session, r.sidAlt} {
		if len(id) > 0 {
			s.ids = append(s.ids, span{e.Off + int64(offsetIn(obj, id)), int32(len(id))})
		}
	}
	s.link(r, e, n)
	if e.Kind == Boundary && !e.Has(Sidechain) {
		s.preserved = preservedSegment{boundary: n, any: s.preserved.any}
		s.leaf = leafHint{}
		s.preserved.read(field(r.compact, "preservedSegment"))
		s.preserved.read(field(r.compact, "preservedMessages"))
		s.preserved.any = s.preserved.any || s.preserved.set
		s.named = append(append(s.named, s.preserved.keys...), s.preserved.head, s.preserved.tail)
	}
	switch {
	case string(r.typ) == "last-prompt":
		s.noteLeaf(r)
	case e.Has(Node) && e.Kind != Progress && !e.Has(Sidechain):
		// The conversation went on after the note.
		s.leaf.explicit, s.leaf.cleared = false, false
	}
}

// link puts an entry into the tree: its parent, its uuid, its message.
func (s *Session) link(r *record, e *Entry, n int32) {
	if len(r.parent) > 0 {
		k := keyOf(r.parent)
		if p := s.at(k); p >= 0 && p != n {
			e.Parent = p
		} else {
			e.Parent = dangling
			s.pending = append(s.pending, pendingParent{n, k})
		}
	}
	if r.has(Node) {
		k := keyOf(r.UUID)
		if old, dup := s.nodes[k]; dup {
			s.Entries[old].Flags &^= Node // a later line has its uuid
			s.superseded[old] = n
		}
		s.nodes[k] = n
	}
	if len(r.msgID) > 0 {
		k := keyOf(r.msgID)
		if e.msg = s.msgs[k]; e.msg == 0 {
			e.msg = int32(len(s.msgs) + 1)
			s.msgs[k] = e.msg
		}
	}
}

// describe takes what a line tells about the session as a whole. A title that a
// person gave outranks the host's, which outranks the first prompt.
func (s *Session) describe(r *record, e *Entry) {
	if s.CWD == "" && len(r.cwd) > 0 {
		s.CWD = unescape(r.cwd)
	}
	if len(r.Version) > 0 && s.Version != string(r.Version) {
		s.Version = string(r.Version)
	}
	if r.TitleRank > 0 && r.kind == Other {
		s.setTitle(r.title, r.TitleRank)
	} else if e.Has(TurnStart) && !e.Has(Command) && !e.Has(Summary) && !e.Has(Sidechain) && s.titleRank == 0 {
		s.setTitle(r.prompt, 1)
	}
}

func (s *Session) noteLeaf(r *record) {
	switch {
	case len(r.leaf) > 0:
		k := keyOf(r.leaf)
		again := s.leaf.set && s.leaf.explicit && s.leaf.id == k
		s.leaf = leafHint{id: k, set: true, explicit: r.explicitLeaf || again}
	case r.leafNull && r.explicitLeaf:
		s.leaf = leafHint{set: true, explicit: true, cleared: true}
	}
}

// ownIDs notes where a rollout line names its own thread. A fork's copied lines
// name another one, which stays.
func (s *Session) ownIDs(r *record, e *Entry, obj []byte) {
	if len(r.Session) > 0 {
		s.ID = cmp.Or(s.ID, unescape(r.Session))
		s.thread = cmp.Or(s.thread, string(r.Session))
		s.Legacy = s.Legacy || len(r.typ) == 0
	}
	for _, id := range r.ids {
		if len(id) > 0 && (string(id) == s.thread || string(id) == s.ID) {
			s.ids = append(s.ids, span{e.Off + int64(offsetIn(obj, id)), int32(len(id))})
		}
	}
}

// usage keeps the line's usage without reading it: every answer has one, and
// only the last counts.
func (s *Session) usage(r *record) {
	if r.has(Sidechain) || r.has(Synthetic) || r.has(APIError) || !someTokens(r.usage) {
		return
	}
	l := &s.lastUsage
	l.kind = r.kind
	l.usage, l.typ = append(l.usage[:0], r.usage...), append(l.typ[:0], r.typ...)
	if r.kind == Assistant {
		l.model = append(l.model[:0], r.model...)
	}
}

// someTokens reports whether one of the counts is not zero.
func someTokens(usage []byte) bool {
	for {
		i := bytes.Index(usage, []byte(`okens":`))
		if i < 0 {
			return false
		}
		usage = usage[i+len(`okens":`):]
		if j := space(usage, 0); j < len(usage) && usage[j] >= '1' && usage[j] <= '9' {
			return true
		}
	}
}

func (s *Session) setTitle(raw []byte, rank int) {
	if rank < s.titleRank || len(raw) == 0 {
		return
	}
	s.Title, s.titleRank = titleOf(unescape(raw)), rank
}

const maxTitle = 200

// titleOf is the first words of a text, on one line. Prompts may be megabytes of
// pasted output: only their front is looked at.
func titleOf(t string) string {
	return message.Short(message.OneLine(strings.ToValidUTF8(t[:min(len(t), 2000)], "")), maxTitle)
}

// offsetIn is the offset of part, a sub-slice of whole.
func offsetIn(whole, part []byte) int { return cap(whole) - cap(part) }

// read takes what a compaction kept: older versions name the ends of a segment,
// newer ones list every message.
func (p *preservedSegment) read(kept []byte) {
	var head, anchor, tail, uuids []byte
	readObject(kept, str("headUuid", &head), str("anchorUuid", &anchor), str("tailUuid", &tail), raw("uuids", &uuids))
	keep := func(to *key, id []byte) {
		if id != nil {
			*to, p.set = keyOf(id), true
		}
	}
	keep(&p.head, head)
	keep(&p.anchor, anchor)
	keep(&p.tail, tail)
	for v := range elements(uuids) {
		if id, ok := content(v); ok {
			p.keys, p.set = append(p.keys, keyOf(id)), true
		}
	}
}

// finish resolves what a single pass could not know in time. The order matters:
// parents before the compaction's overrides, and both before the live chain.
func (s *Session) finish() {
	s.linkParents()
	if u, ok := s.lastUsage.size(); ok {
		s.Usage, s.HasUsage = u, true
	}
	s.markKept()
	if chained(s.Host) {
		s.live = s.liveClaude()
	} else {
		s.live.list = s.liveCodex()
	}
}

// linkParents resolves parents that were written after their children (a
// resumed session may write them in any order), and those of a uuid that a
// later line took over.
func (s *Session) linkParents() {
	for _, p := range s.pending {
		if i := s.at(p.id); i >= 0 && i != p.entry { // nothing is its own parent
			s.Entries[p.entry].Parent = i
		}
	}
	s.pending = nil
	if len(s.superseded) == 0 {
		return
	}
	for i := range s.Entries {
		for n, ok := s.superseded[s.Entries[i].Parent]; ok; n, ok = s.superseded[n] {
			s.Entries[i].Parent = n
		}
	}
}

// markKept marks what compactions name as kept: all of it must stay in a clone,
// and what the last one names is live.
func (s *Session) markKept() {
	for _, k := range s.named {
		if i := s.at(k); i >= 0 {
			s.Entries[i].Flags |= Named
		}
	}
	s.named = nil
	p := &s.preserved
	if !p.set {
		return
	}
	for _, k := range p.keys {
		p.list = append(p.list, s.at(k))
	}
	kept := p.list
	if len(kept) == 0 {
		kept = s.segment(p)
	}
	for _, i := range kept {
		if i >= 0 {
			s.Entries[i].Flags |= Preserved | Named
		}
	}
}

// Raw reads the bytes of one entry.
func (s *Session) Raw(r io.ReaderAt, i int) ([]byte, error) { return s.RawIn(nil, r, i) }

// RawIn is Raw into room that the caller has.
func (s *Session) RawIn(room []byte, r io.ReaderAt, i int) ([]byte, error) {
	e := &s.Entries[i]
	b := slices.Grow(room[:0], int(e.Len))[:e.Len]
	if n, err := r.ReadAt(b, e.Off); n < len(b) {
		return nil, fmt.Errorf("read line %d of %s: %w", e.Line, s.Path, err)
	}
	return b, nil
}

func (s *Session) toolsOf(i int) []toolRef {
	end := len(s.tools)
	if i+1 < len(s.Entries) {
		end = int(s.Entries[i+1].tool0)
	}
	return s.tools[s.Entries[i].tool0:end]
}

// Itemised reports whether tool calls and their answers are lines of their own,
// not blocks of a message.
func (s *Session) Itemised() bool { return !chained(s.Host) }
