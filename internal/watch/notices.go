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
		if e, ok := n.TokenUsage.Event(t.shrinking != ""); ok {
			t.observe(e)
		}
	}
}

func (w *Codex) itemStarted(t *thread, turn string, it host.CodexItem) {
	if it.Type == host.CodexCompaction && t.shrinking != turn {
		t.shrinking, t.before = turn, t.mem.Usage
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

// compacted: the tokens that the server told last are the new size. It repeats
// the old one first, but all before the item's completion. Of a compaction that
// we only read about the size is not known.
func (w *Codex) compacted(t *thread, turn string, late bool) {
	if t.shrinking != turn {
		t.before = t.mem.Usage
	}
	t.shrinking = ""
	after := t.mem.Usage.Used
	if late {
		after = -1
	}
	mine := t.cycle.Phase == compacting && turn != t.cycle.UserTurn && (t.cycle.ours() == "" || t.cycle.ours() == turn)
	// The packet first: whoever waits for the disk here comes too late.
	w.feed(t, itemSeen{Turn: turn, Type: host.CodexCompaction, Done: true})
	t.session.compacted(turn, after, mine)
}

func (w *Codex) turnEnded(t *thread, turn wireTurn) {
	if t.ended == turn.ID {
		return
	}
	t.ended = turn.ID
	if w.prompter.turn == turn.ID {
		w.prompter.turn = ""
	}
	if t.shrinking != "" {
		// The compaction came to nothing, and with it the sizes it told.
		t.mem.Usage, t.shrinking = t.before, ""
	}
	act := false
	if turn.Status == turnCompleted && turn.ID != t.mem.Compaction {
		act = t.session.turnEnded()
	}
	w.feed(t, turnOver{Turn: turn.ID, Status: turn.Status, Act: act})
}
