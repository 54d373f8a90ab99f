package compress

import (
	"strings"
	"testing"
	"time"
)

// A reply of nested objects is refused as fast as any other: in a third of a second,
// where the square of its length would take hours.
func TestNestedReply(t *testing.T) {
	t.Parallel()
	for _, open := range []string{`{"a":`, `{`, `{"text":[`, "```{", `[{"a":`} {
		begin := time.Now()
		if text, err := parseReply(strings.Repeat(open, 400<<10/len(open))); err == nil {
			t.Errorf("%s: %q", open, text)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("%s: %s", open, took)
		}
	}
	if text, err := parseReply(strings.Repeat("{chatter} ", 20) + `{"text":"x"}`); err != nil || text != "x" {
		t.Errorf("%q, %v", text, err)
	}
}

// A service may not ask for a day.
func TestPauseIsBounded(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{24 * time.Hour, 1 << 62} {
		if got := (&run{}).pause(attempt{n: 1, err: &rateLimitError{RetryAfter: d}}); got > maxPause {
			t.Errorf("%s for %s", got, d)
		}
	}
}
