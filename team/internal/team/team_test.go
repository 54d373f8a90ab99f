package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// fastDir is a folder in memory where the system has one: the hub flushes for
// every event, and the tests are not about the disk.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "overtone-team-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// patience is how long a test waits for what must come: only a broken hub is
// slower, not a busy machine.
const patience = 2 * time.Minute

var takenPorts sync.Map

// freePort is an address on loopback that nobody listens on. It lies below those
// that systems give to connections and to listeners without a wish, so nobody
// takes it while a node that is killed is away.
func freePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		if _, taken := takenPorts.LoadOrStore(port, true); taken {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		defer l.Close()
		return l.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}

// startNode runs a hub of its own in a folder of its own.
func startNode(t testing.TB) Node {
	t.Helper()
	n := Node{Dir: fastDir(t), Listen: freePort(t), Tenant: "team", Keep: 24 * time.Hour, Now: time.Now}
	runNode(t, n)
	return n
}

// A hub listens on every address, or on one that its certificate does not hold
// for, as docs/team.md starts it; its own work needs a name that it does hold for.
func TestHubOnEveryAddress(t *testing.T) {
	t.Parallel()
	_, port, err := net.SplitHostPort(freePort(t))
	if err != nil {
		t.Fatal(err)
	}
	n := Node{Dir: fastDir(t), Listen: "0.0.0.0:" + port, Names: []string{"localhost", "hub.example.org"}, Tenant: "team", Keep: time.Hour, Now: time.Now}
	runNode(t, n)
	set, err := n.Invite("laptop")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"tls://localhost:" + port, "tls://hub.example.org:" + port}; !slices.Equal(set.Hub, want) {
		t.Errorf("invited to %v, want %v", set.Hub, want)
	}
	// A script joins at once, before the hub has seen its new list.
	set.Hub = set.Hub[:1]
	h, err := DialNew(t.Context(), set, patience)
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	set.Seed = strangerSeed(t)
	if _, err := DialNew(t.Context(), set, time.Second); err == nil {
		t.Error("a stranger was let in")
	}
}

// A shipper that a hub does not let in, or that finds none, says why, once.
func TestShipperSaysWhy(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	m := n.machine(t, "laptop")
	other, err := Node{Dir: t.TempDir(), Listen: freePort(t), Tenant: "team", Now: time.Now}.Invite("laptop")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Settings){
		"Authorization": func(s *Settings) { s.Seed = other.Seed },
		"refused":       func(s *Settings) { s.Hub = other.Hub },
		"certificate":   func(s *Settings) { s.CA = other.CA },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := m.shipper()
			change(&s.Set)
			s.Home = store.New(t.TempDir(), t.TempDir(), time.Now)
			s.Once, s.Every, s.Lang = false, time.Millisecond, message.EN
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var mu sync.Mutex
			var said []string
			s.Report = func(r Report) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, r.Text.In(message.EN))
				if strings.Contains(said[len(said)-1], name) {
					time.AfterFunc(time.Second, cancel)
				}
			}
			if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%v: %q", err, said)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(said) > 3 {
				t.Errorf("%d times: %q", len(said), said)
			}
		})
	}
}

// A home that was copied to a second machine ships under the same name; both are
// told, and nobody else is suspected.
func TestCopiedHome(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	m := n.machine(t, "laptop")
	twin := *m
	twin.home = store.New(filepath.Join(t.TempDir(), "overtone"), t.TempDir(), time.Now)
	told := func(m *machine) (n int) {
		t.Helper()
		s := m.shipper()
		s.Report = func(r Report) {
			if r.What == "twin" {
				n++
			}
		}
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if told(m)+told(m) != 0 {
		t.Error("a machine is taken for its own twin")
	}
	if told(&twin) != 1 || told(m) != 1 {
		t.Error("two homes under one name go unseen")
	}
	h := m.dial()
	if v, err := h.Doctor(t.Context(), twin.home.Root(), time.Now); err != nil || !v.Twin {
		t.Errorf("doctor: %+v %v", v, err)
	}
	if v, err := h.Doctor(t.Context(), m.home.Root(), time.Now); err != nil || v.Twin {
		t.Errorf("doctor, after its own sign of life: %+v %v", v, err)
	}
}

// What is shown and what is given away of a hub's addresses holds no password.
func TestOpenHubs(t *testing.T) {
	t.Parallel()
	got := OpenHubs([]string{"tls://boss:p@ss@hub.example.org:4222", "nats://token@h:1", "tls://h", "h:4222"})
	if want := []string{"tls://hub.example.org:4222", "nats://h:1", "tls://h", "h:4222"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func strangerSeed(t testing.TB) string {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return string(seed)
}

func runNode(t testing.TB, n Node) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- n.Serve(ctx, func(string) { close(ready) }) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		done <- nil
	}
	t.Cleanup(stop)
	select {
	case <-ready:
	case err := <-done:
		done <- nil
		t.Fatalf("hub: %v", err)
	case <-time.After(patience):
		t.Fatal("the hub does not come up")
	}
	return stop
}

// machine is a home with a place on a hub.
type machine struct {
	t    testing.TB
	set  Settings
	home *store.Home
	dir  string
}

func (n Node) machine(t testing.TB, name string) *machine {
	t.Helper()
	set, err := n.Invite(name)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, set: set, dir: t.TempDir()}
	m.home = storeOf(m.dir)
	if err := set.Save(m.home.Root()); err != nil {
		t.Fatal(err)
	}
	m.letIn()
	return m
}

func storeOf(dir string) *store.Home {
	return store.New(filepath.Join(dir, "overtone"), filepath.Join(dir, "claude"), time.Now)
}

// letIn waits for the node to take the machine in, within a second or so.
func (m *machine) letIn() {
	m.t.Helper()
	until(m.t, func() error {
		h, err := Dial(m.set, Dialing{})
		if err != nil {
			return err
		}
		defer h.Close()
		_, err = h.info(context.Background(), "OBJ_"+objectBucket(m.set.Machine))
		return err
	})
}

// until asks another process again and again, until it has come so far. What it says in
// the meantime is an error.
func until(t testing.TB, ask func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := ask()
		if err == nil {
			return
		}
		if pause(ctx, 20*time.Millisecond) != nil {
			t.Fatalf("never: %v", err)
		}
	}
}

func (m *machine) hostDir(h *host.Host) string {
	return filepath.Join(m.dir, strings.TrimSuffix(string(h.Name), "-code"))
}

func (m *machine) shipper() *Shipper {
	return &Shipper{Home: m.home, Set: m.set, Dir: m.hostDir, Version: "test", Every: 20 * time.Millisecond, Once: true, Now: time.Now}
}

func (m *machine) ship() {
	m.t.Helper()
	if err := m.shipper().Run(context.Background()); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) dial() *Hub {
	m.t.Helper()
	h, err := Dial(m.set, Dialing{})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(h.Close)
	return h
}

// emit writes n events to a session's timeline, numbered from first.
func (m *machine) emit(id string, first, n int) {
	m.t.Helper()
	s, err := m.home.Session(id)
	if err != nil {
		m.t.Fatal(err)
	}
	err = s.Update(func(tx *store.Tx) error {
		var events []store.Event
		for i := first; i < first+n; i++ {
			events = append(events, store.On(message.EventStageComplete, "stage", "DEV", "iteration", i, "reason", "free text "+fmt.Sprint(i)))
		}
		return tx.Emit(events...)
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// all reads every event as a reader does, and checks that the iterations of each
// session are 1…n in the order of its numbers.
func all(t testing.TB, h *Hub) map[string]int {
	t.Helper()
	got := map[string]map[uint64]string{}
	_, err := h.Events(context.Background(), Query{}, 0, Seen{}, func(e Event) error {
		key := e.Machine + "/" + e.Session
		if got[key] == nil {
			got[key] = map[uint64]string{}
		}
		if _, twice := got[key][e.Seq]; twice {
			t.Errorf("%s came twice", eventID(e.Machine, e.Session, e.Seq))
		}
		got[key][e.Seq] = e.Shown().Text("iteration")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for key, events := range got {
		counts[key] = len(events)
		for seq, iteration := range events {
			if fmt.Sprint(seq) != iteration {
				t.Errorf("%s/%d is iteration %s", key, seq, iteration)
			}
		}
	}
	return counts
}

func TestShip(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	a.emit("s1", 1, 700)
	a.emit("s2", 1, 3)
	b.emit("s1", 1, 5)
	a.ship()
	b.ship()
	h := a.dial()
	want := map[string]int{"alpha/s1": 700, "alpha/s2": 3, "beta/s1": 5}
	check := func(when string) {
		t.Helper()
		if got := all(t, h); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: %v, want %v", when, got, want)
		}
	}
	check("at first")

	// Nothing new: nothing goes out.
	a.ship()
	check("again")

	// More than the timeline keeps: it is trimmed while it is shipped.
	for i := range 30 {
		a.emit("s1", 701+100*i, 100)
		if i%5 == 4 {
			a.ship()
		}
	}
	want["alpha/s1"] = 3700
	check("after trims")

	// A lost cursor is found again on the hub.
	if err := os.Remove(cursorFile(a.home.Root())); err != nil {
		t.Fatal(err)
	}
	a.emit("s1", 3701, 10)
	a.ship()
	want["alpha/s1"] = 3710
	check("without a cursor")

	// So is an old one.
	old, err := os.ReadFile(cursorFile(a.home.Root()))
	if err != nil {
		t.Fatal(err)
	}
	a.emit("s1", 3711, 400)
	a.ship()
	if err := os.WriteFile(cursorFile(a.home.Root()), old, 0o600); err != nil {
		t.Fatal(err)
	}
	a.emit("s1", 4111, 5)
	a.ship()
	want["alpha/s1"] = 4115
	check("with an old cursor")

	f, err := h.Fleet(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Beats) != 2 || len(f.States) != 3 {
		t.Errorf("fleet: %+v", f)
	}
	// For the dashboard: the newest sessions and their leases, no more than it needs.
	for i := range 2 * fleetSessions {
		f.States = append(f.States, State{Machine: "gamma", Session: fmt.Sprint("old", i), Last: "2020-01-01T00:00:00Z"})
	}
	f.Leases = map[string]Lease{"s1": {Session: "s1", Holder: "beta"}, "gone": {Session: "gone", Holder: "beta"}}
	if err := h.SaveFleet(f, a.home.Root(), time.Now()); err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Machine            string
		Machines, Sessions []struct{ Machine, Session, Last string }
		Leases             map[string]Lease
	}
	data, err := os.ReadFile(filepath.Join(folder(a.home.Root()), "fleet.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		t.Fatal(err)
	}
	if len(saved.Sessions) != fleetSessions || saved.Sessions[0].Machine == "gamma" || len(saved.Machines) != 2 || saved.Machine != "alpha" || len(saved.Leases) != 1 || saved.Leases["s1"].Holder != "beta" {
		t.Errorf("fleet.json: %d sessions, first %+v, %+v, %+v", len(saved.Sessions), saved.Sessions[0], saved.Machines, saved.Leases)
	}
	v, err := h.Doctor(context.Background(), t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if v.Events != 4118 || v.Missing != 0 || v.Repeated != 0 || v.Foreign != 0 || !v.OwnNameOnly || !v.CanRead || !v.LeaseOK || v.Skew > time.Second || !v.Stream.OnDisk {
		t.Errorf("doctor: %+v", v)
	}
}

// TestRebuild: a hub that lost everything is made again from the files, under the
// same ids; what the files no longer hold is seen as missing.
func TestRebuild(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a := n.machine(t, "alpha")
	for i := range 24 {
		a.emit("s1", 1+100*i, 100)
		a.ship()
	}
	collect := func(h *Hub) map[string]string {
		got := map[string]string{}
		if _, err := h.Events(context.Background(), Query{}, 0, Seen{}, func(e Event) error {
			got[eventID(e.Machine, e.Session, e.Seq)] = e.Shown().Text("iteration")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	before := collect(a.dial())
	other := Node{Dir: fastDir(t), Listen: freePort(t), Tenant: "team", Keep: time.Hour, Now: time.Now}
	runNode(t, other)
	b := other.machine(t, "alpha")
	b.home = a.home
	a.emit("s1", 2401, 7)
	b.ship()
	after := collect(b.dial())
	if len(before) != 2400 || len(after) < 2007 || len(after) > 2207 {
		t.Fatalf("%d before, %d after", len(before), len(after))
	}
	for id, iteration := range after {
		if old, ok := before[id]; ok && old != iteration {
			t.Fatalf("%s was %s and is %s", id, old, iteration)
		}
	}
	if after["alpha/s1/2407"] != "2407" {
		t.Error("the newest event has another number")
	}
}

func TestWhatLeaves(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	const secret = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
	write := func(id, cwd string) {
		dir := filepath.Join(a.hostDir(host.Of(host.ClaudeCode)), "projects", "p")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, id+".jsonl")
		if err := os.WriteFile(path, []byte(`{"type":"user","cwd":"`+cwd+`","sessionId":"`+id+`"}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, _ := a.home.Session(id)
		if _, err := session.UpdateThread(s, func(th *compact.Thread) { th.Transcript = path }); err != nil {
			t.Fatal(err)
		}
		if err := s.Update(func(tx *store.Tx) error {
			return tx.Emit(store.On(message.EventToolFailure, "toolName", "Bash", "error", "token "+secret+" was refused", "stage", secret, "agent", "/home/me/secret-project"))
		}); err != nil {
			t.Fatal(err)
		}
	}
	write("open", "/work/open")
	write("shared", "/work/shared/sub")
	a.set.Share = []string{"/work/shared"}
	a.ship()
	list, _, err := b.dial().Recent(context.Background(), Query{}, Seen{})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d events, %v", len(list), err)
	}
	for _, e := range list {
		if got := string(e.Line); strings.Contains(got, "refused") || strings.Contains(got, secret) || strings.Contains(got, "/home") || strings.Contains(got, "/work") {
			t.Errorf("in the open: %s", got)
		}
		if e.Shown().Text("toolName") != "Bash" {
			t.Errorf("lost: %s", e.Line)
		}
		switch e.Session {
		case "open":
			if e.Full != nil {
				t.Errorf("content of a project that is not shared: %s", e.Full)
			}
		case "shared":
			if got := string(e.Full); !strings.Contains(got, "was refused") || strings.Contains(got, secret) {
				t.Errorf("shared content: %s", got)
			}
		}
	}
	// The hub itself cannot read it, nor can a machine without the key.
	b.set.Identity = ""
	list, _, err = b.dial().Recent(context.Background(), Query{Session: "shared"}, Seen{})
	if err != nil || len(list) != 1 || list[0].Full != nil {
		t.Errorf("without the key: %v %v", list, err)
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	h := b.dial()
	for _, subject := range []string{
		"ovt.ev.alpha.s1.stage:complete", "$KV.ovt_state.alpha", "$KV.ovt_state.alpha.s1", "$O.ovt_obj_alpha.C.x",
		"$JS.API.STREAM.DELETE.OVT_EV", "$JS.API.STREAM.PURGE.OVT_EV", "$JS.API.STREAM.MSG.DELETE.OVT_EV", "$JS.API.STREAM.UPDATE.OVT_EV",
		"$JS.API.CONSUMER.CREATE.OVT_EV", "$JS.API.CONSUMER.CREATE.OVT_EV.c", "$SYS.REQ.SERVER.PING",
	} {
		if !h.refuses(context.Background(), subject, []byte("{}")) {
			t.Errorf("beta may write to %s", subject)
		}
	}
	if _, err := h.nc.SubscribeSync("_INBOX_alpha.>"); err == nil {
		if err := h.nc.Flush(); err == nil && h.nc.LastError() == nil {
			t.Error("beta listens to alpha's answers")
		}
	}

	// Permissions say nothing about where an answer goes. What beta has the hub
	// send into alpha's name is not believed.
	a.emit("s1", 1, 1)
	a.ship()
	m := nats.NewMsg("$O.ovt_obj_beta.C.trick")
	m.Header.Set(idHeader, "alpha/s1/2")
	m.Header.Set(markHeader, "a.b")
	m.Data = []byte(`{"type":"stage:complete","iteration":2}`)
	if _, err := h.js.PublishMsg(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	if err := h.nc.PublishRequest("$JS.API.DIRECT.GET.OBJ_ovt_obj_beta", "ovt.ev.alpha.s1.stage:complete", []byte(`{"last_by_subj":"$O.ovt_obj_beta.C.trick"}`)); err != nil {
		t.Fatal(err)
	}
	until(t, func() error {
		v, err := a.dial().Doctor(context.Background(), a.home.Root(), time.Now)
		if err == nil && v.Foreign != 1 {
			err = fmt.Errorf("the message did not arrive, so the test shows nothing: %+v", v)
		}
		return err
	})
	if got := all(t, a.dial()); got["alpha/s1"] != 1 {
		t.Errorf("a forged event is believed: %v", got)
	}
	a.emit("s1", 2, 1)
	a.ship()
	if got := all(t, a.dial()); got["alpha/s1"] != 2 {
		t.Errorf("the true event is lost: %v", got)
	}

	// Nobody comes in without a key, or in the clear.
	for _, set := range []Settings{{Machine: "alpha", Hub: a.set.Hub, CA: a.set.CA}, {Machine: "alpha", Hub: a.set.Hub, Seed: a.set.Seed}} {
		if h, err := Dial(set, Dialing{}); err == nil {
			h.Close()
			t.Error("let in")
		}
	}
}

// A machine that is shut out loses the connection that it has, and one of a tenant that
// the hub did not have is let in: both while the hub runs.
func TestDoor(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	stays, goes := n.machine(t, "stays").dial(), n.machine(t, "goes").dial()
	if err := n.Revoke("goes"); err != nil {
		t.Fatal(err)
	}
	until(t, func() error {
		if goes.nc.IsConnected() {
			return errors.New("a machine that was shut out is still in")
		}
		return nil
	})
	if !stays.nc.IsConnected() || stays.nc.Reconnects > 0 {
		t.Error("another machine was thrown out, too")
	}
	other := n
	other.Tenant = "other"
	set, err := other.Invite("elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	h, err := DialNew(t.Context(), set, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.nc.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
}

func TestLease(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a, b := n.machine(t, "alpha").dial(), n.machine(t, "beta").dial()
	ctx := context.Background()
	la, err := a.take(ctx, "s1", phaseHeld, time.Hour, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.take(ctx, "s1", phaseTaking, time.Minute, time.Now); err == nil {
		t.Fatal("held by two")
	}
	// Not by a clock that is wrong either, here or there.
	ahead := func() time.Time { return time.Now().Add(25 * time.Hour) }
	behind := func() time.Time { return time.Now().Add(-25 * time.Hour) }
	if _, err := b.take(ctx, "s1", phaseTaking, time.Hour, ahead); err == nil {
		t.Fatal("held by two: a clock is ahead")
	}
	if _, err := a.take(ctx, "s2", phaseHeld, time.Hour, behind); err != nil {
		t.Fatal(err)
	}
	if _, err := b.take(ctx, "s2", phaseTaking, time.Hour, time.Now); err == nil {
		t.Fatal("held by two: the holder's clock is behind")
	}
	if la, err = a.renew(ctx, la, phaseOffered, time.Minute, time.Now); err != nil {
		t.Fatal(err)
	}
	lb, err := b.take(ctx, "s1", phaseTaking, time.Minute, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if lb.Token <= la.Token {
		t.Errorf("tokens %d, then %d", la.Token, lb.Token)
	}
	if _, err := a.renew(ctx, la, phaseHeld, time.Minute, time.Now); !errors.Is(err, errLeaseLost) {
		t.Errorf("a former holder goes on: %v", err)
	}
	token := lb.Token
	for _, ttl := range []time.Duration{time.Hour, time.Hour, 2 * time.Second} {
		if lb, err = b.renew(ctx, lb, phaseHeld, ttl, time.Now); err != nil || lb.Token != token {
			t.Fatalf("%+v %v", lb, err)
		}
	}
	// Over, by the hub's clock: a third token is larger than all.
	until(t, func() error {
		l, err := a.take(ctx, "s1", phaseHeld, time.Minute, time.Now)
		if err == nil && (l.Token <= token || time.Now().Before(lb.Expires)) {
			t.Errorf("token %d after %d, %s before the end", l.Token, token, time.Until(lb.Expires))
		}
		return err
	})
	if _, err := b.renew(ctx, lb, phaseHeld, time.Minute, time.Now); !errors.Is(err, errLeaseLost) {
		t.Errorf("a former holder goes on: %v", err)
	}
	late := func() time.Time { return time.Now().Add(time.Hour) }
	if _, err := a.renew(ctx, Lease{Session: "s1", Expires: time.Now()}, phaseHeld, time.Minute, late); !errors.Is(err, errLeaseLost) {
		t.Errorf("a lease that is over is renewed: %v", err)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	var n numbers
	for _, x := range []uint64{5, 1, 2, 9, 3, 4, 8, 8, 1, 7} {
		was := n.has(x)
		if n.add(x) == was {
			t.Errorf("add %d", x)
		}
	}
	if fmt.Sprint(n) != "[{1 5} {7 9}]" || n.missing() != 1 || n.count() != 8 {
		t.Errorf("%v %d %d", n, n.missing(), n.count())
	}
}

// TestInviteAtStart: a machine that is let in at the very moment in which the hub
// comes up is let in.
func TestInviteAtStart(t *testing.T) {
	t.Parallel()
	n := Node{Dir: fastDir(t), Listen: freePort(t), Tenant: "team", Keep: time.Hour, Now: time.Now}
	ctx, cancel := context.WithCancel(context.Background())
	invited, done := make(chan Settings, 1), make(chan error, 1)
	go func() {
		done <- n.Serve(ctx, func(string) {
			set, err := n.Invite("alpha")
			if err != nil {
				t.Error(err)
			}
			invited <- set
		})
	}()
	m := &machine{t: t, set: <-invited}
	m.letIn()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestUpTwice: a hub that cannot run says so; a folder has one.
func TestUpTwice(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	if err := n.Serve(t.Context(), func(string) {}); err == nil || !strings.Contains(err.Error(), "running already") {
		t.Errorf("the same folder twice: %v", err)
	}
	other := n
	other.Dir = fastDir(t)
	if err := other.Serve(t.Context(), func(string) {}); err == nil || strings.Contains(err.Error(), "running already") {
		t.Errorf("the same address twice: %v", err)
	}
	// A key that another invitation replaced is one that the hub does not know.
	a := n.machine(t, "alpha")
	n.machine(t, "alpha")
	if _, err := Dial(a.set, Dialing{}); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a replaced key: %v", err)
	}
}

// The permissions that docs/team.md asks of a cluster are those that the hub gives.
func TestPermissionsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/team.md")
	if err != nil {
		t.Fatal(err)
	}
	n := startNode(t)
	a := n.machine(t, "MACHINE")
	conf, err := n.writeConfig(true)
	if err != nil {
		t.Fatal(err)
	}
	given, err := server.ProcessConfigFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	listed := func(what string) (subjects []string) {
		_, rest, _ := strings.Cut(string(page), "\n"+what+": { allow: [")
		rest, _, ok := strings.Cut(rest, "] }")
		if !ok {
			t.Fatalf("docs/team.md has no %s", what)
		}
		if err := json.Unmarshal([]byte("["+rest+"]"), &subjects); err != nil {
			t.Fatal(err)
		}
		slices.Sort(subjects)
		return subjects
	}
	rows := map[string][]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| (publish|subscribe) \\| `(.+?)` \\| .+ \\|$").FindAllStringSubmatch(string(page), -1) {
		rows[m[1]] = append(rows[m[1]], m[2])
		slices.Sort(rows[m[1]])
	}
	found := false
	for _, u := range given.Nkeys {
		if u.Permissions == nil || !slices.Contains(u.Permissions.Subscribe.Allow, inbox("MACHINE")+".>") {
			continue
		}
		found = true
		publish, subscribe := slices.Sorted(slices.Values(u.Permissions.Publish.Allow)), slices.Sorted(slices.Values(u.Permissions.Subscribe.Allow))
		if diff := cmp.Diff(listed("publish"), publish); diff != "" {
			t.Errorf("publish (-page +hub):\n%s", diff)
		}
		if diff := cmp.Diff(listed("subscribe"), subscribe); diff != "" {
			t.Errorf("subscribe (-page +hub):\n%s", diff)
		}
		if diff := cmp.Diff(rows, map[string][]string{"publish": publish, "subscribe": subscribe}); diff != "" {
			t.Errorf("the table (-page +hub):\n%s", diff)
		}
	}
	if !found {
		t.Errorf("the hub's list has no machine %s", a.set.Machine)
	}
}

// A server that shut its store down, as it does in a cluster when the disk is full, is
// followed by another one as soon as the disk can be written.
func TestStoreThatWasShutDown(t *testing.T) {
	t.Parallel()
	n := Node{Dir: fastDir(t), Listen: freePort(t), Tenant: "team", Now: time.Now}
	if err := n.prepare(); err != nil {
		t.Fatal(err)
	}
	conf, err := n.writeConfig(true)
	if err != nil {
		t.Fatal(err)
	}
	opts, err := server.ProcessConfigFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	opts.NoSigs = true
	srv, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	defer srv.Shutdown()
	if !srv.ReadyForConnections(patience) {
		t.Fatal("the server does not come up")
	}
	disk := &keeper{n: n, srv: srv, begun: time.Now()}
	if why, room := disk.look(false); why != "" || room {
		t.Errorf("a server that is well: %q %v", why, room)
	}
	if err := srv.ShutdownJetStream(); err != nil {
		t.Fatal(err)
	}
	if why, room := disk.look(false); why == "" || !room {
		t.Errorf("a server without a store: %q %v", why, room)
	}
}

// A hub stops when it is told to, also while it cannot become ready: here its
// certificate has run out.
func TestHubStops(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]func() time.Time{
		"as it should be": time.Now, "certificate over": func() time.Time { return time.Now().AddDate(-30, 0, 0) }, "certificate to come": func() time.Time { return time.Now().AddDate(30, 0, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := Node{Dir: fastDir(t), Listen: freePort(t), Tenant: "team", Keep: 24 * time.Hour, Now: now}
			for _, after := range []time.Duration{0, 100 * time.Millisecond, time.Second} {
				ctx, stop := context.WithCancel(t.Context())
				var told time.Time
				time.AfterFunc(after, func() { told = time.Now(); stop() })
				_ = n.Serve(ctx, func(string) {}) // a certificate that nobody accepts is an error, too
				<-ctx.Done()
				if took := time.Since(told); took > 2*time.Second {
					t.Errorf("%v after the start it takes %v", after, took)
				}
			}
		})
	}
}
