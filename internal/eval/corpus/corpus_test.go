package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func newTrial(t *testing.T) *trial {
	t.Helper()
	h, err := newHome(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.remove() })
	return &trial{report: &report{slow: map[string]time.Duration{}, refused: map[string][]string{}}, home: h, name: "x", whole: true}
}

// What is asserted has to be noticed where it is not so.
func TestFaultsAreNoticed(t *testing.T) {
	fault := (&transcript.Fault{Reason: "index out of range", At: "x.go:1"}).In(message.EN)
	for name, try := range map[string]func(*trial){
		"a caught panic": func(t *trial) { t.judge("audit", nil, []byte(fault), 3, false) },
		"another panic":  func(t *trial) { t.judge("audit", nil, []byte("goroutine 1 [running]"), 2, false) },
		"no JSON":        func(t *trial) { t.judge("audit", []byte(`{"schema":1`), nil, 0, true) },
		"no answer":      func(t *trial) { t.judge("audit", nil, nil, 0, true) },
		"a wrong sum": func(t *trial) {
			t.sums("audit", []byte(`{"totals":{"requests":2},"days":[{"requests":2}],"projects":[{"requests":2}],"models":[{"requests":1}]}`))
		},
		"a source that changed": func(t *trial) {
			s := madeUp(1)[0]
			placed := t.home.place(s) == nil && t.home.ready() == nil && len(t.home.changed()) == 0
			if placed && os.WriteFile(t.home.placed[0].path, []byte("x"), 0o600) == nil && len(t.home.changed()) == 1 {
				t.fault("noticed")
			}
		},
		"other tokens": func(t *trial) {
			s := madeUp(1)[0]
			if t.home.place(s) == nil && t.home.ready() == nil {
				t.audited([]byte(strings.Replace(string(s.data), `"input_tokens":100,`, `"input_tokens":999,`, -1)))
			}
		},
	} {
		tr := newTrial(t)
		if try(tr); len(tr.faults) == 0 {
			t.Errorf("%s is no fault", name)
		}
	}
}

// A made-up session of each host, whole and after an accident, has no fault.
func TestMadeUpSessions(t *testing.T) {
	r := newTrial(t).report
	for _, s := range madeUp(1)[:5] {
		r.alone(time.Now(), s, s.data)
		s.name, s.data = s.name+", cut", s.data[:len(s.data)/2]
		r.alone(time.Now(), s, nil)
	}
	if r.commands.Load() < 100 || len(r.faults) > 0 {
		t.Errorf("%d commands, faults %v", r.commands.Load(), r.faults)
	}
}
