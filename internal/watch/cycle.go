package watch

import (
	"cmp"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// cycle is one thread's way through a compaction. It is a value; advance is
// the only thing that changes it.
//
//	watching → settling → checking → leasing → authoring → confirming
//	         → compacting → delivering → resuming → watching
//
// Up to confirming nothing has been done and any stir in the thread leads back
// to watching. From compacting on there is an open delivery, and whatever is in
// doubt (a lost connection, a silent server, a predecessor's crash) is settled
// by looking at the thread itself. What opens a turn of its own is last: only when
// the thread has been quiet after the compaction, and nothing of the user's waits.
type cycle struct {
	Phase phase
	// Seq numbers the steps. Timers and answers that carry an older number
	// belong to something that is over.
	Seq int
	// Turn is the turn that runs, as far as we were told.
	Turn string
	// Review is set while the thread reviews.
	Review bool

	Trigger  string // the turn whose end we act on
	Delivery session.Delivery
	// UserTurn is a turn known to hold a user's message; a compaction inside
	// it is the host's own.
	UserTurn string
	// Submission is the queue's id for our packet.
	Submission string
	// Adds counts how often the packet was offered; Sent says that the last
	// offer went out.
	Adds int
	Sent bool
	// Abandon is why the packet must not stay in the queue, if so.
	Abandon reason
	// Settled is set when a first look has found a packet missing.
	Settled bool
	// Adopted is set when the delivery is another watcher's: it may have gone one
	// step further than it could write down.
	Adopted bool
	// Unclear counts looks that did not tell.
	Unclear int
	// Doubt is set when a first look has found what may be a turn that was cut,
	// or the compaction itself.
	Doubt bool
	// Moved is set when a turn has begun while the packet was on its way.
	Moved bool
	// Foreign is somebody else's compaction whose packet waits for its moment.
	Foreign foreign
}

type phase string

const (
	watching   phase = "watching"
	settling   phase = "settling"
	checking   phase = "checking"
	leasing    phase = "leasing"
	authoring  phase = "authoring"
	confirming phase = "confirming"
	compacting phase = "compacting"
	delivering phase = "delivering"
	recovering phase = "recovering"
	// resuming: the packet stands in the thread; does open work go on?
	resuming phase = "resuming"
	// noting: somebody else has compacted; is there a packet of theirs?
	noting phase = "noting"
)

// underWay says that something may have been done to the thread.
func (p phase) underWay() bool { return p == compacting || p == delivering || p == recovering }

type turnStatus string

const (
	turnRunning     turnStatus = "inProgress"
	turnCompleted   turnStatus = "completed"
	turnInterrupted turnStatus = "interrupted"
	turnFailed      turnStatus = "failed"
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
	// Author is how long an agent may take to write its packet.
	Author time.Duration
}

// DefaultWaits are the durations that have proved themselves.
func DefaultWaits() Waits {
	return Waits{Debounce: 750 * time.Millisecond, Compact: 2 * time.Minute, Look: 10 * time.Second, Author: time.Minute}
}

const (
	// maxAdds bounds how often a refused packet is offered again.
	maxAdds = 3
	// maxUnclear bounds the looks at a thread that does not tell.
	maxUnclear = 10
)

// advance applies one event. It is pure: same cycle, same event, same result.
func advance(c cycle, w Waits, now time.Time, e event) (cycle, []action) {
	m := machine{cycle: c, w: w, now: now}
	e.apply(&m)
	return m.cycle, m.actions
}

type machine struct {
	cycle
	w       Waits
	now     time.Time
	actions []action
}

func (m *machine) do(actions ...action) { m.actions = append(m.actions, actions...) }

// enter moves on; what earlier steps still have in flight is void.
func (m *machine) enter(p phase) {
	m.Phase = p
	m.Seq++
}

// idle goes back to watching without having done anything.
func (m *machine) idle(r reason) {
	m.Foreign = foreign{}
	if m.Phase == authoring || m.Phase == confirming {
		m.do(doRelease{})
	}
	if r != "" {
		m.do(doTell{What: newsHeld, Reason: r, Delivery: session.Delivery{Trigger: m.Trigger}})
	}
	m.enter(watching)
	m.Trigger = ""
}

func (e compactRefused) apply(m *machine) {
	if m.Phase == compacting && e.Seq == m.Seq {
		m.void(reasonRefused)
	}
}

func (saveFailed) apply(m *machine) {
	switch {
	case m.Phase.underWay():
		m.finish(newsVoid, reasonDisk)
	case m.Phase == resuming:
		m.rest()
	}
}

// finish closes the delivery and goes back to watching.
func (m *machine) finish(what news, r reason) {
	m.putBack()
	m.do(doRelease{}, doTell{What: what, Delivery: m.Delivery, Reason: r})
	m.cycle = cycle{Phase: watching, Seq: m.Seq + 1, Turn: m.Turn, Review: m.Review, Delivery: m.Delivery}
}

// step moves the receipt on and reports whether the packet is to go out.
func (m *machine) step(e compact.ReceiptEvent) bool {
	r, ok := m.Delivery.Receipt.Step(e, m.now)
	m.Delivery.Receipt = r
	return ok
}

func (m *machine) void(r reason) {
	m.step(compact.Missing{ID: m.Delivery.Receipt.ID})
	m.step(compact.Failed{Reason: string(r)})
	m.do(doSave{Delivery: m.Delivery})
	m.finish(newsVoid, r)
}

func (m *machine) delivered() {
	m.step(compact.Arrived{ID: m.Delivery.Receipt.ID})
	m.do(doSave{Delivery: m.Delivery}, doTidy{m.Delivery.Receipt.ID})
	m.finish(newsDelivered, "")
}

// arrived: the packet stands in the thread without a turn of its own.
func (m *machine) arrived() {
	if m.Moved || m.Delivery.Trigger == m.ours() { // or it was somebody else's compaction
		m.delivered()
		return
	}
	m.step(compact.Arrived{ID: m.Delivery.Receipt.ID})
	m.do(doSave{Delivery: m.Delivery}, doTell{What: newsDelivered, Delivery: m.Delivery})
	m.Sent, m.Submission = false, ""
	m.enter(resuming)
	m.do(doAfter{m.Seq, m.w.Debounce})
}

// goOn is the id of the note that opens a turn.
func (c cycle) goOn() string { return c.Delivery.Receipt.ID + "-go" }

// resumed: the note is on its way, or there is none.
func (e resumed) apply(m *machine) {
	if m.Phase != resuming || e.Seq != m.Seq {
		if e.Submission != "" { // the thread has gone on
			m.do(doRemove{e.Submission})
		}
		return
	}
	m.Submission = e.Submission
	switch {
	case m.Abandon != "" || !e.Opened:
		m.rest()
	case e.Submission == "":
		m.finish(newsOpened, "")
	}
}

// rest leaves the next word to the user.
func (m *machine) rest() {
	if m.Submission != "" {
		m.do(doRemove{m.Submission})
	}
	m.finish(newsRests, "")
}

// ours is the compaction's turn, "" while it is not known.
func (c cycle) ours() string { return c.Delivery.Receipt.Compaction }

func (e turnBegan) apply(m *machine) {
	m.Turn = e.Turn
	switch m.Phase {
	case settling, checking, leasing, authoring, confirming:
		m.idle(reasonBusy)
	case delivering:
		m.Moved = m.Moved || e.Turn != m.ours()
	case resuming:
		if !m.Sent && e.Turn != m.ours() {
			m.rest()
		}
	}
}

func (e turnOver) apply(m *machine) {
	if m.Turn == e.Turn {
		m.Turn = ""
	}
	switch m.Phase {
	case watching:
		if e.Act && e.Status == turnCompleted && e.Turn != m.ours() {
			m.Trigger = e.Turn
			m.enter(settling)
			m.do(doAfter{m.Seq, m.w.Debounce})
		}
	case compacting:
		switch {
		case m.ours() == "" || e.Turn != m.ours():
			// A turn of somebody else, which our request may have cut short,
			// or a compaction whose beginning we missed.
			m.lookUnless(e.Turn == m.Trigger)
		case e.Status != turnCompleted:
			m.void(endReason(e.Status))
		default:
			m.Seq++
			m.do(doAfter{m.Seq, m.w.Look})
		}
	case recovering:
		m.lookUnless(e.Turn == m.Trigger)
	case delivering:
		if e.Turn == m.ours() && e.Status != turnCompleted {
			m.withdraw(endReason(e.Status))
		}
	}
}

func endReason(s turnStatus) reason {
	if s == turnInterrupted {
		return reasonInterrupted
	}
	return reasonFailed
}

// withdraw takes a packet back. It may be leaving the queue at this moment, so
// the delivery is closed only by the look that follows.
func (m *machine) withdraw(r reason) {
	if !m.Sent {
		m.void(r)
		return
	}
	m.Abandon = r
	if m.Submission == "" {
		return // the queue's id for it is on its way, or the pending look finds it
	}
	m.enter(recovering)
	m.do(doRemove{m.Submission}, doAfter{m.Seq, m.w.Debounce})
}

func (e itemSeen) apply(m *machine) {
	switch e.Type {
	case itemReviewEnter:
		m.Review = true
	case itemReviewExit:
		m.Review = false
	case host.CodexUserMessage:
		if e.ClientID != "" && e.ClientID == m.Delivery.Receipt.ID && m.Phase.underWay() {
			m.delivered()
			return
		}
		if e.ClientID == m.goOn() && m.Phase == resuming {
			m.finish(newsOpened, "")
			return
		}
		m.UserTurn = e.Turn
		m.userSpoke(e)
	case host.CodexCompaction:
		m.compaction(e)
	}
}

func (m *machine) compaction(e itemSeen) {
	switch {
	case m.Phase == compacting && e.Turn != m.UserTurn:
		if m.ours() == "" {
			m.step(compact.Started{Compaction: e.Turn})
			if !e.Done {
				m.do(doSave{Delivery: m.Delivery, Loose: true})
			}
		}
		if e.Done && m.ours() == e.Turn {
			if e.Text != "" {
				m.Delivery.Receipt = m.Delivery.Receipt.Rewrite(e.Text, e.Basis)
			}
			m.Delivery.Quiet = m.Delivery.Quiet || e.Quiet
			m.compacted()
		}
	case m.Phase == recovering:
		m.lookUnless(!e.Done)
	case m.Phase == settling, m.Phase == checking, m.Phase == leasing, m.Phase == authoring, m.Phase == confirming:
		m.idle(reasonBusy)
	}
}

// foreign: a person, the host itself, or another watcher, which may have died
// over it. Whoever has a packet to it hands it over within a moment.
func (e foreign) apply(m *machine) {
	if e.Turn == m.ours() || m.Phase.underWay() {
		return
	}
	if m.Phase == resuming {
		m.rest()
	}
	m.do(doTell{What: newsForeign})
	m.idle("")
	if e.Packet.ID == "" {
		m.do(doLease{m.Seq})
		return
	}
	m.enter(noting)
	m.Foreign = e
	m.do(doAfter{m.Seq, m.w.Debounce})
}

// userSpoke: what a user says while our packet waits its turn makes it stale.
func (m *machine) userSpoke(e itemSeen) {
	ours := strings.HasPrefix(e.ClientID, host.PacketPrefix)
	switch {
	case m.Phase == noting && ours:
		m.idle("")
	case m.Phase == delivering && !ours && !m.Delivery.Quiet && m.Sent && m.Abandon == "" && e.Turn != m.Trigger:
		m.withdraw(reasonSuperseded)
	case m.Phase == resuming && !ours && m.Sent && m.Submission == "":
		m.Abandon = reasonSuperseded // the queue's id for the note is on its way
	case m.Phase == resuming && !ours:
		m.rest()
	}
}

// cut: the message is handed back, after the packet or without one.
func (e cut) apply(m *machine) {
	m.do(doTell{What: newsCut, Delivery: m.Delivery})
	back := &session.CutMessage{ID: putBackPrefix + e.Turn, Input: e.Input}
	if !m.Phase.underWay() {
		m.do(doPutBack{*back})
		return
	}
	m.Delivery.Cut = back
	m.do(doSave{Delivery: m.Delivery})
	if m.Phase == delivering {
		m.putBack()
	}
}

// putBackPrefix is how the ids of users' messages begin that we queue again.
const putBackPrefix = "overtone-again-"

// putBack hands a cut message to the queue, once.
func (m *machine) putBack() {
	c := m.Delivery.Cut
	if c == nil || c.Back {
		return
	}
	again := *c
	again.Back = true
	m.Delivery.Cut = &again
	m.do(doSave{Delivery: m.Delivery}, doPutBack{again})
}

// compacted hands the packet over at once, while the compaction's turn is
// still ending: it then stands before anything a person sends. That is
// a matter of milliseconds, so the delivery is written right after and not before;
// it has the packet's id already, and a successor looks for that twice. Into a
// turn that runs already it would be a message that steers it.
func (m *machine) compacted() {
	if m.Delivery.Quiet && m.Turn != "" && m.Turn != m.ours() {
		m.void(reasonSuperseded)
		return
	}
	if m.deliver() {
		m.offer()
		m.putBack()
		m.do(doSave{Delivery: m.Delivery}, doTell{What: newsCompacted, Delivery: m.Delivery})
	}
}

// deliver moves the receipt to where the packet may go out.
func (m *machine) deliver() bool {
	m.step(compact.Finished{Compaction: m.ours()})
	m.step(compact.Missing{ID: m.Delivery.Receipt.ID})
	via := compact.ViaQueue
	if m.Delivery.Quiet {
		via = compact.ViaHistory
	}
	if !m.step(compact.Opening{Via: via}) {
		m.void(reasonExpired)
		return false
	}
	m.enter(delivering)
	return true
}

// offer sends the packet and watches over it.
func (m *machine) offer() {
	m.Adds++
	m.Sent = true
	r := m.Delivery.Receipt
	if m.Delivery.Quiet {
		m.do(doInject{r.ID, r.Text})
	} else {
		m.do(doAdd{r.ID, r.Text})
	}
	m.do(doAfter{m.Seq, m.w.Look})
}

func (e elapsed) apply(m *machine) {
	if e.Seq != m.Seq {
		return
	}
	switch m.Phase {
	case settling:
		if m.Turn != "" {
			m.idle(reasonBusy)
			return
		}
		m.enter(checking)
		m.do(doCheck{m.Seq})
	case compacting, delivering, recovering:
		m.look()
	case resuming:
		switch {
		case m.Sent: // the queue does not move
			m.rest()
		case m.Turn != "":
			m.do(doAfter{m.Seq, m.w.Debounce})
		default:
			m.do(doCheck{m.Seq})
		}
	case watching, noting:
		m.do(doLease{m.Seq})
	}
}

func (m *machine) look() {
	m.Seq++
	m.do(doLook{m.Seq})
}

func (m *machine) lookUnless(settled bool) {
	if !settled {
		m.look()
	}
}

func (e checked) apply(m *machine) {
	if e.Seq != m.Seq {
		return
	}
	switch {
	case m.Phase == resuming && (e.Unknown || m.Turn != "" || !e.Idle || e.Queued > 0 || m.Review):
		m.rest() // somebody else was faster
	case m.Phase == resuming: // open work goes on
		m.Sent = true
		m.Seq++
		m.do(doAfter{m.Seq, m.w.Look}, doResume{m.Seq, m.Delivery.Receipt.ID, m.goOn()})
	case m.Phase != checking && m.Phase != confirming:
	case e.Unknown:
		m.idle(reasonUnknown)
	case m.Turn != "" || !e.Idle:
		m.idle(reasonBusy)
	case e.Queued > 0:
		m.idle(reasonQueued)
	case m.Review:
		m.idle(reasonReview)
	case m.Phase == checking:
		m.enter(leasing)
		m.do(doLease{m.Seq})
	default:
		m.enter(compacting)
		m.step(compact.Started{})
		m.do(doSave{Delivery: m.Delivery}, doTell{What: newsCompact, Delivery: m.Delivery}, doCompact{m.Seq}, doAfter{m.Seq, m.w.Compact})
	}
}

func (e leased) apply(m *machine) {
	if e.Seq != m.Seq {
		if e.OK {
			m.do(doRelease{})
		}
		return
	}
	switch {
	case m.Phase == noting && (!e.OK || e.Delivery.Trigger == m.Foreign.Turn && !e.Delivery.Open()):
		if e.OK {
			m.do(doRelease{})
		}
		m.idle("")
	case m.Phase == noting && !e.Delivery.Open():
		m.Trigger = m.Foreign.Turn
		m.Delivery = session.Delivery{Trigger: m.Trigger, Receipt: compact.NewReceipt(m.Foreign.Packet), Quiet: true}
		m.step(compact.Started{Compaction: m.Foreign.Turn})
		m.do(doSave{Delivery: m.Delivery})
		if m.deliver() {
			m.do(doSave{Delivery: m.Delivery})
			m.offer()
		}
	case m.Phase == leasing && !e.OK:
		m.idle(reasonOther)
	case m.Phase == leasing && !e.Delivery.Open() && e.Delivery.Trigger == m.Trigger:
		m.do(doRelease{})
		m.idle(reasonDone)
	case m.Phase == leasing && !e.Delivery.Open():
		m.enter(authoring)
		m.do(doAuthor{m.Seq, m.Trigger})
	case m.Phase == leasing, (m.Phase == watching || m.Phase == noting) && e.OK && e.Delivery.Open():
		m.Delivery, m.Trigger, m.Adopted = e.Delivery, e.Delivery.Trigger, true
		m.enter(recovering)
		m.do(doTell{What: newsAdopted, Delivery: m.Delivery}, doLook{m.Seq})
	case m.Phase == watching && e.OK:
		m.do(doRelease{})
	case m.Phase == watching && e.Delivery.Open():
		// Its holder may die over it; ask again.
		m.do(doAfter{m.Seq, m.w.Look})
	}
}

func (e authored) apply(m *machine) {
	if m.Phase != authoring || e.Seq != m.Seq {
		return
	}
	m.Delivery = session.Delivery{Trigger: m.Trigger, Receipt: compact.NewReceipt(e.Packet), Quiet: e.Packet.Wait}
	m.enter(confirming)
	m.do(doCheck{m.Seq})
}

func (e added) apply(m *machine) {
	if e.Packet != m.Delivery.Receipt.ID || m.Phase != delivering && m.Phase != recovering {
		return
	}
	switch {
	case m.Delivery.Quiet && e.Unclear:
	case m.Delivery.Quiet && e.Refused:
		m.void(reasonUndelivered)
	case m.Delivery.Quiet:
		m.arrived()
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

func (e attached) apply(m *machine) {
	m.Turn = e.Turn
	if m.Phase == resuming {
		m.rest()
	}
	if m.Phase.underWay() {
		m.enter(recovering)
		m.do(doLook{m.Seq})
		return
	}
	m.idle("")
	m.do(doLease{m.Seq})
}

func (lost) apply(m *machine) {
	m.Turn = ""
	if m.Phase.underWay() {
		m.enter(recovering)
		return
	}
	if m.Phase == resuming {
		m.rest()
	}
	m.idle("")
}

func (e looked) apply(m *machine) {
	if e.Seq != m.Seq || !m.Phase.underWay() {
		return
	}
	if e.Unknown {
		m.do(doAfter{m.Seq, m.w.Look})
		return
	}
	f := find(e.View, m.Delivery)
	if f.found == foundFailed && f.reason == reasonInterrupted && m.ours() == "" && !m.Doubt {
		// The compaction begins within milliseconds after the turn that it cut.
		m.Doubt = true
		m.do(doAfter{m.Seq, m.w.Debounce})
		return
	}
	if f.turn != "" {
		m.step(compact.Started{Compaction: f.turn})
	}
	switch f.found {
	case foundDelivered:
		m.delivered()
	case foundQueued:
		m.queued(f)
	case foundRunning:
		m.enter(compacting)
		m.do(doAfter{m.Seq, m.w.Compact})
	case foundUnclear:
		if m.Unclear++; m.Unclear > maxUnclear {
			m.void(reasonSuperseded)
			return
		}
		m.enter(recovering)
		m.do(doAfter{m.Seq, m.w.Debounce})
	case foundNothing:
		if m.Phase == recovering {
			m.void(reasonNotStarted)
			return
		}
		m.enter(recovering)
		m.do(doAfter{m.Seq, m.w.Compact})
	default: // foundFailed, foundSuperseded, foundCompacted
		m.Abandon = cmp.Or(f.reason, m.Abandon)
		m.undelivered(e, f)
	}
}

func (m *machine) expired() bool {
	at := m.Delivery.Receipt.Expires
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
		m.withdraw(reasonExpired)
	default:
		m.enter(delivering)
		m.do(doAfter{m.Seq, m.w.Look})
	}
}

// undelivered: whatever became of the compaction, the packet is nowhere. If it
// was or may have been offered, it can be on its way from the queue into a turn,
// when for some milliseconds it is in neither; so then only a second look after a
// pause counts.
func (m *machine) undelivered(e looked, f finding) {
	quiet := e.View.Idle && m.Turn == ""
	sure := m.Settled || !m.Delivery.Offered() && !m.Adopted
	switch {
	case !sure || f.found == foundCompacted && !quiet:
		m.Settled = quiet
		m.enter(recovering)
		m.do(doAfter{m.Seq, m.w.Debounce})
	case m.Abandon != "":
		m.void(m.Abandon)
	case f.found == foundSuperseded:
		m.void(reasonSuperseded)
	case m.expired():
		m.void(reasonExpired)
	case m.Adds >= maxAdds:
		m.void(reasonUndelivered)
	default:
		m.Settled = false
		if m.deliver() {
			m.do(doSave{Delivery: m.Delivery})
			m.offer()
		}
	}
}
