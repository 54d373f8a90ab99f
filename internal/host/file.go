package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

const maxFile = 16 << 20

// File is a file of the user's before, and after, a change.
type File struct {
	Path   string // as the user knows it
	Target string // the file itself, where Path is a link
	Exists bool
	Before []byte
	Mode   fs.FileMode

	After []byte
	Gone  bool // the change removes it
	Edits []Edit
	dir   string // topmost folder that has to be made
}

// Open reads a file that may be missing or a link. Nothing is changed before
// [File.Write].
func Open(path string) (File, error) {
	f := File{Path: path, Target: path, Mode: 0o600}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return f, fmt.Errorf("read %s: a link to a file that does not exist", path)
		}
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
				break
			}
			f.dir = dir
		}
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("read %s: %w", path, err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return f, fmt.Errorf("read %s: %w", path, err)
	}
	data, err := config.ReadFile(target, maxFile)
	if err != nil {
		return f, fmt.Errorf("read %s: %w", path, err)
	}
	f.Target, f.Exists, f.Before, f.After, f.Mode = target, true, data, data, info.Mode().Perm()
	return f, nil
}

// Edit sets what the file becomes by edits on what it is.
func (f *File) Edit(edits []Edit) error {
	after, done, err := Apply(f.now(), edits)
	if err != nil {
		return fmt.Errorf("edit %s: %w", f.Path, err)
	}
	if len(done) > 0 {
		f.After, f.Gone = after, false
		f.Edits = append(f.Edits, done...)
	}
	return nil
}

// Drop takes edits of earlier runs back; kept lists those that were changed since.
func (f *File) Drop(edits []Edit) (kept []Edit, err error) {
	if !f.Exists || len(edits) == 0 {
		return nil, nil
	}
	after, kept, err := revert(f.After, edits)
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", f.Path, err)
	}
	f.After = after
	return kept, nil
}

// DropOwn takes out what edits would put in, where no run is known that did so:
// what the old values were is not known, and containers that become empty go.
func (f *File) DropOwn(edits []Edit) (kept []Edit, err error) {
	if !f.Exists {
		return nil, nil
	}
	d, err := parse(f.After, commented(edits))
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", f.Path, err)
	}
	var there []Edit
	for _, e := range edits {
		at, found := d.find(e.Path)
		if !found {
			continue
		}
		e.Made = len(e.Path) - 1
		if e.Append {
			e.Made++
			if d.plain[at] != '[' {
				continue
			}
			if _, i, _ := d.element(at, e); i < 0 {
				continue
			}
		}
		there = append(there, e)
	}
	return f.Drop(there)
}

// now is the content after the changes so far.
func (f *File) now() []byte {
	if f.Gone {
		return nil
	}
	return f.After
}

// Changed reports whether there is anything to write.
func (f *File) Changed() bool {
	if f.Gone {
		return f.Exists
	}
	return !bytes.Equal(f.Before, f.After)
}

// Write replaces the file. A file that changed since it was read is left alone:
// hosts write their settings, too.
func (f *File) Write() error {
	if !f.Changed() {
		return nil
	}
	if f.Exists {
		if now, err := os.ReadFile(f.Target); err != nil || !bytes.Equal(now, f.Before) {
			return message.WithHint(fmt.Errorf("write %s: it was changed by someone else in the meantime", f.Path), message.HintChangedFile)
		}
	} else if err := os.MkdirAll(filepath.Dir(f.Target), 0o700); err != nil {
		return err
	}
	if f.Gone {
		return os.Remove(f.Target)
	}
	return store.AtomicWrite(f.Target, f.After, f.Mode)
}
