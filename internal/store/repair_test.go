package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What stands in the place of a derived file is set aside, told, and not lost.
func TestDerivedFilesAreSetAside(t *testing.T) {
	t.Parallel()
	folder := func(t *testing.T, path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := func(t *testing.T, path string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink("/etc/hostname", path)); err != nil {
			t.Fatal(err)
		}
	}
	large := func(t *testing.T, path string) {
		t.Helper()
		writeRaw(t, path, "x")
		if err := os.Truncate(path, maxFile+1); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		path  func(s *Session) string
		spoil func(t *testing.T, path string)
		use   func(tx *Tx) error
	}{
		"journal, folder":  {func(s *Session) string { return s.path("j") }, folder, func(tx *Tx) error { return tx.AppendVersion("j", []byte("x")) }},
		"journal, link":    {func(s *Session) string { return s.path("j") }, link, func(tx *Tx) error { return tx.AppendVersion("j", []byte("x")) }},
		"journal, large":   {func(s *Session) string { return s.path("j") }, large, func(tx *Tx) error { _, err := tx.Version("j"); return missing(err) }},
		"journal, read":    {func(s *Session) string { return s.path("j") }, folder, func(tx *Tx) error { _, err := tx.Version("j"); return missing(err) }},
		"timeline, folder": {func(s *Session) string { return s.path(TimelineFile) }, folder, func(tx *Tx) error { return tx.Emit(On("session:start")) }},
		"timeline, link":   {func(s *Session) string { return s.path(TimelineFile) }, link, func(tx *Tx) error { return tx.Emit(On("session:start")) }},
		"barrier, folder":  {(*Session).barrierPath, folder, func(tx *Tx) error { return tx.WriteBarrier([]byte("{}")) }},
		"barrier, link":    {(*Session).barrierPath, link, func(tx *Tx) error { _, err := tx.Barrier(); return missing(err) }},
		"reflection":       {func(s *Session) string { return s.reflectionPath("DEV") }, folder, func(tx *Tx) error { return tx.WriteReflection("DEV", nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testSession(t)
			var told []error
			s.home.OnRepair(func(err error) { told = append(told, err) })
			update(t, s, func(*Tx) error { return nil })
			path := c.path(s)
			c.spoil(t, path)
			for range 3 {
				update(t, s, c.use)
			}
			if len(told) != 1 {
				t.Errorf("told %v", told)
			}
			if list, err := filepath.Glob(path + damagedMark + "*"); err != nil || len(list) != 1 {
				t.Errorf("set aside: %q, %v", list, err)
			}
		})
	}
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Of lines that a killed process may have written, only the missing are added.
func TestEmitMissing(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	update(t, s, func(tx *Tx) error {
		lines, err := tx.Lines(On("stage:start", "stage", "A"), On("stage:start", "stage", "B"))
		if err != nil {
			return err
		}
		return errors.Join(tx.Emit(On("stage:start", "stage", "A")), tx.EmitMissing(lines), tx.EmitMissing(lines))
	})
	list, _, err := s.Last(10, Filter{})
	if err != nil || len(list) != 2 || list[1].Text("stage") != "B" {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSweepTemp(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	cache := filepath.Join(h.root, "compress", "ab")
	old := time.Now().Add(-2 * tempAge)
	var gone, stay []string
	for _, dir := range []string{h.root, h.claude, cache} {
		for name, list := range map[string]*[]string{".settings.json.overtone-1": &gone, ".settings.json.swp": &stay, ".overtone-mine": &stay, ".overtone-clone-7.tmp": &gone, "x.overtone-1": &stay} {
			path := filepath.Join(dir, name)
			writeRaw(t, path, "x")
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
			*list = append(*list, path)
		}
		young := filepath.Join(dir, ".young.overtone-1")
		writeRaw(t, young, "x")
		stay = append(stay, young)
	}
	h.now = time.Now
	if _, err := h.Cleanup(CleanupOptions{MaxAge: time.Hour}); err != nil {
		t.Fatal(err)
	}
	for _, path := range gone {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s stays: %v", path, err)
		}
	}
	for _, path := range stay {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
}

// Markers do not go where a link below our folder leads.
func TestFiredFollowsNoLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := testHome(dir)
	elsewhere := filepath.Join(dir, "elsewhere")
	for _, name := range []string{"hooks", filepath.Join("hooks", "claude-code")} {
		if err := errors.Join(os.MkdirAll(elsewhere, 0o700), os.RemoveAll(filepath.Join(h.root, "hooks")), os.MkdirAll(filepath.Dir(filepath.Join(h.root, name)), 0o700),
			os.Symlink(elsewhere, filepath.Join(h.root, name))); err != nil {
			t.Fatal(err)
		}
		h.MarkFired("claude-code", "stop")
		if list, err := os.ReadDir(elsewhere); err != nil || len(list) > 0 {
			t.Errorf("%s: %v, %v", name, list, err)
		}
		if got := h.Fired("claude-code"); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if err := RealFolder(h.root, filepath.Join(h.root, "..", "x")); err == nil || !strings.Contains(err.Error(), "not below") {
		t.Error(err)
	}
}
