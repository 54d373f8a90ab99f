package compress

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Level is how hard a band compresses.
type Level string

const (
	Compress      Level = "compress"
	HeavyCompress Level = "heavy-compress"
)

// Request is one text to be shortened.
type Request struct {
	// Text is what the provider sees: already redacted when it leaves the machine.
	Text string
	// Level names the band; TargetPercent is the wanted length in percent of Text.
	Level         Level
	TargetPercent int
	// Role is "user" or "assistant".
	Role string
	// Model is the configured model, empty for the provider's own choice. Large
	// asks for the stronger model of a provider that has two.
	Model string
	Large bool
	// Attempt counts from 0; a provider may use it to vary a repeated request.
	Attempt int

	job   int               // of the pool's run
	hash  [sha256.Size]byte // of Text, where it is known
	alone bool              // its mark stands for no other message, whose result may be refused
}

// Reply is the shortened text and what it cost. Tokens are zero when unknown.
type Reply struct {
	Text         string
	InputTokens  int
	OutputTokens int

	// gone is what is lost, where the provider knows: its result consists of
	// units of the text, word for word and in their order.
	gone *extract.Losses
}

// Provider shortens one text. Compress must return when ctx ends, and must be
// safe for concurrent use. The errors below tell the pool what to do next;
// any other error is retried like a server error.
type Provider interface {
	Name() string
	Compress(ctx context.Context, r Request) (Reply, error)
}

// rateLimitError means: try again, not before RetryAfter when it is positive.
type rateLimitError struct {
	RetryAfter time.Duration
	Err        error
}

func (e *rateLimitError) Error() string {
	if e.RetryAfter > 0 {
		return fmt.Sprintf("rate limited, retry after %s: %v", e.RetryAfter, e.Err)
	}
	return fmt.Sprintf("rate limited: %v", e.Err)
}

func (e *rateLimitError) Unwrap() error { return e.Err }

// fatalError means that no later request can succeed either (a bad key, an unknown
// model): the pool starts no further task.
type fatalError struct{ Err error }

func (e *fatalError) Error() string { return e.Err.Error() }
func (e *fatalError) Unwrap() error { return e.Err }

// rejectedError means that this text will never succeed but others may (the service
// refused it as invalid or too long).
type rejectedError struct{ Err error }

func (e *rejectedError) Error() string { return e.Err.Error() }
func (e *rejectedError) Unwrap() error { return e.Err }

// errTimeout is the cause of an attempt's end that ran into its time limit, timeoutError
// what is told of it.
var errTimeout = errors.New("compression timeout")

type timeoutError struct{ error }

func (e timeoutError) Unwrap() error      { return e.error }
func (timeoutError) Is(target error) bool { return target == errTimeout }

// EstimateTokens counts four UTF-16 code units as a token, rounded up.
func EstimateTokens(text string) int { return message.Tokens(message.Units(text)) }
