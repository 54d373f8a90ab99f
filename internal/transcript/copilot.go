package transcript

// Copilot CLI's events.jsonl: {type, data, id, timestamp, parentId}, and agentId on
// what belongs to a sub-agent. One event follows the other; there is no tree to
// speak of. Everything that was said stands in few of the many types.

const copilotCompacted = "session.compaction_complete"

// copilotEvent is an event before its data is looked at.
type copilotEvent struct {
	typ, timestamp, data []byte
	agent                bool
}

func readCopilot(c *cursor) (e copilotEvent) {
	var agent []byte
	c.read(str("type", &e.typ), str("timestamp", &e.timestamp), str("agentId", &agent), raw("data", &e.data))
	e.agent = len(agent) > 0
	return e
}

// copilotData is what is of use in the data of events.
type copilotData struct {
	content, summary, calls, result, usage, context []byte // raw values
	id, version, model, call                        []byte
	success, failed                                 bool
	trigger                                         []byte
	before                                          int64
}

func (e copilotEvent) read() (d copilotData) {
	var success, shell []byte
	readObject(e.data, raw("content", &d.content), raw("summaryContent", &d.summary), raw("toolRequests", &d.calls), raw("result", &d.result),
		raw("usage", &d.usage), raw("context", &d.context), str("sessionId", &d.id), str("copilotVersion", &d.version),
		str("selectedModel", &d.model), str("newModel", &d.model), str("model", &d.model), str("toolCallId", &d.call),
		raw("success", &success), raw("shellExecution", &shell), str("trigger", &d.trigger), count("preCompactionTokens", &d.before))
	d.success = string(success) == "true"
	code := cursor{b: field(shell, "exitCode")}
	d.failed = success != nil && !d.success || len(code.b) > 0 && code.integer() != 0
	return d
}

// eachCall calls fn for every tool that a message asks for.
func (d copilotData) eachCall(fn func(id, name, arguments []byte)) {
	c := cursor{b: d.calls}
	if !c.open('[') {
		return
	}
	for first := true; c.more(']', &first); {
		if !c.open('{') {
			c.value()
			continue
		}
		var id, name, arguments []byte
		c.read(str("toolCallId", &id), str("name", &name), raw("arguments", &arguments))
		if !c.bad {
			fn(id, name, arguments)
		}
	}
}

func (r *record) parseCopilot(c *cursor) {
	e := readCopilot(c)
	r.typ, r.timestamp = e.typ, e.timestamp
	r.mark(Sidechain, e.agent)
	d := e.read()
	switch string(e.typ) {
	case "session.start", "session.resume":
		r.sid, r.version, r.model = d.id, d.version, d.model
		r.cwd, _ = content(field(d.context, "cwd"))
	case "session.model_change":
		r.model = d.model
	case "user.message":
		r.kind = User
		r.prompt, r.stringContent = content(d.content)
		r.text = units(r.prompt)
		if commandText(r.prompt) {
			r.flags |= Command | Meta
		} else {
			r.flags |= TurnStart
		}
	case "assistant.message":
		r.kind, r.model = Assistant, d.model
		text, _ := content(d.content)
		r.text = units(text)
		d.eachCall(func(id, _, arguments []byte) {
			r.flags |= ToolUse
			r.tool += len(arguments)
			r.tools = append(r.tools, toolRef{id: keyOf(id)})
		})
	case "tool.execution_complete":
		r.kind, r.tool = Output, len(d.result)
		r.flags |= ToolResult
		r.tools = append(r.tools, toolRef{id: keyOf(d.call), result: true})
	case "session.usage_record":
		r.usage, r.hasUsage = d.usage, len(d.usage) > 0 && d.usage[0] == '{'
	case copilotCompacted:
		if d.success {
			r.kind, r.compact = Boundary, e.data
		}
	}
}

func (s *Session) addCopilot(r *record, e *Entry, n int32, next int64) {
	if e.Has(Sidechain) {
		return
	}
	if s.CWD == "" && len(r.cwd) > 0 {
		s.CWD = unescape(r.cwd)
	}
	if len(r.version) > 0 {
		s.Version = string(r.version)
	}
	switch {
	case e.Kind == Boundary:
		d := copilotEvent{data: r.compact}.read()
		s.compacted(Compaction{Entry: int(n), Time: e.Time, End: next, Trigger: unescape(d.trigger), PreTokens: d.before})
	case r.hasUsage:
		s.usage(r)
		s.counts = append(s.counts, n)
	}
	if e.Has(TurnStart) && s.titleRank == 0 {
		s.setTitle(r.prompt, 1)
	}
}

// readCopilotUsage reads the usage of one request. What was read from a cache is
// part of the input there.
func readCopilotUsage(c *cursor) (u Usage) {
	var model []byte
	c.read(count("inputTokens", &u.Input), count("cacheReadTokens", &u.CacheRead), count("cacheWriteTokens", &u.CacheCreation),
		count("outputTokens", &u.Output), count("maxPromptTokens", &u.Window), str("model", &model))
	u.Model = unescape(model)
	cached := min(u.Input, u.CacheRead+u.CacheCreation)
	u.CacheRead = min(u.CacheRead, cached)
	u.CacheCreation = cached - u.CacheRead
	u.Input -= cached
	return u
}

// copilot reads one event. What a sub-agent said stands in the same file.
func (e *entry) copilot(c *cursor) bool {
	v := readCopilot(c)
	if c.bad {
		return true
	}
	e.Time, e.Side = parseTime(v.timestamp), v.agent
	d := v.read()
	switch string(v.typ) {
	case "session.start", "session.resume":
		e.CWD, _ = content(field(d.context, "cwd"))
		e.Version, e.Session = d.version, d.id
		e.parts = append(e.parts, piece{kind: About})
	case "session.usage_record":
		u := cursor{b: d.usage}
		if u.open('{') {
			if e.Usage = readCopilotUsage(&u); !u.bad {
				e.parts = append(e.parts, piece{kind: Counted})
			}
		}
	case "user.message", "assistant.message":
		e.user = string(v.typ) == "user.message"
		if text, ok := content(d.content); ok && len(text) > 0 {
			e.add(AgentSaid, d.content)
		}
		d.eachCall(func(id, name, arguments []byte) {
			e.parts = append(e.parts, piece{kind: ToolBegan, raw: arguments, tool: name, id: id})
		})
	case "tool.execution_complete":
		if value := field(d.result, "content"); value != nil && e.waits() {
			e.parts = append(e.parts, piece{kind: ToolEnded, raw: value, id: d.call, failed: d.failed})
		}
	case "abort":
		e.parts = append(e.parts, piece{kind: Interrupted})
	case copilotCompacted:
		if d.success {
			e.Trigger, e.Pre = unescape(d.trigger), d.before
			e.parts = append(e.parts, piece{kind: Compacted, raw: d.summary})
		}
	}
	return true
}
