package transcript

import (
	"bytes"
	"slices"
)

func (r *record) claude(c *cursor) bool {
	var subtype, request []byte
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "type":
			r.typ, _ = c.str()
			if r.skims() && !r.claudeTells() {
				return false
			}
		case "subtype":
			subtype, _ = c.str()
		case "uuid":
			r.UUID, _ = c.str()
		case "parentUuid":
			r.parent, _ = c.str()
		case "timestamp":
			r.timestamp, _ = c.str()
			r.Time = parseTime(r.timestamp)
		case "sessionId":
			r.Session, _ = c.str()
		case "session_id":
			r.sidAlt, _ = c.str()
		case "isSidechain":
			r.mark(Sidechain, c.isTrue())
		case "isMeta":
			r.mark(Meta, c.isTrue())
		case "isCompactSummary":
			r.mark(Summary, c.isTrue())
		case "isApiErrorMessage":
			r.mark(APIError, c.isTrue())
		case markerKey:
			r.flags |= Marked
			c.value()
		case "requestId":
			request, _ = c.str()
		case "cwd":
			r.cwd, _ = c.str()
		case "version":
			r.Version, _ = c.str()
		case "customTitle":
			r.readTitle(c, 4)
		case "aiTitle":
			r.readTitle(c, 3)
		case "summary":
			r.readTitle(c, 2)
		case "leafUuid":
			r.leafNull = c.peek() == 'n'
			r.leaf, _ = c.str()
		case "explicit":
			r.explicitLeaf = c.isTrue()
		case "compactMetadata":
			r.compact = c.raw()
		case "data": // of a progress line, which repeats what a sub-agent does
			r.progress(c.raw())
			if !r.skims() {
				break
			}
			if len(r.parts) == 0 {
				return false
			}
			// The time and the rest are the line's own, not the sub-agent's.
			for c.more('}', &first) {
				c.key()
				c.value()
			}
			return true
		case "snapshot":
			if r.skims() {
				return false
			}
			c.value()
		case "toolUseResult":
			r.result = c.raw()
		case "planContent":
			r.plan = c.raw()
		case "holdsPersonsWords":
			r.words = c.isTrue()
		case "operation":
			r.operation, _ = c.str()
		case "content": // of a line of the queue's
			r.queued = c.raw()
		case "attachment":
			if !r.typedMeanwhile(c) {
				return false
			}
		case "message":
			if !r.claudeMessage(c) {
				return false
			}
		default:
			c.value()
		}
	}
	r.claudeKind(subtype, request)
	return true
}

// claudeTells reports whether lines of a type may say something that is asked for.
func (r *record) claudeTells() bool {
	switch string(r.typ) {
	case "user", "assistant", "system", "attachment", "custom-title", "ai-title", "summary":
		return true
	case "progress":
		return r.want.Agents
	}
	return false
}

func (r *record) readTitle(c *cursor, rank int) {
	if t, ok := c.str(); ok && rank >= r.TitleRank {
		r.title, r.TitleRank = t, rank
	}
}

// typedMeanwhile reads what a person typed while the agent was at work. It is false where a
// skimming reader need not read on: all other attachments the host puts in.
func (r *record) typedMeanwhile(c *cursor) bool {
	if at := space(c.b, c.i); !bytes.Contains(c.b[at:min(len(c.b), at+60)], []byte(`"queued_command"`)) {
		switch {
		case r.want != nil && r.want.Attached:
			r.parts = append(r.parts, piece{kind: Attached, raw: c.raw()})
			return true
		case !r.skims():
			c.value()
		}
		return !r.skims()
	}
	prompt := cursor{b: field(c.raw(), "prompt")}
	ok := r.content(&prompt)
	for i := range r.parts {
		r.parts[i].how = Queued
	}
	return ok
}

func (r *record) claudeMessage(c *cursor) bool {
	if !c.open('{') {
		c.value()
		return true
	}
	r.hasMessage = true
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "id":
			r.msgID, _ = c.str()
		case "model":
			r.model, _ = c.str()
		case "usage":
			r.usage = c.raw()
		case "stop_reason":
			why, _ := c.str()
			r.ends = string(why) == "end_turn" || string(why) == "stop_sequence"
		case "content":
			if !r.content(c) {
				return false
			}
		default:
			c.value()
		}
	}
	return true
}

// claudeKind says what the line is, now that all of it is known.
func (r *record) claudeKind(subtype, request []byte) {
	switch string(r.typ) {
	case "user":
		r.kind, r.user, r.TitleRank = User, true, 0
		if r.has(Summary) && !r.has(Sidechain) {
			// The first versions that compacted wrote no boundary, only a summary that
			// starts a new chain.
			if len(r.parent) == 0 && !r.bounded {
				r.parts = slices.Insert(r.parts, 0, piece{kind: Compacted})
			}
			r.bounded = false
		}
	case "assistant":
		r.kind, r.TitleRank = Assistant, 0
		if string(r.model) == "<synthetic>" {
			r.flags |= Synthetic
		}
		if r.want != nil {
			r.used(request)
		}
		if r.ends {
			r.parts = append(r.parts, piece{kind: TurnEnded})
		}
	case "system":
		r.kind = System
		switch string(subtype) {
		case "compact_boundary":
			r.kind, r.bounded = Boundary, r.bounded || !r.has(Sidechain)
			r.compacted()
		case "microcompact_boundary":
			r.kind = Micro
		case "turn_duration", "stop_hook_summary":
			r.parts = append(r.parts, piece{kind: TurnEnded})
		}
	case "attachment":
		r.kind, r.user, r.TitleRank = Attachment, true, 0
	case "progress":
		r.kind = Progress
	default:
		// Newer versions keep requests and prompts beside the conversation
		// (api-request-blob, api-request-shape, prompt_snapshot): they repeat its
		// messages and calls, and are not part of it.
		if r.parts = r.parts[:0]; len(r.title) > 0 {
			r.parts = append(r.parts, piece{kind: About})
		}
		return
	}
	if len(r.UUID) > 0 {
		r.flags |= Node
	}
	if r.want == nil && r.kind != Attachment {
		r.measure()
	}
	if r.kind == User && !r.has(Meta) && r.texts > 0 && !r.has(ToolResult) {
		r.flags |= TurnStart
	}
	if r.kind == User && commandText(r.prompt) {
		r.flags |= Command
	}
}

// content reads a message's blocks; false when the rest is a result that nobody
// waits for.
func (r *record) content(c *cursor) bool {
	r.parts, r.blocks = r.parts[:0], 0
	if c.peek() == '"' {
		r.blocks = 1
		r.parts = append(r.parts, piece{kind: AgentSaid, raw: c.raw()})
		return true
	}
	if !c.open('[') {
		r.blocks = noContent
		c.value()
		return true
	}
	for first := true; c.more(']', &first); r.blocks++ {
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
				if !r.waits() {
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
		case "tool_use":
			p.kind = ToolBegan
		case "server_tool_use":
			p.kind, p.served = ToolBegan, true
		case "tool_result":
			p.kind = ToolEnded
		case "thinking":
			p.kind = Thought
		case "image", "input_image":
			p.kind = picture
		default:
			continue
		}
		r.parts = append(r.parts, p)
	}
	return true
}

// used takes the usage of an answer, which stands before what was said: the
// request came first. What the host wrote itself has used nothing.
func (r *record) used(request []byte) {
	if !r.hasUsage() || r.has(Synthetic) || r.has(APIError) {
		return
	}
	r.Usage, r.Hour = claudeUsage(r.usage)
	if len(r.msgID) > 0 {
		k := keyOf(r.msgID)
		r.Key = k.hi
		if len(request) > 0 {
			r.Key = fold(k.hi^keyOf(request).lo, mix1) | 1
		}
	}
	r.parts = append(r.parts, piece{})
	copy(r.parts[1:], r.parts)
	r.parts[0] = piece{kind: Counted}
}

// progress reads what a sub-agent used; its own file may be gone. The rest of it
// is not of the main thread.
func (r *record) progress(data []byte) {
	if r.want == nil || !r.want.Agents {
		return
	}
	var request, inner, at []byte
	if readObject(field(data, "message"), str("requestId", &request), str("timestamp", &at), raw("message", &inner)) {
		r.Time = parseTime(at)
		readObject(inner, str("id", &r.msgID), str("model", &r.model), raw("usage", &r.usage))
		r.flags |= Sidechain
		r.used(request)
	}
}

func (r *record) compacted() {
	var trigger []byte
	readObject(r.compact, str("trigger", &trigger), count("preTokens", &r.Pre), count("postTokens", &r.Post),
		count("durationMs", &r.TookMS), raw("preservedSegment", &r.Keeps), raw("preservedMessages", &r.Keeps))
	r.Trigger = unescape(trigger)
	r.parts = append(r.parts[:0], piece{kind: Compacted})
}

// claudeUsage reads message.usage, and what of it was written for an hour.
func claudeUsage(v []byte) (u Usage, hour int64) {
	var creation []byte
	readObject(v, count("input_tokens", &u.Input), count("cache_creation_input_tokens", &u.CacheCreation),
		count("cache_read_input_tokens", &u.CacheRead), count("output_tokens", &u.Output), raw("cache_creation", &creation))
	readObject(creation, count("ephemeral_1h_input_tokens", &hour))
	return u, min(hour, u.CacheCreation)
}
