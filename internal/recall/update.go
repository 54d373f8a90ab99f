package recall

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Progress tells how many bytes of session files are indexed, of how many that
// are new.
type Progress func(done, total int64)

// work is a file, or the end of one, that is to be indexed.
type work struct {
	at    int // in the manifest
	file  file
	mtime int64
}

// refresh brings the index up to date with the session files. Files of the same
// size, time and inode are not opened; of those that grew, only the new lines
// are read. Another process that is at it is waited for, but not for long where
// there is something to search: then the error is ErrBusy.
func (x *Index) refresh(ctx context.Context) error {
	files, hidden := x.list()
	if hidden != nil && len(files) == 0 {
		return hidden
	}
	var err error
	if x.man, err = x.load(); err != nil {
		return err
	}
	if x.man.complete && !stale(x.man, files) {
		return hidden
	}
	release, err := x.lock(ctx, x.patience)
	if err != nil {
		return err
	}
	defer release()
	// Another process may have been faster.
	if x.man, err = x.load(); err != nil {
		return err
	}
	if !x.man.complete || stale(x.man, files) {
		err = x.update(ctx, x.man, files)
	}
	return cmp.Or(err, hidden)
}

// hiddenError says that not all files could be listed, as where a folder belongs to
// somebody else. The others are searched.
type hiddenError struct{ error }

func (e hiddenError) Unwrap() error { return e.error }

func (x *Index) list() ([]transcript.File, error) {
	files, err := transcript.Everything(x.opts.Dir)
	if err != nil {
		err = hiddenError{err}
	}
	return files, err
}

// remake makes an index anew of which a file is damaged or gone, unless another
// process, which met the same, has done so. Nobody takes files away without the lock:
// they may be those that another one writes.
func (x *Index) remake(ctx context.Context) error {
	files, hidden := x.list()
	if hidden != nil && len(files) == 0 {
		return hidden
	}
	release, err := x.lock(ctx, forever)
	if err != nil {
		return err
	}
	defer release()
	bad := x.man
	if x.man, err = x.load(); err != nil {
		return err
	}
	if x.man.complete && !slices.Equal(x.man.segments, bad.segments) {
		if segs, err := x.openAll(x.man.segments); err == nil {
			closeAll(segs)
			return hidden
		}
	}
	// Names are not used again: whoever still reads the old ones notices.
	x.man = &manifest{next: 1, nextSeg: max(x.man.nextSeg, bad.nextSeg)}
	if err := x.save(x.man); err != nil {
		return err
	}
	return cmp.Or(x.update(ctx, x.man, files), hidden)
}

const forever = 1 << 62

// lock takes the index for writing. Where there is something to search, another
// process is waited for as long as patience says.
func (x *Index) lock(ctx context.Context, patience time.Duration) (release func(), err error) {
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return nil, err
	}
	const pause = 20 * time.Millisecond
	path := filepath.Join(x.dir, lockFile)
	for waited := time.Duration(0); ; waited += pause {
		release, ok, err := store.TryLock(path)
		if err != nil || ok {
			return release, err
		}
		if waited >= patience {
			if m, err := x.load(); err != nil || m.complete {
				return nil, cmp.Or(err, ErrBusy)
			}
		}
		if waited == time.Second {
			x.opts.Waits(path)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func same(f *file, now *transcript.File) bool {
	return f.size == now.Size && f.mtime == now.ModTime.UnixNano() && f.inode == now.Inode
}

// stale says whether any file differs from what the manifest knows.
func stale(m *manifest, files []transcript.File) bool {
	if len(files) != len(m.files) {
		return true
	}
	known := make(map[string]*file, len(m.files))
	for i := range m.files {
		known[m.files[i].path] = &m.files[i]
	}
	for i := range files {
		if f := known[files[i].Path]; f == nil || !same(f, &files[i]) {
			return true
		}
	}
	return false
}

// update indexes what is new. Each segment is committed with how far it got, so
// that an interrupted run loses little.
func (x *Index) update(ctx context.Context, m *manifest, files []transcript.File) error {
	x.sweep(m)
	todo := plan(m, files)
	c := &committer{x: x, m: m}
	for _, w := range todo {
		c.total += w.file.size - w.file.done
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan work)
	var wg sync.WaitGroup
	// Each of them makes a segment of its own; a few megabytes are worth but one.
	for range max(1, min(runtime.GOMAXPROCS(0), 4, len(todo), int(c.total>>22))) {
		wg.Go(func() {
			in := &indexer{ctx: ctx, commit: c, b: newBuilder()}
			for w := range queue {
				if err := in.file(w); err != nil {
					cancel(err)
				}
			}
			if err := in.flush(); err != nil {
				cancel(err)
			}
		})
	}
	for _, w := range todo {
		select {
		case queue <- w:
		case <-ctx.Done():
		}
	}
	close(queue)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	m.complete = true
	return errors.Join(x.save(m), c.tidy(ctx))
}

// plan compares the manifest with the files that are there. Unchanged files stay
// in it; the others get the state from which to go on.
func plan(m *manifest, files []transcript.File) []work {
	known := make(map[string]file, len(m.files))
	for _, f := range m.files {
		known[f.path] = f
	}
	// Neighbours in a folder share their names: see encode.
	slices.SortFunc(files, func(a, b transcript.File) int { return cmp.Compare(a.Path, b.Path) })
	m.files = m.files[:0]
	var todo []work
	for i := range files {
		now := &files[i]
		f, ok := known[now.Path]
		if ok && same(&f, now) {
			m.files = append(m.files, f)
			continue
		}
		if !ok || now.Size < f.done || now.Inode != f.inode || f.tail != tailOf(now.Path, f.done) {
			f = file{
				path: now.Path, host: string(now.Host), id: now.ID, folder: now.Folder, agent: now.Agent, parent: now.Parent,
				number: m.next,
			}
			m.next++
		}
		// Until its new lines are committed it counts as changed.
		f.size, f.mtime, f.inode = now.Size, 0, now.Inode
		m.files = append(m.files, f)
		todo = append(todo, work{len(m.files) - 1, f, now.ModTime.UnixNano()})
	}
	// Newest first: who interrupts has at least those.
	slices.SortFunc(todo, func(a, b work) int { return cmp.Compare(b.mtime, a.mtime) })
	return todo
}

// tailSize is how much of what was indexed is compared before a file counts as
// grown rather than rewritten.
const tailSize = 256

func tailOf(path string, end int64) uint32 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	return tailIn(f, end)
}

func tailIn(f io.ReaderAt, end int64) uint32 {
	b := make([]byte, min(tailSize, end))
	if _, err := f.ReadAt(b, end-int64(len(b))); err != nil {
		return 0
	}
	return crc32.ChecksumIEEE(b)
}

// committer takes what the indexers made into the manifest.
type committer struct {
	mu          sync.Mutex
	x           *Index
	m           *manifest
	done, total int64
}

func (c *committer) tell(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done += n
	c.x.opts.Progress(c.done, c.total)
}

func (c *committer) fault(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.x.opts.Fault(err)
}

// put has a segment written under the next number, whole or not at all.
func (c *committer) put(write func(path string) (segmentInfo, error)) (segmentInfo, error) {
	c.mu.Lock()
	c.m.nextSeg++
	n := c.m.nextSeg
	c.mu.Unlock()
	path := c.x.segmentPath(n)
	info, err := write(path + ".tmp")
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		os.Remove(path + ".tmp")
		return info, fmt.Errorf("write index: %w", err)
	}
	info.number = n
	return info, nil
}

func (c *committer) commit(s *segmentInfo, done []work) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s != nil {
		c.m.segments = append(c.m.segments, *s)
	}
	for _, w := range done {
		c.m.files[w.at] = w.file
	}
	return c.x.save(c.m)
}

// mergeAt is how many segments of about one size are merged into one. A search
// looks into every segment; with this there are a few dozen at most.
const mergeAt = 8

// tidy merges segments when there are many of a size, and those of which most is
// gone.
func (c *committer) tidy(ctx context.Context) error {
	live := map[uint32]bool{}
	for i := range c.m.files {
		live[c.m.files[i].number] = true
	}
	for {
		tiers := map[int][]segmentInfo{}
		for _, s := range c.m.segments {
			n := 0
			for size := s.size >> 16; size > 0; size >>= 2 {
				n++
			}
			tiers[n] = append(tiers[n], s)
		}
		var pick []segmentInfo
		for n := range 24 {
			if len(tiers[n]) >= mergeAt {
				pick = tiers[n]
				break
			}
		}
		if pick == nil {
			pick = c.wasted(live)
		}
		docs := uint64(0)
		for _, s := range pick {
			docs += s.docs
		}
		if len(pick) == 0 || docs > maxDocs {
			return nil
		}
		if err := c.merge(ctx, pick, live); err != nil {
			return err
		}
	}
}

// wasted finds a segment of which more than half is gone.
func (c *committer) wasted(live map[uint32]bool) []segmentInfo {
	for _, info := range c.m.segments {
		s, err := openSegment(c.x.segmentPath(info.number), int64(info.size))
		if err != nil {
			continue
		}
		dead := uint64(0)
		s.each(func(file, first, end uint32) {
			if !live[file] {
				dead += uint64(end - first)
			}
		})
		s.close()
		if 2*dead > info.docs {
			return []segmentInfo{info}
		}
	}
	return nil
}

func (c *committer) merge(ctx context.Context, pick []segmentInfo, live map[uint32]bool) error {
	segs, err := c.x.openAll(pick)
	if errors.Is(err, fs.ErrNotExist) {
		return errDamaged
	}
	if err != nil {
		return err
	}
	defer closeAll(segs)
	made, err := c.put(func(path string) (segmentInfo, error) {
		return merge(ctx, path, segs, func(file uint32) bool { return live[file] })
	})
	if err != nil {
		return err
	}
	c.m.segments = slices.DeleteFunc(c.m.segments, func(s segmentInfo) bool { return slices.Contains(pick, s) })
	if made.docs > 0 {
		c.m.segments = append(c.m.segments, made)
	}
	if err := c.x.save(c.m); err != nil {
		return err
	}
	c.x.sweep(c.m)
	return nil
}

// indexer reads files into segments.
type indexer struct {
	ctx    context.Context
	commit *committer
	b      *builder
	done   []work // read, but not yet committed
	text   []byte

	shown  []shownText // by Codex, and not yet answered
	answer uint64      // the fold of the newest answer
}

// flush writes the segment and commits how far the files are read.
func (in *indexer) flush() error {
	if len(in.done) == 0 {
		return nil
	}
	var info *segmentInfo
	if len(in.b.docs) > 0 {
		made, err := in.commit.put(in.b.write)
		if err != nil {
			return err
		}
		info = &made
	}
	err := in.commit.commit(info, in.done)
	in.b, in.done = newBuilder(), in.done[:0]
	return err
}

// file reads what is new in one file. One that cannot be read hides no other.
func (in *indexer) file(w work) error {
	f, err := os.Open(w.file.path)
	if err != nil {
		return nil //nolint:nilerr // gone or closed to us: tried again next time
	}
	defer f.Close()
	lines, closed := store.ReadLines(io.NewSectionReader(f, w.file.done, w.file.size-w.file.done), w.file.done)
	defer closed()
	in.b.begin(w.file.number)
	in.shown, in.answer = in.shown[:0], 0
	told := w.file.done
	// Whatever ends the loop, what was read is in the builder, and how far that is
	// has to be committed with it.
	for err == nil {
		ln, ok := lines.Next()
		if !ok || !ln.Ended && !complete(ln.B, hostOf(&w.file)) {
			err = cmp.Or(lines.Err, io.EOF)
			break
		}
		if err := in.line(&w.file, ln.B); err != nil {
			in.commit.fault(err)
		}
		if w.file.done = lines.Off; ln.Ended {
			w.file.lines++
		}
		if w.file.done-told > 1<<20 {
			in.commit.tell(w.file.done - told)
			told = w.file.done
			err = in.ctx.Err()
		}
		if err == nil && in.b.full() {
			w.file.tail = tailIn(f, w.file.done)
			in.done = append(in.done, w)
			err = in.flush()
			in.b.begin(w.file.number)
		}
	}
	w.file.tail = tailIn(f, w.file.done)
	if errors.Is(err, io.EOF) {
		in.commit.tell(w.file.size - told)
		w.file.mtime, err = w.mtime, nil
	}
	in.done = append(in.done, w)
	return err
}

// complete says whether a last line without its end is a whole object. One that
// is not may still grow.
func complete(line []byte, h transcript.Host) bool {
	_, size, ok := transcript.Say(line, h, nil)
	return ok && size == len(line)
}

// line adds the entries of one line. A fault of ours in it hides no other line.
func (in *indexer) line(f *file, line []byte) (err error) {
	defer transcript.Catch(f.path, &err)
	for at := 0; at < len(line); {
		s, size, ok := transcript.Say(line[at:], hostOf(f), in.text)
		if !ok {
			break
		}
		in.text = s.Text
		raw := line[at : at+size]
		off := f.done + int64(at)
		at += size
		if s.Boundary {
			f.boundary = off
		}
		if f.cwd == "" {
			f.cwd = s.CWD()
		}
		if f.agent && f.parent == "" {
			f.parent = string(s.Session)
		}
		if s.Stopped || s.Role == transcript.SaidUser { // no answer comes any more
			for _, t := range in.shown {
				in.b.add(t.doc, t.text)
			}
			in.shown = in.shown[:0]
		}
		if s.Role == transcript.SaidNothing {
			continue
		}
		d := doc{Time: s.Time, Off: off, Size: uint32(size), Line: f.lines + 1, Role: uint8(s.Role), Fold: foldOf(&s)}
		if s.Shown {
			if d.Fold != in.answer {
				in.shown = append(in.shown, shownText{d, bytes.Clone(clean(s.Text))})
			}
			continue
		}
		if s.Role == transcript.SaidAssistant {
			in.answer = d.Fold
			in.shown = slices.DeleteFunc(in.shown, func(t shownText) bool { return t.doc.Fold == d.Fold })
		}
		if !s.Marked {
			in.b.add(d, clean(s.Text))
			continue
		}
		// A clone's line stands for its original, and is found by its words.
		var original []byte
		if m, ok := transcript.MarkerOf(raw); ok {
			f.source = m.Source
			d.Marked, d.Fold = true, foldOfHash(m.Hash)
			if text, ok := in.commit.x.opts.Original(m.Hash, string(s.Text[:s.Message])); ok {
				original = clean([]byte(text))
			}
		}
		in.b.add(d, clean(s.Text), original)
	}
	return nil
}

// shownText is what Codex showed and has not written down as an answer yet.
type shownText struct {
	doc  doc
	text []byte
}

// foldOf is equal for entries that say the same. The marker of a compressed
// message holds the SHA-256 of the text that it stands for.
func foldOf(s *transcript.Saying) uint64 {
	text := s.Text
	if s.Message > 0 {
		text = text[:s.Message]
	}
	h := sha256.Sum256(text)
	return binary.BigEndian.Uint64(h[:])
}

func foldOfHash(hash string) uint64 {
	n, _ := strconv.ParseUint(hash[:min(16, len(hash))], 16, 64) // 0 is no copy of anything
	return n
}

// clean blanks the secrets of a text in place: what is not stored cannot leak.
// A secret that touches another one is seen when that is gone.
func clean(text []byte) []byte {
	if len(text) == 0 {
		return text
	}
	for range 4 {
		spans := redact.Spans(unsafe.String(&text[0], len(text)))
		if len(spans) == 0 {
			break
		}
		for _, s := range spans {
			for i := s.Start; i < s.End; i++ {
				text[i] = ' '
			}
		}
	}
	return text
}

// segments opens what the manifest names. A merge may take files away in
// between; then a newer manifest names others.
func (x *Index) segments() ([]*segment, error) {
	for range 3 {
		segs, err := x.openAll(x.man.segments)
		if !errors.Is(err, fs.ErrNotExist) {
			return segs, err
		}
		if x.man, err = x.load(); err != nil {
			return nil, err
		}
		if !x.man.complete {
			break // it is being made anew
		}
	}
	return nil, errDamaged
}

func (x *Index) openAll(list []segmentInfo) ([]*segment, error) {
	var segs []*segment
	for _, info := range list {
		s, err := openSegment(x.segmentPath(info.number), int64(info.size))
		if err != nil {
			closeAll(segs)
			return nil, err
		}
		segs = append(segs, s)
	}
	return segs, nil
}
