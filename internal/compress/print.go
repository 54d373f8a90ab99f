package compress

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Print shows what would be done, and what it would cost.
func (p *Plan) Print(t *terminal.Terminal, w io.Writer, back Backend) {
	line := func(text message.Text, args ...any) { t.Prose(w, t.Format(text, args...)) }
	s := p.Session
	before, after := p.Counted(nil)
	line(message.PlanHead, s.ID, s.Host, len(p.Turns), message.Thousands(before))
	if dead := len(s.Entries) - len(p.View); dead > 0 && !s.Legacy {
		line(message.PlanDead, dead)
	}
	if n := s.Unreadable; n > 0 {
		line(message.PlanProblems, n)
	}
	if len(p.Bands) > 0 {
		rows := [][]string{t.Head(message.ColBand, message.ColTurns, message.ColMessages, message.ColTokens, message.ColTarget)}
		for _, b := range p.Bands {
			rows = append(rows, []string{b.Band.String(), fmt.Sprint(b.Turns), fmt.Sprint(b.Messages), p.part(b.Tokens), p.part(b.Target)})
		}
		t.Table(w, rows)
	}
	if g := p.Tools; g.Removed+g.Truncated+g.Thinking > 0 {
		line(message.PlanTools, g.Removed, g.Truncated, g.Thinking, p.part(g.Tokens))
	}
	if note := p.lost(nil, false) - p.lost(nil, true); note > 0 {
		line(message.PlanNote, p.part(note))
	}
	if len(p.Skipped) > 0 {
		line(message.PlanSkipped, Counts(t, p.Skipped))
	}
	if p.Nothing() && !s.Legacy {
		line(message.NothingToDo)
		return
	}
	// Where it is carried out, the result says what came of it, and one number is enough.
	if w == t.Stdout {
		line(message.PlanTarget, message.Thousands(after), message.Change(before, after))
	}
	switch {
	case back.free():
		line(message.PlanLocal, back.label())
		return
	case len(p.Items) == 0:
		line(message.PlanUnasked, back.label())
		return
	}
	cost := t.In(message.CostUnknown)
	if usd, known := back.cost(p); known {
		cost = t.Format(message.CostAbout, usd, back.Prices.Date, back.Prices.Source)
	}
	line(message.PlanCost, back.label(), message.Thousands(p.Small.Input+p.Large.Input), message.Thousands(p.Small.Output+p.Large.Output), cost)
}

// PrintResult shows what came of it, and how to go on with the clone.
func (p *Plan) PrintResult(t *terminal.Terminal, r *Result) {
	before, after := p.Counted(r)
	t.Bold(t.Stdout, t.Format(message.DoneContext, message.Thousands(before), message.Thousands(after), message.Change(before, after)))
	// What did not happen is not worth a line.
	if len(r.Messages) > 0 {
		t.Tell(message.DoneCounts, r.Stats.MessagesCompressed, len(r.Messages), p.part(r.Stats.OriginalTokens), p.part(r.Stats.CompressedTokens))
	}
	if r.Cached > 0 {
		t.Tell(message.DoneCached, r.Cached)
	}
	if len(r.Lost) > 0 {
		t.Tell(message.DoneLost, Counts(t, r.Lost))
	}
	if g := r.Gone; g.Sentences > 0 {
		t.Tell(message.DoneGone, g.Sentences, g.Requests, g.Decisions)
	}
	if len(r.Redacted) > 0 {
		t.Tell(message.DoneRedacted, Counts(t, r.Redacted))
	}
	if r.InputTokens+r.OutputTokens > 0 {
		t.Tell(message.DoneSpent, message.Thousands(r.InputTokens), message.Thousands(r.OutputTokens))
	}
	if r.Stats.MessagesFailed > 0 {
		t.Tell(message.DoneFailed, r.Stats.MessagesFailed)
	}
	shown := 0
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Status == Failed && shown < 5 {
			t.Note(message.DoneFailure, m.Line, m.Why(t.Lang))
			shown++
		}
	}
	if rest := r.Stats.MessagesFailed - shown; rest > 0 {
		t.Note(message.DoneMore, rest)
	}
	t.Say(message.DoneClone, r.Clone.Path)
	command := host.Of(p.Session.Host).Resume(r.Clone.ID)
	if cwd := p.Session.CWD; cwd != "" && cwd != t.Dir {
		command = "cd " + terminal.Quote(cwd) + " && " + command
	}
	t.Say(message.DoneResume, command)
	if r.Example != "" {
		t.Say(message.DoneRecall, r.Example)
	}
	if r.Mark != "" {
		t.Say(message.DoneMark, r.Mark, strings.TrimPrefix(r.Mark, markSign))
	}
	if r.Tools.Removed+r.Tools.Truncated > 0 {
		t.Say(message.DoneSearch)
	}
	t.Say(message.DoneUndo, r.Clone.ID)
}

// Counted is the context before and after, of a plan or of what came of it, as its host
// counts it, with instructions and tools, or by our estimate where the host never told.
func (p *Plan) Counted(r *Result) (before, after int) {
	lost := p.lost(nil, true)
	after, host := p.Tokens-lost, p.asHostCounts(lost)
	if r != nil {
		after, host = r.After, r.Host
	}
	if host > 0 && host <= p.Session.Usage.Tokens() {
		return int(p.Session.Usage.Tokens()), int(host)
	}
	return p.Tokens, after
}

// part is so many tokens of ours as the host counts them: what is told of parts adds up
// to what is told of the context.
func (p *Plan) part(n int) string {
	before, after := p.Counted(nil)
	if lost := p.lost(nil, true); lost > 0 {
		n = int(int64(n) * int64(before-after) / int64(lost))
	}
	return message.Thousands(n)
}

// Counts is how many of each kind there are.
func Counts[K cmp.Ordered](t *terminal.Terminal, of map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(of)) {
		name := fmt.Sprint(k)
		if text := message.Named("count", name); text != (message.Text{}) {
			name = t.In(text)
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, of[k]))
	}
	return t.Format(message.Verbatim, parts)
}

// Document is the output of --json.
type Document struct {
	Schema int         `json:"schema"`
	DryRun bool        `json:"dryRun"`
	Source sourceJSON  `json:"source"`
	Plan   planJSON    `json:"plan"`
	Result *resultJSON `json:"result,omitempty"`
	Resume string      `json:"resume,omitempty"`
	CWD    string      `json:"cwd,omitempty"`
	Gone   string      `json:"folderGone,omitempty"`
	Packet string      `json:"packet,omitempty"`
}

type sourceJSON struct {
	ID         string         `json:"id"`
	Host       string         `json:"host"`
	Path       string         `json:"path"`
	Lines      int            `json:"lines"`
	LiveTokens int64          `json:"liveTokens"`
	Problems   map[string]int `json:"problems,omitempty"`
}

type planJSON struct {
	Provider     string       `json:"provider"`
	Model        string       `json:"model,omitempty"`
	Turns        int          `json:"turns"`
	Tokens       int          `json:"tokens"`
	TargetTokens int          `json:"targetTokens"`
	HostTokens   int64        `json:"hostTokens,omitempty"`
	InputTokens  int          `json:"inputTokens"`
	OutputTokens int          `json:"outputTokens"`
	CostUSD      *float64     `json:"costUSD"`
	Bands        []bandPlan   `json:"bands"`
	Tools        ToolPlan     `json:"tools"`
	Skipped      map[Skip]int `json:"skipped"`

	Prices *host.PriceSource `json:"prices,omitempty"`
}

type resultJSON struct {
	ID       string         `json:"id"`
	Path     string         `json:"path"`
	Bytes    int64          `json:"bytes"`
	Stats    Stats          `json:"stats"`
	Cached   int            `json:"cached"`
	Lost     map[string]int `json:"lostFacts"`
	Redacted map[string]int `json:"redacted"`
	Input    int            `json:"inputTokens"`
	Output   int            `json:"outputTokens"`
	Removed  int            `json:"removedLines"`
	Before   int            `json:"contextTokensBefore"`
	After    int            `json:"contextTokensAfter"`
	Host     int64          `json:"hostTokens,omitempty"`
	Gone     extract.Losses `json:"gone"`
	Messages []Message      `json:"messages"`
}

// Document is the plan for programs.
func (p *Plan) Document(back Backend, dry bool) Document {
	s := p.Session
	live := recall.Estimate(s)
	if s.HasUsage {
		live = s.Usage.Tokens()
	}
	problems := map[string]int{}
	if s.Unreadable > 0 {
		problems["unreadable"] = s.Unreadable
	}
	d := Document{
		Schema: 1, DryRun: dry,
		Source: sourceJSON{s.ID, string(s.Host), s.Path, s.Lines, live, problems},
		Plan: planJSON{
			Provider: back.Name(), Model: back.model, Turns: len(p.Turns), Tokens: p.Tokens, TargetTokens: p.Target, HostTokens: p.asHostCounts(p.lost(nil, true)),
			InputTokens: p.Small.Input + p.Large.Input, OutputTokens: p.Small.Output + p.Large.Output, Bands: terminal.List(p.Bands), Tools: p.Tools, Skipped: p.Skipped,
		},
	}
	if usd, known := back.cost(p); known {
		d.Plan.CostUSD = &usd
		if !back.free() {
			d.Plan.Prices = &back.Prices.PriceSource
		}
	}
	return d
}

// Document is the result for programs.
func (r *Result) Document() *resultJSON {
	lost := map[string]int{}
	for k, n := range r.Lost {
		lost[k.String()] = n
	}
	return &resultJSON{r.Clone.ID, r.Clone.Path, r.Clone.Bytes, r.Stats, r.Cached, lost, r.Redacted, r.InputTokens, r.OutputTokens, r.RemovedEntries, r.Before, r.After, r.Host, r.Gone, r.Messages}
}
