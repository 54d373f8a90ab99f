package hook

import (
	"maps"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Where a host waits for no process at the end of a command or an edit, that
// process only records, and whatever must not be missed rests on calls that are
// waited for:
//
//   - before a tool: that the turn works, which command may commit or publish, and
//     what waits for the main thread ([call.begin]);
//   - at the end of a turn, before a compaction and with the next prompt: how such
//     a command ended, from the session's file and the repository, if its own
//     process has not told yet ([call.endCommands]).
//
// So the end of a command may be told late, twice or never. What it told counts
// once, by the command's id, and for the turn that ran it.

// record takes what the end of a tool tells, and says nothing.
func (c *call) record() error {
	failed := c.event == "post-tool-use-failure"
	g, ok := session.Look(c.sess)
	if ok && !failed && c.in.Tool.Kind == host.ShellTool && !g.Failures && g.Worked && !g.Started(c.in.Tool.ID) && g.Knows(c.in.Transcript, c.in.Model) {
		o := compact.Thread{Turn: g.Turn}.Observed(c.commandFinished())
		if !shellcmd.Checkpointed(o) && !shellcmd.Committed(o).Committed {
			return errQuiet
		}
	}
	return c.update(func(tx *session.Tx) error {
		c.seeSession(tx)
		t := &tx.Memory.Thread
		before := *t
		c.observeTool(tx)
		another := c.in.PromptID != "" && before.Prompt != "" && c.in.PromptID != before.Prompt
		if another || tx.Memory.Threads.Resting {
			// The turn is over. What the agent asked at its end is still open, and a
			// new turn has not worked because an old one had.
			now := *t
			*t = before
			t.Started, t.Ended, t.State.Slice = now.Started, now.Ended, now.State.Slice
			if !another {
				t.State.Seen = now.State.Seen
			}
		}
		if !failed {
			return nil
		}
		return c.tellFailure(tx)
	})
}

// begin runs before a tool of the main thread whose end is told aside: it hands
// over what waits, and remembers what the end alone cannot be trusted with.
func (c *call) begin() (host.Reply, error) {
	var r host.Reply
	if c.late { // the tool has long begun, and much may have happened since
		return r, nil
	}
	g, ok := session.Look(c.sess)
	start, notable := c.starts()
	if ok && g.Worked && !g.Resting && !g.Waits && !notable {
		return r, nil
	}
	return r, c.update(func(tx *session.Tx) error {
		if g.Waits {
			if err := c.settle(tx, &r); err != nil {
				return err
			}
			c.collect(tx, &r)
		}
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
// stands: it may commit, or has to do with a pull request.
func (c *call) starts() (host.CommandStarted, bool) {
	tool := c.in.Tool
	if tool.Kind != host.ShellTool || tool.ID == "" {
		return host.CommandStarted{}, false
	}
	o := c.command()
	o.Before, o.Started = shellcmd.Snapshot(o), c.now
	return host.CommandStarted{ID: tool.ID, Observation: o}, len(o.Before) > 0 || shellcmd.Publishes(tool.Command)
}

// endCommands takes the ends of commands that nobody has told yet. Before the turn
// is over one may still be told; with the next prompt, over says that none will.
func (c *call) endCommands(tx *session.Tx, over bool) {
	if c.host.CommandEnd == nil {
		return
	}
	t := &tx.Memory.Thread
	for _, id := range slices.Sorted(maps.Keys(t.Started)) {
		s := t.Started[id]
		end, told := c.ended(tx, id, s)
		switch {
		case s.Line != "" && (told || !over && shellcmd.Committed(t.Observed(end)).Committed):
			tx.Observe(end, compact.Settings{})
		case over:
			*t = t.Forget(id)
		}
	}
}

// The host writes its file a little late.
const (
	lagWait  = 20 * time.Millisecond
	lagTries = 10
	lagTurn  = 25 // of a whole turn
)

// ended is how a command ended, by the session's file.
func (c *call) ended(tx *session.Tx, id string, s compact.Command) (host.CommandFinished, bool) {
	file := tx.Memory.Thread.Transcript
	a, ok := transcript.AnswerOf(file, id)
	for n := 0; !ok && len(s.Marks) == 0 && n < lagTries && c.event == "stop"; n++ {
		time.Sleep(lagWait)
		a, ok = transcript.AnswerOf(file, id)
	}
	o := shellcmd.Observation{
		Line: s.Line, Cwd: s.Cwd, Home: c.env.Getenv("HOME"), Head: shellcmd.ReadHead,
		Aliases: shellcmd.UserAliases(s.Cwd, c.env.Getenv("HOME"), c.env.Getenv), Started: s.At, Ended: c.now,
	}
	if ok {
		o.Output, o.Exit = c.host.CommandEnd(a.Text, a.Failed, a.Result)
	}
	return host.CommandFinished{ID: id, Observation: o}, ok
}
