package watch

import (
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Packets are in the language that was chosen, else in the session's own.
func TestPacketsSpeakAsTheirSession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said   string
		opts   Options
		speaks message.Lang
	}{
		{"請把解析器改快一點，不要動到測試。", Options{Lang: message.EN}, message.ZH},
		{"請把解析器改快一點，不要動到測試。", Options{Lang: message.EN, Chosen: true}, message.EN},
		{"Please make the parser faster.", Options{Lang: message.ZH}, message.EN},
		{"ok", Options{Lang: message.ZH}, message.ZH},
	} {
		s := conversation{opts: c.opts}
		s.thread.Words = compact.Words{}.Hear(c.said, compact.Typed, time.Time{})
		if got := s.lang(); got != c.speaks {
			t.Errorf("%s with %+v: %s", c.said, c.opts, got)
		}
	}
}
