package llm

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Kind says what an error means for the next request.
type Kind string

const (
	// RateLimited, Server, Timeout, Network and BadReply may pass: ask again.
	RateLimited Kind = "rate limited"
	Server      Kind = "server error"
	Timeout     Kind = "timeout"
	Network     Kind = "network error"
	// BadReply is an answer that cannot be read, is cut off or holds no text.
	BadReply Kind = "unreadable reply"
	// BadRequest means that this question will never be answered.
	BadRequest Kind = "bad request"
	// Auth and Missing concern every question: the key is refused or out of
	// credit; the address, model or program does not exist.
	Auth    Kind = "not authorised"
	Missing Kind = "not found"
	// Canceled means that the caller's context was cancelled.
	Canceled Kind = "cancelled"
)

// Error is every error of this package.
type Error struct {
	Kind Kind
	// Status is the HTTP status, 0 where there was none.
	Status int
	// RetryAfter is how long the service asked to wait, 0 when it did not.
	RetryAfter time.Duration
	// Message is the service's own words, shortened to one line.
	Message string
	// Err is the cause on this side, if any.
	Err error
}

func (e *Error) Error() string { return e.In(message.EN) }

// In is the error in a language; the words of the service stay its own.
func (e *Error) In(l message.Lang) string {
	var b strings.Builder
	b.WriteString(message.Named("service", string(e.Kind)).In(l))
	if e.Status != 0 {
		b.WriteString(message.ServiceStatus.Format(l, e.Status))
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.Err != nil {
		b.WriteString(": " + message.ErrorText(e.Err, l))
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

func statusKind(status int) Kind {
	switch {
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return Auth
	case status == http.StatusNotFound:
		return Missing
	case status == http.StatusRequestTimeout:
		return Timeout
	case status >= 500:
		return Server
	}
	return BadRequest
}

// transportError maps what went wrong before there was an answer, or while it
// was read.
func transportError(ctx context.Context, err error) *Error {
	// The URL in it may hold a password, and says nothing the user did not.
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	var ne net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &Error{Kind: Canceled, Err: context.Canceled}
	case ctx.Err() != nil:
		return &Error{Kind: Timeout, Err: context.DeadlineExceeded}
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return &Error{Kind: Timeout, Err: err}
	}
	return &Error{Kind: Network, Err: err}
}

const maxMessage = 300

// oneLine makes a service's text fit for an error: no secret, no control
// characters, not too long.
func oneLine(text, secret string) string {
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "[key]")
	}
	return message.Short(message.OneLine(text), maxMessage)
}
