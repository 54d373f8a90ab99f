package transcript

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// A panic becomes one line that names the session and the line of our code, with what to
// do; without one an error stays what it was.
func TestCatch(t *testing.T) {
	t.Parallel()
	caught := func(fn func() error) (err error) {
		defer Catch("/w/s.jsonl", &err)
		return fn()
	}
	for name, fn := range map[string]func() error{
		"out of range":  func() error { return errors.New(string([]byte("a")[len(t.Name()):])) },
		"a nil map":     func() error { map[string]int(nil)["a"] = 1; return nil }, //nolint:staticcheck // that is the fault
		"a nil pointer": func() error { _ = (*Session)(nil).Path; return nil },
		"our own":       func() error { panic("out of\ncheese") },
	} {
		err := caught(fn)
		fault, ok := errors.AsType[*Fault](err)
		if !ok || fault.Path != "/w/s.jsonl" || !strings.HasPrefix(fault.At, "internal/transcript/fault_test.go:") || message.HintOf(err, message.EN) == "" {
			t.Errorf("%s: %+v", name, err)
			continue
		}
		for _, l := range []message.Lang{message.EN, message.ZH} {
			if text := message.ErrorText(err, l); strings.Contains(text, "\n") || !strings.HasPrefix(text, "/w/s.jsonl: ") || !strings.Contains(text, fault.Reason) {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
	if err := caught(func() error { return ErrNotFound }); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
