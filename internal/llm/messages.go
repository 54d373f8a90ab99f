package llm

import (
	"context"
	"encoding/json"
)

// The service demands a limit; this one is within what every model allows.
const maxTokens = 8192

type messagesRequest struct {
	Model     string        `json:"model"`
	MaxTokens int           `json:"max_tokens"`
	Messages  []chatMessage `json:"messages"`
}

type messagesReply struct {
	Content    json.RawMessage `json:"content"`
	StopReason string          `json:"stop_reason"`
	Usage      counted         `json:"usage"`
}

// counted is how Anthropic tells what it counted.
type counted struct {
	InputTokens         int `json:"input_tokens"`
	CacheCreationTokens int `json:"cache_creation_input_tokens"`
	CacheReadTokens     int `json:"cache_read_input_tokens"`
	OutputTokens        int `json:"output_tokens"`
}

func (c counted) usage() Usage {
	return Usage{Input: c.InputTokens + c.CacheCreationTokens + c.CacheReadTokens, Output: c.OutputTokens}
}

// messages asks Anthropic.
func (s Service) messages(ctx context.Context, prompt string) (Answer, error) {
	body := messagesRequest{Model: s.Model, MaxTokens: maxTokens, Messages: []chatMessage{{"user", prompt}}}
	header := map[string]string{"anthropic-version": "2023-06-01"}
	if k := s.key(); k != "" {
		header["x-api-key"] = k
	}
	var reply messagesReply
	if err := s.post(ctx, "/messages", header, body, &reply); err != nil {
		return Answer{}, err
	}
	a := Answer{Text: contentText(reply.Content), Usage: reply.Usage.usage()}
	switch {
	case reply.StopReason == "max_tokens":
		return a, &Error{Kind: BadReply, Message: "the answer was cut off at the token limit"}
	case reply.StopReason == "refusal":
		return a, &Error{Kind: BadRequest, Message: "the model refused"}
	case a.Text == "":
		return a, &Error{Kind: BadReply, Message: "no text"}
	}
	return a, nil
}
