package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Where our files lie: as the variables say, else below the home; without either,
// nowhere.
func TestFindFolders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for name, tc := range map[string]struct {
		env                 map[string]string
		root, claude, shown string
		fails               bool
	}{
		"the usual place":         {map[string]string{"HOME": root}, at(".overtone"), at(".claude"), "~/.claude", false},
		"a home on Windows":       {map[string]string{"USERPROFILE": root}, at(".overtone"), at(".claude"), "~/.claude", false},
		"chosen":                  {map[string]string{"HOME": root, "OVERTONE_HOME": at("o"), "CLAUDE_CONFIG_DIR": at("c")}, at("o"), at("c"), at("c"), false},
		"chosen as it would be":   {map[string]string{"HOME": root, "CLAUDE_CONFIG_DIR": at(".claude")}, at(".overtone"), at(".claude"), "~/.claude", false},
		"chosen without a home":   {map[string]string{"OVERTONE_HOME": at("o"), "CLAUDE_CONFIG_DIR": at("c")}, at("o"), at("c"), at("c"), false},
		"half chosen, no home":    {map[string]string{"OVERTONE_HOME": at("o")}, at("o"), "", "", true},
		"the other half, no home": {map[string]string{"CLAUDE_CONFIG_DIR": at("c")}, "", at("c"), at("c"), true},
	} {
		f, err := FindFolders(func(k string) string { return tc.env[k] })
		if (err != nil) != tc.fails {
			t.Errorf("%s: %v", name, err)
		}
		if tc.fails {
			continue
		}
		if f.Root != tc.root || f.Claude != tc.claude || f.ShownClaude != tc.shown {
			t.Errorf("%s: %+v", name, f)
		}
	}
	f, err := FindFolders(func(k string) string { return map[string]string{"HOME": root}[k] })
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{at("a", "b"): filepath.Join("~", "a", "b"), root: root, filepath.Dir(root): filepath.Dir(root), at("..", "x"): at("..", "x")} {
		if got := f.Short(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
	if got := (Folders{}).Short("/a"); got != "/a" {
		t.Errorf("without a home: %s", got)
	}
}

// A record is read as it was written, and one that ends too early is told as such.
func TestDecoder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u, i, b := rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "i"), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "b")
		data := binary.AppendUvarint(nil, u)
		data = binary.AppendVarint(data, i)
		data = binary.AppendUvarint(data, uint64(len(b)))
		data = append(data, b...)
		d := Decoder{B: data}
		gotU, gotI := d.Uvarint(), d.Varint()
		if got := d.Take(d.Uvarint()); gotU != u || gotI != i || string(got) != string(b) || d.Bad || len(d.B) != 0 {
			t.Fatalf("%d %d %q, bad %v", gotU, gotI, got, d.Bad)
		}
		cut := Decoder{B: data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")]}
		cut.Uvarint()
		cut.Varint()
		cut.Take(cut.Uvarint())
		if !cut.Bad || cut.Uvarint() != 0 || cut.Take(1) != nil {
			t.Fatalf("%d of %d bytes are good", len(cut.B), len(data))
		}
	})
}

// A model's window is remembered for its next session, and the list has an end.
func TestWindowsAreLearnt(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), time.Now)
	s, err := h.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	if h.Window("m") != 0 {
		t.Error("nobody has told")
	}
	for _, tc := range []struct {
		model  string
		window int64
		want   int64
	}{{"m", 200_000, 200_000}, {"m", 0, 200_000}, {"m", -1, 200_000}, {"m", 1_000_000, 1_000_000}, {"", 5, 0}} {
		if err := h.LearnWindow(tc.model, tc.window); err != nil {
			t.Fatal(err)
		}
		if got := s.Window(tc.model); got != tc.want {
			t.Errorf("after %d: %d, want %d", tc.window, got, tc.want)
		}
	}
	for i := range maxWindows {
		if err := h.LearnWindow(fmt.Sprint("n", i), 7); err != nil {
			t.Fatal(err)
		}
	}
	if h.Window("m") != 0 || h.Window(fmt.Sprint("n", maxWindows-1)) != 7 {
		t.Errorf("the list has no end: %d, %d", h.Window("m"), h.Window(fmt.Sprint("n", maxWindows-1)))
	}
	if err := os.WriteFile(filepath.Join(h.Root(), windowsFile), []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h.Window("n1") != 0 || h.LearnWindow("n1", 9) != nil || h.Window("n1") != 9 {
		t.Error("a damaged list is not begun anew")
	}
}

// The files of a session in the Claude folder go along when it moves: its own, of the
// known names, under the new session's id.
func TestReportsMove(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), time.Now)
	from, _ := h.Session("s1")
	to, _ := h.Session("s2")
	for _, name := range []string{
		"pipeline-context-s1-QA.md", "reflection-memory-s1-QA.md", "barrier-state-s1.json",
		"pipeline-context-s1.md", "pipeline-context-s1-.md", "pipeline-context-s1-QA.txt", "pipeline-context-s1-a b.md", "barrier-state-s1.md", "pipeline-context-s3-QA.md",
		"pipeline-context-s1-" + strings.Repeat("X", 65) + ".md",
	} {
		if err := os.WriteFile(filepath.Join(h.ClaudeDir(), name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reports, err := from.Reports()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(reports)), []string{"barrier-state-.json", "pipeline-context--QA.md", "reflection-memory--QA.md"}; !slices.Equal(got, want) {
		t.Errorf("reports %v, want %v", got, want)
	}
	err = to.Update(func(tx *Tx) error {
		for name, data := range reports {
			if err := tx.WriteReport(name, data); err != nil {
				return err
			}
		}
		for _, bad := range []string{"settings.json", "pipeline-context-../x.md", "barrier-state-x"} {
			if tx.WriteReport(bad, nil) == nil {
				t.Errorf("%s is written", bad)
			}
		}
		if tx.WriteReport("pipeline-context--QA.md", make([]byte, maxContext+1)) == nil {
			t.Error("a report of any size is written")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(h.ClaudeDir(), "pipeline-context-s2-QA.md")); err != nil || string(data) != "pipeline-context-s1-QA.md" {
		t.Errorf("%s, %v", data, err)
	}
	lost := New(t.TempDir(), filepath.Join(t.TempDir(), "none"), time.Now)
	if s, _ := lost.Session("s1"); s != nil {
		if reports, err := s.Reports(); err != nil || len(reports) != 0 {
			t.Errorf("no folder: %v, %v", reports, err)
		}
	}
}

// What is of no use is given another name, and nothing of it is lost.
func TestMovedAside(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), func() time.Time { return time.Unix(7, 0) })
	var told []error
	h.OnRepair(func(err error) { told = append(told, err) })
	s, _ := h.Session("s1")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	err := s.Update(func(tx *Tx) error {
		for n, want := range []string{"x.json.damaged-20260301-120000", "x.json.damaged-20260301-120000-2", "x.json.damaged-20260301-120000-3"} {
			if err := tx.Write("x.json", []byte{'0' + byte(n)}); err != nil {
				return err
			}
			path, err := tx.MoveAside("x.json", now)
			if err != nil || filepath.Base(path) != want {
				t.Errorf("%s, %v", path, err)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != string('0'+byte(n)) {
				t.Errorf("%s: %s, %v", path, data, err)
			}
		}
		if err := tx.Write("y.json", []byte("y")); err != nil {
			return err
		}
		if err := tx.SetAside("y.json", errors.New("broken")); err != nil {
			return err
		}
		if _, err := tx.Read("y.json"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("still there: %v", err)
		}
		if len(told) != 1 || !strings.Contains(told[0].Error(), "y.json") || !strings.Contains(told[0].Error(), "broken") {
			t.Errorf("told %v", told)
		}
		for _, name := range []string{lockFile, TimelineFile, "../x"} {
			_, moved := tx.MoveAside(name, now)
			if moved == nil || tx.SetAside(name, errors.New("x")) == nil || tx.Remove(name) == nil {
				t.Errorf("%s is moved or removed", name)
			}
		}
		if err := tx.Write("z.json", []byte("z")); err != nil {
			return err
		}
		return errors.Join(tx.Remove("z.json"), tx.Remove("z.json"))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Jobs of the home and folders of others are claimed by one at a time.
func TestClaimsOfTheHome(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("folders are not locked there")
	}
	h := New(filepath.Join(t.TempDir(), "new"), t.TempDir(), time.Now)
	if h.Leased(WatcherLease) {
		t.Error("nobody has it")
	}
	if _, err := os.Stat(h.Root()); err == nil {
		t.Error("asking leaves a trace")
	}
	release, ok, err := h.TryLease(WatcherLease)
	if err != nil || !ok || !h.Leased(WatcherLease) {
		t.Fatal(ok, err)
	}
	if _, again, err := h.TryLease(WatcherLease); again || err != nil {
		t.Errorf("claimed twice: %v", err)
	}
	release()
	if h.Leased(WatcherLease) {
		t.Error("still taken")
	}
	path := filepath.Join(h.Root(), "x.lock")
	release, ok, err = TryLock(path)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, again, _ := TryLock(path); again {
		t.Error("locked twice")
	}
	release()
	if _, _, err := TryLock(filepath.Join(path, "below-a-file")); err == nil {
		t.Error("a lock below a file")
	}
	dir := t.TempDir()
	unlock, err := LockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockFolder(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("a folder is locked twice: %v", err)
	}
	unlock()
	if unlock, err = LockFolder(dir); err != nil {
		t.Fatal(err)
	}
	unlock()
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("something is left: %v, %v", list, err)
	}
	if _, err := LockFolder(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is locked")
	}
}

// A timeline's stamp tells whether it may hold something new.
func TestGrown(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), time.Now)
	s, _ := h.Session("s1")
	if _, ok := s.Grown(); ok {
		t.Error("a timeline that is not there has grown")
	}
	emit := func() [2]int64 {
		t.Helper()
		if err := s.Update(func(tx *Tx) error { return tx.Emit(On("session:start")) }); err != nil {
			t.Fatal(err)
		}
		stamp, ok := s.Grown()
		if !ok {
			t.Fatal("no stamp")
		}
		return stamp
	}
	first := emit()
	if again, _ := s.Grown(); again != first {
		t.Errorf("%v became %v, and nothing was written", first, again)
	}
	if second := emit(); second[0] <= first[0] {
		t.Errorf("%v became %v", first, second)
	}
	if err := s.Reachable(); err != nil {
		t.Error(err)
	}
}
