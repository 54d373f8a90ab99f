package llm

import (
	"context"
	"net/http"

	"github.com/tidwall/gjson"
)

// The service demands a limit; this one is within what every model allows.
const maxTokens = 8192

// counted is how Anthropic tells what it counted.
func counted(v gjson.Result) Usage {
	input := v.Get("input_tokens").Int() + v.Get("cache_creation_input_tokens").Int() + v.Get("cache_read_input_tokens").Int()
	return Usage{Input: int(input), Output: int(v.Get("output_tokens").Int())}
}

func (s Service) messages(ctx context.Context, prompt string) (Answer, error) {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if k := s.key(); k != "" {
		header.Set("X-Api-Key", k)
	}
	body := s.question(prompt)
	body["max_tokens"] = maxTokens
	reply, err := s.post(ctx, "/messages", header, body)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Text: contentText(reply.Get("content")), Usage: counted(reply.Get("usage"))}
	switch stop := reply.Get("stop_reason").String(); {
	case stop == "max_tokens":
		return a, errCutOff
	case stop == "refusal":
		return a, &Error{Kind: BadRequest, Message: "the model refused"}
	case a.Text == "":
		return a, errNoText
	}
	return a, nil
}
