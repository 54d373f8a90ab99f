package hook

import (
	"slices"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// postToolUse is where the main model gets its routing from.
func (c *call) postToolUse() (host.Reply, error) {
	if !c.in.Main() {
		return host.Reply{}, errQuiet
	}
	id := c.in.Tool.Agent.ID
	switch kind := c.in.Tool.Kind; {
	case kind == host.AgentTool:
		return c.agentReturned()
	case kind == host.MessageTool && id == "":
		return c.flush(nil, false)
	case kind == host.MessageTool: // a finished agent was woken by a message
		return c.applyAndFlush(workflow.Delegate{ID: c.in.Tool.ID, AgentID: id, Async: true, At: c.now})
	case kind == host.HaltTool:
		return c.applyAndFlush(workflow.Drop{AgentID: id})
	case kind == host.WaitTool:
		return c.agentsWaited()
	case c.host.EndsUnwaited(kind):
		return host.Reply{}, c.unwaitedEnd()
	case kind == host.ShellTool && c.idle():
		return host.Reply{}, errQuiet
	}
	return c.flush(func(tx *session.Tx) error {
		c.seeTool(tx)
		return nil
	}, c.in.Tool.Signals())
}

// idle reports whether a finished command changes nothing that is remembered and
// nothing waits for the main thread, as is usual.
func (c *call) idle() bool {
	g, ok := session.Look(c.sess)
	if !ok || !g.Idle(c.in.Transcript, c.in.Model) {
		return false
	}
	return compact.Shown(compact.Thread{Turn: g.Turn}.Judge(c.commandFinished())) == 0
}

// seeTool takes what a finished tool tells.
func (c *call) seeTool(tx *session.Tx) {
	c.seeSession(tx)
	tx.Works()
	c.observeTool(tx)
}

func (c *call) observeTool(tx *session.Tx) {
	if c.in.Tool.Kind == host.ShellTool {
		tx.Observe(c.judged(&tx.Memory.Thread, c.commandFinished()), compact.Settings{})
	}
	for _, e := range c.in.Tool.Done {
		tx.Observe(e, compact.Settings{})
	}
}

func (c *call) applyAndFlush(ev workflow.Event) (host.Reply, error) {
	return c.flush(func(tx *session.Tx) error {
		if !tx.Active() {
			return nil
		}
		_, err := tx.Apply(ev)
		return err
	}, true)
}

// agentsWaited takes what the host says of agents that were waited for: one that has
// died answers nobody, and its stage is to be done again.
func (c *call) agentsWaited() (host.Reply, error) {
	dead, alive := c.in.Tool.Agent.Dead, c.in.Tool.Agent.Alive
	return c.flush(func(tx *session.Tx) error {
		if !tx.Active() {
			return nil
		}
		if len(alive) > 0 {
			loopOf(tx).Waits++
		}
		for _, id := range dead {
			if !slices.Contains(atWork(tx.Workflow), id) {
				continue
			}
			if _, err := c.complete(tx, completion{AgentID: id, Died: true}); err != nil {
				return err
			}
		}
		return nil
	}, len(dead)+len(alive) > 0)
}

// agentReturned handles the return of the Agent tool: the launch of a background
// agent, or the end of one in the foreground. It comes after SubagentStop or
// instead of it; the engine counts the completion once.
func (c *call) agentReturned() (host.Reply, error) {
	s, err := session.Peek(c.sess)
	if err != nil {
		return host.Reply{}, err
	}
	if s == nil {
		return c.flush(nil, false)
	}
	id, ended := c.in.Tool.ID, c.in.Tool.Agent
	agent, agentID := ended.Type, ended.ID
	done := completion{ID: id, AgentID: agentID, Agent: agent, Text: ended.Text, HasText: true, Died: ended.Died}
	if ended.Launched {
		return c.applyAndFlush(workflow.Bind{ID: id, Agent: agent, AgentID: agentID, Async: true})
	}
	if !s.Follows(agent) {
		return c.flush(nil, false)
	}
	var r host.Reply
	err = c.update(func(tx *session.Tx) error {
		if tx.Workflow == nil {
			return nil
		}
		key := done.stage(tx.Workflow)
		if agentID != "" {
			if _, err := tx.Apply(workflow.Bind{ID: id, Agent: agent, AgentID: agentID}); err != nil {
				return err
			}
		}
		if _, err := c.complete(tx, done); err != nil {
			return err
		}
		if tx.Workflow.Quality(key) && !ended.Died {
			// The report stays out of the main agent's context.
			r.Answer = c.oneLine(tx, key, ended.Text)
		}
		c.collect(tx, &r)
		c.catchUp(tx, &r)
		return nil
	})
	return r, err
}

// oneLine is all the main agent is told of a report.
func (c *call) oneLine(tx *session.Tx, key, text string) string {
	verdict := message.NoVerdict.In(c.lang)
	if r, ok := workflow.ParseRoute(text); ok {
		verdict = workflow.ValidateRoute(r).Verdict
	}
	path := c.sess.ContextPath(key)
	if _, err := tx.ReadContext(path); err != nil {
		return message.ReportNone.Format(c.lang, key, verdict)
	}
	return message.ReportLine.Format(c.lang, key, verdict, c.shownPath(path))
}
