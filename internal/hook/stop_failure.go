package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// stopFailure: an agent died of an error. For one in the background there is no
// other sign.
func (c *call) stopFailure() (host.Reply, error) {
	if err := c.agentEnded(); err != nil {
		return host.Reply{}, err
	}
	return c.forStage(func(tx *session.Tx, agent, id string) error {
		_, err := c.complete(tx, completion{AgentID: id, Agent: agent, Died: true})
		return err
	})
}
