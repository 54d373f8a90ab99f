package team

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Query chooses events.
type Query struct {
	Machine, Session string // "" for all
	Types            []string
	// Since leaves out what the hub got earlier; the zero time leaves out nothing.
	Since time.Time
	// Last keeps the newest of them only; 0 keeps all.
	Last int
}

func (q Query) subject() string {
	typ := "*"
	if len(q.Types) == 1 {
		typ = subjectToken(q.Types[0])
	}
	return eventPrefix + cmp.Or(q.Machine, "*") + "." + cmp.Or(q.Session, "*") + "." + typ
}

func (q Query) takes(e Event) bool {
	return len(q.Types) == 0 || slices.Contains(q.Types, e.Type)
}

// Events hands the chosen events to fn, each once, in the hub's order, and
// returns where to go on. seen remembers what was handed on.
func (h *Hub) Events(ctx context.Context, q Query, from uint64, seen Seen, fn func(Event) error) (uint64, error) {
	since := q.Since
	if from > 1 {
		since = time.Time{}
	}
	return h.each(ctx, eventStream, q.subject(), max(from, 1), since, func(m stored) error {
		e, ok := h.set.inbound(m)
		if !ok || !q.takes(e) || !seen.add(e) {
			return nil
		}
		return fn(e)
	})
}

// Recent are the chosen events by the time at which they happened, and where to
// go on.
func (h *Hub) Recent(ctx context.Context, q Query, seen Seen) (list []Event, next uint64, err error) {
	next, err = h.Events(ctx, q, 0, seen, func(e Event) error {
		list = append(list, e)
		// The stream's order is nearly that of time; what is kept leaves room for
		// the rest.
		if q.Last > 0 && len(list) > 4*q.Last+1000 {
			sortEvents(list)
			list = slices.Clone(list[len(list)-2*q.Last-500:])
		}
		return nil
	})
	sortEvents(list)
	if q.Last > 0 && len(list) > q.Last {
		list = list[len(list)-q.Last:]
	}
	return list, next, err
}

func sortEvents(list []Event) {
	slices.SortStableFunc(list, func(a, b Event) int {
		return cmp.Or(a.Time().Compare(b.Time()), strings.Compare(a.Machine+"/"+a.Session, b.Machine+"/"+b.Session), cmp.Compare(a.Seq, b.Seq))
	})
}

// Health is what doctor tells of the hub.
type Health struct {
	Server  string
	RTT     time.Duration
	Skew    time.Duration
	Stream  Stream
	Full    string // why the hub stores nothing; "" where it does
	LeaseOK bool   // leases end by themselves
	Rollup  bool   // any machine can delete what others have
	// Events, Missing and Repeated are this machine's on the hub; Foreign counts
	// messages under its name that are not its.
	Events, Missing, Repeated, Foreign uint64
	// Waiting counts the events of this machine that are not on the hub yet.
	Waiting uint64
	// OwnNameOnly: the hub refuses other names.
	OwnNameOnly bool
	CanRead     bool // the team's content
	// Twin: another home ships under the same name.
	Twin bool
}

// Stream is how the events are kept.
type Stream struct {
	Messages, Bytes uint64
	Replicas        int
	OnDisk          bool
	Keep            time.Duration
}

// Doctor looks the hub over, from the machine whose $OVERTONE_HOME is root and
// whose clock is now.
func (h *Hub) Doctor(ctx context.Context, root string, now func() time.Time) (v Health, err error) {
	v = Health{Server: h.nc.ConnectedServerName() + " " + h.nc.ConnectedServerVersion(), Full: h.full(ctx)}
	if v.RTT, err = h.nc.RTT(); err != nil {
		return v, err
	}
	before := now()
	info, err := h.info(ctx, eventStream)
	if err != nil {
		return v, err
	}
	after := now()
	// The hub wrote its time somewhere between the two.
	switch {
	case info.TimeStamp.IsZero():
	case info.TimeStamp.Before(before):
		v.Skew = before.Sub(info.TimeStamp)
	case info.TimeStamp.After(after):
		v.Skew = info.TimeStamp.Sub(after)
	}
	v.Stream = Stream{info.State.Msgs, info.State.Bytes, info.Config.Replicas, info.Config.Storage == jetstream.FileStorage, info.Config.MaxAge}
	for _, name := range []string{stateStream, leaseStream, "OBJ_" + objectBucket(h.set.Machine)} {
		if info, err := h.info(ctx, name); err == nil && info.Config.AllowRollup {
			v.Rollup = true
		}
	}
	leases, err := h.info(ctx, leaseStream)
	if err != nil {
		return v, err
	}
	v.LeaseOK = leases.Config.AllowMsgTTL && leases.Config.AllowDirect && info.Config.AllowDirect
	seen := Seen{}
	_, err = h.each(ctx, eventStream, eventPrefix+h.set.Machine+".>", 1, time.Time{}, func(m stored) error {
		e, ok := (Settings{}).inbound(m)
		switch {
		case !ok:
			v.Foreign++
		case !seen.add(e):
			v.Repeated++
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	for _, n := range seen {
		v.Events += n.count()
		v.Missing += n.missing()
	}
	// Under a name that nobody has. What comes of it has no id, so that every reader
	// drops it.
	v.OwnNameOnly = h.refuses(ctx, eventPrefix+"overtone-doctor-probe.probe.probe", []byte("{}"))
	if v.Twin, err = h.twin(ctx, root, now()); err != nil {
		return v, err
	}
	if sealed, err := h.set.sealBytes([]byte("x")); err == nil {
		_, err = h.set.unsealBytes(sealed, 16)
		v.CanRead = err == nil
	}
	return v, nil
}

// refuses publishes something and reports whether the hub refused it. It says so
// before it answers a ping that follows.
func (h *Hub) refuses(ctx context.Context, subject string, data []byte) bool {
	if err := h.nc.Publish(subject, data); err != nil {
		return errors.Is(err, nats.ErrPermissionViolation)
	}
	wait, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if h.nc.FlushWithContext(wait) != nil {
		return false
	}
	for range 200 { // until it has come through to us
		if h.wasRefused(subject) {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// Waiting counts what this machine has not shipped yet.
func (s *Shipper) Waiting() (n uint64, err error) {
	cur, err := loadCursor(s.Home.Root())
	if err != nil {
		return 0, err
	}
	sessions, err := s.Home.Sessions()
	if err != nil {
		return 0, err
	}
	for _, info := range sessions {
		sess, err := s.Home.Session(info.ID)
		if err != nil {
			continue
		}
		for mark := cur.Sessions[info.ID]; ; {
			list, _, err := sess.After(mark, 1000, windowBytes)
			if err != nil {
				return n, err
			}
			n += uint64(len(list))
			if len(list) < 1000 {
				break
			}
			mark = list[len(list)-1].Mark
		}
	}
	return n, nil
}
