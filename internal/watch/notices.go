package watch

import (
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// begin starts a turn's account, once.
func (t *thread) begin(turn string) {
	if t.turn == turn {
		return
	}
	t.turn, t.items = turn, map[string]bool{}
	t.turnStarted(turn)
}

// notice is a notification about a thread that we follow.
func (w *Codex) notice(t *thread, method string, n notice) {
	// We may have come in the middle of a turn.
	if n.TurnID != "" && n.TurnID != t.ended {
		t.begin(n.TurnID)
	}
	t.rest = w.Now().Add(linger)
	switch {
	case method == "turn/started" && n.Turn != nil:
		t.begin(n.Turn.ID)
		w.feed(t, turnBegan{n.Turn.ID})
	case method == "thread/goal/updated":
		t.goal = n.Goal
		w.goalSet(t, n)
	case method == "thread/goal/cleared":
		t.goal = nil
	case method == "thread/queue/changed":
		w.queueChanged(t)
	case method == "turn/completed" && n.Turn != nil:
		w.turnEnded(t, *n.Turn)
	case method == "item/started" && n.Item != nil:
		w.itemStarted(t, n.TurnID, *n.Item)
	case method == "item/completed" && n.Item != nil:
		w.item(t, n.TurnID, *n.Item, false)
	case method == "turn/plan/updated":
		t.observe(host.CodexPlan(n.Plan))
	case method == "thread/tokenUsage/updated" && n.TokenUsage != nil:
		e, ok := n.TokenUsage.Event()
		switch {
		case !ok:
		case t.shrinking != "":
			// The server repeats the old size before it tells the new one.
			t.shrunk = e
		default:
			t.observe(e)
		}
	}
	if t.cycle.Turn != "" {
		w.pauseGoal(t)
	}
}

// queueChanged remembers that a message waits while we compact: no packet opens a
// turn before it.
func (w *Codex) queueChanged(t *thread) {
	if t.cycle.Phase != compacting && t.cycle.Phase != delivering {
		return
	}
	ask(w, "thread/queue/list", map[string]any{"threadId": t.id}, func(q page[wireQueued], err error) {
		if err != nil {
			return
		}
		t.queued = false
		for _, x := range q.Data {
			t.queued = t.queued || !strings.HasPrefix(x.ClientID, host.PacketPrefix)
		}
	})
}

func (w *Codex) itemStarted(t *thread, turn string, it host.CodexItem) {
	if it.Type == host.CodexCompaction && t.shrinking != turn {
		t.shrinking, t.shrunk, t.began = turn, host.UsageSeen{Used: -1}, w.Now()
	}
	w.feed(t, itemSeen{Turn: turn, Type: it.Type, ClientID: it.ClientID})
}

// item is a completed item. Late is set for one from the thread's history.
func (w *Codex) item(t *thread, turn string, it host.CodexItem, late bool) {
	if t.items[it.ID] || late && it.Status == "inProgress" {
		return
	}
	t.items[it.ID] = true
	for _, e := range it.Events() {
		t.observe(e)
		if m, ok := e.(host.AgentMessage); ok && w.prompter.owns(t) {
			t.output(m.Text)
		}
	}
	if it.Type == host.CodexCompaction {
		w.compacted(t, turn, late)
		return
	}
	t.passed(it.Ended())
	w.feed(t, itemSeen{Turn: turn, Type: it.Type, ClientID: it.ClientID, Done: true})
}

// compacted: the tokens that the server told last are the new size; it tells it
// before the item's completion. Of a compaction that we only read about the size
// is not known.
func (w *Codex) compacted(t *thread, turn string, late bool) {
	size := t.shrunk
	if t.shrinking != turn || late {
		size = host.UsageSeen{Used: -1}
	}
	t.shrinking = ""
	t.before, t.after = t.thread.Usage.Used, size.Used
	mine := t.cycle.Phase == compacting && turn != t.cycle.UserTurn && (t.cycle.ours() == "" || t.cycle.ours() == turn)
	e := itemSeen{Turn: turn, Type: host.CodexCompaction, Done: true}
	switch {
	case !mine:
	case !t.queued && !w.prompter.waits(w, t):
		e.Text, e.Basis = t.rewritten()
	case !t.cycle.Delivery.Quiet:
		e.Text, e.Basis, e.Quiet = t.waiting, t.cycle.Delivery.Receipt.Basis, true
	}
	// The packet first: whoever waits for the disk here comes too late.
	w.feed(t, e)
	if !mine && turn != t.cycle.ours() {
		// What is to survive is known only until the compaction is counted.
		f := foreign{Turn: turn}
		if !late && t.thread.Compaction != turn && t.wantsPacket() {
			f.Packet = t.packet("", true)
		}
		defer w.feed(t, f)
	}
	t.conversation.compacted(turn, mine)
	if size.Used >= 0 {
		t.observe(size)
	}
}

func (w *Codex) turnEnded(t *thread, turn wireTurn) {
	if t.ended == turn.ID {
		return
	}
	t.ended, t.seen = turn.ID, true
	if w.prompter.turn == turn.ID {
		w.prompter.turn = ""
	}
	compaction := t.shrinking == turn.ID
	t.shrinking = "" // a compaction that came to nothing, and the sizes it told
	t.endedHow = turn.Status
	switch {
	case turn.Status != turnInterrupted:
	case t.cycle.Phase == compacting && turn.ID != t.cycle.ours() && turn.ID != t.cycle.Trigger && !compaction:
		w.cutOff(t, turn.ID)
	default:
		t.observe(host.TurnEnded{Interrupted: true})
	}
	act := false
	if turn.Status == turnCompleted && turn.ID != t.thread.Compaction {
		act = t.conversation.turnEnded(false)
	}
	w.feed(t, turnOver{Turn: turn.ID, Status: turn.Status, Act: act})
}

// cutOff: there is no way to compact only if the thread is still idle, so a turn
// that begins in that instant is interrupted by the host. What its user said is
// in the thread, or the host has dropped it.
func (w *Codex) cutOff(t *thread, turn string) {
	params := map[string]any{"threadId": t.info.ID, "turnId": turn, "limit": 5}
	ask(w, "thread/items/list", params, func(r page[wireItem], _ error) { // without an answer there are no items
		e := cut{Turn: turn}
		for _, x := range r.Data {
			if x.Item.Type == host.CodexUserMessage && !x.Item.Ours() {
				e.Input = x.Item.Content
			}
		}
		if e.Input == nil && t.goal.open() && t.typed() == "" {
			return // a turn of the goal's own, which it will begin again
		}
		w.feed(t, e)
	})
}

// wantsPacket says that a compaction of somebody else's has nobody else to hand
// over what must survive it: no hook has seen it coming.
func (t *thread) wantsPacket() bool {
	return !t.opts.DryRun && !t.thread.Empty() && !session.HooksCompact(t.sess, t.began.Add(-time.Minute))
}
