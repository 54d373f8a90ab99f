package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/host"
)

func TestListAndResolve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	claude, codex := filepath.Join(dir, "claude"), filepath.Join(dir, "codex")
	age := 0
	put := func(path string, lines ...string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, l := range lines {
			text += l + "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		age++
		when := cloneTime.Add(-time.Duration(age) * time.Hour)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := put(filepath.Join(claude, "projects", "-w-one", "aaaa1111-0000-4000-8000-000000000000.jsonl"), userLine)
	b := put(filepath.Join(claude, "projects", "-w-two", "aaaa2222-0000-4000-8000-000000000000.jsonl"), userLine)
	put(filepath.Join(claude, "projects", "-w-two", "agent-1234.jsonl"), userLine)
	put(filepath.Join(claude, "projects", "-w-two", "aaaa2222-0000-4000-8000-000000000000", "subagents", "agent-1.jsonl"), userLine)
	c := put(filepath.Join(codex, "sessions", "2026", "03", "04", "rollout-2026-03-04T05-06-07-01a1dd58-f3c3-75c2-aeba-5483adcbe0a9.jsonl"), `{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}`)
	d := put(filepath.Join(codex, "archived_sessions", "rollout-2026-03-04T05-06-07-01a1dd59-f3c3-75c2-aeba-5483adcbe0a9.jsonl"), `{"timestamp":"t","type":"session_meta","payload":{"id":"y"}}`)
	dirs := func(h *host.Host) string {
		if h.Name == Codex {
			return codex
		}
		return claude
	}
	files, err := List(dirs)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	// The lines of a and b tell an older time than the files of c and d, whose lines tell none.
	if d := cmp.Diff([]string{c, d, a, b}, paths); d != "" {
		t.Error(d)
	}
	for ref, want := range map[string]string{
		"aaaa1111-0000-4000-8000-000000000000": a, "aaaa2": b, "01a1dd58": c, c: c, "01a1dd59": d,
	} {
		if f, err := Resolve(ref, dirs); err != nil || f.Path != want {
			t.Errorf("%s: %s, %v", ref, f.Path, err)
		}
	}
	var many *Ambiguous
	if _, err := Resolve("aaaa", dirs); !errors.As(err, &many) || len(many.IDs) != 2 {
		t.Errorf("%v", err)
	}
	for _, ref := range []string{"", "zzz", "/no/such.jsonl"} {
		if _, err := Resolve(ref, dirs); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if files, err := List(func(*host.Host) string { return filepath.Join(dir, "no") }); err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
}
