package watch

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Options are what every driver needs. Now, Home and Settings must be set.
type Options struct {
	Home *store.Home
	// UserHome is the user's home folder: what ~ means in a command line, and
	// where the user's git aliases are.
	UserHome string
	// Getenv tells where else git's configuration may be; nil means nowhere.
	Getenv func(string) string
	// Settings reads the policy anew; it is asked at each turn's end.
	Settings func() compact.Settings
	Lang     message.Lang // of packets, where a session has no language of its own
	Chosen   bool         // Lang holds for all sessions
	Words    message.Lang // of reports
	Waits    Waits
	// DryRun only decides and reports.
	DryRun bool
	// Unattended: nobody sits before the agent, which may go on while work is open.
	Unattended bool
	Now        func() time.Time
	Report     func(Report)
}

// Report is one line of progress.
type Report struct {
	At      time.Time
	Session string
	What    string
	Text    message.Reason
	// Decision is set where the policy decided something.
	Decision *compact.Decision
	// Output is what the agent said, in a run that we drive.
	Output string
}

// announce reports what is about no session.
func (o *Options) announce(what string, t message.Text, args ...any) {
	o.Report(Report{At: o.Now(), What: what, Text: message.Because(t, args...)})
}

// connecting has a server listened to, again and again: listen calls connected, and its
// error says why it has ended. What keeps us waiting is told once, as why puts it; false
// ends the watch.
func (o *Options) connecting(
	ctx context.Context, at string, listen func(connected func()) error, why func(error) (message.Reason, bool),
) error {
	pause, waiting := backOff(200*time.Millisecond, 10*time.Second), ""
	for {
		err := listen(func() {
			pause.Reset()
			waiting = ""
			o.announce("connected", message.WatchConnected, at)
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		reason, again := why(err)
		if !again {
			return err
		}
		if text := reason.In(o.Words); text != waiting {
			waiting = text
			o.Report(Report{At: o.Now(), What: "waiting", Text: reason})
		}
		if err := sleep(ctx, pause.NextBackOff()); err != nil {
			return err
		}
	}
}

// conversation is what a driver knows about one session, and its place on disk.
// Its thread is on disk whenever something has happened, as hooks may feed it
// too; a dry run keeps it to itself.
type conversation struct {
	id     string
	opts   Options
	sess   *store.Session
	own    session.Watched
	thread compact.Thread
	// told waits for the first sign of life: a thread that is only loaded leaves
	// no trace on disk.
	told []host.Event
	// release gives the lease back; nil without one.
	release func()
	problem string // what was last wrong with the disk

	settings compact.Settings
	decision compact.Decision
	// finished says that the last turn ended with nothing to go on with. The thread forgets
	// what the agent said with the compaction that follows.
	finished bool
	// handover is what the packet was written from, read how much of the
	// session's file was read for it.
	handover handover.Handover
	read     int64
	// waiting is the packet as it is when it opens no turn, where the other one was
	// written to open one.
	waiting string
	// before and after are the context's size around the last compaction.
	before, after int64
	// still is the newest moment of which we know that no command of the turn
	// was running.
	still time.Time
	// fails counts compactions that came to nothing in a row, until is when the
	// next one may be tried.
	fails int
	until time.Time
	// more is what else the thread works towards, and on; pursues says that the host opens
	// the next turn for it.
	more    func() (goal string, steps []string)
	pursues func() bool
	// busy says that a goal or an agent of the thread goes on between its turns.
	busy func() bool
}

// failed makes the next attempt wait: a compaction that fails reads the whole
// context, and will hardly work a turn later.
func (s *conversation) failed(r reason) {
	switch r {
	case reasonFailed, reasonRefused, reasonInterrupted, reasonNotStarted:
		s.until = s.opts.Now().Add(min(5*time.Minute<<min(s.fails, 4), time.Hour))
		s.fails++
	}
}

// rests says that it is too early after a failure.
func (s *conversation) rests() bool { return s.opts.Now().Before(s.until) }

func newConversation(id string, name host.Name, cwd string, o Options) (*conversation, error) {
	sess, err := o.Home.Session(id)
	if err != nil {
		return nil, err
	}
	s := &conversation{id: id, opts: o, sess: sess, settings: o.Settings()}
	if s.own, s.thread, err = session.ReadWatched(sess); err != nil {
		return nil, err
	}
	s.own.Host, s.own.Cwd = name, cwd
	return s, nil
}

func (s *conversation) report(what string, t message.Text, args ...any) {
	s.opts.Report(Report{At: s.opts.Now(), Session: s.id, What: what, Text: message.Because(t, args...)})
}

// noRoute says that a prompt which asks for a workflow starts none: the agent that a
// watcher drives runs without our hooks.
func (s *conversation) noRoute(prompt string) {
	if name, asked := workflow.Asked(prompt); asked {
		s.report("warning", message.WatchNoRoute, name)
	}
}

// output reports what an agent said that we drive.
func (s *conversation) output(text string) {
	s.opts.Report(Report{At: s.opts.Now(), Session: s.id, What: "output", Output: text})
}

// storeProblem tells what is wrong with the disk, once.
func (s *conversation) storeProblem(err error) {
	if err == nil {
		s.problem = ""
		return
	}
	if text := err.Error(); text != s.problem {
		s.problem = text
		s.report("warning", message.WatchStoreProblem, text)
	}
}

// observe takes what happened in the conversation.
//
// Hosts tell of a short command when it is over, so looking at the repository
// when a command "starts" comes too late. What it did lies between the end of
// what was before it and its own end.
func (s *conversation) observe(e host.Event) {
	c, ended := e.(host.CommandFinished)
	if ended {
		c.Cwd = cmp.Or(c.Cwd, s.own.Cwd)
		c.Home, c.Started = s.opts.UserHome, s.still
		c.Head, c.Aliases = shellcmd.ReadHead, shellcmd.UserAliases(c.Cwd, s.opts.UserHome, s.opts.Getenv)
	}
	s.change(func(t *compact.Thread) {
		if ended {
			e = t.Judge(c)
		}
		*t = t.Apply(e, s.settings)
	})
}

// hear takes what was told about the conversation while nothing happens in it.
func (s *conversation) hear(e host.Event) {
	s.thread = s.thread.Apply(e, s.settings)
	s.told = append(s.told, e)
}

// catchUp brings a thread from disk to what was told meanwhile.
func (s *conversation) catchUp(t *compact.Thread) {
	for _, e := range s.told {
		*t = t.Apply(e, s.settings)
	}
}

// change changes the thread. A disk that fails must not make us deaf.
func (s *conversation) change(f func(*compact.Thread)) {
	if s.opts.DryRun {
		f(&s.thread)
		return
	}
	t, err := session.UpdateThread(s.sess, func(t *compact.Thread) {
		s.catchUp(t)
		f(t)
	})
	if err == nil {
		s.thread, s.told = t, nil
	} else {
		f(&s.thread)
	}
	s.storeProblem(err)
}

// update changes the thread and what watchers remember beside it; the events go
// to the timeline. The delivery on disk may be another watcher's.
func (s *conversation) update(loose bool, f func(*session.Watched, *compact.Thread) []store.Event) error {
	if s.opts.DryRun {
		f(&s.own, &s.thread)
		return nil
	}
	w, t, err := session.UpdateWatched(s.sess, loose, func(w *session.Watched, t *compact.Thread) []store.Event {
		w.Host, w.Cwd = s.own.Host, s.own.Cwd
		s.catchUp(t)
		return f(w, t)
	})
	if err == nil {
		s.own, s.thread, s.told = w, t, nil
	}
	s.storeProblem(err)
	return err
}

func (s *conversation) emit(events ...store.Event) {
	if !s.opts.DryRun && len(events) > 0 {
		s.storeProblem(s.sess.Update(func(tx *store.Tx) error { return tx.Emit(events...) }))
	}
}

// passed notes that everything up to at is over.
func (s *conversation) passed(at time.Time) {
	if at.After(s.still) {
		s.still = at
	}
}

// turnStarted reads the settings, because the markers in them judge what the
// agent will say.
func (s *conversation) turnStarted(id string) {
	s.settings = s.opts.Settings()
	s.observe(host.TurnStarted{ID: id})
}

// turnEnded decides. It is true when the policy wants to compact and we may. Queued says
// that a message of the user's waits: then the end of the turn is no boundary.
func (s *conversation) turnEnded(queued bool) bool {
	s.settings = s.opts.Settings()
	queued = queued || s.runsOn()
	var (
		d    compact.Decision
		tell bool
	)
	_ = s.update(false, func(_ *session.Watched, t *compact.Thread) (events []store.Event) {
		*t = t.Apply(host.TurnEnded{}, s.settings)
		d, events = session.DecideWatched(t, s.opts.Now(), s.settings, t.Over() && !queued, s.opts.Lang)
		if *t, tell = t.Tell(d, s.settings); tell {
			events = append(events, store.On(message.EventCompactSuggested, "tier", d.Tier,
				"percentRemaining", d.PercentRemaining, "met", d.Met))
		}
		return events
	})
	if tell {
		s.report("suggest", message.WatchSuggest, d.Reason.In(s.opts.Words))
	}
	s.opts.Report(Report{
		At: s.opts.Now(), Session: s.id, What: "decision", Decision: &d,
		Text: message.Because(message.WatchDecision, string(d.Verdict), d.Reason.In(s.opts.Words)),
	})
	s.decision, s.finished = d, s.thread.Unfinished() == ""
	act := d.Verdict == compact.DoCompact && !s.opts.DryRun
	if act && s.rests() {
		s.held(reasonRests)
		return false
	}
	return act
}

// held tells why a boundary was let pass.
func (s *conversation) held(r reason) {
	s.report("held", message.WatchHeld, reasonText(r).In(s.opts.Words))
	s.emit(store.On(message.EventCompactDecision, "verdict", "held", "reason", string(r)))
}

// compacted counts a compaction once, however many watchers and hooks see it.
// Name is the host's name for it, mine says that this watcher asked for it.
func (s *conversation) compacted(name string, mine bool) {
	_ = s.update(false, func(w *session.Watched, t *compact.Thread) []store.Event {
		if name != "" && t.Compaction == name {
			return nil
		}
		mine = mine || name != "" && w.Delivery.Receipt.Compaction == name
		*t = t.Apply(host.Compacted{ID: name, At: s.opts.Now(), Before: s.before, After: s.after, Ours: mine}, s.settings)
		return []store.Event{store.On(message.EventCompactExecuted, "before", s.before, "after", s.after, "foreign", !mine)}
	})
}

func (s *conversation) lang() message.Lang {
	if own := s.thread.Words.Lang(); own != "" && !s.opts.Chosen {
		return own
	}
	return s.opts.Lang
}

func (s *conversation) facts() handover.Facts {
	goal, steps := "", []string(nil)
	if s.more != nil {
		goal, steps = s.more()
	}
	f := handover.FactsOf(s.thread, s.id, s.own.Packets+1, s.opts.Now(), append(s.tasks(), steps...)...)
	f.Decision, f.Goal = s.decision, goal
	f.Pursues = s.pursues != nil && s.pursues()
	return f
}

// tasks are the open ones of the project's task list.
func (s *conversation) tasks() []string {
	if s.own.Cwd == "" {
		return nil
	}
	f, _, _ := prompt.ActiveFeature(s.own.Cwd, "") // a list that cannot be read has none
	return f.Unchecked
}

// author writes the packet, or has the agent asked for it in a turn of its own, which
// counts as ours.
func (s *conversation) author(ask func(prompt string) (string, error)) (compact.Packet, error) {
	hold, text := s.holds(), ""
	if compact.AgentPackets(s.settings) {
		s.report("author", message.WatchAgentPacket)
		var err error
		if text, err = ask(s.settings.Prompt); err != nil {
			return compact.Packet{}, err
		}
		if strings.TrimSpace(text) == "" {
			s.report("warning", message.WatchAgentSilent, "no text")
		}
	}
	return s.packet(text, hold), nil
}

// packet writes the watcher's own packet, or takes the agent's text. Hold says that it
// opens no turn.
func (s *conversation) packet(agent string, hold bool) compact.Packet {
	s.handover, s.waiting = handover.Handover{}, ""
	f := s.facts()
	h, ok := s.readPast(f)
	write := func(hold bool) compact.Packet {
		f.Opens, h.Opens = !hold, !hold
		p, adopted := handover.Adopt(agent, f, s.settings, s.lang())
		if !adopted {
			p = handover.Write(f, s.settings, s.lang())
		}
		if !adopted && ok {
			s.handover = h
			p.Text, p.Basis = h.Text(), compact.BasisSlice
		}
		p.Wait = hold
		return p
	}
	if !hold {
		s.waiting = write(true).Text
	}
	return write(hold)
}

// holds says that the packet opens no turn, where it could be what opens one.
func (s *conversation) holds() bool {
	switch s.settings.Resume {
	case compact.ResumeAlways:
		return s.refuses() || s.atTurnEnd()
	case compact.ResumeNever:
		return true
	}
	return s.openWork() == ""
}

// refuses reports that a tool asks, or that the turn was interrupted.
func (s *conversation) refuses() bool {
	state, _ := s.thread.Words.State(false)
	return state.Refuses()
}

// atTurnEnd reports that nothing but the end of the turn has led to the compaction. That
// opens no turn.
func (s *conversation) atTurnEnd() bool {
	return slices.Equal(s.decision.Met, []compact.Boundary{compact.TurnEnd})
}

// runsOn reports whether something goes on though the turn is over: a stage, a goal, or
// an agent.
func (s *conversation) runsOn() bool {
	w, _ := session.Peek(s.sess) // one that cannot be read does not go on
	m := session.Read(s.sess)
	return m.RunsOn(w) || s.own.Goal != nil || s.busy != nil && s.busy()
}

// openWork is what there is to carry on with without a word of the user's: a stage of our
// workflow that does not rest, or, where nobody sits before the run, what was asked for.
func (s *conversation) openWork() string {
	w, err := session.Peek(s.sess)
	m := session.Read(s.sess)
	switch {
	case s.refuses(), s.atTurnEnd():
		return ""
	// Where the hooks have let the workflow go, the next word is the user's.
	case err == nil && w != nil && w.Active && !m.Loop.LetGo && !m.Loop.Rests:
		return workflow.NextStep(w, s.lang())
	case s.opts.Unattended && !s.finished:
		return s.thread.Unfinished()
	}
	return ""
}

// readPast reads the slice that is about to be compacted, while there is time:
// afterwards the packet must be out before anybody else speaks.
func (s *conversation) readPast(f handover.Facts) (handover.Handover, bool) {
	path := s.thread.Transcript
	if path == "" {
		return handover.Handover{}, false
	}
	past, err := s.past(s.sess, session.SliceStart(path), s.thread.Words)
	if err != nil || past.Record.Empty() {
		return handover.Handover{}, false
	}
	s.read = session.FileSize(path)
	h := handover.Handover{
		ID: compact.PacketID(f.Session, f.Ordinal), Session: s.id, Record: past.Record, Lang: s.lang(),
		Work: handover.WorkOf(s.thread, past.Record, s.tasks()...), Pursues: f.Pursues,
	}
	if f.Ordinal > 1 {
		h.Replaces = compact.PacketID(f.Session, f.Ordinal-1)
	}
	if s.own.Cwd != "" {
		h.Work.Tree = session.AskTree(s.own.Cwd, past.Record.Began(), s.opts.Getenv)
	}
	return h, true
}

// past reads the session's file from a place on.
func (s *conversation) past(sess *store.Session, from int64, heard compact.Words) (session.Past, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return session.ReadPast(ctx, sess, s.thread.Transcript, s.own.Cwd, session.Attempt{From: from}, heard)
}

// rewritten is the packet in the knowledge of what the compaction has left; "" where
// that is not there.
func (s *conversation) rewritten() (string, compact.Basis) {
	h := s.handover
	if h.Record == nil {
		return "", ""
	}
	past, err := s.past(nil, s.read, compact.Words{}) // only what was written since: the slice itself is known
	if err != nil || !past.Written {
		return "", ""
	}
	h.Summary, h.Kept = past.Summary, past.Kept
	if h.Summary == "" {
		return h.Text(), compact.BasisSlice
	}
	return h.Text(), compact.BasisSummary
}

// saveDelivery writes a delivery down; the packet's number is used up with it.
func (s *conversation) saveDelivery(r session.Delivery, loose bool, events ...store.Event) error {
	return s.update(loose, func(w *session.Watched, _ *compact.Thread) []store.Event {
		if w.Delivery.Receipt.ID != r.Receipt.ID {
			w.Packets++
		}
		w.Delivery = r
		return events
	})
}

// lease claims the session; it is no error to have it already.
func (s *conversation) lease() (bool, error) {
	if s.release != nil {
		return true, nil
	}
	release, ok, err := s.sess.TryLease(store.WatchLease)
	if !ok || err != nil {
		return false, err
	}
	// A watcher with another home knows nothing of the lease.
	unclaim, ok := store.Claim(s.thread.Transcript)
	if !ok {
		release()
		return false, nil
	}
	s.release = func() { unclaim(); release() }
	return true, nil
}

// giveBack ends the lease.
func (s *conversation) giveBack() {
	if s.release != nil {
		s.release()
		s.release = nil
	}
}

// leaseDelivery claims the session and reads its last delivery.
func (s *conversation) leaseDelivery() (bool, session.Delivery) {
	ok, err := s.lease()
	if err == nil {
		name, cwd := s.own.Host, s.own.Cwd
		var w session.Watched
		if w, s.thread, err = session.ReadWatched(s.sess); err == nil {
			s.catchUp(&s.thread)
			s.own = w
			s.own.Host, s.own.Cwd = name, cwd
			return ok, w.Delivery
		}
	}
	s.storeProblem(err)
	s.giveBack()
	return false, session.Delivery{}
}

func reasonText(r reason) message.Text {
	texts := map[reason]message.Text{
		reasonBusy: message.WatchBusy, reasonQueued: message.WatchQueued, reasonReview: message.WatchReview, reasonOther: message.WatchOther,
		reasonUnknown: message.WatchNoAnswer, reasonDone: message.WatchDone, reasonRefused: message.WatchRefused, reasonFailed: message.WatchFailed,
		reasonInterrupted: message.WatchInterrupted, reasonSuperseded: message.WatchSuperseded, reasonExpired: message.WatchExpired,
		reasonNotStarted: message.WatchNotStarted, reasonRests: message.WatchRests, reasonDisk: message.WatchNotSaved,
	}
	return cmp.Or(texts[r], message.WatchNotAccepted)
}
