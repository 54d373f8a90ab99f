package watch

import (
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
)

// What happens to a thread. A value of one of these types is an event.
type (
	// TurnStarted: a turn runs.
	TurnStarted struct{ Turn string }
	// TurnEnded: a turn is over. Act is the policy's wish to compact now.
	TurnEnded struct {
		Turn   string
		Status TurnStatus
		Act    bool
	}
	// Item: an item of a turn began or, with Done, was completed.
	Item struct {
		Turn     string
		Type     string
		ClientID string
		Done     bool
	}
	// Elapsed: the pause of an After is over.
	Elapsed struct{ Seq int }
	// Checked answers a Check. Unknown is set when the server did not tell.
	Checked struct {
		Seq     int
		Idle    bool
		Queued  int
		NoQueue bool
		Unknown bool
	}
	// Leased answers a Lease: whether the thread is ours, and the last record.
	Leased struct {
		Seq    int
		OK     bool
		Record Record
	}
	// Authored answers an Author.
	Authored struct {
		Seq    int
		Packet compact.Packet
	}
	// CompactRefused: the server refused to compact.
	CompactRefused struct{ Seq int }
	// Added answers an Add or a StartTurn. Refused is a definite no, Unclear
	// anything that may have worked; Unsupported means there is no queue.
	Added struct {
		Packet                        string
		Submission                    string
		Refused, Unclear, Unsupported bool
	}
	// Looked answers a Look.
	Looked struct {
		Seq     int
		View    View
		Unknown bool
	}
	// SaveFailed: a record could not be written; what was to follow was not done.
	SaveFailed struct{}
	// Attached: we (again) hear what happens to the thread.
	Attached struct{ Turn string }
	// Lost: the connection is gone.
	Lost struct{}
)

// What a cycle wants done, in order. A value of one of these types is an action.
type (
	// After asks for Elapsed.
	After struct {
		Seq  int
		Wait time.Duration
	}
	// Check asks whether the thread is idle and nothing is queued.
	Check struct{ Seq int }
	// Lease asks for the right to act on the thread.
	Lease struct{ Seq int }
	// Release gives it back.
	Release struct{}
	// Author asks for the packet's text after the given turn.
	Author struct {
		Seq  int
		Turn string
	}
	// Save writes the record down. If that fails, no Compact, Add or StartTurn
	// that follows it is carried out. Loose does not wait for the disk.
	Save struct {
		Record Record
		Loose  bool
	}
	// Compact starts the compaction.
	Compact struct{ Seq int }
	// Add puts the packet into the thread's queue.
	Add struct{ Packet, Text string }
	// StartTurn opens a turn with the packet.
	StartTurn struct{ Packet, Text string }
	// Remove takes the packet out of the queue.
	Remove struct{ Submission string }
	// Look asks for the thread's newest turns and its queue.
	Look struct{ Seq int }
	// Tell reports a step to people and to the timeline.
	Tell struct {
		What   News
		Record Record
		Reason Reason
	}
)

// News is what a Tell reports.
type News string

const (
	NewsHeld      News = "held"      // a boundary was reached but the thread was not free
	NewsCompact   News = "compact"   // a compaction was asked for
	NewsCompacted News = "compacted" // it is done
	NewsDelivered News = "delivered"
	NewsVoid      News = "void"
	NewsForeign   News = "foreign" // somebody else compacted
	NewsAdopted   News = "adopted" // a predecessor's record is continued
)

// Reason says why a packet does not go out, or why nothing was done.
type Reason string

const (
	ReasonBusy        Reason = "busy"
	ReasonQueued      Reason = "queued"
	ReasonReview      Reason = "review"
	ReasonOther       Reason = "other-watcher"
	ReasonUnknown     Reason = "no-answer"
	ReasonDone        Reason = "done-before"
	ReasonRefused     Reason = "refused"
	ReasonFailed      Reason = "failed"
	ReasonInterrupted Reason = "interrupted"
	ReasonSuperseded  Reason = "superseded"
	ReasonExpired     Reason = "expired"
	ReasonNotStarted  Reason = "not-started"
	ReasonDisk        Reason = "not-saved"
	ReasonUndelivered Reason = "not-accepted"
)

const (
	itemCompaction  = "contextCompaction"
	itemUser        = "userMessage"
	itemReviewEnter = "enteredReviewMode"
	itemReviewExit  = "exitedReviewMode"
)
