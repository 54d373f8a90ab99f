package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// lockTries bounds the race against clean-ups in lock. Each lost round takes a
// clean-up that found the session unused for days, so two in a row do not
// happen by chance.
const lockTries = 16

// ErrBusy says that another process held a session's lock for longer than this one
// may wait.
var ErrBusy = errors.New("another process holds the lock of the session")

// Limit bounds how long this home waits for locks, all of them together; then
// [Session.Update] returns [ErrBusy]. Without it locks are waited for as long as
// it takes. Hooks need it: a holder that was stopped, not killed, keeps its lock,
// and the host waits for the hook.
func (h *Home) Limit(d time.Duration) { h.patience = &patience{left: d} }

// OnWait has f called with the lock's file when an unlimited wait for a lock takes longer
// than a second, so that a person learns what is waited for; [Holder] says for whom. The
// wait ends with ctx.
func (h *Home) OnWait(ctx context.Context, f func(path string)) { h.waiting, h.ended = f, ctx.Done() }

// Holder is the process that has locked a file, with its number and the beginning of its
// command line; "" where the system does not tell.
func Holder(path string) string {
	inode := ":" + inodeOf(path)
	locks, _ := os.ReadFile("/proc/locks") // only Linux has it
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF; who waits has an arrow in front.
		if f := strings.Fields(line); len(f) == 8 && f[1] == "FLOCK" && strings.HasSuffix(f[5], inode) {
			args, err := os.ReadFile("/proc/" + f[4] + "/cmdline")
			if err != nil {
				return "" // it is gone, and has left the file to one that it started
			}
			return f[4] + " (" + strings.TrimSpace(message.Head(strings.ReplaceAll(string(args), "\x00", " "), 60)) + ")"
		}
	}
	return ""
}

// patience is what is left of the time to wait for locks.
type patience struct {
	mu   sync.Mutex
	left time.Duration
}

// lockWait says how a lock is asked for.
type lockWait int

const (
	blocking lockWait = iota // within the home's limit, where it has one
	trying                   // not at all
)

// lock waits for the session's lock and returns the function that gives it up.
// A missing session is created or, without create, [fs.ErrNotExist].
//
// The lock is an advisory lock on a file (flock, LockFileEx) and belongs to the
// open file: the system drops it when the process dies, however it dies, so
// there are no stale locks and nothing to time out. Waiting happens in the
// kernel, where waiters queue; polling lets some starve.
//
// The file is never removed while the session lives. If it were, one process
// could hold the lock of the removed file while another creates a new file and
// locks that. Clean-up does remove it, with its whole folder: it moves the
// folder away while it holds the lock, and each newcomer checks, once it has
// the lock, that the file it locked is still the one in place.
func (s *Session) lock(create bool, wait lockWait) (unlock func(), err error) {
	path := s.path(lockFile)
	for range lockTries {
		if err = s.checkDir(); create && errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(s.dir, dirPerm); err == nil {
				err = s.checkDir()
			}
		}
		if err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		var f lockedFile
		f, err = s.home.openLocked(path, wait)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the folder went between the check and the open
		}
		if err != nil {
			return nil, err
		}
		var mine, current fs.FileInfo
		if mine, err = f.Stat(); err == nil {
			current, err = os.Lstat(path)
		}
		if err == nil && os.SameFile(mine, current) {
			return func() { _ = f.Close() }, nil
		}
		_ = f.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, errors.Join(errors.New("the session keeps being cleaned up"), err)
}

// lockedFile is an open file with its lock.
type lockedFile interface {
	Stat() (fs.FileInfo, error)
	Close() error
}

// openLocked opens a file and locks it. Nearly always the lock is free, and a
// try is all it takes. Where it is not, the system's own queue decides who is
// next; a goroutine stands in it, so that we can leave. Should its turn come
// later, it passes it on.
func (h *Home) openLocked(path string, wait lockWait) (lockedFile, error) {
	const flags = os.O_RDWR | os.O_CREATE | openFlags
	f, err := os.OpenFile(path, flags, filePerm)
	if err != nil {
		return nil, err
	}
	ok, err := tryLock(f)
	if ok {
		return f, nil
	}
	f.Close()
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	if wait == trying && err == nil {
		return nil, ErrBusy
	}
	var limit <-chan time.Time
	if p := h.patience; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.left <= 0 {
			return nil, ErrBusy
		}
		begin := time.Now() //nolint:forbidigo // how long we wait is real time, whatever clock the caller has
		timer := time.NewTimer(p.left)
		defer timer.Stop()
		defer func() { p.left -= time.Since(begin) }() //nolint:forbidigo // see above
		limit = timer.C
	} else if h.waiting != nil {
		defer time.AfterFunc(time.Second, func() { h.waiting(path) }).Stop()
	}
	type result struct {
		f   *lockedfile.File
		err error
	}
	turn, gone := make(chan result), make(chan struct{})
	go func() {
		f, err := lockedfile.OpenFile(path, flags, filePerm)
		select {
		case turn <- result{f, err}:
		case <-gone:
			if err == nil {
				f.Close()
			}
		}
	}()
	select {
	case r := <-turn:
		if r.err != nil {
			return nil, r.err
		}
		return r.f, nil
	case <-limit:
		err = ErrBusy
	case <-h.ended:
		err = context.Canceled
	}
	close(gone)
	return nil, err
}
