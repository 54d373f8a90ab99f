package team

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Lease says which machine may go on with a session that moves.
//
// Its token is the place of the message that took it in the hub's stream, so it
// only grows, whoever takes it and whatever was forgotten in between: a holder
// with a smaller one is a former holder. Every step names the message that it
// replaces, so of two that step at once one fails.
//
// It lasts for a time that stands in the value. A holder counts from before its
// request, the hub from after it: so the holder is the first to know that the lease
// is over. Every message expires after the same time, so that an older one is never
// the newest again.
//
// Every machine may write to every lease. So all messages stay, and those that are
// no step of a lease (an empty one, one that claims to delete, an answer of the
// hub's that somebody had sent there) do not count.
type Lease struct {
	Session string    `json:"session"`
	Holder  string    `json:"holder"`
	Token   uint64    `json:"token,omitempty"` // 0 in the message that takes it
	Phase   Phase     `json:"phase"`
	Expires time.Time `json:"expires"`
	Seconds int64     `json:"seconds,omitempty"` // how long it lasts, from when the hub has it
	Nonce   string    `json:"nonce"`             // tells a writer that did not hear an answer whether it was heard

	seq  uint64    // of its message
	rev  uint64    // of the last message on its subject
	ends time.Time // by the hub's clock
}

// Phase is what a holder does with its lease.
type Phase string

const (
	phaseOffered Phase = "offered" // pushed, and waits for who pulls it
	phaseTaking  Phase = "taking"  // somebody is about to move it
	phaseHeld    Phase = "held"    // it goes on there
)

// How long each lasts.
const (
	offeredFor = 7 * 24 * time.Hour
	takingFor  = 2 * time.Minute
	heldFor    = 24 * time.Hour
	// stepFor is how long the hub keeps a step: longer than any lease lasts.
	stepFor = offeredFor + heldFor
	// skew is how long after its end a lease is believed of which only the holder's
	// clock tells the end.
	skew = time.Minute
)

// errLeaseLost is the error of a former holder.
var errLeaseLost = errors.New("the lease belongs to somebody else by now")

func parseLease(m stored) (Lease, bool) {
	var l Lease
	if m.Seq == 0 || m.marker() || m.relayed() || json.Unmarshal(m.Data, &l) != nil || leasePrefix+l.Session != m.Subject {
		return Lease{}, false
	}
	l.seq, l.rev, l.ends = m.Seq, m.Seq, l.Expires.Add(skew)
	lasts := time.Duration(l.Seconds) * time.Second
	if l.Seconds == 0 { // by a version whose messages went with the lease
		lasts, _ = time.ParseDuration(m.Header.Get(jetstream.MsgTTLHeader))
	}
	if lasts > 0 && !m.Time.IsZero() {
		l.ends = m.Time.Add(lasts)
	}
	l.Token = cmp.Or(l.Token, m.Seq)
	return l, true
}

// lease is the lease of a session; the zero lease where nobody has it.
func (h *Hub) lease(ctx context.Context, session string) (Lease, error) {
	var l Lease
	last, err := h.newest(ctx, leaseStream, leasePrefix+session, func(m stored) bool {
		step, ok := parseLease(m)
		if ok {
			l = step
		}
		return ok
	})
	if err != nil {
		return Lease{}, err
	}
	if l.Holder != "" {
		// Whether it is over, the hub's clock alone says: the holder's and ours may be a
		// day apart.
		info, err := h.info(ctx, leaseStream)
		if err != nil {
			return Lease{}, err
		}
		if !info.TimeStamp.Before(l.ends) {
			l = Lease{}
		}
	}
	l.rev = last
	return l, nil
}

// free reports whether a machine may take a lease: nobody has it, it does itself,
// or its holder offers it.
func (h *Hub) free(l Lease) bool {
	return l.Holder == "" || l.Holder == h.set.Machine || l.Phase == phaseOffered
}

// forgot reports whether the hub is another than the one that gave this token.
func (h *Hub) forgot(ctx context.Context, token uint64) (bool, error) {
	info, err := h.info(ctx, leaseStream)
	return err == nil && info.State.LastSeq < token, err
}

// take takes the lease of a session, with a new token. Where another machine has
// it, the error says which.
func (h *Hub) take(ctx context.Context, session string, p Phase, ttl time.Duration, now func() time.Time) (Lease, error) {
	for tries := 0; ; tries++ {
		cur, err := h.lease(ctx, session)
		if err != nil {
			return Lease{}, err
		}
		switch ends := cur.ends.Local().Format(time.DateTime); {
		case h.free(cur):
		case cur.Phase == phaseTaking:
			return Lease{}, message.Fail(message.TeamTaking, cur.Holder, session, ends)
		default:
			return Lease{}, message.WithHint(message.Fail(message.TeamLeased, session, cur.Holder, ends), message.HintTeamLeased, cur.Holder)
		}
		l, err := h.step(ctx, Lease{Session: session, Holder: h.set.Machine, Phase: p}, cur, ttl, now)
		if !errors.Is(err, errLeaseLost) || tries == 4 {
			return l, err
		}
	}
}

// renew goes on with a lease, in the same or another phase. [errLeaseLost] where
// somebody else has taken it: what was meant to be done with it must not be done.
func (h *Hub) renew(ctx context.Context, l Lease, p Phase, ttl time.Duration, now func() time.Time) (Lease, error) {
	if !now().Before(l.Expires) {
		return l, fmt.Errorf("%w (it ended at %s)", errLeaseLost, l.Expires.UTC().Format(time.RFC3339))
	}
	from := l
	l.Phase = p
	return h.step(ctx, l, from, ttl, now)
}

// step writes the lease that follows upon another.
func (h *Hub) step(ctx context.Context, l, from Lease, ttl time.Duration, now func() time.Time) (Lease, error) {
	// By the clock on the wall: the other stands still while a machine sleeps.
	l.Nonce, l.Expires = rand.Text(), now().Add(ttl).UTC().Round(0)
	l.Seconds = int64(max(time.Second, ttl.Round(time.Second)) / time.Second)
	m := nats.NewMsg(leasePrefix + l.Session)
	m.Data = store.EncodeJSON(l)
	m.Header.Set(jetstream.MsgTTLHeader, strconv.Itoa(int(stepFor/time.Second)))
	for tries := 0; ; tries++ {
		seq, err := h.follow(ctx, leaseStream, m, from.rev)
		if err == nil {
			l.seq, l.rev, l.Token = seq, seq, cmp.Or(l.Token, seq)
			return l, nil
		}
		if ctx.Err() != nil {
			return l, ctx.Err()
		}
		if h.wasRefused(m.Subject) {
			return l, message.WithHint(message.Fail(message.TeamRefused, m.Subject), message.HintTeamRefused)
		}
		// It may have arrived all the same, also when the hub says that another
		// message stands there: an attempt before this one.
		cur, lerr := h.lease(ctx, l.Session)
		switch {
		case lerr == nil && cur.Nonce == l.Nonce:
			return cur, nil
		case lerr == nil && cur.seq != from.seq:
			return l, errLeaseLost
		case tries == 4:
			return l, fmt.Errorf("%w: lease of %s: %w", errNotAcknowledged, l.Session, err)
		case lerr == nil:
			from.rev = cur.rev // somebody wrote there what is no step
		}
		if !now().Before(l.Expires) {
			return l, fmt.Errorf("%w: lease of %s: %w", errNotAcknowledged, l.Session, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// bundle says where what was pushed of a session lies. It outlives leases, which
// go by themselves: whoever comes after a machine that died in the middle of a
// pull must still find it.
type bundle struct {
	Session string `json:"session"`
	Machine string `json:"machine"` // that pushed it
	Token   uint64 `json:"token"`   // that it had
	// Holder is the last machine that the session went on at, Held its token: who
	// has it still, and lost its lease by sleeping too long, may have it again.
	Holder string `json:"holder,omitempty"`
	Held   uint64 `json:"held,omitempty"`
}

func bundleKey(session string) string { return leasePrefix + session + ".bundle" }

func (h *Hub) bundle(ctx context.Context, session string) (b bundle, rev uint64, err error) {
	rev, err = h.newest(ctx, leaseStream, bundleKey(session), func(m stored) bool {
		var v bundle
		ok := !m.marker() && !m.relayed() && json.Unmarshal(m.Data, &v) == nil && v.Session == session
		if ok {
			b = v
		}
		return ok
	})
	if !ValidMachine(b.Machine) {
		b.Machine, b.Token = "", 0 // nothing that can be taken over
	}
	return b, rev, err
}

// announce tells where a session's bundle lies. One with a larger token stays:
// then we are a former holder.
func (h *Hub) announce(ctx context.Context, b bundle) error {
	return h.changeBundle(ctx, b.Session, func(old bundle) (bundle, error) {
		b.Holder, b.Held = old.Holder, old.Held
		if old.Token >= b.Token && old != b {
			return old, errLeaseLost
		}
		return b, nil
	})
}

// holds tells that a session goes on here.
func (h *Hub) holds(ctx context.Context, l Lease) error {
	return h.changeBundle(ctx, l.Session, func(old bundle) (bundle, error) {
		if l.Token > old.Held {
			old.Session, old.Holder, old.Held = l.Session, l.Holder, l.Token
		}
		return old, nil
	})
}

func (h *Hub) changeBundle(ctx context.Context, session string, change func(bundle) (bundle, error)) error {
	for range 5 {
		old, rev, err := h.bundle(ctx, session)
		if err != nil {
			return err
		}
		b, err := change(old)
		if err != nil || b == old {
			return err
		}
		_, err = h.follow(ctx, leaseStream, &nats.Msg{Subject: bundleKey(session), Data: store.EncodeJSON(b)}, rev)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !wrongRevision(err) {
			time.Sleep(100 * time.Millisecond)
		}
	}
	return fmt.Errorf("%w: bundle of %s", errNotAcknowledged, session)
}

// offered finds a session that was pushed, by its id or the beginning of one.
func (h *Hub) offered(ctx context.Context, ref string) (string, error) {
	found := ""
	_, err := h.each(ctx, leaseStream, bundleKey("*"), 1, time.Time{}, func(m stored) error {
		id := strings.TrimSuffix(strings.TrimPrefix(m.Subject, leasePrefix), ".bundle")
		switch {
		case m.marker() || m.relayed() || !strings.HasPrefix(id, ref) || found == ref:
		case id == ref || found == "" || found == id:
			found = id
		default:
			return message.Fail(message.TeamManySessions, ref)
		}
		return nil
	})
	return found, err
}
