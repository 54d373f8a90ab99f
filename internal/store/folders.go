package store

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
)

// Folders are where a user's files lie, as the environment says. All are
// absolute.
type Folders struct {
	User   string // the home folder; "" where the environment names none
	Root   string // $OVERTONE_HOME, else ~/.overtone
	Claude string // $CLAUDE_CONFIG_DIR, else ~/.claude; see [Folders.WithoutClaude]
	// ShownClaude is Claude as models are told it: the short form where it is
	// the usual place.
	ShownClaude string

	getenv func(string) string
}

// Find is the folder that a variable names, else the usual one below the home.
func (f Folders) Find(variable, usual string) string {
	return absolute(cmp.Or(f.getenv(variable), filepath.Join(f.User, usual)))
}

// Short is a path as people are shown it: with ~ where it is below the home.
func (f Folders) Short(path string) string {
	if rel, err := filepath.Rel(f.User, path); f.User != "" && err == nil && rel != "." && filepath.IsLocal(rel) {
		return "~" + string(filepath.Separator) + rel
	}
	return path
}

// usualClaude is what models are told while nobody chose another folder.
const usualClaude = "~/.claude"

// FindFolders reads the environment. Without a home folder it fails unless the
// folders that hooks write to are named: whatever folder we are in is not a
// place for our files.
func FindFolders(getenv func(string) string) (Folders, error) {
	user := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	f := Folders{User: user, ShownClaude: usualClaude, getenv: getenv}
	f.Root, f.Claude = f.Find("OVERTONE_HOME", ".overtone"), f.Find("CLAUDE_CONFIG_DIR", ".claude")
	if f.Claude != absolute(filepath.Join(user, ".claude")) {
		f.ShownClaude = f.Claude
	}
	if user == "" && (getenv("OVERTONE_HOME") == "" || getenv("CLAUDE_CONFIG_DIR") == "") {
		return f, errors.New("HOME is not set")
	}
	if isFolder(f.stages()) {
		f = f.WithoutClaude()
	}
	return f, nil
}

// WithoutClaude are the folders as other hosts than Claude Code have them: where that
// was never used, reports of stages lie in our own folder.
func (f Folders) WithoutClaude() Folders {
	if f.getenv("CLAUDE_CONFIG_DIR") == "" && !isFolder(f.Claude) {
		f.Claude, f.ShownClaude = f.stages(), f.stages()
	}
	return f
}

func (f Folders) stages() string { return filepath.Join(f.Root, "stages") }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func absolute(path string) string {
	if p, err := filepath.Abs(path); err == nil {
		return p
	}
	return path
}
