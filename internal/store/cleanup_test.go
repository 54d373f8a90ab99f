package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const (
	day   = 24 * time.Hour
	stale = 3*day + time.Minute
	fresh = 3*day - time.Minute
)

// age makes a file, or all files below a folder, that old.
const maxAge = 3 * 24 * time.Hour

func age(t testing.TB, path string, by time.Duration) {
	t.Helper()
	at := clock.Add(-by)
	err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(p, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// active takes a state of "active" for a workflow at work.
func active(_ string, workflow []byte) bool { return string(workflow) == "active" }

func TestCleanupClaudeFiles(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	live := sessionIn(t, h, "live-1")
	update(t, live, func(tx *Tx) error { return tx.Write(WorkflowFile, []byte("active")) })
	ended := sessionIn(t, h, "ended")
	update(t, ended, func(tx *Tx) error { return tx.Write(WorkflowFile, []byte("ended")) })
	gone := []string{
		"pipeline-context-a-DEV.md", "pipeline-context-ended-TEST-2.md", "reflection-memory-a-TEST.md", "barrier-state-a.json", "barrier-state-ended.json",
		"pipeline-context-a-DEV.md.tmp", "reflection-memory-a-DEV.md.tmp", "barrier-state-a.json.tmp", "pipeline-context-live-DEV.md",
	}
	spared := []string{"pipeline-context-live-1-DEV.md", "reflection-memory-live-1-TEST.md", "barrier-state-live-1.json", "barrier-state-live-1.json.tmp"}
	foreign := []string{"settings.json", "pipeline-state-a.json", "pipeline-context-a.txt", "my-pipeline-context-a-DEV.md", "barrier-state-a.md", "notes.tmp", "pipeline-context-a-DEV.md.tmp.bak"}
	young := []string{"pipeline-context-b-DEV.md", "reflection-memory-b-DEV.md", "barrier-state-b.json"}
	for _, name := range append(append(append([]string{}, gone...), spared...), foreign...) {
		path := filepath.Join(h.ClaudeDir(), name)
		writeRaw(t, path, "x")
		age(t, path, stale)
	}
	for _, name := range young {
		path := filepath.Join(h.ClaudeDir(), name)
		writeRaw(t, path, "x")
		age(t, path, fresh)
	}
	folder := filepath.Join(h.ClaudeDir(), "pipeline-context-d-DEV.md")
	writeRaw(t, filepath.Join(folder, "x"), "")
	age(t, folder, stale)
	link := filepath.Join(h.ClaudeDir(), "pipeline-context-l-DEV.md")
	if err := os.Symlink(filepath.Join(h.ClaudeDir(), "settings.json"), link); err != nil {
		t.Skip("no links here:", err)
	}

	var want []string
	for _, name := range gone {
		want = append(want, filepath.Join(h.ClaudeDir(), name))
	}
	sorted := cmpopts.SortSlices(strings.Compare)
	for _, dry := range []bool{true, false} {
		report, err := h.Cleanup(CleanupOptions{MaxAge: maxAge, DryRun: dry, Active: active})
		if err != nil || len(report.Failed) > 0 {
			t.Fatal(err, report.Failed)
		}
		if diff := cmp.Diff(want, report.Files, sorted); diff != "" {
			t.Errorf("dry run %v: %s", dry, diff)
		}
		for _, name := range gone {
			if exists(filepath.Join(h.ClaudeDir(), name)) != dry {
				t.Errorf("dry run %v: %s is wrong", dry, name)
			}
		}
	}
	for _, name := range append(append(append([]string{filepath.Base(folder), filepath.Base(link)}, spared...), foreign...), young...) {
		if !exists(filepath.Join(h.ClaudeDir(), name)) {
			t.Errorf("%s is gone", name)
		}
	}
	report, err := h.Cleanup(CleanupOptions{MaxAge: time.Hour, Active: active})
	if err != nil || len(report.Files) != len(young) {
		t.Errorf("with another age: %v, %v", report.Files, err)
	}
}

func TestCleanupSessions(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	make := func(id, workflow string, by time.Duration) *Session {
		s := sessionIn(t, h, id)
		update(t, s, func(tx *Tx) error {
			return errors.Join(tx.Write(WorkflowFile, []byte(workflow)), tx.Emit(On("session:start")))
		})
		age(t, s.dir, by)
		return s
	}
	victim := filepath.Join(t.TempDir(), "victim")
	writeRaw(t, filepath.Join(victim, "x"), "")
	old := make("old", "ended", stale)
	nested := make("nested", "", stale)
	writeRaw(t, filepath.Join(nested.dir, "handoffs", "x.md"), "x")
	if err := os.Symlink(victim, filepath.Join(nested.dir, "handoffs", "link")); err != nil {
		t.Skip("no links here:", err)
	}
	age(t, nested.dir, stale)
	if err := os.Chtimes(filepath.Join(nested.dir, "handoffs"), clock, clock); err != nil {
		t.Fatal(err)
	}
	working := make("working", "active", stale)
	young := make("young", "ended", fresh)
	touched := make("touched", "ended", stale)
	age(t, touched.path(TimelineFile), fresh)
	empty := filepath.Join(h.sessionsDir(), "empty")
	newer := filepath.Join(h.sessionsDir(), "newer")
	for _, dir := range []string{empty, newer} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	age(t, empty, stale)
	age(t, newer, fresh)
	stray := filepath.Join(h.sessionsDir(), "file")
	writeRaw(t, stray, "")
	age(t, stray, stale)
	linked := filepath.Join(h.sessionsDir(), "linked")
	if err := os.Symlink(victim, linked); err != nil {
		t.Fatal(err)
	}
	trash := filepath.Join(h.sessionsDir(), trashPrefix+"crashed")
	writeRaw(t, filepath.Join(trash, "x"), "")

	want := CleanupReport{Sessions: []string{"empty", "nested", "old"}, Spared: []string{"working"}}
	for _, dry := range []bool{true, false} {
		report, err := h.Cleanup(CleanupOptions{MaxAge: maxAge, DryRun: dry, Active: active})
		if diff := cmp.Diff(want, report); diff != "" || err != nil {
			t.Errorf("dry run %v: %v %s", dry, err, diff)
		}
		for _, path := range []string{old.dir, nested.dir, empty, trash} {
			if exists(path) != dry {
				t.Errorf("dry run %v: %s is wrong", dry, path)
			}
		}
	}
	for _, path := range []string{working.path(WorkflowFile), young.path(WorkflowFile), touched.path(WorkflowFile), newer, stray, linked, filepath.Join(victim, "x")} {
		if !exists(path) {
			t.Errorf("%s is gone", path)
		}
	}
	if report, err := h.Cleanup(CleanupOptions{MaxAge: maxAge}); err != nil || !cmp.Equal(report.Sessions, []string{"working"}) {
		t.Errorf("without a say in it: %+v, %v", report, err)
	}
}

// What cannot be removed is reported and does not keep the rest.
func TestCleanupGoesOn(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	for _, id := range []string{"a", "b"} {
		s := sessionIn(t, h, id)
		update(t, s, func(tx *Tx) error { return tx.Write(WorkflowFile, []byte("ended")) })
		age(t, s.dir, stale)
	}
	// A state that cannot be read may be that of a workflow at work.
	a := sessionIn(t, h, "a")
	if err := errors.Join(os.Remove(a.path(WorkflowFile)), os.Mkdir(a.path(WorkflowFile), 0o700)); err != nil {
		t.Fatal(err)
	}
	age(t, a.dir, stale)
	report, err := h.Cleanup(CleanupOptions{MaxAge: maxAge, Active: active})
	if err != nil || !cmp.Equal(report.Sessions, []string{"b"}) || !cmp.Equal(report.Spared, []string{"a"}) || len(report.Failed) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	writeRaw(t, filepath.Join(h.ClaudeDir()), "a file where the folder should be")
	if _, err := h.Cleanup(CleanupOptions{MaxAge: maxAge, Active: active}); err == nil {
		t.Error("no error for a folder that cannot be listed")
	}
}

func TestCleanupWithoutAnything(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	if report, err := h.Cleanup(CleanupOptions{MaxAge: maxAge}); err != nil || !cmp.Equal(report, CleanupReport{}) {
		t.Errorf("%+v, %v", report, err)
	}
	if exists(h.Root()) || exists(h.ClaudeDir()) {
		t.Error("cleaning up made folders")
	}
}

// Clean-ups take away only what nobody is working on: an update always finds
// what it wrote itself, and no other update gets in between.
func TestCleanupAgainstUpdates(t *testing.T) {
	t.Parallel()
	h := testHome(t.TempDir())
	stop := make(chan struct{})
	var cleaners sync.WaitGroup
	var removed atomic.Int64
	cleaners.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			report, err := h.Cleanup(CleanupOptions{MaxAge: maxAge})
			if err != nil {
				t.Error(err)
			}
			removed.Add(int64(len(report.Sessions)))
		}
	})
	var updaters sync.WaitGroup
	for range 3 {
		s := sessionIn(t, h, "s")
		updaters.Go(func() {
			// On a busy machine the cleaner may not get its turn for long.
			for i := 0; i < 30 || removed.Load() == 0 && i < 10_000; i++ {
				err := s.Update(func(tx *Tx) error {
					// All that is written looks old at once, so that only the
					// lock protects it, and is enough to take a while to remove.
					for n := range 20 {
						name := strconv.Itoa(n)
						if err := tx.WriteLoose(name, []byte{byte(i)}); err != nil {
							return err
						}
						if err := os.Chtimes(s.path(name), clock.Add(-stale), clock.Add(-stale)); err != nil {
							return err
						}
					}
					for n := range 20 {
						data, err := tx.Read(strconv.Itoa(n))
						if err != nil || len(data) != 1 || data[0] != byte(i) {
							return fmt.Errorf("wrote %d, read %v, %v", i, data, err)
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	updaters.Wait()
	close(stop)
	cleaners.Wait()
	if removed.Load() == 0 {
		t.Error("nothing was ever removed: the test shows nothing")
	}
}

func TestClaimCleanup(t *testing.T) {
	t.Parallel()
	now := clock
	dir := t.TempDir()
	h := New(filepath.Join(dir, "o"), filepath.Join(dir, "c"), func() time.Time { return now })
	for _, step := range []struct {
		forward time.Duration
		want    bool
	}{
		{0, true}, {0, false}, {59 * time.Minute, false}, {time.Minute, true}, {30 * time.Minute, false}, {day, true}, {-day, true}, {time.Minute, false},
	} {
		now = now.Add(step.forward)
		if got := h.ClaimCleanup(time.Hour); got != step.want {
			t.Errorf("%v later: %v", step.forward, got)
		}
	}
	victim := filepath.Join(dir, "victim")
	writeRaw(t, victim, "secret")
	marker := filepath.Join(h.Root(), "last-cleanup")
	if err := errors.Join(os.Remove(marker), os.Symlink(victim, marker)); err != nil {
		t.Skip("no links here:", err)
	}
	now = now.Add(100 * 365 * day)
	if !h.ClaimCleanup(time.Hour) || readRaw(t, victim) != "secret" {
		t.Error("a link in place of the marker")
	}
}
