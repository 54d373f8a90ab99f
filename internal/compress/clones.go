package compress

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// CloneRecord is what is remembered of a clone that was made here. The marks in
// a session file do not prove that it is one: hosts copy them into forks.
type CloneRecord struct {
	Schema  int    `json:"schema"`
	ID      string `json:"id"`
	Source  string `json:"source"` // id of the session it was made from
	From    string `json:"sourcePath,omitempty"`
	Host    string `json:"host"`
	Path    string `json:"path"`             // "" where its agent keeps it in a database
	Size    int64  `json:"size"`             // as it was made; a larger file was used since
	Tokens  int64  `json:"tokens,omitempty"` // what its host will report, where that is known
	Created string `json:"created"`
	CWD     string `json:"cwd,omitempty"` // where it goes on, also where its lines name a folder that is gone
	// Removed says that the clone is gone and its originals are not, NeededBy for
	// which session they stay.
	Removed  bool   `json:"removed,omitempty"`
	NeededBy string `json:"neededBy,omitempty"`
}

// Clones is the folder with a file for each clone.
type Clones string

// ClonesIn is the list of clones below our folder.
func ClonesIn(root string) Clones { return Clones(filepath.Join(root, "clones")) }

// Add remembers a clone.
func (d Clones) Add(c CloneRecord) error {
	c.Schema = 1
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	return store.AtomicWrite(d.path(c.ID), append(b, '\n'), 0o600)
}

// All are the clones that were made here, by id. Some may be gone.
func (d Clones) All() map[string]CloneRecord {
	all := map[string]CloneRecord{}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return all
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(string(d), e.Name()))
		var c CloneRecord
		if err == nil && json.Unmarshal(b, &c) == nil && e.Name() == c.ID+".json" {
			all[c.ID] = c
		}
	}
	return all
}

// Standing are the ids of those that are still there, sorted.
func (d Clones) Standing() []string {
	all := d.All()
	maps.DeleteFunc(all, func(_ string, c CloneRecord) bool {
		return c.Path == "" && c.Removed || c.Path != "" && missing(c.Path)
	})
	return slices.Sorted(maps.Keys(all))
}

func (d Clones) forget(id string) error { return os.Remove(d.path(id)) }

func (d Clones) path(id string) string {
	return filepath.Join(string(d), strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' {
			return '-'
		}
		return r
	}, id)+".json")
}
