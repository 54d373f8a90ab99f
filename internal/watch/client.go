package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Client is one connection to a Codex app-server. What arrives comes out of Next in
// the order in which the server sent it, notifications and answers: what the server
// had announced before an answer, the caller has already seen.
//
// A Client never answers a request of the server. Approval requests go to every
// subscribed client, and even an error would reject the command in the user's place.
type Client struct {
	conn   conn
	cancel context.CancelFunc
	ctx    context.Context
	wg     sync.WaitGroup

	mu      sync.Mutex
	nextID  int64
	pending map[int64]*call
	queue   []Inbound
	wake    chan struct{}
	err     error
}

// Inbound is one thing that arrived: a notification (Method and Params) or
// the answer to a post (Tag, and Result or Err).
type Inbound struct {
	Method string
	Params json.RawMessage
	Tag    any
	Result json.RawMessage
	Err    error
}

// call is a request without its answer: it is in Client.pending until then.
type call struct {
	id     int64
	method string
	params any
	tag    any
	done   chan Inbound
	timer  *time.Timer
	retry  *backoff.ExponentialBackOff
	tries  int
}

// Requests that the server refuses as overloaded are sent again this often.
const overloadTries = 6

// maxQueue bounds what waits for Next. A reader that far behind has lost the
// thread; a new connection starts clean.
const maxQueue = 50_000

var (
	errClosed  = errors.New("app-server connection closed")
	errBehind  = errors.New("app-server connection closed: too many unread messages")
	errTimeout = errors.New("app-server did not answer in time")
)

// Dial connects and introduces us. The connection lives until Close: whoever is
// told to stop may have something to say before.
func Dial(ctx context.Context, at Endpoint, name, version string) (*Client, error) {
	dctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cn, err := at.dial(dctx)
	if err != nil {
		return nil, err
	}
	c := newClient(context.WithoutCancel(ctx), cn)
	init := map[string]any{
		"clientInfo":   map[string]any{"name": name, "title": nil, "version": version},
		"capabilities": map[string]any{"experimentalApi": true, "requestAttestation": false},
	}
	if err = c.Call(dctx, "initialize", init, nil); err == nil {
		err = c.write(0, "initialized", nil)
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("initialize %s: %w", at, err)
	}
	return c, nil
}

func newClient(ctx context.Context, cn conn) *Client {
	ctx, cancel := context.WithCancel(ctx)
	c := &Client{
		conn: cn, ctx: ctx, cancel: cancel,
		pending: map[int64]*call{},
		wake:    make(chan struct{}, 1),
	}
	c.wg.Go(c.readAll)
	// A read from a process's pipe knows no context; closing ends it.
	c.wg.Go(func() {
		<-ctx.Done()
		_ = cn.close()
	})
	return c
}

// Close ends the connection and waits for all its goroutines.
func (c *Client) Close() error {
	c.cancel()
	c.wg.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.err, errClosed) || errors.Is(c.err, context.Canceled) {
		return nil
	}
	return c.err
}

// Ready is signalled when Next may have something; it is for a select.
func (c *Client) Ready() <-chan struct{} { return c.wake }

// Next returns the next thing that arrived; ok is false when nothing is there yet.
// After the connection's end the reason of it comes last.
func (c *Client) Next() (in Inbound, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) > 0 {
		in = c.queue[0]
		c.queue = c.queue[1:]
		return in, true, nil
	}
	return Inbound{}, false, c.err
}

// post sends a request whose one answer comes out of Next with tag: an error when the
// time is up or the connection ends. The result is the request's id on the wire.
func (c *Client) post(method string, params, tag any, timeout time.Duration) int64 {
	return c.start(&call{method: method, params: params, tag: tag}, timeout)
}

// Call sends a request and waits for its answer, which is not ordered with Next.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	done := make(chan Inbound, 1)
	c.start(&call{method: method, params: params, done: done}, 0)
	select {
	case in := <-done:
		if in.Err == nil && result != nil {
			in.Err = json.Unmarshal(in.Result, result)
		}
		if in.Err != nil {
			return fmt.Errorf("%s: %w", method, in.Err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

func (c *Client) start(cl *call, timeout time.Duration) int64 {
	c.mu.Lock()
	c.nextID++
	cl.id = c.nextID
	c.pending[cl.id] = cl
	if timeout > 0 {
		cl.timer = time.AfterFunc(timeout, func() { c.settle(cl, Inbound{Err: errTimeout}) })
	}
	err := c.err
	c.mu.Unlock()
	if err == nil {
		err = c.write(cl.id, cl.method, cl.params)
	}
	if err != nil {
		c.settle(cl, Inbound{Err: err})
	}
	return cl.id
}

func (c *Client) write(id int64, method string, params any) (err error) {
	defer transcript.Catch("", &err)
	return c.conn.write(c.ctx, encodeFrame(id, method, params))
}

// settle gives cl its one answer; later ones are dropped.
func (c *Client) settle(cl *call, in Inbound) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(cl, in)
}

func (c *Client) settleLocked(cl *call, in Inbound) {
	if c.pending[cl.id] != cl {
		return
	}
	delete(c.pending, cl.id)
	if cl.timer != nil {
		cl.timer.Stop()
	}
	in.Tag = cl.tag
	if cl.done != nil {
		cl.done <- in
		return
	}
	c.push(in)
}

// push appends to the queue. The caller holds the lock.
func (c *Client) push(in Inbound) {
	c.queue = append(c.queue, in)
	c.signal()
}

func (c *Client) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Client) readAll() {
	var err error
	for err == nil {
		var b []byte
		b, err = c.conn.read(c.ctx)
		if err == nil {
			err = c.accept(b)
		}
	}
	if c.ctx.Err() != nil {
		err = errClosed
	}
	c.mu.Lock()
	c.err = fmt.Errorf("read from app-server: %w", err)
	for _, cl := range c.pending {
		c.settleLocked(cl, Inbound{Err: c.err})
	}
	c.signal()
	c.mu.Unlock()
	c.cancel()
}

// accept sorts one message. Broken ones are skipped: a server newer than us
// may say things we do not know.
func (c *Client) accept(b []byte) (err error) {
	defer transcript.Catch("", &err)
	f, err := parseFrame(b)
	if err != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case f.ID == nil && wanted(f.Method):
		if len(c.queue) >= maxQueue {
			return errBehind
		}
		c.push(Inbound{Method: f.Method, Params: f.Params})
	case f.ID != nil && f.Method == "": // with a method it is a question of the server's
		cl := c.pending[*f.ID]
		if cl == nil || f.Error != nil && f.Error.Code == overloaded && c.again(cl) {
			return nil
		}
		in := Inbound{Result: f.Result}
		if f.Error != nil {
			in.Err = f.Error
		}
		c.settleLocked(cl, in)
	}
	return nil
}

// again sends an overloaded request once more after a pause. The caller holds
// the lock.
func (c *Client) again(cl *call) bool {
	if cl.tries >= overloadTries {
		return false
	}
	cl.tries++
	if cl.retry == nil {
		cl.retry = backOff(100*time.Millisecond, 5*time.Second)
	}
	pause := cl.retry.NextBackOff()
	c.wg.Go(func() {
		err := sleep(c.ctx, pause)
		c.mu.Lock()
		open := c.pending[cl.id] == cl
		c.mu.Unlock()
		if err == nil && open {
			err = c.write(cl.id, cl.method, cl.params)
		}
		if err != nil {
			c.settle(cl, Inbound{Err: err})
		}
	})
	return true
}

// backOff are the pauses between attempts, each longer than the one before.
func backOff(first, most time.Duration) *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = first, most
	return b
}

// sleep waits; its error is the context's that ended first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wanted keeps what nobody reads out of the queue: text arrives there token
// by token.
func wanted(method string) bool {
	switch method {
	case "thread/started", "thread/status/changed", "thread/closed", "thread/archived", "thread/deleted",
		"thread/goal/updated", "thread/goal/cleared", "thread/queue/changed",
		"thread/tokenUsage/updated", "turn/started", "turn/completed", "turn/plan/updated",
		"item/started", "item/completed":
		return true
	}
	return false
}
