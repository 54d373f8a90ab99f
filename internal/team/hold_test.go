package team

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// A lease is renewed when a third of its time is over, long before it ends: hooks of a
// session whose lease has ended refuse to go on. One that belongs to another machine by
// now is written down as that one's.
func TestLeasesAreKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	begun := time.Now()
	now := begun
	s := &Shipper{Home: a.home, Set: a.set, Dir: a.hostDir, Now: func() time.Time { return now }}
	s.hub = a.dial()
	sess, err := a.home.Session("s1")
	if err != nil {
		t.Fatal(err)
	}
	keep := func(after time.Duration) session.Moved {
		t.Helper()
		now = begun.Add(after)
		if err := s.keepLeases(ctx, []store.SessionInfo{{ID: "s1"}, {ID: "../x"}, {ID: "s2"}}); err != nil {
			t.Fatal(err)
		}
		if m := session.ReadMoved(sess); m != nil {
			return *m
		}
		return session.Moved{}
	}
	if m := keep(0); m != (session.Moved{}) {
		t.Errorf("a session that never moved has a lease: %+v", m)
	}
	l, err := s.hub.take(ctx, "s1", phaseHeld, heldFor, s.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.hub.holds(ctx, l), writeMoved(sess, "alpha", l, now)); err != nil {
		t.Fatal(err)
	}
	if m := keep(heldFor/3 - time.Minute); !m.Expires.Equal(l.Expires) {
		t.Errorf("renewed early, until %s", m.Expires)
	}
	kept := keep(heldFor/3 + time.Minute)
	if want := l.Expires.Add(heldFor/3 + time.Minute); kept.Expires.Sub(want).Abs() > time.Second || kept.Token != l.Token || kept.Holder != "alpha" || kept.Away(begun.Add(heldFor)) {
		t.Errorf("not renewed: %+v, want until %s", kept, want)
	}

	// Another machine has it by now.
	h := b.dial()
	cur, err := s.hub.lease(ctx, "s1")
	if err == nil {
		_, err = s.hub.renew(ctx, cur, phaseOffered, offeredFor, s.Now)
	}
	if err != nil {
		t.Fatal(err)
	}
	taken, err := h.take(ctx, "s1", phaseHeld, heldFor, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if m := keep(heldFor / 2); m.Holder != "beta" || m.Token != taken.Token || !m.Away(now) {
		t.Errorf("alpha goes on: %+v", m)
	}
	if m := keep(heldFor/2 + time.Hour); m.Holder != "beta" {
		t.Errorf("alpha has it back: %+v", m)
	}
}
