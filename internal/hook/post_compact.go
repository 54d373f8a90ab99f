package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// postCompact confirms that a compaction happened, and where the transcript
// stood: what is counted from now on is counted from there. Where the summary was
// not told in time, it is told here, and what depends on it follows.
func (c *call) postCompact() (host.Reply, error) {
	m := session.Read(c.sess)
	if !m.Unread() && m.Compaction == nil && len(m.Threads.Compacting) == 0 && c.in.Main() {
		return host.Reply{}, nil
	}
	var past session.Past
	later := c.in.Main() && c.in.Summary != "" && c.host.Delivers && m.Compaction != nil && c.handedSaved(m.Compaction)
	if later {
		past = c.past(m)
	}
	return host.Reply{}, c.update(func(tx *session.Tx) error {
		if agents, err := tx.AgentCompacted(c.in.AgentID); agents || err != nil {
			return err
		}
		k := tx.Memory.Compaction
		if k == nil || !c.in.Main() {
			return nil
		}
		if err := tx.Confirm(c.in.Transcript); err != nil || !later {
			return err
		}
		h := c.handover(tx, k, past)
		h.Summary = c.in.Summary
		return tx.HandLater(past, h)
	})
}

// handedSaved: what was handed over is what had been saved.
func (c *call) handedSaved(k *session.Attempt) bool {
	handed, ok := session.ReadHanded(c.sess)
	return ok && k.Receipt != nil && handed.ID == k.Receipt.ID && handed.Basis == k.Receipt.Basis && handed.Saved()
}
