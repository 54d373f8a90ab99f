package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile bounds what is read into memory from one file. A state file is a few
// kilobytes.
const maxFile = 16 << 20

// AtomicWrite replaces the file at path, whoever else may write it, by data and
// flushes it to disk. Whatever happens in between, path holds the old content or
// the new one. The mode is exactly perm: a file of the user's is not for our
// umask to narrow.
//
// The rename itself is not flushed: after a power failure the old content may
// be back, whole.
func AtomicWrite(path string, data []byte, perm fs.FileMode) error {
	return replaceShared(path, data, perm, true)
}

// LooseWrite is [AtomicWrite] without waiting for the disk: a power failure may
// lose both contents. It is for what can be made again.
func LooseWrite(path string, data []byte, perm fs.FileMode) error {
	return replaceShared(path, data, perm, false)
}

// tempMark is in the names of temporary files.
const tempMark = ".overtone-"

// replaceShared writes under a temporary name of its own, so that writers of
// one path need not know of each other.
func replaceShared(path string, data []byte, perm fs.FileMode, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+tempMark+"*")
	if err != nil {
		return err
	}
	return rename(f, path, sync, func(f *os.File) error {
		_, err := f.Write(data)
		return errors.Join(err, f.Chmod(perm))
	})
}

// replace replaces a file of a session. The temporary name is fixed, so its
// writers must exclude each other; they do, as they run inside [Session.Update].
// In return a crash leaves at most one stray file, which the next write removes.
func replace(path string, sync bool, fill func(*os.File) error) error {
	f, err := createNew(path+".tmp", filePerm)
	if err != nil {
		return err
	}
	return rename(f, path, sync, fill)
}

func writeAll(data []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(data)
		return err
	}
}

// rename fills a temporary file and puts it in the place of path.
func rename(f *os.File, path string, sync bool, fill func(*os.File) error) (err error) {
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fill(f); err != nil {
		return err
	}
	if sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// createNew makes a file that did not exist. A leftover of the same name is
// removed rather than truncated: it may carry another mode, be a link, or share
// its inode with a file that is not ours.
func createNew(path string, perm fs.FileMode) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | openFlags
	f, err := os.OpenFile(path, flags, perm)
	if errors.Is(err, fs.ErrExist) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, perm)
	}
	return f, err
}

// readFile reads a plain file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, info, err := openAs(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("read %s: %w: over %d bytes", path, errTooLarge, limit)
	}
	return readRange(f, 0, info.Size())
}

// AppendLines appends lines to the file at path, which is made where it is missing: all
// of them, or none.
func AppendLines(path string, lines []byte) error {
	f, info, err := openAs(path, os.O_APPEND|os.O_CREATE|os.O_RDWR)
	if err != nil {
		return err
	}
	_, err = appendWhole(f, info.Size(), lines)
	return errors.Join(err, f.Close())
}

// appendWhole appends lines to a file of which size bytes are there: all of them, or
// none. A writer that died within its line, or a hand that edited the file, leaves no
// newline at the end; ours would be glued to that line and lost with it.
func appendWhole(f *os.File, size int64, lines []byte) (written int, err error) {
	var last [1]byte
	if size > 0 {
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return 0, err
		}
		if last[0] != '\n' {
			lines = append([]byte{'\n'}, lines...)
		}
	}
	if written, err = f.Write(lines); err != nil {
		// On a full disk part of a line may have gone out. Nobody else appends
		// while we hold the lock, so the part can be taken back.
		return 0, errors.Join(err, f.Truncate(size))
	}
	return written, nil
}

var errNotRegular = errors.New("not a regular file")

// openAs opens a plain file, and no link; flags may have it made.
func openAs(path string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flags|openFlags, filePerm)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// realDir says whether path is a folder and not a link to one.
func realDir(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("not a folder (links are not followed)")}
	}
	return nil
}

// checkName accepts the plain name of a file in a session folder.
func checkName(name string) error {
	if name == "" || len(name) > 128 || name[0] == '.' || filepath.Ext(name) == ".tmp" {
		return fmt.Errorf("invalid file name %q", name)
	}
	for i := range len(name) {
		if !plainByte(name[i]) && name[i] != '.' {
			return fmt.Errorf("invalid file name %q", name)
		}
	}
	return nil
}
