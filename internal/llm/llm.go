// Package llm asks a language model one question and returns its answer: over
// HTTP from any OpenAI-compatible service (Chat) or from Anthropic (Messages),
// or through the claude program in print mode.
//
// One call is one request. There is no retry, no rate limit and no prompt here:
// errors carry a Kind and, where the service named one, the time to wait, and the
// caller decides. A request ends when its context ends, and no answer is read
// beyond a fixed size.
//
// Keys go into request headers and nowhere else: no error holds one, not even
// when the service sends it back. Redirects are not followed, because a header
// with a key must not reach a host that the user did not name.
package llm

import (
	"net/http"
	"sync"
	"time"
)

// Service is where and how to ask.
type Service struct {
	// URL is the base address, with or without the version at its end.
	URL string
	// Model is the model's name at the service; Key may be empty for a local one.
	Model, Key string
	// Now is the clock that Retry-After dates are compared with; without it they
	// are ignored.
	Now func() time.Time
	// Env is what a program is started with, where the service is one.
	Env []string
}

// Answer is what the model wrote, as it came: fences and all.
type Answer struct {
	Text  string
	Usage Usage
}

// Usage is what the service says it counted. Zero means that it did not say.
type Usage struct{ Input, Output int }

// client honours the proxy variables of the environment and follows no redirects.
var client = sync.OnceValue(func() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
})
