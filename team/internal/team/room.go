package team

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// A server whose disk is full says nothing to whoever publishes: it remembers the error
// of the disk, stream by stream, and drops what comes, until it is started anew. So a
// hub of ours looks after its disk itself, tells who asks, and starts its server anew
// once there is room.

// roomSubject is where machines ask a hub of ours what is wrong with its disk. It has the
// form of a question to a stream that there is not: every machine may ask such questions,
// and nobody answers them elsewhere.
const roomSubject = "$JS.API.DIRECT.GET.OVT_ROOM"

const (
	roomEvery = 2 * time.Second
	// limitEvery is how often a server anew looks how large its disk is: it stores no
	// more than three quarters of what was free when it started.
	limitEvery = 10 * time.Minute
	roomBytes  = 256 << 10
)

// unwritten says why the server stores nothing; "" where it does. limited: it has come
// to its own limit, not to the end of the disk.
func unwritten(srv *server.Server) (why string, limited bool) {
	for _, e := range srv.Healthz(&server.HealthzOptions{Details: true}).Errors {
		if _, text, ok := strings.Cut(e.Error, "write error: "); ok {
			parts := strings.Split(text, ": ")
			return parts[len(parts)-1], false
		}
	}
	// In a cluster, and where it may not write, the server shuts its store down.
	if !srv.JetStreamEnabled() {
		return "the store was shut down", false
	}
	info, err := srv.Jsz(nil)
	if err == nil && info.Config.MaxStore > 0 && info.Store >= uint64(info.Config.MaxStore) {
		return fmt.Sprintf("%s of %s are used", message.Bytes(int64(info.Store)), message.Bytes(info.Config.MaxStore)), true
	}
	return "", false
}

// writable tries the disk of the streams.
func (n Node) writable() error {
	path := n.path("streams/.room")
	defer os.Remove(path)
	err := os.WriteFile(path, make([]byte, roomBytes), 0o600)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err // where the hub lies is nobody's business
	}
	return err
}

// keeper looks after the disk of a running node.
type keeper struct {
	n     Node
	srv   *server.Server
	begun time.Time

	mu    sync.Mutex
	tried time.Time
	why   string // the node stores nothing
	room  bool   // another server would
	told  bool
}

// look finds out what is wrong with the disk. The disk itself is tried where somebody
// asks, or the server has given up: not all the time.
func (k *keeper) look(asked bool) (why string, room bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.n.Now()
	if now.Sub(k.tried).Abs() < roomEvery {
		return k.why, k.room
	}
	why, limited := unwritten(k.srv)
	if asked || why != "" || k.why != "" {
		k.tried = now
		switch err := k.n.writable(); {
		case why != "":
			room = err == nil && (!limited || now.Sub(k.begun).Abs() > limitEvery)
		case err != nil:
			why = err.Error()
		}
	}
	k.why, k.room = why, room
	return why, room
}

// tell tells the node's owner what has changed. It reports whether another server would
// find the room that this one has given up.
func (k *keeper) tell() bool {
	why, room := k.look(false)
	if full := why != "" && !room; full != k.told && k.n.Note != nil {
		if k.told = full; full {
			k.n.Note(message.TeamFull, why)
		} else {
			k.n.Note(message.TeamRoom)
		}
	}
	return room
}

// answer tells machines what is wrong with the disk. In a cluster several nodes hear the
// question, and only one that has something to say does. Who asks chooses where the
// answer goes, and the node may write everywhere: so only to where machines listen.
func (k *keeper) answer(m *nats.Msg) {
	if !strings.HasPrefix(m.Reply, inbox("")) {
		return
	}
	if why, _ := k.look(true); why != "" || k.n.Cluster == "" {
		_ = m.Respond([]byte(why))
	}
}

// hubFull is the error of a hub that is there and stores nothing.
type hubFull struct{ error }

func (f hubFull) Unwrap() error { return f.error }

// full asks the hub what is wrong with its disk; "" where nothing is, or where it is not
// a hub of ours.
func (h *Hub) full(ctx context.Context) string {
	wait, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	m, err := h.nc.RequestWithContext(wait, roomSubject, nil)
	if err != nil {
		return ""
	}
	return string(m.Data[:min(len(m.Data), 200)])
}

// noRoom is the error of a full hub, if it is one; otherwise the error itself.
func (h *Hub) noRoom(ctx context.Context, err error) error {
	why := ""
	switch api, ok := errors.AsType[*jetstream.APIError](err); {
	case ok && (api.ErrorCode == 10023 || api.ErrorCode == 10047): // insufficient resources, insufficient storage
		why = api.Description
	case transient(err) || errors.Is(err, context.DeadlineExceeded):
		why = h.full(ctx)
	}
	if why == "" {
		return err
	}
	return message.WithHint(hubFull{message.Fail(message.TeamHubFull, why)}, message.HintTeamHubFull)
}
