package host

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
)

// Reply is what a hook has to say, and to whom.
type Reply struct {
	Result  string // the specifications' `result`
	System  string // their `systemMessage`
	Context string // for the model
	Person  string // for the person
	Deny    string // refuse a tool call
	Ask     bool   // let the person decide about what is refused, where the host can ask
	Block   string // keep going (Stop), or ask (SubagentStop)
	Refuse  bool   // refuse a compaction
	// Prompt replaces what a sub-agent is asked, Answer what the main agent is
	// told of its work; "" leaves them. Where the main agent has not said whether
	// it waits for the sub-agent, it does: what works in the background hands its
	// last message over as it is.
	Prompt, Answer string
	// Compact asks what calls the hooks to compact now. Steers says that the policy is
	// asked as the work goes on, and Hold that the host is not to compact by itself
	// until a reply without it; see [Host.Steers].
	Compact, Steers, Hold bool
}

// encodePlain writes the specifications' output.
func encodePlain(in *Call, r Reply) []byte {
	if r.Deny != "" {
		return store.EncodeJSON(store.Pairs("hookSpecificOutput", denial(r.Deny)))
	}
	o := decided(r)
	o.AddText("systemMessage", r.System)
	if len(o) == 0 || r.System != "" || r.Result != "" {
		o.Add("result", r.Result)
	}
	return store.EncodeJSON(o)
}

// encodeHooks writes the output in Claude Code's form, which other hosts have
// taken over. There is no permissionDecision "allow" in it, ever: a hook of ours
// must not answer questions that are the person's.
func encodeHooks(in *Call, r Reply) []byte {
	specific := store.Pairs("hookEventName", hookName(in.Event))
	if r.Deny != "" {
		specific = denial(r.Deny)
		if r.Ask {
			specific[1].Value = "ask"
		}
	}
	specific.AddText("additionalContext", r.Context)
	if r.Prompt != "" {
		if raw := withPrompt(in.Tool.Input, r.Prompt); raw != nil {
			specific.Add("updatedInput", raw)
		}
	}
	if r.Answer != "" {
		if raw := withContent(in.Tool.Response, r.Answer); raw != nil {
			specific.Add("updatedToolOutput", raw)
		}
	}
	o := decided(r)
	o.AddText("systemMessage", r.Person)
	if len(specific) > 1 {
		o.Add("hookSpecificOutput", specific)
	}
	return printed(o)
}

func decided(r Reply) (o store.Fields) {
	if r.Block != "" {
		o = store.Pairs("decision", "block", "reason", r.Block)
	}
	if r.Refuse {
		o.Add("decision", "block")
	}
	return o
}

func denial(reason string) store.Fields {
	return store.Pairs("hookEventName", "PreToolUse", "permissionDecision", "deny", "permissionDecisionReason", reason)
}

// withPrompt is the Agent tool's input with another prompt, in the foreground
// unless it says something about that.
func withPrompt(input json.RawMessage, prompt string) json.RawMessage {
	if !gjson.ParseBytes(input).IsObject() {
		return nil
	}
	out := store.SetJSON([]byte(input), "prompt", prompt)
	if !gjson.GetBytes(input, "run_in_background").Exists() {
		out = store.SetJSON(out, "run_in_background", false)
	}
	return out
}

// withContent is the Agent tool's answer with another text. The host takes it
// only in the exact shape of the old one, so only its content is edited.
func withContent(response json.RawMessage, line string) json.RawMessage {
	if !store.ValidJSON(response) || !gjson.ParseBytes(response).IsObject() {
		return nil
	}
	return store.SetJSON([]byte(response), "content", []map[string]string{{"type": "text", "text": line}})
}

// printed is what a hook prints: nothing at all where there is nothing to say.
func printed(o store.Fields) []byte {
	if len(o) == 0 {
		return nil
	}
	return store.EncodeJSON(o)
}

// hookName is the name of an event in settings and output: SubagentStop.
func hookName(event string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(event, "-") {
		b.WriteString(strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):])
	}
	return b.String()
}
