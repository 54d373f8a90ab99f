//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/e2e/codexmock"
)

// mind is a model that commits a slice when asked to work, answers everything
// else, and knows how full its context would be.
type mind struct {
	compaction func(codexmock.Request) codexmock.Reply
	tokens     int // after work
}

const packetMark = "<overtone-packet"

func (m mind) script(r codexmock.Request) codexmock.Reply {
	if r.Compaction {
		if m.compaction != nil {
			return m.compaction(r)
		}
		return codexmock.Reply{Message: "SUMMARY OF THE WORK", Tokens: 3000}
	}
	tokens := m.tokens
	if tokens == 0 {
		tokens = 62_000
	}
	switch text, step := r.LastUser(); {
	case strings.HasPrefix(text, "[work]") && step == 0:
		return codexmock.Reply{
			Calls:  []codexmock.Call{{Name: "exec_command", Args: map[string]any{"cmd": "date +%N >> a && git add a && git commit -m 'make a slice'"}}},
			Tokens: 30_000,
		}
	case strings.HasPrefix(text, "[work]"):
		return codexmock.Reply{Message: "The slice is in place.", Tokens: tokens}
	case strings.Contains(text, packetMark):
		return codexmock.Reply{Message: "Carrying on.", Tokens: 15_000}
	default:
		return codexmock.Reply{Message: "Noted.", Tokens: 15_000}
	}
}

// Watch starts `overtone watch codex` and waits until it is connected.
func (w *CodexWorld) Watch(args ...string) *proc {
	w.t.Helper()
	bin, err := buildOvertone()
	if err != nil {
		w.t.Fatal(err)
	}
	args = append([]string{"watch", "codex", "--socket", w.Socket, "--mode", "auto", "--debounce", "200ms", "--json"}, args...)
	p := w.start(filepath.Join(bin, "overtone"), args...)
	p.await(w.t, `"what":"connected"`)
	return p
}

func isCompaction(n note) bool {
	return n.Method == "item/completed" && n.Item.Type == "contextCompaction"
}

// packets checks what the model was shown: exactly want packets in its newest
// request, and that the first packet came first after the compaction.
func (w *CodexWorld) packets(want int) {
	w.t.Helper()
	rs := w.Model.Requests()
	last := rs[len(rs)-1]
	if got := last.Count(packetMark); got != want {
		w.t.Errorf("the model's last request holds %d packets, want %d", got, want)
	}
	for i, r := range rs {
		if !r.Compaction || want == 0 {
			continue
		}
		if i+1 == len(rs) {
			w.t.Error("nothing came after the compaction")
			continue
		}
		if text, _ := rs[i+1].LastUser(); !strings.Contains(text, packetMark) {
			w.t.Errorf("first after the compaction came %.80q, want the packet", text)
		}
	}
}

// TestCodexPacketFollowsCompaction is the whole cycle, twenty times: a commit,
// one compaction, one packet, first in the next request.
func TestCodexPacketFollowsCompaction(t *testing.T) {
	t.Parallel()
	w := NewCodexWorld(t, mind{}.script, Unattended)
	first := w.User()
	w.Watch()
	for i := range 20 {
		u := first
		if i > 0 {
			u = w.User()
		}
		before := len(w.Model.Requests())
		u.AwaitTurn(u.Say(fmt.Sprintf("[work] slice %d", i)))
		u.AwaitPacket()
		u.AwaitTurn(u.Say("and then?"))

		rs := w.Model.Requests()[before:]
		var kinds []string
		for _, r := range rs {
			switch text, _ := r.LastUser(); {
			case r.Compaction:
				kinds = append(kinds, "compaction")
			case strings.Contains(text, packetMark):
				kinds = append(kinds, fmt.Sprintf("packet%d", r.Count(packetMark)))
			case strings.HasPrefix(text, "[work]"):
				kinds = append(kinds, "work")
			default:
				kinds = append(kinds, fmt.Sprintf("user%d", r.Count(packetMark)))
			}
		}
		if got, want := strings.Join(kinds, " "), "work work compaction packet1 user1"; got != want {
			t.Fatalf("run %d: the model saw %q, want %q", i, got, want)
		}
		if n := u.Seen(isCompaction); n != 1 {
			t.Fatalf("run %d: %d compactions", i, n)
		}
	}
}
