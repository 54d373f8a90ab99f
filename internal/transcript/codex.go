package transcript

// parseCodex reads one rollout line: {timestamp, ordinal, type, payload}, or
// an item without that envelope as the first versions wrote it.
func (r *record) parseCodex(c *cursor) {
	var p payload
	for first := true; c.more('}', &first); {
		switch key := string(c.key()); key {
		case "type":
			r.typ, _ = c.str()
		case "timestamp":
			r.timestamp, _ = c.str()
		case markerKey:
			r.mark(Marked, true)
			c.value()
		case "payload":
			if c.peek() == '{' {
				c.open('{')
				p.seen = true
				for first := true; c.more('}', &first); {
					p.field(c, r, string(c.key()))
				}
			} else {
				c.value()
			}
		case "role", "content", "call_id", "arguments", "input", "output", "action", "encrypted_content", "id":
			p.field(c, r, key) // the first versions wrote items bare
		default:
			c.value()
		}
	}
	switch string(r.typ) {
	case "response_item":
		r.item(&p, string(p.typ))
	case "compacted":
		// What takes the place of the history is in the context from then on.
		r.kind, r.text = Boundary, p.history
	case "session_meta":
		r.ids = append(r.ids, p.id)
		r.sid, r.cwd, r.version = p.id, p.cwd, p.version
		if len(r.sid) == 0 {
			r.sid = p.session
		}
	case "turn_context":
		r.model = p.model
	case "event_msg":
		switch string(p.typ) {
		case "token_count":
			r.usage, r.hasUsage = p.info, len(p.info) > 0 && p.info[0] == '{'
		case "thread_rolled_back":
			r.rollback = p.turns
		}
	default:
		if !p.seen {
			r.item(&p, string(r.typ))
			if len(r.typ) == 0 && len(p.id) > 0 {
				r.sid = p.id
				r.ids = append(r.ids, p.id)
			}
		}
	}
}

type payload struct {
	typ, role, call, id, session, info, cwd, version, model []byte
	turns                                                   int64
	tool, think, history                                    int
	seen                                                    bool
}

func (p *payload) field(c *cursor, r *record, name string) {
	switch name {
	case "type":
		p.typ, _ = c.str()
	case "role":
		p.role, _ = c.str()
	case "content":
		r.parseItems(c)
	case "id":
		p.id, _ = c.str()
	case "session_id":
		p.session, _ = c.str()
		r.ids = append(r.ids, p.session)
	case "thread_id":
		id, _ := c.str()
		r.ids = append(r.ids, id)
	case "call_id":
		p.call, _ = c.str()
	case "arguments", "input", "output", "action":
		p.tool += len(c.raw())
	case "replacement_history":
		p.history += len(c.raw())
	case "message":
		if s, ok := c.str(); ok {
			p.history += units(s)
		}
	case "encrypted_content":
		// Sealed in base64, with a frame around it: Codex takes so much for the text.
		p.think += max(0, len(c.raw())*3/4-650)
	case "info":
		p.info = c.raw()
	case "cwd":
		p.cwd, _ = c.str()
	case "cli_version":
		p.version, _ = c.str()
	case "model":
		p.model, _ = c.str()
	case "num_turns":
		p.turns = c.integer()
	default:
		c.value()
	}
}

// parseItems reads a message's content list; its text items are input_text and
// output_text (plain text in some copies).
func (r *record) parseItems(c *cursor) {
	if c.peek() == '"' {
		s, _ := c.str()
		r.text, r.prompt, r.stringContent = units(s), s, true
		return
	}
	if !c.open('[') {
		c.value()
		return
	}
	joined := 0
	for first := true; c.more(']', &first); {
		if c.peek() != '{' {
			c.value()
			continue
		}
		c.open('{')
		var typ, value []byte
		c.read(str("type", &typ), raw("text", &value))
		switch string(typ) {
		case "input_text", "output_text", "text":
			r.textBlocks++
			if text, ok := content(value); ok {
				joined++
				r.text += units(text)
				if r.prompt == nil {
					r.prompt = text
				}
			}
		case "input_image":
			r.flags |= Image
		}
	}
	if joined > 1 {
		r.text += joined - 1
	}
}

func (r *record) item(p *payload, typ string) {
	switch typ {
	case "message":
		switch string(p.role) {
		case "user":
			r.kind = User
			if commandText(r.prompt) {
				r.flags |= Command | Meta
			} else if r.stringContent || r.textBlocks > 0 {
				r.flags |= TurnStart
			}
		case "assistant":
			r.kind = Assistant
		default:
			r.kind = System
		}
	case "reasoning":
		r.kind = Reasoning
		r.think = p.think
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		r.kind = Call
		r.flags |= ToolUse
		r.tool = p.tool
		r.tools = append(r.tools, toolRef{id: keyOf(p.call)})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		r.kind = Output
		r.flags |= ToolResult
		r.tool = p.tool
		r.tools = append(r.tools, toolRef{id: keyOf(p.call), result: true})
	case "web_search_call", "image_generation_call":
		r.kind = Call
		r.tool = p.tool
	case "compaction", "compaction_summary":
		r.kind = System
	}
}
