package watch

import (
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
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
	Lang     message.Lang // of packets
	Words    message.Lang // of reports
	Waits    Waits
	// DryRun only decides and reports.
	DryRun bool
	// Once ends the watch after the first compaction, whatever came of it.
	Once   bool
	Now    func() time.Time
	Report func(Report)
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

// session is what a driver knows about one conversation, and its file.
type session struct {
	id   string
	opts Options
	file sessionFile
	mem  memory

	settings compact.Settings
	decision compact.Decision
	// before is the usage when a compaction began.
	before compact.Usage
	// quiet is the newest moment of which we know that no command of the turn
	// was running.
	quiet time.Time
}

func newSession(id string, name host.Name, cwd string, o Options) (*session, error) {
	sess, err := o.Home.Session(id)
	if err != nil {
		return nil, err
	}
	s := &session{id: id, opts: o, file: sessionFile{sess: sess, dry: o.DryRun}, settings: o.Settings()}
	if s.mem, err = s.file.load(); err != nil {
		return nil, err
	}
	s.mem.Host, s.mem.Cwd = name, cwd
	return s, nil
}

func (s *session) report(what string, t message.Text, args ...any) {
	s.opts.Report(Report{At: s.opts.Now(), Session: s.id, What: what, Text: message.Because(t, args...)})
}

// output reports what an agent said that we drive.
func (s *session) output(text string) {
	s.opts.Report(Report{At: s.opts.Now(), Session: s.id, What: "output", Output: text})
}

// observe takes what happened in the conversation.
//
// Hosts tell of a short command when it is over, so looking at the repository
// when a command "starts" comes too late. What it did lies between the end of
// what was before it and its own end.
func (s *session) observe(e host.Event) {
	if c, ok := e.(host.CommandFinished); ok {
		if c.Cwd == "" {
			c.Cwd = s.mem.Cwd
		}
		c.Home, c.Started = s.opts.UserHome, s.quiet
		c.Head, c.Aliases = shellcmd.ReadHead, shellcmd.UserAliases(c.Cwd, s.opts.UserHome, s.opts.Getenv)
		e = c
	}
	s.mem.Thread = s.mem.Apply(e, s.settings)
}

// passed notes that everything up to at is over.
func (s *session) passed(at time.Time) {
	if at.After(s.quiet) {
		s.quiet = at
	}
}

// turnStarted reads the settings, because the markers in them judge what the
// agent will say.
func (s *session) turnStarted(id string) {
	s.settings = s.opts.Settings()
	s.observe(host.TurnStarted{ID: id})
}

// turnEnded decides. It is true when the policy wants to compact and we may.
func (s *session) turnEnded() bool {
	s.settings = s.opts.Settings()
	s.observe(host.TurnEnded{})
	d := s.mem.Decide(s.opts.Now(), s.settings)
	var events []store.Event
	if !d.Same(s.decision) {
		events = append(events, store.On(message.EventCompactDecision, "verdict", d.Verdict, "tier", d.Tier,
			"percentRemaining", d.PercentRemaining, "signals", d.Signals, "reason", d.Reason.In(message.EN)))
	}
	if d.Verdict == compact.DoSuggest {
		events = append(events, store.On(message.EventCompactSuggested, "tier", d.Tier,
			"percentRemaining", d.PercentRemaining, "met", d.Met))
		s.report("suggest", message.WatchSuggest, d.Reason.In(s.opts.Words))
	}
	s.opts.Report(Report{
		At: s.opts.Now(), Session: s.id, What: "decision", Decision: &d,
		Text: message.Because(message.WatchDecision, string(d.Verdict), d.Reason.In(s.opts.Words)),
	})
	s.decision = d
	s.save(events...)
	// A turn that our packet opened must not lead to the next packet, not
	// even in an emergency: nobody would be in between.
	return d.Verdict == compact.DoCompact && !s.mem.State.Synthetic && !s.opts.DryRun
}

// save writes down what was seen. The record on disk may be another watcher's
// and stays as it is.
func (s *session) save(events ...store.Event) {
	_, err := s.file.update(func(m *memory) {
		m.Host, m.Cwd = s.mem.Host, s.mem.Cwd
		history, compaction := m.History, m.Compaction
		m.Thread = s.mem.Thread
		m.History, m.Compaction = history, compaction
	}, events...)
	s.storeProblem(err)
}

// held tells why a boundary was let pass.
func (s *session) held(r reason) {
	s.report("held", message.WatchHeld, reasonText(r).In(s.opts.Words))
	s.storeProblem(s.file.emit(store.On(message.EventCompactDecision, "verdict", "held", "reason", string(r))))
}

func (s *session) storeProblem(err error) {
	if err != nil {
		s.report("warning", message.WatchStoreProblem, err.Error())
	}
}

// compacted counts a compaction once, however many watchers see it. Name is the
// host's name for it, after its result or -1, mine says that this watcher asked
// for it.
func (s *session) compacted(name string, after int64, mine bool) {
	counted := false
	m, err := s.file.update(func(m *memory) {
		counted = name == "" || m.Compaction != name
		mine = mine || name != "" && m.Record.Receipt.Compaction == name
		s.mem.History, s.mem.Compaction = m.History, m.Compaction
		e := host.Compacted{ID: name, At: s.opts.Now(), Before: s.before.Used, After: after, Ours: mine}
		if !counted {
			// Another watcher was first; the work since is in its thread.
			s.mem.State = m.State
			return
		}
		s.observe(e)
		m.Thread = s.mem.Thread
	})
	if err != nil {
		s.storeProblem(err)
		return
	}
	s.mem.Compaction, s.mem.History = m.Compaction, m.History
	if counted {
		s.storeProblem(s.file.emit(store.On(message.EventCompactExecuted, "before", s.before.Used, "after", after, "foreign", !mine)))
	}
}

// facts are what a packet is written from.
func (s *session) facts() compact.Facts {
	f := s.mem.Facts(s.id, s.mem.Packets+1, s.opts.Now(), s.tasks()...)
	f.Decision = s.decision
	return f
}

// tasks are the open ones of the project's task list.
func (s *session) tasks() []string {
	if s.mem.Cwd == "" {
		return nil
	}
	f, ok, err := prompt.ActiveFeature(s.mem.Cwd, "")
	if err != nil || !ok {
		return nil
	}
	return f.Unchecked
}

// packet writes the watcher's own packet, or takes the agent's text.
func (s *session) packet(agent string) compact.Packet {
	if agent != "" {
		if p, ok := compact.Adopt(agent, s.facts(), s.settings, s.opts.Lang); ok {
			return p
		}
	}
	return compact.Write(s.facts(), s.settings, s.opts.Lang)
}

// saveRecord writes a record down; the packet's number is used up with it.
func (s *session) saveRecord(r record, loose bool, events ...store.Event) error {
	m, err := s.file.write(loose, func(m *memory) {
		if m.Record.Receipt.ID != r.Receipt.ID {
			m.Packets++
		}
		m.Record = r
	}, events...)
	if err != nil {
		s.storeProblem(err)
		return err
	}
	s.mem.Record, s.mem.Packets = m.Record, m.Packets
	return nil
}

// leaseRecord claims the session and reads the last record.
func (s *session) leaseRecord() (bool, record) {
	ok, err := s.file.lease()
	if err == nil {
		var m memory
		if m, err = s.file.load(); err == nil {
			s.mem.Record, s.mem.Packets = m.Record, m.Packets
			s.mem.Compaction, s.mem.History = m.Compaction, m.History
			return ok, m.Record
		}
	}
	s.storeProblem(err)
	s.file.release()
	return false, record{}
}

// reasonText is the text for a reason.
func reasonText(r reason) message.Text {
	switch r {
	case reasonBusy:
		return message.WatchBusy
	case reasonQueued:
		return message.WatchQueued
	case reasonReview:
		return message.WatchReview
	case reasonOther:
		return message.WatchOther
	case reasonUnknown:
		return message.WatchNoAnswer
	case reasonDone:
		return message.WatchDone
	case reasonRefused:
		return message.WatchRefused
	case reasonFailed:
		return message.WatchFailed
	case reasonInterrupted:
		return message.WatchInterrupted
	case reasonSuperseded:
		return message.WatchSuperseded
	case reasonExpired:
		return message.WatchExpired
	case reasonNotStarted:
		return message.WatchNotStarted
	case reasonDisk:
		return message.WatchNotSaved
	}
	return message.WatchNotAccepted
}
