package transcript

import "bytes"

// payload is what is of use in a line of a Codex rollout.
type payload struct {
	typ, role, call, name, id, session, thread []byte
	value                                      []byte // of a message its content, of a tool its input or output, as it stands
	summary, sealed                            []byte // of reasoning: what can be read of it, and what cannot
	info, cwd, version, model                  []byte
	message, history                           []byte // what is left after a compaction
	turns                                      int64
}

func (p *payload) read(c *cursor) {
	c.read(str("type", &p.typ), str("role", &p.role), str("call_id", &p.call), str("name", &p.name), str("id", &p.id),
		raw("content", &p.value), raw("arguments", &p.value), raw("input", &p.value), raw("output", &p.value), raw("action", &p.value),
		raw("summary", &p.summary), raw("encrypted_content", &p.sealed), raw("info", &p.info),
		str("session_id", &p.session), str("thread_id", &p.thread), str("cwd", &p.cwd),
		str("cli_version", &p.version), str("model", &p.model), raw("message", &p.message),
		raw("replacement_history", &p.history), count("num_turns", &p.turns))
}

// codex reads one line of a Codex rollout: {timestamp, type, payload}, or an item
// without that envelope as the first versions wrote it.
func (r *record) codex(c *cursor) bool {
	bare := *c
	var p payload
	seen := false
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "type":
			r.typ, _ = c.str()
		case "timestamp":
			r.timestamp, _ = c.str()
			r.Time = parseTime(r.timestamp)
		case markerKey:
			r.flags |= Marked
			c.value()
		case "payload":
			seen = true
			switch {
			case r.skims() && !r.codexTells(c.b[c.i:min(len(c.b), c.i+60)]):
				return false
			case c.open('{'):
				p.read(c)
			default:
				c.value()
			}
		default:
			c.value()
		}
	}
	switch {
	case c.bad:
	case seen:
		r.codexLine(&p)
	default:
		p.read(&bare) // the members of the line are those of an item
		r.codexItem(&p)
		if len(r.typ) == 0 && len(p.id) > 0 {
			r.Session, r.ids = p.id, append(r.ids, p.id)
			r.parts = append(r.parts, piece{kind: About}) // of the first versions, the one line with a time
		}
	}
	return true
}

// codexTells looks at the head of a payload, where its type stands, and reports
// whether it may say something that is asked for. Where the type stands elsewhere, as
// after a program that sorts members, it may.
func (r *record) codexTells(head []byte) bool {
	if len(r.typ) == 0 || !bytes.HasPrefix(head, []byte(`{"type"`)) {
		return true
	}
	has := func(word string) bool { return bytes.Contains(head, []byte(word)) }
	switch string(r.typ) {
	case "response_item":
		return !has(`"reasoning"`) && (!has(`_output"`) || r.waits())
	case "event_msg":
		return has(`"token_count"`) || has(`"turn_aborted"`) || has(`"user_message"`) || has(`"task_complete"`)
	case "compacted", "session_meta", "turn_context":
		return true
	}
	return false
}

func (r *record) codexLine(p *payload) {
	r.ids = append(r.ids, p.session, p.thread)
	switch string(r.typ) {
	case "response_item":
		r.codexItem(p)
	case "compacted":
		// What takes the place of the history is in the context from then on.
		message, _ := content(p.message)
		r.kind, r.text = Boundary, len(p.history)+units(message)
		r.parts, r.Keeps = append(r.parts, piece{kind: Compacted, raw: codexSummary(p)}), p.history
	case "session_meta":
		r.ids = append(r.ids, p.id)
		r.Session, r.cwd, r.Version = p.id, p.cwd, p.version
		if len(r.Session) == 0 {
			r.Session = p.session
		}
		r.parts = append(r.parts, piece{kind: About})
	case "turn_context":
		r.model = p.model
	case "event_msg":
		switch string(p.typ) {
		case "token_count":
			r.usage = p.info
			r.parts = append(r.parts, piece{kind: Counted, raw: p.info})
		case "agent_message":
			if r.want == nil {
				r.parts = append(r.parts, piece{kind: shown, raw: p.message})
			}
		case "user_message":
			if _, ok := content(p.message); ok && r.want != nil {
				r.user, r.typing = true, true
				r.parts = append(r.parts, piece{kind: AgentSaid, raw: p.message})
			}
		case "task_complete":
			r.parts = append(r.parts, piece{kind: TurnEnded})
		case "turn_aborted":
			r.parts = append(r.parts, piece{kind: Interrupted})
		case "thread_rolled_back":
			r.rollback = p.turns
		}
	}
}

// codexItem reads one thing that was sent to the model or came from it.
func (r *record) codexItem(p *payload) {
	t := piece{id: p.call, tool: p.name, raw: p.value}
	switch string(p.typ) {
	case "message":
		r.codexMessage(p)
		return
	case "web_search_call", "image_generation_call":
		t.served, t.id = true, p.id
		fallthrough
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		r.kind, t.kind = Call, ToolBegan
		if len(t.tool) == 0 { // it is named by its type
			t.tool = bytes.TrimSuffix(p.typ, []byte("_call"))
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		if r.kind, t.kind = Output, ToolEnded; !r.waits() {
			return
		}
	case "reasoning":
		// Sealed in base64, with a frame around it: Codex takes so much for the text.
		r.kind, r.think = Reasoning, max(0, len(p.sealed)*3/4-650)
		r.parts = append(r.parts, piece{kind: Thought, raw: p.summary})
		return
	case "compaction", "compaction_summary":
		r.kind = System
		return
	default:
		return
	}
	r.parts = append(r.parts, t)
	if r.want == nil {
		r.measure()
	}
}

func (r *record) codexMessage(p *payload) {
	r.content(&cursor{b: p.value})
	if r.want == nil {
		r.measure()
	}
	switch string(p.role) {
	case "user":
		r.kind, r.user = User, true
		if commandText(r.prompt) {
			r.flags |= Command | Meta
		} else if r.texts > 0 {
			r.flags |= TurnStart
		}
	case "assistant":
		r.kind = Assistant
	default:
		r.kind, r.parts = System, r.parts[:0]
	}
}

// codexCount reads how much the session has used so far, which tells requests
// apart, and what the last one did. Right after a compaction it tells the new
// size only.
func (s *stream) codexCount() bool {
	r := &s.r
	var totals, latest []byte
	r.Usage = Usage{}
	window := count("model_context_window", &r.Usage.Window)
	if !readObject(r.Raw, raw("total_token_usage", &totals), raw("last_token_usage", &latest), window) {
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
	r.Usage.Input, r.Usage.CacheRead, r.Usage.Output = last[0]-min(last[0], last[1]), min(last[0], last[1]), last[2]
	r.Usage.Model, r.Key = s.model, sum|1
	if r.Usage.Tokens() == 0 {
		r.Post = last[3]
	}
	return true
}

func codexUsage(v []byte) (n [4]int64) {
	readObject(v, count("input_tokens", &n[0]), count("cached_input_tokens", &n[1]),
		count("output_tokens", &n[2]), count("total_tokens", &n[3]))
	return n
}

// codexSize reads how large the context is from the info of a token_count event.
func codexSize(info []byte) (u Usage) {
	var latest []byte
	readObject(info, raw("last_token_usage", &latest), count("model_context_window", &u.Window))
	last := codexUsage(latest)
	// Codex counts cached tokens as part of the input, and reasoning in the total
	// only.
	u.CacheRead = min(last[0], last[1])
	u.Input, u.Output = last[0]-u.CacheRead, last[2]
	if total := last[3]; total > 0 {
		u.Output = max(0, total-u.Input-u.CacheRead)
	}
	return u
}

// codexSummary is the summary in the line of a compaction: the line's message, or the last
// of the messages that replace the history. It is empty where only the model's server can
// read the summary.
func codexSummary(p *payload) []byte {
	if len(p.message) > len(`""`) {
		return p.message
	}
	summary := []byte(`""`)
	for v := range elements(p.history) {
		c := cursor{b: v}
		if !c.open('{') {
			continue
		}
		var r record
		var item payload
		item.read(&c)
		r.codexItem(&item)
		for _, t := range r.parts {
			if r.user && bytes.HasPrefix(t.raw, []byte(`"Another language model`)) {
				summary = t.raw
			}
		}
	}
	return summary
}
