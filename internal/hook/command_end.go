package hook

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// How the end of a command is learned where the host does not wait for whoever reports
// it ([host.Host.EndsUnwaited]). Claude Code starts no process at all for a command that
// ended well, because to start one costs it more than all that we do; its reports of
// failures and edits may come late, twice or never. So nothing that must not be missed
// rests on them:
//
//   - Before a tool runs, a call that the host waits for ([call.beforeUnwaited])
//     remembers a command whose end can show a boundary, with the state of its
//     repositories.
//   - Before the next tool, at the end of the turn, before a compaction and with the
//     next prompt, [call.learnEnds] reads how that command ended from the session's file
//     and the repositories.
//   - A command that goes on in the background is remembered until the host's file says
//     that it is over ([call.learnBackgroundEnds]).
//
// What a late report still tells ([call.unwaitedEnd]) counts once, by the command's id,
// and for the turn that ran it ([observeAfterTurn]).

// unwaitedEnd takes what such a report tells. Nobody reads its output, so it says
// nothing.
func (c *call) unwaitedEnd() error {
	if c.in.Tool.RunsOn {
		return errQuiet // it has only begun
	}
	failed := c.event == "post-tool-use-failure"
	g, ok := session.Look(c.sess)
	if ok && !failed && c.in.Tool.Kind == host.ShellTool && !g.Failures && g.Worked &&
		!g.Started(c.in.Tool.ID) && g.Knows(c.in.Transcript, c.in.Model) {
		if compact.Shown(compact.Thread{Turn: g.Turn}.Judge(c.commandFinished())) == 0 {
			return errQuiet
		}
	}
	return c.update(func(tx *session.Tx) error {
		c.seeSession(tx)
		was := tx.Memory.Thread.Prompt
		another := c.in.PromptID != "" && was != "" && c.in.PromptID != was
		observeAfterTurn(tx, another, another || tx.Memory.Threads.Resting, func() { c.observeTool(tx) })
		if !failed {
			return nil
		}
		return c.tellFailure(tx)
	})
}

// observeAfterTurn lets the thread observe something that belongs to a turn which may be
// over. What the agent asked at the end of that turn stays open. If another turn runs
// by now, that one has neither worked nor reached a boundary because of the old one.
func observeAfterTurn(tx *session.Tx, another, over bool, observe func()) {
	t := &tx.Memory.Thread
	before := *t
	if observe(); !over {
		return
	}
	now := *t
	*t = before
	t.Started, t.Background, t.Ended, t.State.Slice = now.Started, now.Background, now.Ended, now.State.Slice
	if !another {
		t.State.Seen = now.State.Seen
	}
}

// beforeUnwaited runs before a tool of the main thread whose end is not waited for. It
// hands over what waits for the main thread, and remembers a command whose end will be
// asked for.
func (c *call) beforeUnwaited() (host.Reply, error) {
	var r host.Reply
	if c.late { // the tool has long begun, and much may have happened since
		return r, nil
	}
	g, ok := session.Look(c.sess)
	start, notable := c.starts(g)
	if ok && g.Worked && !g.Resting && !g.Waits && !g.Started("") && !notable {
		return r, nil
	}
	return r, c.update(func(tx *session.Tx) error {
		if g.Waits {
			if err := c.settle(tx, &r); err != nil {
				return err
			}
			c.collect(tx, &r)
		}
		c.learnEnds(tx, turnRuns)
		tx.Memory.Threads.Resting = false
		tx.Works()
		tx.Observe(host.ToolActivity{}, compact.Settings{})
		if notable {
			tx.Observe(start, compact.Settings{})
		}
		return nil
	})
}

// starts is the command that is about to run, if its end may tell where the work
// stands: it may commit, has to do with a pull request, or has failed before.
func (c *call) starts(g session.Glance) (host.CommandStarted, bool) {
	tool := c.in.Tool
	if tool.Kind != host.ShellTool || tool.ID == "" {
		return host.CommandStarted{}, false
	}
	o := c.command()
	o.Before, o.Started = shellcmd.Snapshot(o), c.now
	start := host.CommandStarted{ID: tool.ID, Observation: o}
	if !compact.MayShow(o) && !g.Failed(tool.Command) {
		return start, false
	}
	if info, err := os.Stat(c.in.Transcript); err == nil {
		start.File = info.Size()
	}
	c.announce(o)
	return start, true
}

// announce tells other sessions in the same folder which commits are this one's.
func (c *call) announce(o shellcmd.Observation) {
	var list []store.Commit
	for _, a := range shellcmd.Asks(o) {
		list = append(list, store.Commit{
			Session: c.sess.ID(), Command: c.in.Tool.ID, GitDir: a.GitDir, Subject: redact.Clean(a.Subject), At: c.now,
		})
	}
	if len(list) > 0 {
		if err := c.home.Announce(list...); err != nil {
			c.complain("signals", err)
		}
	}
}

// announced is how long a command may take from its beginning to its commit.
const announced = 10 * time.Minute

// taken reports whether another session has announced a commit.
func (c *call) taken(gitDir, subject string, at time.Time) bool {
	subject = redact.Clean(subject) // as it was announced
	return slices.ContainsFunc(c.home.Announced(gitDir), func(a store.Commit) bool {
		// Git's clock has whole seconds.
		return a.Session != c.sess.ID() && strings.Contains(subject, a.Subject) && a.At.Before(at.Add(time.Second)) && at.Sub(a.At) < announced
	})
}

// judged settles what a command has committed: each commit is one command's, of one
// session, and the first to claim it has it.
func (c *call) judged(t *compact.Thread, e host.CommandFinished) host.CommandFinished {
	e = t.Judge(e)
	v := &e.Made
	claim := store.Commit{Session: c.sess.ID(), Command: e.ID, At: c.now, Over: !e.Running}
	for _, m := range v.Commits {
		claim.Hashes = append(claim.Hashes, m.Hash)
	}
	if len(claim.Hashes) == 0 && (e.Running || len(t.Observed(e).Before) == 0) {
		return e // it had nothing to commit to
	}
	mine, err := c.home.Claim(claim)
	if err != nil {
		c.complain("signals", err)
	}
	if len(mine) < len(claim.Hashes) {
		v.Commits = slices.DeleteFunc(slices.Clone(v.Commits), func(m shellcmd.Made) bool { return !slices.Contains(mine, m.Hash) })
		v.Committed = len(v.Commits) > 0
	}
	return e
}

// moment is where a turn stands when the ends of its commands are asked for.
type moment int

const (
	turnRuns   moment = iota // other commands may still run
	turnOver                 // none runs any more: the turn has ended, or waits for a compaction
	turnBegins               // another turn begins
)

// awaitFile gives a host that writes its file a little late the time to write down how
// the turn's commands ended. It comes before the session's lock is taken: nobody sleeps
// while others wait for that.
func (c *call) awaitFile() {
	if c.host.CommandEnd == nil || c.late || !session.MayAwait(c.sess) {
		return
	}
	m := session.Read(c.sess)
	file := cmp.Or(c.in.Transcript, m.Thread.Transcript)
	for range lagTries {
		missing := false
		for id, s := range m.Thread.Started {
			if s.Line != "" && !s.PromptSince {
				_, ok := transcript.AnswerOf(file, id, s.File)
				missing = missing || !ok
			}
		}
		if !missing {
			return
		}
		time.Sleep(lagWait)
	}
}

// learnEnds takes the ends of commands that nobody has told yet, as the session's
// file tells them. Where it does not, though none runs any more, the repository may.
func (c *call) learnEnds(tx *session.Tx, at moment) {
	if c.host.CommandEnd == nil {
		return
	}
	t := &tx.Memory.Thread
	for _, id := range slices.Sorted(maps.Keys(t.Started)) {
		s := t.Started[id]
		end, task, told := c.ended(tx, id, s)
		switch {
		case s.Line == "" && at == turnBegins:
			*t = t.Forget(id)
		case s.Line == "":
		case task != "":
			*t = t.MovedToBackground(id, s, task)
		case told:
			late := s.PromptSince && !end.Until.After(t.Turn)
			observeAfterTurn(tx, late, late, func() { tx.Observe(c.judged(t, end), compact.Settings{}) })
		case at == turnOver && !s.PromptSince:
			if e := c.judged(t, end); e.Made.Committed {
				tx.Observe(e, compact.Settings{})
			}
		case at == turnBegins:
			*t = t.SeenByPrompt(id)
		}
	}
}

// learnBackgroundEnds takes the ends of commands that went on in the background. The
// host's file tells them. At the end of a turn the host lists what still runs: a command
// that is not on the list was stopped. What a command has committed so far counts at
// the end of this turn, not when the command itself ends. gone says that the host runs
// in a new process, in which none of them runs any more.
func (c *call) learnBackgroundEnds(tx *session.Tx, gone bool) {
	t := &tx.Memory.Thread
	file := cmp.Or(c.in.Transcript, t.Transcript)
	for _, id := range slices.Sorted(maps.Keys(t.Background)) {
		s := t.Background[id]
		note, at, read := transcript.NoteOf(file, id, s.File)
		if note == "" && c.in.Note && transcript.IsNoteOf(c.in.Prompt, id) {
			note, at = c.in.Prompt, c.now // the file does not have it yet
		}
		end := c.finished(id, s)
		end.Running = note == "" && !gone && (!c.in.Lists || slices.Contains(c.in.Shells, s.Task))
		switch {
		case note != "":
			end.Output, end.Exit = c.host.BackgroundEnd(note)
			end.Ended, end.Until = at, at
		case end.Running || gone:
			end.Unheard = true
		}
		if end = c.judged(t, end); end.Running && !end.Made.Committed {
			if s.File != read {
				s.File = read
				*t = t.MovedToBackground(id, s, s.Task)
			}
			continue
		}
		// The turn has not worked by it, and what was asked is still open.
		observeAfterTurn(tx, false, true, func() { tx.Observe(end, compact.Settings{}) })
	}
}

// finished is a command as it was remembered, when it is over.
func (c *call) finished(id string, s compact.Command) host.CommandFinished {
	o := c.observed(s.Line, s.Cwd)
	o.Started, o.Ended = s.At, c.now
	return host.CommandFinished{ID: id, Observation: o}
}

// The host writes its file a little late.
const (
	lagWait  = 20 * time.Millisecond
	lagTries = 10
	lagTurn  = 25 // of a whole turn
)

// ended is how a command ended, by the session's file; task is its name where it runs on
// in the background.
func (c *call) ended(tx *session.Tx, id string, s compact.Command) (end host.CommandFinished, task string, ok bool) {
	file := cmp.Or(c.in.Transcript, tx.Memory.Thread.Transcript)
	a, ok := transcript.AnswerOf(file, id, s.File)
	end = c.finished(id, s)
	if end.Unheard = !ok; ok {
		task = c.host.BackgroundTask(a.Result)
		end.Output, end.Exit = c.host.CommandEnd(a.Text, a.Failed, a.Result)
		end.Unheard = a.Failed && end.Exit == nil // it was refused, or broken off
		if !a.At.IsZero() {
			end.Ended, end.Until = a.At, a.At
		}
	}
	return end, task, ok
}
