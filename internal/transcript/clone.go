package transcript

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Change says how a clone differs from its source.
type Change struct {
	// ID is the clone's id; NewID makes one.
	ID string
	// Title is how the host lists the clone (Claude Code only); empty for none.
	Title string
	// Touched lists the entries that Rewrite may change, in ascending order.
	// Rewrite gets the entry with its session id already replaced and returns
	// what stands in its place.
	Touched []int32
	Rewrite func(i int, entry []byte) ([]byte, error)
	// Removed lists entries to leave out, in ascending order. What hung under
	// them hangs under their nearest remaining ancestor.
	Removed []int32
	// Now names a Codex rollout.
	Now time.Time
	// Progress, when set, is told how many bytes of the source are done.
	Progress func(done int64)
}

// Cloned is the result of Clone.
type Cloned struct {
	Path  string
	ID    string
	Bytes int64
}

// NewID makes an id of the kind the host uses: random for Claude Code, ordered
// by time for Codex.
func NewID(h Host, now time.Time) string {
	var b [16]byte
	rand.Read(b[:])
	if h == Codex {
		var ms [8]byte
		binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
		copy(b[:6], ms[2:])
		b[6] = b[6]&0x0f | 0x70
	} else {
		b[6] = b[6]&0x0f | 0x40
	}
	b[8] = b[8]&0x3f | 0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// Clone writes a copy of the session beside it, under a new id. The file
// appears under its name only after it was written, synced and verified; on
// any error, a cancelled context included, nothing remains. The source is only
// read, and only as far as it was indexed.
func Clone(ctx context.Context, s *Session, ch Change) (Cloned, error) {
	name := ch.ID + ".jsonl"
	if s.Host == Codex {
		name = "rollout-" + ch.Now.Format("2006-01-02T15-04-05") + "-" + ch.ID + ".jsonl"
	}
	path := filepath.Join(filepath.Dir(s.Path), name)
	if _, err := os.Lstat(path); err == nil {
		return Cloned{}, fmt.Errorf("clone %s: %s already exists", s.Path, path)
	}
	src, err := os.Open(s.Path)
	if err != nil {
		return Cloned{}, err
	}
	defer src.Close()
	tmp, err := os.CreateTemp(filepath.Dir(path), ".overtone-clone-*.tmp")
	if err != nil {
		return Cloned{}, err
	}
	defer func() {
		tmp.Close()
		os.Remove(tmp.Name()) // gone already after the rename
	}()
	n, err := s.write(ctx, src, tmp, &ch)
	if err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = tmp.Close()
	}
	if err == nil {
		err = VerifyClone(ctx, s.Path, s.Size, tmp.Name(), ch.ID)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return Cloned{}, fmt.Errorf("clone %s: %w", s.Path, err)
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		// The name is as durable as the file system makes it; not all can sync a folder.
		_ = d.Sync()
		d.Close()
	}
	return Cloned{Path: path, ID: ch.ID, Bytes: n}, nil
}

// splicer copies a stream and replaces parts of it.
type splicer struct {
	ctx context.Context
	r   *bufio.Reader
	w   *bufio.Writer
	pos int64
	out int64
}

func (c *splicer) copyTo(off int64) error {
	for c.pos < off {
		if c.r.Buffered() == 0 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if _, err := c.r.Peek(1); err != nil {
				return unexpected(err)
			}
		}
		b, _ := c.r.Peek(int(min(off-c.pos, int64(c.r.Buffered()))))
		if err := c.write(b); err != nil {
			return err
		}
		if _, err := c.r.Discard(len(b)); err != nil {
			return err
		}
		c.pos += int64(len(b))
	}
	return nil
}

func (c *splicer) write(b []byte) error {
	c.out += int64(len(b))
	_, err := c.w.Write(b)
	return err
}

// read takes n bytes of the source without copying them.
func (c *splicer) read(n int, into []byte) ([]byte, error) {
	into = slices.Grow(into[:0], n)[:n]
	if _, err := io.ReadFull(c.r, into); err != nil {
		return nil, unexpected(err)
	}
	c.pos += int64(n)
	return into, nil
}

func (c *splicer) skip(n int64) error {
	d, err := c.r.Discard(int(n))
	c.pos += int64(d)
	return unexpected(err)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the session became shorter while it was read")
	}
	return err
}

func (s *Session) write(ctx context.Context, src *os.File, dst io.Writer, ch *Change) (int64, error) {
	const buffer = 1 << 20
	c := &splicer{
		ctx: ctx,
		r:   bufio.NewReaderSize(io.NewSectionReader(src, 0, s.Size), buffer),
		w:   bufio.NewWriterSize(dst, buffer),
	}
	fix, err := s.repairs(src, ch.Removed)
	if err != nil {
		return 0, err
	}
	touched, removed, extra := ch.Touched, ch.Removed, s.extraSIDs
	newID := []byte(ch.ID)
	var scratch, renamed []byte
	var spans []span
	for i := range s.Entries {
		e := &s.Entries[i]
		if ch.Progress != nil && i&4095 == 0 {
			ch.Progress(c.pos)
		}
		hit := len(touched) > 0 && touched[0] == int32(i)
		if hit {
			touched = touched[1:]
		}
		first := len(extra)
		for n := range extra {
			if extra[n].off >= e.Off+int64(e.Len) {
				first = n
				break
			}
		}
		ids := extra[:first]
		extra = extra[first:]
		if len(removed) > 0 && removed[0] == int32(i) {
			removed = removed[1:]
			if err := c.drop(s, i); err != nil {
				return 0, err
			}
			continue
		}
		parent, reparent := fix.parents[int32(i)]
		leaf := e.Kind == Other && len(fix.leaves) > 0
		if !hit && !reparent && !leaf {
			spans = append(spans[:0], ids...)
			if e.sidLen > 0 {
				spans = append(spans, span{e.Off + int64(e.sid), int32(e.sidLen)})
			}
			if len(spans) > 1 {
				slices.SortFunc(spans, func(a, b span) int { return int(a.off - b.off) })
			}
			for _, id := range spans {
				if err := c.copyTo(id.off); err != nil {
					return 0, err
				}
				if err := c.write(newID); err != nil {
					return 0, err
				}
				if err := c.skip(int64(id.len)); err != nil {
					return 0, err
				}
			}
			continue
		}
		if err := c.copyTo(e.Off); err != nil {
			return 0, err
		}
		if scratch, err = c.read(int(e.Len), scratch); err != nil {
			return 0, err
		}
		renamed = s.withID(renamed[:0], e, scratch, ids, ch.ID)
		entry := renamed
		if reparent {
			entry = setField(entry, "parentUuid", parent)
		}
		if leaf {
			entry = fix.leaf(entry)
		}
		if hit {
			if entry, err = ch.Rewrite(i, entry); err != nil {
				return 0, err
			}
		}
		if err := c.write(entry); err != nil {
			return 0, err
		}
	}
	if err := c.copyTo(s.Size); err != nil {
		return 0, err
	}
	if s.Host == Claude {
		if err := c.write(s.trailer(ch, fix.end)); err != nil {
			return 0, err
		}
	}
	return c.out, c.w.Flush()
}

// trailer is what a clone adds at its end: its title, and where to go on when
// the last message is gone; without that note the host would take whatever
// branch happens to stand last in the file.
func (s *Session) trailer(ch *Change, end []byte) []byte {
	var b []byte
	if end != nil {
		b = append(append(b, `{"type":"last-prompt","leafUuid":`...), end...)
		b = append(b, `,"explicit":true,"sessionId":`...)
		b = append(appendString(b, ch.ID), "}\n"...)
	}
	if ch.Title != "" {
		b = append(b, `{"type":"custom-title","customTitle":`...)
		b = appendString(b, ch.Title)
		b = append(b, `,"sessionId":`...)
		b = append(appendString(b, ch.ID), "}\n"...)
	}
	if len(b) > 0 && s.Problems.NoFinalNewline {
		b = append([]byte{'\n'}, b...)
	}
	return b
}

// withID appends an entry that is rewritten anyway, with its session ids replaced.
func (s *Session) withID(out []byte, e *Entry, entry []byte, extra []span, id string) []byte {
	var room [4]span
	ids := append(room[:0], extra...)
	if e.sidLen > 0 {
		ids = append(ids, span{e.Off + int64(e.sid), int32(e.sidLen)})
	}
	if len(ids) > 1 {
		slices.SortFunc(ids, func(a, b span) int { return int(a.off - b.off) })
	}
	at := int64(0)
	for _, sp := range ids {
		off := sp.off - e.Off
		out = append(append(out, entry[at:off]...), id...)
		at = off + int64(sp.len)
	}
	return append(out, entry[at:]...)
}

// drop leaves an entry out, with its line when it stands there alone.
func (c *splicer) drop(s *Session, i int) error {
	e := &s.Entries[i]
	if err := c.copyTo(e.Off); err != nil {
		return err
	}
	if err := c.skip(int64(e.Len)); err != nil {
		return err
	}
	alone := (i == 0 || s.Entries[i-1].Line != e.Line) && (i+1 == len(s.Entries) || s.Entries[i+1].Line != e.Line)
	if !alone || i == 0 && s.Problems.BOM {
		return nil
	}
	for n := 1; n <= 2; n++ {
		b, err := c.r.Peek(n)
		if err != nil && len(b) < n {
			return nil // the last line, without its newline
		}
		if b[n-1] == '\n' {
			return c.skip(int64(n))
		}
		if b[n-1] != '\r' {
			return nil
		}
	}
	return nil
}

// setField replaces the value of a top-level member.
func setField(entry []byte, name string, value []byte) []byte {
	c := cursor{b: entry}
	if !c.open('{') {
		return entry
	}
	for first := true; c.more('}', &first); {
		hit := string(c.key()) == name
		start, end := c.value()
		if hit && !c.bad {
			out := append([]byte(nil), entry[:start]...)
			out = append(out, value...)
			return append(out, entry[end:]...)
		}
	}
	return entry
}

// repairs is what removing entries asks of those that refer to them.
type repairs struct {
	parents map[int32][]byte // child → its new parentUuid, raw
	leaves  map[key][]byte   // removed uuid → what a leaf note may name instead
	end     []byte           // where the session goes on, when its last message was removed
}

func (s *Session) repairs(src io.ReaderAt, removed []int32) (repairs, error) {
	fix := repairs{parents: map[int32][]byte{}, leaves: map[key][]byte{}}
	if len(removed) == 0 {
		return fix, nil
	}
	gone := make(map[int32]bool, len(removed))
	for _, i := range removed {
		if s.Entries[i].Has(Named) {
			return fix, fmt.Errorf("line %d was kept by a compaction and cannot be removed", s.Entries[i].Line)
		}
		gone[i] = true
	}
	s.Live()
	// In the live chain it is not the written parent that counts but what the
	// host makes of it: after a compaction, and where a parent is lost.
	parent := func(i int32) int32 {
		if s.prev != nil && s.prev[i] != notInChain {
			return s.prev[i]
		}
		return s.Entries[i].Parent
	}
	tree := walk{s: s}
	known := map[int32][]byte{}
	// heir is the raw value that takes the place of a removed entry's uuid. It
	// is null where the chain ended: a child left with a lost parent of its own
	// would make the host look for another one near in time.
	heir := func(i int32) ([]byte, error) {
		var trail []int32
		for steps := 0; i >= 0 && gone[i] && known[i] == nil; steps++ {
			trail = append(trail, i)
			if i = parent(i); steps > len(s.Entries) {
				i = NoParent
			}
		}
		v := []byte("null")
		switch {
		case i >= 0 && known[i] != nil:
			v = known[i]
		case i >= 0:
			entry, err := s.Raw(src, int(i))
			if err != nil {
				return nil, err
			}
			v = bytes.Clone(field(entry, "uuid"))
		}
		for _, t := range trail {
			known[t] = v
		}
		return v, nil
	}
	for i := range s.Entries {
		if gone[int32(i)] {
			continue
		}
		if gone[s.Entries[i].Parent] || gone[parent(int32(i))] && tree.raw(int32(i)) == Dangling {
			v, err := heir(parent(int32(i)))
			if err != nil {
				return fix, err
			}
			fix.parents[int32(i)] = v
		}
	}
	if s.Host == Claude {
		for u, k := range s.uuids.keys {
			if i := s.nodes[u]; gone[i] {
				v, err := heir(i)
				if err != nil {
					return fix, err
				}
				fix.leaves[k] = v
			}
		}
		if len(s.live) > 0 && gone[s.end] {
			end := s.end
			for end >= 0 && (gone[end] || s.Entries[end].Kind != User && s.Entries[end].Kind != Assistant) {
				end = s.prev[end]
			}
			if end >= 0 && !gone[end] {
				entry, err := s.Raw(src, int(end))
				if err != nil {
					return fix, err
				}
				fix.end = bytes.Clone(field(entry, "uuid"))
			}
		}
		if err := s.rethread(src, gone, &fix); err != nil {
			return fix, err
		}
	}
	return fix, nil
}

// rethread puts entries into the chain that were live through their message
// only, when no part of that message is left in the chain to lead to them.
func (s *Session) rethread(src io.ReaderAt, gone map[int32]bool, fix *repairs) error {
	held := map[int32]bool{} // messages that the chain still holds
	for _, i := range s.live {
		if _, joined := s.joined[i]; !joined && !gone[i] && s.Entries[i].Kind == Assistant {
			held[s.Entries[i].msg] = true
		}
	}
	uuid := func(i int32) ([]byte, error) {
		if i < 0 {
			return []byte("null"), nil
		}
		entry, err := s.Raw(src, int(i))
		return bytes.Clone(field(entry, "uuid")), err
	}
	prev, loose := int32(-1), false
	for _, i := range s.live {
		if gone[i] {
			continue
		}
		msg, joined := s.joined[i]
		if joined && held[msg] {
			continue // still found by its message
		}
		if joined || loose {
			v, err := uuid(prev)
			if err != nil {
				return err
			}
			fix.parents[i] = v
			loose = joined
		}
		prev = i
	}
	if !loose {
		return nil
	}
	v, err := uuid(prev)
	fix.end = v
	return err
}

// leaf points a note about a removed message to what remained of its chain.
func (f *repairs) leaf(entry []byte) []byte {
	id, ok := content(field(entry, "leafUuid"))
	if !ok {
		return entry
	}
	if v, ok := f.leaves[keyOf(id)]; ok && v[0] == '"' {
		return setField(entry, "leafUuid", v)
	}
	return entry
}
