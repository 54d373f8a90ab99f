package watch

import (
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// A packet is written anew when the compaction is done, and opens a turn only
// where there is something to carry on with.
func TestPacketAfterTheCompaction(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	receipt, _ := compact.NewReceipt(compact.Packet{ID: "p1", Text: "old", Created: now}).Step(compact.Started{Compaction: "c"}, now)
	for name, wait := range map[string]bool{"work is open": false, "the user is asked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cycle{Phase: compacting, Seq: 3, Delivery: session.Delivery{Trigger: "t", Receipt: receipt, Quiet: wait}}
			done := itemSeen{Turn: "c", Type: host.CodexCompaction, Done: true, Text: "new", Basis: compact.BasisSummary}
			c, actions := advance(c, DefaultWaits(), now, done)
			var added, injected []string
			for _, a := range actions {
				switch a := a.(type) {
				case doAdd:
					added = append(added, a.Text)
				case doInject:
					injected = append(injected, a.Text)
				}
			}
			if wait {
				if len(added) != 0 || len(injected) != 1 || injected[0] != "new" || c.Phase != delivering || c.Delivery.Receipt.Via != compact.ViaHistory {
					t.Errorf("added %q, injected %q, %+v", added, injected, c)
				}
				// What is told again changes nothing.
				if _, again := advance(c, DefaultWaits(), now, done); len(again) > 0 {
					for _, a := range again {
						switch a.(type) {
						case doAdd, doInject:
							t.Errorf("handed out again: %+v", a)
						}
					}
				}
				return
			}
			if len(injected) != 0 || len(added) != 1 || added[0] != "new" || c.Phase != delivering || c.Delivery.Receipt.Basis != compact.BasisSummary {
				t.Errorf("added %q, injected %q, %+v", added, injected, c)
			}
		})
	}
}
