package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Claude drives a headless Claude Code: it passes prompts on, and between two
// of them it compacts and hands over the packet.
//
// The packet goes in as a message of its own. The other way, as context from a
// SessionStart hook, would come before the echo of /compact, which Claude Code
// marks as not to be answered; and both at once would be two packets. So the
// process is started with Overtone's hooks off.
type Claude struct {
	Options
	// Command starts Claude Code in stream-json mode, for input and output.
	Command *exec.Cmd
	// Prompts are the user's messages; the run ends when it is closed.
	Prompts <-chan string
	// Window is the context window when it is configured, 0 to ask for it.
	Window int64
	// Session is the conversation's id where it is known from the start, and
	// Transcript finds its file. With both, a packet that an earlier run left
	// open is dealt with first.
	Session    string
	Transcript func(session string) string

	conn  conn
	lines chan []byte
	sess  *session
	asked int
	model string
	calls map[string]wireCall
	turn  claudeTurn
	done  bool
}

// claudeTurn is what is known about the turn that runs.
type claudeTurn struct {
	prompt    string
	synthetic bool
	begun     bool
	boundary  *wireBoundary
}

// What we read of Claude Code's stream.
type (
	wireEvent struct {
		Type    string          `json:"type"`
		Subtype string          `json:"subtype"`
		Session string          `json:"session_id"`
		UUID    string          `json:"uuid"`
		Cwd     string          `json:"cwd"`
		Model   string          `json:"model"`
		Parent  string          `json:"parent_tool_use_id"`
		Message wireMessage     `json:"message"`
		Result  string          `json:"result"`
		IsError bool            `json:"is_error"`
		Time    time.Time       `json:"timestamp"`
		Tool    json.RawMessage `json:"tool_use_result"`
		Replay  bool            `json:"isReplay"`
		Models  map[string]struct {
			Window int64 `json:"contextWindow"`
		} `json:"modelUsage"`
		Compact  wireBoundary `json:"compact_metadata"`
		Response struct {
			ID       string `json:"request_id"`
			Response struct {
				Total int64 `json:"totalTokens"`
				Max   int64 `json:"rawMaxTokens"`
			} `json:"response"`
		} `json:"response"`
	}
	wireBoundary struct {
		Trigger string `json:"trigger"`
		Pre     int64  `json:"pre_tokens"`
		Post    int64  `json:"post_tokens"`
	}
	wireMessage struct {
		Content json.RawMessage `json:"content"`
		Usage   *struct {
			Input         int64 `json:"input_tokens"`
			CacheRead     int64 `json:"cache_read_input_tokens"`
			CacheCreation int64 `json:"cache_creation_input_tokens"`
			Output        int64 `json:"output_tokens"`
		} `json:"usage"`
	}
	wireBlock struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Input   wireCallInput   `json:"input"`
		UseID   string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
	}
	wireCallInput struct {
		Command  string `json:"command"`
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Todos    []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"todos"`
		Task    string `json:"taskId"`
		Subject string `json:"subject"`
		Status  string `json:"status"`
	}
	wireCall struct {
		name  string
		input wireCallInput
	}
)

var errClaudeEnded = errors.New("claude ended before its turn was over")

// Run drives the conversation to its end.
func (w *Claude) Run(ctx context.Context) error {
	w.Options = w.Options.withDefaults()
	w.calls = map[string]wireCall{}
	proc, err := startProcess(w.Command)
	if err != nil {
		return fmt.Errorf("start claude: %w", err)
	}
	w.conn, w.lines = proc, make(chan []byte)
	rctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { w.readAll(rctx) })
	defer func() {
		cancel()
		_ = proc.close()
		wg.Wait()
		if w.sess != nil {
			w.sess.desk.giveUp()
		}
	}()
	if err := w.resume(ctx); err != nil {
		return err
	}
	for !w.done {
		select {
		case text, ok := <-w.Prompts:
			if !ok {
				return nil
			}
			if err := w.ask(ctx, text, false); err != nil {
				return err
			}
			if err := w.between(ctx); err != nil {
				return err
			}
		case line, ok := <-w.lines:
			// A background task may wake the agent without us.
			if !ok {
				return nil
			}
			if w.event(line) == "result" {
				if err := w.between(ctx); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (w *Claude) readAll(ctx context.Context) {
	defer close(w.lines)
	for {
		line, err := w.conn.read(ctx)
		if err != nil {
			return
		}
		select {
		case w.lines <- line:
		case <-ctx.Done():
			return
		}
	}
}

func (w *Claude) write(ctx context.Context, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := w.conn.write(ctx, b); err != nil {
		return fmt.Errorf("write to claude: %w", err)
	}
	return nil
}

// ask sends a message and waits for the end of its turn.
func (w *Claude) ask(ctx context.Context, text string, synthetic bool) error {
	w.turn = claudeTurn{prompt: text, synthetic: synthetic}
	w.beginTurn()
	msg := map[string]any{"type": "user", "message": map[string]any{
		"role": "user", "content": []any{map[string]any{"type": "text", "text": text}},
	}}
	if err := w.write(ctx, msg); err != nil {
		return err
	}
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				return errClaudeEnded
			}
			if w.event(line) == "result" {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// beginTurn opens the turn's account as soon as the session has a name.
func (w *Claude) beginTurn() {
	if w.sess == nil || w.turn.begun {
		return
	}
	w.turn.begun = true
	w.sess.turnStarted(w.turn.synthetic)
	w.sess.passed(w.Now())
	if !w.turn.synthetic {
		w.sess.request(w.turn.prompt)
	}
}

// event takes one line and returns its type. Lines that are no events are
// skipped.
func (w *Claude) event(line []byte) string {
	var e wireEvent
	if json.Unmarshal(line, &e) != nil {
		return ""
	}
	switch {
	case e.Type == "system" && e.Subtype == "init":
		w.named(e)
	case w.sess == nil:
	case e.Type == "system" && e.Subtype == "compact_boundary":
		w.boundary(e)
	case e.Type == "assistant" && e.Parent == "":
		w.said(e)
	case e.Type == "user" && e.Parent == "" && !e.Replay:
		w.results(e)
	case e.Type == "result":
		for name, m := range e.Models {
			if name == w.model && m.Window > 0 {
				w.sess.usage.Window = m.Window
			}
		}
	}
	return e.Type
}

// named: the session's id comes with the first turn.
func (w *Claude) named(e wireEvent) {
	w.model = e.Model
	if w.sess == nil || w.sess.id != e.Session {
		s, err := newSession(e.Session, "claude-code", e.Cwd, w.Options)
		if err != nil {
			w.Report(Report{At: w.Now(), What: "warning", Text: message.Because(message.WatchStoreProblem, err.Error())})
			return
		}
		w.sess = s
		s.report("attached", message.WatchAttached, e.Cwd)
	}
	w.beginTurn()
}

// boundary: the context was compacted. Without our asking it is the host's own.
func (w *Claude) boundary(e wireEvent) {
	s := w.sess
	s.before = compact.Usage{Used: e.Compact.Pre, Window: s.usage.Window}
	if w.turn.prompt == slashCompact {
		w.turn.boundary = &e.Compact
		return
	}
	s.compacted(e.UUID, -1, false)
	s.report("foreign", message.WatchForeign, e.Compact.Pre, e.Compact.Post)
}

func (w *Claude) said(e wireEvent) {
	s := w.sess
	if u := e.Message.Usage; u != nil {
		s.used(compact.Usage{Used: u.Input + u.CacheRead + u.CacheCreation + u.Output, Window: w.window()}, true)
	}
	for _, b := range blocks(e.Message.Content) {
		switch b.Type {
		case "text":
			s.apply(compact.AgentMessage{Text: b.Text})
			w.Report(Report{At: w.Now(), Session: s.id, What: "output", Output: b.Text})
		case "tool_use":
			w.calls[b.ID] = wireCall{b.Name, b.Input}
		}
	}
}

// window is the best knowledge of the context window.
func (w *Claude) window() int64 {
	switch {
	case w.Window > 0:
		return w.Window
	case w.sess.usage.Window > 0:
		return w.sess.usage.Window
	case strings.Contains(w.model, "[1m]"):
		return 1_000_000
	}
	return 200_000
}

func (w *Claude) results(e wireEvent) {
	s := w.sess
	for _, b := range blocks(e.Message.Content) {
		call, ok := w.calls[b.UseID]
		if b.Type != "tool_result" || !ok {
			continue
		}
		delete(w.calls, b.UseID)
		in := call.input
		switch call.name {
		case "Bash":
			output, exit := w.outcome(b, e.Tool)
			ended := e.Time
			if ended.IsZero() {
				ended = w.Now()
			}
			s.commandFinished(in.Command, s.mem.Cwd, output, exit, ended)
			s.passed(ended)
		case "TodoWrite":
			steps := make([]compact.Step, len(in.Todos))
			for i, t := range in.Todos {
				steps[i] = compact.Step{Text: t.Content, Status: compact.Status(t.Status)}
			}
			s.apply(compact.PlanUpdated{Steps: steps})
		case "TaskCreate", "TaskUpdate":
			if plan, ok := taskPlan(s.mem.State.Plan.Steps, call, e.Tool); ok && !b.IsError {
				s.apply(compact.PlanUpdated{Plan: s.mem.State.Plan.ID, Steps: plan})
			}
		default:
			file := in.File
			if file == "" {
				file = in.Notebook
			}
			if b.IsError || call.name == "Read" {
				file = ""
			}
			s.apply(compact.ToolActivity{Tool: call.name, File: file})
		}
	}
}

// outcome is a shell command's output and exit status.
func (w *Claude) outcome(b wireBlock, tool json.RawMessage) (string, *int) {
	output, code := flatten(b.Content), 0
	if b.IsError {
		code = 1
		if rest, ok := strings.CutPrefix(output, "Exit code "); ok {
			line, _, _ := strings.Cut(rest, "\n")
			if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				code = n
			}
		}
		return output, &code
	}
	var r struct {
		Interrupted bool   `json:"interrupted"`
		Background  string `json:"backgroundTaskId"`
	}
	if json.Unmarshal(tool, &r) == nil && (r.Interrupted || r.Background != "") {
		return output, nil
	}
	return output, &code
}

// taskPlan edits the plan where the host tells one task at a time.
func taskPlan(plan []compact.Step, call wireCall, result json.RawMessage) ([]compact.Step, bool) {
	plan = slices.Clone(plan)
	if call.name == "TaskCreate" {
		var r struct {
			Task struct {
				ID string `json:"id"`
			} `json:"task"`
		}
		_ = json.Unmarshal(result, &r)
		return append(plan, compact.Step{ID: r.Task.ID, Text: call.input.Subject, Status: compact.Pending}), true
	}
	i := slices.IndexFunc(plan, func(s compact.Step) bool { return s.ID != "" && s.ID == call.input.Task })
	if i < 0 {
		return nil, false
	}
	switch call.input.Status {
	case "":
	case "deleted":
		return slices.Delete(plan, i, i+1), true
	default:
		plan[i].Status = compact.Status(call.input.Status)
	}
	if call.input.Subject != "" {
		plan[i].Text = call.input.Subject
	}
	return plan, true
}

func blocks(raw json.RawMessage) []wireBlock {
	var list []wireBlock
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// flatten is the text of a tool's result: a string or a list of blocks.
func flatten(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []string
	for _, b := range blocks(raw) {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

const slashCompact = "/compact"

// between is the pause after a turn: decide, and compact if it is time.
func (w *Claude) between(ctx context.Context) error {
	s := w.sess
	if s == nil {
		return nil
	}
	if err := w.measure(ctx); err != nil {
		return err
	}
	if !s.turnEnded() {
		return nil
	}
	ok, rec := s.leaseRecord()
	if !ok {
		s.held(ReasonOther)
		return nil
	}
	defer s.desk.giveUp()
	if rec.open() {
		// Left by a run that ended over it; this one's history is the proof
		// that it never arrived or does not matter any more.
		rec.Receipt, _ = rec.Receipt.Step(compact.Missing{ID: rec.Receipt.ID}, w.Now())
		rec.Receipt, _ = rec.Receipt.Step(compact.Failed{Reason: string(ReasonSuperseded)}, w.Now())
		if s.saveRecord(rec, false) != nil {
			return nil
		}
	}
	packet, err := w.author(ctx)
	if err != nil {
		return err
	}
	return w.compact(ctx, packet)
}

// measure asks for the context's size; what the last answer said is good enough
// where the question is not understood.
func (w *Claude) measure(ctx context.Context) error {
	w.asked++
	id := "overtone-" + strconv.Itoa(w.asked)
	if err := w.write(ctx, map[string]any{
		"type": "control_request", "request_id": id, "request": map[string]any{"subtype": "get_context_usage"},
	}); err != nil {
		return err
	}
	timeout := time.NewTimer(10 * time.Second)
	defer timeout.Stop()
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				return errClaudeEnded
			}
			var e wireEvent
			if json.Unmarshal(line, &e) != nil || e.Type != "control_response" || e.Response.ID != id {
				w.event(line)
				continue
			}
			if r := e.Response.Response; r.Total > 0 && r.Max > 0 {
				u := compact.Usage{Used: r.Total, Window: r.Max}
				if w.Window > 0 {
					u.Window = w.Window
				}
				w.sess.used(u, true)
			}
			return nil
		case <-timeout.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// author writes the packet. The agent is asked in a turn of its own, which
// counts as ours.
func (w *Claude) author(ctx context.Context) (compact.Packet, error) {
	s := w.sess
	if !s.settings.AgentPackets {
		return s.packet(""), nil
	}
	s.report("author", message.WatchAgentPacket)
	facts, state := s.facts(), s.mem.State
	if err := w.ask(ctx, s.settings.Prompt, true); err != nil {
		return compact.Packet{}, err
	}
	text := s.mem.State.Slice.Last
	s.mem.State = state
	if p, ok := compact.Adopt(text, facts, s.settings, s.opts.Lang, s.opts.Redact); ok {
		return p, nil
	}
	s.report("warning", message.WatchAgentSilent, "no text")
	return s.packet(""), nil
}

// compact runs one compaction and, if it worked, delivers the packet.
func (w *Claude) compact(ctx context.Context, packet compact.Packet) error {
	s := w.sess
	rec := Record{Trigger: packet.ID, Receipt: compact.NewReceipt(packet)}
	step := func(e compact.ReceiptEvent) (ok bool) {
		rec.Receipt, ok = rec.Receipt.Step(e, w.Now())
		return ok
	}
	void := func(r Reason) {
		step(compact.Missing{ID: packet.ID})
		step(compact.Failed{Reason: string(r)})
		_ = s.saveRecord(rec, false, store.On(message.EventSessionCompactFailed, "packet", packet.ID, "reason", string(r)))
		s.report("void", message.WatchVoid, packet.ID, ReasonText(r).In(s.opts.Words))
		w.done = w.Once
	}
	step(compact.Started{})
	if s.saveRecord(rec, false, store.On(message.EventPacketCreated, "packet", packet.ID)) != nil {
		return nil
	}
	s.report("compact", message.WatchCompacting, s.decision.Reason.In(s.opts.Words))
	// Its signals must not lead to the next compaction, whatever comes of this.
	if err := w.ask(ctx, slashCompact, true); err != nil {
		return err
	}
	if w.turn.boundary == nil {
		void(ReasonFailed)
		return nil
	}
	name := packet.ID
	if err := w.measure(ctx); err != nil {
		return err
	}
	s.compacted(name, s.usage.Used, true)
	s.report("compacted", message.WatchCompacted, s.before.Used, s.usage.Used)
	step(compact.Finished{Compaction: name})
	if !step(compact.Opening{Via: compact.ViaQueue}) {
		void(ReasonExpired)
		return nil
	}
	if s.saveRecord(rec, false) != nil {
		return nil
	}
	return w.deliver(ctx, rec)
}

func (w *Claude) deliver(ctx context.Context, rec Record) error {
	id := rec.Receipt.ID
	if err := w.ask(ctx, rec.Receipt.Text, true); err != nil {
		return err
	}
	s := w.sess
	rec.Receipt, _ = rec.Receipt.Step(compact.Arrived{ID: id}, w.Now())
	_ = s.saveRecord(rec, false, store.On(message.EventPacketDelivered, "packet", id, "via", string(rec.Receipt.Via)))
	s.report("delivered", message.WatchDelivered, id)
	w.done = w.Once
	if err := w.measure(ctx); err != nil {
		return err
	}
	s.turnEnded()
	return nil
}

// resume deals with a packet that an earlier run of this session left open.
func (w *Claude) resume(ctx context.Context) error {
	if w.Session == "" || w.Transcript == nil || w.DryRun {
		return nil
	}
	s, err := newSession(w.Session, "claude-code", w.Command.Dir, w.Options)
	if err != nil || !s.mem.Record.open() {
		return nil
	}
	ok, rec := s.leaseRecord()
	defer s.desk.giveUp()
	if !ok || !rec.open() {
		return nil
	}
	s.report("adopted", message.WatchAdopted, rec.Receipt.ID)
	now := w.Now()
	step := func(e compact.ReceiptEvent) (ok bool) {
		rec.Receipt, ok = rec.Receipt.Step(e, now)
		return ok
	}
	trail := readTrail(w.Transcript(w.Session), rec.Receipt.ID, rec.Receipt.Created)
	reason := ReasonNotStarted
	switch {
	case trail.arrived:
		step(compact.Arrived{ID: rec.Receipt.ID})
		s.storeProblem(s.saveRecord(rec, false))
		return nil
	case trail.compacted && trail.wentOn:
		reason = ReasonSuperseded
	case trail.compacted:
		step(compact.Missing{ID: rec.Receipt.ID})
		step(compact.Finished{Compaction: rec.Receipt.ID})
		if step(compact.Opening{Via: compact.ViaQueue}) {
			if s.saveRecord(rec, false) != nil {
				return nil
			}
			return w.deliver(ctx, rec)
		}
		reason = ReasonExpired
	}
	step(compact.Missing{ID: rec.Receipt.ID})
	step(compact.Failed{Reason: string(reason)})
	s.storeProblem(s.saveRecord(rec, false))
	s.report("void", message.WatchVoid, rec.Receipt.ID, ReasonText(reason).In(s.opts.Words))
	return nil
}

// trail is what a transcript shows of a compaction.
type trail struct {
	compacted bool // there was one after the packet was written
	arrived   bool // the packet is in the conversation
	wentOn    bool // the agent has spoken since
}

func readTrail(path, packet string, since time.Time) trail {
	var t trail
	f, err := os.Open(path)
	if err != nil {
		return t
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(r)
		if err != nil && !errors.Is(err, errTooLong) {
			return t
		}
		var e struct {
			Type    string    `json:"type"`
			Subtype string    `json:"subtype"`
			Time    time.Time `json:"timestamp"`
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		switch {
		case e.Subtype == "compact_boundary" && !e.Time.Before(since):
			t = trail{compacted: true}
		case t.compacted && e.Type == "assistant":
			t.wentOn = true
		case t.compacted && e.Type == "user" && bytes.Contains(line, []byte(packet)):
			t.arrived = true
		}
	}
}
