package team

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// How much is under way at once. It bounds the shipper's memory, and what is
// published again after a crash.
const (
	window      = 1024
	windowBytes = 4 << 20
	perSession  = 256
	ackTimeout  = 10 * time.Second
)

// ShipLease is held by the machine's one shipper.
const ShipLease = "team-ship.lease"

// Shipper publishes what happens on this machine.
type Shipper struct {
	Home *store.Home
	Set  Settings
	// Dir is the folder of a host's own files.
	Dir     func(*host.Host) string
	Version string
	Every   time.Duration // how often to look
	// Once ends as soon as everything is published.
	Once   bool
	Now    func() time.Time
	Report func(Report)
	// Settings and Lang are those of packets.
	Settings compact.Settings
	Lang     message.Lang

	hub     *Hub
	cur     cursor
	synced  bool                // what the hub has is known
	have    Seen                // of this machine, by session
	checked map[string]bool     // sessions whose place was looked for on the hub
	stamps  map[string][2]int64 // of timelines that were read to their end
	states  states
	up      chan bool
	total   uint64
	told    atomic.Pointer[string] // why the hub is away
	set     os.FileInfo            // of the settings that are in force
}

// Report is something that a shipper has to say.
type Report struct {
	At   time.Time
	What string // connected, offline, shipped, lost, refused, lease
	Text message.Reason
	// Events and Sessions count what was shipped.
	Events, Sessions int
}

func (s *Shipper) report(what string, r Report) {
	if s.Report != nil {
		r.At, r.What = s.Now(), what
		s.Report(r)
	}
}

// away says that the hub is, and why: once, not every few seconds for days.
func (s *Shipper) away(err error) {
	text := err.Error()
	if hint := message.HintOf(err, s.Lang); hint != "" {
		text += " (" + hint + ")"
	}
	if old := s.told.Swap(&text); old == nil || *old != text {
		what := message.TeamOffline
		_, here := errors.AsType[*fs.PathError](err)
		if _, there := errors.AsType[hubFull](err); here || there {
			what = message.TeamShipTrouble // with a full disk the hub is not away
		}
		s.report("offline", Report{Text: message.Because(what, text)})
	}
}

// Run ships until the context ends. A hub that is away is waited for.
func (s *Shipper) Run(ctx context.Context) (err error) {
	release, ok, err := s.Home.TryLease(ShipLease)
	if err != nil {
		return err
	}
	if !ok {
		return message.WithHint(message.Fail(message.TeamShipTwice), message.HintTeamShipTwice)
	}
	defer release()
	if s.cur, err = loadCursor(s.Home.Root()); err != nil {
		return err
	}
	s.up = make(chan bool, 16)
	s.hub, err = Dial(s.Set, Dialing{Wait: !s.Once, Told: func(up bool, err error) {
		select {
		case s.up <- up:
		default:
		}
		if up {
			s.told.Store(nil)
			s.report("connected", Report{Text: message.Because(message.WatchConnected, shownHubs(s.Set.Hub))})
		} else if err != nil {
			s.away(err)
		}
	}})
	if err != nil {
		return err
	}
	defer s.hub.Close()
	s.checked, s.stamps = map[string]bool{}, map[string][2]int64{}
	s.states = states{s: s, known: map[string]published{}, origins: map[string]origin{}}
	wait := time.Duration(0)
	for {
		more, err := s.round(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && s.Once && !transient(err):
			return err
		case err != nil:
			err = s.hub.Why(ctx, err)
			if _, full := errors.AsType[hubFull](err); full && s.Once {
				return err
			}
			// Whatever was under way may have arrived or not: ask before the next.
			s.synced = false
			wait = min(max(2*wait, 250*time.Millisecond), 5*time.Second)
			s.away(err)
		case more:
			wait = 0
			continue
		case s.Once:
			return nil
		default:
			wait = s.Every
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// transient errors are those of a hub that is away for the moment.
func transient(err error) bool {
	return errors.Is(err, errHubSilent) || errors.Is(err, errNotAcknowledged)
}

var errNotAcknowledged = errors.New("not acknowledged")

// reload takes over what was shared, or no longer, since the shipper began.
func (s *Shipper) reload() {
	info, err := os.Stat(settingsFile(s.Home.Root()))
	if err != nil || s.set != nil && os.SameFile(info, s.set) && info.ModTime().Equal(s.set.ModTime()) {
		return
	}
	first := s.set == nil
	s.set = info
	if now, err := Load(s.Home.Root()); err == nil && !first && now.Machine == s.Set.Machine {
		s.Set.Share, s.Set.Recipients = now.Share, now.Recipients
		s.states.again()
	}
}

// round publishes a window of events; more says that there are others.
func (s *Shipper) round(ctx context.Context) (more bool, err error) {
	s.reload()
	if !s.synced {
		if err := s.sync(ctx); err != nil {
			return false, err
		}
	}
	sessions, err := s.Home.Sessions()
	if err != nil {
		return false, err
	}
	b := batch{s: s, marks: map[string]store.Mark{}}
	for _, info := range sessions {
		left, err := b.session(ctx, info.ID)
		if err != nil {
			return false, errors.Join(err, b.wait(ctx))
		}
		more = more || left
		if b.full() {
			more = true
			break
		}
	}
	if err := b.wait(ctx); err != nil {
		return false, err
	}
	if len(b.marks) > 0 {
		maps.Copy(s.cur.Sessions, b.marks)
		s.cur.Pos = max(s.cur.Pos, b.pos)
		if err := s.cur.save(s.Home.Root()); err != nil {
			return false, err
		}
	}
	maps.Copy(s.stamps, b.done)
	if b.sent > 0 {
		s.total += uint64(b.sent)
		s.report("shipped", Report{Text: message.Because(message.TeamShipped, b.sent, len(b.marks)), Events: b.sent, Sessions: len(b.marks)})
	}
	if more {
		return true, nil
	}
	return false, s.states.publish(ctx, sessions)
}

// batch is what one round publishes.
type batch struct {
	s     *Shipper
	acks  []jetstream.PubAckFuture
	marks map[string]store.Mark
	done  map[string][2]int64
	bytes int64
	sent  int
	pos   uint64
}

func (b *batch) full() bool { return len(b.acks) >= window || b.bytes >= windowBytes }

// session publishes some of what a timeline has new.
func (b *batch) session(ctx context.Context, id string) (left bool, err error) {
	s := b.s
	sess, err := s.Home.Session(id)
	if err != nil {
		return false, nil //nolint:nilerr // not a session
	}
	stamp, ok := sess.Grown()
	if !ok || s.stamps[id] == stamp && stamp != [2]int64{} {
		return false, nil
	}
	mark, known := s.cur.Sessions[id]
	if !known && !s.checked[id] {
		if mark, err = s.adopt(ctx, sess); err != nil {
			return false, err
		}
		s.checked[id] = true
		s.cur.Sessions[id] = mark
	}
	limit := min(perSession, window-len(b.acks))
	list, lost, err := sess.After(mark, limit, windowBytes-b.bytes)
	if err != nil {
		return false, err
	}
	if lost {
		s.cur.Lost++
		s.report("lost", Report{Text: message.Because(message.TeamLost, id)})
	}
	from := s.states.origin(sess)
	for _, o := range list {
		if n := s.have[id]; n == nil || !n.has(o.Mark.Seq) {
			m, err := outbound(s.Set, id, o, from)
			if err != nil {
				return false, err
			}
			f, err := s.hub.js.PublishMsgAsync(m)
			if err != nil {
				return false, fmt.Errorf("%w: %w", errNotAcknowledged, err)
			}
			b.acks = append(b.acks, f)
			b.sent++
		}
		b.bytes += int64(len(o.Raw))
		b.marks[id] = o.Mark
	}
	left = len(list) >= limit || b.full()
	if !left {
		if b.done == nil {
			b.done = map[string][2]int64{}
		}
		b.done[id] = stamp
	}
	return left, nil
}

// wait takes the hub's word for everything that was published.
func (b *batch) wait(ctx context.Context) error {
	deadline := time.NewTimer(ackTimeout + time.Second)
	defer deadline.Stop()
	for _, f := range b.acks {
		select {
		case ack := <-f.Ok():
			b.pos = max(b.pos, ack.Sequence)
			if ack.Duplicate {
				if err := b.s.confirm(ctx, f.Msg(), ack.Sequence); err != nil {
					return err
				}
			}
		case err := <-f.Err():
			if subject := f.Msg().Subject; b.s.hub.wasRefused(subject) {
				return message.WithHint(message.Fail(message.TeamRefused, subject), message.HintTeamRefused)
			}
			return fmt.Errorf("%w: %w", errNotAcknowledged, err)
		case <-deadline.C:
			return errNotAcknowledged
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// confirm looks at the message that the hub takes ours for a repeat of. Nearly
// always it is ours, of a publication that was not answered. If it is not,
// somebody has put a message with our id where it does not belong, so that ours
// would be dropped: then it goes out once more, with a mark that makes its id
// another one for the hub and the same for readers.
func (s *Shipper) confirm(ctx context.Context, m *nats.Msg, seq uint64) error {
	ours := false
	_, _, err := s.hub.page(ctx, eventStream, m.Subject, seq, time.Time{}, func(old stored) error {
		if e, ok := (Settings{}).inbound(old); ok && old.Seq == seq && old.Subject == m.Subject && e.mark == m.Header.Get(markHeader) {
			ours = true
		}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if ours {
		return nil
	}
	m.Header.Set(idHeader, m.Header.Get(idHeader)+again)
	wait, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	m.Reply = ""
	if _, err := s.hub.js.PublishMsg(wait, m); err != nil {
		return fmt.Errorf("%w: %w", errNotAcknowledged, err)
	}
	return nil
}

var errEnough = errors.New("enough")

// sync asks the hub what it has of us beyond what we know that it has.
func (s *Shipper) sync(ctx context.Context) error {
	info, err := s.hub.info(ctx, eventStream)
	if err != nil {
		return err
	}
	s.have = Seen{}
	if made := info.Created.UTC().Format(time.RFC3339Nano); s.cur.Hub != made || s.cur.Pos > info.State.LastSeq {
		// Another hub, or one that was restored from an older day: tell all that
		// the files hold once more, under the numbers that it had.
		if s.cur.Hub != "" {
			for id, m := range s.cur.Sessions {
				sess, err := s.Home.Session(id)
				if err != nil {
					continue
				}
				if first, ok, err := sess.First(m); err != nil {
					return err
				} else if ok {
					s.cur.Sessions[id] = first
				}
			}
		}
		s.cur.Hub, s.cur.Pos, s.cur.Work = made, 0, nil
		clear(s.stamps)
		s.states.again()
	}
	_, err = s.hub.each(ctx, eventStream, eventPrefix+s.Set.Machine+".>", s.cur.Pos+1, time.Time{}, func(m stored) error {
		if e, ok := (Settings{}).inbound(m); ok {
			s.have.of(e.Session).add(e.Seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.synced = true
	return nil
}

// adopt finds the place of a session that the cursor does not know: where the hub
// has events of it, the numbers go on from there, and what of the file it has not
// is told.
func (s *Shipper) adopt(ctx context.Context, sess *store.Session) (store.Mark, error) {
	subject := eventPrefix + s.Set.Machine + "." + sess.ID() + ".>"
	newest := Event{}
	have := &numbers{}
	last, err := s.hub.last(ctx, eventStream, subject)
	if err != nil || last.Seq == 0 {
		return store.Mark{}, err
	}
	_, err = s.hub.each(ctx, eventStream, subject, 1, time.Time{}, func(m stored) error {
		if e, ok := (Settings{}).inbound(m); ok {
			have.add(e.Seq)
			if e.Seq > newest.Seq {
				newest = e
			}
		}
		return nil
	})
	if err != nil || newest.Seq == 0 {
		return store.Mark{}, err
	}
	s.have[sess.ID()] = have
	mark, err := parseMark(newest.mark, newest.Seq)
	if err != nil {
		return store.Mark{Seq: newest.Seq}, nil //nolint:nilerr // an event of another version: the numbers go on
	}
	if first, ok, err := sess.First(mark); err != nil || ok {
		return first, err
	}
	return mark, nil
}
