package team

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// skewed is a clock that is wrong by a constant.
func skewed(by time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(by) }
}

// ended waits until the hub says that nobody has the lease.
func (h *Hub) ended(t *testing.T, id string) {
	t.Helper()
	until(t, func() error {
		l, err := h.lease(t.Context(), id)
		if err == nil && l.Holder != "" {
			err = fmt.Errorf("the lease does not end: %+v", l)
		}
		return err
	})
}

func (m *machine) session(id string) *store.Session {
	m.t.Helper()
	sess, err := m.home.Session(id)
	if err != nil {
		m.t.Fatal(err)
	}
	return sess
}

// Clocks that are wrong, by however much and in whichever direction, let nobody take a
// lease that the hub says is another's, and the holder's hooks stop before the hub gives
// its lease to anybody.
func TestWrongClocksHoldNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	alpha, beta := a.dial(), b.dial()
	var all sync.WaitGroup
	defer all.Wait()
	for _, skewA := range []time.Duration{0, -48 * time.Hour, 48 * time.Hour, -90 * time.Second} {
		for _, skewB := range []time.Duration{0, -48 * time.Hour, 48 * time.Hour} {
			id := strings.ReplaceAll("s"+skewA.String()+skewB.String(), ".", "")
			all.Go(func() { // one test, so that waiting takes one place of those that run at once
				nowA, nowB := skewed(skewA), skewed(skewB)
				held, err := alpha.take(ctx, id, phaseHeld, 5*time.Second, nowA)
				if err == nil {
					err = writeMoved(a.session(id), "alpha", held, nowA())
				}
				if err != nil {
					t.Error(err)
					return
				}
				lasts := func() bool { return nowA().Before(held.Expires) }
				if m := session.ReadMoved(a.session(id)); m.Away(nowA()) && lasts() {
					t.Errorf("alpha %s: its own session is refused", skewA)
				}
				if _, err := beta.take(ctx, id, phaseHeld, heldFor, nowB); err == nil {
					if lasts() {
						t.Errorf("alpha %s, beta %s: two holders", skewA, skewB)
					}
					return // or the machine is so busy that the lease is over
				}
				beta.ended(t, id)
				if m := session.ReadMoved(a.session(id)); !m.Away(nowA()) {
					t.Errorf("alpha %s: the hub gives the lease to others, and alpha's hooks go on", skewA)
				}
				if _, err := beta.take(ctx, id, phaseHeld, heldFor, nowB); err != nil {
					t.Errorf("alpha %s, beta %s: %v", skewA, skewB, err)
				}
				if _, err := alpha.renew(ctx, held, phaseHeld, heldFor, nowA); !errors.Is(err, errLeaseLost) {
					t.Errorf("alpha %s: a former holder goes on: %v", skewA, err)
				}
			})
		}
	}
}

// A machine that stops in the middle of a pull and wakes up when another has the session,
// also with a clock that was set back meanwhile, fails at the step that decides.
func TestPausedHolderHasNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	alpha, beta := n.machine(t, "alpha").dial(), n.machine(t, "beta").dial()
	for _, back := range []time.Duration{0, -time.Minute, -48 * time.Hour} {
		id := "s" + back.String()
		taking, err := alpha.take(ctx, id, phaseTaking, time.Second, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		beta.ended(t, id)
		held, err := beta.take(ctx, id, phaseHeld, heldFor, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []Phase{phaseHeld, phaseOffered} {
			if _, err := alpha.renew(ctx, taking, p, heldFor, skewed(back)); !errors.Is(err, errLeaseLost) {
				t.Errorf("clock %s, %s: %v", back, p, err)
			}
		}
		if cur, err := alpha.lease(ctx, id); err != nil || cur.Token != held.Token || cur.Holder != "beta" {
			t.Errorf("clock %s: %+v %v", back, cur, err)
		}
	}
}

// A holder whose clock is set back, while no hub can be reached, would take its lease for
// one that lasts longer than the hub's. Behind the moment at which the lease was written
// its hooks see that, and stop; short of it nobody can, and both are told once they meet.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	var said []string
	now := time.Now()
	s := &Shipper{Home: a.home, Set: a.set, Dir: a.hostDir, Now: func() time.Time { return now }, Report: func(r Report) { said = append(said, r.Text.In(message.EN)) }}
	s.hub = a.dial()
	other := b.dial()
	prompt := func(id string) string {
		return a.call("user-prompt-submit", host.ClaudeCode, map[string]any{"session_id": id, "cwd": a.dir, "prompt": "go on"})
	}
	// hold lets alpha have a lease for a second; by its own file it was written at a
	// time, and ends at another.
	hold := func(id string, at, until time.Time) {
		t.Helper()
		l, err := s.hub.take(ctx, id, phaseHeld, time.Second, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.hub.holds(ctx, l), session.WriteMoved(a.session(id), session.Moved{Machine: "alpha", Holder: "alpha", Token: l.Token, Phase: "held", At: at, Expires: until})); err != nil {
			t.Fatal(err)
		}
	}

	hold("behind", now.Add(3*time.Hour), now.Add(27*time.Hour))
	if got := prompt("behind"); !strings.Contains(got, "clock was set back") {
		t.Errorf("a lease from the future: %s", got)
	}
	// Where nobody took it meanwhile the shipper writes it anew, at the time that it is now.
	if err := s.keepLeases(ctx, []store.SessionInfo{{ID: "behind"}}); err != nil {
		t.Fatal(err)
	}
	if got := prompt("behind"); strings.Contains(got, `"block"`) {
		t.Errorf("after it was renewed: %s", got)
	}

	hold("short", now.Add(-2*time.Hour), now.Add(3*time.Hour))
	other.ended(t, "short")
	if _, err := other.take(ctx, "short", phaseHeld, heldFor, time.Now); err != nil {
		t.Fatal(err)
	}
	if got := prompt("short"); strings.Contains(got, `"block"`) {
		t.Fatalf("the test is about what no hook can see: %s", got)
	}
	said = nil
	if err := s.keepLeases(ctx, []store.SessionInfo{{ID: "short"}}); err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "until now it went on here, too") {
		t.Errorf("two holders are not named: %q", said)
	}
	if got := prompt("short"); !strings.Contains(got, "handed over to machine beta") {
		t.Errorf("alpha goes on: %s", got)
	}
}

// Who pulls a session that its last holder never handed over is told so: what was done
// there is not here.
func TestPullNamesTheLastHolder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b, c := n.machine(t, "alpha"), n.machine(t, "beta"), n.machine(t, "gamma")
	dirA, dirB, dirC := project(t, "parser"), project(t, "parser"), project(t, "parser")
	writeClaude(t, a, dirA)
	a.set.Share = []string{dirA}
	if _, err := a.mover().Push(ctx, claudeID, false); err != nil {
		t.Fatal(err)
	}
	out, err := b.mover().Pull(ctx, claudeID, PullOptions{Folder: dirB})
	if err != nil || out.Last != "" {
		t.Fatalf("%+v %v", out, err)
	}
	h := b.dial()
	if _, err := h.renew(ctx, out.Lease, phaseHeld, time.Second, time.Now); err != nil {
		t.Fatal(err)
	}
	h.ended(t, claudeID)
	if out, err = c.mover().Pull(ctx, claudeID, PullOptions{Folder: dirC}); err != nil || out.Last != "beta" {
		t.Errorf("last %q, %v", out.Last, err)
	}
}
