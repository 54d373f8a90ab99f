package carry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Made is a session that was made.
type Made struct {
	ID string
	// Path is its file, "" where the agent keeps it in a database.
	Path string
	Took time.Duration // the agent's own import, where it has one
}

// Make writes a talk as a session of the target and puts it on the list of clones.
func (t Target) Make(ctx context.Context, w World, told *Retold, source transcript.File, list compress.Clones) (made Made, err error) {
	defer func() {
		if err != nil {
			told.short.Drop()
		}
	}()
	talk := told.Talk
	talk.ID = transcript.NewID(t.Name, talk.Now) // an agent that imports may choose another
	data, err := t.write(w, talk)
	if err != nil {
		return made, err
	}
	record := compress.CloneRecord{
		Source: source.ID, From: source.Path, Host: string(t.Name), Tokens: int64(told.After), Created: talk.Now.UTC().Format(time.RFC3339),
	}
	register := func() error {
		if err := told.short.Keep(made.ID); err != nil {
			return err
		}
		record.ID, record.Path = made.ID, made.Path
		return list.Add(record)
	}
	if t.path == nil {
		if made, err = t.imported(ctx, w, talk, data); err != nil {
			return made, err
		}
		if info, err := os.Stat(made.Path); err == nil {
			record.Size = info.Size()
		}
		return made, register()
	}
	made = Made{ID: talk.ID, Path: t.path(w, talk)}
	if err := os.MkdirAll(filepath.Dir(made.Path), 0o700); err != nil {
		return Made{}, err
	}
	if _, err := os.Lstat(made.Path); err == nil {
		return Made{}, fmt.Errorf("%s already exists", made.Path)
	}
	// On the list first: without its record it would be taken for somebody's session.
	record.Size = int64(len(data))
	if err := register(); err != nil {
		return Made{}, err
	}
	if err := store.AtomicWrite(made.Path, data, 0o600); err != nil {
		return Made{}, err
	}
	return made, t.after(w, talk, made.Path)
}

// imported has the agent's own program take the session.
func (t Target) imported(ctx context.Context, w World, talk Talk, data []byte) (made Made, err error) {
	dir, err := os.MkdirTemp("", "overtone-continue-")
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "session.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return made, err
	}
	begin := time.Now() //nolint:forbidigo // how long it takes, not when
	made.ID, made.Path, err = t.bring(ctx, w, talk, file)
	made.Took = time.Since(begin)
	return made, err
}
