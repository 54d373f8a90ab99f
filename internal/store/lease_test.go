package store

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestLease(t *testing.T) {
	t.Parallel()
	h := New(t.TempDir(), t.TempDir(), time.Now)
	a, err := h.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	release, ok, err := a.TryLease("watch.lease")
	if err != nil || !ok {
		t.Fatalf("first holder: %v, %v", ok, err)
	}
	if _, ok, err := b.TryLease("watch.lease"); ok || err != nil {
		t.Errorf("second holder: %v, %v; want false", ok, err)
	}
	if r, ok, err := b.TryLease("other.lease"); !ok || err != nil {
		t.Errorf("another job: %v, %v; want true", ok, err)
	} else {
		r()
	}
	if err := b.Update(func(tx *Tx) error { return tx.Write("x", nil) }); err != nil {
		t.Errorf("Update while a lease is held: %v", err)
	}
	release()
	again, ok, err := b.TryLease("watch.lease")
	if err != nil || !ok {
		t.Fatalf("after release: %v, %v", ok, err)
	}
	again()
	if _, _, err := a.TryLease("../x"); err == nil {
		t.Error("a lease outside the session's folder")
	}
}

// A host's file is claimed once, changed never, and free again afterwards.
func TestClaim(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	if err := os.WriteFile(path, []byte("{}\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	release, ok := Claim(path)
	if !ok {
		t.Fatal("not free")
	}
	if _, again := Claim(path); again && runtime.GOOS != "windows" {
		t.Error("claimed twice")
	}
	release()
	if release, ok = Claim(path); !ok {
		t.Error("still taken")
	}
	release()
	if _, ok := Claim(filepath.Join(filepath.Dir(path), "none")); !ok {
		t.Error("no file, and nobody may act")
	}
}
