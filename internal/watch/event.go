package watch

import (
	"encoding/json"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// event is what happens to a thread; an answer carries the number of the action
// it answers. What follows from each stands in cycle.go.
type event interface{ apply(m *machine) }

type (
	// turnBegan: a turn runs.
	turnBegan struct{ Turn string }
	// turnOver: a turn is over. Act is the policy's wish to compact now.
	turnOver struct {
		Turn   string
		Status turnStatus
		Act    bool
	}
	// itemSeen: an item of a turn began or, with Done, was completed.
	itemSeen struct {
		Turn     string
		Type     string
		ClientID string
		Done     bool
		// Text and Basis are the packet, written anew in the knowledge of what a
		// compaction has left; "" leaves it as it was.
		Text  string
		Basis compact.Basis
		// Quiet is set where a message of the user's waits: no packet may open a
		// turn before it.
		Quiet bool
	}
	// elapsed: the pause of a doAfter is over.
	elapsed struct{ Seq int }
	// checked answers doCheck. Unknown is set when the server did not tell.
	checked struct {
		Seq     int
		Idle    bool
		Queued  int
		Unknown bool
	}
	// leased answers doLease: whether the thread is ours, and its last delivery.
	leased struct {
		Seq      int
		OK       bool
		Delivery session.Delivery
	}
	// authored answers doAuthor.
	authored struct {
		Seq    int
		Packet compact.Packet
	}
	// foreign: somebody else has compacted. Packet is what would be handed over,
	// without an id where others see to that.
	foreign struct {
		Turn   string
		Packet compact.Packet
	}
	// cut: the host has interrupted a user's turn for our compaction.
	cut struct {
		Turn  string
		Input json.RawMessage
	}
	// compactRefused: the server refused to compact.
	compactRefused struct{ Seq int }
	// added answers doAdd and doInject. Refused is a definite no, Unclear anything that
	// may have worked.
	added struct {
		Packet           string
		Submission       string
		Refused, Unclear bool
	}
	// resumed answers doResume. Opened says that a message of ours is to open a
	// turn; Submission is the queue's id for it.
	resumed struct {
		Seq        int
		Opened     bool
		Submission string
	}
	// looked answers doLook.
	looked struct {
		Seq     int
		View    view
		Unknown bool
	}
	// saveFailed: a delivery could not be written; what was to follow was not done.
	saveFailed struct{}
	// attached: we (again) hear what happens to the thread.
	attached struct{ Turn string }
	// lost: the connection is gone.
	lost struct{}
)

// action is what a cycle wants done, one of the types below; a list of them is carried out
// in order.
type action any

type (
	// doAfter asks for elapsed.
	doAfter struct {
		Seq  int
		Wait time.Duration
	}
	// doCheck asks whether the thread is idle and nothing is queued.
	doCheck struct{ Seq int }
	// doLease asks for the right to act on the thread.
	doLease struct{ Seq int }
	// doRelease gives it back.
	doRelease struct{}
	// doAuthor asks for the packet's text after the given turn.
	doAuthor struct {
		Seq  int
		Turn string
	}
	// doSave writes the delivery down. If that fails, no doCompact, doAdd or doInject
	// that follows it is carried out. Loose does not wait for the disk.
	doSave struct {
		Delivery session.Delivery
		Loose    bool
	}
	// doCompact starts the compaction.
	doCompact struct{ Seq int }
	// doAdd puts the packet into the thread's queue.
	doAdd struct{ Packet, Text string }
	// doInject puts the packet into the thread without opening a turn.
	doInject struct{ Packet, Text string }
	// doResume opens a turn where there is evidence of open work. Packet is the one
	// that stands in the thread by now, ID the note's that opens the turn.
	doResume struct {
		Seq        int
		Packet, ID string
	}
	// doPutBack queues a user's message again.
	doPutBack struct{ session.CutMessage }
	// doRemove takes the packet out of the queue.
	doRemove struct{ Submission string }
	// doTidy takes what is left of a delivered packet out of the queue: a watcher
	// with another home gives the same compaction the same packet.
	doTidy struct{ Packet string }
	// doLook asks for the thread's newest turns and its queue.
	doLook struct{ Seq int }
	// doTell reports a step to people and to the timeline.
	doTell struct {
		What     news
		Delivery session.Delivery
		Reason   reason
	}
)

type news string

const (
	newsHeld      news = "held"      // a boundary was reached but the thread was not free
	newsCompact   news = "compact"   // a compaction was asked for
	newsCompacted news = "compacted" // it is done
	newsDelivered news = "delivered"
	newsVoid      news = "void"
	newsForeign   news = "foreign" // somebody else compacted
	newsAdopted   news = "adopted" // a predecessor's delivery is continued
	newsCut       news = "cut"     // a user's message was cut off
	newsOpened    news = "opened"  // open work goes on
	newsRests     news = "rests"   // the next word is the user's
)

// reason says why a packet does not go out, or why nothing was done.
type reason string

const (
	reasonBusy        reason = "busy"
	reasonQueued      reason = "queued"
	reasonReview      reason = "review"
	reasonOther       reason = "other-watcher"
	reasonUnknown     reason = "no-answer"
	reasonDone        reason = "done-before"
	reasonRefused     reason = "refused"
	reasonFailed      reason = "failed"
	reasonInterrupted reason = "interrupted"
	reasonSuperseded  reason = "superseded"
	reasonExpired     reason = "expired"
	reasonNotStarted  reason = "not-started"
	reasonDisk        reason = "not-saved"
	reasonUndelivered reason = "not-accepted"
	reasonRests       reason = "failed-before"
)

const (
	itemReviewEnter = "enteredReviewMode"
	itemReviewExit  = "exitedReviewMode"
)
