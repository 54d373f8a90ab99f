package watch

import "time"

// Cycle is one thread's way through a compaction. It is a value; Advance is
// the only thing that changes it.
//
//	watching → settling → checking → leasing → authoring → confirming
//	         → compacting → delivering → watching
//
// Up to confirming nothing has been done and any stir in the thread leads back
// to watching. From compacting on there is an open Record, and whatever is in
// doubt (a lost connection, a silent server, a predecessor's crash) is settled
// by looking at the thread itself.
type Cycle struct {
	Phase Phase
	// Seq numbers the steps. Timers and answers that carry an older number
	// belong to something that is over.
	Seq int
	// Turn is the turn that runs, as far as we were told.
	Turn string
	// Review is set while the thread reviews.
	Review bool

	Trigger string // the turn whose end we act on
	Record  Record
	// TurnStatus is how the compaction's turn ended, "" while it runs.
	TurnStatus TurnStatus
	// UserTurn is a turn known to hold a user's message; a compaction inside
	// it is the host's own.
	UserTurn string
	// Submission is the queue's id for our packet.
	Submission string
	// Adds counts how often the packet was offered; Sent says that the last
	// offer went out.
	Adds int
	Sent bool
	// NoQueue is set when the server has no queue: the packet then opens a
	// turn itself, once the compaction's turn has ended.
	NoQueue bool
	// Abandon is set when the packet must not stay in the queue.
	Abandon bool
	// Settled is set when a first look has found a packet missing.
	Settled bool
}

// Phase is where a Cycle is.
type Phase string

const (
	Watching   Phase = "watching"
	Settling   Phase = "settling"
	Checking   Phase = "checking"
	Leasing    Phase = "leasing"
	Authoring  Phase = "authoring"
	Confirming Phase = "confirming"
	Compacting Phase = "compacting"
	Delivering Phase = "delivering"
	Recovering Phase = "recovering"
)

// underWay says that something may have been done to the thread.
func (p Phase) underWay() bool { return p == Compacting || p == Delivering || p == Recovering }

// TurnStatus is how a turn stands.
type TurnStatus string

const (
	TurnRunning     TurnStatus = "inProgress"
	TurnCompleted   TurnStatus = "completed"
	TurnInterrupted TurnStatus = "interrupted"
	TurnFailed      TurnStatus = "failed"
)

// Waits are the durations of the cycle.
type Waits struct {
	// Debounce is how long a thread must be quiet after a turn. Text that the
	// user queued in the terminal is not visible to us; it is sent at once.
	Debounce time.Duration
	// Compact is how long a compaction may be silent before we look.
	Compact time.Duration
	// Look is the pause before looking again.
	Look time.Duration
}

// maxAdds bounds how often a refused packet is offered again.
const maxAdds = 3

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
	Elapsed struct {
		Seq int
		Now time.Time
	}
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
		Seq     int
		Packet  string
		Text    string
		Now     time.Time
		Expires time.Time
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
		Now     time.Time
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
	// that follows it is carried out.
	Save struct{ Record Record }
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

// Advance applies one event. It is pure: same cycle, same event, same result.
func Advance(c Cycle, w Waits, event any) (Cycle, []any) {
	m := machine{Cycle: c, w: w}
	switch e := event.(type) {
	case TurnStarted:
		m.turnStarted(e)
	case TurnEnded:
		m.turnEnded(e)
	case Item:
		m.item(e)
	case Elapsed:
		m.elapsed(e)
	case Checked:
		m.checked(e)
	case Leased:
		m.leased(e)
	case Authored:
		m.authored(e)
	case CompactRefused:
		if m.Phase == Compacting && e.Seq == m.Seq {
			m.void(ReasonRefused)
		}
	case Added:
		m.added(e)
	case Looked:
		m.looked(e)
	case SaveFailed:
		if m.Phase.underWay() {
			m.Record.State = RecordVoid
			m.finish(NewsVoid, ReasonDisk)
		}
	case Attached:
		m.attached(e)
	case Lost:
		m.lost()
	}
	return m.Cycle, m.actions
}

type machine struct {
	Cycle
	w       Waits
	actions []any
}

func (m *machine) do(actions ...any) { m.actions = append(m.actions, actions...) }

// enter moves on; what earlier steps still have in flight is void.
func (m *machine) enter(p Phase) {
	m.Phase = p
	m.Seq++
}

// idle goes back to watching without having done anything.
func (m *machine) idle(r Reason) {
	if m.Phase == Authoring || m.Phase == Confirming {
		m.do(Release{})
	}
	if r != "" {
		m.do(Tell{What: NewsHeld, Reason: r, Record: Record{Trigger: m.Trigger}})
	}
	m.enter(Watching)
	m.Trigger = ""
}

// finish closes the record and goes back to watching.
func (m *machine) finish(what News, r Reason) {
	m.do(Release{}, Tell{What: what, Record: m.Record, Reason: r})
	m.enter(Watching)
	m.Trigger, m.Submission, m.TurnStatus, m.UserTurn = "", "", "", ""
	m.Adds, m.Sent, m.Abandon, m.Settled = 0, false, false, false
}

func (m *machine) void(r Reason) {
	m.Record.State, m.Record.Reason = RecordVoid, string(r)
	m.do(Save{m.Record})
	m.finish(NewsVoid, r)
}

func (m *machine) delivered() {
	m.Record.State = RecordDelivered
	m.do(Save{m.Record})
	m.finish(NewsDelivered, "")
}

func (m *machine) turnStarted(e TurnStarted) {
	m.Turn = e.Turn
	switch m.Phase {
	case Settling, Checking, Leasing, Authoring, Confirming:
		m.idle(ReasonBusy)
	}
}

func (m *machine) turnEnded(e TurnEnded) {
	if m.Turn == e.Turn {
		m.Turn = ""
	}
	switch m.Phase {
	case Watching:
		if e.Act && e.Status == TurnCompleted && e.Turn != m.Record.Turn {
			m.Trigger = e.Turn
			m.enter(Settling)
			m.do(After{m.Seq, m.w.Debounce})
		}
	case Compacting:
		switch {
		case m.Record.Turn == "" || e.Turn != m.Record.Turn:
			// A turn of somebody else, which our request may have cut short,
			// or a compaction whose beginning we missed.
			m.lookUnless(e.Turn == m.Trigger)
		case e.Status != TurnCompleted:
			m.void(endReason(e.Status))
		default:
			m.TurnStatus = e.Status
			m.Seq++
			m.do(After{m.Seq, m.w.Look})
		}
	case Recovering:
		m.lookUnless(e.Turn == m.Trigger)
	case Delivering:
		if e.Turn != m.Record.Turn {
			return
		}
		m.TurnStatus = e.Status
		if e.Status != TurnCompleted {
			m.withdraw(endReason(e.Status))
			return
		}
		if m.NoQueue {
			m.do(Check{m.Seq})
		}
	}
}

func endReason(s TurnStatus) Reason {
	if s == TurnInterrupted {
		return ReasonInterrupted
	}
	return ReasonFailed
}

// withdraw takes a packet back. It may be leaving the queue at this moment, so
// the record is closed only by the look that follows.
func (m *machine) withdraw(r Reason) {
	if !m.Sent {
		m.void(r)
		return
	}
	m.Abandon, m.Record.Reason = true, string(r)
	if m.Submission == "" {
		return // the queue's id for it is on its way, or the pending look finds it
	}
	m.enter(Recovering)
	m.do(Remove{m.Submission}, After{m.Seq, m.w.Debounce})
}

func (m *machine) item(e Item) {
	switch e.Type {
	case itemReviewEnter:
		m.Review = true
	case itemReviewExit:
		m.Review = false
	case itemUser:
		if e.ClientID != "" && e.ClientID == m.Record.Packet && m.Phase.underWay() {
			m.delivered()
			return
		}
		m.UserTurn = e.Turn
	case itemCompaction:
		m.compaction(e)
	}
}

func (m *machine) compaction(e Item) {
	switch {
	case m.Phase == Compacting && e.Turn != m.UserTurn:
		if m.Record.Turn != e.Turn {
			m.Record.Turn, m.TurnStatus = e.Turn, ""
			if !e.Done {
				m.do(Save{m.Record})
			}
		}
		if e.Done {
			m.compacted()
		}
	case m.Phase == Recovering:
		m.lookUnless(!e.Done)
	case m.Phase == Watching && e.Done && e.Turn != m.Record.Turn:
		// Somebody else's: a person, the host itself, or another watcher,
		// which may have died over it.
		m.do(Tell{What: NewsForeign, Record: Record{Turn: e.Turn}})
		m.Seq++
		m.do(Lease{m.Seq})
	case m.Phase == Settling, m.Phase == Checking, m.Phase == Leasing, m.Phase == Authoring, m.Phase == Confirming:
		if e.Done {
			m.do(Tell{What: NewsForeign, Record: Record{Turn: e.Turn}})
		}
		m.idle(ReasonBusy)
	}
}

// compacted hands the packet over at once, while the compaction's turn is
// still ending: the queue then runs it before anything a person sends.
func (m *machine) compacted() {
	m.Record.State = RecordCompacted
	m.do(Save{m.Record}, Tell{What: NewsCompacted, Record: m.Record})
	m.enter(Delivering)
	m.offer()
}

// offer sends the packet and watches over it.
func (m *machine) offer() {
	m.Sent = false
	if m.NoQueue {
		if m.TurnStatus == TurnCompleted {
			m.do(Check{m.Seq})
		}
		m.do(After{m.Seq, m.w.Look})
		return
	}
	m.Adds++
	m.Sent = true
	m.do(Add{m.Record.Packet, m.Record.Text}, After{m.Seq, m.w.Look})
}

func (m *machine) elapsed(e Elapsed) {
	if e.Seq != m.Seq {
		return
	}
	switch m.Phase {
	case Settling:
		if m.Turn != "" {
			m.idle(ReasonBusy)
			return
		}
		m.enter(Checking)
		m.do(Check{m.Seq})
	case Compacting, Delivering, Recovering:
		m.look()
	case Watching:
		m.do(Lease{m.Seq})
	}
}

func (m *machine) look() {
	m.Seq++
	m.do(Look{m.Seq})
}

func (m *machine) lookUnless(settled bool) {
	if !settled {
		m.look()
	}
}

func (m *machine) checked(e Checked) {
	if e.Seq != m.Seq {
		return
	}
	if e.NoQueue {
		m.NoQueue = true
	}
	if m.Phase == Delivering {
		m.startTurn(e)
		return
	}
	if m.Phase != Checking && m.Phase != Confirming {
		return
	}
	switch {
	case e.Unknown:
		m.idle(ReasonUnknown)
	case m.Turn != "" || !e.Idle:
		m.idle(ReasonBusy)
	case e.Queued > 0:
		m.idle(ReasonQueued)
	case m.Review:
		m.idle(ReasonReview)
	case m.Phase == Checking:
		m.enter(Leasing)
		m.do(Lease{m.Seq})
	default:
		m.enter(Compacting)
		m.do(Save{m.Record}, Tell{What: NewsCompact, Record: m.Record}, Compact{m.Seq}, After{m.Seq, m.w.Compact})
	}
}

// startTurn delivers without a queue. A message into a running turn would
// steer it, so a thread that has gone on is left alone.
func (m *machine) startTurn(e Checked) {
	switch {
	case e.Unknown || m.Sent:
	case m.Turn != "" || !e.Idle || e.Queued > 0:
		m.void(ReasonSuperseded)
	default:
		m.Adds++
		m.Sent = true
		m.do(StartTurn{m.Record.Packet, m.Record.Text})
	}
}

func (m *machine) leased(e Leased) {
	if e.Seq != m.Seq {
		if e.OK {
			m.do(Release{})
		}
		return
	}
	switch {
	case m.Phase == Leasing && !e.OK:
		m.idle(ReasonOther)
	case m.Phase == Leasing && !e.Record.open() && e.Record.Trigger == m.Trigger:
		m.do(Release{})
		m.idle(ReasonDone)
	case m.Phase == Leasing && !e.Record.open():
		m.enter(Authoring)
		m.do(Author{m.Seq, m.Trigger})
	case m.Phase == Leasing, m.Phase == Watching && e.OK && e.Record.open():
		m.Record, m.Trigger = e.Record, e.Record.Trigger
		m.enter(Recovering)
		m.do(Tell{What: NewsAdopted, Record: m.Record}, Look{m.Seq})
	case m.Phase == Watching && e.OK:
		m.do(Release{})
	case m.Phase == Watching && e.Record.open():
		// Its holder may die over it; ask again.
		m.do(After{m.Seq, m.w.Look})
	}
}

func (m *machine) authored(e Authored) {
	if m.Phase != Authoring || e.Seq != m.Seq {
		return
	}
	m.Record = Record{
		Trigger: m.Trigger, Packet: e.Packet, Text: e.Text,
		State: RecordCompacting, Since: e.Now, Expires: e.Expires,
	}
	m.enter(Confirming)
	m.do(Check{m.Seq})
}

func (m *machine) added(e Added) {
	if e.Packet != m.Record.Packet || m.Phase != Delivering && m.Phase != Recovering {
		return
	}
	switch {
	case e.Unsupported:
		m.NoQueue, m.Sent = true, false
		switch {
		case m.Abandon:
			m.void(Reason(m.Record.Reason))
		case m.TurnStatus == TurnCompleted && m.Phase == Delivering:
			m.do(Check{m.Seq})
		}
	case e.Refused && m.Abandon:
		m.void(Reason(m.Record.Reason))
	case e.Refused || e.Unclear:
		// The pending pause ends in a look, which tells what is true.
	default:
		m.Submission = e.Submission
		if m.Abandon {
			m.withdraw(Reason(m.Record.Reason))
		}
	}
}

func (m *machine) attached(e Attached) {
	m.Turn = e.Turn
	if m.Phase.underWay() {
		m.enter(Recovering)
		m.do(Look{m.Seq})
		return
	}
	m.idle("")
	m.do(Lease{m.Seq})
}

func (m *machine) lost() {
	m.Turn = ""
	if m.Phase.underWay() {
		m.enter(Recovering)
		return
	}
	m.idle("")
}

func (m *machine) looked(e Looked) {
	if e.Seq != m.Seq || !m.Phase.underWay() {
		return
	}
	if e.Unknown {
		m.do(After{m.Seq, m.w.Look})
		return
	}
	f := find(e.View, m.Record)
	if f.turn != "" {
		m.Record.Turn = f.turn
	}
	switch f.found {
	case foundDelivered:
		m.delivered()
	case foundQueued:
		m.queued(e, f)
	case foundRunning:
		m.enter(Compacting)
		m.do(After{m.Seq, m.w.Compact})
	case foundUnclear:
		m.enter(Recovering)
		m.do(After{m.Seq, m.w.Debounce})
	case foundNothing:
		if m.Phase == Recovering {
			m.void(ReasonNotStarted)
			return
		}
		m.enter(Recovering)
		m.do(After{m.Seq, m.w.Compact})
	case foundFailed:
		m.Abandon, m.Record.Reason = true, string(f.reason)
		m.undelivered(e, f)
	case foundSuperseded, foundCompacted:
		m.undelivered(e, f)
	}
}

func (m *machine) expired(now time.Time) bool {
	return !m.Record.Expires.IsZero() && now.After(m.Record.Expires)
}

func (m *machine) queued(e Looked, f finding) {
	m.Submission, m.Sent = f.submission, true
	switch {
	case m.Abandon:
		m.withdraw(Reason(m.Record.Reason))
	case f.reason != "":
		m.withdraw(f.reason)
	case m.expired(e.Now):
		m.withdraw(ReasonExpired)
	default:
		m.Record.State = RecordCompacted
		m.enter(Delivering)
		m.do(After{m.Seq, m.w.Look})
	}
}

// undelivered: whatever became of the compaction, the packet is nowhere. Nobody has sent it while the record says compacting. Later
// it may be on its way from the queue into a turn, when for some milliseconds it
// is in neither; so only a second look after a pause counts.
func (m *machine) undelivered(e Looked, f finding) {
	m.TurnStatus = TurnCompleted
	quiet := e.View.Idle && m.Turn == ""
	sure := m.Settled || m.Record.State == RecordCompacting
	switch {
	case !sure || f.found == foundCompacted && !quiet:
		m.Settled = quiet
		m.enter(Recovering)
		m.do(After{m.Seq, m.w.Debounce})
	case m.Abandon:
		m.void(Reason(m.Record.Reason))
	case f.found == foundSuperseded:
		m.void(ReasonSuperseded)
	case m.expired(e.Now):
		m.void(ReasonExpired)
	case m.Adds >= maxAdds:
		m.void(ReasonUndelivered)
	default:
		m.Settled = false
		m.compacted()
	}
}
