package handover

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Codex keeps packets across compactions, as they are user messages there; no
// hook can take one out. So each says that it replaces the ones before it, and a
// packet is never taken for what the user asked.
func TestCodexRow11_PacketReplacesEarlierOnes(t *testing.T) {
	t.Parallel()
	for lang, want := range map[message.Lang]string{message.EN: "replaces earlier notes of this kind", message.ZH: "取代先前的同類資料"} {
		f := Facts{Session: "s", Ordinal: 1, Now: time.Unix(1, 0), Words: said("port the shop")}
		first := Write(f, compact.Settings{}, lang)
		f.Ordinal = 2
		second := Write(f, compact.Settings{}, lang)
		if first.ID == second.ID {
			t.Errorf("two compactions, one name: %s", first.ID)
		}
		for _, p := range []compact.Packet{first, second} {
			head, _, _ := strings.Cut(p.Text, "\n\n")
			if !strings.Contains(head, want) {
				t.Errorf("the packet begins with %q", head)
			}
		}
		var s tale
		s.user("Please port the shop. Never push to main.")
		s.user(first.Text)
		s.user(second.Text)
		r := s.record(t, compact.Words{})
		said, err := json.Marshal(r.Words)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(bytes.ToLower(said), []byte("overtone")) || r.Words.Count != 1 {
			t.Errorf("a packet is taken for the user's words: %s", said)
		}
	}
}
