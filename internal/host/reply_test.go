package host

import (
	"testing"

	"github.com/tidwall/gjson"
)

// What is refused is asked of the person where the host can ask, with the same words; a
// host that cannot refuses it. None is ever told to allow something.
func TestAskOrRefuse(t *testing.T) {
	t.Parallel()
	for _, h := range All() {
		r := Reply{Deny: "the stage is open", Ask: h.Asks, Person: "it asks"}
		out := gjson.ParseBytes(h.Encode(&Call{Event: "pre-tool-use"}, r))
		specific := out.Get("hookSpecificOutput")
		switch decision := specific.Get("permissionDecision").String(); {
		case h.Asks != (h.Name == ClaudeCode):
			t.Errorf("%s: asks %v", h.Name, h.Asks)
		case h.Asks && (decision != "ask" || specific.Get("permissionDecisionReason").String() != r.Deny || out.Get("systemMessage").String() != r.Person):
			t.Errorf("%s: %s", h.Name, out)
		case !h.Asks && decision != "" && decision != "deny":
			t.Errorf("%s: %s", h.Name, out)
		}
	}
}
