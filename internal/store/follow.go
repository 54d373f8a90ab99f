package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// FollowOptions says what [Session.Follow] hands on.
type FollowOptions struct {
	Last   int // begin with this many of the newest entries
	Filter Filter
	Every  time.Duration // how often to look
}

// Follow hands the newest entries of the timeline to fn, oldest first, and then
// each new one, until the context ends or fn returns an error, which it
// returns. The timeline, and the session, need not exist yet. Trimming goes
// unnoticed, unless more than the 2,000 lines it keeps were added between two
// looks: then the oldest of those are missing.
func (s *Session) Follow(ctx context.Context, opts FollowOptions, fn func(Entry) error) error {
	tick := time.NewTicker(opts.Every)
	defer tick.Stop()
	t := follower{s: s, filter: opts.Filter, fn: fn}
	defer t.close()
	if err := t.start(opts.Last); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if err := t.look(); err != nil {
				return err
			}
		}
	}
}

// follower remembers how far a timeline has been handed on.
type follower struct {
	s      *Session
	filter Filter
	fn     func(Entry) error

	f    *os.File
	info fs.FileInfo // of f, to recognise a new file in its place
	pos  int64       // everything before it in f has been handed on; after a newline
}

func (t *follower) close() {
	if t.f != nil {
		t.f.Close()
		t.f = nil
	}
}

func (t *follower) open() (size int64, err error) {
	f, size, err := t.s.openTimeline()
	if f == nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return 0, err
	}
	t.f, t.info, t.pos = f, info, 0
	return size, nil
}

func (t *follower) start(last int) error {
	size, err := t.open()
	if t.f == nil {
		return err
	}
	// A line still being written is left for the first look.
	if t.pos, err = lineStart(t.f, size); err != nil || last <= 0 {
		return err
	}
	entries, err := lastOf(t.f, t.pos, last, t.filter, nil)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := t.fn(e); err != nil {
			return err
		}
	}
	return nil
}

// look hands on what was added since the last look.
func (t *follower) look() error {
	if t.f == nil {
		if _, err := t.open(); t.f == nil {
			return err
		}
	}
	// The order matters: a file that is no longer in place is complete, since
	// its replacement was made under the lock, so what is read after this test
	// is all there will ever be of it.
	current, err := os.Lstat(t.s.path(TimelineFile))
	replaced := err != nil || !os.SameFile(t.info, current)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := t.drain(); err != nil || !replaced {
		return err
	}
	seen, err := readRange(t.f, max(0, t.pos-followTail), t.pos)
	if err != nil {
		return err
	}
	t.close()
	size, err := t.open()
	if t.f == nil {
		return err
	}
	if t.pos, err = resume(t.f, size, seen); err != nil {
		return err
	}
	return t.drain()
}

// drain hands on the complete lines after pos.
func (t *follower) drain() error {
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < t.pos {
		t.pos = 0 // emptied in place, by hand
	}
	if info.Size() == t.pos {
		return nil
	}
	return completeLines(t.f, t.pos, info.Size(), func(line []byte, end int64) error {
		t.pos = end
		if e, ok := parseEntry(line); ok && t.filter.match(e) {
			e.Raw = bytes.Clone(line)
			return t.fn(e)
		}
		return nil
	})
}

// completeLines hands on the lines of f from at, a line's beginning, to size,
// without the space around them, and where each ends in the file. A line that is
// too long comes as an empty one; one without its end, which is being written,
// does not come. The line is good until fn returns.
func completeLines(f io.ReaderAt, at, size int64, fn func(line []byte, end int64) error) error {
	var part []byte
	tooLong := false
	buf := make([]byte, maxChunk)
	for at < size {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if n == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		chunk := buf[:n]
		at += int64(n)
		for {
			i := bytes.IndexByte(chunk, '\n')
			if i < 0 {
				break
			}
			part = append(part, chunk[:i]...)
			chunk = chunk[i+1:]
			line := bytes.TrimSpace(part)
			if tooLong || len(line) > maxLine {
				line = nil
			}
			if err := fn(line, at-int64(len(chunk))); err != nil {
				return err
			}
			part, tooLong = part[:0], false
		}
		if part = append(part, chunk...); len(part) > maxLine {
			part, tooLong = part[:0], true
		}
	}
	return nil
}

// followTail is how much of the old file is looked for in its trimmed copy. A
// few dozen lines with their times do not occur twice.
const followTail = 8 << 10

// resume finds how far the new file f repeats what was already seen of the old
// one. Trimming keeps the end of a file, so seen stands whole in the new file,
// or, after several trims, its end is the beginning of the new file. Where
// neither holds, everything in the file is new.
func resume(f io.ReaderAt, size int64, seen []byte) (int64, error) {
	data, err := readRange(f, max(0, size-maxWindow), size)
	if err != nil {
		return 0, err
	}
	skipped := size - int64(len(data))
	if i := bytes.LastIndex(data, seen); i >= 0 && len(seen) > 0 {
		return skipped + int64(i+len(seen)), nil
	}
	for len(seen) > 0 {
		if bytes.HasPrefix(data, seen) {
			return int64(len(seen)), nil
		}
		i := bytes.IndexByte(seen, '\n')
		if i < 0 {
			break
		}
		seen = seen[i+1:]
	}
	return 0, nil
}

func readRange(f io.ReaderAt, from, to int64) ([]byte, error) {
	data := make([]byte, to-from)
	n, err := f.ReadAt(data, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}

// lineStart returns where the line that ends at size, unfinished, begins; size
// itself where the file ends with a newline.
func lineStart(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, firstChunk)
	for end := size; end > 0; {
		n := min(int64(len(buf)), end)
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}
