package team

import (
	"os"
	"path/filepath"
	"testing"
)

// What a killed pull left goes with the next one: the file that it fetched, the copy
// beside its place, and what an earlier version left. What another process is at stays.
func TestIncoming(t *testing.T) {
	t.Parallel()
	base, place := t.TempDir(), filepath.Join(t.TempDir(), "s1.jsonl")
	old := filepath.Join(base, incomingPrefix+"123")
	if err := os.WriteFile(old, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var copies []string
	receive := func() *incoming {
		t.Helper()
		in, err := newIncoming(base)
		if err != nil {
			t.Fatal(err)
		}
		f, err := in.beside(place)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		copies = append(copies, f.Name())
		return in
	}
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	}
	killed, busy := receive(), receive()
	killed.Close()
	killed.release() // as the system does
	ends := receive()
	for path, want := range map[string]bool{old: false, killed.dir: false, copies[0]: false, busy.dir: true, copies[1]: true, ends.dir: true, copies[2]: true} {
		if there(path) != want {
			t.Errorf("%s: %v", filepath.Base(path), !want)
		}
	}
	if err := os.Rename(copies[2], place); err != nil {
		t.Fatal(err)
	}
	ends.remove()
	busy.remove()
	if left, _ := os.ReadDir(base); len(left) > 0 || there(copies[1]) || !there(place) {
		t.Errorf("left: %v", left)
	}
}
