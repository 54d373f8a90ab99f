package transcript

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// PieceKind is what a piece of the conversation is.
type PieceKind uint8

const (
	UserPiece     PieceKind = iota + 1 // a text that stands as the user's
	HostPiece                          // a text that the host wrote in the user's place
	SummaryPiece                       // what an earlier compaction left
	AgentPiece                         // a text of the agent
	CallPiece                          // a tool's input
	ResultPiece                        // a tool's output
	BoundaryPiece                      // a compaction; its text is the summary, where the line holds one
)

// Piece is one text, call or result of the main thread. It is valid until the
// next one is asked for.
type Piece struct {
	Kind PieceKind
	// Off is where its line begins, Time when it was written, 0 where unknown.
	Off, Time int64
	// Raw is the JSON value: a string, or a call's input, or a result's
	// content. Nothing of it is decoded yet.
	Raw []byte
	// Tool and ID are of calls; a result has the ID of its call.
	Tool string
	ID   CallID
	// Failed is a result that the host itself calls an error.
	Failed bool
}

// Text decodes a piece whose value is a string; of a list, its text blocks.
func (p *Piece) Text() string {
	if s, ok := content(p.Raw); ok {
		return unescape(s)
	}
	var b []byte
	p.Strings(func(_ string, inner []byte) {
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = append(b, unescape(inner)...)
	})
	return string(b)
}

// Strings calls fn for each string inside the value that the model read, with
// the key it stands under and its inside as it stands in the file, escapes and
// all. Keys are not passed; of blocks with a type, only what they say.
func (p *Piece) Strings(fn func(key string, inner []byte)) {
	if s, ok := content(p.Raw); ok {
		fn("", s)
		return
	}
	eachString(p.Raw, p.Kind == ResultPiece, fn)
}

func eachString(v []byte, blocks bool, fn func(string, []byte)) {
	var key []byte
	var stack []byte
	for i := 0; i < len(v); {
		switch v[i] {
		case '{', '[':
			stack = append(stack, v[i])
			i++
		case '}', ']':
			stack = stack[:max(0, len(stack)-1)]
			i++
		case '"':
			end := scanString(v, i+1)
			if end < 0 {
				return
			}
			inner := v[i+1 : end]
			i = space(v, end+1)
			if len(stack) > 0 && stack[len(stack)-1] == '{' && i < len(v) && v[i] == ':' {
				key = inner
				i++
				continue
			}
			// An image's data, a block's own marks: no text.
			if blocks && (string(key) == "type" || string(key) == "data" || string(key) == "media_type" || string(key) == "image_url") {
				continue
			}
			fn(string(key), inner)
		default:
			i++
		}
	}
}

// Pieces reads the main thread's texts, calls and results from a stream of
// whole lines that begins at off in its file. Lines that cannot be read are
// passed over, as everywhere; sub-agents' lines do not count.
func Pieces(ctx context.Context, r io.Reader, off int64, h Host, fn func(*Piece)) error {
	lr, done := pooledLineReader(r)
	defer done()
	lr.off = off
	if h == Codex {
		held := &summariser{fn: fn}
		fn = held.take
		defer held.flush()
	}
	for n := 0; ; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ln, ok := lr.next()
		if !ok {
			return lr.err
		}
		b := bytes.TrimPrefix(ln.b, bom)
		for i := space(b, 0); i < len(b); i = space(b, i) {
			c := cursor{b: b, i: i}
			if !c.open('{') {
				break
			}
			p := Piece{Off: ln.off}
			piecesAs(&c, &p, h, fn)
			if c.bad {
				break
			}
			i = c.i
		}
	}
}

func claudePieces(c *cursor, p *Piece, fn func(*Piece)) {
	var typ, subtype, at, message []byte
	var side, meta, summary bool
	c.read(str("type", &typ), str("subtype", &subtype), str("timestamp", &at), raw("message", &message),
		flag("isSidechain", &side), flag("isMeta", &meta), flag("isCompactSummary", &summary))
	p.Time = parseTime(at)
	if !c.bad && !side && string(subtype) == "compact_boundary" {
		p.Kind, p.Raw = BoundaryPiece, []byte(`""`)
		fn(p)
		return
	}
	if c.bad || side || message == nil {
		return
	}
	var text PieceKind
	switch string(typ) {
	case "assistant":
		text = AgentPiece
	case "user":
		text = UserPiece
		if summary {
			text = SummaryPiece
		} else if meta {
			text = HostPiece
		}
	default:
		return
	}
	m := cursor{b: message}
	if !m.open('{') {
		return
	}
	for first := true; m.more('}', &first); {
		if string(m.key()) != "content" {
			m.value()
			continue
		}
		if m.peek() == '"' {
			p.Kind, p.Raw = text, m.raw()
			p.emit(fn)
			continue
		}
		if !m.open('[') {
			m.value()
			continue
		}
		for first := true; m.more(']', &first); {
			if !m.open('{') {
				m.value()
				continue
			}
			claudeBlock(&m, p, text, fn)
		}
	}
}

// emit passes a piece on; a text that only a host can have written is a host's.
func (p *Piece) emit(fn func(*Piece)) {
	if p.Kind == UserPiece {
		if s, ok := content(p.Raw); ok && hostText(s) {
			p.Kind = HostPiece
		}
	}
	fn(p)
}

// hostText reports what hosts put into the user's place. A slash command counts
// as the user's: what follows it is.
func hostText(raw []byte) bool {
	return !bytes.HasPrefix(raw, []byte("<command-")) && commandText(raw)
}

func claudeBlock(m *cursor, p *Piece, text PieceKind, fn func(*Piece)) {
	var typ, id, use, name, value []byte
	p.Failed = false
	m.read(str("type", &typ), str("id", &id), str("tool_use_id", &use), str("name", &name), flag("is_error", &p.Failed),
		raw("text", &value), raw("input", &value), raw("content", &value))
	if m.bad || value == nil {
		return
	}
	p.Raw, p.Tool, p.ID = value, "", CallID{}
	switch string(typ) {
	case "text":
		p.Kind = text
	case "tool_use", "server_tool_use":
		p.Kind, p.Tool, p.ID = CallPiece, unescape(name), CallID{keyOf(id)}
	case "tool_result":
		p.Kind, p.ID = ResultPiece, CallID{keyOf(use)}
	default:
		return
	}
	p.emit(fn)
}

func codexPieces(c *cursor, p *Piece, fn func(*Piece)) {
	var typ, at, payload []byte
	line := c.b[c.i-1:]
	c.read(str("type", &typ), str("timestamp", &at), raw("payload", &payload))
	p.Time = parseTime(at)
	switch {
	case c.bad:
		return
	case string(typ) == "compacted":
		p.Kind, p.Raw = BoundaryPiece, codexSummary(payload)
		fn(p)
		return
	case string(typ) == "response_item":
	case payload == nil:
		payload = line // the first versions wrote items bare
	default:
		return
	}
	codexItem(payload, p, fn)
}

func codexItem(item []byte, p *Piece, fn func(*Piece)) {
	var typ, role, call, name, value []byte
	whole := readObject(item, str("type", &typ), str("role", &role), str("call_id", &call), str("name", &name),
		raw("content", &value), raw("arguments", &value), raw("input", &value), raw("output", &value), raw("action", &value))
	if !whole || value == nil {
		return
	}
	p.Raw, p.Tool, p.ID = value, unescape(name), CallID{keyOf(call)}
	switch string(typ) {
	case "message":
		codexMessage(role, value, p, fn)
	case "function_call", "custom_tool_call", "local_shell_call":
		p.Kind, p.Raw = CallPiece, opened(value)
		p.Tool = cmp.Or(p.Tool, "local_shell")
		fn(p)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		p.Kind, p.Raw = ResultPiece, opened(value)
		fn(p)
	}
}

// opened decodes a string that holds a JSON object, as Codex writes arguments
// and the older ones of its outputs.
func opened(v []byte) []byte {
	s, ok := content(v)
	if !ok || len(s) == 0 || s[0] != '{' {
		return v
	}
	if inner := []byte(unescape(s)); skip(inner, 0) == len(bytes.TrimRight(inner, " \n")) {
		return inner
	}
	return v
}

func codexMessage(role, value []byte, p *Piece, fn func(*Piece)) {
	switch string(role) {
	case "user":
		p.Kind = UserPiece
	case "assistant":
		p.Kind = AgentPiece
	default:
		return
	}
	kind := p.Kind
	c := cursor{b: value}
	if !c.open('[') {
		p.emit(fn)
		return
	}
	for first := true; c.more(']', &first); {
		if text, ok := textBlock(c.raw(), Codex); ok && text != nil {
			// The block's text with its quotes.
			p.Kind, p.Raw = kind, quoted(value, text)
			p.emit(fn)
		}
	}
}

// quoted widens the inside of a string to the string itself.
func quoted(whole, inner []byte) []byte {
	at := offsetIn(whole, inner)
	return whole[at-1 : at+len(inner)+1]
}

// Tail decodes the end of what a result says, about n bytes of it.
func (p *Piece) Tail(n int) string {
	var parts []string
	p.Strings(func(_ string, inner []byte) {
		if cut := len(inner) - n; cut > 0 {
			// Not inside an escape: after a line end, where there is one.
			if i := bytes.Index(inner[cut:], []byte(`\n`)); i >= 0 {
				cut += i + 2
				inner = inner[cut:]
			} else {
				inner = nil
			}
		}
		if len(inner) > 0 && scanString(append(slices.Clip(inner), '"'), 0) == len(inner) {
			parts = append(parts, unescape(inner))
		}
	})
	return strings.Join(parts, "\n")
}

// summariser leaves out what Codex's summariser said: it stands in the rollout
// like an answer of the agent, right before the compaction that it made.
type summariser struct {
	fn   func(*Piece)
	held *Piece
}

func (s *summariser) take(p *Piece) {
	if s.held != nil && p.Kind == BoundaryPiece {
		if said := strings.TrimSpace(s.held.Text()); said != "" && strings.Contains(p.Text(), said) {
			s.held = nil
		}
	}
	s.flush()
	if p.Kind == AgentPiece {
		held := *p
		held.Raw = bytes.Clone(p.Raw)
		s.held = &held
		return
	}
	s.fn(p)
}

func (s *summariser) flush() {
	if s.held != nil {
		s.fn(s.held)
		s.held = nil
	}
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
		var p Piece
		codexItem(c.raw(), &p, func(p *Piece) {
			if p.Kind == UserPiece && bytes.HasPrefix(p.Raw, []byte(`"Another language model`)) {
				summary = p.Raw
			}
		})
	}
	return summary
}

// maxPart bounds what is read of a session's file: three times the longest slice
// that was ever seen.
const maxPart = 64 << 20

// ReadPart reads the pieces of a session's file from an offset on, which is the
// start of a line. Of a longer part only the end is read.
func ReadPart(ctx context.Context, path string, from int64, fn func(*Piece)) error {
	return readPart(ctx, path, from, maxPart, fn)
}

// ReadWhole reads all pieces of a session's file, however long that takes.
func ReadWhole(ctx context.Context, path string, fn func(*Piece)) error {
	return readPart(ctx, path, 0, math.MaxInt64, fn)
}

func readPart(ctx context.Context, path string, from, most int64, fn func(*Piece)) error {
	f, size, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, min(size, 64<<10))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	h, ok := detect(head[:n])
	if !ok {
		return ErrUnknown
	}
	if from < 0 || from > size {
		from = 0 // another file than the one we knew
	}
	r := io.Reader(io.NewSectionReader(f, from, size-from))
	if size-from > most {
		from = size - most
		lr := newLineReader(io.NewSectionReader(f, from, size-from))
		lr.next() // a part of a line
		from = lr.off + from
		r = io.NewSectionReader(f, from, size-from)
	}
	return Pieces(ctx, r, from, h, fn)
}
