package transcript

import (
	"bytes"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// record is one object of a session's file, taken apart: what all of its events
// share, its parts in the order in which they stand, and what the index keeps of
// it. It holds slices of the line and is valid as long as that is.
type record struct {
	Event
	want  *Want // nil: for the index, which asks for everything but usage
	parts []piece
	kind  Kind
	flags Flags

	typ, timestamp []byte
	user           bool
	parent, msgID  []byte
	sidAlt         []byte   // the content of a second key, session_id
	ids            [][]byte // Codex: all that may name the thread
	model, usage   []byte
	compact        []byte // compactMetadata
	words          bool   // a refusal in a person's words
	result         []byte // what a tool's answer tells in fields
	plan           []byte // an approved plan
	ends           bool   // the model has ended its turn
	typing         bool   // Codex: it tells what was typed
	operation      []byte // of the queue
	queued         []byte
	leaf           []byte
	leafNull       bool
	explicitLeaf   bool
	rollback       int64
	bounded        bool // a boundary waits for its summary; the one that outlives the line
	hasMessage     bool
	blocks         int // of the message's content, or noContent
	// Of messages, for the index; see measure.
	text, tool, think int
	texts             int
	prompt            []byte // raw text of the first text
	tools             []toolRef
}

const noContent = -1

// piece is a part of a record, before it is known whose it is.
type piece struct {
	kind   EventKind
	how    How
	raw    []byte
	tool   []byte
	id     []byte
	failed bool
	served bool // a tool that the model's server runs: it has no result of its own
}

// toolRef is a tool call or a result inside an entry.
type toolRef struct {
	id     key
	result bool
}

func (r *record) reset() {
	*r = record{want: r.want, parts: r.parts[:0], tools: r.tools[:0], ids: r.ids[:0], blocks: noContent, bounded: r.bounded}
}

// read takes an object apart whose brace is consumed; false when it left it in
// the middle, as nothing that follows is of interest.
func (r *record) read(c *cursor, h Host) (whole bool) {
	// A switch, not a table: a call through a table would put every line's cursor on
	// the heap.
	switch h {
	case Codex:
		whole = r.codex(c)
	case Copilot:
		whole = r.copilot(c)
	default:
		whole = r.claude(c)
	}
	r.Side = r.has(Sidechain)
	return whole
}

// parse reads a whole line as one object of the given host, or of the host the
// line itself shows.
func (r *record) parse(line []byte, h Host) bool {
	if h == "" {
		var ok bool
		if h, ok = detectLine(line); !ok {
			return false
		}
	}
	c := cursor{b: line}
	if !c.open('{') {
		return false
	}
	r.reset()
	r.read(&c, h)
	return !c.bad && space(line, c.i) == len(line)
}

func (r *record) has(f Flags) bool { return r.flags&f == f }

func (r *record) mark(f Flags, on bool) {
	if on {
		r.flags |= f
	} else {
		r.flags &^= f
	}
}

// skims: only what is waited for is read whole.
func (r *record) skims() bool { return r.want != nil && r.want.Results != nil }

// waits reports whether tools' answers are wanted now.
func (r *record) waits() bool { return !r.skims() || r.want.Results() }

// measure works out what the index keeps of a message: how long it is, and which
// tools it calls and answers.
func (r *record) measure() {
	texts := 0
	for i := range r.parts {
		switch p := &r.parts[i]; p.kind {
		case AgentSaid:
			r.texts++
			if text, ok := content(p.raw); ok {
				texts++
				r.text += units(text)
				if r.prompt == nil {
					r.prompt = text
				}
			}
		case ToolBegan:
			r.tool += len(p.raw)
			if host.Recorded(string(p.tool), nil).Kind == host.AskDeed {
				r.flags |= Spoken
			}
			if !p.served {
				r.flags |= ToolUse
				r.tools = append(r.tools, toolRef{id: keyOf(p.id)})
			}
		case ToolEnded:
			r.tool += len(p.raw)
			r.flags |= ToolResult
			if p.failed && (r.words || saidNo(p.raw)) {
				r.flags |= Spoken
			}
			r.tools = append(r.tools, toolRef{id: keyOf(p.id), result: true})
		case Thought:
			r.think += len(p.raw)
			r.flags |= Thinking
		case picture:
			r.flags |= Image
		}
	}
	r.text += max(0, texts-1) // the texts are joined by newlines
}

// saidNo reports a refusal with words of the user's, as Claude Code, Copilot, Gemini CLI and opencode
// write it.
func saidNo(raw []byte) bool {
	for _, mark := range [...]string{"the user said:", ". User feedback: ", "with the following feedback: "} {
		if bytes.Contains(raw[:min(len(raw), 600)], []byte(mark)) {
			return true
		}
	}
	return false
}

func (r *record) hasUsage() bool { return len(r.usage) > 0 && r.usage[0] == '{' }

// size decodes the record's usage when it tells the size of the main thread's
// context: not of a sub-agent, not of a message the host made itself.
func (r *record) size() (u Usage, ok bool) {
	if !r.hasUsage() || r.has(Sidechain) || r.has(Synthetic) || r.has(APIError) {
		return u, false
	}
	switch {
	case r.kind == Assistant: // only Claude Code tells it with the message
		u, _ = claudeUsage(r.usage)
		u.Model = unescape(r.model)
	case string(r.typ) == "session.usage_record":
		u = copilotUsage(r.usage)
	default:
		u = codexSize(r.usage)
	}
	return u, u.Tokens() > 0
}

// commandText reports text that a host put into a user message on its own, or in place of
// a slash command: its output, reminders, injected context. It is read by the host again
// or is worthless when shortened.
func commandText(raw []byte) bool {
	if len(raw) == 0 || bytes.IndexByte([]byte("<[{#CO \\"), raw[0]) < 0 {
		return false // most are none
	}
	return bytes.HasPrefix(raw, []byte("<command-")) || host.Typed(unescape(raw)) == ""
}
