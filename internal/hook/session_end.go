package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

func (c *call) sessionEnd() (host.Reply, error) {
	if s, err := session.Peek(c.sess); err != nil || s == nil {
		return host.Reply{}, err
	}
	return host.Reply{}, c.update(func(tx *session.Tx) error {
		return tx.Emit(store.On(message.EventSessionEnd, "reason", c.in.Reason))
	})
}
