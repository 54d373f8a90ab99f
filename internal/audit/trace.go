package audit

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// trace is what one pass leaves of a file. It holds no text of the conversation
// but its title, and the names that compactions lost with the line they were used in.
type trace struct {
	head
	requests []request
	marks    []mark
	// packed is all of it as the cache holds it. Months of sessions have millions
	// of requests: they are unpacked while they are looked at, one after the other.
	packed []byte
}

// head is the part of a trace that is small; it is stored as JSON.
type head struct {
	CWD        string   `json:"cwd,omitempty"`
	Title      string   `json:"title,omitempty"`
	Version    string   `json:"version,omitempty"`
	Models     []string `json:"models,omitempty"`
	Window     int64    `json:"window,omitempty"` // as the host told it last
	Turns      int      `json:"turns,omitempty"`
	Actions    int      `json:"actions,omitempty"`
	Unreadable int      `json:"unreadable,omitempty"`
	First      int64    `json:"first,omitempty"`
	Last       int64    `json:"last,omitempty"`
	Compacted  []event  `json:"compacted,omitempty"`
	Failed     []failed `json:"failed,omitempty"`
}

type request struct {
	key    uint64 // 0 where it cannot be told from others
	time   int64
	model  int
	side   bool
	tokens Tokens
}

// mark is a turn's begin or a boundary, before the request with the number at.
type mark struct {
	at, actions int
	time        int64
	turn        bool
	signals     compact.Signals
}

// event is a compaction.
type event struct {
	At      int    `json:"at"` // requests before it
	Actions int    `json:"actions"`
	Time    int64  `json:"time"`
	Trigger string `json:"trigger,omitempty"`
	Pre     int64  `json:"pre,omitempty"`
	Post    int64  `json:"post,omitempty"`
	TookMS  int64  `json:"took,omitempty"`
	GapMS   int64  `json:"gap,omitempty"` // since the line before it
	MidWork bool   `json:"mid,omitempty"`
	Summary int    `json:"summary,omitempty"` // characters, 0 where it cannot be read
	Loss    *Loss  `json:"loss,omitempty"`

	off, end int64
	keeps    map[string]bool // ids of messages that stay in the context
}

type failed struct {
	Time int64  `json:"time"`
	Said string `json:"said"`
}

type tracer struct {
	trace
	h       transcript.Host
	file    io.ReaderAt
	set     compact.Settings
	words   *compact.Marks
	thread  compact.Thread
	seen    map[uint64]int // request → its row
	models  map[string]int
	waiting map[transcript.CallID]host.Deed
	created map[transcript.CallID][]byte
	agents  map[transcript.CallID]int // sub-agents → the marks before them
	said    []byte                    // the agent's last text of the turn
	saidAt  mark
	over    mark // where the turn has ended by itself, with the signal; without it where it has not
	last    transcript.EventKind
	clock   int64
	title   int  // rank of the title
	asked   bool // /compact was typed and has not answered
}

// read makes the trace of a file, with what its compactions lost where that is asked.
func read(ctx context.Context, file transcript.File, set compact.Settings, words *compact.Marks, lost bool) (*trace, error) {
	f, err := os.Open(file.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &tracer{
		h: file.Host, file: f, set: set, words: words, seen: map[uint64]int{}, models: map[string]int{},
		waiting: map[transcript.CallID]host.Deed{}, created: map[transcript.CallID][]byte{}, agents: map[transcript.CallID]int{},
	}
	r := io.NewSectionReader(f, 0, file.Size)
	t.Unreadable, err = transcript.Events(ctx, r, 0, file.Host, transcript.Want{Agents: true, Results: t.waits}, t.event)
	if err != nil {
		return nil, err
	}
	t.turnEnds()
	if lost && len(t.Compacted) > 0 && !file.Agent {
		if err := t.losses(ctx, f, file); err != nil {
			return nil, err
		}
	}
	return &t.trace, nil
}

// nothing is true of a file of which no line is a session's, though it has lines.
func (t *trace) nothing() bool {
	return t.Unreadable > 0 && t.First == 0 && t.Turns == 0 && len(t.Models) == 0
}

// waits: most results say nothing that is asked here.
func (t *tracer) waits() bool { return len(t.waiting)+len(t.created) > 0 }

func (t *tracer) event(s *transcript.Event) {
	if s.Time > 0 {
		t.clock = s.Time
		if t.First == 0 {
			t.First = s.Time
		}
		t.Last = max(t.Last, s.Time)
	}
	if t.CWD == "" {
		t.CWD = s.CWD()
	}
	if len(s.Version) > 0 && string(s.Version) != t.Version {
		t.Version = string(s.Version)
	}
	switch s.Kind {
	case transcript.Counted:
		t.request(s)
		return
	case transcript.About:
		if title := s.Title(); s.TitleRank >= t.title && title != "" {
			t.Title, t.title = short(title), s.TitleRank
		}
		return
	}
	switch {
	case s.Side:
		if s.Kind == transcript.ToolBegan {
			t.Actions++
		}
		return
	case s.Kind == transcript.AgentSaid && s.Failed:
		return // the host's words
	case s.Kind == transcript.UserSaid && s.How != transcript.Typed && s.How != transcript.WithCompact:
		return // said within a turn, which goes on
	}
	switch s.Kind {
	case transcript.Compacted:
		t.compacted(s)
		t.Compacted[len(t.Compacted)-1].Summary = message.Units(s.Text())
	case transcript.Summarised:
		if n := len(t.Compacted); n > 0 && t.Compacted[n-1].Summary == 0 {
			t.Compacted[n-1].Summary = message.Units(s.Text())
		}
	case transcript.UserSaid:
		t.prompt(s)
	case transcript.HostSaid, transcript.Interrupted:
		if s.Kind == transcript.Interrupted {
			t.over = mark{}
		}
		t.host(s)
		return
	case transcript.AgentSaid:
		t.said = append(t.said[:0], s.Raw...)
		t.saidAt = t.here()
		t.ends()
	case transcript.TurnEnded:
		t.ends()
	case transcript.ToolBegan:
		t.over = mark{}
		t.call(s)
	case transcript.ToolEnded:
		t.over = mark{}
		t.result(s)
	}
	if s.Kind != transcript.Summarised {
		t.last = s.Kind
	}
}

func (t *tracer) here() mark { return mark{at: len(t.requests), actions: t.Actions, time: t.clock} }

// request counts the rows of one answer once. Rows of older versions differ: the
// answer grows, and the largest has it all.
func (t *tracer) request(s *transcript.Event) {
	if s.Usage.Window > 0 {
		t.Window = s.Usage.Window
	}
	u := Tokens{Input: s.Usage.Input, Output: s.Usage.Output, CacheWrite: s.Usage.CacheCreation, CacheHour: s.Hour, CacheRead: s.Usage.CacheRead}
	if u.total() == 0 && (s.Post > 0 || s.Key == 0) {
		if n := len(t.Compacted); s.Post > 0 && n > 0 && t.Compacted[n-1].Post == 0 {
			t.Compacted[n-1].Post = s.Post
		}
		return
	}
	if i, ok := t.seen[s.Key]; ok && s.Key != 0 {
		if r := &t.requests[i]; u.total() > r.tokens.total() {
			r.tokens, r.time, r.side = u, s.Time, s.Side
		}
		return
	}
	m, ok := t.models[s.Usage.Model]
	if !ok {
		m = len(t.Models)
		t.models[s.Usage.Model] = m
		t.Models = append(t.Models, s.Usage.Model)
	}
	t.seen[s.Key] = len(t.requests)
	// Of an answer that was cut nobody has told the size: it is a request, and says as
	// little of the context as a sub-agent's.
	t.requests = append(t.requests, request{key: s.Key, time: s.Time, model: m, side: s.Side || u.total() == 0, tokens: u})
}

// short is the beginning of a text, without secrets: it is kept and shown.
func short(text string) string {
	text = message.OneLine(redact.Clean(strings.ToValidUTF8(text[:min(len(text), 2000)], "")))
	if cut := message.Head(text, 100); cut != text {
		return cut + "…"
	}
	return text
}

func (t *tracer) prompt(s *transcript.Event) {
	t.turnEnds()
	text := s.Text()
	if toCompact := s.How == transcript.WithCompact; toCompact || strings.HasPrefix(text, "<command-") {
		t.asked = toCompact
	} else if t.title == 0 {
		t.Title, t.title = short(text), 1
	}
	t.Turns++
	m := t.here()
	m.turn = true
	t.marks = append(t.marks, m)
	t.thread = t.thread.Apply(host.TurnStarted{At: transcript.Time(s.Time)}, t.set)
}

// host looks for the answer to a /compact that did not work, and for the end of an agent in
// the background: while that was at work no turn had ended for good.
func (t *tracer) host(s *transcript.Event) {
	text := s.Text()
	if from, ok := t.agents[transcript.Noted(text)]; ok {
		for i := range t.marks[from:] {
			t.marks[from+i].signals &^= compact.TurnEnd.Signal()
		}
	}
	if strings.Contains(text, "<command-name>/compact<") {
		t.asked = true
		return
	}
	if t.asked && strings.HasPrefix(text, "<local-command-std") {
		t.asked = false
		_, said, _ := strings.Cut(text, ">")
		said, _, _ = strings.Cut(said, "</")
		if compactFailed(said) {
			t.Failed = append(t.Failed, failed{Time: s.Time, Said: short(said)})
		}
	}
}

// compactFailed knows the words of Claude Code's refusals.
func compactFailed(said string) bool {
	low := strings.ToLower(said)
	for _, w := range [...]string{"not enough messages", "error", "failed", "canceled", "cancelled", "interrupted", "blocked"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// ends notes that the turn has ended, unless something of it follows.
func (t *tracer) ends() {
	t.over = t.here()
	t.over.signals = compact.TurnEnd.Signal()
}

// turnEnds takes what the agent said last: only that is a signal. That the turn is over
// is another.
func (t *tracer) turnEnds() {
	t.spoken()
	if t.over.signals != 0 {
		t.over.at = len(t.requests) // a line may tell what it says before what it used
		t.marks = append(t.marks, t.over)
		t.over = mark{}
	}
}

func (t *tracer) spoken() {
	if len(t.said) == 0 {
		return
	}
	said, state := t.said, &t.thread.State
	t.said = t.said[:0]
	if !state.Worked {
		return
	}
	at := t.saidAt
	p := transcript.Event{Raw: said}
	if at.signals = t.words.In(tail(p.Text())); at.signals != 0 {
		t.marks = append(t.marks, at)
	}
}

// tail bounds a text; agents say that they are done at its end.
func tail(s string) string {
	const most = 32 << 10
	if len(s) > most {
		return strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}

func (t *tracer) call(s *transcript.Event) {
	t.Actions++
	t.thread.State.Worked = true
	d := host.Recorded(s.Tool, s.Raw)
	switch {
	case d.Kind == host.DelegateDeed:
		t.agents[s.ID] = len(t.marks)
	case s.Tool == "TaskCreate":
		t.created[s.ID] = append([]byte(nil), s.Raw...)
	case d.Kind == host.RunDeed && compact.MayShow(shellcmd.Observation{Line: d.Command}):
		if len(t.waiting) > 64 {
			clear(t.waiting) // whose answers never came
		}
		t.waiting[s.ID] = d
	}
	for _, e := range d.Done {
		t.thread = t.thread.Apply(e, t.set)
	}
	t.signalled()
}

const maxOutput = 64 << 10

func (t *tracer) result(s *transcript.Event) {
	if input, ok := t.created[s.ID]; ok {
		delete(t.created, s.ID)
		t.thread = t.thread.Apply(host.Created(input, s.Text()), t.set)
		t.signalled()
	}
	d, ok := t.waiting[s.ID]
	if !ok {
		return
	}
	delete(t.waiting, s.ID)
	output, exit := host.Ended(s.Raw, s.Tail(maxOutput), s.Failed)
	end := host.CommandFinished{Observation: shellcmd.Observation{Line: d.Command, Output: output, Exit: exit}}
	t.thread = t.thread.Apply(t.thread.Judge(end), t.set)
	t.signalled()
}

// signalled notes the signals that the last event brought.
func (t *tracer) signalled() {
	s := &t.thread.State
	if s.Seen != 0 {
		m := t.here()
		m.signals = s.Seen
		t.marks = append(t.marks, m)
	}
	s.Seen = 0
}

func (t *tracer) compacted(s *transcript.Event) {
	mid := t.last == transcript.ToolBegan || t.last == transcript.ToolEnded
	if !mid {
		t.turnEnds()
	}
	t.said = t.said[:0]
	t.asked = false
	e := event{
		At: len(t.requests), Actions: t.Actions, Time: s.Time, Trigger: s.Trigger, Pre: s.Pre, Post: s.Post, TookMS: s.TookMS, MidWork: mid,
		off: s.Off, end: s.End,
	}
	transcript.Texts(s.Keeps, func(inner transcript.Inner) {
		if e.keeps == nil {
			e.keeps = map[string]bool{}
		}
		e.keeps[string(inner.Escaped())] = true
	})
	if before := transcript.TimeBefore(t.file, s.Off, t.h); before > 0 && s.Time > before {
		e.GapMS = s.Time - before
	}
	t.Compacted = append(t.Compacted, e)
	t.thread = t.thread.Apply(host.Compacted{At: time.UnixMilli(s.Time), After: -1}, t.set)
}
