package store

import (
	"bytes"
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
	// A torn line, as of a hook that was killed, costs itself alone.
	if err := os.WriteFile(path, append(data, "{torn\n{\"session\":\"to"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.Announce(Commit{Session: "after", GitDir: "/a/.git", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if n := len(h.Announced("/a/.git")); n != 21 {
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

// Each commit is the first one's who claims it, of however many at once; asking again
// changes nothing, and what is over is no longer announced.
func TestClaimCommits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := New(dir, dir, time.Now)
	var all sync.WaitGroup
	var mu sync.Mutex
	winners := map[string][]string{}
	for i := range 12 {
		all.Go(func() {
			id := fmt.Sprint("s", i)
			if err := h.Announce(Commit{Session: id, Command: "c", GitDir: "/a/.git"}); err != nil {
				t.Error(err)
			}
			for range 2 {
				mine, err := New(dir, dir, time.Now).Claim(Commit{Session: id, Command: "c", Over: true, Hashes: []string{"1111111111", "2222222222", fmt.Sprint("33333333", i+10)}})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, hash := range mine {
					winners[hash] = append(winners[hash], id)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(winners) != 14 {
		t.Errorf("%d commits are somebody's", len(winners))
	}
	for hash, ids := range winners {
		if len(ids) != 2 || ids[0] != ids[1] {
			t.Errorf("%s is claimed by %q", hash, ids)
		}
	}
	if list := h.Announced("/a/.git"); len(list) != 0 {
		t.Errorf("still announced: %v", list)
	}
	data, err := os.ReadFile(filepath.Join(dir, commitsFile))
	if n := bytes.Count(data, []byte("\n")); err != nil || n != 24 {
		t.Errorf("%d lines, %v", n, err)
	}
	// What git prints is the head of a hash.
	if mine, err := h.Claim(Commit{Session: "x", Command: "y", Over: true, Hashes: []string{"1111111"}}); err != nil || len(mine) != 0 {
		t.Errorf("%v, %v", mine, err)
	}
	// A command that goes on is still announced.
	if err := h.Announce(Commit{Session: "x", Command: "z", GitDir: "/a/.git"}); err != nil {
		t.Fatal(err)
	}
	if mine, err := h.Claim(Commit{Session: "x", Command: "z", Hashes: []string{"4444444"}}); err != nil || len(mine) != 1 || len(h.Announced("/a/.git")) != 1 {
		t.Errorf("%v, %v", mine, err)
	}
	if mine, err := h.Claim(Commit{Session: "x", Command: "z", Over: true}); err != nil || len(mine) != 0 || len(h.Announced("/a/.git")) != 0 {
		t.Errorf("%v, %v", mine, err)
	}
}

// Where nothing can be written down, a commit is its maker's all the same.
func TestClaimWithoutADisk(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if mine, err := New(file, file, time.Now).Claim(Commit{Session: "s", Hashes: []string{"1111111"}}); err == nil || len(mine) != 1 {
		t.Errorf("%v, %v", mine, err)
	}
}
