package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Codex watches the threads of an app-server.
//
// One goroutine does everything: it takes what the client hands out in the
// server's order, feeds the threads' cycles, carries out their actions, and
// posts requests whose answers come back the same way.
type Codex struct {
	Options
	At Endpoint
	// Version is ours, for the server.
	Version string
	// Thread restricts the watch to one thread, which is loaded if need be.
	Thread string
	// Prompts makes the watcher the front end: it opens a thread in Dir and
	// sends these, one after the other, each when the last is dealt with.
	Prompts []string
	Dir     string

	client  *Client
	threads map[string]*thread
	ignored map[string]bool // threads that are not the user's own
	front   front
	done    bool
	err     error // why it is done, if that is an error
}

// callTimeout bounds each request; the server answers them at once.
const callTimeout = 30 * time.Second

// thread is one watched thread.
type thread struct {
	*session
	info  wireThread
	cycle Cycle
	// subscribed: its events reach us. asked: we are about to be told.
	subscribed, asked bool
	// seen says that we have followed the thread since before its last turn,
	// so that a turn that ended while we were not looking counts.
	seen  bool
	turn  string // the newest turn whose beginning we have dealt with
	ended string // the newest turn whose end we have dealt with
	// items are those of the running turn that were dealt with.
	items map[string]bool
	// shrinking is the turn of a compaction that has begun.
	shrinking string
	retry     time.Time // when to ask again for the subscription
	due       time.Time // when the cycle's pause ends
	dueSeq    int
}

// errDone ends a watch that has done what it was asked to do.
var errDone = errors.New("done")

// Run watches until ctx ends. It connects again whenever the connection is
// lost; only an own app-server that ends, ends the watch.
func (w *Codex) Run(ctx context.Context) error {
	w.Options = w.Options.withDefaults()
	w.threads, w.ignored = map[string]*thread{}, map[string]bool{}
	defer w.giveUp()
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval = 200 * time.Millisecond
	pause.MaxInterval = 10 * time.Second
	waiting := ""
	for {
		client, err := Dial(ctx, w.At, ClientInfo{Name: "overtone", Version: w.Version})
		if err == nil {
			pause.Reset()
			waiting = ""
			w.say("connected", message.WatchConnected, w.At.String())
			err = w.serve(ctx, client)
			_ = client.Close()
			w.lost()
		}
		switch {
		case errors.Is(err, errDone):
			return w.err
		case ctx.Err() != nil:
			return ctx.Err()
		case w.At.Command != nil:
			return err
		}
		if text := err.Error(); text != waiting {
			waiting = text
			w.say("waiting", message.WatchWaiting, w.At.String(), text)
		}
		t := time.NewTimer(pause.NextBackOff())
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		}
	}
}

func (w *Codex) say(what string, t message.Text, args ...any) {
	w.Report(Report{At: w.Now(), What: what, Text: message.Because(t, args...)})
}

// serve lives as long as one connection.
func (w *Codex) serve(ctx context.Context, c *Client) error {
	w.client = c
	w.open()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		for {
			in, ok, err := c.TryNext()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			w.handle(in)
			if w.done {
				return errDone
			}
		}
		w.elapse()
		w.drive()
		if w.done {
			return errDone
		}
		timer.Reset(w.untilNext())
		select {
		case <-c.Ready():
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// post sends a request; then runs when its answer comes.
func (w *Codex) post(method string, params map[string]any, timeout time.Duration, then func(json.RawMessage, error)) {
	w.client.Post(method, params, then, timeout)
}

func (w *Codex) handle(in Inbound) {
	if then, ok := in.Tag.(func(json.RawMessage, error)); ok {
		then(in.Result, in.Err)
		return
	}
	n, id := parseNotice(in.Params)
	if id == "" || w.Thread != "" && id != w.Thread {
		return
	}
	t := w.threads[id]
	switch in.Method {
	case "thread/started":
		if n.Thread != nil {
			w.meet(*n.Thread, true)
		}
		return
	case "thread/closed", "thread/archived", "thread/deleted":
		if t != nil {
			w.drop(t)
		}
		return
	case "thread/status/changed":
		// Also sent for threads we do not hear otherwise.
		if t == nil {
			if !w.ignored[id] {
				w.look(id)
			}
			return
		}
		w.subscribe(t)
	}
	if t != nil && t.subscribed {
		w.notice(t, in.Method, n)
	}
}

// open finds the threads that are there.
func (w *Codex) open() {
	switch {
	case w.front.begin(w):
	case w.Thread != "":
		t := w.threads[w.Thread]
		if t == nil {
			t = &thread{info: wireThread{ID: w.Thread}}
			w.threads[w.Thread] = t
		}
		w.subscribe(t)
	default:
		w.post("thread/loaded/list", map[string]any{}, callTimeout, func(raw json.RawMessage, err error) {
			var r struct {
				Data []string `json:"data"`
			}
			if err != nil || json.Unmarshal(raw, &r) != nil {
				w.problem(err)
				return
			}
			for _, id := range r.Data {
				w.look(id)
			}
		})
	}
}

func (w *Codex) problem(err error) {
	if err != nil && !errors.Is(err, errClosed) {
		w.say("warning", message.WatchServerError, err.Error())
	}
}

// look asks what kind of thread an id names.
func (w *Codex) look(id string) {
	w.post("thread/read", map[string]any{"threadId": id}, callTimeout, func(raw json.RawMessage, err error) {
		var n notice
		if err == nil && json.Unmarshal(raw, &n) == nil && n.Thread != nil {
			w.meet(*n.Thread, false)
		}
	})
}

// meet takes a thread up if it is a user's. A newborn one cannot be subscribed
// to before its first turn.
func (w *Codex) meet(info wireThread, newborn bool) {
	if !info.watched() || w.Thread != "" && info.ID != w.Thread {
		w.ignored[info.ID] = true
		return
	}
	t := w.threads[info.ID]
	if t == nil {
		t = &thread{info: info, seen: newborn}
		w.threads[info.ID] = t
	}
	if !newborn {
		w.subscribe(t)
	}
}

// subscribe asks for a thread's events.
func (w *Codex) subscribe(t *thread) {
	if t.subscribed || t.asked {
		return
	}
	t.asked, t.retry = true, time.Time{}
	params := map[string]any{"threadId": t.info.ID, "excludeTurns": true}
	w.post("thread/resume", params, callTimeout, func(raw json.RawMessage, err error) {
		t.asked = false
		var n notice
		if err == nil {
			err = json.Unmarshal(raw, &n)
		}
		if err != nil || n.Thread == nil {
			// A new thread has no file yet; it comes with the first turn.
			var rpc *RPCError
			if errors.As(err, &rpc) {
				t.retry = w.Now().Add(300 * time.Millisecond)
			}
			return
		}
		w.subscribedTo(t, *n.Thread)
	})
}

func (w *Codex) subscribedTo(t *thread, info wireThread) {
	if !info.watched() {
		delete(w.threads, t.info.ID)
		w.ignored[info.ID] = true
		return
	}
	t.info = info
	if t.session == nil {
		s, err := newSession(info.ID, "codex", info.Cwd, w.Options)
		if err != nil {
			w.problem(err)
			delete(w.threads, info.ID)
			return
		}
		t.session = s
		t.cycle = Cycle{Phase: Watching}
		t.items = map[string]bool{}
		s.report("attached", message.WatchAttached, cmp.Or(info.Cwd, info.ID))
	}
	if s := t.session; s.mem.First == "" {
		s.request(info.Preview)
	}
	// The subscription does not tell the tokens; the rollout's end does,
	// where it is a file of this machine.
	if u, ok := transcript.TailUsage(info.Path); ok && u.Window > 0 {
		t.usage = compact.Usage{Used: u.Tokens(), Window: u.Window}
	}
	t.subscribed = true
	w.catchUp(t)
}

// catchUp finds out what happened while we were not listening.
func (w *Codex) catchUp(t *thread) {
	params := map[string]any{"threadId": t.info.ID, "limit": 2, "itemsView": "summary"}
	w.post("thread/turns/list", params, callTimeout, func(raw json.RawMessage, err error) {
		var r wireTurns
		if err != nil || json.Unmarshal(raw, &r) != nil || len(r.Data) == 0 {
			w.feed(t, Attached{})
			return
		}
		newest := r.Data[0]
		for _, turn := range r.Data {
			if text := userText(turn); text != "" {
				t.mem.Latest = text
				break
			}
		}
		running := newest.Status == TurnRunning && newest.ID != t.ended
		missed := newest.Status == TurnCompleted && newest.ID != t.ended && t.seen
		t.seen = true
		if !running && !missed {
			t.ended = newest.ID
			w.feed(t, Attached{})
			return
		}
		if running {
			w.feed(t, Attached{Turn: newest.ID})
		} else {
			w.feed(t, Attached{})
		}
		w.hydrate(t, newest, "", missed)
	})
}

func userText(turn wireTurn) string {
	for _, it := range turn.Items {
		if it.Type == itemUser && !ours(it.ClientID) {
			return it.message()
		}
	}
	return ""
}

// hydrate feeds the items of a turn that we did not follow from its start.
func (w *Codex) hydrate(t *thread, turn wireTurn, cursor string, missed bool) {
	t.begin(turn.ID)
	params := map[string]any{"threadId": t.info.ID, "turnId": turn.ID, "limit": 50}
	if cursor != "" {
		params["cursor"] = cursor
	}
	w.post("thread/items/list", params, callTimeout, func(raw json.RawMessage, err error) {
		var r wireItems
		if err == nil && json.Unmarshal(raw, &r) == nil {
			for _, e := range r.Data {
				w.item(t, turn.ID, e.Item, true)
			}
			if r.Next != "" {
				w.hydrate(t, turn, r.Next, missed)
				return
			}
		}
		if missed && t.ended != turn.ID {
			w.turnEnded(t, turn)
		}
	})
}

// begin starts a turn's account, once.
func (t *thread) begin(turn string) {
	if t.turn == turn {
		return
	}
	t.turn, t.items = turn, map[string]bool{}
	t.turnStarted(false)
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
		w.feed(t, TurnStarted{n.Turn.ID})
	case method == "turn/completed" && n.Turn != nil:
		w.turnEnded(t, *n.Turn)
	case method == "item/started" && n.Item != nil:
		w.itemStarted(t, n.TurnID, *n.Item)
	case method == "item/completed" && n.Item != nil:
		w.item(t, n.TurnID, *n.Item, false)
	case method == "turn/plan/updated":
		t.apply(compact.PlanUpdated{Steps: planSteps(n.Plan)})
	case method == "thread/tokenUsage/updated" && n.TokenUsage != nil:
		t.used(n.TokenUsage.usage(), t.shrinking == "")
	}
}

func (w *Codex) itemStarted(t *thread, turn string, it wireItem) {
	if it.Type == itemCompaction && t.shrinking != turn {
		t.shrinking, t.before = turn, t.usage
	}
	w.feed(t, Item{Turn: turn, Type: it.Type, ClientID: it.ClientID})
}

// item is a completed item. Late is set for one from the thread's history.
func (w *Codex) item(t *thread, turn string, it wireItem, late bool) {
	if t.items[it.ID] || late && it.Status == "inProgress" {
		return
	}
	t.items[it.ID] = true
	switch it.Type {
	case itemUser:
		if ours(it.ClientID) {
			t.turnStarted(true)
		} else {
			t.request(it.message())
		}
	case "agentMessage":
		t.apply(compact.AgentMessage{Text: it.Text})
		if w.front.owns(t) {
			w.Report(Report{At: w.Now(), Session: t.id, What: "output", Output: it.Text})
		}
	case "commandExecution":
		if it.Status != "declined" {
			t.commandFinished(it.Command, it.Cwd, it.Output, it.ExitCode, it.ended())
		}
	case "fileChange":
		for _, c := range it.Changes {
			if it.Status == "completed" {
				t.apply(compact.ToolActivity{Tool: it.Type, File: c.Path})
			}
		}
	case "mcpToolCall", "dynamicToolCall", "collabAgentToolCall", "webSearch", "imageGeneration":
		t.apply(compact.ToolActivity{Tool: cmp.Or(it.Tool, it.Type)})
	case itemCompaction:
		w.compacted(t, turn, late)
		return
	}
	t.passed(it.ended())
	w.feed(t, Item{Turn: turn, Type: it.Type, ClientID: it.ClientID, Done: true})
}

// compacted: the tokens that the server told last are the new size. It repeats
// the old one first, but all before the item's completion. Of a compaction that
// we only read about the size is not known.
func (w *Codex) compacted(t *thread, turn string, late bool) {
	if t.shrinking != turn {
		t.before = t.usage
	}
	t.shrinking = ""
	after := t.usage.Used
	if late {
		after = -1
	}
	mine := t.cycle.Phase == Compacting && turn != t.cycle.UserTurn && (t.cycle.ours() == "" || t.cycle.ours() == turn)
	// The packet first: whoever waits for the disk here comes too late.
	w.feed(t, Item{Turn: turn, Type: itemCompaction, Done: true})
	t.session.compacted(turn, after, mine)
}

func (w *Codex) turnEnded(t *thread, turn wireTurn) {
	if t.ended == turn.ID {
		return
	}
	t.ended = turn.ID
	if w.front.turn == turn.ID {
		w.front.turn = ""
	}
	if t.shrinking != "" {
		// The compaction came to nothing, and with it the sizes it told.
		t.usage, t.shrinking = t.before, ""
	}
	act := false
	if turn.Status == TurnCompleted && turn.ID != t.mem.Compaction {
		act = t.session.turnEnded()
	}
	w.feed(t, TurnEnded{Turn: turn.ID, Status: turn.Status, Act: act})
}

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
			w.feed(t, CompactRefused{Seq: a.Seq})
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
		t.report("compacted", message.WatchCompacted, t.before.Used, t.usage.Used)
	case NewsForeign:
		t.report("foreign", message.WatchForeign, t.before.Used, t.usage.Used)
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

// elapse ends the pauses that are over.
func (w *Codex) elapse() {
	now := w.Now()
	for _, t := range w.threads {
		if !t.retry.IsZero() && !now.Before(t.retry) {
			w.subscribe(t)
		}
		if !t.due.IsZero() && !now.Before(t.due) {
			t.due = time.Time{}
			w.feed(t, Elapsed{Seq: t.dueSeq})
		}
	}
}

func (w *Codex) untilNext() time.Duration {
	now, wait := w.Now(), time.Hour
	for _, t := range w.threads {
		for _, at := range []time.Time{t.retry, t.due} {
			if !at.IsZero() {
				wait = min(wait, at.Sub(now))
			}
		}
	}
	if at := w.front.next; !at.IsZero() {
		wait = min(wait, at.Sub(now))
	}
	return max(wait, time.Millisecond)
}

func (w *Codex) lost() {
	for _, t := range w.threads {
		t.subscribed, t.asked, t.retry = false, false, time.Time{}
		if t.session != nil {
			w.feed(t, Lost{})
		}
	}
}

// drop forgets a thread that is gone.
func (w *Codex) drop(t *thread) {
	if t.session != nil {
		t.desk.giveUp()
		t.report("detached", message.WatchDetached)
	}
	delete(w.threads, t.info.ID)
}

func (w *Codex) giveUp() {
	for _, t := range w.threads {
		if t.session != nil {
			t.desk.giveUp()
		}
	}
}

// front is the watcher's own conversation, when it drives one.
type front struct {
	thread string
	sent   int
	// next is when the conversation is looked at again; it is quiet then
	// unless something else came.
	next    time.Time
	waiting bool   // a prompt was sent, its turn is not known yet
	turn    string // the prompt's turn, until it has ended
	lastSeq int
}

// begin opens the thread. It is false when there is nothing to drive.
func (f *front) begin(w *Codex) bool {
	if len(w.Prompts) == 0 {
		return false
	}
	params := map[string]any{"cwd": w.Dir, "approvalPolicy": "never"}
	w.post("thread/start", params, callTimeout, func(raw json.RawMessage, err error) {
		var n notice
		if err == nil {
			err = json.Unmarshal(raw, &n)
		}
		if err != nil || n.Thread == nil {
			w.done, w.err = true, fmt.Errorf("start a thread: %w", err)
			return
		}
		t := &thread{info: *n.Thread, seen: true}
		w.threads[t.info.ID] = t
		f.thread = t.info.ID
		w.subscribedTo(t, *n.Thread)
		f.next = w.Now()
	})
	return true
}

func (f *front) owns(t *thread) bool { return f.thread != "" && f.thread == t.id }

// drive sends the next prompt once the thread is quiet.
func (w *Codex) drive() {
	f := &w.front
	t := w.threads[f.thread]
	if t == nil || f.waiting || f.next.IsZero() {
		return
	}
	now := w.Now()
	if t.cycle.Phase != Watching || t.cycle.Turn != "" || f.turn != "" || t.cycle.Seq != f.lastSeq {
		f.lastSeq = t.cycle.Seq
		f.next = now.Add(w.Waits.Debounce)
		return
	}
	if now.Before(f.next) {
		return
	}
	if f.sent == len(w.Prompts) {
		w.done = true
		return
	}
	f.waiting = true
	params := map[string]any{"threadId": t.id, "input": textInput(w.Prompts[f.sent])}
	f.sent++
	w.post("turn/start", params, callTimeout, func(raw json.RawMessage, err error) {
		f.waiting = false
		f.next = w.Now().Add(w.Waits.Debounce)
		var n notice
		if err == nil && json.Unmarshal(raw, &n) == nil && n.Turn != nil && n.Turn.ID != t.ended {
			f.turn = n.Turn.ID
		}
		w.problem(err)
	})
}
