package store

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// commitsFile keeps which session was about to commit where, and whose each commit
// is: several may work in one folder, and the repository's log does not say who made
// a commit.
const commitsFile = "commits.jsonl"

// maxCommitsFile bounds it. What is lost with the old half is hours old.
const maxCommitsFile = 64 << 10

// Commit is a line of it: what a session's command is about to commit, or, once Over,
// what it has.
type Commit struct {
	Session string    `json:"session"`
	Command string    `json:"command,omitempty"` // the host's name for that use of the shell
	GitDir  string    `json:"gitDir,omitempty"`
	Subject string    `json:"subject,omitempty"` // "" where it is not known yet
	At      time.Time `json:"at"`
	Over    bool      `json:"over,omitempty"`
	Hashes  []string  `json:"hashes,omitempty"`
}

func (c Commit) same(o Commit) bool { return c.Session == o.Session && c.Command == o.Command }

// has reports whether the commit is among those of a line. What git prints is the
// head of a hash.
func (c Commit) has(hash string) bool {
	return slices.ContainsFunc(c.Hashes, func(h string) bool { return strings.HasPrefix(h, hash) || strings.HasPrefix(hash, h) })
}

// Announce says that a session is about to commit, before it does.
func (h *Home) Announce(list ...Commit) error {
	unlock, err := h.lockCommits()
	if err != nil {
		return err
	}
	defer unlock()
	return h.appendCommits(list...)
}

// Claim says that a command is over, or how far it has come, and which commits it has
// made. A commit belongs to the first command that claims it, for good; mine are those
// of c that nobody else has claimed. Where the claim cannot be written down, all of them
// are mine: a commit that counts twice is better than one that counts for nobody.
func (h *Home) Claim(c Commit) (mine []string, err error) {
	mine = c.Hashes
	unlock, err := h.lockCommits()
	if err != nil {
		return mine, err
	}
	defer unlock()
	open, told := false, 0
	for _, o := range h.commits() {
		if !o.same(c) {
			mine = slices.DeleteFunc(slices.Clone(mine), o.has)
			continue
		}
		open = !o.Over && (open || len(o.Hashes) == 0)
		told += len(o.Hashes)
	}
	if told >= len(mine) && !(open && c.Over) {
		return mine, nil
	}
	c.Hashes = mine
	return mine, h.appendCommits(c)
}

func (h *Home) lockCommits() (unlock func(), err error) {
	if err := os.MkdirAll(h.root, dirPerm); err != nil {
		return nil, err
	}
	f, err := h.openLocked(filepath.Join(h.root, commitsFile+".lock"), blocking)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

func (h *Home) appendCommits(list ...Commit) error {
	var lines []byte
	for _, c := range list {
		lines = append(append(lines, EncodeJSON(c)...), '\n')
	}
	path := filepath.Join(h.root, commitsFile)
	if info, err := os.Lstat(path); err == nil && (!info.Mode().IsRegular() || info.Size() > maxCommitsFile) {
		old, _ := config.ReadFile(path, 2*maxCommitsFile)
		_, newer, _ := bytes.Cut(old[len(old)/2:], []byte("\n"))
		return AtomicWrite(path, append(newer, lines...), 0o600)
	}
	return AppendLines(path, lines)
}

// Announced are the commits that sessions are about to make in a repository: those
// whose commands are over are not among them.
func (h *Home) Announced(gitDir string) (list []Commit) {
	for _, c := range h.commits() {
		switch {
		case c.Over:
			list = slices.DeleteFunc(list, c.same)
		case c.GitDir == gitDir && len(c.Hashes) == 0:
			list = append(list, c)
		}
	}
	return list
}

func (h *Home) commits() (list []Commit) {
	data, err := config.ReadFile(filepath.Join(h.root, commitsFile), 2*maxCommitsFile)
	if err != nil {
		return nil // then nobody has said anything
	}
	for line := range bytes.Lines(data) {
		var c Commit
		if json.Unmarshal(line, &c) == nil {
			list = append(list, c)
		}
	}
	return list
}
