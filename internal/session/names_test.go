package session

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// The engine tells agents the names of the files that the store reads and
// writes. It is pure and knows no paths, so both spell them out: alike.
func TestFileNamesAgree(t *testing.T) {
	t.Parallel()
	s, err := store.New(t.TempDir(), t.TempDir(), time.Now).Session("s-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, stage := range []string{"REVIEW", "TEST:2", "TEST:verify", "DB-REVIEW", workflow.MergedContext} {
		if got, want := workflow.ContextName("s-1", stage), filepath.Base(s.ContextPath(stage)); got != want {
			t.Errorf("report of %s: %s, the store has %s", stage, got, want)
		}
		if got, want := workflow.ReflectionName("s-1", stage), filepath.Base(s.ReflectionPath(stage)); got != want {
			t.Errorf("reflections of %s: %s, the store has %s", stage, got, want)
		}
	}
}
