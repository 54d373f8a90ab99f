package shellcmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// errNoRepo says that a directory is not inside a git repository.
var errNoRepo = errors.New("not a git repository")

const (
	maxLog    = 64 << 10 // tail of the reflog that is read
	maxPacked = 16 << 20
	maxConfig = 256 << 10
)

// Head is where a repository stands.
type Head struct {
	// GitDir is the repository's own directory, of the worktree where there
	// are several.
	GitDir string
	// Hash is the commit, "" before the first one.
	Hash string
	// LogSize is the size of HEAD's reflog in bytes, 0 without one.
	LogSize int64
	// Log holds its last entries, oldest first.
	Log []logEntry
}

// logEntry is one line of HEAD's reflog.
type logEntry struct {
	Offset  int64 // of its line in the file
	New     string
	Time    time.Time
	Action  string // "commit (amend)", "checkout", …
	Subject string
}

// isCommit reports whether git commit wrote the entry.
func (e logEntry) isCommit() bool {
	return e.Action == "commit" || strings.HasPrefix(e.Action, "commit (")
}

// Mark is what to remember of a Head to see later what happened since.
type Mark struct {
	GitDir  string `json:"gitDir"`
	Hash    string `json:"hash,omitempty"`
	LogSize int64  `json:"logSize,omitempty"`
}

// mark returns the head's mark.
func (h Head) mark() Mark { return Mark{GitDir: h.GitDir, Hash: h.Hash, LogSize: h.LogSize} }

// ReadHead reads where the repository around dir stands, from its files alone.
// dir may also be a git directory itself. Repositories that keep their
// references in a reftable are not understood and give an error.
func ReadHead(dir string) (Head, error) {
	gitDir, err := findGitDir(dir)
	if err != nil {
		return Head{}, fmt.Errorf("read head of %s: %w", dir, err)
	}
	h := Head{GitDir: gitDir}
	ref, hash, err := readRef(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return Head{}, fmt.Errorf("read head of %s: %w", dir, err)
	}
	if ref == "refs/heads/.invalid" {
		return Head{}, fmt.Errorf("read head of %s: reftable: %w", dir, errors.ErrUnsupported)
	}
	h.Hash = hash
	common := commonDir(gitDir)
	for range 5 {
		if ref == "" {
			break
		}
		if !filepath.IsLocal(ref) {
			return Head{}, fmt.Errorf("read head of %s: odd reference %q", dir, ref)
		}
		next, hash, err := readRef(filepath.Join(common, filepath.FromSlash(ref)))
		if err != nil {
			h.Hash = packedRef(common, ref)
			break
		}
		ref, h.Hash = next, hash
	}
	h.readLog()
	return h, nil
}

// findGitDir looks for .git in dir and above it, as git does.
func findGitDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if isGitDir(dir) {
		return dir, nil
	}
	for ; ; dir = filepath.Dir(dir) {
		dot := filepath.Join(dir, ".git")
		info, err := os.Stat(dot)
		switch {
		case err == nil && info.IsDir() && isGitDir(dot):
			return dot, nil
		case err == nil && info.Mode().IsRegular():
			return linkedGitDir(dot)
		case dir == filepath.Dir(dir):
			return "", errNoRepo
		}
	}
}

func isGitDir(dir string) bool {
	// A link that leads nowhere yet names a branch without commits.
	info, err := os.Lstat(filepath.Join(dir, "HEAD"))
	if err != nil || info.IsDir() {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, "refs"))
	if err != nil {
		_, err = os.Stat(filepath.Join(dir, "commondir"))
	}
	return err == nil
}

// linkedGitDir follows the .git file of a worktree or submodule.
func linkedGitDir(file string) (string, error) {
	data, err := config.ReadFile(file, 4096)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if !ok {
		return "", errNoRepo
	}
	target = strings.TrimSpace(target)
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(file), target)
	}
	if !isGitDir(target) {
		return "", errNoRepo
	}
	return filepath.Clean(target), nil
}

func commonDir(gitDir string) string {
	data, err := config.ReadFile(filepath.Join(gitDir, "commondir"), 4096)
	if err != nil {
		return gitDir
	}
	dir := strings.TrimSpace(string(data))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(gitDir, dir)
	}
	return dir
}

// readRef reads a reference: either the name it points to or a hash.
func readRef(file string) (ref, hash string, err error) {
	data, err := config.ReadFile(file, 4096)
	if err != nil {
		return "", "", err
	}
	text := strings.TrimSpace(string(data))
	if ref, ok := strings.CutPrefix(text, "ref:"); ok {
		return strings.TrimSpace(ref), "", nil
	}
	if !isHash(text) {
		return "", "", fmt.Errorf("%s holds no reference", filepath.Base(file))
	}
	return "", text, nil
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func packedRef(common, ref string) string {
	f, err := openRegular(filepath.Join(common, "packed-refs"))
	if err != nil {
		return ""
	}
	defer f.Close()
	sc := bufio.NewScanner(io.LimitReader(f, maxPacked))
	for sc.Scan() {
		hash, name, ok := strings.Cut(sc.Text(), " ")
		if ok && name == ref && isHash(hash) {
			return hash
		}
	}
	return ""
}

func (h *Head) readLog() {
	f, err := openRegular(filepath.Join(h.GitDir, "logs", "HEAD"))
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	h.LogSize = info.Size()
	from := max(0, h.LogSize-maxLog)
	data, err := io.ReadAll(io.NewSectionReader(f, from, h.LogSize-from))
	if err != nil {
		return
	}
	if from > 0 {
		i := bytes.IndexByte(data, '\n') + 1
		data, from = data[i:], from+int64(i)
	}
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			// The writer is not done with this line.
			h.LogSize = from
			return
		}
		if e, ok := parseLogLine(string(data[:i])); ok {
			e.Offset = from
			h.Log = append(h.Log, e)
		}
		data, from = data[i+1:], from+int64(i)+1
	}
}

// parseLogLine reads "old new name <mail> seconds zone\taction: subject".
func parseLogLine(line string) (logEntry, bool) {
	head, msg, _ := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if len(f) < 4 || !isHash(f[0]) || !isHash(f[1]) {
		return logEntry{}, false
	}
	secs, err := strconv.ParseInt(f[len(f)-2], 10, 64)
	if err != nil {
		return logEntry{}, false
	}
	e := logEntry{New: f[1], Time: time.Unix(secs, 0)}
	e.Action, e.Subject, _ = strings.Cut(msg, ": ")
	return e, true
}

func openRegular(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	// Opening a named pipe would hang.
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), fs.ErrInvalid)
	}
	return os.Open(file)
}
