package hook

import (
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
)

// movedAway says why a session must not go on here: a team has moved it to another
// machine. "" for nearly all, at the price of one look.
func (c *call) movedAway() string {
	m := session.ReadMoved(c.sess)
	if !m.Away(c.now) {
		return ""
	}
	id := c.sess.ID()
	switch {
	case m.Holder != m.Machine:
		return message.SessionElsewhere.Format(c.lang, m.Holder, m.At.Local().Format(time.DateTime), id)
	case m.Phase != "held":
		return message.SessionOffered.Format(c.lang, id)
	case m.SetBack(c.now):
		return message.SessionClock.Format(c.lang, m.At.Local().Format(time.DateTime), id)
	}
	return message.SessionUnleased.Format(c.lang, m.Expires.Local().Format(time.DateTime), id)
}
