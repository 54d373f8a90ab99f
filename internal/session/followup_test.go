package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// project is a folder with a feature whose tasks are the given stages.
func project(t *testing.T, stages ...string) (root, tasks string) {
	t.Helper()
	root = t.TempDir()
	tasks = filepath.Join(root, "specs", "features", "in-progress", "f", "tasks.md")
	var b strings.Builder
	for _, s := range stages {
		fmt.Fprintf(&b, "- [ ] %s\n", s)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(tasks), 0o700), os.WriteFile(tasks, []byte(b.String()), 0o600)); err != nil {
		t.Fatal(err)
	}
	return root, tasks
}

// Killed between the state and what follows from it, a step is finished by the
// next call: its events are there once, its task is ticked.
func TestKilledBeforeWhatFollows(t *testing.T) {
	t.Parallel()
	for name, written := range map[string]bool{"with the state": true, "without the state": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			root, tasks := project(t, "DEV")
			update(t, s, func(tx *Tx) error {
				if _, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "single", Stages: []string{"DEV"}, Feature: "f", At: noon}); err != nil {
					return err
				}
				// All that a process which dies at the rename, or after it, has done.
				next, out := tx.o.Rules.Apply(tx.Workflow, workflow.Completion{Agent: "developer", AgentID: "a", At: noon, Route: &workflow.Route{Verdict: "PASS", Route: "NEXT"}})
				if out.Result != "pass" {
					return fmt.Errorf("outcome %+v", out)
				}
				data := next.Encode()
				todo, err := followUp(tx.Tx, Options{Lang: tx.o.Lang, Project: root}, next, out, data)
				if err == nil {
					err = todo.intend(tx.Tx)
				}
				if written {
					err = errors.Join(err, tx.Write(store.WorkflowFile, data), tx.EmitLines([]byte(strings.SplitAfter(todo.Lines, "\n")[0])))
				}
				return err
			})
			for range 2 {
				update(t, s, func(*Tx) error { return nil })
			}
			list, stats, err := s.Last(100, store.Filter{Types: []string{message.EventStageComplete, message.EventAgentComplete}})
			if err != nil || stats.Bad > 0 {
				t.Fatal(stats, err)
			}
			seen := map[string]int{}
			for _, e := range list {
				seen[e.Type]++
			}
			want := 0
			if written {
				want = 1
			}
			if seen[message.EventStageComplete] != want || seen[message.EventAgentComplete] > want {
				t.Errorf("events: %v", seen)
			}
			data, err := os.ReadFile(tasks)
			if err != nil || strings.Contains(string(data), "[x]") != written {
				t.Errorf("tasks: %s, %v", data, err)
			}
		})
	}
}

// Sessions that tick one list at the same time lose no tick.
func TestTicksOfManySessions(t *testing.T) {
	t.Parallel()
	var stages []string
	for i := range 40 {
		stages = append(stages, fmt.Sprintf("S%02d", i))
	}
	root, tasks := project(t, stages...)
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < len(stages); i += 4 {
				tick := todo{Project: root, Feature: "f", Stage: stages[i]}.tick
				err := tick()
				for ; errors.Is(err, store.ErrBusy); err = tick() {
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(tasks)
	if n := strings.Count(string(data), "- [x] "); err != nil || n != len(stages) {
		t.Errorf("%d of %d ticked, %v", n, len(stages), err)
	}
}

// A task list that another session ticks in is waited for when the lock is given up; where
// that takes too long, the next call ticks.
func TestTickInABusyList(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	root, tasks := project(t, "DEV", "TEST")
	unlock, err := store.LockFolder(filepath.Dir(tasks))
	if err != nil {
		t.Fatal(err)
	}
	var warned []error
	o := Options{Rules: workflow.Rules{MaxRetries: 3, MaxCrashes: 3}, Lang: message.EN, Now: noon, Project: root, Warn: func(err error) { warned = append(warned, err) }}
	err = Update(s, o, func(tx *Tx) error {
		_, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "single", Stages: []string{"DEV"}, Feature: "f", At: noon})
		if err == nil {
			_, err = tx.Apply(workflow.Completion{Agent: "developer", AgentID: "a", At: noon, Route: &workflow.Route{Verdict: "PASS", Route: "NEXT"}})
		}
		if tx.Unticked != nil || tx.busy != filepath.Dir(tasks) {
			t.Errorf("unticked: %v, busy: %s", tx.Unticked, tx.busy)
		}
		return err
	})
	if err != nil || len(warned) != 1 {
		t.Fatalf("%v, warned %v", err, warned)
	}
	unlock()
	if err := Update(s, o, func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if unlock, err = store.LockFolder(filepath.Dir(tasks)); err != nil {
		t.Fatal(err)
	}
	err = Update(s, o, func(tx *Tx) error {
		_, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w2", Type: "single", Stages: []string{"TEST"}, Feature: "f", At: noon})
		if err == nil {
			_, err = tx.Apply(workflow.Completion{Agent: "tester", AgentID: "b", At: noon, Route: &workflow.Route{Verdict: "PASS", Route: "NEXT"}})
		}
		unlock()
		return err
	})
	if data, bad := os.ReadFile(tasks); err != nil || bad != nil || strings.Count(string(data), "[x]") != 2 {
		t.Errorf("as soon as it is free: %s, %v, %v", data, err, bad)
	}
	if data, err := os.ReadFile(tasks); err != nil || !strings.Contains(string(data), "[x]") {
		t.Errorf("tasks: %s, %v", data, err)
	}
	left, err := s.Version(followUpFile)
	if err != nil || !json.Valid(left) || string(left) != "{}" {
		t.Errorf("left: %s, %v", left, err)
	}
}

// What cannot be read, beside the state, is no reason to stop.
func TestDamagedMemoryIsForgotten(t *testing.T) {
	t.Parallel()
	s, path := open(t)
	update(t, s, func(tx *Tx) error { tx.Post(Message{Model: "x"}); return nil })
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	// What is in it is not known: a hook that only looks whether something waits
	// has to find out.
	if m := Read(s); !m.Waits() || len(m.Outbox) > 0 {
		t.Errorf("%+v", m)
	}
	update(t, s, func(tx *Tx) error { tx.Post(Message{Model: "y"}); return nil })
	if m := Read(s); len(m.Outbox) != 1 || m.Unread() {
		t.Errorf("%+v", m)
	}
}
