package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClaudeFileNames(t *testing.T) {
	t.Parallel()
	h := New("/o", "/c", nil)
	s := sessionIn(t, h, "sid-1")
	got := []string{
		s.ContextPath("REVIEW"), s.ContextPath("TEST:2"), s.ContextPath("TEST:verify"), s.ContextPath("DB-REVIEW"), s.ContextPath("MERGED"),
		s.reflectionPath("TEST:2"), s.barrierPath(), s.legacyStatePath(),
		s.ContextPath("../../etc/x y\x00é"), h.ConfigFile(),
	}
	want := []string{
		"/c/pipeline-context-sid-1-REVIEW.md", "/c/pipeline-context-sid-1-TEST-2.md", "/c/pipeline-context-sid-1-TEST-verify.md",
		"/c/pipeline-context-sid-1-DB-REVIEW.md", "/c/pipeline-context-sid-1-MERGED.md",
		"/c/reflection-memory-sid-1-TEST-2.md", "/c/barrier-state-sid-1.json", "/c/pipeline-state-sid-1.json",
		"/c/pipeline-context-sid-1-______etc_x_y__.md", "/o/config.yaml",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	long := sessionIn(t, h, strings.Repeat("s", 128))
	if n := len(filepath.Base(long.reflectionPath(strings.Repeat("長", 100)))) + len(".tmp"); n > 255 {
		t.Errorf("a file name of %d bytes", n)
	}
}

func TestClaudeFiles(t *testing.T) {
	t.Parallel()
	s := testSession(t)
	other := sessionIn(t, s.home, "other")
	update(t, s, func(tx *Tx) error {
		if _, err := tx.Barrier(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no barrier: %v", err)
		}
		if _, err := tx.Reflection("TEST"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no reflection: %v", err)
		}
		if _, err := s.LegacyState(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no legacy state: %v", err)
		}
		return errors.Join(tx.WriteContext("TEST:2", []byte("report")), tx.WriteReflection("TEST:2", []byte("round 1")), tx.WriteBarrier([]byte("{}")))
	})
	update(t, other, func(tx *Tx) error { return errors.Join(tx.WriteContext("DEV", nil), tx.WriteBarrier(nil)) })
	writeRaw(t, s.legacyStatePath(), `{"version":3}`)
	writeRaw(t, filepath.Join(s.home.ClaudeDir(), "settings.json"), "{}")
	left := func() (paths []string) {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(s.home.ClaudeDir(), "*-"+s.id+`[.\-]*`))
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	if diff := cmp.Diff([]string{s.barrierPath(), s.ContextPath("TEST:2"), s.legacyStatePath(), s.reflectionPath("TEST:2")}, left()); diff != "" {
		t.Error(diff)
	}
	update(t, s, func(tx *Tx) error {
		for want, read := range map[string]func() ([]byte, error){
			"round 1":       func() ([]byte, error) { return tx.Reflection("TEST:2") },
			"{}":            tx.Barrier,
			`{"version":3}`: s.LegacyState,
			"report":        func() ([]byte, error) { return tx.ReadContext(s.ContextPath("TEST:2")) },
		} {
			if got, err := read(); err != nil || string(got) != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		}
		return errors.Join(tx.RemoveContext("TEST:2"), tx.RemoveReflection("TEST:2"), tx.RemoveReflection("TEST:2"))
	})
	if diff := cmp.Diff([]string{s.barrierPath(), s.legacyStatePath()}, left()); diff != "" {
		t.Errorf("after removing: %s", diff)
	}
}

func TestReadContextPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := sessionIn(t, testHome(dir), "s")
	other := sessionIn(t, s.home, "other")
	elsewhere := filepath.Join(dir, "elsewhere", "pipeline-context-s-TEST.md")
	writeRaw(t, s.ContextPath("TEST"), "report")
	writeRaw(t, other.ContextPath("TEST"), "not yours")
	writeRaw(t, elsewhere, "not ours")
	writeRaw(t, s.ContextPath("BIG"), "")
	if err := os.Truncate(s.ContextPath("BIG"), maxContext+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.ContextPath("DIR"), 0o700); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error {
		for _, path := range []string{
			s.ContextPath("TEST"),
			"~/.claude/pipeline-context-s-TEST.md",
			filepath.Join(s.home.ClaudeDir(), "x", "..", "pipeline-context-s-TEST.md"),
			s.home.ClaudeDir() + "//./pipeline-context-s-TEST.md",
		} {
			if got, err := tx.ReadContext(path); err != nil || string(got) != "report" {
				t.Errorf("%s: %q, %v", path, got, err)
			}
		}
		for _, path := range []string{
			"", "~", "/", "/etc/hostname", elsewhere, other.ContextPath("TEST"), s.barrierPath(), s.reflectionPath("TEST"),
			"pipeline-context-s-TEST.md", "./pipeline-context-s-TEST.md", "~/pipeline-context-s-TEST.md", "~root/.claude/pipeline-context-s-TEST.md",
			"~/.claude/sub/pipeline-context-s-TEST.md", "~/.claude/../.claude/../x/pipeline-context-s-TEST.md",
			"~/.claude/pipeline-context-s-.md", "~/.claude/pipeline-context-s-TEST.md/", "~/.claude/pipeline-context-s-TEST.md\x00",
			"~/.claude/pipeline-context-s-TE ST.md", "~/.claude/pipeline-context-s-a.b.md", "~/.claude/pipeline-context-s-TEST.txt",
		} {
			if _, err := tx.ReadContext(path); !errors.Is(err, errContextFile) {
				t.Errorf("%q: %v", path, err)
			}
		}
		if _, err := tx.ReadContext(s.ContextPath("NONE")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing report: %v", err)
		}
		for _, stage := range []string{"BIG", "DIR"} {
			if _, err := tx.ReadContext(s.ContextPath(stage)); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", stage, err)
			}
		}
		return nil
	})
}
