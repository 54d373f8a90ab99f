//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"syscall"
)

// openFlags go with every open: a link in place of the file is an error, and a
// pipe put there does not hang the hook.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// readFile reads a plain file of at most limit bytes. It asks the system itself: an
// [os.File] is first put under the watch of the runtime's poller, which a hook would have
// to start for that.
func readFile(path string, limit int64) ([]byte, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|openFlags, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	var info syscall.Stat_t
	if err := again(func() error { return syscall.Fstat(fd, &info) }); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case info.Mode&syscall.S_IFMT != syscall.S_IFREG:
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	case info.Size > limit:
		return nil, fmt.Errorf("read %s: %w: over %d bytes", path, errTooLarge, limit)
	}
	data := make([]byte, info.Size)
	for n := 0; ; {
		var got int
		err := again(func() (err error) {
			got, err = syscall.Read(fd, data[n:])
			return err
		})
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if n += got; got == 0 || n == len(data) {
			return data[:n], nil
		}
	}
}

// again makes a call until no signal has come between.
func again(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR { //nolint:errorlint // the system's own number
			return err
		}
	}
}
