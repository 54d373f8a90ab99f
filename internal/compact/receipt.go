package compact

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// ReceiptState is how far a packet has come.
type ReceiptState string

const (
	// Created: the packet is written, nothing has happened yet.
	Created ReceiptState = "created"
	// Compacting: the compaction was asked for or allowed.
	Compacting ReceiptState = "compacting"
	// Done: the context is compacted, the packet may go out.
	Done ReceiptState = "compacted"
	// Printing: a hook is about to print the packet. It stands on disk before
	// the first byte does, and only a hook that has printed all moves it on.
	Printing ReceiptState = "printing"
	// Delivering: the packet was handed to the host; whether it arrived is
	// not known yet.
	Delivering ReceiptState = "delivering"
	// Delivered, Expired, Dropped and Unknown are the end.
	Delivered ReceiptState = "delivered"
	Expired   ReceiptState = "expired"
	Dropped   ReceiptState = "dropped"
	// Unknown: the hook that was to print it died on the way. Hosts drop what a
	// hook that died has printed, but nobody saw it: the packet is neither
	// claimed nor handed out again, and its text is kept for those who ask.
	Unknown ReceiptState = "unknown"
)

// Final reports whether nothing can happen to the packet any more.
func (s ReceiptState) Final() bool {
	return s == Delivered || s == Expired || s == Dropped || s == Unknown
}

// out reports whether the packet may be on its way: it can neither expire nor be
// taken back.
func (s ReceiptState) out() bool { return s == Printing || s == Delivering }

// Channel is a way into the agent's context.
type Channel string

const (
	// ViaSessionStart: context that Claude Code and Codex take from their
	// SessionStart hook after a compaction. Only a compaction that worked
	// calls it, so it is proof of one.
	ViaSessionStart Channel = "session-start"
	// ViaPrompt: context beside the user's next prompt, where the host had no
	// session start.
	ViaPrompt Channel = "user-prompt"
	// ViaQueue: a message of its own, with the packet's id as client id.
	ViaQueue Channel = "queue"
	// ViaHistory: put into the conversation without opening a turn, so that it
	// stands before the user's next message.
	ViaHistory Channel = "history"
)

// Basis is what a packet was written from.
type Basis string

const (
	// BasisSaved: what was saved before the compaction. What depends on the
	// summary follows, once that is told.
	BasisSaved Basis = "saved"
	// BasisSummary: the slice that was compacted, in the knowledge of its summary.
	BasisSummary Basis = "summary"
	// BasisSlice: the slice alone; the summary is not to be had.
	BasisSlice Basis = "slice"
)

// Receipt follows one packet from its writing to its delivery. It is stored as
// JSON before each step that the outside world can see, so that whoever comes
// after a crash goes on where the last one stopped.
//
// Events may come in any order and any number of times. In all of them the
// packet is handed out once; only Missing, the certain knowledge that the host
// does not have it, allows a second attempt.
type Receipt struct {
	ID    string       `json:"id"`
	State ReceiptState `json:"state"`
	Text  string       `json:"text,omitempty"`
	Basis Basis        `json:"basis,omitempty"`
	// Compaction is the host's name for the compaction, once known.
	Compaction string    `json:"compaction,omitempty"`
	Created    time.Time `json:"created"`
	Expires    time.Time `json:"expires"`
	Via        Channel   `json:"via,omitempty"`
	Ended      time.Time `json:"ended,omitzero"`
	Reason     string    `json:"reason,omitempty"`
}

// NewReceipt opens the receipt of a packet.
func NewReceipt(p Packet) Receipt {
	return Receipt{ID: p.ID, State: Created, Text: p.Text, Basis: cmp.Or(p.Basis, BasisSaved), Created: p.Created, Expires: p.Expires}
}

// Rewrite gives the packet another text, as long as nobody may have it.
func (r Receipt) Rewrite(text string, b Basis) Receipt {
	if r.State == Created || r.State == Compacting || r.State == Done {
		r.Text, r.Basis = text, b
	}
	return r
}

// ReceiptEvent is something that matters to a packet.
type ReceiptEvent interface {
	step(r Receipt, now time.Time) (Receipt, bool)
}

type (
	// Started: the compaction begins. Compaction is the host's name for it,
	// "" where it has none; an event with another name is not ours.
	Started struct{ Compaction string }
	// Finished: the compaction worked.
	Finished struct{ Compaction string }
	// Failed: it did not, was interrupted, or nothing was heard of it. Reason
	// is never empty.
	Failed struct{ Compaction, Reason string }
	// Opening: the host would take the packet now. Running is set while a
	// turn runs that is not the compaction's own.
	Opening struct {
		Via     Channel
		Running bool
	}
	// Printed: the hook has written the whole packet to its host.
	Printed struct{}
	// Doubted: a hook said that it would print, and was not heard of again.
	Doubted struct{}
	// Arrived: the host has the packet with this id.
	Arrived struct{ ID string }
	// Missing: the host certainly does not have it.
	Missing struct{ ID string }
)

// Step applies an event. The second result is true when the packet is to be
// handed out now.
func (r Receipt) Step(e ReceiptEvent, now time.Time) (Receipt, bool) {
	if r.State.Final() {
		return r, false
	}
	// A packet that may have been handed out cannot expire: it could still
	// turn out to have arrived.
	if !r.State.out() && !r.Expires.IsZero() && !now.Before(r.Expires) {
		return r.end(Expired, now, "expired"), false
	}
	return e.step(r, now)
}

func (r Receipt) end(s ReceiptState, now time.Time, reason string) Receipt {
	r.State, r.Ended, r.Reason, r.Text = s, now, reason, ""
	return r
}

// foreign reports whether an event belongs to another compaction.
func (r Receipt) foreign(compaction string) bool {
	return compaction != "" && r.Compaction != "" && compaction != r.Compaction
}

// compaction takes how far a compaction is, if it is the receipt's and has been before.
func (r Receipt) compaction(name string, now ReceiptState, before ...ReceiptState) Receipt {
	if r.foreign(name) {
		return r
	}
	if r.Compaction = cmp.Or(r.Compaction, name); slices.Contains(before, r.State) {
		r.State = now
	}
	return r
}

func (e Started) step(r Receipt, _ time.Time) (Receipt, bool) {
	return r.compaction(e.Compaction, Compacting, Created), false
}

func (e Finished) step(r Receipt, _ time.Time) (Receipt, bool) {
	return r.compaction(e.Compaction, Done, Created, Compacting), false
}

func (e Failed) step(r Receipt, now time.Time) (Receipt, bool) {
	if r.foreign(e.Compaction) {
		return r, false
	}
	if r.State.out() {
		// What was handed out cannot be taken back here, but it must not be
		// handed out again.
		r.Reason = e.Reason
		return r, false
	}
	return r.end(Dropped, now, e.Reason), false
}

func (e Opening) step(r Receipt, _ time.Time) (Receipt, bool) {
	if e.Via == ViaSessionStart && (r.State == Created || r.State == Compacting) {
		r.State = Done
	}
	// A message of its own would steer a running turn.
	if r.State != Done || e.Via == ViaQueue && e.Running {
		return r, false
	}
	r.State, r.Via = Delivering, e.Via
	if e.Via != ViaQueue {
		r.State = Printing
	}
	return r, true
}

func (Printed) step(r Receipt, _ time.Time) (Receipt, bool) {
	if r.State == Printing {
		r.State = Delivering
	}
	return r, false
}

func (Doubted) step(r Receipt, now time.Time) (Receipt, bool) {
	if r.State == Printing {
		text := r.Text
		r = r.end(Unknown, now, "its hook died")
		r.Text = text
	}
	return r, false
}

func (e Arrived) step(r Receipt, now time.Time) (Receipt, bool) {
	if e.ID != r.ID {
		return r, false
	}
	return r.end(Delivered, now, ""), false
}

func (e Missing) step(r Receipt, now time.Time) (Receipt, bool) {
	if e.ID != r.ID || !r.State.out() {
		return r, false
	}
	if r.Reason != "" {
		return r.end(Dropped, now, r.Reason), false
	}
	r.State = Done
	return r, false
}

// String is the receipt in one line, for the timeline.
func (r Receipt) String() string {
	s := fmt.Sprintf("%s %s", r.ID, r.State)
	if r.Via != "" {
		s += " via " + string(r.Via)
	}
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	return s
}
