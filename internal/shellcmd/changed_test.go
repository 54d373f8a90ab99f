package shellcmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestChanged(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "3", "4"} {
		t.Run("index "+version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			git := func(args ...string) {
				t.Helper()
				cmd := exec.Command("git", args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			write := func(name, text string, at time.Time) {
				t.Helper()
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
			begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			files := []string{"a.go", "deep/er/b.go", "deep/er/long_name_c.go", "deep/d.go", "z.go"}
			for _, f := range files {
				write(f, "one", begin.Add(-time.Hour))
			}
			git("init", "-q")
			git("config", "index.version", version)
			git("add", "-A")
			git("update-index", "--index-version", version)
			if got := Changed(dir, begin, time.Second); len(got) != 0 {
				t.Errorf("nothing changed: %v", got)
			}
			write("deep/er/b.go", "two, longer", begin.Add(time.Minute)) // in the slice
			write("z.go", "two", begin.Add(time.Minute))                 // same size
			write("a.go", "two, longer", begin.Add(-time.Minute))        // before it
			if err := os.Remove(filepath.Join(dir, "deep/d.go")); err != nil {
				t.Fatal(err)
			}
			got := Changed(filepath.Join(dir, "deep"), begin, time.Second)
			for i := range got {
				rel, err := filepath.Rel(dir, got[i])
				if err != nil {
					t.Fatal(err)
				}
				got[i] = filepath.ToSlash(rel)
			}
			if want := []string{"deep/er/b.go", "z.go"}; !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
	if got := Changed(t.TempDir(), time.Time{}, time.Second); got != nil {
		t.Errorf("no repository: %v", got)
	}
}

func FuzzEachTracked(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("x", 70) + "\x00"))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x09" + strings.Repeat("\x00", 200)))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		eachTracked(b, func(tracked) bool { n++; return n < 1000 })
	})
}
