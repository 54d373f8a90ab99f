package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := New(filepath.Join(dir, "o"), filepath.Join(dir, "c"), time.Now).Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	const name = "doc.jsonl"
	path := filepath.Join(s.dir, name)
	put := func(doc string) error {
		return s.Update(func(tx *Tx) error { return tx.AppendVersion(name, []byte(doc)) })
	}
	want := func(doc string) {
		t.Helper()
		if got, err := s.Version(name); err != nil || string(got) != doc {
			t.Fatalf("version %q, %v; want %q", got, err, doc)
		}
	}
	if _, err := s.Version(name); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no journal: %v", err)
	}
	for i := range 3 {
		if err := put(fmt.Sprintf(`{"n":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	want(`{"n":2}`)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}

	// A version that was broken off does not count, and does not spoil the next.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"n":`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	want(`{"n":2}`)
	if err := put(`{"n":3}`); err != nil {
		t.Fatal(err)
	}
	want(`{"n":3}`)

	// It stays small, and a large document may stand a few times.
	for _, size := range []int{100, 20_000} {
		for i := range 2000 {
			if size > 1000 && i > 50 {
				break
			}
			doc := fmt.Sprintf(`{"n":%d,"x":"%s"}`, i, strings.Repeat("x", size))
			if err := put(doc); err != nil {
				t.Fatal(err)
			}
			want(doc)
			if info, err := os.Stat(path); err != nil || info.Size() > int64(max(journalKeep, journalLines*size)+2*size+100) {
				t.Fatalf("%d bytes, %v", info.Size(), err)
			}
		}
	}
	if err := put("a\nb"); err == nil {
		t.Error("two lines are not one version")
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasSuffix(data, []byte("\n")) {
		t.Errorf("the journal does not end with a line: %v", err)
	}
}
