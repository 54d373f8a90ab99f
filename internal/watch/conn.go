package watch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// conn carries whole messages to and from an app-server.
type conn interface {
	read(ctx context.Context) ([]byte, error)
	write(ctx context.Context, b []byte) error
	// close ends the connection and waits for what belongs to it.
	close() error
}

// Endpoint says where an app-server is. Exactly one field is set.
type Endpoint struct {
	// Socket is the path of a unix socket.
	Socket string
	// URL is a ws://, wss:// or unix:// address.
	URL string
	// Token is sent as a bearer token to a URL, when set.
	Token string
	// Command starts an own app-server that talks over its standard streams.
	Command *exec.Cmd
}

func (e Endpoint) String() string {
	switch {
	case e.Command != nil:
		return strings.Join(e.Command.Args, " ")
	case e.URL != "":
		return e.URL
	}
	return "unix://" + e.Socket
}

// Check reports an address that can never work.
func (e Endpoint) Check() error {
	u, err := url.Parse(e.URL)
	switch {
	case err != nil:
		return fmt.Errorf("app-server address: %w", err)
	case e.URL == "" || u.Scheme == "ws" || u.Scheme == "wss" || u.Scheme == "unix":
		return nil
	}
	return fmt.Errorf("app-server address %q: want ws://, wss:// or unix://", e.URL)
}

func (e Endpoint) dial(ctx context.Context) (conn, error) {
	if e.Command != nil {
		return startProcess(e.Command)
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	socket, address := e.Socket, "ws://localhost/"
	if path, ok := strings.CutPrefix(e.URL, "unix://"); ok {
		socket = path
	} else if e.URL != "" {
		address = e.URL
	}
	opts := &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled}
	if e.Token != "" {
		opts.HTTPHeader = http.Header{"Authorization": {"Bearer " + e.Token}}
	}
	// An own transport: the default one would keep a proxy from the
	// environment between us and a loopback server.
	tr := &http.Transport{DisableKeepAlives: true}
	if socket != "" {
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}
	}
	opts.HTTPClient = &http.Client{Transport: tr}
	ws, _, err := websocket.Dial(ctx, address, opts)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", e, err)
	}
	ws.SetReadLimit(maxMessage)
	return &wsConn{ws}, nil
}

type wsConn struct{ ws *websocket.Conn }

func (c *wsConn) read(ctx context.Context) ([]byte, error) {
	_, b, err := c.ws.Read(ctx)
	return b, err
}

func (c *wsConn) write(ctx context.Context, b []byte) error {
	return c.ws.Write(ctx, websocket.MessageText, b)
}

// A closing handshake would wait for a server that may be stuck; nothing we
// have sent is lost without it.
func (c *wsConn) close() error { return c.ws.CloseNow() }

// stdioGrace is how long an own app-server may take to leave after its input
// was closed.
const stdioGrace = 3 * time.Second

// procConn is an own app-server: one message per line on its standard streams.
type procConn struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	mu     sync.Mutex
	closed sync.Once
	err    error
}

func startProcess(cmd *exec.Cmd) (*procConn, error) {
	name := filepath.Base(cmd.Path)
	in, err := cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil, message.WithHint(message.Fail(message.NoProgram, cmd.Path), message.HintNoProgram, name)
	} else if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &procConn{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}, nil
}

func (c *procConn) read(context.Context) ([]byte, error) { return readLine(c.out) }

var errTooLong = errors.New("message exceeds 16 MiB")

// readLine returns the next non-empty line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	for {
		line, err := store.ReadLine(r, maxMessage)
		if len(line) > maxMessage {
			err = errTooLong
		}
		if line = bytes.TrimRight(line, "\r\n"); err != nil || len(line) > 0 {
			return line, err
		}
	}
}

func (c *procConn) write(_ context.Context, b []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.in.Write(append(b, '\n'))
	return err
}

// close lets the server leave by itself, so that it flushes its rollout, and
// ends it when it does not.
func (c *procConn) close() error {
	c.closed.Do(func() {
		_ = c.in.Close()
		t := time.AfterFunc(stdioGrace, func() { _ = c.cmd.Process.Kill() })
		defer t.Stop()
		c.err = c.cmd.Wait()
	})
	return c.err
}
