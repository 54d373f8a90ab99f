package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// removed is a clone that RemoveClones took away.
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
		file, err := f.Resolve(ref)
		if err != nil {
			return err
		}
		c, ours := clones[file.ID]
		switch {
		case !ours || c.Path != file.Path:
			return message.WithHint(message.Fail(message.RmNoClone, file.ID), message.HintRmNoClone)
		case file.Size != c.Size && !force:
			return message.WithHint(message.Fail(message.RmUsed, file.ID, message.Bytes(file.Size), message.Bytes(c.Size)), message.HintRmUsed)
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
		if err := os.Remove(r.Path); err != nil {
			return err
		}
		if err := list.Forget(r.ID); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if done = append(done, r); !t.JSON {
			t.Say(message.RmDone, r.ID, message.Bytes(r.Size))
		}
	}
	if t.JSON {
		return t.PrintJSON(struct {
			Schema  int       `json:"schema"`
			Removed []removed `json:"removed"`
		}{1, done})
	}
	return nil
}
