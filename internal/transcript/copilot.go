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

func (s *sayer) copilot(c *cursor) {
	e := readCopilot(c)
	if c.bad {
		return
	}
	s.Time = parseTime(e.timestamp)
	d := e.read()
	switch string(e.typ) {
	case "session.start":
		s.Session = d.id
		s.CWD, _ = content(field(d.context, "cwd"))
	case "user.message", "assistant.message":
		s.content(d.content)
		d.eachCall(func(_, name, arguments []byte) {
			s.tool = true
			s.add(name)
			s.strings(arguments, nil, 0)
		})
		s.settle(string(e.typ) == "user.message")
	case "tool.execution_complete":
		s.tool = true
		s.strings(field(d.result, "content"), nil, 0)
		s.settle(false)
	case copilotCompacted:
		if !d.success {
			return
		}
		s.Boundary = !e.agent
		if text, ok := content(d.summary); ok {
			s.summary = true
			s.add(text)
			s.Message = len(s.Text)
			s.settle(true)
		}
	}
}

// copilot reads one event. What a sub-agent said stands in the same file.
func (w *walker) copilot(c *cursor) {
	e := readCopilot(c)
	if c.bad {
		return
	}
	s := &w.step
	*s = w.base
	s.Time, s.Side = parseTime(e.timestamp), e.agent
	d := e.read()
	switch string(e.typ) {
	case "session.start", "session.resume":
		s.CWD, _ = content(field(d.context, "cwd"))
		s.Version = d.version
		w.emit(AboutStep)
	case "session.usage_record":
		u := cursor{b: d.usage}
		if u.open('{') {
			if s.Usage = readCopilotUsage(&u); !u.bad {
				w.emit(RequestStep)
			}
		}
	case "user.message":
		if text, ok := content(d.content); ok && len(text) > 0 {
			s.Raw = d.content
			if hostText(text) {
				w.emit(HostStep)
			} else {
				w.emit(PromptStep)
			}
		}
	case "assistant.message":
		if text, ok := content(d.content); ok && len(text) > 0 {
			s.Raw = d.content
			w.emit(SaidStep)
		}
		d.eachCall(func(id, name, arguments []byte) {
			s.Raw, s.Tool, s.ID = arguments, unescape(name), CallID{keyOf(id)}
			w.emit(CallStep)
		})
	case "tool.execution_complete":
		if raw := field(d.result, "content"); raw != nil && w.waits() {
			s.Raw, s.ID, s.Failed = raw, CallID{keyOf(d.call)}, d.failed
			w.emit(ResultStep)
		}
	case copilotCompacted:
		if d.success {
			s.Trigger, s.Pre, s.Raw = unescape(d.trigger), d.before, d.summary
			w.emit(CompactStep)
			if len(d.summary) > 2 {
				w.emit(SummaryStep)
			}
		}
	}
}
