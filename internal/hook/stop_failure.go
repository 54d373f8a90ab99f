package hook

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// learn takes the window's size from an error: "prompt is too long: 210000 tokens >
// 200000 maximum".
func (c *call) learn() {
	_, rest, ok := strings.Cut(c.in.Answer+" "+c.in.Tool.Error, "prompt is too long: ")
	if !ok || !c.in.Main() {
		return
	}
	var used, window int64
	if n, _ := fmt.Sscanf(rest, "%d tokens > %d maximum", &used, &window); n != 2 || window <= 0 {
		return
	}
	err := c.update(func(tx *session.Tx) error {
		tx.Observe(host.SessionSeen{Window: window}, compact.Settings{})
		model := tx.Memory.Thread.Model
		if model == "" { // the file names it, where no hook does
			u, _ := transcript.TailUsage(cmp.Or(c.in.Transcript, tx.Memory.Thread.Transcript))
			model = u.Model
		}
		if host.ModelWindow(model) != 0 {
			return nil
		}
		return c.home.LearnWindow(host.ModelID(model), window)
	})
	if err != nil {
		c.complain("window", err)
	}
}

// stopFailure: an agent died of an error. For one in the background there is no
// other sign.
func (c *call) stopFailure() (host.Reply, error) {
	c.learn()
	if err := c.agentEnded(); err != nil {
		return host.Reply{}, err
	}
	return c.agentDied("")
}

// agentDied ends the stage of an agent; id is the host's of the hand-over.
func (c *call) agentDied(handOver string) (host.Reply, error) {
	return c.forStage(func(tx *session.Tx, agent, id string) error {
		_, err := c.complete(tx, completion{ID: handOver, AgentID: id, Agent: agent, Died: true})
		return err
	})
}
