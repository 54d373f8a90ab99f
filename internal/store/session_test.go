package store

import (
	"bufio"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSessionID(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	for _, id := range []string{"a", "0b6e8a52-7b1f-4c0e-9b58-0d3f4f6f2a11", "A_b-9", strings.Repeat("x", 128)} {
		s, err := h.Session(id)
		if err != nil || s.ID() != id || s.dir != filepath.Join(h.Root(), "sessions", id) {
			t.Errorf("Session(%q) = %v, %v", id, s, err)
		}
	}
	for _, id := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a.b", "a b", "a\x00", "a\n", "é", "~", strings.Repeat("x", 129)} {
		if _, err := h.Session(id); !errors.Is(err, errSessionID) {
			t.Errorf("Session(%q): error %v, want errSessionID", id, err)
		}
	}
	if _, err := os.Lstat(h.Root()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("naming a session touched the disk: %v", err)
	}
}

func TestUpdateWritesAndReads(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	if _, err := s.Read(WorkflowFile); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read before the session exists: %v", err)
	}
	update(t, s, func(tx *Tx) error {
		if _, err := tx.Read(WorkflowFile); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read of a missing file: %v", err)
		}
		return errors.Join(
			tx.Write(WorkflowFile, []byte("one")),
			tx.WriteLoose("outbox.json", []byte("two")),
			tx.Emit(On("session:start")),
		)
	})
	for name, want := range map[string]string{WorkflowFile: "one", "outbox.json": "two"} {
		if got, err := s.Read(name); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v", name, got, err)
		}
	}
	if _, err := s.Read("gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file: %v", err)
	}
	boom := errors.New("boom")
	if err := s.Update(func(*Tx) error { return boom }); err != boom {
		t.Errorf("Update returned %v", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = s.Update(func(*Tx) error { panic("boom") })
	}()
	update(t, s, func(*Tx) error { return nil }) // neither an error nor a panic keeps the lock
}

func TestModes(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	s := sessionIn(t, h, "s")
	update(t, s, func(tx *Tx) error {
		return errors.Join(tx.Write(WorkflowFile, nil), tx.WriteLoose("x", nil), tx.Emit(On("session:start")),
			tx.WriteContext("DEV", nil), tx.WriteReflection("DEV", nil), tx.WriteBarrier(nil))
	})
	h.ClaimCleanup(time.Hour)
	checked := 0
	for _, root := range []string{h.Root(), h.ClaudeDir()} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if e.IsDir() {
				want = 0o700
			}
			checked++
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s has mode %o, want %o", path, got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked != 12 {
		t.Errorf("looked at %d files and folders", checked)
	}
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	update(t, s, func(tx *Tx) error {
		for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, ".hidden", "x.tmp", "a:b", "a\x00b", strings.Repeat("x", 129)} {
			if tx.Write(name, nil) == nil || tx.WriteLoose(name, nil) == nil {
				t.Errorf("%q can be written", name)
			}
			if _, err := tx.Read(name); err == nil {
				t.Errorf("%q can be read", name)
			}
			if _, err := s.Read(name); err == nil {
				t.Errorf("%q can be read without the lock", name)
			}
		}
		for _, name := range []string{"lock", TimelineFile} {
			if tx.Write(name, nil) == nil || tx.WriteLoose(name, nil) == nil {
				t.Errorf("%s can be overwritten", name)
			}
		}
		return nil
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	for _, data := range []string{"first, longer", "second", ""} {
		if err := replace(path, true, writeAll([]byte(data))); err != nil {
			t.Fatal(err)
		}
		if got := readRaw(t, path); got != data {
			t.Errorf("got %q, want %q", got, data)
		}
	}
	// An interrupted write leaves its half behind; neither readers nor the
	// next write mind.
	writeRaw(t, path+".tmp", "half a sta")
	if got := readRaw(t, path); got != "" {
		t.Errorf("the leftover shows: %q", got)
	}
	if err := replace(path, true, writeAll([]byte("third"))); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of a file written over a leftover: %v, %v", info.Mode(), err)
	}
	if _, err := os.Lstat(path + ".tmp"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the temporary file is still there: %v", err)
	}
	if err := replace(filepath.Join(dir, "missing", "x"), true, writeAll(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	if err := os.Mkdir(path+".tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	writeRaw(t, filepath.Join(path+".tmp", "x"), "")
	if err := replace(path, true, writeAll([]byte("fourth"))); err == nil || readRaw(t, path) != "third" {
		t.Errorf("a failed write: error %v, content %q", err, readRaw(t, path))
	}
}

// Writers of one file need not know of each other, and the mode is the asked one.
func TestAtomicWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	var wg sync.WaitGroup
	for i := range 8 {
		write := AtomicWrite
		if i%2 == 0 {
			write = LooseWrite
		}
		wg.Go(func() {
			for range 20 {
				if err := write(path, []byte(strings.Repeat("x", 5000)), 0o664); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := readRaw(t, path); got != strings.Repeat("x", 5000) {
		t.Errorf("%d bytes", len(got))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o664 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := AtomicWrite(filepath.Join(path, "x"), nil, 0o600); err == nil {
		t.Error("wrote below a file")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	// Each case puts a link to the victim somewhere and then tries to get at it.
	link := func(t *testing.T, target, path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Skip("no links here:", err)
		}
	}
	update := func(s *Session, fn func(tx *Tx) error) error { return s.Update(fn) }
	nothing := func(*Tx) error { return nil }
	cases := []struct {
		name string
		do   func(t *testing.T, s *Session, victim string) error
		// harmless: no error is expected, as the link itself is replaced
		harmless bool
	}{
		{name: "session folder", do: func(t *testing.T, s *Session, victim string) error {
			link(t, filepath.Dir(victim), s.dir)
			_, err1 := s.Read("victim")
			_, _, err2 := s.Latest("session:start")
			err3 := update(s, func(tx *Tx) error { return tx.Write("victim", nil) })
			if err1 == nil || err2 == nil || err3 == nil {
				return nil
			}
			return err1
		}},
		{name: "folder of sessions", do: func(t *testing.T, s *Session, victim string) error {
			link(t, filepath.Dir(victim), filepath.Dir(s.dir))
			_, err1 := s.home.Sessions()
			err2 := update(s, nothing)
			if err1 == nil || err2 == nil {
				return nil
			}
			return err1
		}},
		{name: "lock", do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.path(lockFile))
			return update(s, nothing)
		}},
		{name: "read", do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.path("x"))
			_, err := s.Read("x")
			return err
		}},
		{name: "read locked", do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.path("x"))
			return update(s, func(tx *Tx) error { _, err := tx.Read("x"); return err })
		}},
		{name: "write", harmless: true, do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.path("x"))
			return update(s, func(tx *Tx) error { return tx.Write("x", []byte("mine")) })
		}},
		{name: "temporary file", harmless: true, do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.path("x.tmp"))
			return update(s, func(tx *Tx) error { return tx.Write("x", []byte("mine")) })
		}},
		{name: "emit", harmless: true, do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.path(TimelineFile))
			return update(s, func(tx *Tx) error { return tx.Emit(On("session:start")) })
		}},
		{name: "timeline", do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.path(TimelineFile))
			_, _, err := s.Last(1, Filter{})
			return err
		}},
		{name: "context", do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.ContextPath("DEV"))
			return update(s, func(tx *Tx) error { _, err := tx.ReadContext(s.ContextPath("DEV")); return err })
		}},
		{name: "barrier", do: func(t *testing.T, s *Session, victim string) error {
			link(t, victim, s.barrierPath())
			return update(s, func(tx *Tx) error { _, err := tx.Barrier(); return err })
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := testSession(t)
			victim := filepath.Join(t.TempDir(), "victim")
			writeRaw(t, victim, "secret")
			if err := c.do(t, s, victim); (err == nil) != c.harmless {
				t.Errorf("error %v", err)
			}
			if got := readRaw(t, victim); got != "secret" {
				t.Errorf("the link was followed: %q", got)
			}
			if entries, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(entries) != 1 {
				t.Errorf("files were made behind the link: %v, %v", entries, err)
			}
		})
	}
}

// The roots may be links.
func TestLinkedRoots(t *testing.T) {
	t.Parallel()
	real, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"overtone", "claude"} {
		if err := errors.Join(os.Mkdir(filepath.Join(real, name), 0o700),
			os.Symlink(filepath.Join(real, name), filepath.Join(dir, name))); err != nil {
			t.Skip("no links here:", err)
		}
	}
	s := sessionIn(t, testHome(dir), "s")
	update(t, s, func(tx *Tx) error {
		if err := errors.Join(tx.Write("x", []byte("1")), tx.WriteContext("DEV", []byte("2"))); err != nil {
			return err
		}
		// The agent may know the folder by its real name.
		got, err := tx.ReadContext(filepath.Join(real, "claude", filepath.Base(s.ContextPath("DEV"))))
		if string(got) != "2" {
			t.Errorf("context = %q", got)
		}
		return err
	})
}

func TestTooLargeFile(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	writeRaw(t, s.path("x"), "")
	if err := os.Truncate(s.path("x"), maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read("x"); err == nil {
		t.Error("a file of any size is read")
	}
}

func TestUnwritableHome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeRaw(t, filepath.Join(dir, "overtone"), "a file where the folder should be")
	s := sessionIn(t, testHome(dir), "s")
	if err := s.Update(func(*Tx) error { return nil }); err == nil || !strings.Contains(err.Error(), "lock session s") {
		t.Errorf("Update: %v", err)
	}
	if s.home.ClaimCleanup(time.Hour) {
		t.Error("a home that cannot be written is due for clean-up")
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	if list, err := h.Sessions(); err != nil || len(list) != 0 {
		t.Errorf("without a home: %v, %v", list, err)
	}
	for i, id := range []string{"old", "new", "b", "a"} {
		s := sessionIn(t, h, id)
		update(t, s, func(tx *Tx) error { return tx.Write("x", nil) })
		at := clock.Add(time.Duration(min(i, 2)) * time.Hour)
		if err := os.Chtimes(s.dir, at, at); err != nil {
			t.Fatal(err)
		}
	}
	writeRaw(t, filepath.Join(h.sessionsDir(), "file"), "")
	writeRaw(t, filepath.Join(h.sessionsDir(), ".trash-x", "y"), "")
	list, err := h.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	want := []SessionInfo{{"a", clock.Add(2 * time.Hour)}, {"b", clock.Add(2 * time.Hour)}, {"new", clock.Add(time.Hour)}, {"old", clock}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

func TestNoLostUpdate64Processes(t *testing.T) {
	const processes, updates = 64, 50
	s := testSession(t)
	dir := filepath.Dir(s.home.Root())
	children := make([]*exec.Cmd, processes)
	for i := range children {
		children[i] = startChild(t, "count", dir, strconv.Itoa(updates))
		if err := children[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	if got, err := s.Read(WorkflowFile); err != nil || string(got) != strconv.Itoa(processes*updates) {
		t.Errorf("%d updates left %s, %v", processes*updates, got, err)
	}
}

func TestNoLostUpdateGoroutines(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	shared := sessionIn(t, h, "s")
	var wg sync.WaitGroup
	for i := range 8 {
		s := shared
		if i%2 == 0 {
			s = sessionIn(t, h, "s")
		}
		wg.Go(func() {
			if err := countUp(s, 10); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := shared.Read(WorkflowFile); err != nil || string(got) != "80" {
		t.Errorf("80 updates left %s, %v", got, err)
	}
}

func TestKillLeavesOldOrNewState(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no kill -9")
	}
	dir := t.TempDir()
	s := sessionIn(t, testHome(dir), "s")
	for round := range 40 {
		c := startChild(t, "states", dir, "0")
		stdout, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		for range 1 + rand.IntN(4) {
			lines.Scan()
		}
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // not for synchronisation: to hit any point
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		last := lines.Text()
		for lines.Scan() {
			last = lines.Text()
		}
		_ = c.Wait()
		acked, err := strconv.Atoi(last)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Read(WorkflowFile)
		if err != nil {
			t.Fatal(err)
		}
		if old, new := string(stateOf(acked)), string(stateOf(acked+1)); string(got) != old && string(got) != new {
			t.Fatalf("round %d: neither state %d nor its successor, but %.40q…", round, acked, got)
		}
		// The next one gets the lock and can write.
		update(t, s, func(tx *Tx) error { return tx.Write("after", []byte("x")) })
	}
}
