package transcript

import (
	"bytes"
	"slices"
)

// Copilot CLI's events.jsonl: {type, data, id, timestamp, parentId}, and agentId on
// what belongs to a sub-agent. One event follows the other; there is no tree to
// speak of. Everything that was said stands in few of the many types.

const copilotCompacted = "session.compaction_complete"

// copilotData is what is of use in the data of events.
type copilotData struct {
	content, summary, calls, result, usage, context []byte // raw values
	typed                                           []byte // behind /compact
	spent                                           []byte // by the request that wrote a summary
	id, version, model, call                        []byte
	success, failed, injected                       bool
	trigger                                         []byte
	before                                          int64
}

func readCopilot(data []byte) (d copilotData) {
	var success, shell, autopilot, source, failure []byte
	readObject(data, raw("content", &d.content), raw("summaryContent", &d.summary), raw("toolRequests", &d.calls), raw("result", &d.result),
		raw("usage", &d.usage), raw("context", &d.context), str("sessionId", &d.id), str("copilotVersion", &d.version),
		str("selectedModel", &d.model), str("newModel", &d.model), str("model", &d.model), str("toolCallId", &d.call),
		raw("success", &success), raw("shellExecution", &shell), str("trigger", &d.trigger), count("preCompactionTokens", &d.before),
		raw("customInstructions", &d.typed), raw("isAutopilotContinuation", &autopilot), str("source", &source),
		raw("error", &failure), raw("compactionTokensUsed", &d.spent))
	// What a skill, an agent or the loop of autopilot says in the user's place.
	d.injected = string(autopilot) == "true" || bytes.HasPrefix(source, []byte("skill-")) || bytes.HasPrefix(source, []byte("agent-"))
	if d.result == nil && failure != nil {
		d.result = slices.Concat([]byte(`{"content":`), field(failure, "message"), []byte("}"))
	}
	d.success = string(success) == "true"
	code := cursor{b: field(shell, "exitCode")}
	d.failed = success != nil && !d.success || len(code.b) > 0 && code.integer() != 0
	return d
}

// copilotUsage reads the usage of one request. What was read from a cache is part
// of the input there.
func copilotUsage(v []byte) (u Usage) {
	var model []byte
	readObject(v, count("inputTokens", &u.Input), count("cacheReadTokens", &u.CacheRead), count("cacheWriteTokens", &u.CacheCreation),
		count("outputTokens", &u.Output), count("maxPromptTokens", &u.Window), str("model", &model),
		count("input", &u.Input), count("cachedInput", &u.CacheRead), count("output", &u.Output)) // of a compaction, in older versions
	u.Model = unescape(model)
	cached := min(u.Input, u.CacheRead+u.CacheCreation)
	u.CacheRead = min(u.CacheRead, cached)
	u.CacheCreation = cached - u.CacheRead
	u.Input -= cached
	return u
}

// copilot reads one event. What a sub-agent said stands in the same file.
func (r *record) copilot(c *cursor) bool {
	var data, agent []byte
	c.read(str("type", &r.typ), str("timestamp", &r.timestamp), str("agentId", &agent), raw("data", &data))
	if c.bad {
		return true
	}
	r.Time = parseTime(r.timestamp)
	r.mark(Sidechain, len(agent) > 0)
	d := readCopilot(data)
	switch string(r.typ) {
	case "session.start", "session.resume":
		r.cwd, _ = content(field(d.context, "cwd"))
		r.Version, r.Session, r.model = d.version, d.id, d.model
		r.parts = append(r.parts, piece{kind: About})
	case "session.model_change":
		r.model = d.model
	case "session.usage_record":
		if r.usage = d.usage; r.hasUsage() && r.want != nil {
			r.Usage = copilotUsage(d.usage)
			r.parts = append(r.parts, piece{kind: Counted})
		}
	case "user.message", "assistant.message":
		r.kind, r.model, r.user = Assistant, d.model, string(r.typ) == "user.message"
		r.mark(Meta, d.injected)
		if text, ok := content(d.content); ok && len(text) > 0 {
			r.parts = append(r.parts, piece{kind: AgentSaid, raw: d.content})
		}
		for call := range elements(d.calls) {
			p := piece{kind: ToolBegan}
			if readObject(call, str("toolCallId", &p.id), str("name", &p.tool), raw("arguments", &p.raw)) {
				r.parts = append(r.parts, p)
			}
		}
		// A model that calls no tool has ended its turn.
		if n := len(r.parts); !r.user && n > 0 && r.parts[n-1].kind != ToolBegan {
			r.parts = append(r.parts, piece{kind: TurnEnded})
		}
	case "tool.execution_complete":
		r.kind = Output
		if value := field(d.result, "content"); r.waits() {
			r.parts = append(r.parts, piece{kind: ToolEnded, raw: value, id: d.call, failed: d.failed})
		}
	case "abort":
		r.parts = append(r.parts, piece{kind: Interrupted})
	case copilotCompacted:
		if d.success {
			r.kind, r.Trigger, r.Pre = Boundary, unescape(d.trigger), d.before
			if r.Usage = copilotUsage(d.spent); r.Usage.Tokens() > 0 && r.want != nil {
				r.parts = append(r.parts, piece{kind: Counted})
			}
			if text, ok := content(d.typed); ok && len(text) > 0 {
				r.parts = append(r.parts, piece{kind: UserSaid, raw: d.typed, how: WithCompact})
			}
			r.parts = append(r.parts, piece{kind: Compacted, raw: d.summary})
		}
	}
	if r.want == nil {
		r.measure()
	}
	if r.user {
		r.kind = User
		if commandText(r.prompt) {
			r.flags |= Command | Meta
		} else {
			r.flags |= TurnStart
		}
	}
	return true
}
