package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// postCompact confirms that a compaction happened, and where the transcript
// stood: what is counted from now on is counted from there.
func (c *call) postCompact() (host.Reply, error) {
	m, err := session.Read(c.sess)
	if err != nil || m.Compaction == nil && len(m.Threads.Compacting) == 0 && c.in.Main() {
		return host.Reply{}, err
	}
	return host.Reply{}, c.update(func(tx *session.Tx) error {
		if agents, err := tx.AgentCompacted(c.in.AgentID); agents || err != nil {
			return err
		}
		if tx.Memory.Compaction == nil {
			return nil
		}
		return tx.Confirm(c.in.Transcript)
	})
}
