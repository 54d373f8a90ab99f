package team

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// State is what the team sees of one session. It holds no words of anybody.
type State struct {
	Schema  int    `json:"schema"`
	Machine string `json:"machine"`
	Session string `json:"session"`
	Host    string `json:"host,omitempty"`
	Project string `json:"project,omitempty"` // the last part of the folder's path
	// Workflow, Phase, Stage, Done and Total are the workflow's; empty without one.
	Workflow string `json:"workflow,omitempty"`
	Phase    string `json:"phase,omitempty"`
	Stage    string `json:"stage,omitempty"`
	Done     int    `json:"done,omitempty"`
	Total    int    `json:"total,omitempty"`
	Model    string `json:"model,omitempty"`
	// Left is the free share of the context in percent; -1 when it is not known.
	Left        int    `json:"left"`
	Compactions int    `json:"compactions,omitempty"`
	Packet      string `json:"packet,omitempty"` // the newest
	PacketState string `json:"packetState,omitempty"`
	// Events is the number of the session's last event, Last when it was.
	Events uint64 `json:"events"`
	Last   string `json:"last,omitempty"`
	Ended  bool   `json:"ended,omitempty"`
}

// Beat is a machine's sign of life.
type Beat struct {
	Schema  int       `json:"schema"`
	Machine string    `json:"machine"`
	Version string    `json:"version"`
	At      time.Time `json:"at"`
	Shipped uint64    `json:"shipped"` // events, since the shipper began
	Lost    int       `json:"lost,omitempty"`
	// Place tells homes apart, in case one was copied.
	Place string `json:"place,omitempty"`
}

// homePlace is a digest of where this home lies; it says nothing to others.
func homePlace(set Settings, root string) string {
	host, _ := os.Hostname()
	sum := sha256.Sum256([]byte(set.Seed + "\n" + host + "\n" + root))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// twin reports whether another home shipped under the machine's name lately.
func (h *Hub) twin(ctx context.Context, root string, now time.Time) (bool, error) {
	m, err := h.last(ctx, stateStream, statePrefix+h.set.Machine)
	if err != nil || m.Seq == 0 || m.marker() {
		return false, err
	}
	var b Beat
	if json.Unmarshal(m.Data, &b) != nil {
		return false, nil //nolint:nilerr // by nobody we know
	}
	return b.Place != "" && b.Place != homePlace(h.set, root) && now.Sub(b.At).Abs() < 3*beatEvery, nil
}

// How long a state may be, and how many are listened to: a machine that says more
// must not fill the memory of the others.
const (
	maxState  = 4 << 10
	maxStates = 20000
)

const beatEvery = 30 * time.Second

// states publishes what changed of the sessions.
type states struct {
	s       *Shipper
	known   map[string]published
	origins map[string]origin
	beat    time.Time
	held    time.Time
	fleet   time.Time
}

type published struct {
	stamp [2]int64
	value []byte
	rev   uint64
	work  [2]int64  // the stamp at which its work was published
	at    time.Time // when
}

// again looks at every session anew: the hub is another, or other folders are shared.
func (st *states) again() {
	clear(st.known)
	clear(st.origins)
}

// origin is where a session runs. What is not known yet is looked for again.
func (st *states) origin(sess *store.Session) origin {
	o, ok := st.origins[sess.ID()]
	if ok && o.Project != "" {
		return o
	}
	p := findPlace(sess, st.s.Dir)
	o = origin{Host: string(p.Host), Project: shownProject(p.Cwd), Shared: st.s.Set.shares(p.Cwd)}
	st.origins[sess.ID()] = o
	return o
}

func shownProject(cwd string) string {
	if cwd == "" {
		return ""
	}
	return redact.Clean(filepath.Base(cwd))
}

// place is where a session's conversation lies.
type place struct {
	Host       host.Name
	Transcript string
	Cwd        string
}

// findPlace finds a session's file, by what its hooks were told, and the folder
// that it was started in.
func findPlace(sess *store.Session, dir func(*host.Host) string) place {
	p := place{Transcript: session.Read(sess).Thread.Transcript}
	for _, h := range host.All() {
		root := filepath.Join(dir(h), h.Sessions.Dir)
		if rel, err := filepath.Rel(root, p.Transcript); p.Transcript != "" && err == nil && filepath.IsLocal(rel) {
			p.Host = h.Name
		}
	}
	if p.Transcript != "" {
		p.Cwd = transcript.FirstCWD(p.Transcript)
	}
	return p
}

// read is a session as the team sees it.
func (st *states) read(sess *store.Session) (State, error) {
	o := st.origin(sess)
	v := State{Schema: 1, Machine: st.s.Set.Machine, Session: sess.ID(), Host: o.Host, Project: o.Project, Left: -1}
	wf, err := session.Peek(sess)
	if err != nil {
		return v, err
	}
	if wf != nil {
		v.Workflow, v.Phase, v.Stage = wf.WorkflowType, wf.Phase(), wf.CurrentStage
		v.Done, v.Total = wf.Progress()
	}
	m := session.Read(sess)
	v.Left, v.Compactions = m.Thread.Usage.Remaining(), m.Compactions
	if plainName(m.Thread.Model) {
		v.Model = m.Thread.Model
	}
	if k := m.Compaction; k != nil && k.Receipt != nil {
		v.Packet, v.PacketState = k.Receipt.ID, string(k.Receipt.State)
	}
	v.Events = st.s.cur.Sessions[sess.ID()].Seq
	for e, err := range sess.Newest(store.Filter{}) {
		if err == nil {
			v.Last, v.Ended = e.TS, e.Type == message.EventSessionEnd
		}
		break
	}
	return v, nil
}

// publish writes the states that changed, and the machine's sign of life.
func (st *states) publish(ctx context.Context, sessions []store.SessionInfo) error {
	now := st.s.Now()
	var problem error
	for _, info := range sessions {
		sess, err := st.s.Home.Session(info.ID)
		if err != nil {
			continue
		}
		stamp, ok := sess.Grown()
		old := st.known[info.ID]
		if !ok {
			continue
		}
		// Work that could not be published is tried again later; the rest goes on.
		if old.work != stamp && (st.s.Once || now.Sub(old.at).Abs() >= workEvery) {
			switch shared := st.origin(sess).Shared && len(st.s.Set.Recipients) > 0; {
			case shared:
				err = st.s.work(ctx, sess)
			default:
				err = st.s.unshare(ctx, info.ID)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if old.at = now; err == nil {
				old.work = stamp
			} else {
				problem = err
			}
			st.known[info.ID] = old
		}
		if old.stamp == stamp {
			continue
		}
		v, err := st.read(sess)
		if err != nil {
			continue // a state that cannot be read is for `overtone doctor`
		}
		data := store.EncodeJSON(v)
		if !bytes.Equal(data, old.value) {
			if old.rev, err = st.s.hub.put(ctx, stateStream, statePrefix+st.s.Set.Machine+"."+info.ID, data, old.rev); err != nil {
				return err
			}
		}
		old.stamp, old.value = stamp, data
		st.known[info.ID] = old
	}
	if now.Sub(st.held).Abs() >= holdEvery {
		if err := st.s.keepLeases(ctx, sessions); err != nil {
			return err
		}
		st.held = now
	}
	if !st.s.Once && now.Sub(st.fleet).Abs() >= fleetEvery {
		f, err := st.s.hub.Fleet(ctx)
		if err == nil {
			st.sayAgain(f)
			err = st.s.hub.SaveFleet(f, st.s.Home.Root(), now)
		}
		if err != nil {
			problem = err
		}
		st.fleet = now
	}
	if now.Sub(st.beat).Abs() < beatEvery {
		return problem
	}
	if twin, err := st.s.hub.twin(ctx, st.s.Home.Root(), now); err != nil {
		return err
	} else if twin {
		st.s.report("twin", Report{Text: message.Because(message.TeamTwin, st.s.Set.Machine)})
	}
	here := homePlace(st.s.Set, st.s.Home.Root())
	data := store.EncodeJSON(Beat{1, st.s.Set.Machine, st.s.Version, now.UTC(), st.s.total, st.s.cur.Lost, here})
	if _, err := st.s.hub.put(ctx, stateStream, statePrefix+st.s.Set.Machine, data, 0); err != nil {
		return err
	}
	st.beat = now
	return problem
}

// sayAgain marks states that the hub no longer has as not published. The hub keeps one
// message of each, and any machine can have an answer of the hub's sent to its place.
func (st *states) sayAgain(f Fleet) {
	there := map[string]bool{}
	for _, v := range f.States {
		there[v.Session] = there[v.Session] || v.Machine == st.s.Set.Machine
	}
	for id, p := range st.known {
		if p.value != nil && !there[id] && len(f.States) < maxStates {
			p.stamp, p.value = [2]int64{}, nil
			st.known[id] = p
		}
	}
}

// put writes a key of ours, compare and set by revision: of two writers under one
// name, which a copied home makes, none overwrites unseen. Who comes second takes
// the new revision and writes again.
func (h *Hub) put(ctx context.Context, stream, subject string, data []byte, rev uint64) (uint64, error) {
	for range 5 {
		seq, err := h.follow(ctx, stream, &nats.Msg{Subject: subject, Data: data}, rev)
		switch {
		case err == nil:
			return seq, nil
		case ctx.Err() != nil:
			return rev, ctx.Err()
		case h.wasRefused(subject):
			return rev, message.WithHint(message.Fail(message.TeamRefused, subject), message.HintTeamRefused)
		case !wrongRevision(err):
			return rev, fmt.Errorf("%w: %s: %w", errNotAcknowledged, strings.TrimPrefix(subject, "$KV."), err)
		}
		m, err := h.last(ctx, stream, subject)
		if err != nil {
			return rev, err
		}
		if rev = m.Seq; bytes.Equal(m.Data, data) {
			return rev, nil
		}
	}
	return rev, fmt.Errorf("%w: %s is written by somebody else", errNotAcknowledged, subject)
}

// follow publishes a message that has to follow upon the one in that place, and returns its
// own place.
func (h *Hub) follow(ctx context.Context, stream string, m *nats.Msg, rev uint64) (seq uint64, err error) {
	wait, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	ack, err := h.js.PublishMsg(wait, m, jetstream.WithExpectStream(stream), jetstream.WithExpectLastSequencePerSubject(rev))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

func wrongRevision(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == 10164)
}

// Fleet is the machines and what runs on them.
type Fleet struct {
	Beats  []Beat
	States []State
	Leases map[string]Lease
}

// Fleet asks the hub who runs what.
func (h *Hub) Fleet(ctx context.Context) (Fleet, error) {
	f := Fleet{Leases: map[string]Lease{}}
	_, err := h.each(ctx, stateStream, statePrefix+">", 1, time.Time{}, func(m stored) error {
		if m.marker() || m.relayed() {
			return nil
		}
		if len(m.Data) > maxState {
			return nil // nobody's state is as long
		}
		machine, id, isSession := strings.Cut(strings.TrimPrefix(m.Subject, statePrefix), ".")
		var (
			v State
			b Beat
		)
		switch {
		case isSession && len(f.States) < maxStates && json.Unmarshal(m.Data, &v) == nil && v.Machine == machine && v.Session == id:
			f.States = append(f.States, v)
		case !isSession && json.Unmarshal(m.Data, &b) == nil && b.Machine == machine:
			f.Beats = append(f.Beats, b)
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	_, err = h.each(ctx, leaseStream, leasePrefix+">", 1, time.Time{}, func(m stored) error {
		if l, ok := parseLease(m); ok && len(m.Data) <= maxState && len(f.Leases) < maxStates {
			f.Leases[l.Session] = l
		}
		return nil
	})
	if err != nil || len(f.Leases) == 0 {
		return f, err
	}
	info, err := h.info(ctx, leaseStream)
	maps.DeleteFunc(f.Leases, func(_ string, l Lease) bool { return !info.TimeStamp.Before(l.ends) })
	return f, err
}

// fleetEvery is how often the shipper asks what the others do; fleetSessions how
// many sessions it writes down.
const (
	fleetEvery    = 15 * time.Second
	fleetSessions = 300
)

// Sort puts the machines in the order of their names, and the sessions that went
// on last first, those that ended after those that did not.
func (f *Fleet) Sort() {
	slices.SortFunc(f.Beats, func(a, b Beat) int { return strings.Compare(a.Machine, b.Machine) })
	slices.SortFunc(f.States, func(a, b State) int {
		if a.Ended != b.Ended {
			if a.Ended {
				return 1
			}
			return -1
		}
		return cmp.Or(strings.Compare(b.Last, a.Last), strings.Compare(a.Session, b.Session))
	})
}

// SaveFleet writes down what the hub said, for the dashboard, which asks no network.
func (h *Hub) SaveFleet(f Fleet, root string, now time.Time) error {
	f.Sort()
	f.States = f.States[:min(len(f.States), fleetSessions)]
	f.Beats = f.Beats[:min(len(f.Beats), fleetSessions)]
	leases := map[string]Lease{}
	for _, v := range f.States {
		if l, ok := f.Leases[v.Session]; ok {
			leases[v.Session] = l
		}
	}
	data := store.EncodeJSON(struct {
		Schema   int              `json:"schema"`
		At       time.Time        `json:"at"`
		Machine  string           `json:"machine"`
		Machines []Beat           `json:"machines"`
		Sessions []State          `json:"sessions"`
		Leases   map[string]Lease `json:"leases"`
	}{1, now.UTC(), h.set.Machine, append([]Beat{}, f.Beats...), append([]State{}, f.States...), leases})
	return store.LooseWrite(filepath.Join(folder(root), "fleet.json"), data, 0o600)
}
