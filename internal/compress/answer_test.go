package compress

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/llm"
)

func TestFromLLM(t *testing.T) {
	t.Parallel()
	var (
		limited  *rateLimitError
		fatal    *fatalError
		rejected *rejectedError
	)
	tests := []struct {
		err  error
		want any
	}{
		{&llm.Error{Kind: llm.RateLimited}, &limited},
		{&llm.Error{Kind: llm.Server, RetryAfter: time.Second}, &limited},
		{&llm.Error{Kind: llm.Auth}, &fatal},
		{&llm.Error{Kind: llm.Missing}, &fatal},
		{&llm.Error{Kind: llm.BadRequest}, &rejected},
	}
	for _, tt := range tests {
		if _, err := fromLLM(llm.Answer{}, tt.err); !errors.As(err, tt.want) || !errors.Is(err, tt.err) {
			t.Errorf("%v became %v", tt.err, err)
		}
	}
	for _, k := range []llm.Kind{llm.Server, llm.Timeout, llm.Network, llm.BadReply} {
		in := &llm.Error{Kind: k}
		if _, err := fromLLM(llm.Answer{}, in); err != error(in) {
			t.Errorf("%v became %v", in, err)
		}
	}
	if _, err := fromLLM(llm.Answer{}, &llm.Error{Kind: llm.Canceled}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled became %v", err)
	}
	if r, err := fromLLM(llm.Answer{Text: "x", Usage: llm.Usage{Input: 1, Output: 2}}, nil); err != nil || r.Text != "x" || r.InputTokens != 1 || r.OutputTokens != 2 {
		t.Errorf("answer became %+v, %v", r, err)
	}
}
