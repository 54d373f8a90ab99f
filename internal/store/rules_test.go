package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A marker is as old as an hour before it is written again, to the second, and one from
// the future is a clock set back.
func TestFiredEveryHour(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	h := New(t.TempDir(), t.TempDir(), func() time.Time { return now })
	for _, step := range []struct {
		at    time.Duration
		moves bool
	}{{0, true}, {time.Hour - time.Second, false}, {time.Hour, true}, {time.Hour - time.Minute, true}, {time.Hour, false}} {
		now = time.Unix(1_000_000, 0).Add(step.at)
		h.MarkFired("h", "stop")
		if at := h.Fired("h")["stop"]; at.Equal(now) != step.moves {
			t.Errorf("at %s: marked at %s", step.at, at)
		}
	}
	h.MarkFired("", "stop")
	h.MarkFired("../x", "stop")
	h.MarkFired("h", "../x")
	if n := len(h.Fired("h")); n != 1 {
		t.Errorf("%d events", n)
	}
}

// A clean-up is due once in so long.
func TestCleanupIsDue(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	h := New(filepath.Join(t.TempDir(), "new"), t.TempDir(), func() time.Time { return now })
	for _, step := range []struct {
		after time.Duration
		due   bool
	}{{0, true}, {time.Hour - time.Second, false}, {time.Second, true}, {-time.Minute, true}, {time.Second, false}} {
		now = now.Add(step.after)
		if got := h.ClaimCleanup(time.Hour); got != step.due {
			t.Errorf("%s later: due %v", step.after, got)
		}
	}
}

// Names that are no files of a session are refused by whatever takes one.
func TestNames(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	calls := func(tx *Tx) map[string]func(string) error {
		return map[string]func(string) error{
			"Read":          func(n string) error { _, err := tx.Read(n); return err },
			"Version":       func(n string) error { _, err := tx.Version(n); return err },
			"Write":         func(n string) error { return tx.Write(n, nil) },
			"WriteLoose":    func(n string) error { return tx.WriteLoose(n, nil) },
			"AppendVersion": func(n string) error { return tx.AppendVersion(n, []byte("x")) },
			"Remove":        tx.Remove,
			"SetAside":      func(n string) error { _, err := tx.SetAside(n, fs.ErrInvalid); return err },
		}
	}
	err := s.Update(func(tx *Tx) error {
		for call, f := range calls(tx) {
			for _, name := range []string{"../x", "", ".x", "x.tmp", "a/b", strings.Repeat("x", 129)} {
				if err := f(name); err == nil || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s %q: %v", call, name, err)
				}
			}
			if call != "Read" && call != "Version" && (f(lockFile) == nil || f(TimelineFile) == nil) {
				t.Errorf("%s takes the lock or the timeline", call)
			}
		}
		return tx.AppendVersion("ok", []byte("a\nb"))
	})
	if err == nil {
		t.Error("a version of two lines")
	}
}

// JSON may be ten thousand deep, whatever stands in its strings.
func TestDepth(t *testing.T) {
	t.Parallel()
	deep := func(n int) []byte {
		return []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	for name, tc := range map[string]struct {
		data []byte
		want bool
	}{
		"as deep as may be":   {deep(maxDepth), true},
		"one more":            {deep(maxDepth + 1), false},
		"wide":                {[]byte("[" + strings.Repeat("[],", maxDepth) + "[]]"), true},
		"brackets in strings": {[]byte(`["` + strings.Repeat(`[\"`, maxDepth+1) + `"]`), true},
		"objects":             {[]byte(strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1)), false},
	} {
		if got := ValidJSON(tc.data); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A report may have a megabyte; of a longer one that is written, so much stays.
func TestReportsAreBounded(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	err := s.Update(func(tx *Tx) error {
		if err := tx.WriteContext("DEV", bytes.Repeat([]byte("a "), maxContext)); err != nil {
			return err
		}
		data, err := tx.ReadContext(s.ContextPath("DEV"))
		if err != nil || len(data) != 1<<20 {
			t.Errorf("%d bytes, %v", len(data), err)
		}
		if err := os.WriteFile(s.ContextPath("DEV"), make([]byte, 1<<20+1), 0o600); err != nil {
			return err
		}
		if _, err := tx.ReadContext(s.ContextPath("DEV")); !errors.Is(err, errTooLarge) {
			t.Errorf("a larger one: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Who has waited as long as it may does not wait again.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	root, claude := t.TempDir(), t.TempDir()
	holder, err := New(root, claude, time.Now).Session("s")
	if err != nil {
		t.Fatal(err)
	}
	h := New(root, claude, time.Now)
	h.Limit(50 * time.Millisecond)
	s, err := h.Session("s")
	if err != nil {
		t.Fatal(err)
	}
	err = holder.Update(func(*Tx) error {
		if err := s.Update(func(*Tx) error { return nil }); !errors.Is(err, ErrBusy) {
			t.Errorf("first: %v", err)
		}
		if h.patience.left > 0 {
			t.Errorf("%s are left", h.patience.left)
		}
		h.patience.left = -time.Hour
		if err := s.Reachable(); !errors.Is(err, ErrBusy) {
			t.Errorf("second: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// What is free needs no patience.
	if err := s.Update(func(*Tx) error { return nil }); err != nil {
		t.Errorf("free: %v", err)
	}
}

// Health tells of old leftovers, of locks that stay held, and of modes that are too open.
func TestHealthTells(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := New(filepath.Join(t.TempDir(), "home"), t.TempDir(), func() time.Time { return now })
	s, err := h.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Update(func(tx *Tx) error { return tx.Write("x", nil) }); err != nil {
		t.Fatal(err)
	}
	old := now.Add(-leftoverAge - time.Second)
	for name, at := range map[string]time.Time{"old.tmp": old, "new.tmp": now, "old.txt": old} {
		path := s.path(name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	for name, at := range map[string]time.Time{trashPrefix + "old": old, trashPrefix + "new": now, "old": old} {
		path := filepath.Join(h.sessionsDir(), name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(s.path("x"), 0o620), os.Chmod(s.path("old.txt"), 0o640)); err != nil {
		t.Fatal(err)
	}
	look := func() Health {
		got, err := h.Health(100, 0)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := look()
	names := func(list []string) (out []string) {
		for _, p := range list {
			out = append(out, filepath.Base(p))
		}
		slices.Sort(out)
		return out
	}
	if l := names(got.Leftover); !slices.Equal(l, []string{trashPrefix + "old", "old.tmp"}) || len(got.Held) != 0 {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(names(got.Loose), []string{"x"}) || !slices.Equal(names(got.Open), []string{"old.txt"}) {
		t.Errorf("loose %v, open %v", got.Loose, got.Open)
	}
	err = s.Update(func(*Tx) error {
		if held := look().Held; !slices.Equal(held, []string{"s1"}) {
			t.Errorf("held: %v", held)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := h.Health(3, 0); err != nil || got.Looked != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Each event may be as large as a line, however many there are.
func TestLargeEventsTogether(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	half := strings.Repeat("word ", maxLine/8)
	update(t, s, func(tx *Tx) error {
		if err := tx.Emit(On("tool:failure", "a", half), On("tool:failure", "a", half)); err != nil {
			t.Errorf("two events of %d bytes: %v", len(half), err)
		}
		if err := tx.Emit(On("tool:failure", "a", half+half)); err == nil {
			t.Error("an event larger than a line")
		}
		return nil
	})
	if list, _, err := s.Last(10, Filter{}); err != nil || len(list) != 2 {
		t.Errorf("%d events, %v", len(list), err)
	}
}

// Files of the Claude folder that hold a state of ours, in whatever case; reports are the
// agents'.
func TestStatesOfTheClaudeFolder(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"reflection-memory-s-DEV.md": true, "Barrier-State-s.json": true, "PIPELINE-STATE-s.json": true,
		"pipeline-context-s-DEV.md": false, "my-pipeline-state-s.json": false, "settings.json": false,
	} {
		if got := IsState(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	s := testSession(t)
	if sameDir(filepath.Base(s.home.claude), s.home.claude) {
		t.Error("a path that begins nowhere is the Claude folder")
	}
}
