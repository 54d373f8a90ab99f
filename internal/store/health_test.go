package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFired(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	h := New(filepath.Join(t.TempDir(), "home"), t.TempDir(), func() time.Time { return now })
	want := func(event string, at time.Time) {
		t.Helper()
		if got := h.Fired("codex")[event]; !got.Equal(at) {
			t.Errorf("%s fired %v, want %v", event, got, at)
		}
	}
	start := now
	h.MarkFired("codex", "stop")
	want("stop", start)
	want("pre-compact", time.Time{})

	now = start.Add(59 * time.Minute)
	h.MarkFired("codex", "stop")
	want("stop", start)
	now = start.Add(time.Hour)
	h.MarkFired("codex", "stop")
	want("stop", now)
	// The clock was set back.
	now = start
	h.MarkFired("codex", "stop")
	want("stop", start)

	for _, bad := range [][2]string{{"", "stop"}, {"../x", "stop"}, {"codex", "../stop"}, {"codex", ""}} {
		h.MarkFired(bad[0], bad[1])
	}
	if n := len(h.Fired("codex")); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
	if h.Fired("claude-code") != nil || h.Fired("../hooks") != nil {
		t.Error("events of a host that never called")
	}
}

// A home that cannot be written, or a folder in the marker's place, must not
// disturb the hook.
func TestFiredNeverFails(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "hooks"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := New(root, t.TempDir(), time.Now)
	h.MarkFired("codex", "stop")
	if got := h.Fired("codex"); len(got) != 0 {
		t.Errorf("fired: %v", got)
	}
}

func BenchmarkMarkFired(b *testing.B) {
	h := New(b.TempDir(), b.TempDir(), time.Now)
	for b.Loop() {
		h.MarkFired("claude-code", "post-tool-use")
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	real := t.TempDir()
	if err := os.Chmod(real, 0o700); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, root); err != nil {
		t.Skip(err)
	}
	h := New(root, t.TempDir(), time.Now)
	check := func(want Health) {
		t.Helper()
		got, err := h.Health(1000, 30*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		got.Looked = 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("health (-want +got):\n%s", diff)
		}
	}
	check(Health{})
	s, err := h.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Update(func(tx *Tx) error { return tx.Write("x", nil) }); err != nil {
		t.Fatal(err)
	}
	check(Health{})

	write := func(name string, mode os.FileMode, age time.Duration) string {
		t.Helper()
		path := filepath.Join(real, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	want := Health{
		Open:     []string{write("config.yaml", 0o644, 0)},
		Loose:    []string{write("sessions/s1/loose", 0o622, 0)},
		Leftover: []string{write("sessions/s1/x.tmp", 0o600, time.Hour)},
		Held:     []string{"s1"},
	}
	write("sessions/s1/y.tmp", 0o600, 0)
	err = s.Update(func(*Tx) error { check(want); return nil })
	if err != nil {
		t.Fatal(err)
	}

	got, err := h.Health(2, 0)
	if err != nil || got.Looked != 2 {
		t.Errorf("limited: %+v, %v", got, err)
	}
	if got, err := New(filepath.Join(real, "none"), real, time.Now).Health(1000, 0); err != nil || got.Looked != 0 {
		t.Errorf("no home: %+v, %v", got, err)
	}
}
