package watch

import (
	"github.com/seed-6d03985f/overtone/internal/host"
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
	switch {
	case method == "turn/started" && n.Turn != nil:
		t.begin(n.Turn.ID)
		w.feed(t, turnBegan{n.Turn.ID})
	case method == "turn/completed" && n.Turn != nil:
		w.turnEnded(t, *n.Turn)
	case method == "item/started" && n.Item != nil:
		w.itemStarted(t, n.TurnID, *n.Item)
	case method == "item/completed" && n.Item != nil:
		w.item(t, n.TurnID, *n.Item, false)
	case method == "turn/plan/updated":
		t.observe(n.Plan.Event())
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
}

func (w *Codex) itemStarted(t *thread, turn string, it host.CodexItem) {
	if it.Type == host.CodexCompaction && t.shrinking != turn {
		t.shrinking, t.shrunk = turn, host.UsageSeen{Used: -1}
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
	if mine {
		e.Text, e.Basis = t.rewritten()
	}
	// The packet first: whoever waits for the disk here comes too late.
	w.feed(t, e)
	t.conversation.compacted(turn, mine)
	if size.Used >= 0 {
		t.observe(size)
	}
}

func (w *Codex) turnEnded(t *thread, turn wireTurn) {
	if t.ended == turn.ID {
		return
	}
	t.ended = turn.ID
	if w.prompter.turn == turn.ID {
		w.prompter.turn = ""
	}
	t.shrinking = "" // a compaction that came to nothing, and the sizes it told
	act := false
	if turn.Status == turnCompleted && turn.ID != t.thread.Compaction {
		act = t.conversation.turnEnded()
	}
	w.feed(t, turnOver{Turn: turn.ID, Status: turn.Status, Act: act})
}
