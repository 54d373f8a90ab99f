package transcript

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// EventKind is what happened in a session. Whoever wants to know what a session
// means reads its events: one reader for each format finds them, and only cloning
// and verifying look at the lines themselves.
type EventKind uint8

const (
	About       EventKind = iota + 1 // the file tells about the session: folder, version, title
	UserSaid                         // the user's words; How tells in which way they came
	HostSaid                         // a text that the host wrote in the user's place
	AgentSaid                        // a text of the agent; Failed: an error that the host shows as one
	ToolBegan                        // a tool was called; [host.Recorded] tells plans, questions and sub-agents apart
	ToolEnded                        // a tool answered; Failed and Refused tell how
	Counted                          // an answer of the model told what it used
	Compacted                        // the context was compacted; Raw is the summary, where the line holds it
	Summarised                       // the summary, where it is a line of its own
	Interrupted                      // the user stopped the turn
	TurnEnded                        // the host says that the turn is over
	Attached                         // what the host put before the model: files, reminders, its hooks' words
	Thought                          // readable thinking, for those who want it
	picture                          // a picture, which only the index counts
	shown                            // Codex: a text of the agent on its way to the screen, which [Say] passes on
)

// How is the way in which a user's words came.
type How uint8

const (
	Typed       How = iota // as a prompt, or a slash command
	Queued                 // typed while the agent worked
	Answered               // the answer to a question that a tool asked
	Rejected               // said while refusing a tool
	WithCompact            // typed behind /compact, for the summary; may be empty
	Aimed                  // as the goal that the host pursues turn after turn
	Approved               // a plan of the agent's, by approving it
)

// Event is one thing that happened. It is valid until the next one.
type Event struct {
	Kind EventKind
	How  How
	// Off and End are where its line begins and ends.
	Off, End int64
	Time     int64 // Unix milliseconds, 0 where unknown
	Side     bool  // a sub-agent's
	// Raw is the JSON value: a text, a call's input, a result's content. Nothing
	// of it is decoded yet.
	Raw []byte
	// Tool and ID are of calls; a result, and what a user said with one, has the
	// ID of its call.
	Tool string
	ID   CallID
	// Failed is a result that the host itself calls an error; Refused one of a
	// tool that was not allowed to run.
	Failed, Refused bool
	// Of requests. Key is the same for all rows of one request, here and in
	// copies of the file; 0 where the file does not tell them apart.
	Key   uint64
	Usage Usage
	Hour  int64 // of what was written to the cache, for an hour
	// Of compactions; 0 where the host does not say.
	Trigger           string
	Pre, Post, TookMS int64
	// Keeps is what stays in the context beside the summary: the messages, or their ids.
	Keeps []byte
	// About the session and the line; empty where the line does not say.
	Version, UUID, Session []byte
	TitleRank              int
	cwd, title             []byte // raw, see [Event.CWD]
}

// Text decodes an event whose value is a string; of a list, its texts.
func (e *Event) Text() string {
	if s, ok := content(e.Raw); ok {
		return unescape(s)
	}
	var b []byte
	e.Strings(func(_ string, inner Inner) {
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = append(b, inner.Text()...)
	})
	return string(b)
}

// Kept is what can be read of what a compaction leaves in the context beside the summary,
// each text on one line.
func (e *Event) Kept() string {
	var b []byte
	Texts(e.Keeps, func(inner Inner) { b = append(append(b, message.OneLine(inner.Text())...), '\n') })
	return string(b)
}

// CWD and Title are what the line tells about the session, "" where it does not.
func (e *Event) CWD() string   { return unescape(e.cwd) }
func (e *Event) Title() string { return unescape(e.title) }

// Inner is the inside of a JSON string, with its escapes. It always reaches from quote to
// quote, so that it never ends in the middle of an escape. To get a part, decode it and
// cut the text.
type Inner struct{ raw []byte }

// Text is what the string says.
func (i Inner) Text() string { return unescape(i.raw) }

// Append adds what the string says.
func (i Inner) Append(to []byte) []byte { return appendText(to, i.raw) }

// Escaped is the inside as it stands in the file, for those who look for words in it.
func (i Inner) Escaped() []byte { return i.raw }

// Strings calls fn for each string inside the value that the model read, with
// the key it stands under. Keys are not passed; of blocks with a type, only what they say.
func (e *Event) Strings(fn func(key string, inner Inner)) {
	if s, ok := content(e.Raw); ok {
		fn("", Inner{s})
		return
	}
	eachString(e.Raw, e.Kind == ToolEnded || e.Kind == Thought, fn)
}

// Texts calls fn for each string in a JSON value.
func Texts(v []byte, fn func(inner Inner)) {
	eachString(v, true, func(_ string, inner Inner) { fn(inner) })
}

func eachString(v []byte, blocks bool, fn func(string, Inner)) {
	walkStrings(v, func(key []byte, start, end int) {
		// An image's data, a block's own marks: no text.
		if blocks && (string(key) == "type" || string(key) == "data" || string(key) == "media_type" || string(key) == "image_url") {
			return
		}
		fn(string(key), Inner{v[start:end]})
	})
}

// Tail decodes the end of what a result says, about n bytes of it.
func (e *Event) Tail(n int) string {
	if len(e.Raw) <= n {
		return e.Text()
	}
	var parts []string
	e.Strings(func(_ string, whole Inner) {
		inner := whole.raw
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

// Want is what a reader of events asks for beside the main thread's.
type Want struct {
	// Agents: what sub-agents did and used, too.
	Agents bool
	// Attached: what the host put before the model, too.
	Attached bool
	// Thoughts: what the agent thought, where it can be read, too.
	Thoughts bool
	// Results says whether somebody waits for a tool's answer at this moment. While
	// it is false answers are passed over, and of most lines only the head is taken apart,
	// as most of a file is what tools printed. nil asks for all of them.
	Results func() bool
}

// Events reads what happened from a stream of whole lines that begins at off in
// its file. Lines that cannot be read are passed over and counted.
func Events(ctx context.Context, r io.Reader, off int64, h Host, want Want, fn func(*Event)) (bad int, err error) {
	s := stream{h: h, want: want, fn: fn}
	s.r.want = &s.want
	s.r.bounded = off > 0 // a part begins behind a boundary
	lines, done := store.ReadLines(interruptible{ctx, r}, off)
	defer done()
	defer s.end()
	for ln, ok := lines.Next(); ok; ln, ok = lines.Next() {
		if !s.r.objects(ln, h, func(int, int) { s.emit() }) {
			bad++
		}
	}
	return bad, lines.Err
}

// maxPart bounds what is read of a session's file: three times the longest slice
// that was ever seen.
const maxPart = 64 << 20

// EventsFrom reads the main thread's events of a session's file from an offset on,
// which is the start of a line. Of a longer part only the end is read.
func EventsFrom(ctx context.Context, path string, from int64, fn func(*Event)) error {
	return eventsIn(ctx, path, from, math.MaxInt64, maxPart, Want{}, fn)
}

// EventsIn reads those of the lines that begin at from or later and end before to.
func EventsIn(ctx context.Context, path string, from, to int64, want Want, fn func(*Event)) error {
	return eventsIn(ctx, path, from, to, math.MaxInt64, want, fn)
}

// AllEvents reads the main thread's events of a whole file, however long that takes.
func AllEvents(ctx context.Context, path string, fn func(*Event)) error {
	return EventsIn(ctx, path, 0, math.MaxInt64, Want{}, fn)
}

func eventsIn(ctx context.Context, path string, from, to, most int64, want Want, fn func(*Event)) error {
	f, size, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h, err := hostIn(f)
	if err != nil {
		return err
	}
	size = min(size, to)
	if from < 0 || from > size {
		from = 0 // another file than the one we knew
	}
	if size-from > most {
		from = size - most
		lines, done := store.ReadLines(io.NewSectionReader(f, from, size-from), from)
		lines.Next() // a part of a line
		from = lines.Off
		done()
	}
	_, err = Events(ctx, io.NewSectionReader(f, from, size-from), from, h, want, fn)
	return err
}

// said is what a text block of the record is.
func (r *record) said(p *piece) EventKind {
	raw, _ := content(p.raw)
	switch {
	case !r.user && r.has(Synthetic) && host.NoAnswer(unescape(raw)):
		return HostSaid
	case !r.user:
		return AgentSaid
	case r.has(Summary):
		return Summarised
	case r.has(Meta):
		return HostSaid
	}
	if goal := goalSet(raw); goal != nil {
		p.how, p.raw = Aimed, goal
		return UserSaid
	}
	if _, ok := compactArgs(p.raw); ok {
		return UserSaid
	}
	text := unescape(raw)
	if host.InterruptedByUser(text) {
		return Interrupted
	}
	own := host.Typed(text)
	if own == "" && strings.TrimSpace(text) != "" {
		return HostSaid
	}
	if plan, _ := content(r.plan); len(plan) > 0 {
		p.how = Approved
		if before, _, more := strings.Cut(own, unescape(plan)+"\n\n"); more { // where the rest stands, says the host
			own = before + unescape(plan)
		}
	}
	if own != text {
		p.raw = appendString(nil, own)
	}
	return UserSaid
}

// goalSet is the goal in the text by which Codex tells its model that the user has set
// one. The text that Codex writes at the beginning of each turn of a goal is another.
func goalSet(raw []byte) []byte {
	rest, ok := bytes.CutPrefix(raw, []byte(`<codex_internal_context source=\"user_goal\">`))
	if !ok {
		return nil
	}
	_, goal, set := strings.Cut(unescape(rest), `: "`)
	if end := strings.LastIndex(goal, "\"\n</"); set && end > 0 {
		return appendString(nil, goal[:end])
	}
	return nil
}

// stream turns records into events.
type stream struct {
	h    Host
	want Want
	fn   func(*Event)
	r    record
	// Codex: the thread, what may be its summariser's words, what stands in the user's
	// place and may be the host's, and whether the file tells what was typed.
	thread  uint64
	held    []Event
	unsure  []Event
	typings bool
	model   string // the newest name: a file repeats few
	asking  CallID // the newest question to the user
	planned CallID // the newest plan that was put before the user, and what its call tells of it
	plan    []byte
	// Claude Code: what was typed meanwhile and waits, what was passed on without a
	// message of its own, and the newest event of the main thread.
	waiting, passed []queued
	dequeued        bool // a message of the queue's follows
	newest          struct{ off, end int64 }
}

func (s *stream) end() {
	s.typings = false // the line that tells it may still be to come
	s.release()
	s.settle(0)
	for i := range s.waiting {
		s.tell(&s.waiting[i])
	}
}

func (s *stream) emit() {
	r := &s.r
	if len(r.model) > 0 && string(r.model) != s.model {
		s.model = unescape(r.model)
	}
	if r.Side && !s.want.Agents {
		return
	}
	if len(r.operation) > 0 && string(r.typ) == "queue-operation" {
		s.queue()
		return
	}
	if !r.Side && len(r.parts) > 0 {
		s.settle(r.Time)
	}
	for i := range r.parts {
		p := &r.parts[i]
		r.Raw, r.Tool, r.ID, r.Failed, r.Refused, r.How = p.raw, "", CallID{}, p.failed, false, p.how
		if r.Kind = p.kind; r.Kind == AgentSaid {
			r.Kind = r.said(p)
			r.Failed = r.has(APIError)
			r.Raw, r.How = p.raw, p.how
		}
		switch r.Kind {
		case picture:
			continue
		case Thought:
			if !s.want.Thoughts || p.raw == nil {
				continue
			}
		case AgentSaid, UserSaid, HostSaid, Summarised, ToolBegan:
			if p.raw == nil {
				continue
			}
		}
		switch r.Kind {
		case Counted:
			if s.h == Codex && !s.codexCount() {
				continue
			}
			if chained(s.h) || r.Usage.Model == "" {
				r.Usage.Model = s.model
			}
		case About:
			if s.h == Codex {
				s.thread = keyOf(r.Session).hi
			}
		case ToolBegan:
			r.Raw, r.Tool, r.ID = s.opened(p.raw), string(p.tool), CallID{keyOf(p.id)}
			switch r.Tool {
			case "AskUserQuestion", "request_user_input", "ask_user", "question":
				s.asking = r.ID
			case "ExitPlanMode":
				s.planned, s.plan = r.ID, bytes.Clone(field(r.Raw, "plan"))
			case "exit_plan_mode": // Gemini CLI has it in a file
				s.planned, s.plan = r.ID, bytes.Clone(field(r.Raw, "plan_filename"))
			}
			if p.served && r.waits() {
				s.pass()
				r.Kind, r.Raw, r.Tool = ToolEnded, []byte(`""`), "" // its answer is never written
			}
		case ToolEnded:
			if p.raw == nil { // a tool that says nothing, or what only the host reads
				p.raw = []byte(`""`)
			}
			r.Raw, r.ID = s.opened(p.raw), CallID{keyOf(p.id)}
			s.ended()
			continue
		case UserSaid:
			if args, ok := compactArgs(p.raw); ok {
				r.How, r.Raw = WithCompact, args
			}
			if r.How == Queued && s.again(p.raw) {
				continue
			}
			if r.How == Typed && len(s.waiting) > 0 {
				s.arrived(p.raw)
			}
		case Compacted:
			s.settle(0)
			for i := range s.waiting {
				if q := &s.waiting[i]; r.Time == 0 || q.at <= r.Time { // old lines may be written once more
					s.tell(q)
				}
			}
		}
		s.pass()
	}
	if !r.Side && len(r.parts) > 0 {
		s.newest.off, s.newest.end = r.Off, r.End
	}
}

// opened decodes a string that holds a JSON object, as Codex writes arguments
// and the older ones of its outputs.
func (s *stream) opened(v []byte) []byte {
	text, ok := content(v)
	if s.h != Codex || !ok || len(text) == 0 || text[0] != '{' {
		return v
	}
	if inner := []byte(unescape(text)); skip(inner, 0) == len(bytes.TrimRight(inner, " \n")) {
		return inner
	}
	return v
}

// ended passes on a tool's answer, and what the user said with it: to a question,
// while refusing the tool, or by approving a plan.
func (s *stream) ended() {
	e := &s.r
	how := Rejected
	words, refused := s.refusal()
	e.Refused = refused
	if e.ID == s.asking && s.asking != (CallID{}) {
		// What a host says where its questions were refused is its own.
		words, s.asking = "", CallID{}
		if !e.Failed {
			words, how = s.answers(), Answered
		}
	}
	if e.ID == s.planned && s.planned != (CallID{}) && !e.Failed {
		plan, ok := content(field(e.result, "plan")) // as the user may have changed it
		if !ok {
			plan, _ = content(s.plan)
		}
		words, how = unescape(plan), Approved
	}
	s.pass()
	if words == "" {
		return
	}
	e.Kind, e.How, e.Failed, e.Refused = UserSaid, how, false, false
	e.Raw = appendString(nil, words)
	s.pass()
}

// pass hands an event on. In a Codex rollout the summary stands right before its
// compaction and looks like an answer of the agent. So an answer is held back until
// something other than its usage follows.
func (s *stream) pass() {
	e := s.r.Event
	switch {
	case s.h != Codex:
		s.fn(&s.r.Event)
		return
	case e.Kind == UserSaid && e.How == Typed && !s.r.typing, e.Kind == HostSaid && len(s.unsure) > 0:
		if len(s.held) > 0 {
			s.release()
		}
		e.Raw, e.cwd, e.Version, e.UUID, e.Session = bytes.Clone(e.Raw), nil, nil, nil, nil
		s.unsure = append(s.unsure, e)
		return
	case e.Kind == UserSaid && s.r.typing:
		s.typings = true
		if n := len(s.unsure); n > 0 { // the message that it follows says the same
			off := s.unsure[n-1].Off
			s.unsure = slices.DeleteFunc(s.unsure, func(o Event) bool { return o.Off == off && o.Kind == UserSaid })
		}
		s.release()
		s.fn(&s.r.Event)
		return
	case e.Kind == AgentSaid:
		s.release()
	case e.Kind == Counted && len(s.held) > 0:
	case e.Kind == Compacted && len(s.held) > 0:
		if said := strings.TrimSpace(s.held[0].Text()); said != "" && strings.Contains(e.Text(), said) {
			s.held = s.held[1:]
		}
		fallthrough
	default:
		s.release()
		s.fn(&s.r.Event)
		return
	}
	e.Raw, e.cwd, e.Version, e.UUID, e.Session = bytes.Clone(e.Raw), nil, nil, nil, nil
	s.held = append(s.held, e)
}

func (s *stream) release() {
	for i := range s.held {
		s.fn(&s.held[i])
	}
	// Where the file tells what was typed, the rest is the host's.
	for i := range s.unsure {
		if s.typings {
			s.unsure[i].Kind = HostSaid
		}
		s.fn(&s.unsure[i])
	}
	s.held, s.unsure = s.held[:0], s.unsure[:0]
}

// compactArgs is what was typed behind /compact, as Claude Code writes a command
// down.
func compactArgs(raw []byte) (args []byte, ok bool) {
	text, _ := content(raw)
	if !bytes.HasPrefix(text, []byte("<command-")) || !bytes.Contains(text, []byte("<command-name>/compact<")) {
		return nil, false
	}
	_, rest, _ := strings.Cut(unescape(text), "<command-args>")
	said, _, _ := strings.Cut(rest, "</command-args>")
	return appendString(nil, said), true
}

// refusal reports whether a tool was kept from running, and what the user said
// with that.
func (s *stream) refusal() (words string, refused bool) {
	e := &s.r
	head := e.Raw[:min(len(e.Raw), 200)]
	if s.h == Codex {
		what, _, rejected := bytes.Cut(head, []byte(" rejected by user"))
		return "", rejected && (string(what) == `"exec command` || string(what) == `"patch`)
	}
	for _, mark := range [...]string{"The user doesn't want to ", "Permission to use ", "hook error: ", "The user rejected this tool call."} {
		refused = refused || e.Failed && bytes.Contains(head, []byte(mark))
	}
	if e.Failed && e.ID == s.planned {
		if said, ok := strings.CutPrefix(e.Text(), geminiRefused); ok {
			said, _, _ = strings.Cut(said, "\n\nThe plan is stored at: ")
			words, _ = strings.CutPrefix(said, "User feedback: ")
			if words == said { // none
				words = ""
			}
			return strings.TrimSpace(words), true
		}
	}
	if e.Failed && e.words { // newer versions say whose they are
		refused = true
		words = e.Text()
	}
	if !refused {
		return "", false
	}
	if _, said, ok := strings.Cut(e.Text(), "the user said:\n"); ok {
		words = said
	} else if _, said, ok := strings.Cut(e.Text(), "tool call. User feedback: "); ok && s.h == Copilot {
		words = said
	} else if strings.HasPrefix(words, "The user doesn't want to ") {
		words = ""
	}
	words, _, _ = strings.Cut(words, "\n\nNote: The user's next message may contain")
	return strings.TrimSpace(words), true
}

// geminiRefused begins what Gemini CLI 0.61 tells its model of a plan that was refused.
const geminiRefused = "Plan rejected. "

// answers are the user's to the questions of a tool, a line each.
func (s *stream) answers() string {
	e := &s.r.Event
	if fields := field(s.r.result, "answers"); len(fields) > 0 { // Claude Code: {"question":"answer"}
		var out []string
		Texts(fields, func(inner Inner) { out = append(out, inner.Text()) })
		return strings.Join(out, "\n")
	}
	text := e.Text()
	if len(e.Raw) > 0 && e.Raw[0] == '{' { // Codex: {"answers":{"id":{"answers":["…"]}}}
		return text
	}
	for _, mark := range [...]string{"User responded: ", "User selected: "} { // Copilot
		if said, ok := strings.CutPrefix(text, mark); ok {
			return said
		}
	}
	var out []string
	// "question"="answer", "question"="answer". You can now continue …
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, `"="`)
		if !ok {
			break
		}
		answer, tail, more := strings.Cut(after, `", "`)
		if !more { // what the host says behind it differs from version to version
			if i := strings.LastIndex(after, `". `); i >= 0 {
				after = after[:i]
			}
			answer = strings.TrimSuffix(after, `"`)
		}
		out = append(out, answer)
		rest = tail
	}
	if len(out) == 0 {
		return text
	}
	return strings.Join(out, "\n")
}
