package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) (s *store.Session, memory string) {
	t.Helper()
	root := t.TempDir()
	s, err := store.New(root, t.TempDir(), func() time.Time { return noon }).Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	return s, filepath.Join(root, "sessions", "s1", MemoryFile)
}

func update(t *testing.T, s *store.Session, f func(*Tx) error) {
	t.Helper()
	o := Options{Lang: message.EN, Now: noon, Warn: func(err error) { t.Errorf("warning: %v", err) }}
	if err := Update(s, o, f); err != nil {
		t.Fatal(err)
	}
}

// What changes nothing writes nothing, and what fails keeps what it has seen.
func TestUpdateWritesWhatChanged(t *testing.T) {
	t.Parallel()
	s, path := open(t)
	update(t, s, func(*Tx) error { return nil })
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty memory is written: %v", err)
	}
	boom := errors.New("boom")
	err := Update(s, Options{Now: noon}, func(tx *Tx) error {
		tx.Observe(host.FileChanged{File: "a.go"}, compact.Settings{})
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("error: %v", err)
	}
	m := Read(s)
	if len(m.Thread.State.Slice.Files) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error {
		tx.Observe(host.FileChanged{File: "a.go"}, compact.Settings{})
		return nil
	})
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Errorf("written again:\n%s", after)
	}
}

// Idle reads without decoding what Waits reads decoded: they must agree.
func TestIdleAgreesWithWaits(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Tx){
		"nothing":              func(*Tx) {},
		"a text waits":         func(tx *Tx) { tx.Post(Message{Model: "next"}) },
		"a sub-agent works":    func(tx *Tx) { tx.AgentStepped("a1") },
		"a compaction begins":  func(tx *Tx) { tx.BeginCompaction("auto", compact.Packet{ID: "p", Text: "know"}) },
		"an agent compacts":    func(tx *Tx) { tx.BeginAgentCompaction("a1") },
		"a compaction is done": func(tx *Tx) { tx.BeginCompaction("auto", compact.Packet{}); _ = tx.Confirm("") },
		"a packet waits": func(tx *Tx) {
			tx.BeginCompaction("auto", compact.Packet{ID: "p", Text: "know", Expires: noon.Add(time.Hour)})
			_ = tx.Confirm("")
		},
		"a compaction failed": func(tx *Tx) { tx.BeginCompaction("auto", compact.Packet{}); _, _ = tx.Settle(false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			update(t, s, func(tx *Tx) error {
				tx.Observe(host.SessionSeen{Transcript: "/t", Model: "m"}, compact.Settings{})
				tx.Observe(host.TurnStarted{At: noon}, compact.Settings{})
				tx.Observe(host.ToolActivity{}, compact.Settings{})
				change(tx)
				return nil
			})
			m := Read(s)
			g, _ := Look(s)
			turn, idle := g.Turn, g.Idle("/t", "m")
			if idle == m.Waits() {
				t.Errorf("idle %v, waits %v", idle, m.Waits())
			}
			if idle && !turn.Equal(noon) {
				t.Errorf("turn: %v", turn)
			}
			if g.Waits != m.Waits() {
				t.Errorf("a glance says that something waits: %v; %v", g.Waits, m.Waits())
			}
			if g.Idle("/t", "another") {
				t.Error("idle, though the model has changed")
			}
		})
	}
}

// What survives a compaction is handed out once, whichever hooks come, in
// whichever order; and only a session that goes on has it.
func TestCompactionIsHandedOverOnce(t *testing.T) {
	t.Parallel()
	type step func(tx *Tx) (string, error)
	var (
		begin step = func(tx *Tx) (string, error) {
			tx.BeginCompaction("manual", compact.Packet{ID: "p", Text: "know", Created: noon, Expires: noon.Add(time.Hour)})
			return "", nil
		}
		confirm step = func(tx *Tx) (string, error) { return "", tx.Confirm("") }
		deliver step = func(tx *Tx) (string, error) { return tx.Deliver(compact.ViaSessionStart) }
		prompt  step = func(tx *Tx) (string, error) { return tx.Settle(true) }
		tool    step = func(tx *Tx) (string, error) { return tx.Settle(false) }
	)
	for name, c := range map[string]struct {
		steps []step
		told  string
		last  string // the last event
		lost  int    // how many hooks print nothing
		dies  bool   // the first hook that has to print dies
	}{
		"the hook dies":      {steps: []step{begin, confirm, deliver, tool, prompt, prompt}, told: "know", last: message.EventPacketUnknown, dies: true},
		"nobody listens":     {steps: []step{begin, confirm, deliver, prompt, tool}, told: "knowknow", last: message.EventPacketDelivered, lost: 1},
		"as hosts do":        {steps: []step{begin, confirm, deliver, confirm, tool}, told: "know", last: message.EventPacketDelivered},
		"told twice":         {steps: []step{begin, confirm, deliver, deliver, deliver}, told: "know", last: message.EventSessionRecovery},
		"with a prompt":      {steps: []step{begin, confirm, tool, prompt, prompt}, told: "know", last: message.EventPacketDelivered},
		"never confirmed":    {steps: []step{begin, tool, prompt}},
		"confirmed, no more": {steps: []step{begin, confirm}, last: message.EventSessionCompactConfirm},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			told := ""
			for _, f := range c.steps {
				text := ""
				update(t, s, func(tx *Tx) (err error) {
					text, err = f(tx)
					return err
				})
				told += text
				if text == "" || c.dies {
					continue
				}
				if err := Acknowledge(s, noon, c.lost <= 0); err != nil {
					t.Fatal(err)
				}
				c.lost--
			}
			if told != c.told {
				t.Errorf("told %q, want %q", told, c.told)
			}
			list, _, err := s.Last(1, store.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			last := ""
			if len(list) > 0 {
				last = list[0].Type
			}
			if last != c.last {
				t.Errorf("last event %q, want %q", last, c.last)
			}
		})
	}
}

// A main thread that was not told of a step is told where the work stands, once.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	start := workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV", "REVIEW", "TEST", "RETRO", "DOCS"}, At: noon}
	update(t, s, func(tx *Tx) error {
		_, err := tx.Apply(start)
		return err
	})
	for i, want := range []bool{true, false} {
		update(t, s, func(tx *Tx) error {
			if got := tx.CatchUp(); got != want {
				t.Errorf("%d: %v", i, got)
			}
			return nil
		})
	}
}

// The outbox does not grow without bounds where no host comes to fetch it.
func TestOutboxIsBounded(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	update(t, s, func(tx *Tx) error {
		for range 2 * maxOutbox {
			tx.Post(Message{Model: strings.Repeat("x", 8)})
		}
		tx.Post(Message{Model: "last"})
		tx.Post(Message{})
		return nil
	})
	update(t, s, func(tx *Tx) error {
		list, _ := tx.Collect()
		again, _ := tx.Collect()
		if len(list) != maxOutbox || list[maxOutbox-1].Model != "last" || len(again) != 0 {
			t.Errorf("%d texts", len(list))
		}
		return nil
	})
}

// A text that a hook took and did not live to print is not said again, but the
// main thread learns where the work stands; one that nobody listened to is.
func TestMessagesInDoubt(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	update(t, s, func(tx *Tx) error {
		_, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV", "REVIEW", "TEST", "RETRO", "DOCS"}, At: noon})
		tx.Post(Message{Model: "one"})
		return err
	})
	take := func(want ...string) {
		t.Helper()
		update(t, s, func(tx *Tx) error {
			var got []string
			list, _ := tx.Collect()
			for _, m := range list {
				got = append(got, m.Model)
			}
			if !slices.Equal(got, want) {
				t.Errorf("took %q, want %q", got, want)
			}
			return nil
		})
	}
	acknowledge := func(printed bool) {
		t.Helper()
		if err := Acknowledge(s, noon, printed); err != nil {
			t.Fatal(err)
		}
	}
	take("one")
	acknowledge(false)
	take("one")
	if m := Read(s); !m.Waits() {
		t.Error("nothing waits")
	}
	update(t, s, func(tx *Tx) error {
		if tx.CatchUp() {
			t.Error("in doubt too early")
		}
		return nil
	})
	take() // the hook has died
	update(t, s, func(tx *Tx) error {
		if !tx.CatchUp() || tx.CatchUp() {
			t.Error("not told where the work stands, once")
		}
		tx.Post(Message{Model: "two"})
		return nil
	})
	take("two")
	acknowledge(true)
	take()
	update(t, s, func(tx *Tx) error {
		if tx.CatchUp() {
			t.Error("in doubt, though it is printed")
		}
		return nil
	})
}
