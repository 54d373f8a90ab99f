package host

import (
	"bytes"
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
		return store.EncodeJSON(fields{{"hookSpecificOutput", denial(r.Deny)}})
	}
	var o fields
	o.decide(r)
	if r.System != "" {
		o.add("systemMessage", r.System)
	}
	if len(o) == 0 || r.System != "" || r.Result != "" {
		o.add("result", r.Result)
	}
	return store.EncodeJSON(o)
}

// encodeHooks writes the output in Claude Code's form, which other hosts have
// taken over. There is no permissionDecision "allow" in it, ever: a hook of ours
// must not answer questions that are the person's.
func encodeHooks(in *Call, r Reply) []byte {
	var o, specific fields
	specific.add("hookEventName", hookName(in.Event))
	if r.Deny != "" {
		specific = denial(r.Deny)
		if r.Ask {
			specific[1].val = "ask"
		}
	}
	if r.Context != "" {
		specific.add("additionalContext", r.Context)
	}
	if r.Prompt != "" {
		if raw := withPrompt(in.Tool.Input, r.Prompt); raw != nil {
			specific.add("updatedInput", raw)
		}
	}
	if r.Answer != "" {
		if raw := withContent(in.Tool.Response, r.Answer); raw != nil {
			specific.add("updatedToolOutput", raw)
		}
	}
	o.decide(r)
	if r.Person != "" {
		o.add("systemMessage", r.Person)
	}
	if len(specific) > 1 {
		o.add("hookSpecificOutput", specific)
	}
	return o.output()
}

func (f *fields) decide(r Reply) {
	if r.Block != "" {
		f.add("decision", "block")
		f.add("reason", r.Block)
	}
	if r.Refuse {
		f.add("decision", "block")
	}
}

func denial(reason string) fields {
	return fields{{"hookEventName", "PreToolUse"}, {"permissionDecision", "deny"}, {"permissionDecisionReason", reason}}
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

// fields is a JSON object with an order.
type fields []field

type field struct {
	key string
	val any
}

func (f *fields) add(key string, val any) { *f = append(*f, field{key, val}) }

// output is what a hook prints: nothing at all where there is nothing to say.
func (f fields) output() []byte {
	if len(f) == 0 {
		return nil
	}
	return store.EncodeJSON(f)
}

func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(store.EncodeJSON(m.key))
		b.WriteByte(':')
		b.Write(store.EncodeJSON(m.val))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// hookName is the name of an event in settings and output: SubagentStop.
func hookName(event string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(event, "-") {
		b.WriteString(strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):])
	}
	return b.String()
}
