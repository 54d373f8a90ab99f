package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// CleanupOptions says what [Home.Cleanup] may remove.
type CleanupOptions struct {
	MaxAge time.Duration // how long files of past work are kept
	DryRun bool          // report, remove nothing
	// Active says whether a session is at work, given its workflow.json, nil
	// where it has none. Without the function none is. A session whose file
	// cannot be read counts as active, unasked.
	Active func(id string, workflow []byte) bool
}

// CleanupReport is what a clean-up removed, or would remove.
type CleanupReport struct {
	Files    []string // paths in the Claude folder
	Sessions []string // ids whose folders went
	Spared   []string // ids of old sessions that are still at work
	Failed   []error  // what could not be looked at or removed; the rest went on
}

// Cleanup removes what past work left: in the Claude folder context files,
// reflection memories and barrier states, also their half-written copies, and
// below $OVERTONE_HOME the folders of sessions, all when nothing in them was
// modified for MaxAge. Whatever belongs to an active session stays. Links are
// not followed and, in the Claude folder, not removed.
//
// The error is about a folder that cannot be listed at all. Without a list of
// sessions nothing is removed, as nobody knows who is at work.
func (h *Home) Cleanup(opts CleanupOptions) (CleanupReport, error) {
	c := cleanup{home: h, opts: opts, active: map[string]bool{}}
	c.before = h.now().Add(-opts.MaxAge)
	entries, err := h.listSessions()
	if err != nil {
		return c.report, fmt.Errorf("clean up: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && validID(e.Name()) {
			c.sessions = append(c.sessions, e.Name())
		}
	}
	if !opts.DryRun {
		c.sweep()
	}
	err = c.claudeFiles()
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.IsDir():
		case validID(name):
			c.session(name)
		case strings.HasPrefix(name, trashPrefix) && !opts.DryRun:
			c.failed(os.RemoveAll(filepath.Join(h.sessionsDir(), name)))
		}
	}
	return c.report, err
}

// trashPrefix marks folders on their way out. No session id has a dot.
const trashPrefix = ".trash-"

type cleanup struct {
	home     *Home
	opts     CleanupOptions
	before   time.Time
	sessions []string        // ids, sorted
	active   map[string]bool // by id, filled as needed
	report   CleanupReport
}

func (c *cleanup) failed(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.report.Failed = append(c.report.Failed, err)
	}
}

// sweep removes what interrupted writes left in folders whose files are replaced by
// whoever comes: the two roots, workflows, and the results of compressions.
func (c *cleanup) sweep() {
	now := c.home.now()
	SweepTemp(c.home.root, now)
	SweepTemp(c.home.claude, now)
	SweepTemp(filepath.Join(c.home.root, "workflows"), now)
	cache := filepath.Join(c.home.root, "compress")
	if realDir(cache) != nil {
		return
	}
	entries, err := os.ReadDir(cache)
	c.failed(err)
	for _, e := range entries {
		if e.IsDir() {
			SweepTemp(filepath.Join(cache, e.Name()), now)
		}
	}
}

func (c *cleanup) claudeFiles() error {
	entries, err := os.ReadDir(c.home.claude)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clean up: %w", err)
	}
	for _, e := range entries {
		rest, ok := leftover(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(c.home.claude, e.Name())
		info, err := e.Info()
		if err == nil && (!info.ModTime().Before(c.before) || c.ownerActive(rest)) {
			continue
		}
		if err == nil && !c.opts.DryRun {
			err = os.Remove(path)
		}
		if c.failed(err); err == nil {
			c.report.Files = append(c.report.Files, path)
		}
	}
	return nil
}

// leftover recognises the files that clean-up is about and returns the part of
// the name that begins with the session id.
func leftover(name string) (rest string, ok bool) {
	name, _, _ = strings.Cut(strings.TrimSuffix(name, ".tmp"), damagedMark)
	for _, kind := range [...]struct{ prefix, ext string }{{contextPrefix, ".md"}, {reflectionPrefix, ".md"}, {barrierPrefix, ".json"}} {
		if rest, ok := strings.CutPrefix(name, kind.prefix); ok {
			return strings.CutSuffix(rest, kind.ext)
		}
	}
	return "", false
}

// ownerActive says whether a file belongs to a session at work. A name does not
// tell where the id ends and the stage begins, as both may hold hyphens, so
// each beginning that is the id of a session counts.
func (c *cleanup) ownerActive(rest string) bool {
	for i := 0; i <= len(rest); i++ {
		if i < len(rest) && rest[i] != '-' {
			continue
		}
		if _, ok := slices.BinarySearch(c.sessions, rest[:i]); ok && c.isActive(rest[:i]) {
			return true
		}
	}
	return false
}

func (c *cleanup) isActive(id string) bool {
	if c.opts.Active == nil {
		return false
	}
	active, known := c.active[id]
	if !known {
		s, err := c.home.Session(id)
		if err != nil {
			return false
		}
		switch workflow, err := s.Read(WorkflowFile); {
		case err == nil, errors.Is(err, fs.ErrNotExist):
			active = c.opts.Active(id, workflow)
		default:
			c.failed(err)
			active = true
		}
		c.active[id] = active
	}
	return active
}

// session removes the folder of a session that is old and not at work.
func (c *cleanup) session(id string) {
	s, err := c.home.Session(id)
	if err != nil {
		return
	}
	modified, err := newestFile(s.dir)
	if info, gone := os.Lstat(s.dir); err == nil && modified.IsZero() && gone == nil {
		modified = info.ModTime()
	}
	if err != nil || !modified.Before(c.before) {
		c.failed(err)
		return
	}
	if c.isActive(id) {
		c.report.Spared = append(c.report.Spared, id)
		return
	}
	if !c.opts.DryRun {
		err = c.removeSession(s)
	}
	switch {
	case errors.Is(err, ErrBusy):
		c.report.Spared = append(c.report.Spared, id)
	case err != nil:
		c.failed(err)
	default:
		c.report.Sessions = append(c.report.Sessions, id)
	}
}

// removeSession moves the folder out of the way under the session's lock, so
// that nobody is writing in it and newcomers find none and make their own, then
// removes it at leisure. Removing it in place would take files that a newcomer
// has just created.
func (c *cleanup) removeSession(s *Session) error {
	trash := filepath.Join(c.home.sessionsDir(), trashPrefix+s.id)
	if err := os.RemoveAll(trash); err != nil {
		return err
	}
	// A clean-up waits for nobody: a session whose lock is held is in use, or its
	// holder was stopped, and the next clean-up is soon enough for both.
	unlock, err := s.lock(false, trying)
	if err != nil {
		return err
	}
	modified, err := newestFile(s.dir)
	if err == nil && !modified.Before(c.before) {
		err = fmt.Errorf("session %s is in use again", s.id)
	}
	if err == nil {
		err = os.Rename(s.dir, trash)
	}
	unlock()
	if err != nil {
		return err
	}
	return os.RemoveAll(trash)
}

// newestFile returns when a plain file below dir was last modified; the zero
// time where there is none. The lock does not count: taking it may create it.
func newestFile(dir string) (newest time.Time, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || path == filepath.Join(dir, lockFile) {
			return err
		}
		info, err := e.Info()
		if err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return err
	})
	return newest, err
}

// ClaimCleanup says whether a clean-up is due, that is, whether the last claim
// is longer ago than every, and if so counts as one. It costs one look at one
// file. A home that cannot be written is never due.
func (h *Home) ClaimCleanup(every time.Duration) bool {
	return h.touch(filepath.Join(h.root, "last-cleanup"), every)
}
