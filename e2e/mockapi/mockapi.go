// Package mockapi is a Messages API on loopback for the end-to-end tests: the
// real agent talks to it as if it were the model's server.
//
// A Handler decides the answer to every model request: text, tool calls, token
// numbers, an API error, a delay. Each request is kept with its raw body, in the
// order of arrival, so that a test can assert what the model would have read,
// which is the only proof that a hook's text was delivered.
//
// The server never leaves loopback and knows nothing about hooks. It answers the
// few other calls an agent makes (the start-up probe, count_tokens) and keeps
// unknown paths in Other so that a test can notice new traffic.
package mockapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Thinking is the least that an answer takes. No model is faster, and the agents count on it:
// Claude Code writes a message into its session's file up to a tenth of a second after it has
// sent it, and what is not written there no hook can know.
const Thinking = 150 * time.Millisecond

// Handler decides the answer to one model request. It is called concurrently
// when the agent runs sub-agents side by side.
type Handler func(*Request) Reply

// Server is a running mock.
type Server struct {
	// AtOnce makes answers come without Thinking, where the agent's own time is measured.
	AtOnce bool

	http    *httptest.Server
	handler Handler
	agents  map[string]string

	mu       sync.Mutex
	requests []*Request
	other    []string
	toolID   int
}

// New starts a server. agents maps a sub-agent's name to a text that only its
// system prompt holds; Request.Agent is filled from it. The caller closes the
// server.
func New(h Handler, agents map[string]string) *Server {
	s := &Server{handler: h, agents: agents}
	s.http = httptest.NewServer(s)
	return s
}

// URL is what goes into ANTHROPIC_BASE_URL.
func (s *Server) URL() string { return s.http.URL }

// Close stops the server and drops open connections: an agent that was killed
// in mid-request must not keep the test waiting.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns the model requests so far, oldest first.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// Other returns "METHOD path" of every call that was not a model request.
func (s *Server) Other() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.other...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		s.mu.Lock()
		s.other = append(s.other, r.Method+" "+r.URL.Path)
		s.mu.Unlock()
		s.serveOther(w, r, body)
		return
	}
	req, err := parse(body, r.Header, s.agents)
	if err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	s.mu.Lock()
	req.Seq = len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()

	reply := s.handler(req)
	if !s.AtOnce {
		reply.Delay = max(reply.Delay, Thinking)
	}
	if reply.Delay > 0 {
		select {
		case <-time.After(reply.Delay):
		case <-r.Context().Done():
			return
		}
	}
	if reply.Wait != nil {
		select {
		case <-reply.Wait:
		case <-r.Context().Done():
			return
		}
	}
	if reply.Status >= 400 {
		writeError(w, reply.Status, reply.ErrType, reply.ErrText)
		return
	}
	msg := s.message(req, reply)
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(msg)
		return
	}
	stream(w, msg)
}

func (s *Server) serveOther(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		fmt.Fprintf(w, `{"input_tokens":%d}`, len(body)/4)
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	io.WriteString(w, "{}")
}

func writeError(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Content-Type", "application/json")
	// The client retries 429 and 5xx with growing pauses unless told not to.
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{
		"type":  "error",
		"error": map[string]string{"type": kind, "message": text},
	})
}
