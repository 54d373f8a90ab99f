package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// play feeds events to a cycle and lists what it did to the thread. It answers
// by itself what a quiet, honest world would answer.
type play struct {
	c       cycle
	now     time.Time
	did     []string
	record  session.Delivery
	told    []string
	answers bool
	quiet   bool // the packet opens no turn
}

func (p *play) feed(events ...event) {
	for _, e := range events {
		var actions []action
		p.c, actions = advance(p.c, simWaits, p.now, e)
		for _, a := range actions {
			p.act(a)
		}
	}
}

func (p *play) act(a action) {
	switch a := a.(type) {
	case doSave:
		p.record = a.Delivery
	case doTell:
		p.told = append(p.told, strings.TrimSpace(fmt.Sprintf("%s %s", a.What, a.Reason)))
	case doLease:
		p.feed(leased{Seq: a.Seq, OK: true, Delivery: p.record})
	case doAuthor:
		p.feed(authored{Seq: a.Seq, Packet: compact.Packet{ID: "p1", Text: "packet", Wait: p.quiet, Created: p.now, Expires: p.now.Add(time.Hour)}})
	case doCheck:
		if p.answers {
			p.feed(checked{Seq: a.Seq, Idle: true})
		}
	case doCompact:
		p.did = append(p.did, "compact")
	case doAdd:
		p.did = append(p.did, "add "+a.Packet)
	case doInject:
		p.did = append(p.did, "inject "+a.Packet)
	case doResume:
		p.did = append(p.did, "resume "+a.ID)
	case doPutBack:
		p.did = append(p.did, "again "+string(a.Input))
	case doRemove:
		p.did = append(p.did, "remove "+a.Submission)
	}
}

// startCompaction is a cycle whose request to compact is out.
func startCompaction() *play {
	p := &play{c: cycle{Phase: watching}, now: time.Unix(1000, 0), answers: true}
	p.feed(turnBegan{"work"}, turnOver{Turn: "work", Status: turnCompleted, Act: true})
	p.feed(elapsed{Seq: p.c.Seq})
	return p
}

// Once the packet stands in the thread, open work goes on, unless anything of the
// user's comes first.
func TestAdvanceResuming(t *testing.T) {
	t.Parallel()
	user := func(turn string) itemSeen { return itemSeen{Turn: turn, Type: host.CodexUserMessage, Done: true} }
	note := itemSeen{Turn: "g", Type: host.CodexUserMessage, ClientID: "p1-go", Done: true}
	ended := turnOver{Turn: "c", Status: turnCompleted}
	pause := func(p *play) event { return elapsed{Seq: p.c.Seq} }
	free := func(p *play) event { return checked{Seq: p.c.Seq, Idle: true} }
	queued := func(p *play) event { return resumed{Seq: p.c.Seq, Opened: true, Submission: "q"} }
	just := func(e event) func(*play) event { return func(*play) event { return e } }
	for _, tt := range []struct {
		name   string
		events []func(*play) event
		did    string
		told   string
	}{
		{"goes on", []func(*play) event{just(ended), pause, free, queued, just(turnBegan{"g"}), just(note)}, "resume p1-go", "opened"},
		{"begins before its answer", []func(*play) event{just(ended), pause, free, just(turnBegan{"g"}), just(note), queued}, "resume p1-go, remove q", "opened"},
		{"without a queue", []func(*play) event{just(ended), pause, free, func(p *play) event { return resumed{Seq: p.c.Seq, Opened: true} }}, "resume p1-go", "opened"},
		{"no evidence", []func(*play) event{just(ended), pause, free, func(p *play) event { return resumed{Seq: p.c.Seq} }}, "resume p1-go", "rests"},
		{"the compaction's turn still runs", []func(*play) event{pause, pause}, "", ""},
		{"a message waits", []func(*play) event{just(ended), pause, func(p *play) event { return checked{Seq: p.c.Seq, Idle: true, Queued: 1} }}, "", "rests"},
		{"the thread is not idle", []func(*play) event{just(ended), pause, func(p *play) event { return checked{Seq: p.c.Seq} }}, "", "rests"},
		{"nobody knows", []func(*play) event{just(ended), pause, func(p *play) event { return checked{Seq: p.c.Seq, Idle: true, Unknown: true} }}, "", "rests"},
		{"a turn begins", []func(*play) event{just(ended), just(turnBegan{"u"}), pause, free}, "", "rests"},
		{"a turn comes and goes", []func(*play) event{just(ended), just(turnBegan{"u"}), just(turnOver{Turn: "u", Status: turnCompleted}), pause, free}, "", "rests"},
		{"a turn begins while we ask", []func(*play) event{just(ended), pause, just(turnBegan{"u"}), free}, "", "rests"},
		{"the user was faster", []func(*play) event{just(ended), pause, free, queued, just(turnBegan{"u"}), just(user("u"))}, "resume p1-go, remove q", "rests"},
		{"the user was faster than the answer", []func(*play) event{just(ended), pause, free, just(turnBegan{"u"}), just(user("u")), queued}, "resume p1-go, remove q", "rests"},
		{"the queue does not move", []func(*play) event{just(ended), pause, free, queued, pause}, "resume p1-go, remove q", "rests"},
		{"somebody compacts", []func(*play) event{just(ended), pause, free, queued, just(foreign{Turn: "x"})}, "resume p1-go, remove q", "rests, foreign"},
		{"the line is lost", []func(*play) event{just(ended), just(lost{})}, "", "rests"},
		{"the receipt was not written", []func(*play) event{just(saveFailed{})}, "", "rests"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &play{c: cycle{Phase: watching}, now: time.Unix(1000, 0), answers: true, quiet: true}
			p.feed(turnBegan{"work"}, turnOver{Turn: "work", Status: turnCompleted, Act: true})
			p.feed(elapsed{Seq: p.c.Seq})
			p.answers = false
			p.feed(turnBegan{"c"}, compactionItem(false), compactionItem(true), added{Packet: "p1"})
			if got := strings.Join(p.did, ", "); got != "compact, inject p1" || p.c.Phase != resuming || p.record.Receipt.State != compact.Delivered {
				t.Fatalf("did %q, phase %s, %s", got, p.c.Phase, p.record.Receipt)
			}
			p.did, p.told = nil, nil
			for _, e := range tt.events {
				p.feed(e(p))
			}
			if got := strings.Join(p.did, ", "); got != tt.did {
				t.Errorf("did %q, want %q", got, tt.did)
			}
			if got := strings.Join(p.told, ", "); got != tt.told {
				t.Errorf("told %q, want %q", got, tt.told)
			}
			if over := p.c.Phase == watching; over != (tt.told != "") {
				t.Errorf("phase %s", p.c.Phase)
			}
		})
	}
}

// A packet does not steer a turn that has begun before it could be put into the
// thread.
func TestAdvanceTooLate(t *testing.T) {
	t.Parallel()
	p := &play{c: cycle{Phase: watching}, now: time.Unix(1000, 0), answers: true, quiet: true}
	p.feed(turnBegan{"work"}, turnOver{Turn: "work", Status: turnCompleted, Act: true})
	p.feed(elapsed{Seq: p.c.Seq})
	p.feed(turnBegan{"c"}, compactionItem(false), turnOver{Turn: "c", Status: turnCompleted}, turnBegan{"u"}, compactionItem(true))
	if got := strings.Join(p.did, ", "); got != "compact" || p.record.Receipt.Reason != string(reasonSuperseded) {
		t.Errorf("did %q, %s", got, p.record.Receipt)
	}
}

// Where the answer to a packet was lost, and the thread's file does not show it yet,
// only a second look counts.
func TestAdvanceUnclear(t *testing.T) {
	t.Parallel()
	p := &play{c: cycle{Phase: watching}, now: time.Unix(1000, 0), answers: true, quiet: true}
	p.feed(turnBegan{"work"}, turnOver{Turn: "work", Status: turnCompleted, Act: true})
	p.feed(elapsed{Seq: p.c.Seq})
	p.feed(turnBegan{"c"}, compactionItem(false), compactionItem(true), turnOver{Turn: "c", Status: turnCompleted}, added{Packet: "p1", Unclear: true})
	look := func() {
		p.feed(elapsed{Seq: p.c.Seq})
		p.feed(looked{Seq: p.c.Seq, View: view{Idle: true, Turns: []turnView{{ID: "c", Status: turnCompleted, Compact: true}, {ID: "work", Status: turnCompleted, Clients: []string{""}}}}})
	}
	look()
	if got := strings.Join(p.did, ", "); got != "compact, inject p1" {
		t.Errorf("did %q after one look", got)
	}
	look()
	if got := strings.Join(p.did, ", "); got != "compact, inject p1, inject p1" {
		t.Errorf("did %q after two looks", got)
	}
}

// A turn that begins while the packet is on its way is the user's: nothing of ours
// follows it.
func TestAdvanceOvertaken(t *testing.T) {
	t.Parallel()
	p := &play{c: cycle{Phase: watching}, now: time.Unix(1000, 0), answers: true, quiet: true}
	p.feed(turnBegan{"work"}, turnOver{Turn: "work", Status: turnCompleted, Act: true})
	p.feed(elapsed{Seq: p.c.Seq})
	p.feed(turnBegan{"c"}, compactionItem(false), compactionItem(true), turnOver{Turn: "c", Status: turnCompleted}, turnBegan{"u"}, turnOver{Turn: "u", Status: turnCompleted}, added{Packet: "p1"})
	if got := strings.Join(p.did, ", "); got != "compact, inject p1" || p.c.Phase != watching || p.record.Receipt.State != compact.Delivered {
		t.Errorf("did %q, phase %s, %s", got, p.c.Phase, p.record.Receipt)
	}
}

func compactionItem(done bool) itemSeen {
	return itemSeen{Turn: "c", Type: host.CodexCompaction, Done: done}
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	packet := itemSeen{Turn: "p", Type: host.CodexUserMessage, ClientID: "p1", Done: true}
	ended := func(s turnStatus) turnOver { return turnOver{Turn: "c", Status: s} }
	tests := []struct {
		name   string
		events []event
		did    string
		told   string
		state  compact.ReceiptState
	}{
		{
			"item before the turn's end",
			[]event{turnBegan{"c"}, compactionItem(false), compactionItem(true), ended(turnCompleted), packet},
			"compact, add p1", "compact, compacted, delivered", compact.Delivered,
		},
		{
			"item after the turn's end",
			[]event{turnBegan{"c"}, compactionItem(false), ended(turnCompleted), compactionItem(true), packet},
			"compact, add p1", "compact, compacted, delivered", compact.Delivered,
		},
		{
			"everything twice",
			[]event{turnBegan{"c"}, turnBegan{"c"}, compactionItem(false), compactionItem(false), compactionItem(true), compactionItem(true), ended(turnCompleted), ended(turnCompleted), packet, packet, compactionItem(true)},
			"compact, add p1", "compact, compacted, delivered", compact.Delivered,
		},
		{
			"failed",
			[]event{turnBegan{"c"}, compactionItem(false), ended(turnFailed)},
			"compact", "compact, void failed", compact.Dropped,
		},
		{
			"interrupted",
			[]event{turnBegan{"c"}, compactionItem(false), ended(turnInterrupted)},
			"compact", "compact, void interrupted", compact.Dropped,
		},
		{
			"item of a failed one comes late",
			[]event{turnBegan{"c"}, compactionItem(false), ended(turnFailed), compactionItem(true)},
			"compact", "compact, void failed", compact.Dropped,
		},
		{
			"interrupted after its item, packet queued",
			[]event{compactionItem(false), compactionItem(true), added{Packet: "p1", Submission: "q"}, ended(turnInterrupted)},
			"compact, add p1, remove q", "compact, compacted", compact.Delivering,
		},
		{
			"a person's turn with a compaction of its own is not ours",
			[]event{turnBegan{"u"}, itemSeen{Turn: "u", Type: host.CodexUserMessage, Done: true}, itemSeen{Turn: "u", Type: host.CodexCompaction, Done: true}},
			"compact", "compact", compact.Compacting,
		},
		{"refused", []event{compactRefused{Seq: startCompaction().c.Seq}}, "compact", "compact, void refused", compact.Dropped},
		{
			"a turn that was cut before its message was recorded",
			[]event{turnBegan{"u"}, turnOver{Turn: "u", Status: turnInterrupted}, looked{Seq: startCompaction().c.Seq + 1, View: view{Turns: []turnView{{ID: "u", Status: turnInterrupted}, {ID: "work", Status: turnCompleted, Clients: []string{""}}}}}, turnBegan{"c"}, compactionItem(false), compactionItem(true), ended(turnCompleted), packet},
			"compact, add p1", "compact, compacted, delivered", compact.Delivered,
		},
		{
			"another's packet is not ours",
			[]event{compactionItem(false), compactionItem(true), itemSeen{Turn: "x", Type: host.CodexUserMessage, ClientID: "p2", Done: true}},
			"compact, add p1", "compact, compacted", compact.Delivering,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startCompaction()
			p.feed(tt.events...)
			if got := strings.Join(p.did, ", "); got != tt.did {
				t.Errorf("did %q, want %q", got, tt.did)
			}
			if got := strings.Join(p.told, ", "); got != tt.told {
				t.Errorf("told %q, want %q", got, tt.told)
			}
			if got := p.record.Receipt.State; got != tt.state {
				t.Errorf("record %s, want %s", got, tt.state)
			}
		})
	}
}

func TestAdvanceBeforeItActs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		events func(p *play) []event
		told   string
	}{
		{"next turn begins", func(*play) []event { return []event{turnBegan{"u"}} }, "held busy"},
		{"foreign compaction", func(*play) []event { return []event{compactionItem(true), foreign{Turn: "c"}} }, "held busy, foreign"},
		{"line lost", func(*play) []event { return []event{lost{}} }, ""},
		{"not idle", func(p *play) []event { return []event{elapsed{Seq: p.c.Seq}, checked{Seq: p.c.Seq + 1}} }, "held busy"},
		{"queued", func(p *play) []event {
			return []event{elapsed{Seq: p.c.Seq}, checked{Seq: p.c.Seq + 1, Idle: true, Queued: 1}}
		}, "held queued"},
		{"no answer", func(p *play) []event {
			return []event{elapsed{Seq: p.c.Seq}, checked{Seq: p.c.Seq + 1, Unknown: true}}
		}, "held no-answer"},
		{"an old pause ends", func(p *play) []event { return []event{elapsed{Seq: p.c.Seq - 1}} }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &play{c: cycle{Phase: watching}, now: time.Unix(1000, 0)}
			p.feed(turnOver{Turn: "work", Status: turnCompleted, Act: true})
			if p.c.Phase != settling {
				t.Fatalf("phase %s", p.c.Phase)
			}
			p.feed(tt.events(p)...)
			if len(p.did) > 0 {
				t.Errorf("did %v", p.did)
			}
			if got := strings.Join(p.told, ", "); got != tt.told {
				t.Errorf("told %q, want %q", got, tt.told)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	work := turnView{ID: "work", Status: turnCompleted, Clients: []string{""}}
	done := turnView{ID: "c", Status: turnCompleted, Compact: true}
	user := func(s turnStatus) turnView { return turnView{ID: "u", Status: s, Clients: []string{""}} }
	packet := turnView{ID: "p", Status: turnRunning, Clients: []string{"p1"}}
	queued := []queuedMessage{{Submission: "q", ClientID: "p1"}}
	tests := []struct {
		name string
		view view
		want finding
	}{
		{"nothing happened", view{Turns: []turnView{work}}, finding{found: foundNothing}},
		{"runs", view{Turns: []turnView{{ID: "c", Status: turnRunning}, work}}, finding{found: foundRunning}},
		{"failed", view{Turns: []turnView{{ID: "c", Status: turnFailed}, work}}, finding{found: foundFailed, turn: "c", reason: reasonFailed}},
		{"interrupted", view{Turns: []turnView{{ID: "c", Status: turnInterrupted}, work}}, finding{found: foundFailed, turn: "c", reason: reasonInterrupted}},
		{"done", view{Turns: []turnView{done, work}}, finding{found: foundCompacted, turn: "c"}},
		{"done, after a turn it cut short", view{Turns: []turnView{done, user(turnInterrupted), work}}, finding{found: foundCompacted, turn: "c"}},
		{"done, after a turn it cut before its message was recorded", view{Turns: []turnView{done, {ID: "u", Status: turnInterrupted}, work}}, finding{found: foundCompacted, turn: "c"}},
		{"delivered", view{Turns: []turnView{packet, done, work}}, finding{found: foundDelivered}},
		{"queued", view{Turns: []turnView{done, work}, Queue: queued}, finding{found: foundQueued, turn: "c", submission: "q"}},
		{"queued, but failed", view{Turns: []turnView{{ID: "c", Status: turnFailed}, work}, Queue: queued}, finding{found: foundQueued, turn: "c", submission: "q", reason: reasonFailed}},
		{"went on", view{Turns: []turnView{user(turnCompleted), done, work}}, finding{found: foundSuperseded, turn: "c"}},
		{"a turn begins", view{Turns: []turnView{{ID: "x", Status: turnRunning}, done, work}}, finding{found: foundUnclear, turn: "c"}},
		{"ended, its items not there yet", view{Turns: []turnView{{ID: "c", Status: turnCompleted}, work}}, finding{found: foundUnclear}},
		{"a user's turn instead", view{Turns: []turnView{user(turnCompleted), work}}, finding{found: foundSuperseded}},
		{"long ago", view{Turns: []turnView{done, user(turnCompleted)}, Cutoff: true}, finding{found: foundSuperseded}},
		{"same packet id before the trigger does not count", view{Turns: []turnView{done, work, packet}}, finding{found: foundCompacted, turn: "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := session.Delivery{Trigger: "work", Receipt: compact.Receipt{ID: "p1", State: compact.Compacting}}
			if got := find(tt.view, r); got != tt.want {
				t.Errorf("find = %+v, want %+v", got, tt.want)
			}
		})
	}
}
