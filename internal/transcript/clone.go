package transcript

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Change says how a clone differs from its source.
type Change struct {
	// ID is the clone's id; NewID makes one.
	ID string
	// Title is how the host lists the clone; empty for none.
	Title string
	// Touched lists the entries that Rewrite may change, in ascending order.
	// Rewrite gets the entry with its session id already replaced, and the line on
	// which it will stand, and returns what stands there in its place.
	Touched []int32
	Rewrite func(i, line int, entry []byte) ([]byte, error)
	// Removed lists entries to leave out, in ascending order. What hung under
	// them hangs under their nearest remaining ancestor.
	Removed []int32
	// Dir is the folder that the clone lies in; "" is that of its source.
	Dir string
	// Now names a Codex rollout.
	Now time.Time
	// Tokens is how large the clone's next request will be, 0 where nobody knows. What
	// the source's last request reported is not true of the clone, and both hosts go
	// by it when they resume: a clone of a session near its limit would be compacted
	// before anything else.
	Tokens int64
	// Note, when set, is asked for a text that the model reads at the clone's end and
	// nobody else sees. It is given what the clone's live context holds before it.
	Note func(live io.Reader) (string, error)
	// Measure, when set, is given the written file as a session of its own, under
	// the name that it has by then.
	Measure func(*Session) error
	// Ready, when set, is told of the clone when it is written and verified, before
	// it has its name; with an error it gets none.
	Ready func(Cloned) error
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
	// Ids are no secrets, and crypto/rand would cost every hook a hundredth of its time.
	binary.BigEndian.PutUint64(b[:8], rand.Uint64())
	binary.BigEndian.PutUint64(b[8:], rand.Uint64())
	if h == Opencode {
		return "ses_" + hex.EncodeToString(b[:13])
	}
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

// errFolder is the error of a session that is more than its file.
var errFolder = errors.New("such a session is a folder with a database, of which a copy of the file is no session")

// Clone writes a copy of the session, beside it unless told otherwise, under a new id. The file
// appears under its name only after it was written, synced and verified; on
// any error, a cancelled context included, nothing remains. The source is only
// read, and only as far as it was indexed.
func Clone(ctx context.Context, s *Session, ch Change) (Cloned, error) {
	if s.Host == Copilot {
		return Cloned{}, fmt.Errorf("clone %s: %w", s.Path, errFolder)
	}
	name := ch.ID + ".jsonl"
	if s.Host == Codex {
		name = "rollout-" + ch.Now.Format("2006-01-02T15-04-05") + "-" + ch.ID + ".jsonl"
	}
	beside := filepath.Dir(s.Path)
	if h := host.Of(s.Host); h.Sessions.Archive != "" && filepath.Base(beside) == h.Sessions.Archive {
		beside = filepath.Dir(h.SessionPath(filepath.Dir(beside), "", name)) // what is put away cannot be resumed
	}
	path := filepath.Join(cmp.Or(ch.Dir, beside), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Cloned{}, err
	}
	if _, err := os.Lstat(path); err == nil {
		return Cloned{}, fmt.Errorf("clone %s: %s already exists", s.Path, path)
	}
	src, err := os.Open(s.Path)
	if err != nil {
		return Cloned{}, err
	}
	defer src.Close()
	store.SweepTemp(filepath.Dir(path), ch.Now) // what a killed run left may have filled the disk
	tmp, err := os.CreateTemp(filepath.Dir(path), tempPattern)
	if err != nil {
		return Cloned{}, fmt.Errorf("clone %s: %w", s.Path, err)
	}
	defer func() {
		tmp.Close()
		os.Remove(tmp.Name()) // gone already after the rename
	}()
	n, err := s.writeAndVerify(ctx, src, tmp, &ch)
	if err == nil {
		err = tmp.Close()
	}
	made := Cloned{Path: path, ID: ch.ID, Bytes: n}
	if err == nil && ch.Ready != nil {
		err = ch.Ready(made)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return Cloned{}, fmt.Errorf("clone %s: %w", s.Path, err)
	}
	if s.Host == Codex {
		_ = NameRollout(path, ch.ID, ch.Title, ch.Now) // it resumes without a name, too
	}
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		// The name is as durable as the file system makes it; not all can sync a folder.
		_ = d.Sync()
		d.Close()
	}
	return made, nil
}

// writeAndVerify writes the clone. While the disk takes it, it is verified and
// measured.
func (s *Session) writeAndVerify(ctx context.Context, src, tmp *os.File, ch *Change) (int64, error) {
	n, err := s.write(ctx, src, tmp, ch)
	if err != nil {
		return 0, err
	}
	whole := func() *io.SectionReader { return io.NewSectionReader(tmp, 0, n) }
	synced, verified := make(chan error, 1), make(chan error, 1)
	go func() { synced <- tmp.Sync() }()
	go func() { verified <- verifyClone(ctx, s.Path, s.Size, whole(), ch.ID) }()
	if ch.Measure != nil {
		clone, err := read(ctx, whole(), tmp.Name())
		if err == nil {
			err = ch.Measure(clone)
		}
		if err != nil {
			return n, cmp.Or(<-verified, fmt.Errorf("measure %s: %w", tmp.Name(), err))
		}
	}
	if err := <-verified; err != nil {
		return n, err
	}
	select {
	case err = <-synced:
	case <-ctx.Done():
		err = ctx.Err() // a slow disk would take seconds for what is removed
	}
	return n, err
}

// [store.SweepTemp] knows the name as one that was left over.
const tempPattern = ".overtone-clone-*.tmp"

type splicer struct {
	r   *bufio.Reader
	w   *bufio.Writer
	pos int64
	out int64
	// How many lines were left out so far.
	dropped int
}

func (c *splicer) copyTo(off int64) error {
	n, err := io.CopyN(c.w, c.r, max(0, off-c.pos))
	c.pos, c.out = c.pos+n, c.out+n
	return unexpected(err)
}

func (c *splicer) write(b []byte) error {
	c.out += int64(len(b))
	_, err := c.w.Write(b)
	return err
}

// read takes n bytes of the source without copying them.
func (c *splicer) read(n int, into []byte) ([]byte, error) {
	into = slices.Grow(into[:0], n)[:n]
	got, err := io.ReadFull(c.r, into)
	c.pos += int64(got)
	return into, unexpected(err)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return message.Fail(message.SessionShrank)
	}
	return err
}

// copyBuffer is large enough that the calls into the kernel do not show.
const copyBuffer = 1 << 20

// cloner writes one clone in a single pass over its source. Nothing is parsed
// again for entries that stay: what differs in them is the session id, and the
// index knows where it stands.
type cloner struct {
	s   *Session
	ch  *Change
	fix repairs
	out *splicer
	// What is left of the change's lists and of the session's id spans.
	touched, removed []int32
	sizes            []int32 // entries that tell how large the context is
	ids              []span
	first            int   // the first entry of the live context
	live             int64 // where it stands in the clone
	// Room that is used again for each entry.
	entry, renamed []byte
	spans          []span
}

func (s *Session) write(ctx context.Context, src *os.File, dst *os.File, ch *Change) (int64, error) {
	if s.Host == Codex && len(ch.Touched)+len(ch.Removed) > 0 {
		// Codex does without a report.
		removed := slices.Concat(ch.Removed, s.counts)
		slices.Sort(removed)
		ch.Removed = slices.Compact(removed)
	}
	fix, err := s.repairs(src, ch.Removed)
	if err != nil {
		return 0, err
	}
	var sizes []int32
	if chained(s.Host) && ch.Tokens > 0 {
		if sizes, err = s.sizesBeyond(src, ch.Tokens, ch.Removed); err != nil {
			return 0, err
		}
	}
	c := &splicer{
		r: bufio.NewReaderSize(interruptible{ctx, io.NewSectionReader(src, 0, s.Size)}, copyBuffer),
		w: bufio.NewWriterSize(dst, copyBuffer),
	}
	w := cloner{s: s, ch: ch, fix: fix, out: c, touched: ch.Touched, removed: ch.Removed, sizes: sizes, ids: s.ids, first: -1}
	if len(s.live.list) > 0 {
		w.first = int(slices.Min(s.live.list))
	}
	for i := range s.Entries {
		if ch.Progress != nil && i&4095 == 0 {
			ch.Progress(c.pos)
		}
		if err := w.write(i); err != nil {
			return 0, err
		}
	}
	if err := c.copyTo(s.Size); err != nil {
		return 0, err
	}
	end, err := w.end(src, dst)
	if err != nil {
		return 0, err
	}
	if len(end) > 0 && s.torn {
		end = append([]byte{'\n'}, end...)
	}
	if err := c.write(end); err != nil {
		return 0, err
	}
	return c.out, c.w.Flush()
}

// end is what the clone adds behind its source's entries.
func (w *cloner) end(src, dst *os.File) (lines []byte, err error) {
	note := ""
	if w.ch.Note != nil && w.first >= 0 {
		if err := w.out.w.Flush(); err != nil {
			return nil, err
		}
		if note, err = w.ch.Note(io.NewSectionReader(dst, w.live, w.out.out-w.live)); err != nil {
			return nil, err
		}
	}
	at := w.ch.Now.UTC().Format(stamp)
	if w.s.Host == Codex {
		if note == "" {
			return nil, nil
		}
		line := store.Pairs("timestamp", at)
		// Where its lines are counted, Codex resumes no rollout whose last one is not.
		last, err := w.s.Raw(src, len(w.s.Entries)-1)
		if n, bad := strconv.Atoi(string(field(last, "ordinal"))); err == nil && bad == nil {
			line.Add("ordinal", n+1)
		}
		line.Add("type", "response_item")
		const message = `{"type":"message","role":"developer","content":[{"type":"input_text","text":`
		line.Add("payload", json.RawMessage(message+string(store.EncodeJSON(note))+"}]}"))
		return w.noted(line), nil
	}
	leaf := w.fix.end
	if note != "" {
		if leaf == nil {
			last, err := w.s.Raw(src, int(w.s.live.end))
			if err != nil {
				return nil, err
			}
			leaf = field(last, "uuid")
		}
		id := NewID(Claude, w.ch.Now)
		lines = w.noted(store.Pairs("parentUuid", json.RawMessage(leaf), "isSidechain", false, "type", "user", "isMeta", true, "uuid", id,
			"timestamp", at, "cwd", w.s.CWD, "sessionId", w.ch.ID, "message", store.Pairs("role", "user", "content", note)))
		leaf = store.EncodeJSON(id)
	}
	// Without a word on where to go on, the host would take whatever branch happens to
	// stand last in the file.
	if leaf != nil {
		note := store.Pairs("type", "last-prompt", "leafUuid", json.RawMessage(leaf), "explicit", true, "sessionId", w.ch.ID)
		lines = appendLine(lines, note)
	}
	if w.ch.Title != "" {
		lines = appendLine(lines, store.Pairs("type", "custom-title", "customTitle", w.ch.Title, "sessionId", w.ch.ID))
	}
	return lines, nil
}

// noted is the line of a note, marked as ours so that a clone of the clone has one note,
// not two.
func (w *cloner) noted(line store.Fields) []byte {
	return append(Mark(store.EncodeJSON(line), Marker{Source: w.s.ID, Level: "note"}), '\n')
}

func appendLine(lines []byte, line store.Fields) []byte {
	return append(append(lines, store.EncodeJSON(line)...), '\n')
}

const stamp = "2006-01-02T15:04:05.000Z"

func (w *cloner) write(i int) error {
	e := &w.s.Entries[i]
	if i == w.first {
		if err := w.out.copyTo(e.Off); err != nil {
			return err
		}
		w.live = w.out.out
	}
	if err := w.out.copyTo(e.Off); err != nil {
		return err
	}
	var err error
	if w.entry, err = w.out.read(int(e.Len), w.entry); err != nil {
		return err
	}
	w.renamed = withID(w.renamed[:0], w.entry, e.Off, w.idsOf(e), w.ch.ID)
	hit, size := next(&w.touched, int32(i)), next(&w.sizes, int32(i))
	if next(&w.removed, int32(i)) {
		return w.dropLine(i)
	}
	entry := w.renamed
	if parent, ok := w.fix.parents[int32(i)]; ok {
		entry = store.SetJSON(entry, "parentUuid", json.RawMessage(parent))
	}
	// Notes about where the host stood are lines of many types; only the ones
	// that name a removed message change.
	if e.Kind == Other && len(w.fix.leaves) > 0 {
		entry = w.fix.leaf(entry)
	}
	if size {
		entry = setSize(entry, w.ch.Tokens)
	}
	if hit {
		if entry, err = w.ch.Rewrite(i, int(e.Line)-w.out.dropped, entry); err != nil {
			return err
		}
	}
	return w.out.write(entry)
}

// next reports whether i is the first of an ascending list, and takes it off.
func next(list *[]int32, i int32) bool {
	if len(*list) == 0 || (*list)[0] != i {
		return false
	}
	*list = (*list)[1:]
	return true
}

// idsOf lists where the session's id stands in an entry, in order.
func (w *cloner) idsOf(e *Entry) []span {
	w.spans = w.spans[:0]
	for len(w.ids) > 0 && w.ids[0].off < e.Off+int64(e.Len) {
		w.spans = append(w.spans, w.ids[0])
		w.ids = w.ids[1:]
	}
	slices.SortFunc(w.spans, func(a, b span) int { return int(a.off - b.off) })
	return w.spans
}

// withID appends an entry that is rewritten anyway, with its session ids
// replaced; off is where the entry stands in the file.
func withID(out, entry []byte, off int64, ids []span, id string) []byte {
	at := int64(0)
	for _, sp := range ids {
		out = append(append(out, entry[at:sp.off-off]...), id...)
		at = sp.off - off + int64(sp.len)
	}
	return append(out, entry[at:]...)
}

// dropLine leaves out what remains of the line of an entry that is left out, where it
// stands there alone.
func (w *cloner) dropLine(i int) error {
	all, c := w.s.Entries, w.out
	alone := (i == 0 || all[i-1].Line != all[i].Line) && (i+1 == len(all) || all[i+1].Line != all[i].Line)
	rest, _ := c.r.Peek(len("\r\n")) // the last line may have no newline
	end := len(rest) - len(bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("\r")), []byte("\n")))
	if !alone || i == 0 && w.s.bom || end == 0 || rest[end-1] != '\n' {
		return nil
	}
	c.dropped++
	_, err := c.read(end, nil)
	return err
}
