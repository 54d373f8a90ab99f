package watch

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// feed gives an event to a thread's cycle and carries out what it wants.
func (w *Codex) feed(t *thread, e event) {
	var actions []action
	t.cycle, actions = advance(t.cycle, w.Waits, w.Now(), e)
	saved := true
	for _, a := range actions {
		switch a := a.(type) {
		case doAfter:
			t.due, t.dueSeq = w.Now().Add(a.Wait), a.Seq
		case doCheck:
			w.check(t, a)
		case doLease:
			w.lease(t, a)
		case doRelease:
			if t.own.Goal == nil { // it is given back with the goal
				t.giveBack()
			}
		case doAuthor:
			w.author(t, a)
		case doSave:
			saved = t.saveDelivery(a.Delivery, a.Loose) == nil
		case doCompact:
			if saved {
				w.compact(t, a)
			}
		case doAdd:
			if saved {
				w.add(t, a)
			}
		case doInject:
			if saved {
				w.inject(t, a)
			}
		case doResume:
			w.resume(t, a)
		case doPutBack:
			w.putBack(t, a)
		case doRemove:
			w.send("thread/queue/delete", map[string]any{"threadId": t.id, "queuedSubmissionId": a.Submission})
		case doTidy:
			w.tidy(t, a)
		case doLook:
			w.view(t, a)
		case doTell:
			w.tell(t, a)
		}
	}
	if !saved {
		w.feed(t, saveFailed{})
	}
}

func (w *Codex) lease(t *thread, a doLease) {
	if w.DryRun {
		w.feed(t, leased{Seq: a.Seq})
		return
	}
	// Only looking for what somebody left leaves no trace of its own.
	if m, _, err := session.ReadWatched(t.sess); t.cycle.Phase == watching && (err != nil || !m.Delivery.Open()) {
		w.feed(t, leased{Seq: a.Seq})
		return
	}
	ok, rec := t.leaseDelivery()
	w.feed(t, leased{Seq: a.Seq, OK: ok, Delivery: rec})
}

func (w *Codex) check(t *thread, a doCheck) {
	e := checked{Seq: a.Seq}
	ask(w, "thread/read", map[string]any{"threadId": t.id}, func(n notice, err error) {
		if err != nil || n.Thread == nil {
			e.Unknown = true
			return
		}
		e.Idle = n.Thread.Status.idle()
	})
	ask(w, "thread/queue/list", map[string]any{"threadId": t.id}, func(q page[wireQueued], err error) {
		e.Unknown = e.Unknown || err != nil
		e.Queued = len(q.Data)
		w.feed(t, e)
	})
}

// author writes the packet, or has the agent write it: a sample of the model on
// the thread's whole context that leaves no trace in the thread.
func (w *Codex) author(t *thread, a doAuthor) {
	done := func(text string) {
		w.feed(t, authored{Seq: a.Seq, Packet: t.packet(text, t.holds())})
	}
	if !compact.AgentPackets(t.settings) {
		done("")
		return
	}
	t.report("author", message.WatchAgentPacket)
	params := map[string]any{"threadId": t.id, "expectedTurnId": a.Turn, "prompt": t.settings.Prompt}
	var id int64
	id = w.client.post("thread/sample", params, func(raw json.RawMessage, err error) {
		var r struct {
			Text string `json:"text"`
		}
		if errors.Is(err, errTimeout) {
			// It reads the whole context and is paid for.
			w.send("thread/sample/cancel", map[string]any{"requestId": id})
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
	}, w.Waits.Author)
}

func (w *Codex) compact(t *thread, a doCompact) {
	t.queued = false
	w.post("thread/compact/start", map[string]any{"threadId": t.id}, func(_ json.RawMessage, err error) {
		if refused(err) {
			w.problem(err)
			w.feed(t, compactRefused(a))
		}
	})
}

func (w *Codex) add(t *thread, a doAdd) {
	params := map[string]any{"threadId": t.id, "clientUserMessageId": a.Packet, "input": textInput(a.Text)}
	ask(w, "thread/queue/add", params, func(r wireAdded, err error) {
		if err == nil && r.Queued.ID == "" {
			err = errors.New("no id")
		}
		w.added(t, a.Packet, r.Queued.ID, err)
	})
}

func (w *Codex) tidy(t *thread, a doTidy) {
	ask(w, "thread/queue/list", map[string]any{"threadId": t.id}, func(q page[wireQueued], _ error) { // without an answer it is empty
		for _, x := range q.Data {
			if x.ClientID == a.Packet {
				w.send("thread/queue/delete", map[string]any{"threadId": t.id, "queuedSubmissionId": x.ID})
			}
		}
	})
}

// inject puts the packet into the thread where it stands, as hooks do.
func (w *Codex) inject(t *thread, a doInject) {
	content := store.EncodeJSON([]any{map[string]any{"type": "input_text", "text": a.Text}})
	item := json.RawMessage(`{"type":"message","role":"developer","content":` + string(content) + `}`)
	w.post("thread/inject_items", map[string]any{"threadId": t.id, "items": []any{item}}, func(_ json.RawMessage, err error) {
		w.added(t, a.Packet, "", err)
	})
}

// added takes the answer of a host that was given a packet.
func (w *Codex) added(t *thread, packet, submission string, err error) {
	if refused(err) {
		w.problem(err)
	}
	w.feed(t, added{Packet: packet, Submission: submission, Refused: refused(err), Unclear: err != nil && !refused(err)})
}

// resume opens a turn for work of which there is proof that it is open. A goal
// begins its turns itself, and so does whoever has more prompts to send.
func (w *Codex) resume(t *thread, a doResume) {
	step := ""
	if r := t.settings.Resume; r != compact.ResumeAlways && r != compact.ResumeNever && t.own.Goal == nil && !t.goal.open() && !w.prompter.waits(w, t) {
		step = t.openWork()
	}
	if step == "" {
		w.feed(t, resumed{Seq: a.Seq})
		return
	}
	params := map[string]any{"threadId": t.id, "clientUserMessageId": a.ID, "input": textInput(handover.GoOn(a.Packet, step, t.lang()))}
	ask(w, "thread/queue/add", params, func(r wireAdded, err error) {
		w.problem(err)
		w.feed(t, resumed{Seq: a.Seq, Opened: err == nil, Submission: r.Queued.ID})
	})
}

// putBack queues a user's message again that the host has cut off. Where its text is
// nowhere to be found, the agent is asked to tell its user.
func (w *Codex) putBack(t *thread, a doPutBack) {
	params := map[string]any{"threadId": t.id, "clientUserMessageId": a.ID, "input": a.Input}
	if len(a.Input) == 0 {
		text := t.typed()
		if text == "" {
			params["clientUserMessageId"] = host.PacketPrefix + a.ID
			text = message.WatchCutLost.Format(t.lang(), t.cycle.Delivery.Receipt.Created.Local().Format(time.TimeOnly))
		}
		params["input"] = textInput(text)
	}
	w.post("thread/queue/add", params, func(_ json.RawMessage, err error) { w.problem(err) })
}

// typed is what the user has typed since the compaction was decided, of which the host
// has recorded nothing: its terminal keeps what is typed in a file of its own, and a hook
// may have heard it.
func (t *thread) typed() (text string) {
	// The host stamps seconds, and what is under way when we decide comes a moment earlier.
	since := t.cycle.Delivery.Receipt.Created.Add(-300 * time.Millisecond)
	transcript.Newest(host.CodexHistory(t.info.Path), func(line []byte) (yes, told bool) {
		l := gjson.ParseBytes(line)
		if l.Get("session_id").String() == t.id && l.Get("ts").Int() >= since.Unix() {
			text = l.Get("text").String() // the oldest one
		}
		return false, l.Get("ts").Int() < since.Unix()
	})
	if _, th, err := session.ReadWatched(t.sess); text == "" && err == nil {
		text = th.Words.WholeSince(since)
	}
	return text
}

// viewTurns is how far back a look goes. What we look for is among the last
// three turns; more of them mean that the thread has long gone on.
const viewTurns = 8

// view looks at the thread: queue, newest turns, what kind the silent ones are,
// and last whether it is idle. The summaries leave compactions out, but whole
// turns could exceed what one message may hold.
func (w *Codex) view(t *thread, a doLook) {
	e := looked{Seq: a.Seq}
	ask(w, "thread/queue/list", map[string]any{"threadId": t.id}, func(q page[wireQueued], err error) {
		e.Unknown = err != nil && !refused(err)
		for _, x := range q.Data {
			e.View.Queue = append(e.View.Queue, queuedMessage{x.ID, x.ClientID})
		}
	})
	params := map[string]any{"threadId": t.id, "limit": viewTurns, "itemsView": "summary"}
	ask(w, "thread/turns/list", params, func(r page[wireTurn], err error) {
		e.Unknown = e.Unknown || err != nil
		e.View.Cutoff = r.Next != ""
		for i, turn := range r.Data {
			v := turnView{ID: turn.ID, Status: turn.Status}
			for _, it := range turn.Items {
				if it.Type == host.CodexUserMessage {
					v.Clients = append(v.Clients, it.ClientID)
				}
			}
			e.View.Turns = append(e.View.Turns, v)
			if len(v.Clients) == 0 && v.Status != turnRunning {
				w.isCompaction(t, &e, i)
			}
		}
		ask(w, "thread/read", map[string]any{"threadId": t.id}, func(n notice, err error) {
			if e.Unknown = e.Unknown || err != nil || n.Thread == nil; !e.Unknown {
				e.View.Idle = n.Thread.Status.idle()
			}
			id := t.cycle.Delivery.Receipt.ID
			holds := func(line []byte) (yes, told bool) {
				yes = bytes.Contains(line, []byte(id))
				return yes, yes
			}
			if t.cycle.Delivery.Quiet && transcript.Newest(t.info.Path, holds) {
				e.View.Injected = id
			}
			w.feed(t, e)
		})
	})
}

func (w *Codex) isCompaction(t *thread, e *looked, i int) {
	params := map[string]any{"threadId": t.id, "turnId": e.View.Turns[i].ID, "limit": 5}
	ask(w, "thread/items/list", params, func(r page[wireItem], err error) {
		e.Unknown = e.Unknown || err != nil
		for _, x := range r.Data {
			e.View.Turns[i].Compact = e.View.Turns[i].Compact || x.Item.Type == host.CodexCompaction
		}
	})
}

// tell reports a step of a cycle and leaves it in the timeline.
func (w *Codex) tell(t *thread, a doTell) {
	r := a.Delivery.Receipt
	tell := func(text message.Text, args ...any) { t.report(string(a.What), text, args...) }
	switch a.What {
	case newsHeld:
		t.held(a.Reason)
	case newsCompact:
		tell(message.WatchCompacting, t.decision.Reason.In(w.Words))
		t.emit(store.On(message.EventPacketCreated, "packet", r.ID))
	case newsCompacted:
		t.fails = 0
		tell(message.WatchCompacted, t.before, t.after)
	case newsForeign:
		tell(message.WatchForeign, t.before, t.after)
	case newsCut:
		tell(message.WatchCut)
		t.emit(store.On(message.EventMessageCut))
	case newsAdopted:
		tell(message.WatchAdopted, r.ID)
	case newsDelivered:
		tell(message.WatchDelivered, r.ID)
		t.emit(store.On(message.EventPacketDelivered, "packet", r.ID, "via", string(r.Via)))
	case newsOpened:
		tell(message.WatchOpened)
	case newsVoid:
		tell(message.WatchVoid, r.ID, reasonText(a.Reason).In(w.Words))
		t.failed(a.Reason)
		typ := message.EventSessionCompactFailed
		if a.Reason == reasonExpired {
			typ = message.EventPacketExpired
		}
		t.emit(store.On(typ, "packet", r.ID, "reason", string(a.Reason)))
	}
}
