package hook

import (
	"github.com/seed-6d03985f/overtone/internal/host"
)

// print writes the reply in the words of the host. Nothing else is ever written
// to stdout; to a host that nobody knows, nothing at all.
func (c *call) print(r host.Reply) {
	if c.host == nil {
		return
	}
	c.in.Event = c.event
	if out := c.host.Encode(&c.in, r); len(out) > 0 {
		c.env.Stdout.Write(out) //nolint:errcheck // a host that closed its end has stopped listening
	}
}
