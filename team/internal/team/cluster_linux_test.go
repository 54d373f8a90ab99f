package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// The test's own program stands for nodes and shippers, so that they are
// processes which can be killed.
const (
	roleVar = "OVERTONE_TEAM_TEST_ROLE"
	argsVar = "OVERTONE_TEAM_TEST_ARGS"
)

type processArgs struct {
	Dir, Listen, Name, Cluster, Advertise string
	Alone                                 bool
	Routes                                []string
}

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) != "" {
		// Nobody outlives the test, whatever becomes of it.
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(3)
		}()
	}
	var a processArgs
	_ = json.Unmarshal([]byte(os.Getenv(argsVar)), &a)
	var err error
	switch os.Getenv(roleVar) {
	case "node":
		n := Node{Dir: a.Dir, Listen: a.Listen, Name: a.Name, Cluster: a.Cluster, Advertise: a.Advertise, Routes: a.Routes, Tenant: "team", Replicas: 3, Keep: 24 * time.Hour, Now: time.Now, Alone: a.Alone}
		n.Note = func(text message.Text, args ...any) { fmt.Fprintln(os.Stderr, text.Format(message.EN, args...)) }
		err = n.Serve(context.Background(), func(string) {})
	case "small disk":
		err = smallDisk(a)
	case "shipper":
		mach := &machine{dir: a.Dir}
		mach.home = store.New(filepath.Join(a.Dir, "overtone"), filepath.Join(a.Dir, "claude"), time.Now)
		if mach.set, err = Load(mach.home.Root()); err == nil {
			s := mach.shipper()
			s.Once = false
			err = s.Run(context.Background())
		}
	default:
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// process is one of these, and can be started again.
type process struct {
	t    testing.TB
	role string
	args processArgs
	// apart is for a process with file systems of its own.
	apart *syscall.SysProcAttr
	mu    sync.Mutex
	cmd   *exec.Cmd
	life  io.Closer
	peak  int // resident memory, in kB
}

func (p *process) start() {
	data, err := json.Marshal(p.args)
	if err != nil {
		p.t.Error(err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+p.role, argsVar+"="+string(data), "GOMAXPROCS=2")
	log, err := os.OpenFile(filepath.Join(p.args.Dir, p.role+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer log.Close()
	cmd.Stderr = log
	cmd.SysProcAttr = p.apart
	if p.life, err = cmd.StdinPipe(); err != nil {
		p.t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		p.t.Error(err)
		return
	}
	p.cmd = cmd
}

// kill ends it as a power cut would end it.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	if data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)); err == nil {
		for line := range strings.Lines(string(data)) {
			if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
				n, _ := strconv.Atoi(f[1])
				p.peak = max(p.peak, n)
			}
		}
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cmd = nil
}

// proxy is a wire that can be cut.
type proxy struct {
	l      net.Listener
	target string
	mu     sync.Mutex
	cutOff bool
	conns  map[net.Conn]bool
}

func newProxy(t testing.TB, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{l: l, target: target, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { l.Close(); p.cut(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

func (p *proxy) addr() string { return p.l.Addr().String() }

func (p *proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cutOff {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) serve(c net.Conn) {
	defer c.Close()
	if !p.add(c) {
		return
	}
	d, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer d.Close()
	if !p.add(d) {
		return
	}
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{c, d}, {d, c}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
	p.mu.Lock()
	delete(p.conns, c)
	delete(p.conns, d)
	p.mu.Unlock()
}

func (p *proxy) cut(off bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutOff = off
	if off {
		for c := range p.conns {
			c.Close()
		}
		clear(p.conns)
	}
}

// cluster is three nodes, every wire of which can be cut.
type cluster struct {
	nodes   []*process
	args    []processArgs
	clients []*proxy   // to each node
	between [][]*proxy // that touch each node
	sets    map[string]Settings
}

func startCluster(t testing.TB, machines []string) *cluster {
	t.Helper()
	const size = 3
	base := fastDir(t)
	c := &cluster{sets: map[string]Settings{}, between: make([][]*proxy, size)}
	var args [size]processArgs
	for i := range size {
		args[i] = processArgs{Dir: filepath.Join(base, fmt.Sprint("n", i)), Listen: freePort(t), Cluster: freePort(t), Name: fmt.Sprint("n", i)}
		c.clients = append(c.clients, newProxy(t, args[i].Listen))
		own := newProxy(t, args[i].Cluster)
		args[i].Advertise = own.addr()
		c.between[i] = append(c.between[i], own)
	}
	for i := range size {
		for j := range size {
			if i == j {
				continue
			}
			p := newProxy(t, args[j].Cluster)
			args[i].Routes = append(args[i].Routes, "tls://"+p.addr())
			c.between[i], c.between[j] = append(c.between[i], p), append(c.between[j], p)
		}
	}
	first := Node{Dir: args[0].Dir, Listen: args[0].Listen, Tenant: "team", Replicas: size, Keep: time.Hour, Now: time.Now}
	for _, m := range machines {
		s, err := first.Invite(m)
		if err != nil {
			t.Fatal(err)
		}
		s.Hub = nil
		for _, p := range c.clients {
			s.Hub = append(s.Hub, "tls://"+p.addr())
		}
		c.sets[m] = s
	}
	for i := 1; i < size; i++ {
		if err := os.CopyFS(args[i].Dir, os.DirFS(args[0].Dir)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range size {
		p := &process{t: t, role: "node", args: args[i]}
		c.args = append(c.args, args[i])
		c.nodes = append(c.nodes, p)
		p.start()
		t.Cleanup(p.kill)
	}
	until(t, func() error {
		h, err := Dial(c.sets[machines[0]], Dialing{})
		if err != nil {
			return fmt.Errorf("the cluster does not come up: %w", err)
		}
		defer h.Close()
		for _, m := range machines {
			if _, err = h.info(context.Background(), "OBJ_"+objectBucket(m)); err != nil {
				return err
			}
		}
		return nil
	})
	return c
}

// invite lets a machine in on the last node, and waits until each of them knows it.
func (c *cluster) invite(t testing.TB, machine string) {
	t.Helper()
	a := c.args[len(c.args)-1]
	set, err := Node{Dir: a.Dir, Listen: a.Listen, Tenant: "team", Replicas: len(c.args), Now: time.Now}.Invite(machine)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range c.args {
		set.Hub = []string{"tls://" + a.Listen}
		h, err := DialNew(t.Context(), set, patience)
		if err != nil {
			t.Fatalf("node %d does not know %s: %v", i, machine, err)
		}
		h.Close()
	}
}

// at is how a machine comes to one node, past the wires.
func (c *cluster) at(machine string, node int) error {
	set := c.sets[machine]
	set.Hub = []string{"tls://" + c.args[node].Listen}
	h, err := Dial(set, Dialing{})
	if err == nil {
		h.Close()
	}
	return err
}

// A machine that was shut out while a node was down does not come in by that node, not
// even for a moment after it is back. A node that is alone lets nobody in until its owner
// says so.
func TestRevokedStaysOut(t *testing.T) {
	t.Parallel()
	c := startCluster(t, []string{"laptop", "stolen"})
	until := func(what string, done func() bool) {
		t.Helper()
		until(t, func() error {
			if done() {
				return nil
			}
			return errors.New(what)
		})
	}
	// A node that has not opened yet refuses everybody, and says nothing about the list.
	for node := range c.nodes {
		until("a node lets nobody in", func() bool { return c.at("stolen", node) == nil })
	}
	c.nodes[2].kill()
	first := c.args[0]
	if err := (Node{Dir: first.Dir, Listen: first.Listen, Tenant: "team", Now: time.Now}).Revoke("stolen"); err != nil {
		t.Fatal(err)
	}
	for node := range 2 {
		until("a machine that was shut out comes in", func() bool { return errors.Is(c.at("stolen", node), nats.ErrAuthorization) })
	}
	c.nodes[2].start()
	until("a node that is back lets nobody in", func() bool {
		if c.at("stolen", 2) == nil {
			t.Fatal("a machine that was shut out comes in by the node that was down")
		}
		return c.at("laptop", 2) == nil
	})

	for _, node := range c.nodes {
		node.kill()
	}
	c.nodes[2].start()
	until("a node that is alone does not say so", func() bool {
		if c.at("laptop", 2) == nil {
			t.Fatal("a node that is alone lets machines in")
		}
		log, _ := os.ReadFile(filepath.Join(c.args[2].Dir, "node.log"))
		return strings.Contains(string(log), "no other node answers")
	})
	c.nodes[2].kill()
	c.nodes[2].args.Alone = true
	c.nodes[2].start()
	until("--alone lets nobody in", func() bool { return c.at("laptop", 2) == nil })
	if c.at("stolen", 2) == nil {
		t.Error("--alone lets everybody in")
	}
}

// harm does something to one node at a time, and mends it; with two of three
// nothing may be lost and nothing may stop for long. It tells what it has done,
// and ends after so many times.
func (c *cluster) harm(ctx context.Context, r *rand.Rand, every time.Duration, times int, told func(kills, cuts int)) {
	pause := func(d time.Duration) {
		select {
		case <-ctx.Done():
		case <-time.After(d):
		}
	}
	kinds := r.Perm(3)
	for n := 0; n < times && ctx.Err() == nil; n++ {
		i, kind := r.IntN(len(c.nodes)), r.IntN(3)
		if n < len(kinds) {
			kind = kinds[n]
		}
		switch kind {
		case 0:
			c.nodes[i].kill()
			pause(every / 2)
			c.nodes[i].start()
			told(1, 0)
		case 1:
			for _, p := range c.between[i] {
				p.cut(true)
			}
			pause(every / 2)
			for _, p := range c.between[i] {
				p.cut(false)
			}
			told(0, 1)
		case 2:
			c.clients[i].cut(true)
			pause(every / 2)
			c.clients[i].cut(false)
			told(0, 1)
		}
		pause(every)
	}
}

// hold is a time in which somebody believed to have the lease.
type hold struct {
	who         string
	token       uint64
	since, till time.Time
}

// contend takes, renews and loses a lease until the context ends, and writes down
// when it believed to have it.
func contend(ctx context.Context, t testing.TB, set Settings, r *rand.Rand, told func(hold), fence func(token uint64) bool) {
	h, err := Dial(set, Dialing{Wait: true})
	if err != nil {
		t.Error(err)
		return
	}
	defer h.Close()
	const ttl = 2 * time.Second
	for ctx.Err() == nil {
		l, err := h.take(ctx, "the-lease", phaseTaking, ttl, time.Now)
		if err != nil {
			time.Sleep(time.Duration(50+r.IntN(100)) * time.Millisecond)
			continue
		}
		held := hold{set.Machine, l.Token, time.Now(), l.Expires}
		fence(l.Token)
		for n := r.IntN(3); n > 0 && ctx.Err() == nil; n-- {
			time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
			next, err := h.renew(ctx, l, phaseHeld, ttl, time.Now)
			if err != nil {
				break
			}
			if next.Token != l.Token {
				t.Errorf("token %d became %d", l.Token, next.Token)
			}
			l, held.till = next, next.Expires
		}
		// Now and then a holder sleeps past its end: what it does then with its old
		// token must not count where somebody else has been since.
		if r.IntN(4) == 0 {
			time.Sleep(time.Until(l.Expires) + ttl)
			fence(l.Token)
			if cur, err := h.lease(ctx, "the-lease"); err == nil && cur.Token > l.Token {
				asleep := func() time.Time { return l.Expires.Add(-time.Millisecond) }
				if _, err := h.renew(ctx, l, phaseHeld, ttl, asleep); err == nil {
					t.Errorf("%s goes on with token %d after %s took %d", set.Machine, l.Token, cur.Holder, cur.Token)
				}
			}
		} else {
			// It is over as soon as the hub hears of it, if it was not before: a
			// renewal may have waited for an answer until the end.
			if now := time.Now(); now.Before(held.till) {
				held.till = now
			}
			_, _ = h.renew(ctx, l, phaseOffered, ttl, time.Now)
		}
		told(held)
	}
}

func checkHolds(t testing.TB, list []hold) {
	slices.SortFunc(list, func(a, b hold) int { return int(int64(a.token) - int64(b.token)) })
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		if a.token == b.token {
			t.Errorf("token %d was given to %s and to %s", a.token, a.who, b.who)
		}
		if a.who != b.who && b.since.Before(a.till) && a.since.Before(b.since) {
			t.Errorf("held by two: %s until %s, %s since %s (%s)", a.who, a.till.Format(time.StampMicro), b.who, b.since.Format(time.StampMicro), a.till.Sub(b.since))
		}
	}
}

// size is how large the proof is.
type proofSize struct {
	machines, sessions, events int
	every                      time.Duration // between two things that go wrong
	harms                      int           // how many of them there are, of nodes
	limit                      time.Duration
}

// TestCluster is what `make team-proof` begins with. It is no part of `make test`:
// elections under kills and cuts take as long as they take.
func TestCluster(t *testing.T) {
	if os.Getenv("OVERTONE_TEAM_PROOF") == "" {
		t.Skip("OVERTONE_TEAM_PROOF is not set")
	}
	prove(t, proofSize{machines: 4, sessions: 2, events: 200, every: time.Second, harms: 3, limit: 5 * time.Minute})
}

// TestProof is `make team-proof`: a million events, or as many as the variable says.
// OVERTONE_TEAM_RECORD is a page whose paragraph about it is written anew.
func TestProof(t *testing.T) {
	events, _ := strconv.Atoi(os.Getenv("OVERTONE_TEAM_PROOF"))
	if events == 0 {
		t.Skip("OVERTONE_TEAM_PROOF is not set")
	}
	const machines, perSession = 20, 2000
	said := prove(t, proofSize{machines: machines, sessions: max(1, events/machines/perSession), events: min(perSession, events/machines), every: 8 * time.Second, harms: math.MaxInt, limit: 40 * time.Minute})
	if page := os.Getenv("OVERTONE_TEAM_RECORD"); page != "" && !t.Failed() {
		record(t, page, said)
	}
}

func record(t *testing.T, page, said string) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- proof: written by make team-proof -->\n", "<!-- end of proof -->"
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the figures", page)
	}
	if err := store.AtomicWrite(page, []byte(head+begin+said+"\n"+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func prove(t *testing.T, size proofSize) string {
	begin := time.Now()
	seed := uint64(begin.UnixNano())
	t.Logf("seed %d", seed)
	random := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	var names []string
	for i := range size.machines {
		names = append(names, fmt.Sprintf("m%02d", i))
	}
	c := startCluster(t, names)
	c.invite(t, "latecomer")
	t.Logf("cluster up after %s", time.Since(begin).Round(time.Millisecond))
	ctx, cancel := context.WithTimeout(context.Background(), size.limit)
	defer cancel()

	base := fastDir(t)
	var machines []*machine
	var shippers []*process
	var writers sync.WaitGroup
	start := time.Now()
	for _, name := range names {
		m := &machine{t: t, set: c.sets[name], dir: filepath.Join(base, name)}
		m.home = store.New(filepath.Join(m.dir, "overtone"), filepath.Join(m.dir, "claude"), time.Now)
		if err := m.set.Save(m.home.Root()); err != nil {
			t.Fatal(err)
		}
		machines = append(machines, m)
		writers.Add(1)
		go func() {
			defer writers.Done()
			for at := 0; at < size.events; at += 50 {
				for s := range size.sessions {
					m.emit(fmt.Sprint("s", s), at+1, min(50, size.events-at))
				}
			}
		}()
		p := &process{t: t, role: "shipper", args: processArgs{Dir: m.dir}}
		p.start()
		t.Cleanup(p.kill)
		shippers = append(shippers, p)
	}

	chaos, calm := context.WithCancel(ctx)
	var harm sync.WaitGroup
	var (
		mu                sync.Mutex
		kills, cuts, shot int
		holds             []hold
		newest            uint64
		fenced            int
	)
	harm.Add(1)
	go func() {
		defer harm.Done()
		c.harm(chaos, random(1), size.every, size.harms, func(k, n int) {
			mu.Lock()
			defer mu.Unlock()
			kills, cuts = kills+k, cuts+n
		})
	}()
	harm.Add(1)
	go func() {
		defer harm.Done()
		r := random(2)
		for n := 0; n/2 < size.harms && chaos.Err() == nil; n++ {
			p := shippers[r.IntN(len(shippers))]
			p.kill()
			p.start()
			mu.Lock()
			shot++
			mu.Unlock()
			select {
			case <-chaos.Done():
			case <-time.After(size.every / 2):
			}
		}
	}()
	for i := range min(4, len(names)) {
		harm.Add(1)
		go func() {
			defer harm.Done()
			contend(chaos, t, c.sets[names[i]], random(uint64(10+i)), func(h hold) {
				mu.Lock()
				defer mu.Unlock()
				holds = append(holds, h)
			}, func(token uint64) bool {
				mu.Lock()
				defer mu.Unlock()
				if token < newest {
					fenced++
					return false
				}
				newest = token
				return true
			})
		}()
	}

	writers.Wait()
	waiting := func() (n uint64) {
		for _, m := range machines {
			w, err := m.shipper().Waiting()
			if err != nil {
				t.Fatal(err)
			}
			n += w
		}
		return n
	}
	// Things go wrong until everything is out, and at least a few times: however
	// long that takes here.
	for round := 0; ; round++ {
		left := waiting()
		mu.Lock()
		enough := kills > 0 && cuts > 1 && shot > 1 && len(holds) > 1
		mu.Unlock()
		if left == 0 && enough || ctx.Err() != nil {
			break
		}
		if round%20 == 19 {
			t.Logf("%s: %d events wait", time.Since(start).Round(time.Second), left)
		}
		_ = pause(ctx, min(size.every/4, 2*time.Second))
	}
	took := time.Since(start)
	calm()
	harm.Wait()
	for ctx.Err() == nil && waiting() > 0 {
		_ = pause(ctx, 200*time.Millisecond)
	}
	for _, p := range shippers {
		p.kill()
	}
	total := uint64(size.machines * size.sessions * size.events)
	if n := waiting(); n > 0 {
		t.Fatalf("%d of %d events were not shipped within %s", n, total, size.limit)
	}

	// What readers see: every event once, with its content.
	h, err := Dial(c.sets[names[0]], Dialing{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	seen, wrong, repeated, raw := Seen{}, 0, uint64(0), uint64(0)
	whole := func() (got uint64) {
		for _, name := range names {
			for s := range size.sessions {
				if n := seen[name+"/"+fmt.Sprint("s", s)]; n != nil && len(*n) == 1 && (*n)[0] == (run{1, uint64(size.events)}) {
					got += n.count()
				}
			}
		}
		return got
	}
	// A node that has just come back may answer before it has caught up.
	for once := true; once || whole() != total && ctx.Err() == nil; once = false {
		clear(seen)
		wrong, repeated, raw = 0, 0, 0
		_, err := h.each(context.Background(), eventStream, eventPrefix+">", 1, time.Time{}, func(m stored) error {
			raw++
			e, ok := h.set.inbound(m)
			switch {
			case !ok || e.Shown().Text("iteration") != fmt.Sprint(e.Seq):
				wrong++
			case !seen.add(e):
				repeated++
			}
			return nil
		})
		if err != nil && !errors.Is(err, errHubSilent) {
			t.Fatal(err)
		}
		if whole() != total {
			_ = pause(ctx, 500*time.Millisecond)
		}
	}
	got := whole()
	if got != total || wrong > 0 {
		t.Errorf("%d of %d events, %d wrong", got, total, wrong)
	}
	checkHolds(t, holds)
	peak := 0
	for _, p := range shippers {
		peak = max(peak, p.peak)
	}
	if peak > 256<<10 {
		t.Errorf("a shipper took %d kB", peak)
	}
	said := fmt.Sprintf("%d events of %d machines in %s (%.0f/s) under %d kills of nodes, %d cut wires, %d kills of shippers; %d messages, %d of them repeats; %d holds of the lease, %d late tokens fenced; largest shipper %d MB",
		got, size.machines, took.Round(time.Second), float64(got)/took.Seconds(), kills, cuts, shot, raw, repeated, len(holds), fenced, peak>>10)
	t.Log(said)
	if kills < 1 || cuts < 2 || shot < 2 || len(holds) < 2 {
		t.Errorf("too little went wrong to show anything")
	}
	return said
}
