package transcript

import "bytes"

// claude reads one line of a Claude Code session.
func (e *entry) claude(c *cursor) bool {
	var typ, subtype, id, request, usage, compact []byte
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "type":
			typ, _ = c.str()
			if !e.tells(typ) {
				return false
			}
		case "subtype":
			subtype, _ = c.str()
		case "uuid":
			e.UUID, _ = c.str()
		case "sessionId":
			e.Session, _ = c.str()
		case "isSidechain":
			e.Side = c.isTrue()
		case "isMeta":
			e.meta = c.isTrue()
		case "isCompactSummary":
			e.summary = c.isTrue()
		case "isApiErrorMessage":
			e.apiError = c.isTrue()
		case markerKey:
			e.marked = true
			c.value()
		case "timestamp":
			t, _ := c.str()
			e.Time = parseTime(t)
		case "requestId":
			request, _ = c.str()
		case "cwd":
			e.CWD, _ = c.str()
		case "version":
			e.Version, _ = c.str()
		case "customTitle":
			e.title(c, 4)
		case "aiTitle":
			e.title(c, 3)
		case "summary":
			e.title(c, 2)
		case "compactMetadata":
			compact = c.raw()
		case "data": // of a progress line, which repeats what a sub-agent does
			return e.progress(c.raw())
		case "snapshot":
			return false
		case "attachment":
			if !e.queued(c) {
				return false
			}
		case "message":
			if !c.open('{') {
				c.value()
				continue
			}
			for first := true; c.more('}', &first); {
				switch string(c.key()) {
				case "id":
					id, _ = c.str()
				case "model":
					e.model, _ = c.str()
				case "usage":
					usage = c.raw()
				case "content":
					if !e.content(c) {
						return false
					}
				default:
					c.value()
				}
			}
		default:
			c.value()
		}
	}
	switch string(typ) {
	case "system":
		if string(subtype) == "compact_boundary" {
			e.compacted(compact)
		}
	case "user", "attachment":
		e.user = true
		e.TitleRank = 0
	case "assistant":
		e.TitleRank = 0
		e.used(usage, id, request)
	default:
		if e.parts = e.parts[:0]; len(e.Title) > 0 {
			e.parts = append(e.parts, piece{kind: About})
		}
	}
	return true
}

// tells reports whether lines of a type may say something that is asked for.
func (e *entry) tells(typ []byte) bool {
	switch string(typ) {
	case "user", "assistant", "system", "attachment", "custom-title", "ai-title", "summary":
		return true
	case "progress":
		return e.want != nil && e.want.Agents
	}
	return false
}

func (e *entry) title(c *cursor, rank int) {
	e.Title, _ = c.str()
	e.TitleRank = rank
}

// queued reads what a person typed while the agent was at work; false for all
// other attachments, which the host puts in.
func (e *entry) queued(c *cursor) bool {
	if at := space(c.b, c.i); !bytes.Contains(c.b[at:min(len(c.b), at+60)], []byte(`"queued_command"`)) {
		return false
	}
	prompt := cursor{b: field(c.raw(), "prompt")}
	if !e.content(&prompt) {
		return false
	}
	for i := range e.parts {
		e.parts[i].how = Queued
	}
	return true
}

// content reads a message's blocks; false when the rest is a result that nobody
// waits for.
func (e *entry) content(c *cursor) bool {
	if c.peek() == '"' {
		e.add(AgentSaid, c.raw())
		return true
	}
	if !c.open('[') {
		c.value()
		return true
	}
	for first := true; c.more(']', &first); {
		if !c.open('{') {
			c.value()
			continue
		}
		var p piece
		var typ []byte
		for first := true; c.more('}', &first); {
			switch string(c.key()) {
			case "type":
				typ, _ = c.str()
			case "id":
				p.id, _ = c.str()
			case "tool_use_id":
				p.id, _ = c.str()
				if !e.waits() {
					return false
				}
			case "name":
				p.tool, _ = c.str()
			case "is_error":
				p.failed = c.isTrue()
			case "text", "input", "content", "thinking":
				p.raw = c.raw()
			default:
				c.value()
			}
		}
		switch string(typ) {
		case "text", "input_text", "output_text":
			p.kind = AgentSaid
		case "tool_use", "server_tool_use":
			p.kind = ToolBegan
		case "tool_result":
			p.kind = ToolEnded
		case "thinking":
			p.kind = thought
		default:
			continue
		}
		if p.raw != nil {
			e.parts = append(e.parts, p)
		}
	}
	return true
}

// used takes the usage of an answer, which stands before what was said: the
// request came first. What the host wrote itself has used nothing.
func (e *entry) used(usage, id, request []byte) {
	if len(usage) == 0 || usage[0] != '{' || string(e.model) == "<synthetic>" || e.apiError {
		return
	}
	e.Usage, e.Hour = claudeUsage(usage)
	if len(id) > 0 {
		k := keyOf(id)
		e.Key = k.hi
		if len(request) > 0 {
			r := keyOf(request)
			e.Key = fold(k.hi^r.lo, mix1) | 1
		}
	}
	e.parts = append(e.parts, piece{})
	copy(e.parts[1:], e.parts)
	e.parts[0] = piece{kind: Counted}
}

// progress reads what a sub-agent used; its own file may be gone. The rest of it
// is not of the main thread.
func (e *entry) progress(data []byte) bool {
	var message, request, inner, id, usage, at []byte
	if readObject(data, raw("message", &message)); readObject(message, str("requestId", &request), str("timestamp", &at), raw("message", &inner)) {
		e.Time = parseTime(at)
		readObject(inner, str("id", &id), str("model", &e.model), raw("usage", &usage))
		e.Side = true
		e.used(usage, id, request)
	}
	return len(e.parts) > 0
}

func (e *entry) compacted(meta []byte) {
	var trigger []byte
	readObject(meta, str("trigger", &trigger), count("preTokens", &e.Pre), count("postTokens", &e.Post), count("durationMs", &e.TookMS))
	e.Trigger = unescape(trigger)
	e.parts = append(e.parts[:0], piece{kind: Compacted})
}

// claudeUsage reads message.usage, and what of it was written for an hour.
func claudeUsage(v []byte) (u Usage, hour int64) {
	c := cursor{b: v}
	c.open('{')
	u, hour = readClaudeUsage(&c)
	return u, hour
}

func readClaudeUsage(c *cursor) (u Usage, hour int64) {
	var creation []byte
	c.read(count("input_tokens", &u.Input), count("cache_creation_input_tokens", &u.CacheCreation), count("cache_read_input_tokens", &u.CacheRead),
		count("output_tokens", &u.Output), raw("cache_creation", &creation))
	readObject(creation, count("ephemeral_1h_input_tokens", &hour))
	return u, min(hour, u.CacheCreation)
}
