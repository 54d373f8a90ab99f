package compress

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Options say what a run shall do to a session.
type Options struct {
	Bands []Band
	// Tools are ranges in which tool calls are removed or cut short, Thinking
	// ranges in which thinking is removed.
	Tools    []Band
	Thinking []Band
	// NoUsers and NoAssistants leave that side's messages alone.
	NoUsers      bool
	NoAssistants bool
	// Whole counts positions over the whole file instead of the live context.
	Whole     bool
	MinTokens int
	Pool      Pool
}

// Skip is why a message in a band is left alone.
type Skip string

const (
	SkipShort   Skip = "short"      // below the threshold
	SkipDone    Skip = "compressed" // compressed before
	SkipUser    Skip = "user"       // user messages are off
	SkipAnswer  Skip = "assistant"  // assistant messages are off
	SkipCommand Skip = "command"    // slash commands, reminders, injected context
	SkipSummary Skip = "summary"    // what a compaction wrote
	SkipMeta    Skip = "meta"       // written by the host
	SkipError   Skip = "error"      // an API error or a synthetic message
)

// Item is a message that will be compressed.
type Item struct {
	Entry  int32 // index into the session's entries
	Band   int32 // index into the options' bands
	Tokens int32
	User   bool
}

// BandPlan is what one band holds.
type BandPlan struct {
	Band     Band
	Turns    int
	Messages int
	Tokens   int // before
	Target   int // after, when every result meets its target
}

// ToolPlan is what happens to tool calls and thinking.
type ToolPlan struct {
	Removed   int // calls
	Truncated int
	Kept      int // calls in a range that a compaction pins down
	Thinking  int // entries that lose thinking
	Tokens    int // estimate of what goes
}

// Plan is a run before it starts: made from the index alone, without reading
// the file again.
type Plan struct {
	Session *transcript.Session
	Options Options
	View    []int32
	Turns   []transcript.Turn
	Items   []Item
	Bands   []BandPlan
	Tools   ToolPlan
	Skipped map[Skip]int
	// Tokens is the estimate of the context's messages, tools and thinking,
	// Target what of it remains.
	Tokens, Target int
	// InputTokens and OutputTokens are what a model would have to read and write.
	InputTokens, OutputTokens int

	removed   map[transcript.CallID]bool
	truncated map[transcript.CallID]bool
	toolTurns []bool  // by turn: calls are removed in it
	edits     []int32 // entries with blocks to remove or cut, ascending
	thinking  map[int32]bool
}

// NewPlan decides what will be done to a session.
func NewPlan(s *transcript.Session, o Options) (*Plan, error) {
	if err := Validate(o.Bands); err != nil {
		return nil, err
	}
	if err := validateRanges(o.Tools, "tool range", RemoveTools, TruncateTools); err != nil {
		return nil, err
	}
	if err := validateRanges(o.Thinking, "thinking range", RemoveTools); err != nil {
		return nil, err
	}
	if o.MinTokens == 0 {
		o.MinTokens = MinTokens
	}
	p := &Plan{Session: s, Options: o, Skipped: map[Skip]int{}}
	p.View = s.Live()
	if o.Whole {
		p.View = s.All()
	}
	p.Turns = s.Turns(p.View)
	for _, i := range p.View {
		p.Tokens += entryTokens(&s.Entries[i])
	}
	p.Target = p.Tokens
	p.planTexts()
	p.planTools()
	p.Target = max(0, p.Target-p.Tools.Tokens)
	return p, nil
}

func entryTokens(e *transcript.Entry) int {
	if e.Kind == transcript.Boundary {
		return 0
	}
	return message.Tokens(int(e.Text)) + message.Tokens(int(e.Tool)) + message.Tokens(int(e.Think))
}

func (p *Plan) planTexts() {
	index := map[*Band]int{}
	for b := range p.Options.Bands {
		index[&p.Options.Bands[b]] = b
		p.Bands = append(p.Bands, BandPlan{Band: p.Options.Bands[b]})
	}
	prompt := PromptTokens()
	for _, m := range MapTurns(p.Turns, p.Options.Bands) {
		if m.Band == nil {
			continue
		}
		b := index[m.Band]
		bp := &p.Bands[b]
		bp.Turns++
		turn := p.Turns[m.TurnIndex]
		for _, i := range p.View[turn.Start : turn.End+1] {
			e := &p.Session.Entries[i]
			if e.Kind != transcript.User && e.Kind != transcript.Assistant || e.Text == 0 {
				continue
			}
			if why := p.skip(e); why != "" {
				p.Skipped[why]++
				continue
			}
			tokens := message.Tokens(int(e.Text))
			target := tokens * p.Options.Pool.Target(m.Band.Level) / 100
			p.Items = append(p.Items, Item{Entry: i, Band: int32(b), Tokens: int32(tokens), User: e.Kind == transcript.User})
			bp.Messages++
			bp.Tokens += tokens
			bp.Target += target
			p.Target -= tokens - target
			p.InputTokens += tokens + prompt
			p.OutputTokens += target
		}
	}
}

func (p *Plan) skip(e *transcript.Entry) Skip {
	o := &p.Options
	switch {
	case e.Has(transcript.Marked):
		return SkipDone
	case e.Has(transcript.Meta):
		return SkipMeta
	case e.Has(transcript.Summary):
		return SkipSummary
	case e.Has(transcript.Command):
		return SkipCommand
	case e.Has(transcript.APIError), e.Has(transcript.Synthetic):
		return SkipError
	case e.Kind == transcript.User && o.NoUsers:
		return SkipUser
	case e.Kind == transcript.Assistant && o.NoAssistants:
		return SkipAnswer
	case message.Tokens(int(e.Text)) < o.MinTokens:
		return SkipShort
	}
	return ""
}

// Nothing reports that the plan changes nothing.
func (p *Plan) Nothing() bool { return len(p.Items) == 0 && len(p.edits) == 0 }

// ErrNothing is the error of a run that would have copied the session as it is.
var ErrNothing = errors.New("nothing to compress in these bands")

// source opens the session for the reads of a run.
func (p *Plan) source() (*os.File, error) {
	f, err := os.Open(p.Session.Path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() < p.Session.Size {
		f.Close()
		return nil, fmt.Errorf("session %s became shorter since it was read", p.Session.Path)
	}
	return f, nil
}

// turnOf maps positions of the view to turns; -1 before the first.
func (p *Plan) turnOf() []int32 {
	of := make([]int32, len(p.View))
	t := int32(-1)
	for n := range of {
		if int(t+1) < len(p.Turns) && p.Turns[t+1].Start == n {
			t++
		}
		of[n] = t
	}
	return of
}

func (p *Plan) planTools() {
	o := &p.Options
	if len(o.Tools) == 0 && len(o.Thinking) == 0 {
		return
	}
	s := p.Session
	turnOf := p.turnOf()
	p.removed, p.truncated = map[transcript.CallID]bool{}, map[transcript.CallID]bool{}
	p.thinking = map[int32]bool{}
	p.toolTurns = make([]bool, len(p.Turns))
	edits := map[int32]bool{}
	ranges := MapTurns(p.Turns, o.Tools)
	if len(o.Tools) > 0 {
		for _, pair := range s.Pairs(p.View) {
			t := turnOf[pair.Call]
			if t < 0 || ranges[t].Band == nil {
				continue
			}
			if ranges[t].Band.Level == RemoveTools {
				if s.Fixed(pair) {
					p.Tools.Kept++
					continue
				}
				p.removed[pair.ID] = true
				p.toolTurns[t] = true
				p.Tools.Removed++
			} else {
				p.truncated[pair.ID] = true
				p.Tools.Truncated++
			}
			for _, i := range pair.Entries {
				if !edits[i] {
					p.Tools.Tokens += message.Tokens(int(s.Entries[i].Tool))
				}
				edits[i] = true
			}
		}
	}
	thought := MapTurns(p.Turns, o.Thinking)
	for n, i := range p.View {
		e := &s.Entries[i]
		t := turnOf[n]
		if t < 0 || !e.Has(transcript.Thinking) && e.Kind != transcript.Reasoning || e.Has(transcript.Named) {
			continue
		}
		// Thinking that led to a call which is gone stands for nothing, and the
		// services refuse some of it without the call.
		if thought[t].Band != nil || p.toolTurns[t] {
			p.thinking[i] = true
			p.Tools.Thinking++
			p.Tools.Tokens += message.Tokens(int(e.Think))
			edits[i] = true
		}
	}
	for i := range edits {
		p.edits = append(p.edits, i)
	}
	slices.Sort(p.edits)
}
