package team

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Names on the hub.
const (
	eventStream = "OVT_EV"
	eventPrefix = "ovt.ev."
	stateBucket = "ovt_state"
	leaseBucket = "ovt_lease"
	stateStream = "KV_" + stateBucket
	leaseStream = "KV_" + leaseBucket
	statePrefix = "$KV." + stateBucket + "."
	leasePrefix = "$KV." + leaseBucket + "."
)

func objectBucket(machine string) string { return "ovt_obj_" + machine }

// permissions are the subjects that a machine may publish to and subscribe to.
func permissions(machine string) (publish, subscribe []string) {
	publish = []string{
		eventPrefix + machine + ".>",
		statePrefix + machine, statePrefix + machine + ".*",
		leasePrefix + "*", bundleKey("*"),
		"$O." + objectBucket(machine) + ".C.*", "$O." + objectBucket(machine) + ".M.*",
		"$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.>",
		"$JS.API.STREAM.PURGE.OBJ_" + objectBucket(machine),
	}
	return publish, []string{inbox(machine) + ".>"}
}

// inbox is the machine's own, so that nobody else can listen to its answers.
func inbox(machine string) string { return "_INBOX_" + machine }

// Hub is a connection to a hub.
type Hub struct {
	set Settings
	nc  *nats.Conn
	js  jetstream.JetStream

	mu      sync.Mutex
	refused map[string]bool // subjects that the hub does not let us publish to
	failed  error           // of the last attempt to connect
}

// Dialing are the ways to connect.
type Dialing struct {
	// Wait connects in the background, and again for ever: a shipper has time.
	Wait bool
	// Told hears of connections that come and go; nil for nobody.
	Told func(up bool, err error)

	extra []nats.Option
}

const dialTimeout = 5 * time.Second

// Dial connects to the hub of the settings.
func Dial(s Settings, d Dialing) (*Hub, error) {
	h := &Hub{set: s, refused: map[string]bool{}}
	tell := func(up bool, err error) {
		if d.Told != nil {
			d.Told(up, err)
		}
	}
	opts := []nats.Option{
		nats.Name("overtone-team " + s.Machine), nats.CustomInboxPrefix(inbox(s.Machine)), nats.Timeout(dialTimeout),
		nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond), nats.ReconnectJitter(200*time.Millisecond, 500*time.Millisecond),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
		// Nothing is kept for later: the files are the outbox.
		nats.ReconnectBufSize(-1), nats.IgnoreAuthErrorAbort(),
		nats.RetryOnFailedConnect(d.Wait),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { h.noteRefused(err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { tell(false, err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { h.noteFailed(err) }),
		nats.ReconnectHandler(func(*nats.Conn) { h.noteFailed(nil); tell(true, nil) }),
		nats.ConnectHandler(func(*nats.Conn) { tell(true, nil) }),
	}
	if s.CA != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(s.CA)) {
			return nil, errors.New("the hub's certificate cannot be read")
		}
		opts = append(opts, nats.Secure(&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}))
	}
	switch {
	case s.Creds != "":
		opts = append(opts, nats.UserCredentials(s.Creds))
	case s.Seed != "":
		opt, err := nkeyOption(s.Seed)
		if err != nil {
			return nil, err
		}
		opts = append(opts, opt)
	}
	nc, err := nats.Connect(strings.Join(s.Hub, ","), append(opts, d.extra...)...)
	if err != nil {
		return nil, s.notConnected(err)
	}
	h.nc = nc
	// A window of publications that wait for the hub's word is all that is ever
	// in memory.
	if h.js, err = jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(2*window), jetstream.WithPublishAsyncTimeout(ackTimeout)); err != nil {
		nc.Close()
		return nil, err
	}
	return h, nil
}

// notConnected says why, and what to do.
func (s Settings) notConnected(err error) error {
	out := fmt.Errorf("connect to the hub at %s: %w", shownHubs(s.Hub), err)
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, nats.ErrAuthorization) && s.Seed == "":
		return message.WithHint(out, message.HintTeamLogin)
	case errors.Is(err, nats.ErrAuthorization):
		return message.WithHint(out, message.HintTeamKey, s.Machine)
	case errors.As(err, &cert):
		return message.WithHint(out, message.HintTeamTLS)
	}
	return message.WithHint(out, message.HintTeamHub)
}

func (h *Hub) noteFailed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = err
}

// Why is the error of somebody who asked a hub that is not there: that there is no
// connection, and why, or that it is there and its disk full, says more than that
// there was no answer.
func (h *Hub) Why(ctx context.Context, err error) error {
	if h.nc.IsConnected() {
		return h.noRoom(ctx, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed == nil {
		return err
	}
	return h.set.notConnected(h.failed)
}

// DialNew connects as a machine that has just been invited. Its hub looks for new
// machines every half second, so a key that it does not know yet is tried again
// for a while.
func DialNew(ctx context.Context, s Settings, patience time.Duration) (*Hub, error) {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		h, err := Dial(s, Dialing{})
		if err == nil || !errors.Is(err, nats.ErrAuthorization) {
			return h, err
		}
		if pause(wait, 250*time.Millisecond) != nil {
			return nil, err
		}
	}
}

func nkeyOption(seed string) (nats.Option, error) {
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return nil, fmt.Errorf("the machine's key: %w", err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("the machine's key: %w", err)
	}
	return nats.Nkey(public, pair.Sign), nil
}

// OpenHubs is the addresses without the names and passwords in them.
func OpenHubs(list []string) []string {
	open := make([]string, len(list))
	for i, u := range list {
		if at := strings.LastIndexByte(u, '@'); at >= 0 {
			scheme, _, _ := strings.Cut(u, "://")
			u = scheme + "://" + u[at+1:]
		}
		open[i] = u
	}
	return open
}

func shownHubs(list []string) string { return strings.Join(OpenHubs(list), ", ") }

// Close ends the connection.
func (h *Hub) Close() { h.nc.Close() }

// noteRefused remembers what the hub does not let us publish to: such a message
// has no answer, and whoever waits for one should hear why.
func (h *Hub) noteRefused(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	_, rest, ok := strings.Cut(err.Error(), `for publish to "`)
	if !ok {
		_, rest, ok = strings.Cut(err.Error(), `for Publish to "`)
	}
	subject, _, _ := strings.Cut(rest, `"`)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.refused) < 1000 {
		h.refused[subject] = true
	}
}

func (h *Hub) wasRefused(subject string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused[subject]
}

// stored is a message as a stream holds it.
type stored struct {
	Subject string
	Seq     uint64
	Time    time.Time
	Header  nats.Header
	Data    []byte
}

// relayed reports whether the message is an answer of JetStream to somebody, who
// had it sent to a subject of the stream: a way around permissions. An answer
// names its stream, and so does the one that brought it here.
func (m stored) relayed() bool { return len(m.Header.Values(jetstream.StreamHeader)) > 1 }

// marker reports whether the message stands for one that is gone.
func (m stored) marker() bool {
	return m.Header.Get("Nats-Marker-Reason") != "" || m.Header.Get("KV-Operation") != ""
}

func parseStored(m *nats.Msg) stored {
	last := func(key string) string {
		v := append([]string{""}, m.Header.Values(key)...)
		return v[len(v)-1]
	}
	s := stored{Subject: last(jetstream.SubjectHeader), Header: m.Header, Data: m.Data}
	s.Seq, _ = strconv.ParseUint(last(jetstream.SequenceHeader), 10, 64)
	s.Time, _ = time.Parse(time.RFC3339Nano, last(jetstream.TimeStampHeaer))
	return s
}

// getRequest is what a stream is asked for directly.
type getRequest struct {
	Seq       uint64     `json:"seq,omitempty"`
	Last      string     `json:"last_by_subj,omitempty"`
	Next      string     `json:"next_by_subj,omitempty"`
	Batch     int        `json:"batch,omitempty"`
	MaxBytes  int        `json:"max_bytes,omitempty"`
	StartTime *time.Time `json:"start_time,omitempty"`
}

const (
	readBatch = 512
	readBytes = 4 << 20
)

var errHubSilent = errors.New("the hub does not answer")

// page reads some messages of a stream that match a filter, from seq on (or from
// a time on), in the stream's order. next is where to go on; more tells whether
// anything is left.
//
// It asks for messages and needs no consumer: nothing to leave behind on the hub,
// nothing that could deliver elsewhere.
func (h *Hub) page(ctx context.Context, stream, filter string, seq uint64, start time.Time, fn func(stored) error) (next uint64, more bool, err error) {
	req := getRequest{Seq: max(seq, 1), Next: filter, Batch: readBatch, MaxBytes: readBytes}
	if !start.IsZero() {
		req.Seq, req.StartTime = 0, &start
	}
	reply := h.nc.NewInbox()
	sub, err := h.nc.SubscribeSync(reply)
	if err != nil {
		return seq, false, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := sub.SetPendingLimits(readBatch+8, 64<<20); err != nil {
		return seq, false, err
	}
	if err := h.nc.PublishRequest("$JS.API.DIRECT.GET."+stream, reply, store.EncodeJSON(req)); err != nil {
		return seq, false, err
	}
	next = seq
	for {
		wait, cancel := context.WithTimeout(ctx, dialTimeout)
		m, err := sub.NextMsgWithContext(wait)
		cancel()
		if err != nil {
			if ctx.Err() != nil {
				return next, false, ctx.Err()
			}
			return next, false, fmt.Errorf("%w: %s: %w", errHubSilent, stream, err)
		}
		switch m.Header.Get("Status") {
		case "":
			s := parseStored(m)
			if s.Seq < next { // of an earlier answer, or nonsense
				continue
			}
			next = s.Seq + 1
			if err := fn(s); err != nil {
				return next, false, err
			}
		case "404":
			return next, false, nil
		case "204":
			return next, m.Header.Get("Nats-Num-Pending") != "0", nil
		case "503":
			return next, false, fmt.Errorf("%w: %s: no responders", errHubSilent, stream)
		default:
			return next, false, fmt.Errorf("read %s: %s %s", stream, m.Header.Get("Status"), m.Header.Get("Description"))
		}
	}
}

// each reads all messages that match, from seq on, and returns where to go on.
func (h *Hub) each(ctx context.Context, stream, filter string, seq uint64, start time.Time, fn func(stored) error) (uint64, error) {
	for tries := 0; ; {
		next, more, err := h.page(ctx, stream, filter, seq, start, fn)
		if next > seq {
			seq, start, tries = next, time.Time{}, 0
		}
		switch {
		case errors.Is(err, errHubSilent) && tries < 3:
			tries++
		case err != nil:
			return seq, err
		case !more:
			return seq, nil
		}
	}
}

// last asks the leader of a stream for its newest message on a subject, which may
// hold wildcards. The zero message means that there is none.
func (h *Hub) last(ctx context.Context, stream, subject string) (stored, error) {
	var resp struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Header  []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	if err := h.api(ctx, "STREAM.MSG.GET."+stream, getRequest{Last: subject}, &resp); err != nil {
		return stored{}, err
	}
	switch {
	case resp.Error != nil && resp.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return stored{}, nil
	case resp.Error != nil:
		return stored{}, fmt.Errorf("read %s: %w", stream, resp.Error)
	}
	m := resp.Message
	s := stored{Subject: m.Subject, Seq: m.Seq, Data: m.Data, Time: m.Time}
	if len(m.Header) > 0 {
		var err error
		if s.Header, err = nats.DecodeHeadersMsg(m.Header); err != nil {
			return stored{}, err
		}
		s.Header.Add(jetstream.StreamHeader, stream) // as a direct answer has it
	}
	return s, nil
}

// newest looks for the newest message on a subject that is what it should be: ours
// is asked, from older to newer. What others wrote there, or had the hub write
// there, is passed over. last is the place of the last message of all, which who
// writes next has to name.
func (h *Hub) newest(ctx context.Context, stream, subject string, ours func(stored) bool) (last uint64, err error) {
	for range 5 {
		m, err := h.last(ctx, stream, subject)
		if err != nil || m.Seq == 0 || ours(m) {
			return m.Seq, err
		}
		// The leader knows what is last, any node answers for the rest: one that does
		// not have the last message yet may miss others.
		next, err := h.each(ctx, stream, subject, 1, time.Time{}, func(m stored) error { ours(m); return nil })
		if err != nil || next > m.Seq {
			return next - 1, err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%w: %s", errHubSilent, stream)
}

// api asks JetStream something and reads the answer. Elections take a moment, so
// silence is asked again.
func (h *Hub) api(ctx context.Context, name string, req, resp any) error {
	var body []byte
	if req != nil {
		body = store.EncodeJSON(req)
	}
	for tries := 0; ; tries++ {
		wait, cancel := context.WithTimeout(ctx, min(time.Second<<tries, dialTimeout))
		m, err := h.nc.RequestWithContext(wait, "$JS.API."+name, body)
		cancel()
		if err == nil {
			return json.Unmarshal(m.Data, resp)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if h.wasRefused("$JS.API." + name) {
			return fmt.Errorf("the hub does not allow %s", name)
		}
		if tries == 4 {
			return fmt.Errorf("%w: %s: %w", errHubSilent, name, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// info is what doctor and the shipper ask of a stream.
func (h *Hub) info(ctx context.Context, stream string) (jetstream.StreamInfo, error) {
	var resp struct {
		jetstream.StreamInfo
		Error *jetstream.APIError `json:"error"`
	}
	if err := h.api(ctx, "STREAM.INFO."+stream, nil, &resp); err != nil {
		return resp.StreamInfo, err
	}
	if resp.Error != nil {
		return resp.StreamInfo, message.WithHint(fmt.Errorf("stream %s: %w", stream, resp.Error), message.HintTeamStreams)
	}
	return resp.StreamInfo, nil
}
