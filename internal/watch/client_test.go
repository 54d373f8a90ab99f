package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// peer is a scripted app-server on a real websocket.
type peer struct {
	t      *testing.T
	answer func(p *peer, f frame)

	mu   sync.Mutex
	ws   *websocket.Conn
	seen []frame
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	p.mu.Lock()
	p.ws = ws
	p.mu.Unlock()
	for {
		_, b, err := ws.Read(r.Context())
		if err != nil {
			return
		}
		var f frame
		if err := json.Unmarshal(b, &f); err != nil {
			p.t.Errorf("client sent %q: %v", b, err)
			return
		}
		p.mu.Lock()
		p.seen = append(p.seen, f)
		p.mu.Unlock()
		if f.Method == "initialize" {
			p.send(`{"id":` + fmt.Sprint(*f.ID) + `,"result":{}}`)
			continue
		}
		if p.answer != nil {
			p.answer(p, f)
		}
	}
}

func (p *peer) send(raw string) {
	p.mu.Lock()
	ws := p.ws
	p.mu.Unlock()
	_ = ws.Write(context.Background(), websocket.MessageText, []byte(raw))
}

func (p *peer) frames() []frame {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]frame(nil), p.seen...)
}

func dialPeer(t *testing.T, answer func(*peer, frame)) (*Client, *peer) {
	t.Helper()
	p := &peer{t: t, answer: answer}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	c, err := Dial(t.Context(), Endpoint{URL: "ws" + strings.TrimPrefix(srv.URL, "http")}, "test", "1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, p
}

func await(ctx context.Context, c *Client) (Inbound, error) {
	for {
		in, ok, err := c.Next()
		if ok || err != nil {
			return in, err
		}
		select {
		case <-c.Ready():
		case <-ctx.Done():
			return in, ctx.Err()
		}
	}
}

func next(t *testing.T, c *Client) Inbound {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	in, err := await(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestClientIntroducesItself(t *testing.T) {
	t.Parallel()
	c, p := dialPeer(t, func(p *peer, f frame) {
		if f.Method == "ping" {
			p.send(`{"id":` + fmt.Sprint(*f.ID) + `,"result":{"ok":true}}`)
		}
	})
	var got struct{ OK bool }
	if err := c.Call(t.Context(), "ping", nil, &got); err != nil || !got.OK {
		t.Fatalf("Call = %+v, %v", got, err)
	}
	fs := p.frames()
	if fs[0].Method != "initialize" || fs[1].Method != "initialized" || fs[1].ID != nil {
		t.Errorf("handshake = %+v", fs[:2])
	}
	if want := `"experimentalApi":true`; !strings.Contains(string(fs[0].Params), want) {
		t.Errorf("initialize params %s lack %s", fs[0].Params, want)
	}
}

func TestClientNeverAnswersServerRequests(t *testing.T) {
	t.Parallel()
	methods := []string{
		"item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/tool/requestUserInput",
		"mcpServer/elicitation/request", "item/permissions/requestApproval", "item/tool/call",
		"account/chatgptAuthTokens/refresh", "attestation/generate", "currentTime/read",
		"applyPatchApproval", "execCommandApproval", "something/new",
	}
	c, p := dialPeer(t, func(p *peer, f frame) {
		if f.Method == "go" {
			for i, m := range methods {
				b, _ := json.Marshal(map[string]any{"id": i, "method": m, "params": map[string]any{"threadId": "t"}})
				p.send(string(b))
				b, _ = json.Marshal(map[string]any{"id": "s-" + m, "method": m})
				p.send(string(b))
			}
		}
		if f.ID != nil {
			p.send(`{"id":` + fmt.Sprint(*f.ID) + `,"result":{}}`)
		}
	})
	for _, m := range []string{"go", "fence"} {
		if err := c.Call(t.Context(), m, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range p.frames() {
		if f.Method == "" {
			t.Errorf("the client answered a server request: %+v", f)
		}
	}
}

func TestClientKeepsTheServersOrder(t *testing.T) {
	t.Parallel()
	c, _ := dialPeer(t, func(p *peer, f frame) {
		if f.Method != "check" {
			return
		}
		p.send(`{"method":"turn/started","params":{"n":1}}`)
		p.send(`{"method":"item/agentMessage/delta","params":{}}`)
		p.send(`not json`)
		p.send(`{"id":` + fmt.Sprint(*f.ID) + `,"result":{}}`)
		p.send(`{"id":999,"result":{}}`)
		p.send(`{"method":"turn/completed","params":{"n":2}}`)
	})
	c.post("check", nil, "tag", time.Minute)
	var got []string
	for range 3 {
		in := next(t, c)
		name := in.Method
		if in.Tag != nil {
			name = in.Tag.(string)
		}
		got = append(got, name)
	}
	if want := "turn/started tag turn/completed"; strings.Join(got, " ") != want {
		t.Errorf("order = %v, want %s", got, want)
	}
}

func TestClientRetriesWhenOverloaded(t *testing.T) {
	t.Parallel()
	var n int
	c, _ := dialPeer(t, func(p *peer, f frame) {
		if f.Method != "busy" {
			return
		}
		n++
		if n < 3 {
			p.send(`{"id":` + fmt.Sprint(*f.ID) + `,"error":{"code":-32001,"message":"overloaded"}}`)
			return
		}
		p.send(`{"id":` + fmt.Sprint(*f.ID) + `,"result":{}}`)
	})
	if err := c.Call(t.Context(), "busy", nil, nil); err != nil {
		t.Fatal(err)
	}
	if n != 3 {
		t.Errorf("sent %d times, want 3", n)
	}
}

func TestClientErrors(t *testing.T) {
	t.Parallel()
	c, p := dialPeer(t, func(p *peer, f frame) {
		if f.Method == "no" {
			p.send(`{"id":` + fmt.Sprint(*f.ID) + `,"error":{"code":-32600,"message":"no rollout found"}}`)
		}
	})
	var rpc *rpcError
	if err := c.Call(t.Context(), "no", nil, nil); !errors.As(err, &rpc) || rpc.Code != -32600 {
		t.Errorf("Call = %v, want RPC error -32600", err)
	}
	c.post("silent", nil, 1, time.Millisecond)
	if in := next(t, c); in.Tag != 1 || !errors.Is(in.Err, errTimeout) {
		t.Errorf("silent request: %+v", in)
	}
	c.post("pending", nil, 2, time.Minute)
	p.mu.Lock()
	_ = p.ws.CloseNow()
	p.mu.Unlock()
	if in := next(t, c); in.Tag != 2 || in.Err == nil {
		t.Errorf("pending request at the end of the connection: %+v", in)
	}
	if _, err := await(t.Context(), c); err == nil {
		t.Error("Next after the end gave no error")
	}
	c.post("late", nil, 3, time.Minute)
	if in := next(t, c); in.Tag != 3 || in.Err == nil {
		t.Errorf("request after the end: %+v", in)
	}
}

func TestClientBoundsMessages(t *testing.T) {
	t.Parallel()
	c, p := dialPeer(t, nil)
	p.send(`{"method":"turn/started","params":"` + strings.Repeat("x", maxMessage) + `"}`)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if in, err := await(ctx, c); err == nil || ctx.Err() != nil {
		t.Errorf("Next = %.40q, %v; want the connection to end", in.Params, err)
	}
}

func TestClientUnixSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "ot")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip("no unix sockets:", err)
	}
	srv := &http.Server{Handler: &peer{t: t}}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	for _, at := range []Endpoint{{Socket: path}, {URL: "unix://" + path}} {
		c, err := Dial(t.Context(), at, "test", "")
		if err != nil {
			t.Fatalf("%+v: %v", at, err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	if _, err := Dial(t.Context(), Endpoint{Socket: path + "-none"}, "", ""); err == nil {
		t.Error("dialled a socket that is not there")
	}
	if _, err := Dial(t.Context(), Endpoint{URL: "http://x"}, "", ""); err == nil {
		t.Error("dialled an http address")
	}
}

func TestClientOwnProcess(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `
		read -r line; printf '\n{"id":1,"result":{}}\n'
		read -r line; printf '{"method":"turn/started"}\r\n'
		cat >/dev/null`)
	c, err := Dial(t.Context(), Endpoint{Command: cmd}, "test", "")
	if err != nil {
		t.Fatal(err)
	}
	if in := next(t, c); in.Method != "turn/started" {
		t.Errorf("got %+v", in)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if cmd.ProcessState == nil || !cmd.ProcessState.Success() {
		t.Errorf("the server did not leave by itself: %v", cmd.ProcessState)
	}
}

func FuzzParseFrame(f *testing.F) {
	for _, s := range []string{
		`{"id":1,"result":{}}`, `{"method":"turn/started","params":{"threadId":"t"}}`, `{"id":"x","method":"item/tool/call"}`,
		`{"id":null,"method":"m"}`, `{"id":1,"error":{"code":-32001,"message":"busy"}}`, `[]`, `{}`, `null`, `{"id":1e99}`, "{\"id\":1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c := &Client{ctx: ctx, pending: map[int64]*call{1: {}}, wake: make(chan struct{}, 1)}
		defer c.wg.Wait()
		if err := c.accept(b); err != nil {
			t.Error(err)
		}
	})
}
