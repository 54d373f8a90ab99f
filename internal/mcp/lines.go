package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// maxLine bounds one message, in bytes.
const maxLine = 16 << 20

// lines is a connection with one message on each line. A line that is no message is
// answered with an error and the next one is read, where the SDK's own connection
// ends.
type lines struct {
	in     chan jsonrpc.Message
	end    error // why in is closed
	closed chan struct{}
	close  func()

	mu  sync.Mutex // guards what follows
	out io.Writer
	// open are the calls that have no answer yet. The SDK drops the answers of calls
	// that run when the input ends, so it learns of the end when none is left.
	open     map[jsonrpc.ID]bool
	answered *sync.Cond
}

func newLines(in io.Reader, out io.Writer) *lines {
	l := &lines{in: make(chan jsonrpc.Message), closed: make(chan struct{}), out: out, open: map[jsonrpc.ID]bool{}}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	l.answered = sync.NewCond(&l.mu)
	go l.receive(bufio.NewReader(in)) // outlives the connection where nothing ends a read of stdin
	return l
}

func (l *lines) receive(r *bufio.Reader) {
	defer close(l.in)
	for l.end == nil {
		var text []byte
		text, l.end = store.ReadLine(r, maxLine)
		for _, m := range l.split(text) {
			msg := l.decode(m)
			if msg == nil {
				continue
			}
			select {
			case l.in <- msg:
			case <-l.closed:
				return
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.open) > 0 {
		l.answered.Wait()
	}
}

// split gives the messages of a line. The protocol had batches in one version; each
// of their messages is answered on its own.
func (l *lines) split(text []byte) []gjson.Result {
	switch m := gjson.ParseBytes(text); {
	case len(bytes.TrimSpace(text)) == 0:
	case len(text) > maxLine:
		l.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the message is too long")
	case !json.Valid(text):
		l.refuse(jsonrpc.ID{}, jsonrpc.CodeParseError, "parse error")
	case m.IsArray() && len(m.Array()) > 0:
		return m.Array()
	default:
		return []gjson.Result{m}
	}
	return nil
}

// decode gives nil for what is no message. The SDK reads a number as an id that is near
// it: 1.5 as 1, and large ones as their neighbours. An answer to that would be another's.
func (l *lines) decode(m gjson.Result) jsonrpc.Message {
	msg, err := jsonrpc.DecodeMessage([]byte(m.Raw))
	sent := m.Get("id")
	if n := sent.Int(); sent.Type == gjson.Number && (strconv.FormatInt(n, 10) != sent.Raw || n != int64(float64(n))) {
		err, sent = errors.New("no integer"), gjson.Result{}
	}
	if err != nil {
		// An answer is not answered, or two programs would go on for ever.
		if !m.Get("result").Exists() && !m.Get("error").Exists() {
			id, _ := jsonrpc.MakeID(sent.Value())
			l.refuse(id, jsonrpc.CodeInvalidRequest, "invalid request")
		}
		return nil
	}
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
		l.mu.Lock()
		l.open[r.ID] = true
		l.mu.Unlock()
	}
	return msg
}

func (l *lines) refuse(id jsonrpc.ID, code int64, text string) {
	// Where this cannot be written, the SDK's next answer cannot either, and ends it.
	_ = l.Write(context.Background(), &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: text}})
}

// Connect is the SDK's Transport; the other methods are its Connection.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

func (l *lines) SessionID() string { return "" }

func (l *lines) Close() error {
	l.close()
	return nil
}

func (l *lines) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-l.in:
		if !ok {
			return nil, l.end
		}
		return msg, nil
	case <-l.closed:
		return nil, io.EOF
	}
}

func (l *lines) Write(_ context.Context, msg jsonrpc.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := msg.(*jsonrpc.Response); ok {
		if r.Error != nil {
			r.Error = plain(r.Error)
		}
		delete(l.open, r.ID)
		defer l.answered.Signal()
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(text, '\n'))
	return err
}

// plain is an error in the protocol's words: what the SDK wraps around them names its
// Go types. What it gives no code is a call at the wrong time.
func plain(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}
