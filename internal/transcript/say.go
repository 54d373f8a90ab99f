package transcript

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Role says who speaks in an entry.
type Role uint8

const (
	SaidNothing Role = iota
	SaidUser
	SaidAssistant
	SaidTool     // a call or its result
	SaidThinking // readable thinking
	SaidSummary  // what a compaction left
	SaidHost     // reminders, commands and other text that the host put in
)

func (r Role) String() string {
	names := [...]string{
		SaidUser: "user", SaidAssistant: "assistant", SaidTool: "tool", SaidThinking: "thinking", SaidSummary: "summary", SaidHost: "user",
	}
	if int(r) < len(names) {
		return names[r]
	}
	return "" // of a damaged index
}

// Saying is what one entry says to a reader: everything a model read or wrote.
type Saying struct {
	Role     Role
	Time     int64 // Unix milliseconds, 0 when absent
	UUID     []byte
	Session  []byte // as the entry names it
	cwd      []byte
	Boundary bool // a compaction of the main thread
	Marked   bool // see [MarkerOf]
	// Shown is a text that Codex put on the screen: the line of the answer says the
	// same, and older versions wrote that at the end of a turn, which Stopped turns
	// do not have.
	Shown, Stopped bool
	Text           []byte
	Message        int // how much of Text is the message's own, without tools and thinking
}

// CWD is the session's folder, "" where the line does not tell it.
func (s *Saying) CWD() string { return unescape(s.cwd) }

// Say reads the first object of a line. The text is appended to buf, which may
// be used again for the next line; size is how much of the line was read, and ok
// is false when there is no object.
func Say(line []byte, h Host, buf []byte) (s Saying, size int, ok bool) {
	c, ok := firstObject(line)
	if !ok {
		return s, 0, false
	}
	var room [8]piece
	r := record{parts: room[:0]}
	r.read(&c, h)
	s = Saying{Time: r.Time, UUID: r.UUID, Session: r.Session, cwd: r.cwd, Marked: r.has(Marked), Text: buf[:0]}
	s.take(&r)
	return s, c.i, !c.bad
}

// take puts the parts of a record together. They come in any order, but the
// message's own text is what a reader wants first.
func (s *Saying) take(e *record) {
	var tool, recall, thinks bool
	for i := range e.parts {
		switch p := &e.parts[i]; p.kind {
		case Compacted:
			s.Boundary = !e.Side
			e.user = true
			e.flags |= Summary
			fallthrough
		case AgentSaid, shown:
			s.Shown = p.kind == shown
			if text, ok := content(p.raw); ok {
				s.add(text)
			}
		case Interrupted:
			s.Stopped = true
		}
	}
	s.Message = len(s.Text)
	for i := range e.parts {
		switch p := &e.parts[i]; p.kind {
		case ToolBegan, ToolEnded:
			tool = true
			recall = recall || string(p.tool) == "recall" || bytes.HasSuffix(p.tool, []byte("__recall"))
			s.add(p.tool)
			s.strings(p.raw, 0)
		case Thought:
			thinks = true
			s.strings(p.raw, 0)
		}
	}
	switch {
	case len(s.Text) == 0:
	case e.has(Summary):
		s.Role = SaidSummary
	case s.Message > 0 && e.user && (e.has(Meta) || commandText(s.Text)):
		s.Role = SaidHost
	case s.Message > 0 && e.user:
		s.Role = SaidUser
	case s.Message > 0:
		s.Role = SaidAssistant
	case tool && (recall || recalled(s.Text)): // a search would find earlier ones, and itself, first
	case tool:
		s.Role = SaidTool
	case thinks:
		s.Role = SaidThinking
	}
}

// recalled reports whether a tool's text is what our own recall answered; Codex puts
// two lines before it.
func recalled(text []byte) bool {
	for range 3 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if string(line) == message.MCPData.EN || string(line) == message.MCPData.ZH {
			return true
		}
	}
	return false
}

// add appends one part on lines of its own.
func (s *Saying) add(raw []byte) {
	if len(raw) == 0 {
		return
	}
	if len(s.Text) > 0 {
		s.Text = append(s.Text, '\n')
	}
	s.Text = appendText(s.Text, raw)
}

// strings appends the strings of a JSON value. A string that is JSON itself, as
// Codex writes arguments, is read as such; images are passed over.
func (s *Saying) strings(v []byte, depth int) {
	walkStrings(v, func(key []byte, start, end int) {
		if raw := v[start:end]; depth <= 16 && string(key) != "type" && (string(key) != "data" || len(raw) < 1000) {
			s.str(raw, key, depth)
		}
	})
}

func (s *Saying) str(raw, name []byte, depth int) {
	if len(raw) == 0 || bytes.HasPrefix(raw, []byte("data:image/")) {
		return
	}
	if (raw[0] == '{' || raw[0] == '[') && bytes.IndexByte(raw, '\\') >= 0 {
		inner := appendText(nil, raw)
		if skip(inner, 0) == len(bytes.TrimRight(inner, " \r\n\t")) {
			s.strings(inner, depth+1)
			return
		}
	}
	// The name of a value may be all that tells a secret from a word.
	if secretName(name) {
		raw = slices.Concat(name, []byte(": "), raw)
	}
	s.add(raw)
}

func secretName(name []byte) bool {
	if len(name) < 3 || len(name) > 64 {
		return false
	}
	n := strings.ToLower(string(name))
	words := []string{"pass", "secret", "token", "key", "auth", "cred", "pwd", "cookie"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(n, word) })
}

func firstObject(line []byte) (c cursor, ok bool) {
	if c.b = line; bytes.HasPrefix(line, bom) {
		c.i = len(bom)
	}
	return c, c.open('{')
}

// Name reads the uuid of the object that a line begins with, and its size.
func Name(line []byte) (size int, uuid []byte, ok bool) {
	c, ok := firstObject(line)
	if !ok {
		return 0, nil, false
	}
	c.read(str("uuid", &uuid))
	return c.i, uuid, !c.bad
}
