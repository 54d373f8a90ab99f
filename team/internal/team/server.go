package team

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Node is a hub of our own: one server for a person or a small team, or one of
// the nodes of a cluster.
type Node struct {
	// Dir holds its keys, its users and its streams.
	Dir    string
	Listen string // host:port
	// Names are what machines call it; its certificate holds for them.
	Names  []string
	Tenant string
	// Name, Cluster and Routes make it a node of a cluster: the address for the
	// other nodes, and theirs.
	Name    string
	Cluster string
	Routes  []string
	// Advertise is the cluster address that the others are told; "" for Cluster.
	Advertise string
	// Alone lets machines in although no other node of the cluster has said who may.
	Alone bool
	// Replicas is how many nodes keep each stream, Keep how long events are kept.
	Replicas int
	Keep     time.Duration
	Now      func() time.Time
	// Note hears of a disk that is full, and of one that no longer is; nil for nobody.
	Note func(message.Text, ...any)
}

const (
	adminSeed    = "admin.seed"
	identityFile = "identity.txt"
	adminName    = "overtone-admin"
)

func (n Node) path(name string) string { return filepath.Join(n.Dir, name) }

// secret reads a file of one line.
func (n Node) secret(name string) (string, error) {
	data, err := os.ReadFile(n.path(name))
	return strings.TrimSpace(string(data)), err
}

// NodeDir is where the hub of a home lies.
func NodeDir(root string) string { return filepath.Join(folder(root), "hub") }

// Serve runs the node until the context ends. told hears it once machines can
// connect and the streams are there, or the node is to go on alone. Where one server
// cannot go on, another one follows it.
func (n Node) Serve(ctx context.Context, told func(url string)) error {
	if n.Cluster != "" && len(n.Routes) == 0 {
		return message.WithHint(message.Fail(message.TeamNoRoutes), message.HintTeamRoutes)
	}
	if err := n.prepare(); err != nil {
		return err
	}
	if err := n.checkCertificate(); err != nil {
		return err
	}
	release, ok, err := store.TryLock(n.path("hub.lock"))
	if err != nil {
		return err
	}
	if !ok {
		return message.WithHint(message.Fail(message.TeamUpTwice, n.Dir), message.HintTeamUpTwice)
	}
	defer release()
	var once sync.Once
	for first := true; ; first = false {
		err := n.serve(ctx, func(url string) { once.Do(func() { told(url) }) })
		if !errors.Is(err, errAnew) && (first || !errors.Is(err, syscall.ENOSPC)) {
			return err
		}
		if pause(ctx, roomEvery) != nil {
			return nil
		}
	}
}

// errAnew asks for another server: there is room on the disk again, or a new certificate.
var errAnew = errors.New("the server begins anew")

// serve runs one server.
func (n Node) serve(ctx context.Context, told func(url string)) (err error) {
	// The server ends the whole program, without a word, where it cannot listen.
	for _, addr := range []string{n.Listen, n.Cluster} {
		if addr == "" {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return message.WithHint(fmt.Errorf("hub: %w", err), message.HintTeamListen)
		}
		_ = l.Close()
	}
	// A node that was down may have missed that a machine was shut out: it lets nobody in
	// before it has heard the others.
	heard := n.Cluster == "" || n.Alone
	var known []byte
	if heard {
		// Read before the configuration is made of it: a machine that is let in while
		// the node starts is one that tend finds.
		if known, err = os.ReadFile(n.path(usersFile)); err != nil {
			return err
		}
	}
	conf, err := n.writeConfig(heard)
	if err != nil {
		return err
	}
	opts, err := server.ProcessConfigFile(conf)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	door := &door{}
	opts.NoSigs, opts.CustomClientAuthentication, opts.AlwaysEnableNonce = true, door, true
	srv, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	door.srv = srv
	if err := door.open(opts); err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	srv.ConfigureLogger()
	srv.Start()
	defer func() {
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			srv.Shutdown()
			srv.WaitForShutdown()
		}()
		// The server waits for connections that are being made, for as long as those may
		// take. What is acknowledged is on the disk by then.
		patience := time.Second
		if errors.Is(err, errAnew) { // another one opens the same files
			patience = time.Minute
		}
		select {
		case <-stopped:
		case <-time.After(patience):
		}
	}()
	ready := func() bool { return srv.ReadyForConnections(100 * time.Millisecond) }
	for tries := 0; !ready() && ctx.Err() == nil; tries++ {
		if tries < 200 {
			continue
		}
		return message.WithHint(message.Fail(message.TeamHubStuck, n.Listen), message.HintTeamHubStuck, n.path("hub.log"))
	}
	admin, err := n.admin(srv)
	if err != nil {
		return err
	}
	defer admin.Close()
	return n.tend(ctx, door, admin, known, told)
}

// How often, and how many times, to look at a cluster that is coming up.
const (
	settlePause = 200 * time.Millisecond
	settleLooks = 25
)

// pause waits; its error is the context's.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// led reports whether the nodes of the cluster have elected who decides. What they are
// asked before that is never answered.
func (n Node) led(srv *server.Server) bool {
	if n.Cluster == "" {
		return true
	}
	info, err := srv.Jsz(nil)
	return err == nil && info.Meta != nil && info.Meta.Leader != ""
}

// settle makes what is missing on the hub. In a cluster it leaves the work to the node
// that decides for a while: of two that make the same stream at once, one never hears
// that it is made.
func (n Node) settle(ctx context.Context, srv *server.Server, admin *Hub) error {
	list, err := n.users()
	if err != nil {
		return err
	}
	wants := admin.wants(n.Replicas, n.Keep, list.machines(n.Tenant))
	if n.Cluster != "" {
		wants = append(wants, wantsUsers(n.Replicas))
	}
	for looks := 0; n.Cluster != "" && looks < settleLooks && !srv.JetStreamIsLeader(); looks++ {
		if admin.has(ctx, wants) {
			return nil
		}
		if err := pause(ctx, settlePause); err != nil {
			return err
		}
	}
	wait, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return admin.ensure(wait, wants)
}

// aloneAfter is how long the other nodes may be silent before the owner hears of it.
const aloneAfter = 10 * time.Second

// tend makes what is missing on the hub, and takes new machines in while the node runs,
// wherever in the cluster they were invited; known is the list that it started with, nil
// where it lets nobody in yet.
func (n Node) tend(ctx context.Context, door *door, admin *Hub, known []byte, told func(url string)) error {
	srv := door.srv
	disk := &keeper{n: n, srv: srv, begun: n.Now()}
	if _, err := admin.nc.Subscribe(roomSubject, disk.answer); err != nil {
		return err
	}
	tick, hour := time.NewTicker(500*time.Millisecond), time.NewTicker(time.Hour)
	defer tick.Stop()
	defer hour.Stop()
	heard, settled, lonely := known != nil, false, false
	for ticks := 1; ; ticks++ {
		led := n.led(srv)
		if n.Cluster != "" && led {
			heard = n.exchange(ctx, admin) == nil || heard
		}
		if now, err := os.ReadFile(n.path(usersFile)); heard && err == nil && !bytes.Equal(now, known) {
			// Half of an edit by hand, or a full disk, which is told, does not end the hub; the
			// next look finds it whole.
			if conf, err := n.writeConfig(true); err == nil {
				opts, err := server.ProcessConfigFile(conf)
				if err == nil {
					err = door.open(opts)
				}
				if err != nil {
					return fmt.Errorf("hub: %w", err)
				}
				known, settled = now, false
			}
		}
		if led && !settled {
			// Nodes that come up hear of each other one by one: a leader may not know
			// yet who could keep a stream.
			err := n.settle(ctx, srv, admin)
			if err != nil && ticks == 1 && n.Cluster == "" && ctx.Err() == nil {
				return err
			}
			settled = err == nil
		}
		if told != nil && known != nil && (settled || n.Alone) {
			_, port, err := net.SplitHostPort(srv.Addr().String())
			if err != nil {
				return err
			}
			told(strings.Join(n.urls(port), ", "))
			told = nil
		}
		if known == nil && !lonely && n.Note != nil && n.Now().Sub(disk.begun).Abs() > aloneAfter {
			n.Note(message.TeamAlone)
			lonely = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-hour.C:
			// A hub may run for longer than its certificate holds.
			if renewed, err := n.makeCertificate(); err == nil && renewed {
				return errAnew
			}
		case <-tick.C:
		}
		if ticks%4 == 0 && disk.tell() {
			return errAnew
		}
	}
}

// admin is a connection that may make streams. It never leaves the process, but
// TLS wants a name that the certificate holds for: loopback's always does, the
// address that it listens on (0.0.0.0) need not.
func (n Node) admin(srv *server.Server) (*Hub, error) {
	seed, err := n.secret(adminSeed)
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(n.path("ca.pem"))
	if err != nil {
		return nil, err
	}
	return Dial(Settings{Machine: adminName, Hub: []string{"tls://127.0.0.1"}, CA: string(ca), Seed: seed},
		Dialing{extra: []nats.Option{nats.InProcessServer(srv)}})
}

// wants are the streams of a hub with these machines. States, leases and objects
// have the form of NATS's buckets, except that nobody may roll them up: whoever may
// publish to a stream with that header deletes all that others have in it.
func (h *Hub) wants(replicas int, keep time.Duration, machines []string) []jetstream.StreamConfig {
	list := []jetstream.StreamConfig{
		{Name: eventStream, Description: "what happened, by machine, session and type", Subjects: []string{eventPrefix + ">"}, MaxAge: keep, DenyDelete: true},
		{Name: stateStream, Description: "the state of each session", Subjects: []string{statePrefix + ">"}, MaxAge: keep, DenyDelete: true, MaxMsgsPerSubject: 1},
		// All machines write the same leases: what one writes must not push out what
		// another has written.
		{Name: leaseStream, Description: "who may go on with a session", Subjects: []string{leasePrefix + ">"}, DenyDelete: true, AllowMsgTTL: true},
	}
	for _, m := range machines {
		b := objectBucket(m)
		list = append(list, jetstream.StreamConfig{
			Name: "OBJ_" + b, Description: "sealed sessions, packets and reports of " + m, Subjects: []string{"$O." + b + ".C.>", "$O." + b + ".M.>"}, MaxAge: keep,
		})
	}
	for i := range list {
		list[i] = onDisk(list[i], replicas)
	}
	return list
}

// onDisk is what all streams have in common. Blocks are not compressed: of
// compressed ones, nats-server 2.15.2 could not read those that a kill had left
// unfinished, on one node after the other, and then dropped the whole stream.
func onDisk(c jetstream.StreamConfig, replicas int) jetstream.StreamConfig {
	c.Storage, c.Compression, c.Replicas = jetstream.FileStorage, jetstream.NoCompression, max(1, replicas)
	c.AllowDirect, c.Duplicates, c.MaxMsgsPerSubject = true, 2*time.Minute, cmp.Or(c.MaxMsgsPerSubject, -1)
	return c
}

// has reports whether everything is there as wanted.
func (h *Hub) has(ctx context.Context, list []jetstream.StreamConfig) bool {
	for _, w := range list {
		got, err := h.info(ctx, w.Name)
		if c := got.Config; err != nil || c.Replicas != w.Replicas || c.MaxAge != w.MaxAge || c.AllowRollup || c.MaxMsgsPerSubject != w.MaxMsgsPerSubject {
			return false
		}
	}
	return true
}

// ensure makes the streams and buckets, or brings them up to date. In a cluster a
// request that comes upon an election is dropped, so it is made again, and waited
// for longer each time: a slow disk should not look like silence.
func (h *Hub) ensure(ctx context.Context, list []jetstream.StreamConfig) error {
	for _, w := range list {
		for wait := time.Second; ; wait *= 2 {
			try, cancel := context.WithTimeout(ctx, wait)
			_, err := h.js.CreateOrUpdateStream(try, w)
			silent := try.Err() != nil
			cancel()
			if err == nil {
				break
			}
			if ctx.Err() != nil || !silent {
				return fmt.Errorf("stream %s: %w", w.Name, err)
			}
		}
	}
	return nil
}

// Prepare makes streams and buckets on a hub of somebody else's, with the rights
// that the settings have there.
func Prepare(ctx context.Context, s Settings, keep time.Duration, machines ...string) error {
	h, err := Dial(s, Dialing{})
	if err != nil {
		return err
	}
	defer h.Close()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return h.ensure(ctx, h.wants(s.Replicas, keep, machines))
}

// Invite lets a machine in and returns its settings there; with an old name, a
// new key. The node need not run.
func (n Node) Invite(machine string) (Settings, error) {
	if !ValidMachine(machine) || machine == adminName {
		return Settings{}, message.WithHint(message.Fail(message.TeamBadMachine, machine), message.HintTeamMachine)
	}
	if err := n.prepare(); err != nil {
		return Settings{}, err
	}
	seed, public, err := newKey()
	if err != nil {
		return Settings{}, err
	}
	list, err := n.updateUsers(func(list *users) error {
		list.say(user{Machine: machine, Tenant: n.Tenant, Key: public}, n.Now())
		return nil
	})
	if err != nil {
		return Settings{}, err
	}
	ca, err := os.ReadFile(n.path("ca.pem"))
	if err != nil {
		return Settings{}, err
	}
	identity, err := n.secret(identityFile)
	if err != nil {
		return Settings{}, err
	}
	s := Settings{
		Schema: settingsSchema, Machine: machine, Tenant: n.Tenant, CA: string(ca), Seed: string(seed),
		Identity: identity, Recipients: list.Recipients, Replicas: n.Replicas,
	}
	_, port, err := net.SplitHostPort(n.Listen)
	if err != nil {
		return Settings{}, err
	}
	s.Hub = n.urls(port)
	return s, nil
}

func newKey() (seed []byte, public string, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, "", err
	}
	public, err = pair.PublicKey()
	if err != nil {
		return nil, "", err
	}
	seed, err = pair.Seed()
	return seed, public, err
}

// Revoke shuts a machine out: its key is worth nothing any more.
func (n Node) Revoke(machine string) error {
	_, err := n.updateUsers(func(list *users) error {
		if !slices.Contains(list.machines(n.Tenant), machine) {
			known := strings.Join(list.machines(n.Tenant), ", ")
			return message.WithHint(message.Fail(message.TeamUnknownMachine, machine), message.HintTeamUnknownMachine, known)
		}
		list.say(user{Machine: machine, Tenant: n.Tenant, Gone: true}, n.Now())
		return nil
	})
	return err
}

// urls are where machines reach the node, or its cluster.
func (n Node) urls(port string) (list []string) {
	for _, name := range n.addresses() {
		if _, _, err := net.SplitHostPort(name); err != nil {
			name = net.JoinHostPort(name, port)
		}
		list = append(list, "tls://"+name)
	}
	return list
}

// names are the addresses without their ports.
func (n Node) names() (list []string) {
	for _, name := range n.addresses() {
		if host, _, err := net.SplitHostPort(name); err == nil {
			name = host
		}
		list = append(list, name)
	}
	return list
}

// addresses are where machines reach the node: names, some with a port.
func (n Node) addresses() []string {
	if len(n.Names) > 0 {
		return n.Names
	}
	host, _, _ := net.SplitHostPort(n.Listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			return []string{name}
		}
		return []string{"127.0.0.1"}
	}
	return []string{host}
}

// prepare makes the keys that are missing.
func (n Node) prepare() error {
	if err := os.MkdirAll(n.Dir, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(n.path("ca.pem")); errors.Is(err, fs.ErrNotExist) {
		if err := n.makeCA(); err != nil {
			return err
		}
	}
	if _, err := n.makeCertificate(); err != nil {
		return err
	}
	if _, err := os.Stat(n.path(adminSeed)); errors.Is(err, fs.ErrNotExist) {
		seed, _, err := newKey()
		if err != nil {
			return err
		}
		if err := store.AtomicWrite(n.path(adminSeed), append(seed, '\n'), 0o600); err != nil {
			return err
		}
	}
	_, err := n.updateUsers(func(*users) error { return nil })
	return err
}

// writeConfig writes the server's configuration. It is a file, and not values in
// memory, because only a file can give an account JetStream, and so that a stock
// nats-server can be started with it as well. Only an open node lets machines in.
func (n Node) writeConfig(open bool) (string, error) {
	list, err := n.users()
	if err != nil {
		return "", err
	}
	seed, err := n.secret(adminSeed)
	if err != nil {
		return "", err
	}
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", n.path(adminSeed), err)
	}
	adminKey, err := pair.PublicKey()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	q := confQuote
	keys := fmt.Sprintf("cert_file: %s, key_file: %s, ca_file: %s, timeout: 5",
		q(n.path("server.pem")), q(n.path("server-key.pem")), q(n.path("ca.pem")))
	name := cmp.Or(n.Name, "overtone")
	fmt.Fprintf(&b, "# Written by overtone-team up.\nserver_name: %s\nlisten: %s\nmax_payload: 8MB\nlog_file: %s\nlogfile_size_limit: 16MB\nlogtime: true\n",
		q(name), q(n.Listen), q(n.path("hub.log")))
	fmt.Fprintf(&b, "tls { %s }\n", keys)
	fmt.Fprintf(&b, "jetstream {\n  store_dir: %s\n  # An acknowledged event is on the disk.\n  sync_interval: always\n  max_memory_store: 67108864\n", q(n.path("streams")))
	b.WriteString("}\nsystem_account: SYS\naccounts {\n  SYS {}\n")
	tenants := []string{n.Tenant}
	for _, u := range list.Users {
		if !slices.Contains(tenants, u.Tenant) {
			tenants = append(tenants, u.Tenant)
		}
	}
	for _, tenant := range tenants {
		fmt.Fprintf(&b, "  %s {\n    jetstream: enabled\n    users: [\n", q(tenant))
		if tenant == n.Tenant {
			fmt.Fprintf(&b, "      { nkey: %s }\n", adminKey)
		}
		for _, u := range list.Users {
			if u.Tenant != tenant || u.Gone || !open {
				continue
			}
			publish, subscribe := permissions(u.Machine)
			fmt.Fprintf(&b, "      { nkey: %s, permissions: { publish: { allow: %s }, subscribe: { allow: %s } } } # %s\n",
				u.Key, confList(publish), confList(subscribe), u.Machine)
		}
		b.WriteString("    ]\n  }\n")
	}
	b.WriteString("}\n")
	if n.Cluster != "" {
		routes := confList(n.Routes)
		// Machines know the nodes from their settings, by names that certificates
		// hold for; addresses that nodes hear of each other are none of these.
		fmt.Fprintf(&b, "cluster {\n  name: overtone\n  listen: %s\n  routes: %s\n  no_advertise: true\n  tls { %s, verify: true }\n", q(n.Cluster), routes, keys)
		if n.Advertise != "" {
			fmt.Fprintf(&b, "  advertise: %s\n", q(n.Advertise))
		}
		b.WriteString("}\n")
	}
	path := n.path("server.conf")
	return path, store.AtomicWrite(path, []byte(b.String()), 0o600)
}

// confQuote quotes as the server's configuration does: few escapes, no others.
func confQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func confList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = confQuote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func (n Node) makeCA() error {
	return n.issue("ca", &x509.Certificate{
		Subject: pkix.Name{CommonName: "overtone hub"}, NotAfter: n.Now().AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
}

// issue writes a certificate and its key; without somebody who signs, it signs
// itself.
func (n Node) issue(name string, t, ca *x509.Certificate, caKey any) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if ca == nil {
		ca, caKey = t, key
	}
	t.NotBefore = n.Now().Add(-time.Hour)
	t.SerialNumber, _ = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // crypto/rand never fails
	der, err := x509.CreateCertificate(rand.Reader, t, ca, &key.PublicKey, caKey)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePEM(n.path(name+"-key.pem"), "PRIVATE KEY", keyDER, 0o600); err != nil {
		return err
	}
	return writePEM(n.path(name+".pem"), "CERTIFICATE", der, 0o644)
}

// checkCertificate finds out whether anybody would accept the node's certificate now.
// With one that nobody does, the node itself would wait for a connection in vain.
func (n Node) checkCertificate() error {
	pair, err := tls.LoadX509KeyPair(n.path("server.pem"), n.path("server-key.pem"))
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	ca, err := os.ReadFile(n.path("ca.pem"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"}); err != nil {
		return message.WithHint(fmt.Errorf("hub: %s: %w", n.path("server.pem"), err), message.HintTeamCertificate, n.path("server.pem"))
	}
	return nil
}

// makeCertificate makes a certificate for the node's names, unless there is one
// that holds for them and for another month.
func (n Node) makeCertificate() (made bool, err error) {
	names := append(n.names(), "localhost", "127.0.0.1", "::1")
	if n.Cluster != "" {
		if host, _, err := net.SplitHostPort(n.Cluster); err == nil && host != "" {
			names = append(names, host)
		}
	}
	if pair, err := tls.LoadX509KeyPair(n.path("server.pem"), n.path("server-key.pem")); err == nil {
		old := pair.Leaf
		foreign := func(name string) bool { return old.VerifyHostname(name) != nil }
		if old.NotAfter.After(n.Now().AddDate(0, 1, 0)) && !slices.ContainsFunc(names, foreign) {
			return false, nil
		}
		// Machines that were invited by another name still come by that one.
		names = append(names, old.DNSNames...)
		for _, ip := range old.IPAddresses {
			names = append(names, ip.String())
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	ca, err := tls.LoadX509KeyPair(n.path("ca.pem"), n.path("ca-key.pem"))
	if err != nil {
		return false, message.WithHint(fmt.Errorf("read %s: %w", n.path("ca-key.pem"), err), message.HintTeamCA)
	}
	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: n.names()[0]}, NotAfter: n.Now().AddDate(2, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, name)
		}
	}
	return true, n.issue("server", t, ca.Leaf, ca.PrivateKey)
}

func writePEM(path, typ string, der []byte, perm fs.FileMode) error {
	return store.AtomicWrite(path, pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: der}), perm)
}
