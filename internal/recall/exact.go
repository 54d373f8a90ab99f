package recall

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Original is the exact text behind a reference.
type Original struct {
	Ref  string // where it stands: session#uuid
	Path string // "" when only our own copy is left
	Line int
	Text string
}

// ErrNoRef means that what was given is no reference: it may be a query.
var ErrNoRef = errors.New("not a reference")

// Exact finds the text behind a reference: SESSION#UUID, both of which may be cut
// short as long as they name one; SESSION#L and a line's number, where the host
// gives no ids; or the eight digits of the mark that stands for a message of
// which a compression kept nothing.
func (x *Index) Exact(ctx context.Context, ref string) (Original, error) {
	if digits, ok := mark(ref); ok {
		if text, ok := x.opts.Original(digits, ""); ok {
			return Original{Ref: digits, Text: text}, nil
		}
		if strings.ContainsAny(ref, "…#") {
			return Original{}, message.WithHint(message.Fail(message.RecallNoMark, digits), message.HintRecallMark)
		}
		return Original{}, ErrNoRef // it may be a word to look for
	}
	session, id, ok := strings.Cut(ref, "#")
	if !ok || session == "" || id == "" || strings.ContainsAny(ref, " \t\n") {
		return Original{}, ErrNoRef
	}
	files, err := x.sessionFiles(session)
	if errors.Is(err, transcript.ErrNotFound) && !looksLikeRef(session, id) {
		return Original{}, ErrNoRef
	}
	if err != nil {
		return Original{}, err
	}
	return x.original(ctx, files, id, 0)
}

// mark takes the digits out of a mark, or of what a person copied of one.
func mark(ref string) (string, bool) {
	ref, _, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(ref), "["), "]"), " ×")
	ref = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(ref, "…"), "#"))
	return ref, len(ref) == 8 && strings.Trim(ref, "0123456789abcdef") == ""
}

// looksLikeRef says whether what leads nowhere was meant as a reference: other
// things than sessions have numbers, too.
func looksLikeRef(session, id string) bool {
	const hex = "0123456789abcdef-"
	if len(session) >= 4 && strings.Trim(session, hex) == "" && len(id) >= 4 && strings.Trim(id, hex) == "" {
		return true
	}
	return len(id) == 36 && strings.Count(id, "-") == 4 || len(id) > 1 && id[0] == 'L' && strings.Trim(id[1:], "0123456789") == ""
}

// sessionFiles finds the file of a session and those of its sub-agents.
func (x *Index) sessionFiles(session string) ([]transcript.File, error) {
	if strings.ContainsAny(session, `/\`) || strings.HasSuffix(session, ".jsonl") {
		f, err := transcript.Resolve(session, x.opts.Dir)
		return []transcript.File{f}, err
	}
	all, err := transcript.Everything(x.opts.Dir)
	ids := map[string]bool{}
	for _, f := range all {
		switch {
		case f.ID == session:
			ids = map[string]bool{session: true}
		case strings.HasPrefix(f.ID, session) && !ids[session]:
			ids[f.ID] = true
		}
	}
	switch len(ids) {
	case 0:
		return nil, errors.Join(fmt.Errorf("%w: %s", transcript.ErrNotFound, session), err)
	case 1:
	default:
		return nil, &transcript.Ambiguous{Prefix: session, IDs: slices.Sorted(maps.Keys(ids))}
	}
	// A project that was moved may have left a file of that name: both are it.
	var found, agents []transcript.File
	for _, f := range all {
		switch {
		case ids[f.ID]:
			found = append(found, f)
		case f.Agent && ids[f.Parent]:
			agents = append(agents, f)
		}
	}
	return append(found, agents...), nil
}

type line struct {
	file transcript.File
	raw  []byte
	uuid string
	n    int
}

// lineOf finds the entry that an id, or the beginning of one, names: in the
// session itself, else in its sub-agents.
func lineOf(ctx context.Context, files []transcript.File, id string) (line, error) {
	for _, f := range files {
		var found []line
		err := lines(ctx, f, func(raw []byte, uuid []byte, n int) bool {
			whole := string(uuid) == id || id == "L"+strconv.Itoa(n)
			if whole {
				found = found[:0]
			}
			if whole || len(id) >= 4 && bytes.HasPrefix(uuid, []byte(id)) {
				found = append(found, line{f, bytes.Clone(raw), string(uuid), n})
			}
			return !whole
		})
		if err != nil {
			return line{}, err
		}
		if len(found) > 0 {
			// A uuid that a host wrote twice names the later line.
			last := found[len(found)-1]
			for _, l := range found {
				if l.uuid != last.uuid {
					return line{}, message.Fail(message.RecallManyRefs, files[0].ID, id)
				}
			}
			return last, nil
		}
	}
	return line{}, message.WithHint(message.Fail(message.RecallNoRef, files[0].ID, id), message.HintRecallNoRef)
}

// lines calls fn for each entry of a file until it returns false.
func lines(ctx context.Context, f transcript.File, fn func(raw, uuid []byte, n int) bool) error {
	r, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	in, done := store.ReadLines(r, 0)
	defer done()
	for n := 1; ctx.Err() == nil; n++ {
		ln, ok := in.Next()
		if !ok {
			return in.Err
		}
		for b := ln.B; ; {
			size, uuid, ok := transcript.Name(b)
			if !ok {
				break
			}
			if !fn(b[:size], uuid, n) {
				return nil
			}
			b = b[size:]
		}
	}
	return ctx.Err()
}

// original follows the markers from a compressed message to the text it stands
// for. The source may be gone, for hosts clean up; what compressions keep is
// asked first.
func (x *Index) original(ctx context.Context, files []transcript.File, id string, depth int) (Original, error) {
	l, err := lineOf(ctx, files, id)
	if err != nil {
		return Original{}, err
	}
	m, marked := transcript.MarkerOf(l.raw)
	if !marked {
		return Original{Ref: l.file.ID + "#" + refOf(l.uuid, l.n), Path: l.file.Path, Line: l.n, Text: textOf(l)}, nil
	}
	if text, ok := x.opts.Original(m.Hash, transcript.Text(l.raw)); ok && Hash(text) == m.Hash {
		return Original{Ref: m.Source + "#" + m.UUID, Text: text}, nil
	}
	source, err := x.sessionFiles(m.Source)
	if err != nil || depth > 100 {
		// The clone stands beside its source, wherever that is.
		beside, err := besideOf(l.file, m.Source)
		if err != nil {
			return Original{}, message.Fail(message.RecallGone, m.Source)
		}
		source = []transcript.File{beside}
	}
	o, err := x.original(ctx, source, m.UUID, depth+1)
	if err == nil && Hash(o.Text) != m.Hash {
		err = message.Fail(message.RecallChanged, m.Source)
	}
	return o, err
}

// textOf is what an entry says: its message, else all that it holds.
func textOf(l line) string {
	if text := transcript.Text(l.raw); text != "" {
		return text
	}
	s, _, _ := transcript.Say(l.raw, l.file.Host, nil)
	return string(s.Text)
}

func besideOf(f transcript.File, id string) (transcript.File, error) {
	dir := filepath.Dir(f.Path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return transcript.File{}, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), id+".jsonl") {
			return transcript.Resolve(filepath.Join(dir, e.Name()), nil)
		}
	}
	return transcript.File{}, transcript.ErrNotFound
}

// Hash is the SHA-256 of a text, as markers and marks have it.
func Hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}
