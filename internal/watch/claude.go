package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
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
	// Session is the conversation's id where it is known from the start, and
	// Transcript finds its file. With both, a packet that an earlier run left
	// open is dealt with first.
	Session    string
	Transcript func(session string) string

	conn    conn
	lines   chan []byte
	lost    error // why no more of them come, where that is a fault of ours
	stream  host.ClaudeStream
	sess    *conversation
	asked   int
	turn    claudeTurn
	waiting string // a packet that goes with the user's next message
	next    string // what the user has said meanwhile
}

// claudeTurn is what is known about the turn that runs.
type claudeTurn struct {
	prompt    string
	synthetic bool
	begun     bool
	compacted bool
}

var errClaudeEnded = errors.New("claude ended before its turn was over")

// Run drives the conversation to its end.
func (w *Claude) Run(ctx context.Context) error {
	proc, err := startProcess(w.Command)
	if err != nil {
		return err
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
			w.sess.giveBack()
		}
	}()
	if err := w.resume(ctx); err != nil {
		return err
	}
	for {
		if w.spoke() {
			text := w.next
			w.next = ""
			if err := w.ask(ctx, text, false); err != nil {
				return err
			}
			if err := w.between(ctx); err != nil {
				return err
			}
			continue
		}
		select {
		case text, ok := <-w.Prompts:
			if !ok {
				return nil
			}
			w.next = text
		case line, ok := <-w.lines:
			// A background task may wake the agent without us.
			if !ok {
				return nil
			}
			if w.line(line).Result() {
				if err := w.between(ctx); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// spoke says that a message of the user's waits.
func (w *Claude) spoke() bool {
	if w.next == "" {
		select {
		case w.next = <-w.Prompts: // nothing from a channel that is closed
		default:
		}
	}
	return w.next != ""
}

func (w *Claude) readAll(ctx context.Context) {
	defer close(w.lines)
	defer transcript.Catch("", &w.lost)
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
	if err := w.conn.write(ctx, store.EncodeJSON(v)); err != nil {
		return fmt.Errorf("write to claude: %w", err)
	}
	return nil
}

// ask sends a message and waits for the end of its turn.
func (w *Claude) ask(ctx context.Context, text string, synthetic bool) error {
	w.turn = claudeTurn{prompt: text, synthetic: synthetic}
	w.beginTurn()
	content := []any{map[string]any{"type": "text", "text": text}}
	if w.waiting != "" && !synthetic {
		content = append([]any{map[string]any{"type": "text", "text": w.waiting}}, content...)
		w.waiting = ""
	}
	msg := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": content}}
	if err := w.write(ctx, msg); err != nil {
		return err
	}
	return w.until(ctx, nil, host.ClaudeLine.Result)
}

// until takes lines up to the one that is waited for, or until it is late.
func (w *Claude) until(ctx context.Context, late <-chan time.Time, is func(host.ClaudeLine) bool) error {
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				return cmp.Or(w.lost, errClaudeEnded)
			}
			if is(w.line(line)) {
				return nil
			}
		case <-late:
			return nil
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
	w.sess.turnStarted("")
	w.sess.passed(w.Now())
	w.sess.observe(host.UserMessage{Text: w.turn.prompt, Ours: w.turn.synthetic})
	if !w.turn.synthetic {
		w.sess.noRoute(w.turn.prompt)
	}
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
	if !s.turnEnded(w.spoke()) {
		return nil
	}
	ok, rec := s.leaseDelivery()
	if !ok {
		s.held(reasonOther)
		return nil
	}
	defer s.giveBack()
	// Left by a run that ended over it; this one's history is the proof
	// that it never arrived or does not matter any more.
	if left := (delivery{s, rec}); rec.Open() && left.drop(reasonSuperseded) != nil {
		return nil
	}
	packet, err := s.author(func(prompt string) (string, error) { return w.said(ctx, prompt) })
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
	return w.until(ctx, time.After(10*time.Second), func(l host.ClaudeLine) bool {
		u, ok := l.Usage(id)
		if ok && u.Used >= 0 {
			w.sess.observe(u)
		}
		return ok
	})
}

// said asks the agent in a turn that leaves no trace in what is known of the work.
func (w *Claude) said(ctx context.Context, prompt string) (string, error) {
	state, words := w.sess.thread.State, w.sess.thread.Words
	if err := w.ask(ctx, prompt, true); err != nil {
		return "", err
	}
	text := w.sess.thread.State.Slice.Last
	w.sess.change(func(t *compact.Thread) { t.State, t.Words = state, words })
	return text, nil
}

// compact runs one compaction and, if it worked, delivers the packet.
func (w *Claude) compact(ctx context.Context, packet compact.Packet) error {
	s := w.sess
	d, err := s.begin(packet)
	if err != nil {
		return nil //nolint:nilerr // reported; without a delivery on disk nothing is started
	}
	// Its signals must not lead to the next compaction, whatever comes of this.
	if err := w.ask(ctx, slashCompact, true); err != nil {
		return err
	}
	if !w.turn.compacted {
		d.void(reasonFailed)
		return nil
	}
	if err := w.measure(ctx); err != nil {
		return err
	}
	s.after = s.thread.Usage.Used
	s.compacted(packet.ID, true)
	s.report("compacted", message.WatchCompacted, s.before, s.after)
	d.finished(packet.ID, w.spoke)
	return w.deliver(ctx, d)
}

// deliver hands the packet over in a turn of its own. One that opens none goes with the
// user's next message: there is nothing to carry on with until then.
func (w *Claude) deliver(ctx context.Context, d *delivery) error {
	id, text := d.Receipt.ID, d.Receipt.Text
	if d.Quiet {
		d.step(compact.Opening{Via: compact.ViaPrompt})
		if d.arrived(store.On(message.EventPacketLeft, "packet", id)) == nil {
			w.waiting = text
			d.report("left", message.WatchLeft, id)
		}
		return nil
	}
	sent, err := d.handOver(compact.ViaQueue, func() error {
		err := w.ask(ctx, text, true)
		if err == nil {
			d.conversation = w.sess // the first turn has named it
		}
		return err
	})
	if err != nil || !sent {
		return err
	}
	if err := w.measure(ctx); err != nil {
		return err
	}
	w.sess.turnEnded(true)
	return nil
}

// resume deals with a packet that an earlier run of this session left open.
func (w *Claude) resume(ctx context.Context) error {
	if w.Session == "" || w.Transcript == nil || w.DryRun {
		return nil
	}
	s, err := newConversation(w.Session, host.ClaudeCode, w.Command.Dir, w.Options)
	if err != nil || !s.own.Delivery.Open() {
		return nil
	}
	ok, rec := s.leaseDelivery()
	defer s.giveBack()
	d := &delivery{s, rec}
	if !ok || !d.Open() || !d.adopt(ctx, w.Transcript(w.Session)) {
		return nil
	}
	return w.deliver(ctx, d)
}

func (w *Claude) line(raw []byte) host.ClaudeLine {
	l, ok := w.stream.Read(raw)
	if !ok {
		return l
	}
	switch {
	case l.Init():
		w.named(l)
	case l.Compacted() && w.sess != nil:
		w.compactedBy(l)
	}
	if w.sess == nil {
		return l
	}
	for _, e := range l.Events {
		if c, ok := e.(host.CommandFinished); ok && c.Ended.IsZero() {
			c.Ended = w.Now()
			e = c
		}
		w.sess.observe(e)
		switch e := e.(type) {
		case host.AgentMessage:
			w.sess.output(e.Text)
		case host.CommandFinished:
			w.sess.passed(e.Ended)
		}
	}
	return l
}

// named: the session's id comes with the first turn.
func (w *Claude) named(l host.ClaudeLine) {
	if w.sess == nil || w.sess.id != l.Session {
		s, err := newConversation(l.Session, host.ClaudeCode, l.Cwd, w.Options)
		if err != nil {
			w.announce("warning", message.WatchStoreProblem, err.Error())
			return
		}
		w.sess = s
		s.report("attached", message.WatchAttached, l.Cwd)
	}
	w.beginTurn()
}

// compactedBy: the context was compacted. Without our asking it is the host's own.
func (w *Claude) compactedBy(l host.ClaudeLine) {
	s := w.sess
	s.before, s.after = l.Compact.Before, -1
	if w.turn.prompt == slashCompact {
		w.turn.compacted = true
		return
	}
	s.compacted(l.UUID, false)
	s.report("foreign", message.WatchForeign, l.Compact.Before, l.Compact.After)
}
