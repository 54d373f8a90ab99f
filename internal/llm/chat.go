package llm

import (
	"context"
	"encoding/json"
	"strings"
)

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatRequest struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
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
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
	Error *chatError `json:"error"`
}

// chat asks an OpenAI-compatible service.
func (s Service) chat(ctx context.Context, prompt string) (Answer, error) {
	body := chatRequest{s.Model, []chatMessage{{"user", prompt}}}
	header := map[string]string{}
	if k := s.key(); k != "" {
		header["Authorization"] = "Bearer " + k
	}
	var reply chatReply
	if err := s.post(ctx, "/chat/completions", header, body, &reply); err != nil {
		return Answer{}, err
	}
	a := Answer{Usage: Usage{reply.Usage.PromptTokens, reply.Usage.CompletionTokens}}
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
