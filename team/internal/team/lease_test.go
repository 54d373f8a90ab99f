package team

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A lease that has ended, to the second, is not renewed: nobody is asked.
func TestEndedLeaseIsNotRenewed(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, after := range []time.Duration{0, time.Hour} {
		_, err := (&Hub{}).renew(context.Background(), Lease{Session: "s", Expires: noon}, phaseHeld, heldFor, func() time.Time { return noon.Add(after) })
		if !errors.Is(err, errLeaseLost) {
			t.Errorf("%s after its end: %v", after, err)
		}
	}
}

// Only a message that is a step of this lease counts, and how long it lasts is counted
// from when the hub had it; where that is not known, its holder's clock is believed.
func TestStepsOfALease(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const step = `{"session":"s","holder":"alpha","phase":"held","expires":"2026-03-02T12:00:00Z","seconds":60}`
	const old = `{"session":"s","holder":"alpha","token":3,"phase":"held","expires":"2026-03-02T12:00:00Z"}`
	of := func(data string, change func(*stored)) stored {
		m := stored{Subject: leasePrefix + "s", Seq: 7, Time: noon, Header: nats.Header{}, Data: []byte(data)}
		if change != nil {
			change(&m)
		}
		return m
	}
	holders := noon.Add(24*time.Hour + skew)
	for name, c := range map[string]struct {
		m     stored
		token uint64
		ends  time.Time
	}{
		"a step":                  {of(step, nil), 7, noon.Add(time.Minute)},
		"one that goes on":        {of(old, func(m *stored) { m.Header.Set(jetstream.MsgTTLHeader, "90s") }), 3, noon.Add(90 * time.Second)},
		"one without a time":      {of(old, nil), 3, holders},
		"one that the hub forgot": {of(step, func(m *stored) { m.Time = time.Time{} }), 7, holders},
	} {
		l, ok := parseLease(c.m)
		if !ok || l.Holder != "alpha" || l.Token != c.token || !l.ends.Equal(c.ends) || l.seq != 7 || l.rev != 7 {
			t.Errorf("%s: %+v, %v", name, l, ok)
		}
	}
	for name, m := range map[string]stored{
		"no message":         of(step, func(m *stored) { m.Seq = 0 }),
		"no JSON":            of("x", nil),
		"of another session": of(step, func(m *stored) { m.Subject = leasePrefix + "t" }),
		"a deletion":         of(step, func(m *stored) { m.Header.Set("KV-Operation", "DEL") }),
		"a marker":           of(step, func(m *stored) { m.Header.Set("Nats-Marker-Reason", "MaxAge") }),
		"an answer":          of(step, func(m *stored) { m.Header[jetstream.StreamHeader] = []string{"a", "b"} }),
	} {
		if l, ok := parseLease(m); ok {
			t.Errorf("%s is taken for a step: %+v", name, l)
		}
	}
}
