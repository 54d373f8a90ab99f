package transcript

import "bytes"

// record is one parsed object: slices of the line, valid as long as it is.
type record struct {
	kind  Kind
	flags Flags

	typ, subtype  []byte
	uuid, parent  []byte
	timestamp     []byte
	sid           []byte   // content of the top-level session id
	sidAlt        []byte   // content of a second key, session_id
	ids           [][]byte // Codex: all that may name the thread
	msgID, model  []byte
	usage         []byte
	compact       []byte // compactMetadata
	cwd, version  []byte
	title         []byte // custom or AI title, or a summary
	titleRank     int
	prompt        []byte // raw text of a turn's first text
	leaf          []byte
	leafNull      bool
	explicitLeaf  bool
	text          int
	tool, think   int
	tools         []toolRef
	rollback      int64
	hasUsage      bool
	stringContent bool
	textBlocks    int
}

// toolRef is a tool call or a result inside an entry.
type toolRef struct {
	id     key
	result bool
}

func (r *record) reset() {
	*r = record{tools: r.tools[:0], ids: r.ids[:0]}
}

// parseClaude reads the object at the cursor, whose brace is already consumed.
func (r *record) parseClaude(c *cursor) {
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "type":
			r.typ, _ = c.str()
		case "subtype":
			r.subtype, _ = c.str()
		case "uuid":
			r.uuid, _ = c.str()
		case "parentUuid":
			r.parent, _ = c.str()
		case "timestamp":
			r.timestamp, _ = c.str()
		case "sessionId":
			r.sid, _ = c.str()
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
		case "compactMetadata":
			r.compact = c.raw()
		case markerKey:
			r.mark(Marked, true)
			c.value()
		case "cwd":
			r.cwd, _ = c.str()
		case "version":
			r.version, _ = c.str()
		case "customTitle":
			r.heading(c, 3)
		case "aiTitle":
			r.heading(c, 2)
		case "summary":
			r.heading(c, 1)
		case "leafUuid":
			r.leafNull = c.peek() == 'n'
			r.leaf, _ = c.str()
		case "explicit":
			r.explicitLeaf = c.isTrue()
		case "message":
			if c.peek() == '{' {
				c.open('{')
				r.parseMessage(c)
			} else {
				c.value()
			}
		default:
			c.value()
		}
	}
	r.classify()
}

func (r *record) mark(f Flags, on bool) {
	if on {
		r.flags |= f
	} else {
		r.flags &^= f
	}
}

func (r *record) heading(c *cursor, rank int) {
	if t, ok := c.str(); ok && rank >= r.titleRank {
		r.title, r.titleRank = t, rank
	}
}

func (r *record) parseMessage(c *cursor) {
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "id":
			r.msgID, _ = c.str()
		case "model":
			r.model, _ = c.str()
		case "usage":
			r.usage = c.raw()
			r.hasUsage = len(r.usage) > 0 && r.usage[0] == '{'
		case "content":
			r.parseContent(c)
		default:
			c.value()
		}
	}
}

func (r *record) parseContent(c *cursor) {
	r.text, r.tool, r.think, r.textBlocks = 0, 0, 0, 0
	r.tools = r.tools[:0]
	r.stringContent, r.prompt = false, nil
	r.flags &^= ToolUse | ToolResult | Thinking | Image
	switch c.peek() {
	case '"':
		s, _ := c.str()
		r.stringContent = true
		r.text = units(s)
		r.prompt = s
	case '[':
		c.open('[')
		joined := 0
		for first := true; c.more(']', &first); {
			if c.peek() != '{' {
				c.value()
				continue
			}
			c.open('{')
			r.parseBlock(c, &joined)
		}
		if joined > 1 {
			r.text += joined - 1
		}
	default:
		c.value()
	}
}

func (r *record) parseBlock(c *cursor, joined *int) {
	var typ, text, id, useID, input, output, think []byte
	c.read(str("type", &typ), raw("text", &text), str("id", &id), str("tool_use_id", &useID),
		raw("input", &input), raw("content", &output), raw("thinking", &think))
	tool := len(input) + len(output)
	switch string(typ) {
	case "text":
		r.textBlocks++
		if text, ok := content(text); ok {
			*joined++
			r.text += units(text)
			if r.prompt == nil {
				r.prompt = text
			}
		}
	case "tool_use":
		r.flags |= ToolUse
		r.tool += tool
		r.tools = append(r.tools, toolRef{id: keyOf(id)})
	case "tool_result":
		r.flags |= ToolResult
		r.tool += tool
		r.tools = append(r.tools, toolRef{id: keyOf(useID), result: true})
	case "thinking":
		r.flags |= Thinking
		r.think += len(think)
	case "image":
		r.flags |= Image
	}
}

func (r *record) classify() {
	switch string(r.typ) {
	case "user":
		r.kind = User
		if !r.has(Meta) && (r.stringContent || r.textBlocks > 0 && !r.has(ToolResult)) {
			r.flags |= TurnStart
		}
		if commandText(r.prompt) {
			r.flags |= Command
		}
	case "assistant":
		r.kind = Assistant
		if string(r.model) == "<synthetic>" {
			r.flags |= Synthetic
		}
	case "system":
		r.kind = System
		switch string(r.subtype) {
		case "compact_boundary":
			r.kind = Boundary
		case "microcompact_boundary":
			r.kind = Micro
		}
	case "attachment":
		r.kind = Attachment
	case "progress":
		r.kind = Progress
	}
	if r.kind == Other {
		// Newer versions keep requests and prompts beside the conversation
		// (api-request-blob, api-request-shape, prompt_snapshot): they repeat its
		// messages and calls, and are not part of it.
		r.text, r.tool, r.think, r.textBlocks, r.tools, r.prompt = 0, 0, 0, 0, r.tools[:0], nil
		r.flags &^= ToolUse | ToolResult | Thinking | Image
	}
	if len(r.uuid) > 0 && r.kind != Other {
		r.flags |= Node
	}
}

func (r *record) has(f Flags) bool { return r.flags&f == f }

// commandText reports text that a host put into a user message on its own:
// slash commands and their output, reminders, injected context. It is read by
// the host again or is worthless when shortened.
func commandText(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '<' {
		return bytes.HasPrefix(raw, []byte("Caveat: The messages below were generated")) ||
			bytes.HasPrefix(raw, []byte("# AGENTS.md instructions")) ||
			bytes.HasPrefix(raw, []byte("[Request interrupted by user"))
	}
	for _, p := range [...]string{
		"<command-name>", "<command-message>", "<local-command-", "<system-reminder>", "<bash-",
		"<task-notification>", "<user-memory-input>",
		"<environment_context>", "<user_instructions>", "<permissions", "<skill", "<turn_aborted>",
		"<INSTRUCTIONS>", "<user_shell_command>", "<subagent_notification>", "<collaboration_mode", "<personality", "<app-context", "<recommended_plugins", "<apps_instructions",
	} {
		if len(raw) >= len(p) && string(raw[:len(p)]) == p {
			return true
		}
	}
	return false
}
