package compress

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Tidied is what became of the originals of clones that are gone.
type Tidied struct {
	Freed int64  // bytes
	Stays []Stay // what another session needs
	// Busy says that a clone is being made, which may need any of them: nothing
	// was looked at.
	Busy bool
}

// Stay is the originals of a clone that is gone, and who needs them.
type Stay struct {
	Clone string `json:"clone"`
	Size  int64  `json:"size"`
	For   string `json:"neededBy"` // a session
}

// unnamed is how long a record may be without its clone: between the two there is
// a rename.
const unnamed = time.Hour

// Tidy takes clones off the list whose files are gone, those that the caller has
// just removed at once, and the originals that were kept for them. A text that a
// session refers to stays, whoever that is: clones of clones and forks take the
// references with them. Files are all sessions there are.
func Tidy(ctx context.Context, list Clones, kept Dir, files []transcript.File, removed []string, now time.Time) (Tidied, error) {
	var out Tidied
	var gone []CloneRecord
	files = slices.Clone(files)
	store.SweepTemp(string(list), now)
	store.SweepTemp(kept.originals(), now)
	all := list.All()
	for _, id := range slices.Sorted(maps.Keys(all)) {
		c := all[id]
		switch made, err := time.Parse(time.RFC3339, c.Created); {
		case c.Path == "" && !c.Removed && !slices.Contains(removed, id): // in a database of its agent's
		case !missing(c.Path):
			files = append(files, transcript.File{Path: c.Path, ID: c.ID, ModTime: now})
		case c.Removed, slices.Contains(removed, id), err != nil, now.Sub(made) > unnamed, made.After(now.Add(unnamed)):
			gone = append(gone, c)
		default:
			out.Busy = true
		}
	}
	if out.Busy || len(gone) == 0 {
		return out, nil
	}
	// What another run has kept too is no reason to keep it here.
	also := map[uint64]struct{}{}
	for _, path := range kept.originalFiles() {
		if !slices.ContainsFunc(gone, func(c CloneRecord) bool { return kept.originalsOf(c.ID) == path }) {
			hashesIn(path, also)
		}
	}
	var failed error
	for _, c := range gone {
		path := kept.originalsOf(c.ID)
		info, err := os.Stat(path)
		if err == nil {
			var by string
			// Most likely it is the one that needed them before.
			if i := slices.IndexFunc(files, func(f transcript.File) bool { return f.ID == c.NeededBy }); i > 0 {
				files[0], files[i] = files[i], files[0]
			}
			if by, err = neededBy(ctx, path, also, info.ModTime(), files); err != nil {
				return out, err
			}
			if by != "" {
				hashesIn(path, also)
				// Its record stays with them, so that they are found again.
				out.Stays = append(out.Stays, Stay{c.ID, info.Size(), by})
				if !c.Removed || c.NeededBy != by {
					c.Removed, c.NeededBy = true, by
					failed = errors.Join(failed, list.Add(c))
				}
				continue
			}
			if err = os.Remove(path); err == nil {
				out.Freed += info.Size()
			}
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = list.forget(c.ID)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return out, failed
}

// missing says that a file is gone, and not the disk that it was on: what holds
// its folder is still there.
func missing(path string) bool {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := os.Stat(filepath.Dir(filepath.Dir(path)))
	return err == nil
}

// hashesIn adds the beginnings of the hashes of a run's originals.
func hashesIn(path string, to map[uint64]struct{}) {
	readOriginals(path, func(original, _ []byte, _ int64, _ int) {
		h, _ := hashRange(string(original))
		to[h] = struct{}{}
	})
}

// neededBy finds a session that refers to one of the originals that only this file
// has, "" for none. It has been written to since they were made.
func neededBy(ctx context.Context, path string, also map[uint64]struct{}, made time.Time, files []transcript.File) (string, error) {
	hashes, digits := map[uint64]struct{}{}, map[uint32]struct{}{}
	hashesIn(path, hashes)
	for h := range hashes {
		if _, ok := also[h]; !ok {
			digits[uint32(h>>32)] = struct{}{}
		}
	}
	if len(digits) == 0 {
		return "", nil
	}
	for _, f := range files {
		// Clocks of file systems are coarse, and the clone is renamed, not written.
		if f.ModTime.Before(made.Add(-unnamed)) {
			continue
		}
		switch found, err := refers(ctx, f.Path, digits); {
		case found:
			return f.ID, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err // who cannot be read may need them
		}
	}
	return "", nil
}

// refers looks for the digits of hashes as markers and marks have them, in raw
// bytes: where a host has copied a text to, and how, is its business.
func refers(ctx context.Context, path string, digits map[uint32]struct{}) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	const overlap = len(markerHash) + 8
	in := bufio.NewReaderSize(f, window)
	for {
		b, err := in.Peek(window)
		for _, sign := range [...]string{markerHash, "#"} {
			for at := 0; ; {
				i := bytes.Index(b[at:], []byte(sign))
				if i < 0 || at+i+len(sign)+8 > len(b) {
					break
				}
				at += i + len(sign)
				var n [4]byte
				if _, err := hex.Decode(n[:], b[at:at+8]); err != nil {
					continue
				}
				if _, ok := digits[binary.BigEndian.Uint32(n[:])]; ok {
					return true, nil
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return false, ctx.Err()
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return false, err
		}
		if _, err := in.Discard(len(b) - overlap); err != nil {
			return false, err
		}
	}
}

const (
	// markerHash precedes the hash in a marker.
	markerHash = `"sha256":"`
	// window is how much of a file is looked at in one go.
	window = 128 << 10
)
