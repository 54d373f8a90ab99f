package handover

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Whatever the bytes of a session are, what it hands over is a text that the host takes
// whole, and the situation that it tells has a state.
func FuzzHandover(f *testing.F) {
	for _, s := range samples.Small() {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, chinese bool) {
		lang := message.EN
		if chinese {
			lang = message.ZH
		}
		for _, h := range []transcript.Host{transcript.Claude, transcript.Codex, transcript.Copilot} {
			rec := NewRecord("/w")
			summary := ""
			if _, err := transcript.Events(t.Context(), bytes.NewReader(data), 0, h, transcript.Want{}, func(e *transcript.Event) {
				if e.Kind == transcript.Compacted || e.Kind == transcript.Summarised {
					summary = e.Text()
				}
				rec.Add(e, e.Off)
			}); err != nil {
				t.Fatal(err)
			}
			hand := Handover{ID: "p", Session: "s", Record: rec, Work: rec.Work(), Summary: summary, Lang: lang}
			text := hand.Text()
			if n := message.Units(text); n >= 10_000 || !utf8.ValidString(text) {
				t.Errorf("%s: %d units, valid %v", h, n, utf8.ValidString(text))
			}
			if s := hand.Situation(); s.State == "" {
				t.Errorf("%s: no state: %+v", h, s)
			}
		}
	})
}
