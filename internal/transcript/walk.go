package transcript

import (
	"bytes"
	"context"
	"io"
)

// StepKind is what happened in a step of [Walk].
type StepKind uint8

const (
	RequestStep StepKind = iota + 1 // an answer told its usage
	CallStep                        // a tool was called
	SaidStep                        // the agent said something
	PromptStep                      // somebody wrote to the agent
	HostStep                        // the host wrote in the user's place
	ResultStep                      // a tool answered; only where it was asked for
	CompactStep                     // the context was compacted
	SummaryStep                     // what that left
	AboutStep                       // the file tells about the session
)

// Step is one thing that happened. It is valid until the next one.
type Step struct {
	Kind StepKind
	// Off and End are where its line begins and ends.
	Off, End int64
	Time     int64 // Unix milliseconds, 0 where unknown
	Side     bool  // a sub-agent's
	// Raw is the JSON value: a text, a call's input, a result's content.
	Raw    []byte
	Tool   string
	ID     CallID
	Failed bool
	// Of requests. Key is the same for all rows of one request, here and in
	// copies of the file; 0 where the file does not tell them apart.
	Key   uint64
	Usage Usage
	Hour  int64 // of what was written to the cache, for an hour
	// Of compactions; 0 where the host does not say.
	Trigger           string
	Pre, Post, TookMS int64
	// About the session; empty where the line does not say.
	CWD, Version, Title []byte
	TitleRank           int
}

// Text decodes a step whose value is a string or a list of texts.
func (s *Step) Text() string {
	p := Piece{Raw: s.Raw}
	if s.Kind == ResultStep {
		p.Kind = ResultPiece
	}
	return p.Text()
}

// Tail decodes the end of what a result says, about n bytes of it.
func (s *Step) Tail(n int) string {
	if len(s.Raw) <= n {
		return s.Text()
	}
	p := Piece{Raw: s.Raw, Kind: ResultPiece}
	return p.Tail(n)
}

// Walk reads what happened in a session, for those who read many: of most lines
// only the head, as most of a file is what tools printed. Lines of which nothing
// is read are not checked. waits says whether results are wanted now; while it is
// false they are passed over.
func Walk(ctx context.Context, r io.Reader, h Host, waits func() bool, fn func(*Step)) (bad int, err error) {
	w := walker{waits: waits, fn: fn}
	err = w.walk(ctx, r, 0, h)
	return w.bad, err
}

func (w *walker) walk(ctx context.Context, r io.Reader, off int64, h Host) error {
	lr, done := pooledLineReader(r)
	defer done()
	lr.off = off
	for n := 0; ; n++ {
		if n&255 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		ln, ok := lr.next()
		if !ok {
			return lr.err
		}
		if ln.huge {
			w.bad++
			continue
		}
		b := bytes.TrimPrefix(ln.b, bom)
		for i := space(b, 0); i < len(b); i = space(b, i) {
			c := cursor{b: b, i: i}
			if !c.open('{') {
				w.bad++
				break
			}
			w.base = Step{Off: ln.off, End: ln.off + ln.size}
			whole := true
			switch h {
			case Codex:
				whole = w.codex(&c)
			case Copilot:
				w.copilot(&c)
			default:
				whole = w.claude(&c)
			}
			if !whole {
				if !w.all {
					break // the rest of the line is of no interest
				}
				c = cursor{b: b, i: i}
				c.value()
			}
			if c.bad {
				w.bad++
				break
			}
			i = c.i
		}
	}
}

type walker struct {
	all   bool // read whatever stands behind an entry of no interest, and errors that stand as messages
	waits func() bool
	fn    func(*Step)
	base  Step
	step  Step
	bad   int
	parts []stepPart
	// Codex: the thread and the model in force.
	thread uint64
	model  string
}

// stepPart is a block of a line whose time and owner stand behind it.
type stepPart struct {
	kind   StepKind
	raw    []byte
	tool   []byte
	id     []byte
	failed bool
}

func (w *walker) emit(kind StepKind) {
	w.step.Kind = kind
	w.fn(&w.step)
}

// claude reads one object; false when it left it in the middle.
func (w *walker) claude(c *cursor) bool {
	var typ, subtype, id, request, model, usage, compact, title []byte
	var meta, summary, apiError bool
	s := &w.step
	*s = w.base
	w.parts = w.parts[:0]
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "type":
			typ, _ = c.str()
			if !w.told(typ) {
				return false
			}
		case "subtype":
			subtype, _ = c.str()
		case "isSidechain":
			s.Side = c.isTrue()
		case "isMeta":
			meta = c.isTrue()
		case "isCompactSummary":
			summary = c.isTrue()
		case "isApiErrorMessage":
			apiError = c.isTrue()
		case "timestamp":
			t, _ := c.str()
			s.Time = parseTime(t)
		case "requestId":
			request, _ = c.str()
		case "cwd":
			s.CWD, _ = c.str()
		case "version":
			s.Version, _ = c.str()
		case "customTitle":
			title, _ = c.str()
			s.TitleRank = 4
		case "aiTitle":
			title, _ = c.str()
			s.TitleRank = 3
		case "summary":
			title, _ = c.str()
			s.TitleRank = 2
		case "compactMetadata":
			compact = c.raw()
		case "attachment", "snapshot":
			return false
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
					model, _ = c.str()
				case "usage":
					usage = c.raw()
				case "content":
					if !w.content(c) {
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
	if c.bad {
		return true
	}
	switch string(typ) {
	case "system":
		if string(subtype) == "compact_boundary" {
			w.compactMetadata(compact)
			w.emit(CompactStep)
		}
		return true
	case "user", "assistant":
	default:
		if s.Title = title; len(title) > 0 {
			w.emit(AboutStep)
		}
		return true
	}
	s.TitleRank = 0
	if string(typ) == "assistant" && len(usage) > 0 && usage[0] == '{' && string(model) != "<synthetic>" && !apiError {
		u := cursor{b: usage}
		u.open('{')
		s.Usage, s.Hour = readClaudeUsage(&u)
		s.Usage.Model = w.name(model)
		if len(id) > 0 {
			k := keyOf(id)
			s.Key = k.hi
			if len(request) > 0 {
				r := keyOf(request)
				s.Key = fold(k.hi^r.lo, mix1) | 1
			}
		}
		w.emit(RequestStep)
		s.CWD, s.Version = nil, nil
	}
	for _, p := range w.parts {
		s.Raw, s.Failed = p.raw, p.failed
		switch {
		case p.kind == CallStep:
			s.Tool, s.ID = string(p.tool), CallID{keyOf(p.id)}
			w.emit(CallStep)
		case p.kind == ResultStep:
			s.ID = CallID{keyOf(p.id)}
			w.emit(ResultStep)
		case string(typ) == "assistant":
			if !apiError || w.all {
				w.emit(SaidStep)
			}
		case summary:
			w.emit(SummaryStep)
		case meta:
			w.emit(HostStep)
		default:
			if text, ok := content(p.raw); ok && hostText(text) {
				w.emit(HostStep)
			} else {
				w.emit(PromptStep)
			}
		}
	}
	return true
}

// told reports whether lines of a type may say something.
func (w *walker) told(typ []byte) bool {
	switch string(typ) {
	case "user", "assistant", "system", "custom-title", "ai-title", "summary":
		return true
	}
	return false
}

// content reads a message's blocks; false when the rest is a result that nobody
// waits for.
func (w *walker) content(c *cursor) bool {
	if c.peek() == '"' {
		w.parts = append(w.parts, stepPart{kind: SaidStep, raw: c.raw()})
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
		var p stepPart
		var typ []byte
		for first := true; c.more('}', &first); {
			switch string(c.key()) {
			case "type":
				typ, _ = c.str()
			case "id":
				p.id, _ = c.str()
			case "tool_use_id":
				p.id, _ = c.str()
				if !w.waits() {
					return false
				}
			case "name":
				p.tool, _ = c.str()
			case "is_error":
				p.failed = c.isTrue()
			case "text", "input", "content":
				p.raw = c.raw()
			default:
				c.value()
			}
		}
		switch string(typ) {
		case "text":
			p.kind = SaidStep
		case "tool_use", "server_tool_use":
			p.kind = CallStep
		case "tool_result":
			p.kind = ResultStep
		default:
			continue
		}
		if p.raw != nil {
			w.parts = append(w.parts, p)
		}
	}
	return true
}

// name keeps one string for each of the few names that a file repeats.
func (w *walker) name(raw []byte) string {
	if string(raw) != w.model {
		w.model = unescape(raw)
	}
	return w.model
}

func (w *walker) compactMetadata(meta []byte) {
	var trigger []byte
	readObject(meta, str("trigger", &trigger), count("preTokens", &w.step.Pre), count("postTokens", &w.step.Post), count("durationMs", &w.step.TookMS))
	w.step.Trigger = unescape(trigger)
}

// readClaudeUsage reads message.usage, and what of it was written for an hour.
func readClaudeUsage(c *cursor) (u Usage, hour int64) {
	var creation []byte
	c.read(count("input_tokens", &u.Input), count("cache_creation_input_tokens", &u.CacheCreation), count("cache_read_input_tokens", &u.CacheRead),
		count("output_tokens", &u.Output), raw("cache_creation", &creation))
	readObject(creation, count("ephemeral_1h_input_tokens", &hour))
	return u, min(hour, u.CacheCreation)
}

func (w *walker) codex(c *cursor) bool {
	var typ []byte
	s := &w.step
	*s = w.base
	start := c.i - 1
	seen := false
	for first := true; c.more('}', &first); {
		switch string(c.key()) {
		case "type":
			typ, _ = c.str()
			if t := string(typ); t == "world_state" || t == "reasoning" || t == "function_call_output" && !w.waits() {
				return false
			}
		case "timestamp":
			t, _ := c.str()
			s.Time = parseTime(t)
		case "payload":
			seen = true
			if c.peek() != '{' {
				c.value()
				continue
			}
			at := c.i
			switch string(typ) {
			case "response_item":
				if !w.codexWanted(c.b[at:]) {
					return false
				}
				codexItem(c.raw(), &Piece{Off: s.Off}, w.codexPiece)
			case "event_msg":
				if !bytes.Contains(c.b[at:min(len(c.b), at+40)], []byte(`"token_count"`)) {
					return false
				}
				w.codexCount(c.raw())
			case "compacted":
				s.Raw = codexSummary(c.raw())
				w.emit(CompactStep)
				if len(s.Raw) > 2 {
					w.emit(SummaryStep)
				}
			case "session_meta":
				v := c.raw()
				id, _ := content(field(v, "id"))
				w.thread = keyOf(id).hi
				s.CWD, _ = content(field(v, "cwd"))
				s.Version, _ = content(field(v, "cli_version"))
				w.emit(AboutStep)
			case "turn_context":
				if m, ok := content(field(c.raw(), "model")); ok && len(m) > 0 {
					w.name(m)
				}
			default:
				return false
			}
		default:
			c.value()
		}
	}
	if !c.bad && !seen { // an item of the first versions
		codexItem(c.b[start:c.i], &Piece{Off: s.Off}, w.codexPiece)
	}
	return true
}

// codexWanted looks at the head of an item, where its type stands.
func (w *walker) codexWanted(item []byte) bool {
	head := item[:min(len(item), 60)]
	if bytes.Contains(head, []byte(`"reasoning"`)) {
		return false
	}
	return !bytes.Contains(head, []byte(`_output"`)) || w.waits()
}

func (w *walker) codexPiece(p *Piece) {
	s := &w.step
	s.Raw, s.Tool, s.ID, s.Failed = p.Raw, p.Tool, p.ID, p.Failed
	switch p.Kind {
	case UserPiece:
		w.emit(PromptStep)
	case HostPiece:
		w.emit(HostStep)
	case AgentPiece:
		w.emit(SaidStep)
	case CallPiece:
		w.emit(CallStep)
	case ResultPiece:
		w.emit(ResultStep)
	}
}

// codexCount reads how much the session has used so far, which tells requests
// apart, and what the last one did. Right after a compaction it tells the new
// size only.
func (w *walker) codexCount(payload []byte) {
	s := &w.step
	var totals, latest []byte
	if !readObject(field(payload, "info"), raw("total_token_usage", &totals), raw("last_token_usage", &latest), count("model_context_window", &s.Usage.Window)) {
		return
	}
	last := codexUsage(latest)
	if last == ([4]int64{}) {
		return
	}
	sum := w.thread
	for _, n := range codexUsage(totals) {
		sum = fold(sum^uint64(n), mix3) + mix1
	}
	s.Usage.Input, s.Usage.CacheRead, s.Usage.Output = last[0]-min(last[0], last[1]), min(last[0], last[1]), last[2]
	s.Usage.Model, s.Key = w.model, sum|1
	if s.Usage.Tokens() == 0 {
		s.Post = last[3]
	}
	w.emit(RequestStep)
}

// codexUsage reads input, the cached part of it, output and their sum.
func codexUsage(v []byte) (n [4]int64) {
	readObject(v, count("input_tokens", &n[0]), count("cached_input_tokens", &n[1]), count("output_tokens", &n[2]), count("total_tokens", &n[3]))
	return n
}

// Unescape decodes what stands between the quotes of a JSON string.
func Unescape(raw []byte) string { return unescape(raw) }
