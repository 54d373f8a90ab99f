package llm

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
)

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatRequest struct {
	Model          string         `json:"model"`
	Messages       []chatMessage  `json:"messages"`
	MaxTokens      int            `json:"max_tokens,omitempty"`
	ResponseFormat map[string]any `json:"response_format,omitempty"`
	Usage          map[string]any `json:"usage,omitempty"`
}

type chatError struct {
	Code    json.RawMessage `json:"code"`
	Message string          `json:"message"`
}

type chatReply struct {
	Choices []struct {
		Message struct {
			Content json.RawMessage `json:"content"`
			Refusal string          `json:"refusal"`
		} `json:"message"`
		FinishReason string     `json:"finish_reason"`
		Error        *chatError `json:"error"`
	} `json:"choices"`
	Usage struct {
		PromptTokens     int      `json:"prompt_tokens"`
		CompletionTokens int      `json:"completion_tokens"`
		Cost             *float64 `json:"cost"`
	} `json:"usage"`
	Error *chatError `json:"error"`
}

// chat asks an OpenAI-compatible service.
func (s Service) chat(ctx context.Context, p Prompt) (Answer, error) {
	body := chatRequest{Model: s.Model, MaxTokens: s.MaxTokens}
	if p.System != "" {
		body.Messages = append(body.Messages, chatMessage{"system", p.System})
	}
	body.Messages = append(body.Messages, chatMessage{"user", p.User})
	if s.JSON {
		body.ResponseFormat = map[string]any{"type": "json_object"}
	}
	header := map[string]string{}
	if k := s.key(); k != "" {
		header["Authorization"] = "Bearer " + k
	}
	if s.openRouter() {
		// It names the price only when asked; others refuse the unknown field.
		body.Usage = map[string]any{"include": true}
		header["X-Title"] = "Overtone"
	}
	var reply chatReply
	if err := s.post(ctx, "/chat/completions", header, body, &reply); err != nil {
		return Answer{}, err
	}
	a := Answer{Usage: Usage{reply.Usage.PromptTokens, reply.Usage.CompletionTokens, reply.Usage.Cost}}
	// Brokers report an error of the service behind them with status 200.
	if reply.Error != nil {
		return a, s.inner(reply.Error)
	}
	if len(reply.Choices) == 0 {
		return a, &Error{Kind: BadReply, Message: "no choices"}
	}
	c := reply.Choices[0]
	if c.Error != nil {
		return a, s.inner(c.Error)
	}
	a.Text = contentText(c.Message.Content)
	switch {
	case c.FinishReason == "length":
		return a, &Error{Kind: BadReply, Message: "the answer was cut off at the token limit"}
	case a.Text == "" && c.Message.Refusal != "":
		return a, &Error{Kind: BadRequest, Message: "the model refused: " + oneLine(c.Message.Refusal, s.key())}
	case a.Text == "":
		return a, &Error{Kind: BadReply, Message: "no text"}
	}
	return a, nil
}

func (s Service) openRouter() bool {
	u, err := url.Parse(s.URL)
	return err == nil && (u.Hostname() == "openrouter.ai" || strings.HasSuffix(u.Hostname(), ".openrouter.ai"))
}

// inner is the error of an answer that had status 200 on the outside.
func (s Service) inner(e *chatError) *Error {
	var status int
	if json.Unmarshal(e.Code, &status) != nil || status < 400 || status > 599 {
		return &Error{Kind: Server, Message: oneLine(e.Message, s.key())}
	}
	return &Error{Kind: statusKind(status), Status: status, Message: oneLine(e.Message, s.key())}
}

// contentText reads content that is a string or a list of parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "output_text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
