package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// subagentStart ties an agent to its hand-over.
func (c *call) subagentStart() (host.Reply, error) {
	return c.forStage(func(tx *session.Tx, agent, id string) error {
		_, err := tx.Apply(workflow.Bind{Agent: agent, AgentID: id})
		return err
	})
}

// forStage runs f for an event of a sub-agent that works on a stage of a workflow
// that is active; any other is none of our business.
func (c *call) forStage(f func(tx *session.Tx, agent, id string) error) (host.Reply, error) {
	agent, id := c.in.AgentType, c.in.AgentID
	if id == "" || agent == "" {
		return host.Reply{}, errQuiet
	}
	if s, err := session.Peek(c.sess); err != nil || s == nil || !s.Active || !s.Follows(agent) {
		return host.Reply{}, err
	}
	return host.Reply{}, c.update(func(tx *session.Tx) error {
		if tx.Workflow == nil {
			return nil
		}
		return f(tx, agent, id)
	})
}
