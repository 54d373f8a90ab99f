package transcript

import "bytes"

// codex reads one line of a Codex rollout: {timestamp, type, payload}, or an item
// without that envelope as the first versions wrote it.
func (e *entry) codex(c *cursor) bool {
	var typ []byte
	start := c.i - 1
	seen := false
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "type":
			typ, _ = c.str()
			if t := string(typ); e.skims() && (t == "world_state" || t == "reasoning" || t == "function_call_output" && !e.waits()) {
				return false
			}
		case "timestamp":
			t, _ := c.str()
			e.Time = parseTime(t)
		case markerKey:
			e.marked = true
			c.value()
		case "payload":
			seen = true
			if c.peek() != '{' {
				c.value()
				continue
			}
			if !e.codexPayload(c, typ) {
				return false
			}
		default:
			c.value()
		}
	}
	if !c.bad && !seen {
		e.codexItem(c.b[start:c.i])
	}
	return true
}

func (e *entry) codexPayload(c *cursor, typ []byte) bool {
	at := c.i
	switch string(typ) {
	case "response_item":
		if e.skims() && !e.codexWanted(c.b[at:]) {
			return false
		}
		e.codexItem(c.raw())
	case "event_msg":
		switch head := c.b[at:min(len(c.b), at+40)]; {
		case bytes.Contains(head, []byte(`"token_count"`)):
			e.add(Counted, field(c.raw(), "info"))
		case bytes.Contains(head, []byte(`"turn_aborted"`)):
			e.add(Interrupted, c.raw())
		default:
			return false
		}
	case "compacted":
		e.add(Compacted, codexSummary(c.raw()))
	case "session_meta":
		v := c.raw()
		e.Session, _ = content(field(v, "id"))
		e.CWD, _ = content(field(v, "cwd"))
		e.Version, _ = content(field(v, "cli_version"))
		e.parts = append(e.parts, piece{kind: About})
	case "turn_context":
		e.model, _ = content(field(c.raw(), "model"))
	default:
		return false
	}
	return true
}

// codexWanted looks at the head of an item, where its type stands.
func (e *entry) codexWanted(item []byte) bool {
	head := item[:min(len(item), 60)]
	if bytes.Contains(head, []byte(`"reasoning"`)) {
		return false
	}
	return !bytes.Contains(head, []byte(`_output"`)) || e.waits()
}

// codexItem reads one thing that was sent to the model or came from it.
func (e *entry) codexItem(item []byte) {
	var typ, role, value, summary []byte
	var p piece
	whole := readObject(item, str("type", &typ), str("role", &role), str("call_id", &p.id), str("name", &p.tool), raw("summary", &summary),
		raw("content", &value), raw("arguments", &value), raw("input", &value), raw("output", &value), raw("action", &value))
	if !whole {
		return
	}
	p.raw = value
	switch string(typ) {
	case "message":
		if r := string(role); r == "user" || r == "assistant" {
			e.user = r == "user"
			e.content(&cursor{b: value})
		}
		return
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call":
		if p.kind = ToolBegan; len(p.tool) == 0 { // it is named by its type
			p.tool = bytes.TrimSuffix(typ, []byte("_call"))
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		p.kind = ToolEnded
	case "reasoning":
		p.kind, p.raw = thought, summary
	default:
		return
	}
	if p.raw != nil {
		e.parts = append(e.parts, p)
	}
}

// codexCount reads how much the session has used so far, which tells requests
// apart, and what the last one did. Right after a compaction it tells the new
// size only.
func (s *stream) codexCount() bool {
	e := &s.e
	var totals, latest []byte
	e.Usage = Usage{}
	if !readObject(e.Raw, raw("total_token_usage", &totals), raw("last_token_usage", &latest), count("model_context_window", &e.Usage.Window)) {
		return false
	}
	last := codexUsage(latest)
	if last == ([4]int64{}) {
		return false
	}
	sum := s.thread
	for _, n := range codexUsage(totals) {
		sum = fold(sum^uint64(n), mix3) + mix1
	}
	e.Usage.Input, e.Usage.CacheRead, e.Usage.Output = last[0]-min(last[0], last[1]), min(last[0], last[1]), last[2]
	e.Usage.Model, e.Key = s.model, sum|1
	if e.Usage.Tokens() == 0 {
		e.Post = last[3]
	}
	return true
}

// codexUsage reads input, the cached part of it, output and their sum.
func codexUsage(v []byte) (n [4]int64) {
	readObject(v, count("input_tokens", &n[0]), count("cached_input_tokens", &n[1]), count("output_tokens", &n[2]), count("total_tokens", &n[3]))
	return n
}

// codexSummary is the summary in a line that tells of a compaction: its message,
// or the last of the messages that replace the history. One that only the
// model's server can read is none.
func codexSummary(payload []byte) []byte {
	if m := field(payload, "message"); len(m) > len(`""`) {
		return m
	}
	summary := []byte(`""`)
	c := cursor{b: field(payload, "replacement_history")}
	if !c.open('[') {
		return summary
	}
	for first := true; c.more(']', &first); {
		var e entry
		e.codexItem(c.raw())
		for _, p := range e.parts {
			if e.user && bytes.HasPrefix(p.raw, []byte(`"Another language model`)) {
				summary = p.raw
			}
		}
	}
	return summary
}
