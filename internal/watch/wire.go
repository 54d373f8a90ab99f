package watch

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// maxMessage bounds one message of the app-server; it is the server's own
// limit for an unfragmented frame.
const maxMessage = 16 << 20

// overloaded is the app-server's error code for "not accepted, try again".
const overloaded = -32001

// frame is one message of the app-server's: JSON-RPC 2.0 without the jsonrpc member. Our
// ids are integers; a message with any other is a question of the server's, which nobody
// reads.
type frame struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

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
	return f, err
}

func encodeFrame(id int64, method string, params any) []byte {
	return store.EncodeJSON(struct {
		ID     int64  `json:"id,omitempty"`
		Method string `json:"method"`
		Params any    `json:"params,omitempty"`
	}{id, method, params})
}
