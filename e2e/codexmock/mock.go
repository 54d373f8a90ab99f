// Package codexmock is a model for the real Codex to talk to: a loopback HTTP
// server that speaks as much of the Responses API as one Codex session needs.
//
// The test decides what the model says: its Script gets each request and
// answers with items (a message, tool calls) and a token count. Every request
// is kept, so a test can ask what the model was really shown and in which
// order. Nothing is random and nothing leaves the machine.
//
// It does not check tool schemas and knows no remote compaction: Codex with a
// custom provider compacts by an ordinary request, which Request.Compaction
// recognises.
package codexmock

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Request is one call of the model.
type Request struct {
	Seq   int
	Input []Item
	// Compaction is true for the request that asks for a summary of the context.
	Compaction bool
	// Gone is closed when the caller hangs up.
	Gone <-chan struct{}
	Raw  []byte
}

// Item is one entry of a request's input, with its text flattened.
type Item struct {
	Type   string
	Role   string
	Name   string
	CallID string
	Text   string
}

// Reply is what the model says. A zero Status means 200.
type Reply struct {
	Message string
	Calls   []Call
	Tokens  int
	Status  int
	// Wait, when set, holds the answer back until it is closed or the caller
	// hangs up.
	Wait <-chan struct{}
}

// Call is one tool call of a reply: a function with arguments, or, with Input, a
// tool that takes free text.
type Call struct {
	Name  string
	Args  any
	Input string
	// Namespace is the server of a tool that is not Codex's own.
	Namespace string
}

// Script is the model's mind. It is called from several goroutines.
type Script func(Request) Reply

// Server is a running mock.
type Server struct {
	// URL is the base URL for a provider's base_url.
	URL string

	script Script
	srv    *http.Server
	done   chan struct{}

	mu       sync.Mutex
	requests []Request
	calls    int
	changed  chan struct{}
}

// Start serves script on a loopback port until Close.
func Start(script Script) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the mock model: %w", err)
	}
	s := &Server{
		URL:     "http://" + l.Addr().String() + "/v1",
		script:  script,
		done:    make(chan struct{}),
		changed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", s.responses)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"object":"list","data":[]}`)
	})
	s.srv = &http.Server{Handler: mux}
	go func() {
		defer close(s.done)
		_ = s.srv.Serve(l)
	}()
	return s, nil
}

// Close stops the server and waits for it.
func (s *Server) Close() {
	_ = s.srv.Close()
	<-s.done
}

// Requests is what the model was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Changed is closed at the next request.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *Server) responses(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req := Request{Raw: body, Input: items(body), Gone: r.Context().Done()}
	req.Compaction = isCompaction(req.Input)

	s.mu.Lock()
	req.Seq = len(s.requests) + 1
	s.requests = append(s.requests, req)
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()

	reply := s.script(req)
	if reply.Wait != nil {
		select {
		case <-reply.Wait:
		case <-r.Context().Done():
			return
		}
	}
	if reply.Status != 0 && reply.Status != http.StatusOK {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		fmt.Fprintf(w, `{"error":{"message":"mock says no","type":"mock","code":"mock_%d"}}`, reply.Status)
		return
	}
	s.stream(w, req.Seq, reply)
}

func (s *Server) stream(w http.ResponseWriter, seq int, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		b, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	id := fmt.Sprintf("resp_%d", seq)
	send("response.created", map[string]any{"response": map[string]any{"id": id}})
	for _, c := range reply.Calls {
		args, _ := json.Marshal(c.Args)
		s.mu.Lock()
		s.calls++
		callID := fmt.Sprintf("call_%d", s.calls)
		s.mu.Unlock()
		item := map[string]any{"type": "function_call", "call_id": callID, "name": c.Name, "arguments": string(args)}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		if c.Input != "" {
			item = map[string]any{"type": "custom_tool_call", "call_id": callID, "name": c.Name, "input": c.Input}
		}
		send("response.output_item.done", map[string]any{"item": item})
	}
	if reply.Message != "" {
		send("response.output_item.done", map[string]any{"item": map[string]any{
			"type": "message", "role": "assistant", "id": fmt.Sprintf("msg_%d", seq),
			"content": []any{map[string]any{"type": "output_text", "text": reply.Message}},
		}})
	}
	out := min(100, reply.Tokens)
	send("response.completed", map[string]any{"response": map[string]any{"id": id, "usage": map[string]any{
		"input_tokens":          reply.Tokens - out,
		"input_tokens_details":  map[string]any{"cached_tokens": 0},
		"output_tokens":         out,
		"output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens":          reply.Tokens,
	}}})
}

func items(body []byte) []Item {
	var in struct {
		Input []struct {
			Type    string
			Role    string
			Name    string
			CallID  string `json:"call_id"`
			Content json.RawMessage
			Output  json.RawMessage
		}
	}
	if json.Unmarshal(body, &in) != nil {
		return nil
	}
	out := make([]Item, len(in.Input))
	for i, x := range in.Input {
		out[i] = Item{Type: x.Type, Role: x.Role, Name: x.Name, CallID: x.CallID, Text: text(x.Content) + text(x.Output)}
	}
	return out
}

// text flattens a string or a list of content parts.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

func isCompaction(in []Item) bool {
	return len(in) > 0 && strings.Contains(in[len(in)-1].Text, "CONTEXT CHECKPOINT COMPACTION")
}

// LastUser is the newest user text and how many tool outputs follow it: the
// step of the turn the request belongs to.
func (r Request) LastUser() (text string, step int) {
	for i := len(r.Input) - 1; i >= 0; i-- {
		switch it := r.Input[i]; {
		case it.Type == "function_call_output" || it.Type == "custom_tool_call_output":
			step++
		case it.Role == "user":
			return it.Text, step
		}
	}
	return "", step
}

// Count is the number of input items that contain sub.
func (r Request) Count(sub string) int {
	n := 0
	for _, it := range r.Input {
		n += strings.Count(it.Text, sub)
	}
	return n
}
