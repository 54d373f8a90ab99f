package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/host"
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
	switch r {
	case SaidUser, SaidHost:
		return "user"
	case SaidAssistant:
		return "assistant"
	case SaidTool:
		return "tool"
	case SaidThinking:
		return "thinking"
	case SaidSummary:
		return "summary"
	}
	return ""
}

// Saying is what one entry says to a reader: everything a model read or wrote.
type Saying struct {
	Role     Role
	Time     int64 // Unix milliseconds, 0 when absent
	UUID     []byte
	Session  []byte // as the entry names it
	CWD      []byte
	Boundary bool // a compaction of the main thread
	Marked   bool // see [MarkerOf]
	Text     []byte
	Message  int // how much of Text is the message's own, without tools and thinking
}

// Say reads the first object of a line. The text is appended to buf, which may
// be used again for the next line; size is how much of the line was read, and ok
// is false when there is no object. It makes one pass and allocates nothing.
func Say(line []byte, h Host, buf []byte) (s Saying, size int, ok bool) {
	c := cursor{b: line}
	if bytes.HasPrefix(line, bom) {
		c.i = len(bom)
	}
	if !c.open('{') {
		return s, 0, false
	}
	r := sayer{Saying: Saying{Text: buf[:0]}}
	r.sayAs(&c, h)
	return r.Saying, c.i, !c.bad
}

// sayer collects the parts of an entry. Blocks of one message come in any order,
// but the message's own text is what a reader wants first.
type sayer struct {
	Saying
	typ           []byte
	meta, summary bool
	sidechain     bool
	tool, thought bool
	subtype       []byte
}

func (s *sayer) claude(c *cursor) {
	var body, attachment []byte
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "type":
			s.typ, _ = c.str()
		case "subtype":
			s.subtype, _ = c.str()
		case "uuid":
			s.UUID, _ = c.str()
		case "timestamp":
			t, _ := c.str()
			s.Time = parseTime(t)
		case "sessionId":
			s.Session, _ = c.str()
		case "cwd":
			s.CWD, _ = c.str()
		case "isMeta":
			s.meta = c.isTrue()
		case "isSidechain":
			s.sidechain = c.isTrue()
		case "isCompactSummary":
			s.summary = c.isTrue()
		case markerKey:
			s.Marked = true
			c.value()
		case "attachment":
			attachment = c.raw()
		case "message":
			if !c.open('{') {
				c.value()
				continue
			}
			for first := true; c.more('}', &first); {
				if string(c.key()) == "content" {
					body = c.raw()
				} else {
					c.value()
				}
			}
		default:
			c.value()
		}
	}
	if c.bad {
		return
	}
	switch string(s.typ) {
	case "user", "assistant":
		s.content(body)
		s.settle(string(s.typ) == "user")
	case "system":
		s.Boundary = string(s.subtype) == "compact_boundary" && !s.sidechain
	case "attachment":
		// What a person typed while the agent was at work.
		if t, _ := content(field(attachment, "type")); string(t) == "queued_command" {
			s.content(field(attachment, "prompt"))
			s.settle(true)
		}
	}
}

// content reads a message's content, its texts first.
func (s *sayer) content(v []byte) {
	if raw, ok := content(v); ok {
		s.Text = appendText(s.Text, raw)
		s.Message = len(s.Text)
		return
	}
	for pass := range 2 {
		c := cursor{b: v}
		if !c.open('[') {
			return
		}
		for first := true; c.more(']', &first); {
			s.block(c.raw(), pass == 0)
		}
		if pass == 0 {
			s.Message = len(s.Text)
		}
	}
}

func (s *sayer) block(block []byte, texts bool) {
	var typ, text, value, name, thinking []byte
	readObject(block, str("type", &typ), str("text", &text), str("name", &name), str("thinking", &thinking), raw("input", &value), raw("content", &value))
	switch string(typ) {
	case "text", "input_text", "output_text":
		if texts {
			s.add(text)
		}
	case "tool_use", "tool_result", "server_tool_use":
		if !texts {
			s.tool = true
			s.add(name)
			s.strings(value, nil, 0)
		}
	case "thinking":
		if !texts && len(thinking) > 0 {
			s.thought = true
			s.add(thinking)
		}
	}
}

// add appends one part on lines of its own.
func (s *sayer) add(raw []byte) {
	if len(raw) == 0 {
		return
	}
	if len(s.Text) > 0 {
		s.Text = append(s.Text, '\n')
	}
	s.Text = appendText(s.Text, raw)
}

// settle names the role once everything is read.
func (s *sayer) settle(user bool) {
	switch {
	case len(s.Text) == 0:
		s.Role = SaidNothing
	case s.summary:
		s.Role = SaidSummary
	case s.Message > 0 && user && (s.meta || commandText(s.Text)):
		s.Role = SaidHost
	case s.Message > 0 && user:
		s.Role = SaidUser
	case s.Message > 0:
		s.Role = SaidAssistant
	case s.tool:
		s.Role = SaidTool
	case s.thought:
		s.Role = SaidThinking
	}
}

func (s *sayer) codex(c *cursor) {
	var payload, at, marker []byte
	start := c.i
	c.read(str("type", &s.typ), str("timestamp", &at), raw(markerKey, &marker), raw("payload", &payload))
	s.Time, s.Marked = parseTime(at), marker != nil
	if c.bad {
		return
	}
	switch string(s.typ) {
	case "response_item":
		s.item(payload)
	case "session_meta":
		s.CWD, _ = content(field(payload, "cwd"))
		s.Session, _ = content(field(payload, "id"))
	case "compacted":
		s.Boundary = true
		if m, ok := content(field(payload, "message")); ok {
			s.summary = true
			s.add(m)
			s.Message = len(s.Text)
			s.settle(true)
		}
	case "event_msg", "turn_context", "world_state":
	default:
		if payload == nil { // an item of the first versions
			s.item(c.b[start-1 : c.i])
		}
	}
}

// item reads one thing that was sent to the model or came from it.
func (s *sayer) item(v []byte) {
	var typ, role, body, name, summary []byte
	var tool [4][]byte
	readObject(v, str("type", &typ), str("role", &role), str("name", &name), raw("content", &body), raw("summary", &summary),
		raw("arguments", &tool[0]), raw("input", &tool[1]), raw("action", &tool[2]), raw("output", &tool[3]))
	switch string(typ) {
	case "message":
		if r := string(role); r == "user" || r == "assistant" {
			s.content(body)
			s.settle(r == "user")
		}
	case "reasoning":
		s.thought = true
		s.strings(summary, nil, 0)
		s.settle(false)
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call",
		"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		s.tool = true
		s.add(name)
		for _, v := range tool {
			s.strings(v, nil, 0)
		}
		s.settle(false)
	}
}

// strings appends the strings of a JSON value. A string that is JSON itself, as
// Codex writes arguments, is read as such; images are passed over.
func (s *sayer) strings(v, name []byte, depth int) {
	if len(v) == 0 || depth > 16 {
		return
	}
	c := cursor{b: v}
	switch v[0] {
	case '"':
		raw, _ := content(v)
		s.str(raw, name, depth)
	case '{':
		c.open('{')
		for first := true; c.more('}', &first); {
			k := c.key()
			x := c.raw()
			if string(k) == "type" || string(k) == "data" && len(x) > 1000 {
				continue
			}
			s.strings(x, k, depth+1)
		}
	case '[':
		c.open('[')
		for first := true; c.more(']', &first); {
			s.strings(c.raw(), name, depth+1)
		}
	}
}

func (s *sayer) str(raw, name []byte, depth int) {
	if len(raw) == 0 || bytes.HasPrefix(raw, []byte("data:image/")) {
		return
	}
	if (raw[0] == '{' || raw[0] == '[') && bytes.IndexByte(raw, '\\') >= 0 {
		inner := appendText(nil, raw)
		if skip(inner, 0) == len(bytes.TrimRight(inner, " \r\n\t")) {
			s.strings(inner, name, depth+1)
			return
		}
	}
	if len(s.Text) > 0 {
		s.Text = append(s.Text, '\n')
	}
	// The name of a value may be all that tells a secret from a word.
	if secretName(name) {
		s.Text = append(append(s.Text, name...), ": "...)
	}
	s.Text = appendText(s.Text, raw)
}

func secretName(name []byte) bool {
	if len(name) < 3 || len(name) > 64 {
		return false
	}
	n := strings.ToLower(string(name))
	for _, word := range [...]string{"pass", "secret", "token", "key", "auth", "cred", "pwd", "cookie"} {
		if strings.Contains(n, word) {
			return true
		}
	}
	return false
}

// appendText appends the value of a JSON string that passed scanString.
func appendText(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		switch e := raw[i+1]; e {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case '"', '\\', '/':
			dst = append(dst, e)
		case 'u':
			// Surrogates come in pairs of escapes.
			n := 6
			if i+12 <= len(raw) && raw[i+6] == '\\' && raw[i+7] == 'u' && raw[i+2]|0x20 == 'd' {
				n = 12
			}
			dst = append(dst, unescape(raw[i:i+n])...)
			raw = raw[i+n:]
			continue
		default:
			dst = append(dst, ' ')
		}
		raw = raw[i+2:]
	}
}

// Everything lists all files with conversations, newest first: those of [List],
// and sub-agents', which lie deeper or beside them under names of their own.
func Everything(dir func(*host.Host) string) ([]File, error) {
	var files []File
	var errs []error
	for _, h := range host.All() {
		found, err := everythingIn(h, filepath.Join(dir(h), h.Sessions.Dir))
		files, errs = append(files, found...), append(errs, err)
	}
	slices.SortStableFunc(files, func(a, b File) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	return files, errors.Join(errs...)
}

func everythingIn(h *host.Host, root string) ([]File, error) {
	var files []File
	var errs []error
	// With a slash at its end a folder that is a link is followed.
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			errs = append(errs, ignoreMissing(err))
			return nil // one folder that is closed to us hides no other
		}
		if e.IsDir() || !strings.HasSuffix(path, ".jsonl") || !strings.HasPrefix(e.Name(), h.Sessions.Prefix) {
			return nil
		}
		rel := filepath.ToSlash(path[len(root)+1:])
		folder, rest, _ := strings.Cut(rel, "/")
		main := strings.Count(rel, "/") <= h.Sessions.Depth && h.Sessions.Match(e.Name())
		if main {
			folder = pathpkg.Dir(rel)
		}
		n := len(files)
		files = appendFile(files, path, h.Name, folder, e)
		if len(files) > n && !main {
			files[n].Agent = true
			if parent, _, below := strings.Cut(rest, "/"); below {
				files[n].Parent = parent
			}
		}
		return nil
	})
	return files, errors.Join(append(errs, err)...)
}

// Name reads the uuid of the object that a line begins with, and its size.
func Name(line []byte) (size int, uuid []byte, ok bool) {
	c := cursor{b: line}
	if !c.open('{') {
		return 0, nil, false
	}
	c.read(str("uuid", &uuid))
	return c.i, uuid, !c.bad
}
