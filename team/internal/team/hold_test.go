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
// session whose lease has ended refuse to go on. One that another machine holds by now
// is written down as that one's; one that is offered, being taken, or never was ours is
// left alone. Each session is looked after, whatever became of those before it.
func TestLeasesAreKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	begun := time.Now()
	now := begun
	s := &Shipper{Home: a.home, Set: a.set, Dir: a.hostDir, Now: func() time.Time { return now }}
	s.hub = a.dial()
	other := b.dial()
	moved := func(id string) session.Moved {
		t.Helper()
		sess, err := a.home.Session(id)
		if err != nil {
			t.Fatal(err)
		}
		if m := session.ReadMoved(sess); m != nil {
			return *m
		}
		return session.Moved{}
	}
	ids := []string{"first", "offered", "taken", "taking", "elsewhere", "last"}
	keep := func(after time.Duration) map[string]session.Moved {
		t.Helper()
		now = begun.Add(after)
		list := []store.SessionInfo{{ID: "../x"}}
		for _, id := range ids {
			list = append(list, store.SessionInfo{ID: id})
		}
		if err := s.keepLeases(ctx, list); err != nil {
			t.Fatal(err)
		}
		found := map[string]session.Moved{}
		for _, id := range ids {
			found[id] = moved(id)
		}
		return found
	}
	for id, m := range keep(0) {
		if m != (session.Moved{}) {
			t.Errorf("%s never moved, and has a lease: %+v", id, m)
		}
	}
	leases := map[string]Lease{}
	for _, id := range ids {
		l, err := s.hub.take(ctx, id, phaseHeld, heldFor, s.Now)
		if err != nil {
			t.Fatal(err)
		}
		sess, err := a.home.Session(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.hub.holds(ctx, l), writeMoved(sess, "alpha", l, now)); err != nil {
			t.Fatal(err)
		}
		leases[id] = l
	}
	for id, m := range keep(heldFor/3 - time.Minute) {
		if !m.Expires.Equal(leases[id].Expires) {
			t.Errorf("%s is renewed early, until %s", id, m.Expires)
		}
	}

	// What becomes of some of them meanwhile.
	give := func(id string) {
		t.Helper()
		cur, err := s.hub.lease(ctx, id)
		if err == nil {
			_, err = s.hub.renew(ctx, cur, phaseOffered, offeredFor, s.Now)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"offered", "taken", "taking"} {
		give(id)
	}
	taken, err := other.take(ctx, "taken", phaseHeld, heldFor, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.take(ctx, "taking", phaseTaking, takingFor, time.Now); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := a.home.Session("elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if err := session.WriteMoved(elsewhere, session.Moved{Machine: "alpha", Holder: "beta", Token: 1, Phase: "held", Expires: begun}); err != nil {
		t.Fatal(err)
	}

	after := heldFor/3 + time.Minute
	kept := keep(after)
	for _, id := range []string{"first", "last"} {
		if m, want := kept[id], leases[id].Expires.Add(after); m.Expires.Sub(want).Abs() > time.Second || m.Token != leases[id].Token || m.Holder != "alpha" || m.Phase != "held" || m.Away(begun.Add(heldFor)) {
			t.Errorf("%s is not renewed: %+v, want until %s", id, m, want)
		}
		if cur, err := s.hub.lease(ctx, id); err != nil || !cur.Expires.Equal(kept[id].Expires) {
			t.Errorf("the hub says of %s: %+v, %v", id, cur, err)
		}
	}
	for _, id := range []string{"offered", "taking"} {
		if m := kept[id]; !m.Expires.Equal(leases[id].Expires) || m.Holder != "alpha" {
			t.Errorf("%s: %+v", id, m)
		}
	}
	if m := kept["taken"]; m.Holder != "beta" || m.Token != taken.Token || !m.Away(now) {
		t.Errorf("alpha goes on with what beta has: %+v", m)
	}
	if m := kept["elsewhere"]; m.Holder != "beta" || m.Token != 1 {
		t.Errorf("elsewhere: %+v", m)
	}
	if m := keep(after + time.Hour)["taken"]; m.Holder != "beta" {
		t.Errorf("alpha has it back: %+v", m)
	}

	// An old holder's token says nothing where the hub remembers newer ones.
	back, err := a.home.Session("taken")
	if err != nil {
		t.Fatal(err)
	}
	if err := session.WriteMoved(back, session.Moved{Machine: "alpha", Holder: "alpha", Token: taken.Token, Phase: "held", Expires: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if m := keep(after + 2*time.Hour)["taken"]; m.Holder != "alpha" || m.Token != taken.Token {
		t.Errorf("a lease of the same token is taken away: %+v", m)
	}
}
