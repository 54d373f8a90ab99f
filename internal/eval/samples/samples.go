// Package samples finds recorded sessions, which tests and measurements use where they
// are at hand. They are not part of the repository: $OVERTONE_SAMPLES names their folder.
package samples

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Folder is where the samples are looked for. A path that is not absolute begins at the
// module's root, wherever the program runs.
func Folder() string {
	dir := os.Getenv("OVERTONE_SAMPLES")
	if dir == "" {
		dir = filepath.Join("..", "shared", "samples")
	}
	if filepath.IsAbs(dir) {
		return dir
	}
	root, err := os.Getwd()
	if err != nil {
		return dir
	}
	for at := root; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			root = at
			break
		}
	}
	return filepath.Join(root, dir)
}

// Find lists the samples that patterns such as real/*.jsonl match, in that order; none
// where there are none.
func Find(patterns ...string) (paths []string) {
	for _, pattern := range patterns {
		more, _ := filepath.Glob(filepath.Join(Folder(), filepath.FromSlash(pattern))) // the patterns are ours
		paths = append(paths, more...)
	}
	return paths
}

// Session is a recorded session of somebody else's.
type Session struct {
	Path    string
	Project string // owner/name
	Host    string // claude, codex, opencode, gemini, copilot
	ID, CWD string
	// Where it was found: the path and object of a commit.
	Source, Blob, Commit, Licence, Version string
}

// Corpus are the sessions of $OVERTONE_CORPUS, else of the folder corpus beside the
// samples, as its index.json lists them; none where there is none.
func Corpus() (list []Session) {
	dir := os.Getenv("OVERTONE_CORPUS")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(Folder()), "corpus")
	}
	data, err := os.ReadFile(filepath.Join(dir, "index.json"))
	var rows []struct{ File, Repo, Host, SID, CWD, Path, Blob, Commit, Licence, Version string }
	if err != nil || json.Unmarshal(data, &rows) != nil {
		return nil
	}
	for _, r := range rows {
		list = append(list, Session{Path: filepath.Join(dir, filepath.FromSlash(r.File)), Project: r.Repo, Host: r.Host, ID: r.SID, CWD: r.CWD, Source: r.Path, Blob: r.Blob, Commit: r.Commit, Licence: r.Licence, Version: r.Version})
	}
	return list
}

// Name is a sample's, without the endings of its file.
func Name(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".jsonl")
}

// Read is the text of a sample, unpacked.
func Read(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(z)
	}
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", path, err)
	}
	return data, nil
}
