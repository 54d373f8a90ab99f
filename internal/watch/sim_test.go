package watch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// world is a small app-server with one thread, a disk and some watchers, in
// which every delay, loss, repetition and death is a choice of the test.
type world struct {
	t *rapid.T

	turns   []simTurn
	next    int
	queue   []queuedMessage
	paused  bool          // an interrupted thread keeps its queue
	leaving queuedMessage // taken out of the queue, its turn not yet begun

	record   session.Delivery
	holder   int // watcher that has the lease, 0 for none
	watchers []*simWatcher

	typed    bool              // text in a terminal that is sent as soon as the turn has ended
	injected map[string]bool   // packets that stand in the thread without a turn
	kind     map[string]string // packet → always, evidence, none
	accepted map[string]int    // packets taken by the server, by id
	of       map[string]string // packet → its compaction's turn
	excused  map[string]bool   // notes whose watcher was cut off over them
	accident bool              // somebody was cut off, or interfered
	calm     bool              // no more accidents
	clock    time.Duration
	log      []string
}

type simTurn struct {
	id      string
	status  turnStatus
	user    bool
	client  string
	compact bool // is a compaction
	started bool // its item began
	done    bool // its item was completed
	swapped bool // tells of its end before its item
}

type simWatcher struct {
	id       int
	alive    bool
	attached bool
	c        cycle
	inbox    []event
	requests []action
	timer    *doAfter
	told     []doTell
}

var simWaits = Waits{Debounce: time.Millisecond, Compact: time.Minute, Look: 5 * time.Second}

func (w *world) now() time.Time { return time.Unix(0, 0).Add(w.clock) }

func (w *world) logf(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *world) fail(format string, args ...any) {
	for _, l := range w.log {
		w.t.Log(l)
	}
	w.t.Fatalf(format, args...)
}

func (w *world) running() *simTurn {
	if n := len(w.turns); n > 0 && w.turns[n-1].status == turnRunning {
		return &w.turns[n-1]
	}
	return nil
}

func (w *world) tell(events ...event) {
	for _, x := range w.watchers {
		if x.alive && x.attached {
			x.inbox = append(x.inbox, events...)
		}
	}
}

func (w *world) begin(t simTurn) {
	w.next++
	t.id, t.status = fmt.Sprintf("t%02d", w.next), turnRunning
	w.mayOpen(t)
	w.turns = append(w.turns, t)
	w.logf("server: begin %+v", t)
	w.tell(turnBegan{t.id})
	if t.user {
		w.tell(itemSeen{Turn: t.id, Type: host.CodexUserMessage, ClientID: t.client}, itemSeen{Turn: t.id, Type: host.CodexUserMessage, ClientID: t.client, Done: true})
	}
}

func (w *world) end(status turnStatus, act bool) {
	t := w.running()
	t.status = status
	w.paused = status == turnInterrupted
	w.logf("server: end %s %s", t.id, status)
	w.tell(turnOver{Turn: t.id, Status: status, Act: act && t.user && t.client == ""})
	if t.swapped && t.done {
		w.tell(itemSeen{Turn: t.id, Type: host.CodexCompaction, Done: true, Quiet: w.queued()})
	}
}

// mayOpen checks the promise at the moment a message of ours opens a turn: there is
// evidence of open work, and nothing of the user's came in between.
func (w *world) mayOpen(t simTurn) {
	packet, note := strings.CutSuffix(t.client, "-go")
	switch {
	case t.client == "":
	case note && w.kind[packet] != "evidence":
		w.fail("%s opens a turn without evidence", t.client)
	case !note && w.kind[packet] != "always":
		w.fail("packet %s opens a turn", packet)
	case note && !w.injected[packet]:
		w.fail("%s comes before its packet", t.client)
	case note && w.excused[t.client]:
	case note && w.typed:
		w.fail("%s opens a turn before the user's message", t.client)
	case note && w.turns[len(w.turns)-1].id != w.of[packet]:
		w.fail("%s opens a turn after the thread has gone on", t.client)
	}
}

// queued says that a message of the user's waits in the queue.
func (w *world) queued() bool {
	return slices.ContainsFunc(w.queue, func(q queuedMessage) bool { return strings.HasPrefix(q.ClientID, "user") })
}

// noted says that a note waits in the queue to open a turn.
func (w *world) noted() bool {
	return slices.ContainsFunc(w.queue, func(q queuedMessage) bool { return strings.HasSuffix(q.ClientID, "-go") })
}

// idleWatchers says that all who listen have dealt with what they were told. A
// model takes longer to answer than a watcher to hear of its turn.
func (w *world) idleWatchers() bool {
	return !slices.ContainsFunc(w.watchers, func(x *simWatcher) bool { return x.alive && x.attached && len(x.inbox)+len(x.requests) > 0 })
}

// send sends what was typed while the thread was busy.
func (w *world) send() {
	if w.typed && w.running() == nil && w.leaving.Submission == "" {
		w.typed, w.paused = false, false
		w.begin(simTurn{user: true})
	}
}

// compactNow is what a request to compact does, whoever makes it.
func (w *world) compactNow(swapped bool) {
	if w.leaving.Submission != "" {
		w.progress(0, false)
	}
	if w.running() != nil {
		w.end(turnInterrupted, false)
	}
	w.begin(simTurn{compact: true, swapped: swapped})
}

// progress moves the thread one step on.
func (w *world) progress(how int, act bool) {
	t := w.running()
	switch {
	case w.leaving.Submission != "":
		client := w.leaving.ClientID
		w.leaving = queuedMessage{}
		if strings.HasPrefix(client, "user") {
			client = ""
		}
		w.begin(simTurn{user: true, client: client})
	case t == nil && w.typed && how%2 == 0:
		w.send()
	case t == nil && len(w.queue) > 0 && !w.paused:
		w.leaving, w.queue = w.queue[0], w.queue[1:]
	case t == nil:
	case w.noted() && !w.idleWatchers():
	case t.user:
		w.end([]turnStatus{turnCompleted, turnCompleted, turnFailed, turnInterrupted}[how%4], act)
	case !t.started:
		t.started = true
		w.tell(itemSeen{Turn: t.id, Type: host.CodexCompaction})
	case !t.done && how%5 < 3:
		t.done = true
		if !t.swapped {
			w.tell(itemSeen{Turn: t.id, Type: host.CodexCompaction, Done: true, Quiet: w.queued()})
		}
	case !t.done:
		w.end([]turnStatus{turnFailed, turnInterrupted}[how%2], false)
	case how%7 == 0:
		w.accident = true
		w.end(turnInterrupted, false)
	default:
		w.end(turnCompleted, false)
	}
}

func (w *world) view() view {
	v := view{Idle: w.running() == nil, Queue: slices.Clone(w.queue)}
	for _, t := range slices.Backward(w.turns) {
		tv := turnView{ID: t.id, Status: t.status, Compact: t.done}
		if t.user {
			tv.Clients = []string{t.client}
		}
		v.Turns = append(v.Turns, tv)
	}
	return v
}

// serve answers the oldest request of x. With drop the answer gets lost on the
// way, which a watcher sees as a time-out.
func (w *world) serve(x *simWatcher, drop, swapped bool) {
	r := x.requests[0]
	x.requests = x.requests[1:]
	w.logf("server: serve %T of w%d drop=%v", r, x.id, drop)
	var answer event
	switch a := r.(type) {
	case doCheck:
		answer = checked{Seq: a.Seq, Idle: w.running() == nil, Queued: len(w.queue), Unknown: drop}
		drop = false
	case doCompact:
		w.compactNow(swapped)
	case doAdd:
		w.accept(a.Packet)
		w.next++
		q := queuedMessage{Submission: fmt.Sprintf("q%d-%s", w.next, a.Packet), ClientID: a.Packet}
		w.queue = append(w.queue, q)
		w.paused = w.paused && w.running() == nil
		answer = added{Packet: a.Packet, Submission: q.Submission}
		if drop {
			answer = added{Packet: a.Packet, Unclear: true}
			drop = false
		}
	case doInject:
		w.accept(a.Packet)
		w.injected[a.Packet] = true
		answer = added{Packet: a.Packet, Unclear: drop}
		drop = false
	case doResume:
		if w.kind[a.Packet] != "evidence" {
			answer = resumed{Seq: a.Seq}
			break
		}
		q := queuedMessage{Submission: "q-" + a.ID, ClientID: a.ID}
		w.queue = append(w.queue, q)
		answer = resumed{Seq: a.Seq, Opened: !drop}
		if !drop {
			answer = resumed{Seq: a.Seq, Opened: true, Submission: q.Submission}
		}
		w.excused[a.ID] = w.excused[a.ID] || drop
		drop = false
	case doRemove:
		n := len(w.queue)
		w.queue = slices.DeleteFunc(w.queue, func(q queuedMessage) bool {
			if q.Submission == a.Submission {
				w.accepted[q.ClientID]-- // who looks on may offer it again
			}
			return q.Submission == a.Submission
		})
		w.logf("server: removed %d", n-len(w.queue))
	case doTidy:
		w.queue = slices.DeleteFunc(w.queue, func(q queuedMessage) bool { return q.ClientID == a.Packet })
	case doLook:
		v := w.view()
		if id := x.c.Delivery.Receipt.ID; w.injected[id] {
			v.Injected = id
		}
		answer = looked{Seq: a.Seq, View: v, Unknown: drop}
		drop = false
	}
	if answer != nil && !drop {
		x.inbox = append(x.inbox, answer)
	}
}

// accept checks the promise at the moment the server takes a packet: it is on
// record, it is the first, and its compaction is done.
func (w *world) accept(packet string) {
	w.accepted[packet]++
	if w.accepted[packet] > 1 {
		w.fail("packet %s was sent %d times", packet, w.accepted[packet])
	}
	of := ""
	for _, t := range w.turns {
		if t.id > w.record.Trigger && t.done {
			of = t.id
		}
	}
	if w.record.Receipt.ID != packet || of == "" {
		w.fail("packet %s was sent before its compaction was done: %+v", packet, w.record)
	}
	if c := w.record.Receipt.Compaction; c != "" {
		of = c
	}
	w.of[packet] = of
}

func (w *world) turn(id string) simTurn {
	for _, t := range w.turns {
		if t.id == id {
			return t
		}
	}
	return simTurn{}
}

func (w *world) feed(x *simWatcher, e event) {
	var actions []action
	before := x.c.Phase
	x.c, actions = advance(x.c, simWaits, w.now(), e)
	w.logf("w%d: %s + %T%+v → %s #%d", x.id, before, e, e, x.c.Phase, x.c.Seq)
	offered := false
	for _, a := range actions {
		w.logf("w%d:    %T%+v", x.id, a, a)
		switch a.(type) {
		case doAdd:
			offered = true
		case doInject:
			offered = true
			if t := w.turn(x.c.Turn); t.user && t.status == turnRunning {
				w.fail("w%d puts a packet into a turn that runs", x.id)
			}
		}
		if _, ok := a.(doSave); ok && offered && w.next%5 == 0 && !w.calm {
			w.accident = true
			w.kill(x, w.next%2 == 0) // right after the packet went out
			return
		}
		switch a := a.(type) {
		case doAfter:
			x.timer = &a
		case doLease:
			if w.holder == 0 || w.holder == x.id {
				w.holder = x.id
			}
			w.feed(x, leased{Seq: a.Seq, OK: w.holder == x.id, Delivery: w.record})
		case doRelease:
			if w.holder == x.id {
				w.holder = 0
			}
		case doAuthor:
			w.next++
			id := fmt.Sprintf("p%d", w.next)
			w.kind[id] = []string{"always", "evidence", "none"}[w.next%3]
			x.inbox = append(x.inbox, authored{Seq: a.Seq, Packet: compact.Packet{
				ID: id, Text: "packet", Wait: w.kind[id] != "always", Created: w.now(), Expires: w.now().Add(10 * time.Minute),
			}})
		case doSave:
			if w.holder != x.id {
				w.fail("w%d saved without the lease", x.id)
			}
			w.record = a.Delivery
		case doTell:
			x.told = append(x.told, a)
		default:
			x.requests = append(x.requests, a)
		}
	}
}

func (w *world) attach(x *simWatcher) {
	x.attached = true
	turn := ""
	if t := w.running(); t != nil {
		turn = t.id
	}
	w.feed(x, attached{Turn: turn})
}

func (w *world) start(x *simWatcher) {
	*x = simWatcher{id: x.id, alive: true, c: cycle{Phase: watching}}
	w.logf("w%d: start", x.id)
	w.attach(x)
}

func (w *world) kill(x *simWatcher, reached bool) {
	w.excused[x.c.goOn()] = true
	w.logf("w%d: killed", x.id)
	for reached && x.attached && len(x.requests) > 0 {
		w.serve(x, true, false)
	}
	x.alive, x.attached = false, false
	if w.holder == x.id {
		w.holder = 0
	}
}

// disconnect cuts the line; with reached the server has got what was sent.
func (w *world) disconnect(x *simWatcher, reached bool) {
	w.excused[x.c.goOn()] = true
	w.logf("w%d: disconnected", x.id)
	for reached && len(x.requests) > 0 {
		w.serve(x, true, false)
	}
	x.attached = false
	x.inbox, x.requests = nil, nil
	w.feed(x, lost{})
}

// elapse ends a watcher's pause. The one thing that is known about time: a
// packet is on its way from the queue into a turn for less than any pause.
func (w *world) elapse(x *simWatcher) {
	if w.leaving.Submission != "" {
		w.progress(0, false)
	}
	w.send() // so is what was typed
	w.clock += x.timer.Wait
	e := elapsed{Seq: x.timer.Seq}
	x.timer = nil
	w.feed(x, e)
}

// settle lets everything come to rest, without accidents.
func (w *world) settle() {
	for range 2000 {
		moved := false
		w.send()
		if t := w.running(); t != nil || len(w.queue) > 0 && !w.paused || w.leaving.Submission != "" {
			w.progress(1, false)
			moved = true
		}
		for _, x := range w.watchers {
			if !x.alive {
				continue
			}
			if !x.attached {
				w.attach(x)
				moved = true
			}
			for len(x.requests) > 0 {
				w.serve(x, false, false)
				moved = true
			}
			for len(x.inbox) > 0 {
				e := x.inbox[0]
				x.inbox = x.inbox[1:]
				w.feed(x, e)
				moved = true
			}
		}
		if moved {
			continue
		}
		for _, x := range w.watchers {
			if x.alive && x.timer != nil && x.timer.Seq == x.c.Seq {
				w.elapse(x)
				moved = true
			}
		}
		if !moved {
			return
		}
	}
	w.fail("the world does not come to rest")
}

func TestCycleUnderAnySchedule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, accepted: map[string]int{}, of: map[string]string{}, excused: map[string]bool{}, injected: map[string]bool{}, kind: map[string]string{}}
		for i := range rapid.IntRange(1, 2).Draw(t, "watchers") {
			x := &simWatcher{id: i + 1}
			w.watchers = append(w.watchers, x)
			w.start(x)
		}
		// Uniform choices: rapid's own lean to small numbers, here to deaths.
		steps := rapid.IntRange(10, 400).Draw(t, "steps")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range steps {
			w.step(w.watchers[rng.IntN(len(w.watchers))], rng.IntN(64), rng.IntN(1<<16))
		}
		w.logf("--- settle")
		w.calm = true
		for _, x := range w.watchers {
			if !x.alive {
				w.start(x)
			}
		}
		w.settle()
		w.atRest()
	})
}

// step lets one thing happen to the world. Accidents are rare enough for whole
// cycles to pass between them.
func (w *world) step(x *simWatcher, what, how int) {
	switch {
	case what == 0:
		w.accident = true
		w.kill(x, how%2 == 0)
	case what < 3:
		if !x.alive {
			w.start(x)
		} else if !x.attached {
			w.attach(x)
		}
	case what == 3:
		if x.alive && x.attached {
			w.accident = true
			w.disconnect(x, how%2 == 0)
		}
	case what < 7:
		if w.running() == nil && w.leaving.Submission == "" && len(w.queue) == 0 {
			w.paused = false
			w.begin(simTurn{user: true})
		}
	case what == 7:
		switch t := w.running(); {
		case how%3 == 0:
			w.accident = true
			w.compactNow(how%2 == 0) // somebody types /compact
		case t == nil || !t.compact:
		case how%3 == 1:
			w.typed = true
		case !w.queued():
			w.logf("server: the user queues a message")
			w.queue = append(w.queue, queuedMessage{Submission: "q-user" + t.id, ClientID: "user" + t.id})
		}
	case what < 18:
		w.progress(how, true)
	case what < 30:
		if len(x.requests) > 0 && x.alive && x.attached {
			w.serve(x, how%16 == 0, how%2 == 0)
		}
	case what < 36:
		if x.alive && x.timer != nil {
			w.elapse(x)
		}
	default:
		if len(x.inbox) > 0 && x.alive {
			e := x.inbox[0]
			if how%16 != 0 { // else it comes twice
				x.inbox = x.inbox[1:]
			}
			w.feed(x, e)
		}
	}
}

// atRest checks what must hold when nothing moves any more.
func (w *world) atRest() {
	if w.record.Open() {
		w.fail("record left open: %+v", w.record)
	}
	if w.holder != 0 {
		w.fail("lease left with w%d", w.holder)
	}
	delivered := map[string]bool{}
	for _, t := range w.turns {
		if t.client == "" {
			continue
		}
		if delivered[t.client] {
			w.fail("packet %s in two turns", t.client)
		}
		delivered[t.client] = true
		// Between a compaction and the end of its turn lie some milliseconds.
		// Who is cut off then cannot take the packet back any more.
		if c := w.turn(w.of[strings.TrimSuffix(t.client, "-go")]); c.status != turnCompleted && !w.accident {
			w.fail("packet %s after its compaction ended %s", t.client, c.status)
		}
	}
	r := w.record.Receipt
	if r.ID != "" && (r.State == compact.Delivered) != (delivered[r.ID] != w.injected[r.ID]) {
		w.fail("the record says %s, the thread holds %v and %v", r, delivered, w.injected)
	}
	if c := w.turn(r.Compaction); c.done && c.status == turnCompleted && !w.accident && r.State == compact.Dropped && r.Reason != string(reasonSuperseded) {
		w.fail("the packet of a good compaction is lost: %s", r)
	}
	for _, q := range w.queue {
		if !w.paused || !strings.HasPrefix(q.ClientID, "user") {
			w.fail("left in the queue: %+v", q)
		}
	}
}
