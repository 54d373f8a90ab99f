package mockapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Reply is the answer to one request. The zero value is an empty text answer.
type Reply struct {
	Blocks []Block
	Usage  Usage

	// Status ≥ 400 makes the answer an API error of that kind.
	Status  int
	ErrType string
	ErrText string

	// The answer is held back for Delay and until Wait is closed.
	Delay time.Duration
	Wait  <-chan struct{}
}

// Block is one content block: text, or a tool call when Tool is set.
type Block struct {
	Text  string
	Tool  string
	Input map[string]any
}

// Usage is what the model's server says the request cost. Zero fields get
// small defaults.
type Usage struct {
	Input, CacheRead, CacheCreation, Output int
}

// Text answers with text and ends the turn.
func Text(text string) Reply { return Reply{Blocks: []Block{{Text: text}}} }

// Call answers with one tool call.
func Call(tool string, input map[string]any) Reply {
	return Reply{Blocks: []Block{{Tool: tool, Input: input}}}
}

// Calls answers with several tool calls in one message: one batch.
func Calls(blocks ...Block) Reply { return Reply{Blocks: blocks} }

// Delegate is the block that starts a sub-agent.
func Delegate(agentType, prompt string) Block {
	return Block{Tool: "Agent", Input: map[string]any{
		"subagent_type": agentType,
		"description":   "run " + agentType,
		"prompt":        prompt,
	}}
}

// Foreground is Delegate where the main agent waits for the answer.
func Foreground(agentType, prompt string) Block {
	b := Delegate(agentType, prompt)
	b.Input["run_in_background"] = false
	return b
}

// Background is Delegate with run_in_background.
func Background(agentType, prompt string) Block {
	b := Delegate(agentType, prompt)
	b.Input["run_in_background"] = true
	return b
}

// Fail answers with an API error that the client does not retry.
func Fail(status int, text string) Reply {
	kind := "api_error"
	switch status {
	case http.StatusBadRequest:
		kind = "invalid_request_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	}
	return Reply{Status: status, ErrType: kind, ErrText: text}
}

// Tokens sets the number of input tokens the answer claims.
func (r Reply) Tokens(n int) Reply {
	r.Usage.Input = n
	return r
}

// After holds the answer back.
func (r Reply) After(d time.Duration) Reply {
	r.Delay = d
	return r
}

// Until holds the answer back until ch is closed.
func (r Reply) Until(ch <-chan struct{}) Reply {
	r.Wait = ch
	return r
}

type wireMessage struct {
	ID           string    `json:"id"`
	Type         string    `json:"type"`
	Role         string    `json:"role"`
	Model        string    `json:"model"`
	Content      []any     `json:"content"`
	StopReason   *string   `json:"stop_reason"`
	StopSequence *string   `json:"stop_sequence"`
	Usage        wireUsage `json:"usage"`
}

type wireUsage struct {
	Input         int `json:"input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	Output        int `json:"output_tokens"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolBlock struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

func (s *Server) message(req *Request, reply Reply) wireMessage {
	stop := "end_turn"
	msg := wireMessage{
		ID:    fmt.Sprintf("msg_mock_%05d", req.Seq),
		Type:  "message",
		Role:  "assistant",
		Model: req.Model,
		Usage: wireUsage{
			Input:         reply.Usage.Input,
			CacheRead:     reply.Usage.CacheRead,
			CacheCreation: reply.Usage.CacheCreation,
			Output:        reply.Usage.Output,
		},
	}
	if msg.Usage.Input == 0 {
		msg.Usage.Input = 100
	}
	if msg.Usage.Output == 0 {
		msg.Usage.Output = 10
	}
	for _, b := range reply.Blocks {
		if b.Tool == "" {
			msg.Content = append(msg.Content, textBlock{"text", b.Text})
			continue
		}
		stop = "tool_use"
		s.mu.Lock()
		s.toolID++
		id := fmt.Sprintf("toolu_%06d", s.toolID)
		s.mu.Unlock()
		msg.Content = append(msg.Content, toolBlock{"tool_use", id, b.Tool, b.Input})
	}
	if msg.Content == nil {
		msg.Content = []any{}
	}
	msg.StopReason = &stop
	return msg
}

// stream writes msg as the server-sent events the real service sends.
func stream(w http.ResponseWriter, msg wireMessage) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Request-Id", "req_"+msg.ID)
	flush := func() {}
	if f, ok := w.(http.Flusher); ok {
		flush = f.Flush
	}
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
		flush()
	}

	start := msg
	start.Content = []any{}
	start.StopReason = nil
	start.Usage.Output = 1
	send("message_start", map[string]any{"message": start})
	for i, c := range msg.Content {
		switch b := c.(type) {
		case textBlock:
			send("content_block_start", map[string]any{"index": i, "content_block": textBlock{"text", ""}})
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": "text_delta", "text": b.Text}})
		case toolBlock:
			input, err := json.Marshal(b.Input)
			if err != nil {
				panic(err)
			}
			b.Input = map[string]any{}
			send("content_block_start", map[string]any{"index": i, "content_block": b})
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": "input_json_delta", "partial_json": string(input)}})
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": msg.StopReason, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": msg.Usage.Output},
	})
	send("message_stop", map[string]any{})
}
