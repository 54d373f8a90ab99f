package team

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// belongings is what a machine has on the hub, as another machine sees it.
type belongings struct {
	Beats   []Beat
	States  []State
	Held    Lease
	Offered Lease
	Bundle  bundle
	Object  string
	Events  map[string]int
}

func (h *Hub) belongings(t testing.TB, machine string) (b belongings) {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	f, err := h.Fleet(ctx)
	must(err)
	for _, v := range f.Beats {
		if v.Machine == machine {
			b.Beats = append(b.Beats, v)
		}
	}
	for _, v := range f.States {
		if v.Machine == machine {
			b.States = append(b.States, v)
		}
	}
	b.Held, err = h.lease(ctx, "held")
	must(err)
	b.Offered, err = h.lease(ctx, "offered")
	must(err)
	if got := f.Leases; got["held"].Nonce != b.Held.Nonce || got["offered"].Nonce != b.Offered.Nonce {
		t.Errorf("the fleet knows other leases: %v", got)
	}
	if found, err := h.offered(ctx, "offered"); err != nil || found != "offered" {
		t.Errorf("the offer is not found: %q %v", found, err)
	}
	b.Bundle, _, err = h.bundle(ctx, "offered")
	must(err)
	info, ok, err := h.object(ctx, machine, "session/offered/1")
	must(err)
	if ok {
		must(h.readObject(ctx, info, func(r io.Reader) error {
			data, err := io.ReadAll(r)
			b.Object = string(data)
			return err
		}))
	}
	if list, err := h.objects(ctx, machine); err != nil || len(list) != 1 {
		t.Errorf("%d objects, %v", len(list), err)
	}
	b.Events = all(t, h)
	return b
}

// spoken are the headers and the verbs of JetStream that the server's own source knows.
func spoken(t *testing.T) (headers, verbs []string) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/nats-io/nats-server/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "server", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`"(Nats-[A-Za-z-]+|\$JS\.API\.[A-Z.]+[^" ]*)"`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range word.FindAllStringSubmatch(string(data), -1) {
			if strings.HasSuffix(file, "_test.go") {
			} else if strings.HasPrefix(m[1], "$") {
				verbs = append(verbs, m[1])
			} else {
				headers = append(headers, m[1])
			}
		}
	}
	slices.Sort(headers)
	slices.Sort(verbs)
	headers, verbs = slices.Compact(headers), slices.Compact(verbs)
	if len(headers) < 20 || len(verbs) < 20 || !slices.Contains(headers, "Nats-Rollup") {
		t.Fatalf("the source is read wrongly: %v %v", headers, verbs)
	}
	t.Logf("%d headers, %d verbs", len(headers), len(verbs))
	return headers, verbs
}

// A member publishes whatever the protocol knows, under every name it may write to
// and, through answers that it has sent elsewhere, under those it may not.
func TestMembersCannotTakeFromOthers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := startNode(t)
	a, b := n.machine(t, "alpha"), n.machine(t, "beta")
	a.emit("held", 1, 2)
	a.ship()
	alpha, beta := a.dial(), b.dial()
	held, err := alpha.take(ctx, "held", phaseHeld, time.Hour, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := alpha.take(ctx, "offered", phaseTaking, time.Minute, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	content := strings.Repeat("content ", 50_000)
	if err := alpha.putObject(ctx, "session/offered/1", func(w io.Writer) error { _, err := io.WriteString(w, content); return err }); err != nil {
		t.Fatal(err)
	}
	if err := alpha.announce(ctx, bundle{Session: "offered", Machine: "alpha", Token: taken.Token}); err != nil {
		t.Fatal(err)
	}
	if _, err := alpha.renew(ctx, taken, phaseOffered, time.Hour, time.Now); err != nil {
		t.Fatal(err)
	}
	gamma := n.machine(t, "gamma").dial()
	before := gamma.belongings(t, "alpha")
	if before.Held.Holder != "alpha" || before.Offered.Phase != phaseOffered || before.Object != content || len(before.States) != 1 || len(before.Beats) != 1 || before.Events["alpha/held"] != 2 {
		t.Fatalf("not what the test is about: %+v", before)
	}
	object, _, err := gamma.object(ctx, "alpha", "session/offered/1")
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		if diff := cmp.Diff(before, gamma.belongings(t, "alpha"), cmpopts.IgnoreUnexported(Lease{}), cmpopts.IgnoreFields(Beat{}, "At", "Shipped")); diff != "" {
			t.Fatalf("%s (-before +after):\n%s", what, diff)
		}
	}

	headers := []nats.Header{{}}
	for _, h := range []string{
		"Nats-Rollup: all", "Nats-Rollup: sub", "KV-Operation: DEL", "KV-Operation: PURGE", "Nats-Expected-Last-Sequence: 1", "Nats-Expected-Last-Subject-Sequence: 0", "Nats-Expected-Stream: KV_ovt_lease",
		"Nats-Msg-Id: alpha/held/3", "Nats-TTL: 1s", "Nats-TTL: never", "Nats-Marker-Reason: MaxAge", "Nats-Schedule: @at 2000-01-01T00:00:00Z", "Nats-Incr: 1", "Nats-Batch-Id: b",
	} {
		key, value, _ := strings.Cut(h, ": ")
		headers = append(headers, nats.Header{key: {value}})
	}
	known, verbs := spoken(t)
	headers = append(headers, nats.Header{"KV-Operation": {"PURGE"}, "Nats-Rollup": {"sub"}}, nats.Header{"Nats-Rollup": {"all"}, "Nats-TTL": {"1s"}})

	// Under the names that are its own, or everybody's.
	for _, subject := range []string{
		"ovt.ev.beta.s.x", "$KV.ovt_state.beta", "$KV.ovt_state.beta.s", "$O.ovt_obj_beta.M.x", "$O.ovt_obj_beta.C.x",
		"$KV.ovt_lease.held", "$KV.ovt_lease.offered", "$KV.ovt_lease.offered.bundle", "$KV.ovt_lease.x", "$KV.ovt_lease.x.bundle",
	} {
		for _, key := range known {
			for _, value := range []string{"1", "all"} {
				// Some get no answer; the ones below come after them.
				if err := beta.nc.PublishMsg(&nats.Msg{Subject: subject, Header: nats.Header{key: {value}}, Data: []byte("{}")}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, h := range headers {
			for _, data := range []string{"", "{}"} {
				wait, cancel := context.WithTimeout(ctx, dialTimeout)
				_, _ = beta.nc.RequestMsgWithContext(wait, &nats.Msg{Subject: subject, Header: h, Data: []byte(data)})
				cancel()
			}
		}
		check("publish to " + subject)
	}

	// The interface of JetStream itself.
	for _, stream := range []string{stateStream, leaseStream, eventStream, "OBJ_" + objectBucket("alpha")} {
		for _, verb := range []string{
			"STREAM.PURGE." + stream, "STREAM.DELETE." + stream, "STREAM.UPDATE." + stream, "STREAM.CREATE." + stream, "STREAM.MSG.DELETE." + stream, "STREAM.SNAPSHOT." + stream, "STREAM.RESTORE." + stream,
			"STREAM.PEER.REMOVE." + stream, "STREAM.LEADER.STEPDOWN." + stream, "CONSUMER.CREATE." + stream, "CONSUMER.CREATE." + stream + ".c", "CONSUMER.DURABLE.CREATE." + stream + ".c", "CONSUMER.DELETE." + stream + ".c", "CONSUMER.MSG.NEXT." + stream + ".c",
		} {
			if !beta.refuses(ctx, "$JS.API."+verb, []byte(`{"seq":1}`)) {
				t.Errorf("beta may ask for %s", verb)
			}
		}
	}
	allowed, _ := permissions("beta")
	for _, verb := range verbs {
		subject := strings.NewReplacer("%s", leaseStream, "*", leaseStream, ">", leaseStream).Replace(verb)
		if !slices.ContainsFunc(allowed, func(a string) bool { return server.SubjectsCollide(a, subject) }) && !beta.refuses(ctx, subject, []byte("{}")) {
			t.Errorf("beta may ask for %s", subject)
		}
	}
	check("the interface of JetStream")

	// Where an answer goes, permissions do not say: beta has the hub send into the
	// names of others what it keeps in its own, and what the hub says to it.
	ask := func(subject, reply, body string) {
		if err := beta.nc.PublishRequest(subject, reply, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	last := func(stream string) uint64 {
		info, err := gamma.info(ctx, stream)
		if err != nil {
			t.Fatal(err)
		}
		return info.State.LastSeq
	}
	for target, stream := range map[string]string{
		"$KV.ovt_state.alpha": stateStream, "$KV.ovt_state.alpha.held": stateStream, "$KV.ovt_lease.held": leaseStream, "$KV.ovt_lease.offered.bundle": leaseStream, "ovt.ev.alpha.held.x": eventStream,
		"$O.ovt_obj_alpha.M." + base64.URLEncoding.EncodeToString([]byte("session/offered/1")): "OBJ_ovt_obj_alpha", "$O.ovt_obj_alpha.C." + object.NUID: "OBJ_ovt_obj_alpha",
	} {
		for i, h := range append(headers, nil) {
			own := fmt.Sprintf("$O.ovt_obj_beta.C.x%d", i)
			if _, err := beta.nc.RequestMsg(&nats.Msg{Subject: own, Header: h, Data: bytes.Repeat([]byte("x"), 100)}, dialTimeout); err != nil {
				t.Fatal(err)
			}
			was := last(stream)
			ask("$JS.API.DIRECT.GET.OBJ_ovt_obj_beta", target, `{"last_by_subj":"`+own+`"}`)
			if h == nil {
				ask("$JS.API.STREAM.MSG.GET.OBJ_ovt_obj_beta", target, `{"last_by_subj":"`+own+`"}`)
				ask("$KV.ovt_state.beta", target, "")
			}
			// The last of them arrives in any case.
			ask("$JS.API.STREAM.INFO."+eventStream, target, "")
			for deadline := time.Now().Add(patience); last(stream) == was; {
				if time.Now().After(deadline) {
					t.Fatalf("nothing arrives at %s, so the test shows nothing", target)
				}
			}
		}
		if stream == stateStream {
			a.ship() // of each state one message is kept, and said again
		}
		check("answers to " + target)
	}

	// The hub itself answers one question, and may do everything.
	for _, target := range []string{
		"$JS.API.STREAM.DELETE." + leaseStream, "$JS.API.STREAM.PURGE." + leaseStream, "$JS.API.STREAM.PURGE." + stateStream, "$JS.API.STREAM.DELETE.OBJ_ovt_obj_alpha",
		"$KV.ovt_state.alpha.held", "$KV.ovt_lease.held", "ovt.ev.alpha.held.x",
	} {
		ask(roomSubject, target, "")
	}
	if _, err := beta.nc.Request(roomSubject, nil, patience); err != nil {
		t.Errorf("the hub does not say how its disk is: %v", err)
	}
	check("answers of the hub itself")

	if _, err := alpha.renew(ctx, held, phaseHeld, time.Hour, time.Now); err != nil {
		t.Errorf("the holder cannot go on: %v", err)
	}
}

// A hub that an older version made has buckets as the library makes them. They are
// mended when it starts, with all that is in them.
func TestOlderHub(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := Node{Dir: fastDir(t), Listen: freePort(t), Tenant: "team", Keep: 24 * time.Hour, Now: time.Now}
	stop := runNode(t, n)
	m := n.machine(t, "alpha")
	seed, err := os.ReadFile(n.path(adminSeed))
	if err != nil {
		t.Fatal(err)
	}
	set := m.set
	set.Machine, set.Seed = adminName, strings.TrimSpace(string(seed))
	admin, err := Dial(set, Dialing{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range []jetstream.KeyValueConfig{
		{Bucket: stateBucket, TTL: n.Keep, History: 1, Storage: jetstream.FileStorage}, {Bucket: leaseBucket, LimitMarkerTTL: time.Hour, History: 1, Storage: jetstream.FileStorage},
	} {
		if _, err := admin.js.CreateOrUpdateKeyValue(ctx, kv); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := admin.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: objectBucket("alpha"), TTL: n.Keep, Storage: jetstream.FileStorage})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := m.set.sealBytes([]byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := objects.PutBytes(ctx, "old", sealed); err != nil {
		t.Fatal(err)
	}
	old := fmt.Sprintf(`{"session":"s1","holder":"alpha","phase":"held","expires":%q,"nonce":"x"}`, time.Now().Add(-24*time.Hour).Format(time.RFC3339))
	if _, err := admin.js.PublishMsg(ctx, &nats.Msg{Subject: leasePrefix + "s1", Data: []byte(old)}, jetstream.WithMsgTTL(time.Hour)); err != nil {
		t.Fatal(err)
	}
	m.emit("s1", 1, 1)
	m.ship()
	doctor := func() Health {
		t.Helper()
		h, err := Dial(m.set, Dialing{})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		v, err := h.Doctor(ctx, m.home.Root(), time.Now)
		if err != nil {
			t.Error(err)
		}
		return v
	}
	if !doctor().Rollup {
		t.Error("doctor sees nothing")
	}
	admin.Close()
	stop()
	runNode(t, n)

	if v := doctor(); v.Rollup || !v.LeaseOK {
		t.Errorf("doctor: %+v", v)
	}
	h := m.dial()
	for _, stream := range []string{eventStream, stateStream, leaseStream, "OBJ_" + objectBucket("alpha")} {
		info, err := h.info(ctx, stream)
		if err != nil || info.Config.AllowRollup || (info.Config.MaxMsgsPerSubject == 1) != (stream == stateStream) {
			t.Errorf("%s: %+v %v", stream, info.Config, err)
		}
	}
	l, err := h.lease(ctx, "s1")
	if err != nil || l.Holder != "alpha" || time.Until(l.ends) < 50*time.Minute {
		t.Errorf("lease: %+v %v", l, err)
	}
	if f, err := h.Fleet(ctx); err != nil || len(f.States) != 1 || len(f.Beats) != 1 || len(f.Leases) != 1 {
		t.Errorf("fleet: %+v %v", f, err)
	}
	read := func() (text string) {
		t.Helper()
		info, ok, err := h.object(ctx, "alpha", "old")
		if err != nil || !ok {
			t.Fatalf("object: %v %v", ok, err)
		}
		err = h.readObject(ctx, info, func(r io.Reader) error {
			data, err := io.ReadAll(r)
			text = string(data)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return text
	}
	if got := read(); got != "content" {
		t.Errorf("object: %q", got)
	}
	// What is written anew leaves nothing behind, and can be read by other clients.
	for _, text := range []string{"first", "second"} {
		if err := h.putObject(ctx, "old", func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	info, err := h.info(ctx, "OBJ_"+objectBucket("alpha"))
	if got := read(); got != "second" || err != nil || info.State.Msgs != 2 {
		t.Errorf("object: %q, %d messages, %v", got, info.State.Msgs, err)
	}
	if admin, err = Dial(set, Dialing{}); err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if objects, err = admin.js.ObjectStore(ctx, objectBucket("alpha")); err != nil {
		t.Fatal(err)
	}
	if data, err := objects.GetBytes(ctx, "old"); err != nil || len(data) == 0 {
		t.Errorf("another client: %d bytes, %v", len(data), err)
	}
	if err := h.dropObject(ctx, "old"); err != nil {
		t.Fatal(err)
	}
	if info, err = h.info(ctx, "OBJ_"+objectBucket("alpha")); err != nil || info.State.Msgs != 0 {
		t.Errorf("%d messages are left, %v", info.State.Msgs, err)
	}
}

// A state that somebody had the hub replace is there again once its machine looks.
func TestStateIsSaidAgain(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	a, beta, gamma := n.machine(t, "alpha"), n.machine(t, "beta").dial(), n.machine(t, "gamma").dial()
	a.emit("s1", 1, 1)
	var later atomic.Int64
	s := a.shipper()
	now := time.Now()
	s.Once, s.Now = false, func() time.Time { return now.Add(time.Duration(later.Load())) }
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	defer func() {
		cancel()
		<-done
	}()
	until := func(states int) {
		t.Helper()
		until(t, func() error {
			f, err := gamma.Fleet(ctx)
			if err == nil && len(f.States) != states {
				err = fmt.Errorf("%d states, want %d", len(f.States), states)
			}
			return err
		})
	}
	until(1)
	if err := beta.nc.PublishRequest(statePrefix+"beta", statePrefix+"alpha.s1", nil); err != nil {
		t.Fatal(err)
	}
	until(0)
	later.Add(int64(fleetEvery))
	until(1)
}
