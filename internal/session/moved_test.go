package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// A session that moves goes on only where its lease is held, and only as long.
func TestAway(t *testing.T) {
	t.Parallel()
	here := Moved{Machine: "a", Holder: "a", Phase: "held", Expires: noon}
	change := func(f func(*Moved)) *Moved { m := here; f(&m); return &m }
	for name, tc := range map[string]struct {
		m    *Moved
		now  time.Time
		want bool
	}{
		"never moved":        {nil, noon, false},
		"held here":          {&here, noon.Add(-time.Second), false},
		"at its last moment": {&here, noon, false},
		"over":               {&here, noon.Add(time.Second), true},
		"held elsewhere":     {change(func(m *Moved) { m.Holder = "b" }), noon, true},
		"offered":            {change(func(m *Moved) { m.Phase = "offered" }), noon, true},
	} {
		if got := tc.m.Away(tc.now); got != tc.want {
			t.Errorf("%s: away is %v", name, got)
		}
	}
}

// A lease is read as it was written; a file that cannot be read keeps nobody from
// working.
func TestMovedFile(t *testing.T) {
	t.Parallel()
	s, memory := open(t)
	if ReadMoved(s) != nil {
		t.Error("a session that never moved has a lease")
	}
	want := Moved{Machine: "a", Holder: "b", Token: 7, Phase: "held", Expires: noon, At: noon}
	if err := WriteMoved(s, want); err != nil {
		t.Fatal(err)
	}
	want.Schema = 1
	if d := cmp.Diff(&want, ReadMoved(s)); d != "" {
		t.Errorf("-written +read\n%s", d)
	}
	path := filepath.Join(filepath.Dir(memory), movedFile)
	for _, text := range []string{"{broken", "{}", `{"machine":"a"}`, `{"holder":"a"}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if m := ReadMoved(s); m != nil {
			t.Errorf("%s: %+v", text, m)
		}
	}
	if err := ForgetMoved(s); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}

// What travels: the workflow, the memory and the reports. Of the other machine's
// processes and files nothing is left, and a note waits for the next prompt.
func TestPackAndUnpack(t *testing.T) {
	t.Parallel()
	from, _ := open(t)
	rules := workflow.Rules{MaxRetries: 3, MaxCrashes: 3, BarrierTimeout: time.Minute}
	o := Options{Rules: rules, Lang: message.EN, Now: noon, Warn: func(err error) { t.Errorf("warning: %v", err) }}
	if p, err := Pack(from); err != nil || p.Workflow != nil || p.Memory != nil || len(p.Reports) > 0 {
		t.Errorf("an empty session: %+v, %v", p, err)
	}
	err := Update(from, o, func(tx *Tx) error {
		if _, err := tx.Apply(workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV", "REVIEW"}, At: noon}); err != nil {
			return err
		}
		tx.Observe(host.SessionSeen{Transcript: "/there/s1.jsonl", Model: "m"}, compact.Settings{})
		tx.Observe(host.CommandStarted{ID: "c1"}, compact.Settings{})
		tx.Post(Message{Model: "hand DEV over"})
		tx.AgentStepped("a1")
		tx.BeginCompaction("auto", compact.Packet{ID: "p", Text: "know"})
		tx.Memory.Offset, tx.Memory.Searched, tx.Memory.Noise = 9, true, Noise{Read: 9, Bytes: 3}
		return tx.WriteContext("REVIEW", []byte("report"))
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Pack(from)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	to, err := store.New(root, t.TempDir(), func() time.Time { return noon }).Session("s2")
	if err != nil {
		t.Fatal(err)
	}
	if err := Unpack(to, p, o, "/here/s2.jsonl", "you are here now", store.On(message.EventSessionMoved, "from", "a")); err != nil {
		t.Fatal(err)
	}
	m := Read(to)
	if m.Compaction != nil || m.Offset != 0 || m.Searched || m.Noise != (Noise{}) || len(m.Threads.Agents) > 0 || len(m.Thread.Started) > 0 || m.Thread.Transcript != "/here/s2.jsonl" || m.Thread.Model != "m" {
		t.Errorf("%+v", m)
	}
	if len(m.Outbox) != 2 || m.Outbox[0].Model != "hand DEV over" || m.Outbox[1].Model != "you are here now" {
		t.Errorf("waits: %+v", m.Outbox)
	}
	state, err := Peek(to)
	if err != nil || state.SessionID != "s2" || !state.Active {
		t.Errorf("%+v, %v", state, err)
	}
	if reports, err := to.Reports(); err != nil || len(reports) == 0 {
		t.Errorf("reports %v, %v", reports, err)
	}
	if list, _, err := to.Last(1, store.Filter{}); err != nil || len(list) != 1 || list[0].Type != message.EventSessionMoved {
		t.Errorf("timeline %v, %v", list, err)
	}
	// A compaction that is over goes along.
	err = Update(from, o, func(tx *Tx) error { return tx.Confirm("") })
	if err != nil {
		t.Fatal(err)
	}
	err = Update(from, o, func(tx *Tx) error { tx.Memory.Compaction.Receipt = nil; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if p, err = Pack(from); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(to, p, o, "", ""); err != nil {
		t.Fatal(err)
	}
	if m := Read(to); m.Compaction == nil || m.Compaction.N != 1 || len(m.Outbox) != 1 {
		t.Errorf("%+v", m)
	}
}
