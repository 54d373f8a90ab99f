package team

import (
	"context"
	"errors"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// holdEvery is how often the shipper looks after the leases of this machine.
const holdEvery = 15 * time.Second

// keepLeases renews what this machine holds, and writes down what it lost: the
// hooks of a session that goes on elsewhere say so.
func (s *Shipper) keepLeases(ctx context.Context, sessions []store.SessionInfo) error {
	for _, info := range sessions {
		sess, err := s.Home.Session(info.ID)
		if err != nil {
			continue
		}
		m := session.ReadMoved(sess)
		if m == nil || m.Machine != s.Set.Machine || m.Holder != s.Set.Machine {
			continue
		}
		cur, err := s.hub.lease(ctx, info.ID)
		if err != nil {
			return err
		}
		switch {
		case cur.Holder == s.Set.Machine && cur.Token == m.Token && cur.Phase == phaseHeld && m.Phase == string(phaseHeld):
			if left := cur.Expires.Sub(s.Now()); left > heldFor*2/3 && !m.SetBack(s.Now()) {
				continue
			}
			l, err := s.hub.renew(ctx, cur, phaseHeld, heldFor, s.Now)
			if errors.Is(err, errLeaseLost) {
				continue // seen next time
			}
			if err != nil {
				return err
			}
			if err := writeMoved(sess, s.Set.Machine, l, s.Now()); err != nil {
				return err
			}
		case cur.Holder == "" && m.Phase == string(phaseHeld):
			// It ended while this machine slept, or the hub was made anew. Nobody had
			// it since: then it is ours again.
			b, _, err := s.hub.bundle(ctx, info.ID)
			if err != nil {
				return err
			}
			if !b.lastAt(m, s.Set.Machine) {
				continue
			}
			l, err := s.hub.take(ctx, info.ID, phaseHeld, heldFor, s.Now)
			if errors.Is(err, errNotAcknowledged) || errors.Is(err, errHubSilent) {
				return err
			}
			if err != nil {
				continue // somebody was faster; seen next time
			}
			_ = s.hub.holds(ctx, l)
			if err := writeMoved(sess, s.Set.Machine, l, s.Now()); err != nil {
				return err
			}
		case cur.Holder != "" && cur.Holder != s.Set.Machine && cur.Phase == phaseHeld:
			// Tokens only grow, except on a hub that was made anew.
			if cur.Token <= m.Token {
				if forgot, err := s.hub.forgot(ctx, m.Token); err != nil || !forgot {
					if err != nil {
						return err
					}
					continue
				}
			}
			if err := writeMoved(sess, s.Set.Machine, cur, s.Now()); err != nil {
				return err
			}
			text := message.TeamTaken
			if !m.Away(s.Now()) {
				text = message.TeamTakenBoth
			}
			s.report("lease", Report{Text: message.Because(text, info.ID, cur.Holder)})
		}
	}
	return nil
}

func writeMoved(sess *store.Session, machine string, l Lease, now time.Time) error {
	return session.WriteMoved(sess, session.Moved{
		Machine: machine, Holder: l.Holder, Token: l.Token, Phase: string(l.Phase), Expires: l.Expires, At: now.UTC(),
	})
}
