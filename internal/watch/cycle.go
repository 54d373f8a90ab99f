package watch

import (
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
)

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
	// Abandon is why the packet must not stay in the queue, if so.
	Abandon Reason
	// Settled is set when a first look has found a packet missing.
	Settled bool
	// Adopted is set when the record is another watcher's: it may have gone one
	// step further than it could write down.
	Adopted bool
	// Unclear counts looks that did not tell.
	Unclear int
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

const (
	// maxAdds bounds how often a refused packet is offered again.
	maxAdds = 3
	// maxUnclear bounds the looks at a thread that does not tell.
	maxUnclear = 10
)

// Advance applies one event. It is pure: same cycle, same event, same result.
func Advance(c Cycle, w Waits, now time.Time, event any) (Cycle, []any) {
	m := machine{Cycle: c, w: w, now: now}
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
	now     time.Time
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
	m.Adds, m.Sent, m.Abandon, m.Settled = 0, false, "", false
	m.Adopted, m.Unclear = false, 0
}

// step moves the receipt on and reports whether the packet is to go out.
func (m *machine) step(e compact.ReceiptEvent) bool {
	r, ok := m.Record.Receipt.Step(e, m.now)
	m.Record.Receipt = r
	return ok
}

func (m *machine) void(r Reason) {
	m.step(compact.Missing{ID: m.Record.Receipt.ID})
	m.step(compact.Failed{Reason: string(r)})
	m.do(Save{Record: m.Record})
	m.finish(NewsVoid, r)
}

func (m *machine) delivered() {
	m.step(compact.Arrived{ID: m.Record.Receipt.ID})
	m.do(Save{Record: m.Record})
	m.finish(NewsDelivered, "")
}

// ours is the compaction's turn, "" while it is not known.
func (c Cycle) ours() string { return c.Record.Receipt.Compaction }

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
		if e.Act && e.Status == TurnCompleted && e.Turn != m.ours() {
			m.Trigger = e.Turn
			m.enter(Settling)
			m.do(After{m.Seq, m.w.Debounce})
		}
	case Compacting:
		switch {
		case m.ours() == "" || e.Turn != m.ours():
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
		if e.Turn != m.ours() {
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
	m.Abandon = r
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
		if e.ClientID != "" && e.ClientID == m.Record.Receipt.ID && m.Phase.underWay() {
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
		if m.ours() == "" {
			m.step(compact.Started{Compaction: e.Turn})
			if !e.Done {
				m.do(Save{Record: m.Record, Loose: true})
			}
		}
		if e.Done && m.ours() == e.Turn {
			m.compacted()
		}
	case m.Phase == Recovering:
		m.lookUnless(!e.Done)
	case m.Phase == Watching && e.Done && e.Turn != m.ours():
		// Somebody else's: a person, the host itself, or another watcher,
		// which may have died over it.
		m.do(Tell{What: NewsForeign})
		m.Seq++
		m.do(Lease{m.Seq})
	case m.Phase == Settling, m.Phase == Checking, m.Phase == Leasing, m.Phase == Authoring, m.Phase == Confirming:
		if e.Done {
			m.do(Tell{What: NewsForeign})
		}
		m.idle(ReasonBusy)
	}
}

// compacted hands the packet over at once, while the compaction's turn is
// still ending: the queue then runs it before anything a person sends. That is
// a matter of milliseconds, so the record is written right after and not before;
// it has the packet's id already, and a successor looks for that twice.
func (m *machine) compacted() {
	if m.deliver() {
		m.offer()
		m.do(Save{Record: m.Record}, Tell{What: NewsCompacted, Record: m.Record})
	}
}

// deliver moves the receipt to where the packet may go out.
func (m *machine) deliver() bool {
	m.step(compact.Finished{Compaction: m.ours()})
	m.step(compact.Missing{ID: m.Record.Receipt.ID})
	if !m.step(compact.Opening{Via: compact.ViaQueue}) {
		m.void(ReasonExpired)
		return false
	}
	m.enter(Delivering)
	return true
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
	m.do(Add{m.Record.Receipt.ID, m.Record.Receipt.Text}, After{m.Seq, m.w.Look})
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
		m.step(compact.Started{})
		m.do(Save{Record: m.Record}, Tell{What: NewsCompact, Record: m.Record}, Compact{m.Seq}, After{m.Seq, m.w.Compact})
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
		m.do(StartTurn{m.Record.Receipt.ID, m.Record.Receipt.Text})
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
		m.Record, m.Trigger, m.Adopted = e.Record, e.Record.Trigger, true
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
	m.Record = Record{Trigger: m.Trigger, Receipt: compact.NewReceipt(e.Packet)}
	m.enter(Confirming)
	m.do(Check{m.Seq})
}

func (m *machine) added(e Added) {
	if e.Packet != m.Record.Receipt.ID || m.Phase != Delivering && m.Phase != Recovering {
		return
	}
	switch {
	case e.Unsupported:
		m.NoQueue, m.Sent = true, false
		switch {
		case m.Abandon != "":
			m.void(m.Abandon)
		case m.TurnStatus == TurnCompleted && m.Phase == Delivering:
			m.do(Check{m.Seq})
		}
	case e.Refused && m.Abandon != "":
		m.void(m.Abandon)
	case e.Refused || e.Unclear:
		// The pending pause ends in a look, which tells what is true.
	default:
		m.Submission = e.Submission
		if m.Abandon != "" {
			m.withdraw(m.Abandon)
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
		m.step(compact.Started{Compaction: f.turn})
	}
	switch f.found {
	case foundDelivered:
		m.delivered()
	case foundQueued:
		m.queued(f)
	case foundRunning:
		m.enter(Compacting)
		m.do(After{m.Seq, m.w.Compact})
	case foundUnclear:
		if m.Unclear++; m.Unclear > maxUnclear {
			m.void(ReasonSuperseded)
			return
		}
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
		m.Abandon = f.reason
		m.undelivered(e, f)
	case foundSuperseded, foundCompacted:
		m.undelivered(e, f)
	}
}

func (m *machine) expired() bool {
	at := m.Record.Receipt.Expires
	return !at.IsZero() && !m.now.Before(at)
}

func (m *machine) queued(f finding) {
	m.Submission, m.Sent = f.submission, true
	switch {
	case m.Abandon != "":
		m.withdraw(m.Abandon)
	case f.reason != "":
		m.withdraw(f.reason)
	case m.expired():
		m.withdraw(ReasonExpired)
	default:
		m.enter(Delivering)
		m.do(After{m.Seq, m.w.Look})
	}
}

// undelivered: whatever became of the compaction, the packet is nowhere. If it
// was or may have been offered, it can be on its way from the queue into a turn,
// when for some milliseconds it is in neither; so then only a second look after a
// pause counts.
func (m *machine) undelivered(e Looked, f finding) {
	m.TurnStatus = TurnCompleted
	quiet := e.View.Idle && m.Turn == ""
	sure := m.Settled || !m.Record.offered() && !m.Adopted
	switch {
	case !sure || f.found == foundCompacted && !quiet:
		m.Settled = quiet
		m.enter(Recovering)
		m.do(After{m.Seq, m.w.Debounce})
	case m.Abandon != "":
		m.void(m.Abandon)
	case f.found == foundSuperseded:
		m.void(ReasonSuperseded)
	case m.expired():
		m.void(ReasonExpired)
	case m.Adds >= maxAdds:
		m.void(ReasonUndelivered)
	default:
		m.Settled = false
		if m.deliver() {
			m.do(Save{Record: m.Record})
			m.offer()
		}
	}
}
