package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// longTimeline makes a timeline of n events with one session:compact, back
// events before the end.
func longTimeline(b *testing.B, n, back int) *Session {
	b.Helper()
	s := testSession(b)
	update(b, s, func(*Tx) error { return nil })
	f, err := os.Create(s.path(TimelineFile))
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range n {
		if i == n-back {
			fmt.Fprintln(w, `{"ts":"2026-03-01T09:30:00.120Z","type":"session:compact","category":"session","label":"Context 壓縮","workflowType":"standard","currentStage":"DEV"}`)
			continue
		}
		fmt.Fprintf(w, `{"ts":"2026-03-01T09:30:00.120Z","type":"stage:complete","category":"stage","label":"階段完成","stage":"TEST:2","result":"pass","n":%d}`+"\n", i)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return s
}

// compare times f on a small timeline and on one of a million events, turn about
// because machines are noisy, and reports the ratio of the medians.
func compare(b *testing.B, small, back int, f func(s *Session) error) {
	sessions := [...]*Session{longTimeline(b, small, back), longTimeline(b, 1_000_000, back)}
	var took [len(sessions)][]time.Duration
	for b.Loop() {
		for i, s := range sessions {
			begin := time.Now()
			if err := f(s); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(begin))
		}
	}
	median := func(t []time.Duration) float64 {
		slices.Sort(t)
		return float64(t[len(t)/2])
	}
	few, many := median(took[0]), median(took[1])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(few/1e3, fmt.Sprintf("µs-%d", small))
	b.ReportMetric(many/1e3, "µs-1000000")
	b.ReportMetric(many/few, "ratio")
}

// The cost of Latest depends on how far back the event is, not on the file: the
// ratio stays below 1.5.
func BenchmarkLatest(b *testing.B) {
	compare(b, 1_000, 500, func(s *Session) error {
		_, ok, err := s.Latest("session:compact")
		if !ok {
			err = errors.Join(err, errors.New("not found"))
		}
		return err
	})
}

// The worst case: a type that is not there, so the whole window is looked at.
func BenchmarkLatestAbsent(b *testing.B) {
	compare(b, windowLines, 0, func(s *Session) error {
		_, ok, err := s.Latest("session:compact")
		if ok {
			err = errors.Join(err, errors.New("found"))
		}
		return err
	})
}

// What the suggestion does: how many stages since the last compaction.
func BenchmarkNewest(b *testing.B) {
	s := longTimeline(b, 1_000_000, 500)
	for b.Loop() {
		n := 0
		for e, err := range s.Newest(Filter{Types: []string{"stage:complete", "session:compact"}}) {
			if err != nil {
				b.Fatal(err)
			}
			if e.Type == "session:compact" {
				break
			}
			n++
		}
		if n != 499 {
			b.Fatal(n)
		}
	}
}

// What a hook pays on an existing session.
func BenchmarkUpdate(b *testing.B) {
	state := make([]byte, 4<<10)
	for _, c := range []struct {
		name string
		do   func(tx *Tx) error
	}{
		{"empty", func(*Tx) error { return nil }},
		{"read", func(tx *Tx) error { _, err := tx.Read(WorkflowFile); return err }},
		{"emit", func(tx *Tx) error { return tx.Emit(On("stage:complete", "stage", "DEV", "result", "pass")) }},
		{"loose", func(tx *Tx) error { return tx.WriteLoose("outbox.json", state) }},
		{"write", func(tx *Tx) error { return tx.Write(WorkflowFile, state) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := testSession(b)
			update(b, s, func(tx *Tx) error { return tx.Write(WorkflowFile, state) })
			for b.Loop() {
				if err := s.Update(c.do); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
