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

// Where a host waits for no process at the end of a command or an edit, it starts
// none for a command that ended well: to start one costs it more than all that we
// do. Whatever must not be missed rests on calls that are waited for:
//
//   - before a tool: that the turn works, which command may commit or publish, and
//     what waits for the main thread ([call.begin]);
//   - before the next tool, at the end of a turn, before a compaction and with the
//     next prompt: how such a command ended, from the session's file and the
//     repository ([call.endCommands]); how one ended that ran on in the background,
//     at all of these but the first ([call.endBehind]).
//
// Failures and edits are told by processes that nobody waits for, late, twice or
// never; so are commands where an older plugin is installed. What they tell counts
// once, by the command's id, and for the turn that ran it.

// record takes what the end of a tool tells, and says nothing.
func (c *call) record() error {
	if c.in.Tool.Behind {
		return errQuiet // it has only begun
	}
	failed := c.event == "post-tool-use-failure"
	g, ok := session.Look(c.sess)
	if ok && !failed && c.in.Tool.Kind == host.ShellTool && !g.Failures && g.Worked && !g.Started(c.in.Tool.ID) && g.Knows(c.in.Transcript, c.in.Model) {
		if compact.Shown(compact.Thread{Turn: g.Turn}.Judge(c.commandFinished())) == 0 {
			return errQuiet
		}
	}
	return c.update(func(tx *session.Tx) error {
		c.seeSession(tx)
		was := tx.Memory.Thread.Prompt
		another := c.in.PromptID != "" && was != "" && c.in.PromptID != was
		observeLate(tx, another, another || tx.Memory.Threads.Resting, func() { c.observeTool(tx) })
		if !failed {
			return nil
		}
		return c.tellFailure(tx)
	})
}

// observeLate takes what is told when its turn may be over, or another's: what the
// agent asked at its end is still open, and a new turn has not worked, or reached
// anything, because an old one had.
func observeLate(tx *session.Tx, another, over bool, observe func()) {
	t := &tx.Memory.Thread
	before := *t
	if observe(); !over {
		return
	}
	now := *t
	*t = before
	t.Started, t.Behind, t.Ended, t.State.Slice = now.Started, now.Behind, now.Ended, now.State.Slice
	if !another {
		t.State.Seen = now.State.Seen
	}
}

// begin runs before a tool of the main thread whose end is told aside: it hands
// over what waits, and remembers what the end alone cannot be trusted with.
func (c *call) begin() (host.Reply, error) {
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
		c.endCommands(tx, beside)
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
		subject, _ := redact.Text(a.Subject)
		list = append(list, store.Commit{Session: c.sess.ID(), Command: c.in.Tool.ID, GitDir: a.GitDir, Subject: subject, At: c.now})
	}
	if len(list) == 0 {
		return
	}
	if err := c.home.Announce(list...); err != nil {
		c.complain("signals", err)
	}
}

// announced is how long a command may take from its beginning to its commit.
const announced = 10 * time.Minute

// taken reports whether another session has announced a commit.
func (c *call) taken(gitDir, subject string, at time.Time) bool {
	subject, _ = redact.Text(subject) // as it was announced
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
	beside moment = iota // others may still run
	ended                // none runs any more: the turn is over, or waits for a compaction
	next                 // another turn begins
)

// awaitEnds gives a host that writes its file a little late the time to write down how
// the turn's commands ended. It comes before the session's lock is taken: nobody sleeps
// while others wait for that.
func (c *call) awaitEnds() {
	if c.host.CommandEnd == nil || c.late {
		return
	}
	m, err := session.Read(c.sess)
	if err != nil {
		return
	}
	file := cmp.Or(c.in.Transcript, m.Thread.Transcript)
	for range lagTries {
		missing := false
		for id, s := range m.Thread.Started {
			if s.Line != "" && !s.Stale {
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

// endCommands takes the ends of commands that nobody has told yet, as the session's
// file tells them. Where it does not, though none runs any more, the repository may.
func (c *call) endCommands(tx *session.Tx, at moment) {
	if c.host.CommandEnd == nil {
		return
	}
	t := &tx.Memory.Thread
	for _, id := range slices.Sorted(maps.Keys(t.Started)) {
		s := t.Started[id]
		end, task, told := c.ended(tx, id, s)
		switch {
		case s.Line == "" && at == next:
			*t = t.Forget(id)
		case s.Line == "":
		case task != "":
			*t = t.Backgrounded(id, s, task)
		case told:
			late := s.Stale && !end.Until.After(t.Turn)
			observeLate(tx, late, late, func() { tx.Observe(c.judged(t, end), compact.Settings{}) })
		case at == ended && !s.Stale:
			if e := c.judged(t, end); e.Made.Committed {
				tx.Observe(e, compact.Settings{})
			}
		case at == next:
			*t = t.Outlived(id)
		}
	}
}

// endBehind takes the ends of commands that ran on in the background: the host's file
// tells them, and a list at the end of a turn what still runs; who is not on it was
// stopped. What one has committed so far counts when the turn ends, not when it does.
// In a new process of the host, gone says, none runs any more.
func (c *call) endBehind(tx *session.Tx, gone bool) {
	t := &tx.Memory.Thread
	file := cmp.Or(c.in.Transcript, t.Transcript)
	for _, id := range slices.Sorted(maps.Keys(t.Behind)) {
		s := t.Behind[id]
		note, at, read := transcript.NoteOf(file, id, s.File)
		if note == "" && c.in.Note && transcript.IsNoteOf(c.in.Prompt, id) {
			note, at = c.in.Prompt, c.now // the file does not have it yet
		}
		end := c.finished(id, s)
		end.Running = note == "" && !gone && (!c.in.Lists || slices.Contains(c.in.Shells, s.Task))
		switch {
		case note != "":
			end.Output, end.Exit = c.host.BehindEnd(note)
			end.Ended, end.Until = at, at
		case end.Running || gone:
			end.Unheard = true
		}
		if end = c.judged(t, end); end.Running && !end.Made.Committed {
			if s.File != read {
				s.File = read
				*t = t.Backgrounded(id, s, s.Task)
			}
			continue
		}
		// The turn has not worked by it, and what was asked is still open.
		observeLate(tx, false, true, func() { tx.Observe(end, compact.Settings{}) })
	}
}

// finished is a command as it was remembered, when it is over.
func (c *call) finished(id string, s compact.Command) host.CommandFinished {
	home := c.env.Getenv("HOME")
	return host.CommandFinished{ID: id, Observation: shellcmd.Observation{
		Line: s.Line, Cwd: s.Cwd, Home: home, Head: shellcmd.ReadHead, Aliases: shellcmd.UserAliases(s.Cwd, home, c.env.Getenv),
		Started: s.At, Ended: c.now, Taken: c.taken,
	}}
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
		task = c.host.CommandBehind(a.Result)
		end.Output, end.Exit = c.host.CommandEnd(a.Text, a.Failed, a.Result)
		end.Unheard = a.Failed && end.Exit == nil // it was refused, or broken off
		if !a.At.IsZero() {
			end.Ended, end.Until = a.At, a.At
		}
	}
	return end, task, ok
}
