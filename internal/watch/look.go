package watch

import (
	"slices"

	"github.com/seed-6d03985f/overtone/internal/session"
)

// view is a thread as the server shows it: its newest turns, newest first, and
// its queue.
type view struct {
	Idle   bool
	Turns  []turnView
	Queue  []queuedMessage
	Cutoff bool // there are older turns than these
	// Injected is the packet that was looked for and stands in the thread's file.
	Injected string
}

type turnView struct {
	ID      string
	Status  turnStatus
	Compact bool     // holds a finished compaction
	Clients []string // client ids of its user messages; "" for each without one
}

type queuedMessage struct{ Submission, ClientID string }

type found int

const (
	foundNothing    found = iota // no trace of the compaction
	foundRunning                 // a turn runs that may be it
	foundFailed                  // it ended without result
	foundCompacted               // it is done, the packet is nowhere
	foundQueued                  // the packet waits in the queue
	foundDelivered               // the packet is in the thread
	foundSuperseded              // the thread went on without the packet
	foundUnclear                 // a turn has begun that may be the packet's, or one has ended whose items are not there yet
)

type finding struct {
	found      found
	turn       string // the compaction's turn
	submission string
	reason     reason // why the compaction does not hold
}

// find tells from a view what became of a delivery. Only what is newer than the
// delivery's trigger counts.
func find(v view, r session.Delivery) finding {
	newer, known := v.Turns, false
	for i, t := range v.Turns {
		if t.ID == r.Trigger {
			newer, known = v.Turns[:i], true
			break
		}
	}
	if v.Injected != "" && v.Injected == r.Receipt.ID ||
		slices.ContainsFunc(newer, func(t turnView) bool { return slices.Contains(t.Clients, r.Receipt.ID) }) {
		return finding{found: foundDelivered, turn: r.Receipt.Compaction}
	}
	f := outcome(newer, r.Receipt.Compaction)
	if !known && v.Cutoff {
		f = finding{found: foundSuperseded}
	}
	for _, q := range v.Queue {
		if q.ClientID == r.Receipt.ID {
			return finding{found: foundQueued, submission: q.Submission, turn: f.turn, reason: f.reason}
		}
	}
	return f
}

// outcome looks for the compaction among the turns after the trigger, newest
// first. Where its turn is not known it is the oldest, save for a user's turn
// that our request cut short.
func outcome(newer []turnView, turn string) finding {
	n := 1 + slices.IndexFunc(newer, func(t turnView) bool { return t.ID == turn })
	if n == 0 {
		n = len(newer)
	}
	for n > 0 && len(newer[n-1].Clients) > 0 && newer[n-1].Status == turnInterrupted {
		n--
	}
	// The host may have cut a user's turn before it knew what was said in it.
	for turn == "" && n > 1 && newer[n-1].Status == turnInterrupted && !newer[n-1].Compact {
		n--
	}
	if n == 0 {
		return finding{found: foundNothing}
	}
	t := newer[n-1]
	switch {
	case len(t.Clients) > 0:
		return finding{found: foundSuperseded}
	case t.Status == turnRunning:
		return finding{found: foundRunning}
	case t.Status != turnCompleted && !t.Compact:
		return finding{found: foundFailed, turn: t.ID, reason: endReason(t.Status)}
	case !t.Compact:
		return finding{found: foundUnclear}
	case n == 1:
		return finding{found: foundCompacted, turn: t.ID}
	case n == 2 && newer[0].Status == turnRunning && len(newer[0].Clients) == 0:
		return finding{found: foundUnclear, turn: t.ID}
	}
	return finding{found: foundSuperseded, turn: t.ID}
}
