package store

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// commitsFile keeps which session was about to commit where: several may work in
// one folder, and the repository's log does not say who made a commit.
const commitsFile = "commits.jsonl"

// maxCommitsFile bounds it. What is lost with the old half is hours old.
const maxCommitsFile = 64 << 10

// Commit is one that a session is about to make.
type Commit struct {
	Session string    `json:"session"`
	GitDir  string    `json:"gitDir"`
	Subject string    `json:"subject,omitempty"` // "" where it is not known yet
	At      time.Time `json:"at"`
}

// Announce says that a session is about to commit, before it does.
func (h *Home) Announce(list ...Commit) error {
	var lines []byte
	for _, c := range list {
		data, err := json.Marshal(c)
		if err != nil {
			return err
		}
		lines = append(append(lines, data...), '\n')
	}
	path := filepath.Join(h.root, commitsFile)
	if info, err := os.Lstat(path); err == nil && (!info.Mode().IsRegular() || info.Size() > maxCommitsFile) {
		// Two at once lose a line that nobody may ever ask for.
		old, _ := config.ReadFile(path, 2*maxCommitsFile)
		return AtomicWrite(path, append(newerHalf(old), lines...), 0o600)
	}
	if err := os.MkdirAll(h.root, dirPerm); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|openFlags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func newerHalf(data []byte) []byte {
	_, rest, _ := bytes.Cut(data[len(data)/2:], []byte("\n"))
	return rest
}

// Announced are the commits that sessions were about to make in a repository.
func (h *Home) Announced(gitDir string) (list []Commit) {
	data, err := config.ReadFile(filepath.Join(h.root, commitsFile), 2*maxCommitsFile)
	if err != nil {
		return nil // then nobody has said anything
	}
	for line := range bytes.Lines(data) {
		var c Commit
		if json.Unmarshal(line, &c) == nil && c.GitDir == gitDir {
			list = append(list, c)
		}
	}
	return list
}
