package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// Backups is the folder that holds, for each run that changed files of the
// user's, their bytes before it and a manifest of what was changed. Manifests
// of runs that were undone are renamed, not removed.
type Backups struct{ Dir string }

const (
	manifestFile = "manifest.json"
	undoneFile   = "manifest.undone.json"
)

// Manifest is one run.
type Manifest struct {
	Schema  int         `json:"schema"`
	At      time.Time   `json:"at"`
	Host    Name        `json:"host"`
	Version string      `json:"version"` // of Overtone
	Files   []FileEntry `json:"files"`
	Dir     string      `json:"-"` // where its copies lie
}

// FileEntry is one file of a run.
type FileEntry struct {
	Path    string `json:"path"`
	Backup  string `json:"backup,omitempty"` // name of the copy; none where there was no file
	Created bool   `json:"created,omitempty"`
	MadeDir string `json:"madeDir,omitempty"` // topmost folder that was made for it
	Before  string `json:"before,omitempty"`  // SHA-256
	After   string `json:"after"`
	Edits   []Edit `json:"edits,omitempty"`
	// Keep marks a file that is the user's from now on: it is not undone.
	Keep bool `json:"keep,omitempty"`
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// Save keeps the present bytes of the files that are about to change. It is
// called before they are written: a run that is killed in between can be undone
// just as well. keep names files that uninstalling leaves as they are.
func (b Backups) Save(now time.Time, host Name, version string, files []*File, keep ...*File) (Manifest, error) {
	m := Manifest{Schema: 1, At: now.UTC(), Host: host, Version: version}
	var err error
	if m.Dir, err = b.newDir(now); err != nil {
		return m, fmt.Errorf("back up: %w", err)
	}
	for i, f := range append(slices.Clone(files), keep...) {
		e := FileEntry{Path: f.Path, Created: !f.Exists, MadeDir: f.dir, After: sum(f.now()), Edits: f.Edits, Keep: i >= len(files)}
		if f.Exists {
			e.Before = sum(f.Before)
			e.Backup = filepath.Base(f.Path)
			if i > 0 {
				e.Backup = strconv.Itoa(i) + "-" + e.Backup
			}
			if err := store.AtomicWrite(filepath.Join(m.Dir, e.Backup), f.Before, 0o600); err != nil {
				return m, fmt.Errorf("back up %s: %w", f.Path, err)
			}
		}
		m.Files = append(m.Files, e)
	}
	if err := store.AtomicWrite(filepath.Join(m.Dir, manifestFile), store.JSONFile(m), 0o600); err != nil {
		return m, fmt.Errorf("back up: %w", err)
	}
	return m, nil
}

// newDir makes the folder of a run, named after its time so that names sort.
func (b Backups) newDir(now time.Time) (string, error) {
	if err := store.RealFolder(filepath.Dir(b.Dir), b.Dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return "", err
	}
	stamp := now.UTC().Format("20060102T150405.000Z")
	for n := 1; ; n++ {
		dir := filepath.Join(b.Dir, stamp)
		if n > 1 {
			dir += fmt.Sprintf("-%02d", n)
		}
		err := os.Mkdir(dir, 0o700)
		if err == nil || !errors.Is(err, fs.ErrExist) || n == 99 {
			return dir, err
		}
	}
}

// Open lists the runs for a host that were not undone, the newest first. Runs
// whose manifest cannot be read are told, and left out.
func (b Backups) Open(host Name) (list []Manifest, err error) {
	if err := store.RealFolder(filepath.Dir(b.Dir), b.Dir); err != nil {
		return nil, fmt.Errorf("read backups: %w", err)
	}
	entries, err := os.ReadDir(b.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read backups: %w", err)
	}
	var errs []error
	for _, e := range slices.Backward(entries) {
		dir := filepath.Join(b.Dir, e.Name())
		data, err := os.ReadFile(filepath.Join(dir, manifestFile))
		if errors.Is(err, fs.ErrNotExist) || !e.IsDir() {
			continue
		}
		var m Manifest
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err == nil && m.Schema != 1 {
			err = fmt.Errorf("written by a newer version")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read %s: %w", filepath.Join(dir, manifestFile), err))
			continue
		}
		if m.Host == host {
			m.Dir = dir
			list = append(list, m)
		}
	}
	return list, errors.Join(errs...)
}

// Close marks a run as undone.
func (m Manifest) Close() error {
	return os.Rename(filepath.Join(m.Dir, manifestFile), filepath.Join(m.Dir, undoneFile))
}

// Edits returns what open runs changed in a file, the oldest first.
func Edits(runs []Manifest, path string) []Edit {
	var all []Edit
	for _, m := range slices.Backward(runs) {
		for _, e := range m.Files {
			if e.Path == path && !e.Keep {
				all = append(all, e.Edits...)
			}
		}
	}
	return all
}

// Undo sets what a file becomes when runs, the newest first, are taken back. As
// long as the file is what a run left, it gets the bytes from before that run;
// from the first edit of someone else on, only our own members go. kept lists
// members of ours that were changed since and stay. blocks takes edits of a TOML
// file back.
func (f *File) Undo(runs []Manifest, blocks func(data []byte, edits []Edit) (after []byte, kept []Edit, err error)) (kept []Edit, err error) {
	for _, m := range runs {
		for _, e := range m.Files {
			if e.Path != f.Path || e.Keep || f.Gone || !f.Exists {
				continue
			}
			switch sum(f.After) {
			case e.Before:
				continue // the run never got to it
			case e.After:
				if e.Created {
					f.Gone, f.dir = true, e.MadeDir
					continue
				}
				data, err := os.ReadFile(filepath.Join(m.Dir, e.Backup))
				if err == nil && sum(data) == e.Before {
					f.After = data
					continue
				}
				// The copy is damaged; the edits are still known.
			}
			undo := revert
			if len(e.Edits) > 0 && e.Edits[0].Block {
				undo = blocks
			}
			after, more, err := undo(f.After, e.Edits)
			if err != nil {
				return nil, fmt.Errorf("edit %s: %w", f.Path, err)
			}
			kept = append(kept, more...)
			f.After = after
			if e.Created && empty(after, commented(e.Edits)) {
				f.Gone, f.dir = true, e.MadeDir
			}
		}
	}
	return kept, nil
}

// Tidy removes the folders that were made for a file that is gone, as far as
// they are empty.
func (f *File) Tidy() {
	if !f.Gone || f.dir == "" {
		return
	}
	for dir := filepath.Dir(f.Path); len(dir) >= len(f.dir); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			return
		}
	}
}
