package hook

import (
	"bytes"
	"encoding/json"
)

// reply is what a call has to say, and to whom; print turns it into the output
// of the host.
type reply struct {
	Result   string          // plain: the `result` of the specifications
	System   string          // plain: their `systemMessage`
	Context  string          // host: for the model
	Person   string          // host: for the person
	Deny     string          // refuse a tool call
	Block    string          // keep going (Stop), or ask (SubagentStop)
	NoGo     bool            // block a compaction
	Input    json.RawMessage // a tool's input, rewritten
	Output   json.RawMessage // a tool's output, rewritten
	Continue bool            // Codex: say that the turn may go on
}

// print writes the reply. Nothing else is ever written to stdout.
func (c *call) print(r reply) {
	if c.host == "" {
		c.env.Stdout.Write(plain(r)) //nolint:errcheck // a host that closed its end has stopped listening
		return
	}
	if out := hosted(r, hostEvent(c.event)); out != nil {
		c.env.Stdout.Write(out) //nolint:errcheck // as above
	}
}

func plain(r reply) []byte {
	if r.Deny != "" {
		return encode(map[string]any{"hookSpecificOutput": denial(r.Deny)})
	}
	var o fields
	if r.Block != "" {
		o.add("decision", "block")
		o.add("reason", r.Block)
	}
	if r.NoGo {
		o.add("decision", "block")
	}
	if r.System != "" {
		o.add("systemMessage", r.System)
	}
	if len(o) == 0 || r.System != "" || r.Result != "" {
		o.add("result", r.Result)
	}
	return encode(o)
}

func denial(reason string) fields {
	return fields{{"hookEventName", "PreToolUse"}, {"permissionDecision", "deny"}, {"permissionDecisionReason", reason}}
}

// hosted is the output for a host; nil = print nothing. There is no
// permissionDecision "allow" in it, ever: a hook of ours must not answer
// questions that are the person's.
func hosted(r reply, event string) []byte {
	var o, specific fields
	specific.add("hookEventName", event)
	if r.Deny != "" {
		specific = denial(r.Deny)
	}
	if r.Context != "" {
		specific.add("additionalContext", r.Context)
	}
	if r.Input != nil {
		specific.add("updatedInput", r.Input)
	}
	if r.Output != nil {
		specific.add("updatedToolOutput", r.Output)
	}
	if r.Block != "" {
		o.add("decision", "block")
		o.add("reason", r.Block)
	}
	if r.NoGo {
		o.add("decision", "block")
	}
	if r.Person != "" {
		o.add("systemMessage", r.Person)
	}
	if len(specific) > 1 {
		o.add("hookSpecificOutput", specific)
	}
	if len(o) == 0 {
		return nil
	}
	return encode(o)
}

// fields is a JSON object with an order.
type fields []field

type field struct {
	key string
	val any
}

func (f *fields) add(key string, val any) { *f = append(*f, field{key, val}) }

func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.key))
		b.WriteByte(':')
		b.Write(encode(m.val))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(v any) []byte {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(`{}`)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// hostEvent is the host's name of an event.
func hostEvent(event string) string {
	var b []byte
	up := true
	for i := 0; i < len(event); i++ {
		ch := event[i]
		if ch == '-' {
			up = true
			continue
		}
		if up && ch >= 'a' && ch <= 'z' {
			ch -= 'a' - 'A'
		}
		up = false
		b = append(b, ch)
	}
	return string(b)
}
