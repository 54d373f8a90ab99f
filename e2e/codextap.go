//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// Tap stands between a watcher and the app-server, so that a test can stop
// the world at one message.
type Tap struct {
	Socket string
	// Stop decides about a message before it is passed on; fromWatcher tells
	// its direction. A message for which it is true is swallowed, and with it
	// everything after it in that direction.
	Stop func(fromWatcher bool, m WireMessage) bool
	// Answer, where it is set, answers what the server asks its user: nil leaves the
	// question open.
	Answer func(method string) any
	// Stopped is closed when that has happened.
	Stopped chan struct{}

	mu    sync.Mutex
	conns []*websocket.Conn
	once  sync.Once
}

// WireMessage is as much of a message as tests look at.
type WireMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Item struct{ Type string }
		Run  HookRun
	}
	Result json.RawMessage
}

// HookRun is one run of a hook as Codex reports it.
type HookRun struct {
	EventName string
	Status    string
	Entries   []struct{ Kind, Text string }
}

// Tap puts a tap in front of the app-server.
func (w *CodexWorld) Tap(stop func(fromWatcher bool, m WireMessage) bool) *Tap {
	w.t.Helper()
	r := &Tap{Socket: filepath.Join(filepath.Dir(w.Project), "tap.sock"), Stop: stop, Stopped: make(chan struct{})}
	l, err := net.Listen("unix", r.Socket)
	if err != nil {
		w.t.Fatal(err)
	}
	server := w.Socket
	ctx, cancel := context.WithCancel(context.Background())
	srv := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		r.serve(ctx, w.t, server, rw, req)
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	w.t.Cleanup(func() {
		cancel()
		_ = srv.Close()
		<-done
	})
	return r
}

func (r *Tap) serve(ctx context.Context, t *testing.T, socket string, rw http.ResponseWriter, req *http.Request) {
	near, err := websocket.Accept(rw, req, nil)
	if err != nil {
		return
	}
	defer near.CloseNow()
	far, _, err := websocket.Dial(ctx, "ws://localhost/", &websocket.DialOptions{
		CompressionMode: websocket.CompressionDisabled,
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}}},
	})
	if err != nil {
		return
	}
	defer far.CloseNow()
	r.mu.Lock()
	r.conns = append(r.conns, near, far)
	r.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { defer cancel(); r.pass(ctx, true, near, far) })
	wg.Go(func() { defer cancel(); r.pass(ctx, false, far, near) })
	wg.Wait()
}

func (r *Tap) pass(ctx context.Context, fromWatcher bool, from, to *websocket.Conn) {
	from.SetReadLimit(-1)
	stopped := false
	for {
		kind, b, err := from.Read(ctx)
		if err != nil {
			return
		}
		var m WireMessage
		_ = json.Unmarshal(b, &m)
		if r.Stop != nil && !stopped && r.Stop(fromWatcher, m) {
			stopped = true
			r.once.Do(func() { close(r.Stopped) })
		}
		if stopped {
			continue
		}
		if to.Write(ctx, kind, b) != nil {
			return
		}
		if r.Answer == nil || fromWatcher || m.ID == nil || m.Method == "" {
			continue
		}
		if a := r.Answer(m.Method); a != nil {
			b, _ := json.Marshal(map[string]any{"id": m.ID, "result": a})
			if from.Write(ctx, websocket.MessageText, b) != nil {
				return
			}
		}
	}
}

// Cut ends all connections; new ones are passed on again.
func (r *Tap) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Stop = nil
	for _, c := range r.conns {
		_ = c.CloseNow()
	}
	r.conns = nil
}
