package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// postToolBatch is the join of parallel agents: what their ends left for the main
// model is delivered once.
func (c *call) postToolBatch() (host.Reply, error) {
	if id := c.in.AgentID; id != "" {
		return c.agentAtWork(id)
	}
	return c.flush(nil, false)
}

// agentAtWork remembers that a sub-agent is at work.
func (c *call) agentAtWork(id string) (host.Reply, error) {
	m, err := session.Read(c.sess)
	if err != nil || m.Agent == id {
		return host.Reply{}, err
	}
	return host.Reply{}, c.update(func(tx *session.Tx) error {
		tx.Memory.Agent = id
		return nil
	})
}
