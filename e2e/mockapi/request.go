package mockapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Kind says who asked.
type Kind string

const (
	Main     Kind = "main"     // the main agent
	Subagent Kind = "subagent" // an agent the main one delegated to
	Summary  Kind = "summary"  // the summariser of a compaction
	Side     Kind = "side"     // anything else: titles, classifiers
)

// Request is one model request as it arrived.
type Request struct {
	Seq    int
	Kind   Kind
	Agent  string // sub-agent's name, by its system prompt; "" when unknown
	Model  string
	Stream bool
	System string
	Tools  []string
	// Messages hold the conversation, texts flattened.
	Messages []Message
	Session  string
	Header   http.Header
	Body     []byte
}

// Message is one message of the conversation.
type Message struct {
	Role    string
	Content []Content
}

// Content is one block. Text is the text of a text block, or of a tool result.
type Content struct {
	Type    string // text, tool_use, tool_result, …
	Text    string
	Tool    string // tool_use: its name
	ID      string // tool_use and tool_result: the call's id
	Input   json.RawMessage
	IsError bool
}

// Text returns the message's texts, tool results included, joined by newlines.
func (m Message) Text() string {
	var parts []string
	for _, c := range m.Content {
		if c.Text != "" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Count returns how often text occurs in the conversation (system prompt and
// tool definitions excluded).
func (r *Request) Count(text string) int {
	n := 0
	for _, m := range r.Messages {
		for _, c := range m.Content {
			n += strings.Count(c.Text, text)
			n += strings.Count(string(c.Input), text)
		}
	}
	return n
}

// Has reports whether text occurs in the conversation.
func (r *Request) Has(text string) bool { return r.Count(text) > 0 }

// Last returns the texts after the last assistant message: what is new to the
// model in this request.
func (r *Request) Last() string {
	from := 0
	for i, m := range r.Messages {
		if m.Role == "assistant" {
			from = i + 1
		}
	}
	var parts []string
	for _, m := range r.Messages[from:] {
		parts = append(parts, m.Text())
	}
	return strings.Join(parts, "\n")
}

// Prompt returns the text of the first user message.
func (r *Request) Prompt() string {
	for _, m := range r.Messages {
		if m.Role == "user" {
			return m.Text()
		}
	}
	return ""
}

// Results returns the tool results of the last user message that has any.
func (r *Request) Results() []Content {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		var out []Content
		for _, c := range r.Messages[i].Content {
			if c.Type == "tool_result" {
				out = append(out, c)
			}
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// String gives a short line for test logs.
func (r *Request) String() string {
	last := strings.ReplaceAll(r.Last(), "\n", "⏎")
	if len(last) > 160 {
		last = "…" + last[len(last)-160:]
	}
	return fmt.Sprintf("#%d %s %s n=%d %s", r.Seq, r.Kind, r.Agent, len(r.Messages), last)
}

type wireRequest struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

type wireContent struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Name      string          `json:"name"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func parse(body []byte, h http.Header, agents map[string]string) (*Request, error) {
	var in wireRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	r := &Request{
		Model:   in.Model,
		Stream:  in.Stream,
		Session: h.Get("X-Claude-Code-Session-Id"),
		Header:  h,
		Body:    body,
		System:  flatten(in.System),
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for _, m := range in.Messages {
		r.Messages = append(r.Messages, Message{m.Role, blocks(m.Content)})
	}
	r.Kind, r.Agent = classify(r, agents)
	return r, nil
}

// classify tells the threads apart by what only their requests hold. The main
// agent's prompt introduces it in words that no other has; the
// summariser reuses the prompt of the thread it sums up and gives itself away by
// its last message.
func classify(r *Request, agents map[string]string) (Kind, string) {
	agent := ""
	for name, mark := range agents {
		if strings.Contains(r.System, mark) {
			agent = name
		}
	}
	if isSummary(r) {
		return Summary, agent
	}
	if agent != "" {
		return Subagent, agent
	}
	if len(r.Tools) == 0 {
		return Side, ""
	}
	for _, mark := range mainMarks {
		if strings.Contains(r.System, mark) {
			return Main, ""
		}
	}
	return Subagent, ""
}

// mainMarks are how the main agent is introduced, by the versions of the host.
var mainMarks = []string{"interactive agent that helps users", "an agent working with the user toward their goals"}

func isSummary(r *Request) bool {
	if len(r.Messages) == 0 {
		return false
	}
	// Behind it may stand what the host says of tokens.
	return strings.Contains(r.Last(), "create a detailed summary of")
}

func blocks(raw json.RawMessage) []Content {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []Content{{Type: "text", Text: s}}
	}
	var list []wireContent
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []Content
	for _, b := range list {
		c := Content{Type: b.Type, Text: b.Text, Tool: b.Name, ID: b.ID, Input: b.Input, IsError: b.IsError}
		if b.Type == "tool_result" {
			c.ID = b.ToolUseID
			c.Text = flatten(b.Content)
		}
		out = append(out, c)
	}
	return out
}

func flatten(raw json.RawMessage) string {
	var parts []string
	for _, c := range blocks(raw) {
		if c.Text != "" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}
