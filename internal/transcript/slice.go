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
	if h == Codex {
		held := &summariser{fn: fn}
		fn = held.take
		defer held.flush()
	}
	var p Piece // one for all: nobody keeps it
	w := walker{all: true, waits: func() bool { return true }, fn: func(s *Step) {
		if p = s.piece(h); p.Kind != 0 {
			fn(&p)
		}
	}}
	return w.walk(ctx, r, off, h)
}

// piece is what a step of the main thread says; without a kind, nothing.
func (s *Step) piece(h Host) Piece {
	p := Piece{Off: s.Off, Time: s.Time, Raw: s.Raw}
	if s.Side {
		return p
	}
	switch s.Kind {
	case PromptStep:
		p.Kind = UserPiece
	case HostStep:
		p.Kind = HostPiece
	case SaidStep:
		p.Kind = AgentPiece
	case CallStep:
		p.Kind, p.Tool, p.ID = CallPiece, s.Tool, s.ID
	case ResultStep:
		p.Kind, p.ID, p.Failed = ResultPiece, s.ID, s.Failed
	case CompactStep:
		if p.Kind = BoundaryPiece; p.Raw == nil {
			p.Raw = []byte(`""`)
		}
	case SummaryStep:
		if h == Claude { // elsewhere it is the boundary's text
			p.Kind = SummaryPiece
		}
	}
	return p
}

// hostText reports what hosts put into the user's place. A slash command counts
// as the user's: what follows it is.
func hostText(raw []byte) bool {
	return !bytes.HasPrefix(raw, []byte("<command-")) && commandText(raw)
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

// emit passes a piece on; a text that only a host can have written is a host's.
func (p *Piece) emit(fn func(*Piece)) {
	if p.Kind == UserPiece {
		if s, ok := content(p.Raw); ok && hostText(s) {
			p.Kind = HostPiece
		}
	}
	fn(p)
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
