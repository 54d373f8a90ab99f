package session

import (
	"fmt"
	"time"
)

// Hooks are processes of their own, with no clock but the wall's, which is set, and
// stands still for us while a machine sleeps. A gap of half a day between two
// changes is a jump, whatever its cause: time in which nobody was there does not
// count against a stage that others wait for, or a packet that is to be delivered.
const (
	jump      = 12 * time.Hour
	seenEvery = time.Hour // how exactly the last change is remembered
)

// seeClock remembers when the session was changed, while anything has a time limit.
func (tx *Tx) seeClock() {
	k := tx.Memory.Compaction
	limited := k != nil && !k.settled() || tx.Active() && tx.Workflow.Barriers.Len() > 0
	if limited && tx.o.Now.Sub(tx.Memory.Seen).Abs() >= seenEvery {
		tx.Memory.Seen = tx.o.Now
	}
}

// watchClock notices a jump and moves what has a time limit along with it.
func (tx *Tx) watchClock() {
	m := &tx.Memory
	gap := tx.o.Now.Sub(m.Seen)
	if m.Seen.IsZero() || gap.Abs() < jump {
		return
	}
	moved := false
	if k := m.Compaction; k != nil && !k.settled() {
		k.At = k.At.Add(gap)
		if r := k.Receipt; r != nil && !r.Expires.IsZero() {
			late := *r
			late.Expires = r.Expires.Add(gap)
			k.Receipt = &late
		}
		moved = true
	}
	if tx.Active() && tx.Workflow.Barriers.Shift(gap) {
		moved = true
		if err := tx.WriteBarrier(tx.Workflow.Barriers.Encode()); err != nil {
			tx.o.Warn(err)
		}
	}
	if moved {
		tx.o.Warn(fmt.Errorf("the clock has moved by %s since the last call; time limits move along", gap.Round(time.Minute)))
	}
}
