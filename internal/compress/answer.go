package compress

import (
	"context"
	"errors"

	"github.com/seed-6d03985f/overtone/internal/llm"
)

// fromLLM turns what a language-model client returned into a reply and an error
// that the pool knows how to act on.
func fromLLM(a llm.Answer, err error) (Reply, error) {
	r := Reply{Text: a.Text, InputTokens: a.Usage.Input, OutputTokens: a.Usage.Output}
	var e *llm.Error
	if !errors.As(err, &e) {
		return r, err
	}
	switch e.Kind {
	case llm.Auth, llm.Missing:
		return r, &fatalError{err}
	case llm.BadRequest:
		return r, &rejectedError{err}
	case llm.Canceled:
		return r, context.Canceled
	case llm.RateLimited:
		return r, &rateLimitError{e.RetryAfter, err}
	}
	if e.RetryAfter > 0 {
		// A busy server that names a time is treated like a limit.
		return r, &rateLimitError{e.RetryAfter, err}
	}
	return r, err
}
