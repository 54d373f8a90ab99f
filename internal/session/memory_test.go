package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// A hook that took a text to print is waited for while it lives, for a moment.
func TestPrinting(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no process can be asked whether it lives")
	}
	parent, me := os.Getppid(), os.Getpid()
	for name, tc := range map[string]struct {
		by   int
		at   time.Time
		want bool
	}{
		"another process just now":  {parent, noon, true},
		"it has an earlier clock":   {parent, noon.Add(printTime), true},
		"it takes too long":         {parent, noon.Add(-printTime - time.Second), false},
		"its clock is far ahead":    {parent, noon.Add(printTime + time.Second), false},
		"this process":              {me, noon, false},
		"a process that is no more": {1 << 30, noon, false},
	} {
		if got := printing(tc.by, tc.at, noon); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRunBy(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{RunnerID(7): 7, "pid:0": 0, "pid:-1": 0, "pid:x": 0, "7": 0, "": 0, "a1": 0} {
		if pid, ok := RunBy(id); ok != (want > 0) || ok && pid != want {
			t.Errorf("%q: %d, %v", id, pid, ok)
		}
	}
}

// The stage of a command whose process is gone may be handed over again; one that
// lives, or was never a process of ours, keeps its stage.
func TestDeadRunsAreDropped(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no process can be asked whether it lives")
	}
	for agent, want := range map[string]string{RunnerID(1 << 30): workflow.Pending, RunnerID(os.Getppid()): workflow.Active, "a1": workflow.Active} {
		s, _ := open(t)
		update(t, s, func(tx *Tx) error {
			if err := tx.DropDeadRuns(); err != nil {
				return err
			}
			for _, ev := range []workflow.Event{
				workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV"}, At: noon},
				workflow.Delegate{ID: "r", Stage: "DEV", AgentID: agent, At: noon},
			} {
				if _, err := tx.Apply(ev); err != nil {
					return err
				}
			}
			if err := tx.DropDeadRuns(); err != nil {
				return err
			}
			if st, _ := tx.Workflow.Stages.Get("DEV"); st.Status != want {
				t.Errorf("%s: DEV is %s, want %s", agent, st.Status, want)
			}
			return nil
		})
	}
}

// What a glance tells of commands, without decoding the memory.
func TestGlanceAtCommands(t *testing.T) {
	t.Parallel()
	s, memory := open(t)
	if _, ok := Look(s); ok {
		t.Error("a session that nobody knows has been seen")
	}
	update(t, s, func(tx *Tx) error {
		tx.Observe(host.SessionSeen{Transcript: "/t", Model: "m"}, compact.Settings{})
		tx.Observe(host.TurnStarted{At: noon}, compact.Settings{})
		return nil
	})
	g, ok := Look(s)
	if !ok || g.Waits || g.Worked || g.Resting || g.Failures || g.Started("") || g.Failed("make") || !g.Turn.Equal(noon) {
		t.Errorf("%v, %+v", ok, g)
	}
	if g.Idle("/t", "m") {
		t.Error("idle before the turn has worked")
	}
	update(t, s, func(tx *Tx) error {
		exit := 1
		end := host.CommandFinished{ID: "c0"}
		end.Line, end.Exit = "make  check", &exit
		tx.Observe(end, compact.Settings{})
		start := host.CommandStarted{ID: "c.1"}
		start.Line = "git commit"
		tx.Observe(start, compact.Settings{})
		tx.Memory.Threads.Resting = true
		return nil
	})
	if g, _ = Look(s); !g.Failures || !g.Failed("make  check") || g.Failed("make") || !g.Started("") || !g.Started("c.1") || g.Started("c") || !g.Resting || !g.Worked || g.Idle("/t", "m") {
		t.Errorf("%+v, failed %v, started %v", g, g.Failed("make  check"), g.Started("c.1"))
	}
	for _, tc := range []struct {
		transcript, model string
		want              bool
	}{{"", "", true}, {"/t", "m", true}, {"/t", "", true}, {"/u", "m", false}, {"/t", "n", false}} {
		if got := g.Knows(tc.transcript, tc.model); got != tc.want {
			t.Errorf("%q, %q: known is %v", tc.transcript, tc.model, got)
		}
	}
	// A memory that cannot be read may hold something that waits.
	if err := errors.Join(os.Remove(memory), os.Mkdir(memory, 0o700)); err != nil {
		t.Fatal(err)
	}
	if m := Read(s); !m.Unread() || !m.Waits() {
		t.Errorf("%+v", m)
	}
}

// How far the work has come does not depend on who is at it.
func TestMilestone(t *testing.T) {
	t.Parallel()
	load := func(text string) string {
		t.Helper()
		s, err := workflow.Load([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return milestone(s)
	}
	const pending = `{"version":4,"dag":{"DEV":{"deps":[]}},"stages":{"DEV":{"status":"pending"}}}`
	if load(pending) != load(strings.Replace(pending, "pending", "active", 1)) {
		t.Error("a hand-over is a milestone")
	}
	for _, other := range []string{
		strings.Replace(pending, "pending", "completed", 1), strings.Replace(pending, `"stages"`, `"retries":{"DEV":1},"stages"`, 1), strings.Replace(pending, `"stages"`, `"crashes":{"DEV":1},"stages"`, 1),
	} {
		if load(pending) == load(other) {
			t.Errorf("no milestone: %s", other)
		}
	}
}

// A compaction that the host asks for again at once is the same one.
func TestRepeatedCompaction(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		k    *Attempt
		want bool
	}{
		"none": {nil, false}, "just begun": {&Attempt{Status: begun, At: noon.Add(-repeat + time.Second)}, true},
		"a while ago": {&Attempt{Status: begun, At: noon.Add(-repeat)}, false}, "just done": {&Attempt{Status: done, At: noon}, false},
	} {
		tx := &Tx{o: Options{Now: noon}, Memory: Memory{Compaction: tc.k}}
		if got := tx.Repeated(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		if got, want := tc.k.Summarised(), tc.k != nil && tc.k.Status == begun; got != want {
			t.Errorf("%s: a summary may come: %v", name, got)
		}
	}
}

// Confirming a compaction counts from the transcript's end on, is told once, and
// numbers the next one.
func TestConfirm(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	path := claudeFile(t, "s1", 1000)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		update(t, s, func(tx *Tx) error {
			if k := tx.BeginCompaction("auto", compact.Packet{}); k.N != n || k.Receipt != nil || !k.At.Equal(noon) {
				t.Errorf("%+v", k)
			}
			return nil
		})
		for range 2 {
			update(t, s, func(tx *Tx) error { return tx.Confirm(path) })
		}
		m := Read(s)
		if m.Compactions != n || m.Offset != info.Size() || m.Noise.Read != info.Size() || m.Waits() || len(m.Thread.History) != n {
			t.Errorf("%+v", m)
		}
	}
	list, _, err := s.Last(10, store.Filter{Types: []string{message.EventSessionCompactConfirm}})
	if err != nil || len(list) != 2 {
		t.Errorf("told %d times, %v", len(list), err)
	}
	update(t, s, func(tx *Tx) error { return tx.Confirm(filepath.Join(filepath.Dir(path), "gone")) })
	if m := Read(s); m.Offset != 0 {
		t.Errorf("a file that is gone has %d bytes", m.Offset)
	}
}

// A packet that is too old is not handed over, and that is told.
func TestExpiredPacket(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	update(t, s, func(tx *Tx) error {
		tx.BeginCompaction("auto", compact.Packet{ID: "p", Text: "know", Created: noon.Add(-2 * time.Hour), Expires: noon.Add(-time.Hour)})
		return tx.Confirm("")
	})
	update(t, s, func(tx *Tx) error {
		text, err := tx.Deliver(compact.ViaPrompt)
		if text != "" {
			t.Errorf("handed over: %q", text)
		}
		return err
	})
	if e, ok, err := s.Latest(message.EventPacketExpired); err != nil || !ok || e.Text("id") != "p" {
		t.Errorf("%+v, %v, %v", e, ok, err)
	}
	update(t, s, func(tx *Tx) error {
		tx.Memory.Compaction = nil
		text, err := tx.Deliver(compact.ViaPrompt)
		if text != "" {
			t.Errorf("of no compaction: %q", text)
		}
		return err
	})
}

// A compaction that nothing confirmed has failed; in a workflow, that is told.
func TestUnconfirmedCompaction(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		s, _ := open(t)
		update(t, s, func(tx *Tx) error {
			if running {
				if _, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV"}, At: noon}); err != nil {
					return err
				}
			}
			tx.BeginCompaction("auto", compact.Packet{ID: "p", Text: "know"})
			text, err := tx.Settle(true)
			if text != "" || tx.Memory.Compaction.Status != Failed || tx.Memory.Waits() {
				t.Errorf("%q, %+v", text, tx.Memory.Compaction)
			}
			return err
		})
		if _, ok, err := s.Latest(message.EventSessionCompactFailed); err != nil || ok != running {
			t.Errorf("with a workflow %v: told %v, %v", running, ok, err)
		}
	}
}

// What a message in the outbox says of the work's place is what was true when it was
// left.
func TestOptionsOfAChange(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var warned []error
	o := Options{Lang: message.EN, Now: noon, Warn: func(err error) { warned = append(warned, err) }}
	err := Update(s, o, func(tx *Tx) error {
		tx.Report("QA", "fine")
		if !tx.Reported("QA") || tx.Reported("REVIEW") {
			t.Errorf("reported %v, %v", tx.Reported("QA"), tx.Reported("REVIEW"))
		}
		if _, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"QA"}, At: noon}); err != nil {
			return err
		}
		data, err := tx.ReadContext(tx.Session().ContextPath("QA"))
		if string(data) != "fine" {
			t.Errorf("the report is not written with the step: %q", data)
		}
		if !tx.Reported("QA") || !tx.Active() {
			t.Errorf("reported %v, active %v", tx.Reported("QA"), tx.Active())
		}
		tx.Leave(Message{Person: "hello"})
		if tx.Memory.Milestone != "" || len(tx.Memory.Outbox) != 1 || tx.Memory.Outbox[0].At != workflow.Stamp(noon) {
			t.Errorf("%q, %+v", tx.Memory.Milestone, tx.Memory.Outbox)
		}
		tx.Post(Message{})
		if tx.Memory.Milestone == "" || len(tx.Memory.Outbox) != 1 {
			t.Errorf("%q, %+v", tx.Memory.Milestone, tx.Memory.Outbox)
		}
		return err
	})
	if err != nil || len(warned) > 0 {
		t.Errorf("%v, warned %v", err, warned)
	}
}

func ExampleNewWorkflowID() {
	id := NewWorkflowID(noon)
	fmt.Println(strings.HasPrefix(id, "20260301-120000-"), len(id))
	// Output: true 24
}
