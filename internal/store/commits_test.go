package store

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Announcements of many sessions at once are all there; the file stays small, keeps
// the newest, and what is damaged in it costs a line.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := New(dir, dir, time.Now)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := h.Announce(Commit{Session: fmt.Sprint(i), GitDir: "/a/.git", Subject: "x", At: time.Now()}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	path := filepath.Join(dir, commitsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(data, "{torn\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := len(h.Announced("/a/.git")); n != 20 {
		t.Errorf("%d are known", n)
	}
	for i := range 2000 {
		if err := h.Announce(Commit{Session: fmt.Sprint(i), GitDir: "/b/.git", At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	list := h.Announced("/b/.git")
	if info, err := os.Stat(path); err != nil || info.Size() > maxCommitsFile+1000 {
		t.Errorf("%v, %v", info, err)
	}
	if len(list) == 0 || list[len(list)-1].Session != "1999" {
		t.Errorf("%d are known, not the newest", len(list))
	}
	if len(h.Announced("/a/.git")) != 0 {
		t.Error("the oldest are still known")
	}
}

// A link in the file's place is not followed.
func TestAnnounceFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "theirs")
	if err := os.WriteFile(other, []byte("theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, commitsFile)); err != nil {
		t.Skip(err)
	}
	h := New(dir, dir, time.Now)
	if err := h.Announce(Commit{Session: "s", GitDir: "/a/.git"}); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(other); string(data) != "theirs\n" {
		t.Errorf("written through the link: %q", data)
	}
	if n := len(h.Announced("/a/.git")); n != 1 {
		t.Errorf("%d are known", n)
	}
}
