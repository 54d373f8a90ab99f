package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// subagentStart ties an agent to its hand-over, and briefs it where its prompt could
// not be.
func (c *call) subagentStart() (r host.Reply, err error) {
	_, err = c.forStage(func(tx *session.Tx, agent, id string) error {
		if _, err := tx.Apply(workflow.Bind{Agent: agent, AgentID: id}); err != nil {
			return err
		}
		for _, d := range tx.Workflow.Delegations {
			if c.host.BriefsAtStart && d.Open && d.AgentID == id {
				r.Context = c.brief(tx, d.Stage)
			}
		}
		return nil
	})
	return r, err
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
