package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// maxMessage bounds one message of the app-server; it is the server's own
// limit for an unfragmented frame.
const maxMessage = 16 << 20

// overloaded is the app-server's error code for "not accepted, try again".
const overloaded = -32001

// frame is one message of the app-server protocol: JSON-RPC 2.0 without the
// jsonrpc member.
type frame struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *rpcError       `json:"error,omitempty"`
}

// rpcError is an error answer of the app-server.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("app-server error %d: %s", e.Code, e.Message) }

// refused reports whether an error is such an answer.
func refused(err error) bool {
	_, ok := errors.AsType[*rpcError](err)
	return ok
}

func parseFrame(b []byte) (f frame, err error) {
	err = json.Unmarshal(b, &f)
	if string(f.ID) == "null" {
		f.ID = nil
	}
	return f, err
}

// requestID reads the id of a response to one of our requests; ours are
// always integers.
func requestID(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

func encodeFrame(id int64, method string, params any) ([]byte, error) {
	f := frame{Method: method}
	if id != 0 {
		f.ID = strconv.AppendInt(nil, id, 10)
	}
	if params != nil {
		raw, err := json.Marshal(params)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", method, err)
		}
		f.Params = raw
	}
	return json.Marshal(f)
}
