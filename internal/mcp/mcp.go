// Package mcp serves tools to a model over stdio, in the Model Context Protocol:
// JSON-RPC 2.0, one message per line.
//
// It knows tools, and nothing else of the protocol: no resources, prompts,
// sampling or progress. The official SDK was measured first: its packages cost
// every start of the program three milliseconds, and every hook is a start.
//
// A server has no state. It answers in the order in which it is asked, and ends
// with its input.
package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Tool is something that a model may call.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON schema of its arguments.
	Schema json.RawMessage
	// Call does it. What it returns is text for the model, an error included.
	Call func(ctx context.Context, args json.RawMessage) (string, error)
}

// Server offers tools.
type Server struct {
	Name, Version string
	// Instructions tell a model what the tools are for.
	Instructions string
	Tools        []Tool
	// Clean goes over all that a tool says, if it is set: answers and errors.
	Clean func(string) string
}

// protocols are the versions that are spoken; what differs between them does not
// concern a server of tools. The newest comes first.
var protocols = []string{"2025-06-18", "2025-03-26", "2024-11-05"}

// maxMessage bounds one message.
const maxMessage = 16 << 20

// Codes of JSON-RPC.
const (
	codeParse   = -32700
	codeInvalid = -32600
	codeMethod  = -32601
	codeParams  = -32602
)

type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// Serve answers until its input ends, or ctx does and the next message comes.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxMessage)
	for lines.Scan() && ctx.Err() == nil {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		answer := s.handle(ctx, line)
		if answer == nil {
			continue
		}
		if err := write(out, answer); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), ctx.Err())
}

func write(out io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := out.Write(b.Bytes())
	return err
}

// handle answers one message: a call, a notification, or a batch of them.
func (s Server) handle(ctx context.Context, line []byte) any {
	if line[0] != '[' {
		if r := s.one(ctx, line); r != nil {
			return r
		}
		return nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return fail(nil, codeInvalid, "not a batch")
	}
	var answers []*response
	for _, m := range batch {
		if r := s.one(ctx, m); r != nil {
			answers = append(answers, r)
		}
	}
	if len(answers) == 0 {
		return nil
	}
	return answers
}

func fail(id json.RawMessage, code int, text string) *response {
	if id == nil {
		id = json.RawMessage("null")
	}
	return &response{Version: "2.0", ID: id, Error: &rpcError{code, text}}
}

func (s Server) one(ctx context.Context, line []byte) *response {
	var r request
	if err := json.Unmarshal(line, &r); err != nil {
		return fail(nil, codeParse, "not a message")
	}
	notice := len(r.ID) == 0 || string(r.ID) == "null"
	if r.Method == "" {
		if notice {
			return nil
		}
		return fail(r.ID, codeInvalid, "no method")
	}
	if notice {
		return nil // initialized, cancelled: nothing depends on them
	}
	result, err := s.call(ctx, r)
	var rpc *rpcError
	switch {
	case errors.As(err, &rpc):
		return fail(r.ID, rpc.Code, rpc.Message)
	case err != nil:
		return fail(r.ID, codeInvalid, err.Error())
	}
	return &response{Version: "2.0", ID: r.ID, Result: result}
}

func (s Server) call(ctx context.Context, r request) (any, error) {
	switch r.Method {
	case "initialize":
		var p struct {
			Version string `json:"protocolVersion"`
		}
		if json.Unmarshal(r.Params, &p) != nil || !slices.Contains(protocols, p.Version) {
			p.Version = protocols[0]
		}
		return map[string]any{
			"protocolVersion": p.Version,
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": s.Name, "version": s.Version},
			"instructions":    s.Instructions,
		}, nil
	case "ping":
		return map[string]any{}, nil
	case "tools/list":
		list := make([]map[string]any, len(s.Tools))
		for i, t := range s.Tools {
			list[i] = map[string]any{"name": t.Name, "description": t.Description, "inputSchema": t.Schema, "annotations": map[string]any{"readOnlyHint": true}}
		}
		return map[string]any{"tools": list}, nil
	case "tools/call":
		return s.callTool(ctx, r.Params)
	}
	return nil, &rpcError{codeMethod, "unknown method " + r.Method}
}

func (s Server) callTool(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &rpcError{codeParams, "not a call of a tool"}
	}
	i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == p.Name })
	if i < 0 {
		return nil, &rpcError{codeParams, "unknown tool " + p.Name}
	}
	if len(p.Arguments) == 0 || string(p.Arguments) == "null" {
		p.Arguments = json.RawMessage("{}")
	}
	text, err := s.safely(ctx, s.Tools[i], p.Arguments)
	if err != nil {
		// The model is to read what went wrong, not its host.
		text = err.Error()
	}
	if s.Clean != nil {
		text = s.Clean(text)
	}
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": err != nil}, nil
}

// safely keeps one tool's panic from ending the others.
func (s Server) safely(ctx context.Context, t Tool, args json.RawMessage) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("%s: panic: %v", t.Name, p)
		}
	}()
	return t.Call(ctx, args)
}
