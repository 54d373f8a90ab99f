package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// File is a session file that was found but not read.
type File struct {
	Path    string
	Host    Host
	ID      string
	Folder  string // the project's, where the host sorts by projects
	Size    int64
	ModTime time.Time
	// Last is when its newest line was written; only [List] tells it.
	Last  time.Time
	Inode uint64 // 0 where the system has none
	// Agent: a sub-agent's file, listed by [Everything] only. Parent is the
	// session that started it, where its place tells.
	Agent  bool
	Parent string
}

// List finds the hosts' sessions, newest first; dir is the folder of a host's own
// files. Folders that do not exist hold none. Sub-agents' files are left out. The age
// of a session is that of its newest line, as a copied file has the day of the copy.
func List(dir func(*host.Host) string) ([]File, error) {
	files, err := sessions(dir)
	for i := range files {
		files[i].Last = ended(&files[i])
	}
	slices.SortStableFunc(files, func(a, b File) int { return b.Last.Compare(a.Last) })
	return files, err
}

func sessions(dir func(*host.Host) string) ([]File, error) {
	files, err := Everything(dir)
	return slices.DeleteFunc(files, func(f File) bool { return f.Agent }), err
}

// ended is when the newest line was written that has a time; where none has, the file's.
func ended(file *File) time.Time {
	f, size, err := open(file.Path)
	if err != nil {
		return file.ModTime
	}
	defer f.Close()
	if ms := TimeBefore(f, size, file.Host); ms > 0 {
		return Time(ms)
	}
	return file.ModTime
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ErrNotFound is the error of a session that is not there.
var ErrNotFound = errors.New("no such session")

// Ambiguous is the error of a prefix that several sessions have.
type Ambiguous struct {
	Prefix string
	IDs    []string
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%q matches %d sessions: %s", e.Prefix, len(e.IDs), strings.Join(e.IDs[:min(4, len(e.IDs))], ", "))
}

// Resolve finds the session that a person means: an id, the unique beginning
// of one, or a path.
func Resolve(ref string, dir func(*host.Host) string) (File, error) {
	if strings.ContainsAny(ref, `/\`) || strings.HasSuffix(ref, ".jsonl") {
		return At(ref)
	}
	ref = strings.TrimSuffix(ref, "…") // as lists cut an id
	files, err := sessions(dir)
	if ref == "" {
		return File{}, ErrNotFound
	}
	var found []File
	for _, f := range files {
		if f.ID == ref {
			return f, nil
		}
		if strings.HasPrefix(f.ID, ref) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 0:
		if _, statErr := os.Stat(ref); statErr == nil {
			return At(ref)
		}
		return File{}, errors.Join(fmt.Errorf("%w: %s", ErrNotFound, ref), err)
	case 1:
		return found[0], nil
	}
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	return File{}, &Ambiguous{ref, ids}
}

// At is the session in a file.
func At(path string) (File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return File{}, err
	}
	f, size, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, fmt.Errorf("%w: %s", ErrNotFound, path)
	}
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h, err := hostIn(f)
	if err != nil {
		return File{}, fmt.Errorf("read %s: %w", path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	folder := filepath.Base(filepath.Dir(path))
	return File{Path: path, Host: h, ID: idFromName(path, h), Folder: folder, Size: size, ModTime: info.ModTime()}, nil
}

// Everything lists all files with conversations, newest first: those of [List],
// and sub-agents', which lie deeper or beside them under names of their own.
func Everything(dir func(*host.Host) string) ([]File, error) {
	var files []File
	var errs []error
	for _, h := range host.All() {
		for _, folder := range h.Sessions.Folders() {
			found, err := everythingIn(h, filepath.Join(dir(h), folder))
			files, errs = append(files, found...), append(errs, err)
		}
	}
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	return files, errors.Join(errs...)
}

func everythingIn(h *host.Host, root string) ([]File, error) {
	var files []File
	var errs []error
	// With a slash at its end a folder that is a link is followed.
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		if err != nil && h.Mirrored && len(path) <= len(root)+1 {
			return nil // whoever mirrors says why there is none
		}
		if err != nil {
			errs = append(errs, ignoreMissing(err))
			return nil // one folder that is closed to us hides no other
		}
		if e.IsDir() || !strings.HasSuffix(path, ".jsonl") || !strings.HasPrefix(e.Name(), h.Sessions.Prefix) {
			return nil
		}
		rel := filepath.ToSlash(path[len(root)+1:])
		folder, rest, _ := strings.Cut(rel, "/")
		main := strings.Count(rel, "/") <= h.Sessions.Depth && h.Sessions.Match(e.Name())
		if main {
			folder = ""
			if h.Sessions.ByProject && strings.Contains(rel, "/") {
				folder = pathpkg.Dir(rel)
			}
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // gone since
		}
		f := File{
			Path: path, Host: h.Name, ID: idFromName(path, h.Name), Folder: folder, Agent: !main,
			Size: info.Size(), ModTime: info.ModTime(), Inode: inode(info),
		}
		if parent, _, below := strings.Cut(rest, "/"); below && !main {
			f.Parent = parent
		}
		files = append(files, f)
		return nil
	})
	return files, errors.Join(append(errs, err)...)
}

// FirstCWD is the folder that a session was started in, as the head of its file tells;
// "" where it does not.
func FirstCWD(path string) string {
	head, _ := bytesAt(path, 0, 1<<20)
	for line := range bytes.Lines(head) {
		if !bytes.Contains(line, []byte(`"cwd"`)) || !store.ValidJSON(line) {
			continue
		}
		for _, key := range [...]string{"cwd", "payload.cwd", "data.context.cwd"} {
			if v := gjson.GetBytes(line, key); v.Type == gjson.String && v.Str != "" {
				return v.Str
			}
		}
	}
	return ""
}
