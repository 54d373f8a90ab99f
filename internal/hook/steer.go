package hook

import (
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// steer asks the policy, in mode auto and where what calls us can act on it: whether to
// compact now, after a tool or at the end of a turn, and whether the host is to be held
// back until then. What goes wrong leaves the host to itself, and a session that is
// watched to its watcher.
func (c *call) steer(r *host.Reply) {
	if c.host == nil || !c.host.Steers || c.sess == nil || c.failed || !c.in.Main() {
		return
	}
	switch c.event {
	case "user-prompt-submit", "post-tool-use", "stop":
	default:
		return
	}
	set := c.settings()
	if set.Mode != compact.ModeAuto || c.watcherOwns() {
		return
	}
	err := c.update(func(tx *session.Tx) error {
		c.seeSession(tx)
		if c.event == "post-tool-use" {
			tx.Memory.Thread.State.Rounds++ // each tool by itself
		}
		d, err := tx.Decide(set, tx.Memory.Thread.Over())
		u := tx.Memory.Thread.Weigh(c.now, set).Usage
		r.Steers = true
		r.Hold = !compact.Gate(compact.Ask{Settings: set, Decision: d, Usage: u})
		r.Compact = d.Verdict == compact.DoCompact && c.event != "user-prompt-submit"
		return err
	})
	if err != nil {
		c.complain("steer", err)
		r.Compact, r.Hold = false, false
	}
}
