package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Health is what a look over the home found. Paths are absolute.
type Health struct {
	Open     []string // readable by others
	Loose    []string // writable by others
	Leftover []string // half-written copies and folders on their way out
	Held     []string // ids of sessions whose lock was held all the time
	Looked   int      // files and folders looked at
}

// leftoverAge keeps a copy that is being written right now out of the report.
const leftoverAge = time.Minute

// Health looks over the home without changing anything, at most at limit files and
// folders. A lock that is held for the whole of wait is reported, as hooks hold one for
// milliseconds. A home that is not there is healthy.
func (h *Home) Health(limit int, wait time.Duration) (Health, error) {
	var out Health
	// The home may be a link, which a walk does not enter.
	root, err := filepath.EvalSymlinks(h.root)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	} else if err != nil {
		return out, err
	}
	sessions := filepath.Join(root, filepath.Base(h.sessionsDir()))
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case out.Looked == limit:
			return fs.SkipAll
		case e.Type()&fs.ModeSymlink != 0:
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil //nolint:nilerr // removed since the listing
		}
		out.Looked++
		switch mode := info.Mode().Perm(); {
		case runtime.GOOS == "windows": // has no such modes
		case mode&0o022 != 0:
			out.Loose = append(out.Loose, path)
		case mode&0o055 != 0:
			out.Open = append(out.Open, path)
		}
		old := h.now().Sub(info.ModTime()) > leftoverAge
		switch name := e.Name(); {
		case e.IsDir() && strings.HasPrefix(name, trashPrefix) && old:
			out.Leftover = append(out.Leftover, path)
			return fs.SkipDir
		case !e.IsDir() && filepath.Ext(name) == ".tmp" && old:
			out.Leftover = append(out.Leftover, path)
		case name == lockFile && filepath.Dir(filepath.Dir(path)) == sessions:
			if held(path, wait) {
				out.Held = append(out.Held, filepath.Base(filepath.Dir(path)))
			}
		}
		return nil
	})
	return out, err
}

// held reports whether a lock stays taken for the whole of wait. It takes the
// lock itself for an instant, which others only notice as a wait that short.
func held(path string, wait time.Duration) bool {
	f, err := os.OpenFile(path, os.O_RDWR|openFlags, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	ok, err := lockWithin(f, wait)
	return !ok && err == nil
}
