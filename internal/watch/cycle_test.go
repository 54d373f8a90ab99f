package watch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
)

// play feeds events to a cycle and lists what it did to the thread. It answers
// by itself what a quiet, honest world would answer.
type play struct {
	c       Cycle
	now     time.Time
	did     []string
	record  Record
	told    []string
	answers bool
}

func (p *play) feed(events ...any) {
	for _, e := range events {
		var actions []any
		p.c, actions = Advance(p.c, simWaits, p.now, e)
		for _, a := range actions {
			p.act(a)
		}
	}
}

func (p *play) act(a any) {
	switch a := a.(type) {
	case Save:
		p.record = a.Record
	case Tell:
		p.told = append(p.told, strings.TrimSpace(fmt.Sprintf("%s %s", a.What, a.Reason)))
	case Lease:
		p.feed(Leased{Seq: a.Seq, OK: true, Record: p.record})
	case Author:
		p.feed(Authored{Seq: a.Seq, Packet: compact.Packet{ID: "p1", Text: "packet", Created: p.now, Expires: p.now.Add(time.Hour)}})
	case Check:
		if p.answers {
			p.feed(Checked{Seq: a.Seq, Idle: true})
		}
	case Compact:
		p.did = append(p.did, "compact")
	case Add:
		p.did = append(p.did, "add "+a.Packet)
	case StartTurn:
		p.did = append(p.did, "start "+a.Packet)
	case Remove:
		p.did = append(p.did, "remove "+a.Submission)
	}
}

// compacting is a cycle whose request to compact is out.
func compacting() *play {
	p := &play{c: Cycle{Phase: Watching}, now: time.Unix(1000, 0), answers: true}
	p.feed(TurnStarted{"work"}, TurnEnded{Turn: "work", Status: TurnCompleted, Act: true})
	p.feed(Elapsed{Seq: p.c.Seq})
	return p
}

func compactionItem(done bool) Item {
	return Item{Turn: "c", Type: itemCompaction, Done: done}
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	packet := Item{Turn: "p", Type: itemUser, ClientID: "p1", Done: true}
	ended := func(s TurnStatus) TurnEnded { return TurnEnded{Turn: "c", Status: s} }
	tests := []struct {
		name   string
		events []any
		did    string
		told   string
		state  compact.ReceiptState
	}{
		{
			"item before the turn's end",
			[]any{TurnStarted{"c"}, compactionItem(false), compactionItem(true), ended(TurnCompleted), packet},
			"compact, add p1", "compact, compacted, delivered", compact.Delivered,
		},
		{
			"item after the turn's end",
			[]any{TurnStarted{"c"}, compactionItem(false), ended(TurnCompleted), compactionItem(true), packet},
			"compact, add p1", "compact, compacted, delivered", compact.Delivered,
		},
		{
			"everything twice",
			[]any{TurnStarted{"c"}, TurnStarted{"c"}, compactionItem(false), compactionItem(false), compactionItem(true), compactionItem(true), ended(TurnCompleted), ended(TurnCompleted), packet, packet, compactionItem(true)},
			"compact, add p1", "compact, compacted, delivered", compact.Delivered,
		},
		{
			"failed",
			[]any{TurnStarted{"c"}, compactionItem(false), ended(TurnFailed)},
			"compact", "compact, void failed", compact.Dropped,
		},
		{
			"interrupted",
			[]any{TurnStarted{"c"}, compactionItem(false), ended(TurnInterrupted)},
			"compact", "compact, void interrupted", compact.Dropped,
		},
		{
			"item of a failed one comes late",
			[]any{TurnStarted{"c"}, compactionItem(false), ended(TurnFailed), compactionItem(true)},
			"compact", "compact, void failed", compact.Dropped,
		},
		{
			"interrupted after its item, packet queued",
			[]any{compactionItem(false), compactionItem(true), Added{Packet: "p1", Submission: "q"}, ended(TurnInterrupted)},
			"compact, add p1, remove q", "compact, compacted", compact.Delivering,
		},
		{
			"a person's turn with a compaction of its own is not ours",
			[]any{TurnStarted{"u"}, Item{Turn: "u", Type: itemUser, Done: true}, Item{Turn: "u", Type: itemCompaction, Done: true}},
			"compact", "compact", compact.Compacting,
		},
		{"refused", []any{CompactRefused{Seq: compacting().c.Seq}}, "compact", "compact, void refused", compact.Dropped},
		{
			"no queue",
			[]any{compactionItem(false), compactionItem(true), Added{Packet: "p1", Unsupported: true}, ended(TurnCompleted), packet},
			"compact, add p1, start p1", "compact, compacted, delivered", compact.Delivered,
		},
		{
			"another's packet is not ours",
			[]any{compactionItem(false), compactionItem(true), Item{Turn: "x", Type: itemUser, ClientID: "p2", Done: true}},
			"compact, add p1", "compact, compacted", compact.Delivering,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := compacting()
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
		events func(p *play) []any
		told   string
	}{
		{"next turn begins", func(*play) []any { return []any{TurnStarted{"u"}} }, "held busy"},
		{"foreign compaction", func(*play) []any { return []any{compactionItem(true)} }, "foreign, held busy"},
		{"line lost", func(*play) []any { return []any{Lost{}} }, ""},
		{"not idle", func(p *play) []any { return []any{Elapsed{Seq: p.c.Seq}, Checked{Seq: p.c.Seq + 1}} }, "held busy"},
		{"queued", func(p *play) []any {
			return []any{Elapsed{Seq: p.c.Seq}, Checked{Seq: p.c.Seq + 1, Idle: true, Queued: 1}}
		}, "held queued"},
		{"no answer", func(p *play) []any {
			return []any{Elapsed{Seq: p.c.Seq}, Checked{Seq: p.c.Seq + 1, Unknown: true}}
		}, "held no-answer"},
		{"an old pause ends", func(p *play) []any { return []any{Elapsed{Seq: p.c.Seq - 1}} }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &play{c: Cycle{Phase: Watching}, now: time.Unix(1000, 0)}
			p.feed(TurnEnded{Turn: "work", Status: TurnCompleted, Act: true})
			if p.c.Phase != Settling {
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
	work := TurnView{ID: "work", Status: TurnCompleted, Clients: []string{""}}
	done := TurnView{ID: "c", Status: TurnCompleted, Compact: true}
	user := func(s TurnStatus) TurnView { return TurnView{ID: "u", Status: s, Clients: []string{""}} }
	packet := TurnView{ID: "p", Status: TurnRunning, Clients: []string{"p1"}}
	queued := []Queued{{Submission: "q", ClientID: "p1"}}
	tests := []struct {
		name string
		view View
		want finding
	}{
		{"nothing happened", View{Turns: []TurnView{work}}, finding{found: foundNothing}},
		{"runs", View{Turns: []TurnView{{ID: "c", Status: TurnRunning}, work}}, finding{found: foundRunning}},
		{"failed", View{Turns: []TurnView{{ID: "c", Status: TurnFailed}, work}}, finding{found: foundFailed, turn: "c", reason: ReasonFailed}},
		{"interrupted", View{Turns: []TurnView{{ID: "c", Status: TurnInterrupted}, work}}, finding{found: foundFailed, turn: "c", reason: ReasonInterrupted}},
		{"done", View{Turns: []TurnView{done, work}}, finding{found: foundCompacted, turn: "c"}},
		{"done, after a turn it cut short", View{Turns: []TurnView{done, user(TurnInterrupted), work}}, finding{found: foundCompacted, turn: "c"}},
		{"delivered", View{Turns: []TurnView{packet, done, work}}, finding{found: foundDelivered}},
		{"queued", View{Turns: []TurnView{done, work}, Queue: queued}, finding{found: foundQueued, turn: "c", submission: "q"}},
		{"queued, but failed", View{Turns: []TurnView{{ID: "c", Status: TurnFailed}, work}, Queue: queued}, finding{found: foundQueued, turn: "c", submission: "q", reason: ReasonFailed}},
		{"went on", View{Turns: []TurnView{user(TurnCompleted), done, work}}, finding{found: foundSuperseded, turn: "c"}},
		{"a turn begins", View{Turns: []TurnView{{ID: "x", Status: TurnRunning}, done, work}}, finding{found: foundUnclear, turn: "c"}},
		{"ended, its items not there yet", View{Turns: []TurnView{{ID: "c", Status: TurnCompleted}, work}}, finding{found: foundUnclear}},
		{"a user's turn instead", View{Turns: []TurnView{user(TurnCompleted), work}}, finding{found: foundSuperseded}},
		{"long ago", View{Turns: []TurnView{done, user(TurnCompleted)}, Cutoff: true}, finding{found: foundSuperseded}},
		{"same packet id before the trigger does not count", View{Turns: []TurnView{done, work, packet}}, finding{found: foundCompacted, turn: "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Record{Trigger: "work", Receipt: compact.Receipt{ID: "p1", State: compact.Compacting}}
			if got := find(tt.view, r); got != tt.want {
				t.Errorf("find = %+v, want %+v", got, tt.want)
			}
		})
	}
}
