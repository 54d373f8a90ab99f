package prompt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

const (
	inProgress = "specs/features/in-progress"
	tasksFile  = "tasks.md"
	maxTasks   = 1 << 20
)

// Feature is a folder under specs/features/in-progress and its task list.
type Feature struct {
	Name           string
	Total, Checked int
	Unchecked      []string // texts of the open tasks, in the order of the file
	InProgress     []string // every feature in progress, sorted; more than one is worth a warning
}

// ActiveFeature returns the feature that a session works on: the one it prefers
// if that is in progress, else the alphabetically first. It is false when none
// is. A feature without a task list has no tasks.
//
// Nothing outside projectRoot is read, whatever links say.
func ActiveFeature(projectRoot, prefer string) (Feature, bool, error) {
	root, err := os.OpenRoot(projectRoot)
	if errors.Is(err, fs.ErrNotExist) {
		return Feature{}, false, nil
	}
	if err != nil {
		return Feature{}, false, fmt.Errorf("open project: %w", err)
	}
	defer root.Close()

	names, err := features(root)
	if err != nil || len(names) == 0 {
		return Feature{}, false, err
	}
	f := Feature{Name: names[0], InProgress: names}
	if slices.Contains(names, prefer) {
		f.Name = prefer
	}
	src, err := readTasks(root, path.Join(inProgress, f.Name, tasksFile))
	if errors.Is(err, fs.ErrNotExist) {
		return f, true, nil
	}
	if err != nil {
		return Feature{}, false, fmt.Errorf("read tasks of feature %s: %w", f.Name, err)
	}
	t := parseTasks(src)
	f.Checked, f.Unchecked = t.checked, t.unchecked
	// They are text of the repository, to be shown beside words of ours: one line
	// each, of a length that leaves room for others.
	for i, task := range f.Unchecked {
		f.Unchecked[i] = shown(task, maxTask)
	}
	f.Total = t.checked + len(t.unchecked)
	return f, true, nil
}

// maxTask and maxName bound, in UTF-16 units, what is shown of a task and of the
// name of a feature.
const (
	maxTask = 600
	maxName = 100
)

// shown is a text of the repository as it stands beside our own.
func shown(s string, limit int) string {
	// A text of a megabyte need not be read to its end.
	s = message.OneLine(s[:min(len(s), 8*limit)])
	if message.Units(s) > limit {
		s = message.Cut(s, limit-1) + "…"
	}
	return s
}

// Shown is the name of a feature as people and models read it.
func Shown(name string) string { return shown(name, maxName) }

func features(root *os.Root) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), inProgress)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list features: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil // sorted, as they are read
}

// readTasks refuses what is no file before it opens it: a pipe would block the
// hook for ever.
func readTasks(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxTasks+1))
	if err == nil && len(src) > maxTasks {
		err = fmt.Errorf("larger than %d KiB", maxTasks>>10)
	}
	return src, err
}

// FeatureDir is the folder of a feature in progress.
func FeatureDir(projectRoot, feature string) string {
	return filepath.Join(projectRoot, filepath.FromSlash(inProgress), filepath.Base(feature))
}

// TickTask ticks a stage in the task list of a feature in progress (see [tick]).
// The file is replaced in one step and keeps its mode; a link is never written
// through. Callers that may tick at the same time hold a lock.
func TickTask(projectRoot, feature, stage string) (ticked bool, err error) {
	defer func() {
		if err != nil {
			ticked, err = false, fmt.Errorf("tick %s of feature %s: %w", stage, feature, err)
		}
	}()
	if feature == "" || strings.HasPrefix(feature, ".") || strings.ContainsAny(feature, `/\`) {
		return false, errors.New("not a feature name")
	}
	root, err := os.OpenRoot(projectRoot)
	if err != nil {
		return false, err
	}
	defer root.Close()
	name := path.Join(inProgress, feature, tasksFile)
	info, err := root.Lstat(name)
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, errors.New("not a regular file")
	}
	src, err := readTasks(root, name)
	if err != nil {
		return false, err
	}
	out, ticked := tick(src, stage)
	if !ticked {
		return false, nil
	}
	return true, replace(root, name, out, info.Mode().Perm())
}

func replace(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	tmp := name + ".tmp"
	// A leftover or planted link of that name must not be written through.
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	// The file is a person's: its mode is not for our umask to narrow.
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		root.Remove(tmp)
	}
	return err
}
