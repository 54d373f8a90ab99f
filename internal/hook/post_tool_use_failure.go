package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func (c *call) postToolUseFailure() (host.Reply, error) {
	tool := c.in.Tool
	switch {
	case !c.in.Main():
		return host.Reply{}, errQuiet
	case tool.Kind == host.AgentTool && tool.Agent.Died: // all that is told of its end
		c.in.AgentID, c.in.AgentType = tool.Agent.ID, tool.Agent.Type
		return c.agentDied(tool.ID)
	case tool.Kind == host.AgentTool:
		return c.applyAndFlush(workflow.Drop{ID: tool.ID})
	case c.host.EndsUnwaited(tool.Kind):
		return host.Reply{}, c.unwaitedEnd()
	}
	s, err := session.Peek(c.sess)
	if err != nil {
		return host.Reply{}, err
	}
	return c.flush(func(tx *session.Tx) error {
		if tool.Signals() {
			c.seeTool(tx)
		}
		return c.tellFailure(tx)
	}, s != nil && s.Active || tool.Signals())
}

// tellFailure leaves a line on the timeline of a workflow.
func (c *call) tellFailure(tx *session.Tx) error {
	if !tx.Active() {
		return nil
	}
	return tx.Emit(store.On(message.EventToolFailure, "toolName", c.in.Tool.Name, "error", cut(redact.Start(c.in.Tool.Error, 120), 120)))
}
