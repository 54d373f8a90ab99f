package llm

import (
	"context"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// question is what either kind of service is sent.
func (s Service) question(prompt string) map[string]any {
	return map[string]any{"model": s.Model, "messages": []map[string]string{{"role": "user", "content": prompt}}}
}

var (
	errCutOff = &Error{Kind: BadReply, Message: "the answer was cut off at the token limit"}
	errNoText = &Error{Kind: BadReply, Message: "no text"}
)

func (s Service) chat(ctx context.Context, prompt string) (Answer, error) {
	header := http.Header{}
	if k := s.key(); k != "" {
		header.Set("Authorization", "Bearer "+k)
	}
	reply, err := s.post(ctx, "/chat/completions", header, s.question(prompt))
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Usage: Usage{int(reply.Get("usage.prompt_tokens").Int()), int(reply.Get("usage.completion_tokens").Int())}}
	// Brokers report an error of the service behind them with status 200.
	choice := reply.Get("choices.0")
	for _, e := range [...]gjson.Result{reply.Get("error"), choice.Get("error")} {
		if e.IsObject() {
			return a, s.inner(e)
		}
	}
	a.Text = contentText(choice.Get("message.content"))
	refusal := choice.Get("message.refusal").String()
	switch {
	case !choice.Exists():
		return a, &Error{Kind: BadReply, Message: "no choices"}
	case choice.Get("finish_reason").String() == "length":
		return a, errCutOff
	case a.Text == "" && refusal != "":
		return a, &Error{Kind: BadRequest, Message: "the model refused: " + oneLine(refusal, s.key())}
	case a.Text == "":
		return a, errNoText
	}
	return a, nil
}

// inner is the error of an answer that had status 200 on the outside.
func (s Service) inner(e gjson.Result) *Error {
	inside := &Error{Kind: Server, Message: oneLine(e.Get("message").String(), s.key())}
	if status := int(e.Get("code").Int()); status >= 400 && status <= 599 {
		inside.Kind, inside.Status = statusKind(status), status
	}
	return inside
}

// contentText reads content that is a string or a list of parts.
func contentText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var b strings.Builder
	content.ForEach(func(_, p gjson.Result) bool {
		if t := p.Get("type").String(); t == "text" || t == "output_text" {
			b.WriteString(p.Get("text").String())
		}
		return true
	})
	return b.String()
}
