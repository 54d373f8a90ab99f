package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type removed struct {
	ID     string `json:"id"`
	Source string `json:"cloneOf"`
	Host   string `json:"host"`
	Path   string `json:"path"`
	Size   int64  `json:"size"`
}

// RemoveClones takes clones away that were made here. All of them are checked before
// the first one goes.
func (f Finder) RemoveClones(ctx context.Context, t *terminal.Terminal, short func(path string) string, refs []string, yes, force bool) error {
	list := compress.ClonesIn(f.Home.Root())
	clones := list.All()
	gone := []removed{}
	for _, ref := range refs {
		file, err := f.made(ref, clones)
		if err != nil {
			return err
		}
		c, ours := clones[file.ID]
		switch {
		case !ours || c.Path != file.Path:
			return message.WithHint(message.Fail(message.RmNoClone, file.ID), message.HintRmNoClone)
		case file.Size != c.Size && !force:
			return message.WithHint(message.Fail(message.RmUsed, file.ID, message.Bytes(file.Size), message.Bytes(c.Size)), message.HintRmUsed)
		case !force && f.isGone(c):
			return message.WithHint(message.Fail(message.RmLast, file.ID, c.Source), message.HintRmUsed)
		}
		gone = append(gone, removed{file.ID, c.Source, string(file.Host), file.Path, file.Size})
	}
	if !yes && (t.JSON || !t.Listening()) {
		return message.Misuse{Err: message.WithHint(message.Fail(message.RmNeedYes), message.HintRmNeedYes)}
	}
	done := gone[:0]
	for _, r := range gone {
		if !yes {
			fmt.Fprint(t.Stderr, t.Format(message.AskRm, r.ID, message.Bytes(r.Size), short(r.Path)))
			line, err := terminal.ReadLine(ctx, t.Stdin)
			if err != nil {
				return err
			}
			if l := strings.ToLower(line); l != "y" && l != "yes" {
				t.Note(message.RmKept, r.ID)
				continue
			}
		}
		// Who tidies at the same time need not wait for a clone that will not come.
		// A full disk is no reason to keep one.
		c := clones[r.ID]
		c.Removed = true
		_ = list.Add(c)
		if err := f.Remove(ctx, r.Host, r.ID, r.Path); err != nil {
			return err
		}
		// Our mirror of it refers to originals that nobody needs any more.
		if host.Of(transcript.Host(r.Host)).Mirrored {
			if mirror, err := transcript.Resolve(r.ID, f.Dir); err == nil {
				_ = os.Remove(mirror.Path) // the next look does it
			}
		}
		if done = append(done, r); !t.JSON {
			t.Say(message.RmDone, r.ID, message.Bytes(r.Size))
		}
	}
	if len(done) == 0 && !t.JSON {
		return nil
	}
	ids := make([]string, len(done))
	for i, r := range done {
		ids[i] = r.ID
	}
	// The clones are gone: that something of ours is left is no failure of the
	// command, and the next one tries again.
	left, err := f.TidyClones(ctx, ids, t.Now())
	if err != nil {
		t.Note(message.ClonesProblem, err)
	}
	if t.JSON {
		return t.PrintObject("removed", done, "freed", left.Freed, "stays", terminal.List(left.Stays))
	}
	if left.Freed > 0 {
		t.Say(message.RmFreed, message.Bytes(left.Freed))
	}
	for _, s := range left.Stays {
		t.Say(message.RmStays, s.Clone, message.Bytes(s.Size), s.For)
	}
	if left.Busy {
		t.Note(message.RmBusy)
	}
	return nil
}

// made finds a clone where its record says it is: an agent may keep its sessions where
// they cannot be listed, or under another name.
func (f Finder) made(ref string, clones map[string]compress.CloneRecord) (transcript.File, error) {
	f.Titled = nil // what is removed is named
	file, err := f.Resolve(ref)
	ref = strings.TrimSuffix(ref, "…") // as lists cut it
	for _, id := range slices.Sorted(maps.Keys(clones)) {
		c := clones[id]
		if id != file.ID && (err == nil || !strings.HasPrefix(id, ref)) {
			continue
		}
		at := transcript.File{Path: c.Path, ID: id, Host: transcript.Host(c.Host), Size: c.Size}
		info, gone := os.Stat(c.Path)
		if gone == nil {
			at.Size = info.Size()
		}
		if gone == nil || c.Path == "" && !c.Removed { // who removed it may have been killed before its file went
			return at, nil
		}
	}
	return file, err
}

// TidyClones forgets clones whose files are gone, and removes the originals that
// nobody refers to any more, and what killed runs left beside any session.
func (f Finder) TidyClones(ctx context.Context, removed []string, now time.Time) (compress.Tidied, error) {
	files, err := transcript.Everything(f.Dir)
	if err != nil {
		return compress.Tidied{}, err // who cannot be seen may need them
	}
	root := f.Home.Root()
	list := compress.ClonesIn(root)
	dirs := map[string]bool{}
	for _, file := range files {
		dirs[filepath.Dir(file.Path)] = true
	}
	for _, c := range list.All() { // a run that was killed may have made its folder
		dirs[filepath.Dir(c.Path)] = true
	}
	delete(dirs, ".") // of those in a database
	for dir := range dirs {
		store.SweepTemp(dir, now)
	}
	return compress.Tidy(ctx, list, compress.CacheIn(root), files, removed, now)
}

// isGone says that the session is gone that a clone was made from.
func (f Finder) isGone(c compress.CloneRecord) bool {
	if _, err := os.Stat(c.From); err == nil {
		return false
	}
	_, err := transcript.Resolve(c.Source, f.Dir)
	return errors.Is(err, transcript.ErrNotFound)
}

// Lived are the files of all sessions and sub-agents, without clones that nobody used
// since they were made: what happened in those is told by their sources. The clones
// that are left come behind their sources, so that what both hold is the source's.
func (f Finder) Lived() ([]transcript.File, error) {
	files, err := transcript.Everything(f.Dir)
	clones := compress.ClonesIn(f.Home.Root()).All()
	files = slices.DeleteFunc(files, f.unused(clones))
	slices.SortStableFunc(files, func(a, b transcript.File) int {
		return strings.Compare(clones[a.ID].Created, clones[b.ID].Created)
	})
	return files, err
}

// Unused tells the clones that nobody used since they were made, unless their source is
// gone.
func (f Finder) Unused() func(transcript.File) bool {
	return f.unused(compress.ClonesIn(f.Home.Root()).All())
}

func (f Finder) unused(clones map[string]compress.CloneRecord) func(transcript.File) bool {
	return func(file transcript.File) bool {
		c, ours := clones[file.ID]
		return ours && unused(c, file) && !f.isGone(c)
	}
}

// unused says that nobody used a clone since it was made. Where the file that is listed
// is our mirror of the host's, the host's own tells. Of a session in a host's database
// it is known when it was changed last.
func unused(c compress.CloneRecord, file transcript.File) bool {
	switch {
	case c.Path == file.Path || !host.Of(file.Host).Mirrored:
		return c.Size == file.Size
	case c.Path == "":
		made, err := time.Parse(time.RFC3339, c.Created)
		return err == nil && !file.ModTime.After(made.Add(importing))
	}
	info, err := os.Stat(c.Path)
	return err == nil && info.Size() == c.Size
}

// importing is how long a host may take to import a session, and more.
const importing = time.Minute

// newest are the hosts' sessions that somebody used, the newest first.
func (f Finder) newest() ([]transcript.File, error) {
	files, err := transcript.List(f.Dir)
	return slices.DeleteFunc(files, f.Unused()), err
}
