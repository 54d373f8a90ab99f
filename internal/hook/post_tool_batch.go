package hook

import (
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// postToolBatch is the join of parallel agents: what their ends left for the main
// model is delivered once.
func (c *call) postToolBatch() (host.Reply, error) {
	if id := c.in.AgentID; id != "" {
		return c.agentAtWork(id)
	}
	m := session.Read(c.sess)
	return c.flush(func(tx *session.Tx) error {
		tx.Stepped(c.in.Batch)
		return nil
	}, m.Threads.Notable(c.in.Batch) || c.host.Gates && c.cfg.Compact.Mode == compact.ModeAuto && (m.Thread.State.Begins || m.Thread.Ages()))
}

// agentAtWork remembers that a sub-agent is at work, where the host will not say
// whose a compaction is.
func (c *call) agentAtWork(id string) (host.Reply, error) {
	if !c.host.AgentsCompact {
		return host.Reply{}, nil
	}
	m := session.Read(c.sess)
	if _, known := m.Threads.Agents[id]; known && len(m.Threads.Compacting) == 0 || c.tellsWhose() {
		return host.Reply{}, nil
	}
	return host.Reply{}, c.update(func(tx *session.Tx) error {
		tx.AgentStepped(id)
		return nil
	})
}

// tellsWhose reports whether this version of the host says whose a compaction is.
func (c *call) tellsWhose() bool { return c.host.TellsWhose(transcript.Version(c.in.Transcript)) }
