package session

import (
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// A day that nobody saw, forwards or back, neither drops a packet nor forces a
// stage; an hour that was waited for does what it should.
func TestJumpOfTheClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gap    time.Duration
		told   string
		warned int
		open   bool // the barrier still waits
	}{
		"a day":      {gap: 25 * time.Hour, told: "know", warned: 1, open: true},
		"a week":     {gap: 7 * 24 * time.Hour, told: "know", warned: 1, open: true},
		"a day back": {gap: -25 * time.Hour, told: "know", warned: 1, open: true},
		"two hours":  {gap: 2 * time.Hour, told: "", warned: 0},
		"a minute":   {gap: time.Minute, told: "know", warned: 0, open: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			warned := 0
			o := Options{Rules: workflow.Rules{MaxRetries: 3, MaxCrashes: 3, BarrierTimeout: 5 * time.Minute}, Lang: message.EN, Now: noon, Warn: func(error) { warned++ }}
			change := func(f func(tx *Tx) error) {
				t.Helper()
				if err := Update(s, o, f); err != nil {
					t.Fatal(err)
				}
			}
			change(func(tx *Tx) error {
				for _, ev := range []workflow.Event{
					workflow.Start{SessionID: "s1", WorkflowID: "w", Type: "quick", Stages: []string{"DEV", "REVIEW", "TEST", "RETRO", "DOCS"}, At: noon},
					workflow.Completion{Agent: "developer", AgentID: "a", At: noon, Route: &workflow.Route{Verdict: "PASS", Route: "NEXT"}},
					workflow.Delegate{ID: "t1", Agent: "code-reviewer", At: noon},
					workflow.Delegate{ID: "t2", Agent: "tester", At: noon},
				} {
					if _, err := tx.Apply(ev); err != nil {
						return err
					}
				}
				tx.BeginCompaction("manual", compact.Packet{ID: "p", Text: "know", Created: noon, Expires: noon.Add(time.Hour)})
				return nil
			})
			o.Now = noon.Add(c.gap)
			told := ""
			change(func(tx *Tx) error {
				if err := tx.Confirm(""); err != nil {
					return err
				}
				text, err := tx.Deliver(compact.ViaSessionStart)
				told = text
				return err
			})
			change(func(tx *Tx) error {
				out, err := tx.Apply(workflow.Tick{At: o.Now})
				if open := out.Kind == workflow.Nothing; open != c.open {
					t.Errorf("the barrier waits: %v (%v)", open, out.Kind)
				}
				return err
			})
			if told != c.told || warned != c.warned {
				t.Errorf("told %q, %d warnings", told, warned)
			}
		})
	}
}
