package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Everything of a session but its workflow.json is derived, or short-lived. What
// stands in the way of such a file (a folder, a link, a file that is too large or
// not ours to read) is set aside, told once, and the file begun anew: it must not
// stop a session.

// damagedMark is what the names of files that were set aside have in common.
const damagedMark = ".damaged-"

var errTooLarge = errors.New("too large")

// OnRepair has f called for each file that is set aside.
func (h *Home) OnRepair(f func(error)) { h.repaired = f }

// damaged reports whether the file itself is the reason of an error, and not the
// disk, or a limit of the process: those pass, and the file is good.
func damaged(path string, err error) bool {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	info, stat := os.Lstat(path)
	if stat != nil {
		return false
	}
	return !info.Mode().IsRegular() || errors.Is(err, fs.ErrPermission) || errors.Is(err, errTooLarge)
}

// setAside moves what stands at path out of the way if it is the reason of why,
// and reports whether it did.
func (h *Home) setAside(path string, why error) bool {
	if !damaged(path, why) {
		return false
	}
	_, err := h.moveAside(path, why)
	return err == nil
}

// moveAside gives a file another name, so that nothing reads it any more and nothing of
// it is lost, and tells why.
func (h *Home) moveAside(path string, why error) (aside string, err error) {
	aside = path + damagedMark + h.now().UTC().Format("20060102-150405.000000000")
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	if h.repaired != nil {
		h.repaired(fmt.Errorf("%s is set aside as %s: %w", filepath.Base(path), filepath.Base(aside), why))
	}
	return aside, nil
}

// SetAside moves a file of the session, whose content is of no use, out of the
// way, and returns its new path.
func (tx *Tx) SetAside(name string, why error) (string, error) {
	if err := checkWritable(name); err != nil {
		return "", err
	}
	return tx.s.home.moveAside(tx.s.path(name), why)
}

// derived does something to a derived file, once more where what stood in its place was
// set aside.
func (h *Home) derived(path string, do func() error) error {
	err := do()
	if err != nil && h.setAside(path, err) {
		err = do()
	}
	return err
}

// writeDerived replaces a derived file, whatever stands in its place.
func (h *Home) writeDerived(path string, data []byte) error {
	return h.derived(path, func() error { return writeLoose(path, data) })
}

// openDerived opens a derived file for reading and appending, whatever stands in
// its place.
func (h *Home) openDerived(path string) (f *os.File, info fs.FileInfo, err error) {
	err = h.derived(path, func() (err error) {
		f, info, err = openAs(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
		return err
	})
	return f, info, err
}

// readDerived reads a derived file; one that cannot be read is set aside, and is
// then [fs.ErrNotExist].
func (h *Home) readDerived(path string, limit int64) (data []byte, err error) {
	err = h.derived(path, func() (err error) {
		data, err = readFile(path, limit)
		return err
	})
	return data, err
}

// tempAge is how old a temporary file is that nobody will rename any more.
const tempAge = time.Hour

// SweepTemp removes from a folder what interrupted writes of ours left.
func SweepTemp(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		// The folder may be a person's: their own names do not end in a random number.
		number := name[strings.LastIndexByte(name, '-')+1:]
		_, err := strconv.ParseUint(strings.TrimSuffix(number, ".tmp"), 10, 64)
		if err != nil || !e.Type().IsRegular() || !strings.HasPrefix(name, ".") || !strings.Contains(name, tempMark) {
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > tempAge {
			_ = os.Remove(filepath.Join(dir, name)) // another day
		}
	}
}

// RealFolder makes sure that path, a folder of ours below root, is made of folders
// all the way and of no link, as far as it exists.
func RealFolder(root, path string) error {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is not below %s", path, root)
	}
	at := root
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if err := realDir(at); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// LockFolder takes the lock of a folder that is not ours, for instance that of a
// task list, without leaving anything in it. It waits no longer than a second, and
// is no lock at all where the system has none for folders.
func LockFolder(path string) (unlock func(), err error) {
	return lockFolder(path, func(f *os.File) (bool, error) { return lockWithin(f, time.Second) })
}

// TryLockFolder is LockFolder without waiting.
func TryLockFolder(path string) (unlock func(), err error) { return lockFolder(path, tryLock) }

func lockFolder(path string, lock func(*os.File) (bool, error)) (unlock func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if ok, err := lock(f); !ok && err == nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	}
	return func() { f.Close() }, nil
}

// lockWithin tries a lock for as long as wait.
func lockWithin(f *os.File, wait time.Duration) (ok bool, err error) {
	const step = 5 * time.Millisecond
	for {
		if ok, err = tryLock(f); ok || err != nil || wait <= 0 {
			return ok, err
		}
		time.Sleep(step)
		wait -= step
	}
}
