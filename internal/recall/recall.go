// Package recall finds again what was said and done on this machine: a ranked
// search over the session files of all hosts, sub-agents' included, whether the
// text is still in a context or a compaction or a compression took it out; and
// the exact text behind a reference.
//
// The index holds words and places, no texts: what a hit says is read from its
// session file. Secrets are blanked before words are taken, so that the index
// holds none. Files of unchanged size, time and inode are not opened, of those
// that grew only the new lines are read. It lies in one folder:
//
//	manifest     which files are known, how far, and which segments count
//	<n>.seg      immutable segments: terms, postings, documents
//	facts.json   what `sessions` lists of each file
//	lock         taken by the process that writes
//
// Everything there can be made again, and is when it is damaged or of another
// version. A reader needs no lock.
//
// The engine is our own because it is faster by half to ten times than SQLite's FTS5,
// which was built beside it (docs/decisions/03-own-index.md).
//
// Ranking: BM25 over English and Russian stems, and over pairs of characters in
// Chinese, Traditional and Simplified alike, Japanese and Korean; a word that nobody
// wrote stands for those within two edits or that begin with it; one word may be
// missing, and half of the pairs. The best are then read
// and ordered by how near the words stand to each other and whether they stand
// there as they were asked for. Entries that say the same, as in clones and
// forks, are one hit.
package recall

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Options says where things are.
type Options struct {
	// Root is the folder of our own files; the index is a folder in it.
	Root string
	// Dir is the folder of a host's own files.
	Dir func(*host.Host) string
	// Original finds the text with this SHA-256, or with one that begins with
	// these eight digits, among what compressions keep; made is the text that
	// stands in its place, where it is known. nil for nowhere.
	Original func(hash, made string) (string, bool)
	// Clone tells which session a clone was made from, "" for one that is none, and how
	// large it was then; nil where nobody keeps a list.
	Clone func(id string) (source string, size int64)
	// Progress is told while session files are read; nil for nobody.
	Progress Progress
	// Waits is told, with the file, when another process that makes the index is waited
	// for for more than a second; nil for nobody.
	Waits func(path string)
	// Fault is told of a mistake of ours by which a session, or a line of it, is left
	// out; nil for nobody. It is called by one goroutine at a time.
	Fault func(error)
}

// Index is the index of one user. It is cheap to make: nothing is read before
// the first search. It may not be used from several goroutines at once.
type Index struct {
	opts Options
	dir  string
	man  *manifest
	// patience is how long another process that writes is waited for, where there is
	// something to search already.
	patience time.Duration
}

const folder = "index"

// Open returns the index, which need not exist.
func Open(o Options) *Index {
	if o.Original == nil {
		o.Original = func(string, string) (string, bool) { return "", false }
	}
	if o.Clone == nil {
		o.Clone = func(string) (string, int64) { return "", 0 }
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	if o.Waits == nil {
		o.Waits = func(string) {}
	}
	if o.Fault == nil {
		o.Fault = func(error) {}
	}
	return &Index{opts: o, dir: filepath.Join(o.Root, folder), patience: time.Second}
}

// Query is what is asked for.
type Query struct {
	Text  string
	Limit int // hits, at most; 0 for 20
	// Filters; "" for all.
	Session string // an id, or the beginning of one
	Host    string
	Project string // part of the working directory's path
	// Titles asks for the titles of the sessions, which are read from their files.
	Titles bool
}

// Hit is one entry that was found.
type Hit struct {
	Ref     string  `json:"ref"` // what Exact takes
	Session string  `json:"session"`
	Agent   string  `json:"agent,omitempty"` // the sub-agent whose file it is
	Host    string  `json:"host"`
	Project string  `json:"project"`
	Path    string  `json:"path"`
	Line    int     `json:"line"`
	Title   string  `json:"title,omitempty"`
	Time    string  `json:"time,omitempty"`
	Role    string  `json:"role"` // user, assistant, tool, thinking, summary
	Removed bool    `json:"removed"`
	Copies  int     `json:"copies"` // further entries that say the same, but for what clones took over
	Score   float64 `json:"score"`
	Snippet string  `json:"snippet"`
	// Marks are the matches in Snippet, as pairs of byte offsets.
	Marks [][2]int `json:"-"`
}

// Result is what a search found, the best first. Total counts what there is
// beyond the limit, as far as it was looked at.
type Result struct {
	Hits  []Hit
	Total int
	// Fewer says that nothing has all words: these have some of them.
	Fewer bool
	// Instead are the words that nobody wrote; Unsaid says that all of them are such words.
	Instead []Instead
	Unsaid  bool
	// Outdated is why the index could not be brought up to date, nil where it was.
	Outdated error
}

// Instead is a word of a query that no session has, and what hits are shown for in its
// place; "" for nothing.
type Instead struct {
	Word  string `json:"word"`
	Shown string `json:"shown,omitempty"`
}

// ErrBusy means that another process is bringing the index up to date.
var ErrBusy = errors.New("another process is at it")

// Search asks the index, brought up to date. Nearly always it is already: so it
// is asked while the files are looked at, and once more only if one changed.
func (x *Index) Search(ctx context.Context, q Query) (res Result, err error) {
	if x.man, err = x.load(); err != nil {
		return res, err
	}
	fresh := make(chan bool, 1)
	go func(m *manifest) { fresh <- x.unchanged(m) == nil }(x.man)
	if x.man.complete {
		res, err = x.ask(ctx, q)
	}
	if <-fresh && err == nil {
		return res, nil
	}
	behind, err := x.current(ctx, func() (err error) {
		res, err = x.ask(ctx, q)
		return err
	})
	res.Outdated = behind
	return res, err
}

// unchanged is nil where the index is up to date.
func (x *Index) unchanged(m *manifest) (err error) {
	defer transcript.Catch("", &err)
	files, err := transcript.Everything(x.opts.Dir)
	if err == nil && (!m.complete || stale(m, files)) {
		err = errStale
	}
	return err
}

var errStale = errors.New("files have changed")

// current calls fn with the index brought up to date, or, where that cannot be done
// now, with what there is of it; behind is then why. Whatever is wrong with our
// files, they are made anew.
func (x *Index) current(ctx context.Context, fn func() error) (behind, err error) {
	for try := 0; ; try++ {
		if behind = nil; try == 0 {
			err = x.refresh(ctx)
		} else {
			err = x.remake(ctx)
		}
		if unwritable(err) || errors.Is(err, ErrBusy) || errors.As(err, new(hiddenError)) {
			var bad error
			if x.man, bad = x.load(); bad == nil && x.man.complete {
				behind, err = err, nil
			}
		}
		if err == nil {
			err = fn()
		}
		switch {
		case errors.Is(err, errDamaged) && try < 3 && (behind == nil || errors.Is(behind, ErrBusy) || errors.As(behind, new(hiddenError))):
		case err != nil && behind != nil:
			return nil, behind
		default:
			return behind, err
		}
	}
}

// unwritable says that a disk is full or closed to us.
func unwritable(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)
}
