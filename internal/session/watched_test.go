package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// What watchers remember survives them: it is written when it has changed, read by
// the next one, and refused where a newer version wrote it.
func TestWatchedFile(t *testing.T) {
	t.Parallel()
	s, memory := open(t)
	path := filepath.Join(filepath.Dir(memory), store.WatchFile)
	if w, _, err := ReadWatched(s); err != nil || w != (Watched{}) {
		t.Errorf("never watched: %+v, %v", w, err)
	}
	change := func(loose bool) {
		t.Helper()
		w, th, err := UpdateWatched(s, loose, func(w *Watched, th *compact.Thread) []store.Event {
			w.Host, w.Packets = host.Codex, 2
			*th = th.Apply(host.SessionSeen{Model: "m"}, compact.Settings{})
			return []store.Event{store.On(message.EventPacketCreated, "id", "p")}
		})
		if err != nil || w.Schema != watchedSchema || w.Packets != 2 || th.Model != "m" {
			t.Errorf("%+v, %+v, %v", w, th, err)
		}
	}
	change(false)
	first, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	change(true)
	if again, err := os.Stat(path); err != nil || !os.SameFile(first, again) {
		t.Errorf("written again, and nothing had changed: %v", err)
	}
	if list, _, err := s.Last(10, store.Filter{}); err != nil || len(list) != 2 {
		t.Errorf("%d events, %v", len(list), err)
	}
	if w, th, err := ReadWatched(s); err != nil || w.Host != host.Codex || th.Model != "m" {
		t.Errorf("%+v, %+v, %v", w, th, err)
	}
	if th, err := UpdateThread(s, func(th *compact.Thread) { *th = th.Apply(host.SessionSeen{Model: "n"}, compact.Settings{}) }); err != nil || th.Model != "n" {
		t.Errorf("%+v, %v", th, err)
	}

	if err := os.WriteFile(path, []byte(`{"schema":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadWatched(s); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a newer file is read: %v", err)
	}
	if _, _, err := UpdateWatched(s, false, func(*Watched, *compact.Thread) []store.Event { return nil }); err == nil {
		t.Error("a newer file is overwritten")
	}
	if err := os.WriteFile(path, []byte(`{broken`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadWatched(s); !errors.Is(err, errWatched) {
		t.Errorf("a damaged file: %v", err)
	}
	change(false) // it is set aside, and begun anew
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), store.WatchFile+"*")); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// A watcher owns a session while it lives, and for ten minutes after its packet was
// written: another may come.
func TestWatcherOwns(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	if WatcherOwns(s, noon) {
		t.Error("nobody watches")
	}
	release, ok, err := s.TryLease(store.WatchLease)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if !WatcherOwns(s, noon) {
		t.Error("a watcher that lives does not own it")
	}
	release()
	receipt := compact.NewReceipt(compact.Packet{ID: "p", Text: "know", Created: noon, Expires: noon.Add(time.Hour)})
	_, _, err = UpdateWatched(s, false, func(w *Watched, _ *compact.Thread) []store.Event {
		w.Delivery = Delivery{Trigger: "t", Receipt: receipt}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]bool{0: true, successor - time.Second: true, successor: false} {
		if got := WatcherOwns(s, noon.Add(after)); got != want {
			t.Errorf("%s after the packet: %v", after, got)
		}
	}
	for state, want := range map[compact.ReceiptState][2]bool{compact.Delivering: {true, true}, compact.Printing: {true, true}, compact.Delivered: {false, false}} {
		r := Delivery{Receipt: compact.Receipt{ID: "p", State: state}}
		if got := [2]bool{r.Open(), r.Offered()}; got != want {
			t.Errorf("%s: open and offered are %v", state, got)
		}
	}
	if (Delivery{}).Open() {
		t.Error("a record of nothing is open")
	}
}

func TestHooksCompact(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	if HooksCompact(s, noon) {
		t.Error("nothing was compacted")
	}
	update(t, s, func(tx *Tx) error { tx.BeginCompaction("auto", compact.Packet{}); return nil })
	for since, want := range map[time.Time]bool{noon.Add(-time.Hour): true, noon: true, noon.Add(time.Second): false} {
		if got := HooksCompact(s, since); got != want {
			t.Errorf("since %s: %v", since, got)
		}
	}
}

// A decision is put on the timeline when it is news.
func TestDecisionsAreAnnouncedOnce(t *testing.T) {
	t.Parallel()
	th := compact.Thread{}.Apply(host.UsageSeen{Used: 195_000, Window: 200_000}, compact.Settings{})
	set := config.Defaults().Compact
	d, events := DecideWatched(&th, noon, set, false, message.EN)
	if len(events) != 1 || events[0].Type != message.EventCompactDecision {
		t.Fatalf("%+v, %v", d, events)
	}
	if _, again := DecideWatched(&th, noon, set, false, message.EN); len(again) != 0 {
		t.Errorf("announced again: %v", again)
	}
	// The hooks do the same, with the size that the transcript tells.
	s, _ := open(t)
	path := claudeFile(t, "s1", 195_000)
	for range 2 {
		update(t, s, func(tx *Tx) error {
			tx.Observe(host.SessionSeen{Transcript: path, Model: "claude-sonnet-4-5"}, compact.Settings{})
			d, err := tx.Decide(set, false)
			if d.Verdict != compact.DoSuggest {
				t.Errorf("%+v", d)
			}
			return err
		})
	}
	if list, _, err := s.Last(10, store.Filter{Types: []string{message.EventCompactDecision}}); err != nil || len(list) != 1 {
		t.Errorf("announced %d times, %v", len(list), err)
	}
}
