package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecisionsAreRemembered(t *testing.T) {
	t.Parallel()
	var s State
	s = s.Apply(UserMessage{Text: "Port the parser.\nThe public API must not change."}, Settings{})
	s = s.Apply(AgentMessage{Text: "I looked around.\n- We decided on one pass.\n> never quoted\n```\nnever in code\n```\n一律使用 UTC。"}, Defaults())
	s = s.Apply(Compacted{}, Settings{})
	s = s.Apply(AgentMessage{Text: "We decided on one pass."}, Defaults())
	want := []string{"The public API must not change.", "一律使用 UTC。", "We decided on one pass."}
	if diff := cmp.Diff(want, s.Decisions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// A packet that the agent repeats is not its own word.
	s = State{}.Apply(AgentMessage{Text: packetOpen + " id=\"x\">\nwe decided so\n" + packetClose}, Defaults())
	if len(s.Decisions) > 0 {
		t.Errorf("a packet's lines became decisions: %v", s.Decisions)
	}
}

func TestDecisionsAreBounded(t *testing.T) {
	t.Parallel()
	var s State
	for i := range 50 {
		s = s.Apply(UserMessage{Text: fmt.Sprintf("decided %d %s", i, strings.Repeat("界", 1000))}, Settings{})
	}
	if len(s.Decisions) != maxDecisions || !strings.HasPrefix(s.Decisions[maxDecisions-1], "decided 49 ") {
		t.Errorf("%d decisions, the last %.20q", len(s.Decisions), s.Decisions[len(s.Decisions)-1])
	}
	for _, d := range s.Decisions {
		if n := len([]rune(d)); n > maxDecision+1 {
			t.Errorf("a decision of %d characters", n)
		}
	}
}
