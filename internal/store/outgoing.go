package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Mark is a place in a timeline that outlives trims and restarts: after the
// entry with this number. The zero mark stands before the first one.
//
// Entries are numbered from 1 in the order of the file, bad lines left out. A
// timeline has no numbers of its own, so the mark remembers what its entry looks
// like: its line, and that line with the one before it, as one line alone may
// well stand there twice. Without a line it stands at the file's beginning.
type Mark struct {
	Seq  uint64 `json:"seq"`
	Off  int64  `json:"off"`
	Line string `json:"line,omitempty"`
	Pair string `json:"pair,omitempty"`
}

// Outgoing is an entry of a timeline on its way to somebody.
type Outgoing struct {
	Entry
	Mark Mark // behind it
}

// After returns the entries that follow a mark, at most limit of them and about
// maxBytes together. lost is set where the marked entry is no longer in the file:
// it was trimmed away, and perhaps others with it; the numbers then leave one out,
// so that the gap can be seen. It takes no lock; a line without its end is left
// for the next call.
func (s *Session) After(m Mark, limit int, maxBytes int64) (list []Outgoing, lost bool, err error) {
	f, size, err := s.openTimeline()
	if f == nil {
		return nil, false, err
	}
	defer f.Close()
	found := Mark{}
	if m.Line != "" {
		if found, err = m.find(f, size); err != nil {
			return nil, false, err
		}
		if lost = found.Off == 0; lost {
			m.Seq++
		}
	}
	found.Seq = m.Seq
	total := int64(0)
	err = walkEntries(f, found, size, func(o Outgoing) bool {
		o.Raw = bytes.Clone(o.Raw)
		list = append(list, o)
		total += int64(len(o.Raw))
		return len(list) < limit && total < maxBytes
	})
	return list, lost, err
}

// First is the mark before the oldest entry in the file, given that of an entry
// which was read before: from there everything can be told again under the same
// numbers. ok is false where the marked entry is gone.
func (s *Session) First(m Mark) (first Mark, ok bool, err error) {
	f, size, err := s.openTimeline()
	if f == nil || m.Seq == 0 {
		return Mark{}, f == nil || m.Seq == 0, err
	}
	defer f.Close()
	found, err := m.find(f, size)
	if err != nil || found.Seq == 0 || found.Seq > m.Seq {
		return Mark{}, false, err
	}
	return Mark{Seq: m.Seq - found.Seq}, true, nil
}

// Grown tells, without opening it, whether a timeline may hold something new: a
// stamp that differs from the one before.
func (s *Session) Grown() (stamp [2]int64, ok bool) {
	info, err := os.Lstat(s.path(TimelineFile))
	if err != nil || !info.Mode().IsRegular() {
		return stamp, false
	}
	return [2]int64{info.Size(), info.ModTime().UnixNano()}, true
}

// find looks for the marked entry, with its number in the file: where it stood, else
// the last that looks like it.
func (m Mark) find(f io.ReaderAt, size int64) (found Mark, err error) {
	err = walkEntries(f, Mark{}, size, func(o Outgoing) bool {
		if o.Mark.Pair == m.Pair || o.Mark.Seq == 1 && o.Mark.Line == m.Line {
			found = o.Mark
		}
		return found.Off == 0 || found.Off != m.Off
	})
	return found, err
}

// walkEntries hands on the entries behind a mark, each with the mark behind it. Lines
// that are too long are left out, and so is one that is being written.
func walkEntries(f io.ReaderAt, m Mark, size int64, yield func(Outgoing) bool) error {
	lines, done := ReadLines(io.NewSectionReader(f, m.Off, size-m.Off), m.Off)
	defer done()
	lines.Most = maxLine
	for ln, ok := lines.Next(); ok && ln.Ended; ln, ok = lines.Next() {
		line := bytes.TrimSpace(ln.B)
		e, ok := parseEntry(line)
		if !ok || ln.Huge {
			continue
		}
		hash := lineHash(line)
		m = Mark{Seq: m.Seq + 1, Off: lines.Off, Line: hash, Pair: joinHash(m.Line, hash)}
		if !yield(Outgoing{e, m}) {
			return nil
		}
	}
	return lines.Err
}

func lineHash(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:8])
}

func joinHash(before, line string) string { return lineHash([]byte(before + "\n" + line)) }

// Reports reads the session's files in the Claude folder: reports of stages, what
// is remembered of their failures, barriers. The names are without the session's
// id, so that [Tx.WriteReport] can give them to another session.
func (s *Session) Reports() (map[string][]byte, error) {
	found := map[string][]byte{}
	entries, err := os.ReadDir(s.home.claude)
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		for _, prefix := range reportPrefixes {
			rest, ok := strings.CutPrefix(e.Name(), prefix+s.id)
			if !ok || !e.Type().IsRegular() || !reportRest(prefix, rest) {
				continue
			}
			data, err := readFile(s.claudePath(e.Name()), maxContext)
			if err == nil {
				found[prefix+rest] = data
			}
		}
	}
	return found, nil
}

var reportPrefixes = [...]string{contextPrefix, reflectionPrefix, barrierPrefix}

// reportRest accepts what may follow the id in the name of such a file.
func reportRest(prefix, rest string) bool {
	if prefix == barrierPrefix {
		return rest == ".json"
	}
	stage, ok := strings.CutSuffix(strings.TrimPrefix(rest, "-"), ".md")
	return ok && strings.HasPrefix(rest, "-") && stage != "" && len(stage) <= 64 && plainBytes(stage)
}

// WriteReport writes a file that [Session.Reports] has read elsewhere.
func (tx *Tx) WriteReport(name string, data []byte) error {
	for _, prefix := range reportPrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && reportRest(prefix, rest) && len(data) <= maxContext {
			return tx.writeClaude(tx.s.claudePath(prefix+tx.s.id+rest), data)
		}
	}
	return fmt.Errorf("%w: %q", errContextFile, name)
}

// Remove deletes a file of the session, if there is one.
func (tx *Tx) Remove(name string) error {
	if err := checkWritable(name); err != nil {
		return err
	}
	return remove(tx.s.path(name))
}
