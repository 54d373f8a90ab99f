package watch

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// feed gives an event to a thread's cycle and carries out what it wants.
func (w *Codex) feed(t *thread, event any) {
	var actions []any
	t.cycle, actions = Advance(t.cycle, w.Waits, w.Now(), event)
	saved := true
	for _, a := range actions {
		switch a := a.(type) {
		case After:
			t.due, t.dueSeq = w.Now().Add(a.Wait), a.Seq
		case Check:
			w.check(t, a)
		case Lease:
			w.lease(t, a)
		case Release:
			t.desk.giveUp()
		case Author:
			w.author(t, a)
		case Save:
			saved = t.saveRecord(a.Record, a.Loose) == nil
		case Compact:
			if saved {
				w.compact(t, a)
			}
		case Add:
			if saved {
				w.add(t, a)
			}
		case StartTurn:
			if saved {
				w.startTurn(t, a)
			}
		case Remove:
			w.post("thread/queue/delete", map[string]any{"threadId": t.id, "queuedSubmissionId": a.Submission}, callTimeout, func(json.RawMessage, error) {})
		case Look:
			w.view(t, a)
		case Tell:
			w.tell(t, a)
		}
	}
	if !saved {
		w.feed(t, SaveFailed{})
	}
}

func (w *Codex) lease(t *thread, a Lease) {
	if w.DryRun {
		w.feed(t, Leased{Seq: a.Seq})
		return
	}
	// Only looking for what somebody left leaves no trace of its own.
	if m, err := t.desk.load(); t.cycle.Phase == Watching && (err != nil || !m.Record.open()) {
		w.feed(t, Leased{Seq: a.Seq})
		return
	}
	ok, rec := t.leaseRecord()
	w.feed(t, Leased{Seq: a.Seq, OK: ok, Record: rec})
}

func (w *Codex) check(t *thread, a Check) {
	e := Checked{Seq: a.Seq}
	w.post("thread/read", map[string]any{"threadId": t.id}, callTimeout, func(raw json.RawMessage, err error) {
		var n notice
		if err != nil || json.Unmarshal(raw, &n) != nil || n.Thread == nil {
			e.Unknown = true
			return
		}
		e.Idle = n.Thread.Status.idle()
	})
	w.post("thread/queue/list", map[string]any{"threadId": t.id}, callTimeout, func(raw json.RawMessage, err error) {
		var q wireQueue
		var rpc *RPCError
		switch {
		case errors.As(err, &rpc):
			e.NoQueue = true
		case err != nil || json.Unmarshal(raw, &q) != nil:
			e.Unknown = true
		}
		e.Queued = len(q.Data)
		w.feed(t, e)
	})
}

// author writes the packet, or has the agent write it: a sample of the model on
// the thread's whole context that leaves no trace in the thread.
func (w *Codex) author(t *thread, a Author) {
	done := func(text string) {
		w.feed(t, Authored{Seq: a.Seq, Packet: t.packet(text)})
	}
	if !t.settings.AgentPackets {
		done("")
		return
	}
	t.report("author", message.WatchAgentPacket)
	params := map[string]any{"threadId": t.id, "expectedTurnId": a.Turn, "prompt": t.settings.Prompt}
	var id int64
	id = w.client.Post("thread/sample", params, func(raw json.RawMessage, err error) {
		var r struct {
			Text string `json:"text"`
		}
		if errors.Is(err, errTimeout) {
			// It reads the whole context and is paid for.
			w.post("thread/sample/cancel", map[string]any{"requestId": id}, callTimeout, func(json.RawMessage, error) {})
		}
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		if err == nil && strings.TrimSpace(r.Text) == "" {
			err = errors.New("no text")
		}
		if err != nil {
			t.report("warning", message.WatchAgentSilent, err.Error())
		}
		done(r.Text)
	}, w.Author)
}

func (w *Codex) compact(t *thread, a Compact) {
	w.post("thread/compact/start", map[string]any{"threadId": t.id}, callTimeout, func(_ json.RawMessage, err error) {
		var rpc *RPCError
		if errors.As(err, &rpc) {
			w.problem(err)
			w.feed(t, CompactRefused(a))
		}
	})
}

func (w *Codex) add(t *thread, a Add) {
	params := map[string]any{"threadId": t.id, "clientUserMessageId": a.Packet, "input": textInput(a.Text)}
	w.post("thread/queue/add", params, callTimeout, func(raw json.RawMessage, err error) {
		var r struct {
			Queued struct {
				ID string `json:"id"`
			} `json:"queuedSubmission"`
		}
		e := Added{Packet: a.Packet}
		var rpc *RPCError
		switch {
		case errors.As(err, &rpc):
			e.Unsupported = unsupported(rpc)
			e.Refused = !e.Unsupported
			w.problem(err)
		case err != nil || json.Unmarshal(raw, &r) != nil || r.Queued.ID == "":
			e.Unclear = true
		}
		e.Submission = r.Queued.ID
		w.feed(t, e)
	})
}

// unsupported tells a method that the server does not have from one that it
// refuses.
func unsupported(err *RPCError) bool {
	return err.Code == -32601 || strings.Contains(err.Message, "unknown variant") || strings.Contains(err.Message, "experimentalApi")
}

func (w *Codex) startTurn(t *thread, a StartTurn) {
	params := map[string]any{"threadId": t.id, "clientUserMessageId": a.Packet, "input": textInput(a.Text)}
	w.post("turn/start", params, callTimeout, func(_ json.RawMessage, err error) {
		e := Added{Packet: a.Packet, Unclear: err != nil}
		var rpc *RPCError
		if errors.As(err, &rpc) {
			e.Refused, e.Unclear = true, false
			w.problem(err)
		}
		w.feed(t, e)
	})
}

// viewTurns is how far back a look goes. What we look for is among the last
// three turns; more of them mean that the thread has long gone on.
const viewTurns = 8

// view looks at the thread: queue, newest turns, what kind the silent ones are,
// and last whether it is idle. The summaries leave compactions out, but whole
// turns could exceed what one message may hold.
func (w *Codex) view(t *thread, a Look) {
	e := Looked{Seq: a.Seq}
	w.post("thread/queue/list", map[string]any{"threadId": t.id}, callTimeout, func(raw json.RawMessage, err error) {
		var q wireQueue
		var rpc *RPCError
		switch {
		case errors.As(err, &rpc):
		case err != nil || json.Unmarshal(raw, &q) != nil:
			e.Unknown = true
		}
		for _, x := range q.Data {
			e.View.Queue = append(e.View.Queue, Queued{x.ID, x.ClientID})
		}
	})
	params := map[string]any{"threadId": t.id, "limit": viewTurns, "itemsView": "summary"}
	w.post("thread/turns/list", params, callTimeout, func(raw json.RawMessage, err error) {
		var r wireTurns
		if err != nil || json.Unmarshal(raw, &r) != nil {
			e.Unknown = true
		}
		e.View.Cutoff = r.Next != ""
		for i, turn := range r.Data {
			v := TurnView{ID: turn.ID, Status: turn.Status}
			for _, it := range turn.Items {
				if it.Type == itemUser {
					v.Clients = append(v.Clients, it.ClientID)
				}
			}
			e.View.Turns = append(e.View.Turns, v)
			if len(v.Clients) == 0 && v.Status == TurnCompleted {
				w.isCompaction(t, &e, i)
			}
		}
		w.post("thread/read", map[string]any{"threadId": t.id}, callTimeout, func(raw json.RawMessage, err error) {
			var n notice
			if err != nil || json.Unmarshal(raw, &n) != nil || n.Thread == nil {
				e.Unknown = true
			} else {
				e.View.Idle = n.Thread.Status.idle()
			}
			w.feed(t, e)
		})
	})
}

func (w *Codex) isCompaction(t *thread, e *Looked, i int) {
	params := map[string]any{"threadId": t.id, "turnId": e.View.Turns[i].ID, "limit": 5}
	w.post("thread/items/list", params, callTimeout, func(raw json.RawMessage, err error) {
		var r wireItems
		if err != nil || json.Unmarshal(raw, &r) != nil {
			e.Unknown = true
			return
		}
		for _, x := range r.Data {
			e.View.Turns[i].Compact = e.View.Turns[i].Compact || x.Item.Type == itemCompaction
		}
	})
}

// tell reports a step of a cycle and leaves it in the timeline.
func (w *Codex) tell(t *thread, a Tell) {
	r := a.Record.Receipt
	reason := ReasonText(a.Reason)
	var events []store.Event
	switch a.What {
	case NewsHeld:
		t.held(a.Reason)
	case NewsCompact:
		t.report("compact", message.WatchCompacting, t.decision.Reason.In(w.Words))
		events = append(events, store.On(message.EventPacketCreated, "packet", r.ID))
	case NewsCompacted:
		t.report("compacted", message.WatchCompacted, t.before.Used, t.mem.Usage.Used)
	case NewsForeign:
		t.report("foreign", message.WatchForeign, t.before.Used, t.mem.Usage.Used)
	case NewsAdopted:
		t.report("adopted", message.WatchAdopted, r.ID)
	case NewsDelivered:
		t.report("delivered", message.WatchDelivered, r.ID)
		events = append(events, store.On(message.EventPacketDelivered, "packet", r.ID, "via", string(r.Via)))
	case NewsVoid:
		t.report("void", message.WatchVoid, r.ID, reason.In(w.Words))
		typ := message.EventSessionCompactFailed
		if a.Reason == ReasonExpired {
			typ = message.EventPacketExpired
		}
		events = append(events, store.On(typ, "packet", r.ID, "reason", string(a.Reason)))
	}
	t.storeProblem(t.desk.emit(events...))
	if w.Once && (a.What == NewsDelivered || a.What == NewsVoid) {
		w.done = true
	}
}
