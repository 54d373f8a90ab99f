package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
)

func TestDecisionsAreRemembered(t *testing.T) {
	t.Parallel()
	var s Thread
	s = s.Apply(host.UserMessage{Text: "Port the parser.\nThe public API must not change."}, Settings{})
	s = s.Apply(host.AgentMessage{Text: "I looked around.\n- We decided on one pass.\n> never quoted\n```\nnever in code\n```\n一律使用 UTC。"}, config.Defaults().Compact)
	s = s.Apply(host.Compacted{}, Settings{})
	s = s.Apply(host.AgentMessage{Text: "We decided on one pass."}, config.Defaults().Compact)
	want := []string{"The public API must not change.", "一律使用 UTC。", "We decided on one pass."}
	if diff := cmp.Diff(want, s.State.Decisions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A packet that the agent repeats is not its own word.
	s = Thread{}.Apply(host.AgentMessage{Text: packetOpen + " id=\"x\">\nwe decided so\n" + packetClose}, config.Defaults().Compact)
	if len(s.State.Decisions) > 0 {
		t.Errorf("a packet's lines became decisions: %v", s.State.Decisions)
	}
}

func TestDecisionsAreBounded(t *testing.T) {
	t.Parallel()
	var s Thread
	for i := range 50 {
		s = s.Apply(host.UserMessage{Text: fmt.Sprintf("decided %d %s", i, strings.Repeat("界", 1000))}, Settings{})
	}
	if len(s.State.Decisions) != maxDecisions || !strings.HasPrefix(s.State.Decisions[maxDecisions-1], "decided 49 ") {
		t.Errorf("%d decisions, the last %.20q", len(s.State.Decisions), s.State.Decisions[len(s.State.Decisions)-1])
	}
	for _, d := range s.State.Decisions {
		if n := len([]rune(d)); n > maxDecision+1 {
			t.Errorf("a decision of %d characters", n)
		}
	}
}
