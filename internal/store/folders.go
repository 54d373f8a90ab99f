package store

import (
	"errors"
	"path/filepath"
)

// Folders are where a user's files lie, as the environment says. All are
// absolute.
type Folders struct {
	User   string // the home folder; "" where the environment names none
	Root   string // $OVERTONE_HOME, else ~/.overtone
	Claude string // $CLAUDE_CONFIG_DIR, else ~/.claude
	Codex  string // $CODEX_HOME, else ~/.codex
	// ShownClaude is Claude as models are told it: the short form where it is
	// the usual place.
	ShownClaude string
}

// usualClaude is what models are told while nobody chose another folder.
const usualClaude = "~/.claude"

// FindFolders reads the environment. Without a home folder it fails unless the
// folders that hooks write to are named: whatever folder we are in is not a
// place for our files.
func FindFolders(getenv func(string) string) (Folders, error) {
	user := getenv("HOME")
	if user == "" {
		user = getenv("USERPROFILE")
	}
	find := func(variable, usual string) string {
		dir := getenv(variable)
		if dir == "" {
			dir = filepath.Join(user, usual)
		}
		return absolute(dir)
	}
	f := Folders{
		User: user, Root: find("OVERTONE_HOME", ".overtone"), Claude: find("CLAUDE_CONFIG_DIR", ".claude"),
		Codex: find("CODEX_HOME", ".codex"), ShownClaude: usualClaude,
	}
	if f.Claude != absolute(filepath.Join(user, ".claude")) {
		f.ShownClaude = f.Claude
	}
	if user == "" && (getenv("OVERTONE_HOME") == "" || getenv("CLAUDE_CONFIG_DIR") == "") {
		return f, errors.New("HOME is not set")
	}
	return f, nil
}

func absolute(path string) string {
	if p, err := filepath.Abs(path); err == nil {
		return p
	}
	return path
}
