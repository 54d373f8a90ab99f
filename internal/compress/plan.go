package compress

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/host"
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
	// NoUsers leaves alone what users said: messages, answers to what tools asked, words
	// with a refusal.
	NoUsers bool
	// Newest turns at the end stay as they are. Where most of what tools said lies
	// in them, as in a session of few turns, their messages stay, and of their tools
	// the last calls. Messages stay as far as there is room, see newestShare.
	Newest int
	// NoCalls makes the newest turns no exception for tools: no call stays.
	NoCalls bool
	// Whole counts positions over the whole file instead of the live context.
	Whole     bool
	MinTokens int
	Pool      Pool
}

// Skip is why a message in a band is left alone.
type Skip string

const (
	skipShort   Skip = "short"      // below the threshold
	skipDone    Skip = "compressed" // compressed before
	skipUser    Skip = "user"       // user messages are off
	skipCommand Skip = "command"    // slash commands, reminders, injected context
	skipSummary Skip = "summary"    // what a compaction wrote
	skipMeta    Skip = "meta"       // written by the host
	skipError   Skip = "error"      // an API error or a synthetic message
)

// Item is a message that will be compressed.
type Item struct {
	Entry  int32 // index into the session's entries
	Turn   int32
	Tokens int32
	User   bool
	Level  Level
	Band   int32 // index into the options' bands
}

// Role is who wrote the message.
func (it *Item) Role() string { return role(it.User) }

func role(user bool) string {
	if user {
		return "user"
	}
	return "assistant"
}

// Waiting is the report on the message before its turn has come.
func (it *Item) Waiting() Message {
	return Message{Level: it.Level, Status: Pending, Before: int(it.Tokens), After: int(it.Tokens)}
}

type bandPlan struct {
	Band
	Turns    int `json:"turns"`
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`       // before
	Target   int `json:"targetTokens"` // after, when every result meets its target
}

// ToolPlan is what happens to tool calls and thinking.
type ToolPlan struct {
	Removed   int `json:"removed"` // calls
	Truncated int `json:"truncated"`
	Kept      int `json:"kept"`     // calls in a range that a compaction pins down, or with words of the user's
	Thinking  int `json:"thinking"` // entries that lose thinking
	Tokens    int `json:"tokens"`   // estimate of what goes
}

// Load is what a model would have to read and write, in tokens.
type Load struct{ Input, Output int }

// Plan is a run before it starts: made from the index alone, without reading
// the file again.
type Plan struct {
	Session *transcript.Session
	Options Options
	View    []int32
	Turns   []transcript.Turn
	Items   []Item
	Bands   []bandPlan
	Tools   ToolPlan
	Skipped map[Skip]int
	// Tokens is the estimate of the context's messages, tools and thinking,
	// Target what of it remains.
	Tokens, Target int
	// Small and Large are what each of a provider's two models would have to read
	// and write.
	Small, Large Load

	hostRate  float64 // how many tokens the host counts for one of ours
	removed   map[transcript.CallID]bool
	truncated map[transcript.CallID]bool
	lastCalls bool    // of tools the last calls stay, not the newest turns
	toolTurns []bool  // by turn: calls are removed in it
	edits     []int32 // entries with blocks to remove or cut, ascending
	thinking  map[int32]bool
}

// NewPlan decides what will be done to a session.
func NewPlan(s *transcript.Session, o Options) (*Plan, error) {
	if err := validateRanges(o.Bands, "--bands", Compress, HeavyCompress); err != nil {
		return nil, err
	}
	if err := validateRanges(o.Tools, "--tools", removeTools, truncateTools); err != nil {
		return nil, err
	}
	if err := validateRanges(o.Thinking, "--thinking", removeTools); err != nil {
		return nil, err
	}
	p := &Plan{Session: s, Options: o}
	p.View = view(s, o.Whole)
	p.Turns = s.Turns(p.View)
	p.Tokens = contextTokens(s, o.Whole)
	p.Target = p.Tokens
	p.planTexts()
	p.planTools()
	p.Target = max(0, p.Target-p.Tools.Tokens)
	if s.Legacy {
		p.Target = p.spoken()
	}
	if s.HasUsage {
		p.hostRate = p.rate()
	}
	return p, nil
}

// spoken is the target of a session that becomes a text: its messages.
func (p *Plan) spoken() (n int) {
	for _, i := range p.View {
		if p.said(i) {
			n += message.Tokens(int(p.Session.Entries[i].Text))
		}
	}
	for _, b := range p.Bands {
		n -= b.Tokens - b.Target
	}
	return n
}

// said reports that an entry is a message of the user or the model.
func (p *Plan) said(i int32) bool {
	e := &p.Session.Entries[i]
	return (e.Kind == transcript.User || e.Kind == transcript.Assistant) && e.Text > 0 && !e.Has(transcript.Meta) && !e.Has(transcript.Command)
}

// asHostCounts is what the host would report of a clone that lost that many tokens
// of the estimate: what it reported last, less these as it counts them. The rest of
// its requests, instructions and tools, stays. 0 where it reported nothing.
func (p *Plan) asHostCounts(lost int) int64 {
	if !p.Session.HasUsage {
		return 0
	}
	live := p.Tokens
	if p.Options.Whole && live > 0 {
		live = contextTokens(p.Session, false)
		lost = int(int64(lost) * int64(live) / int64(p.Tokens))
	}
	return max(p.Session.Usage.Tokens()-int64(p.hostRate*float64(lost)), int64(min(1, p.hostRate)*float64(live-lost)))
}

// rate is how many tokens the host counts for one of ours, by what this session
// gained between its first and its last request. Hosts count more in code and in
// Chinese, and less of what is sealed.
func (p *Plan) rate() float64 {
	src, err := p.source()
	if err != nil {
		return 1
	}
	defer src.Close()
	at, first, ok := p.Session.FirstUsage(src)
	if !ok {
		return 1
	}
	gained := 0
	for _, i := range p.Session.Live() {
		if i >= at {
			gained += entryTokens(p.Session, i)
		}
	}
	if gained < 1000 {
		return 1 // too little to tell
	}
	return max(0.5, min(2, float64(p.Session.Usage.Tokens()-first.Tokens())/float64(gained)))
}

func view(s *transcript.Session, whole bool) []int32 {
	if whole {
		return s.All()
	}
	return s.Live()
}

// contextTokens estimates what a session's context holds: messages, tools and
// thinking.
func contextTokens(s *transcript.Session, whole bool) int {
	n := 0
	for _, i := range view(s, whole) {
		n += entryTokens(s, i)
	}
	return n
}

func entryTokens(s *transcript.Session, i int32) int {
	e := &s.Entries[i]
	// Of a compaction Codex writes down what remains, Claude Code only that it was.
	if e.Kind == transcript.Boundary && !s.Itemised() {
		return 0
	}
	return message.Tokens(int(e.Text)) + message.Tokens(int(e.Tool)) + message.Tokens(int(e.Think))
}

// Select lists the messages that the mapped turns of a view ask to compress,
// and counts those that are left alone.
func Select(s *transcript.Session, view []int32, turns []transcript.Turn, mapping []Mapping, o Options) ([]Item, map[Skip]int) {
	var items []Item
	skipped := map[Skip]int{}
	for _, m := range mapping {
		if m.Band == nil || m.TurnIndex < 0 || m.TurnIndex >= len(turns) {
			continue
		}
		turn := turns[m.TurnIndex]
		for _, i := range view[max(0, turn.Start):min(turn.End+1, len(view))] {
			e := &s.Entries[i]
			if e.Kind != transcript.User && e.Kind != transcript.Assistant || e.Text == 0 {
				continue
			}
			if why := o.skip(e); why != "" {
				skipped[why]++
				continue
			}
			items = append(items, Item{
				Entry: i, Turn: int32(m.TurnIndex), Tokens: int32(message.Tokens(int(e.Text))),
				User: e.Kind == transcript.User, Level: m.Band.Level,
			})
		}
	}
	return items, skipped
}

// mapTurns is MapTurns without the newest turns.
func (p *Plan) mapTurns(bands []Band) []Mapping {
	m := MapTurns(p.Turns, bands)
	for i := max(0, len(m)-p.Options.Newest); i < len(m); i++ {
		m[i].Band = nil
	}
	return m
}

// mapTools is mapTurns for tools and thinking. Where the newest turns hold most of
// what can be saved, they are no exception.
func (p *Plan) mapTools(bands []Band) []Mapping {
	if p.lastCalls {
		return MapTurns(p.Turns, bands)
	}
	return p.mapTurns(bands)
}

// onlyLastCalls decides whether of what tools said the last calls are spared in
// place of the newest turns: where these hold half of it or more, and the calls are
// less. How many turns hold most is judged alike for all presets, or a harsher one,
// which spares fewer of them, might leave more.
func (p *Plan) onlyLastCalls(pairs []transcript.Pair) bool {
	newest := p.Options.Newest
	if newest == 0 || len(p.Turns) == 0 || p.Options.NoCalls {
		return len(p.Turns) <= newest || p.Options.NoCalls
	}
	said := func(turns int) (n int) {
		start := p.Turns[max(0, len(p.Turns)-turns)].Start
		for _, i := range p.View[start:] {
			n += int(p.Session.Entries[i].Tool)
		}
		return n
	}
	if most := max(newest, presets()[0].Newest); len(p.Turns) > most && (said(most) == 0 || 2*said(most) < said(len(p.Turns))) {
		return false
	}
	seen, last := map[int32]bool{}, 0
	for _, pair := range pairs[max(0, len(pairs)-newestCalls):] {
		for _, i := range pair.Entries {
			if !seen[i] {
				last += int(p.Session.Entries[i].Tool)
			}
			seen[i] = true
		}
	}
	return last <= said(newest)
}

// newestCalls is how many calls stay at the end where the newest turns are no
// exception.
const newestCalls = 8

// Few reports that positions mean little: there are hardly any turns.
func (p *Plan) Few() bool { return len(p.Turns) < 4 }

func (p *Plan) planTexts() {
	index := map[*Band]int{}
	for b := range p.Options.Bands {
		index[&p.Options.Bands[b]] = b
		p.Bands = append(p.Bands, bandPlan{Band: p.Options.Bands[b]})
	}
	mapping := MapTurns(p.Turns, p.Options.Bands)
	newest := max(0, len(mapping)-p.Options.Newest)
	for _, m := range mapping[:newest] {
		if m.Band != nil {
			p.Bands[index[m.Band]].Turns++
		}
	}
	p.Items, p.Skipped = Select(p.Session, p.View, p.Turns, mapping[:newest], p.Options)
	recent, _ := Select(p.Session, p.View, p.Turns, mapping[newest:], p.Options)
	p.Items = append(p.Items, p.withoutRoom(recent)...)
	prompt := promptTokens()
	for n := range p.Items {
		it := &p.Items[n]
		it.Band = int32(index[mapping[it.Turn].Band])
		tokens := int(it.Tokens)
		target := tokens * p.Options.Pool.target(it.Level) / 100
		if !p.amid(n) {
			target = max(target, min(tokens, oneSentence+target/2))
		}
		b := &p.Bands[it.Band]
		b.Messages++
		b.Tokens += tokens
		b.Target += target
		p.Target -= tokens - target
		load := &p.Small
		if tokens > p.Options.Pool.LargeThreshold {
			load = &p.Large
		}
		load.Input += tokens + prompt
		load.Output += target
	}
}

// amid reports that an item is the agent's and that his next one is in the same turn.
func (p *Plan) amid(n int) bool {
	return !p.Items[n].User && n+1 < len(p.Items) && !p.Items[n+1].User && p.Items[n+1].Turn == p.Items[n].Turn
}

// oneSentence is what is left of a message that is the user's or ends a turn, on average and
// in tokens, beside half of its share.
const oneSentence = 24

// newestShare is how much of the window, in percent, the messages of the newest turns
// may fill and stay whole: a clone to go on with must not be compacted at once.
const newestShare = 10

// withoutRoom are those of the newest turns' messages that cannot stay whole. The newest
// request has its room first, then the newest messages.
func (p *Plan) withoutRoom(newest []Item) (out []Item) {
	u := p.Session.Usage
	_, window := host.GuessWindow(u.Window, u.Tokens(), u.Model)
	room := int(cmp.Or(window, host.SmallWindow)) * newestShare / 100
	fits := func(it Item) bool {
		whole := int(it.Tokens) <= room
		if whole {
			room -= int(it.Tokens)
		}
		return whole
	}
	asked := len(newest) - 1
	for asked >= 0 && !newest[asked].User {
		asked--
	}
	whole := asked >= 0 && fits(newest[asked])
	for n, it := range slices.Backward(newest) {
		if n == asked && !whole || n != asked && !fits(it) {
			out = append(out, it)
		}
	}
	slices.Reverse(out)
	return out
}

func (o *Options) skip(e *transcript.Entry) Skip {
	switch {
	case e.Has(transcript.Marked):
		return skipDone
	case e.Has(transcript.Meta):
		return skipMeta
	case e.Has(transcript.Summary):
		return skipSummary
	case e.Has(transcript.Command):
		return skipCommand
	case e.Has(transcript.APIError), e.Has(transcript.Synthetic):
		return skipError
	case e.Kind == transcript.User && o.NoUsers:
		return skipUser
	case message.Tokens(int(e.Text)) < o.MinTokens:
		return skipShort
	}
	return ""
}

// Nothing reports that the plan changes nothing.
func (p *Plan) Nothing() bool { return len(p.Items) == 0 && len(p.edits) == 0 }

// ErrNothing is the error of a run that would have copied the session as it is.
var ErrNothing = errors.New("nothing to compress in these bands")

func (p *Plan) source() (*os.File, error) {
	f, err := os.Open(p.Session.Path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.Size() < p.Session.Size {
		f.Close()
		return nil, message.Fail(message.SessionShrank)
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
	if len(p.Options.Tools) == 0 && len(p.Options.Thinking) == 0 {
		return
	}
	turnOf := p.turnOf()
	p.removed, p.truncated = map[transcript.CallID]bool{}, map[transcript.CallID]bool{}
	p.thinking = map[int32]bool{}
	p.toolTurns = make([]bool, len(p.Turns))
	edits := map[int32]bool{}
	pairs := p.Session.Pairs(p.View)
	p.lastCalls = p.onlyLastCalls(pairs)
	p.planCalls(pairs, turnOf, edits)
	p.planThinking(turnOf, edits)
	p.edits = slices.Sorted(maps.Keys(edits))
}

func (p *Plan) planCalls(pairs []transcript.Pair, turnOf []int32, edits map[int32]bool) {
	if len(p.Options.Tools) == 0 {
		return
	}
	ranges := p.mapTools(p.Options.Tools)
	if p.lastCalls && !p.Options.NoCalls {
		pairs = pairs[:max(0, len(pairs)-newestCalls)]
	}
	cut := map[int32]bool{} // entries with a call that is cut short
	for _, pair := range pairs {
		t := turnOf[pair.Call]
		if t < 0 || ranges[t].Band == nil {
			continue
		}
		switch {
		case p.Session.Fixed(pair) && ranges[t].Band.Level != truncateTools || p.Options.NoUsers && p.Session.Spoken(pair):
			p.Tools.Kept++
			continue
		case ranges[t].Band.Level == truncateTools:
			p.truncated[pair.ID] = true
			p.Tools.Truncated++
			for _, i := range pair.Entries {
				cut[i] = true
			}
		default:
			p.removed[pair.ID] = true
			p.toolTurns[t] = true
			p.Tools.Removed++
		}
		for _, i := range pair.Entries {
			if !edits[i] {
				p.Tools.Tokens += message.Tokens(int(p.Session.Entries[i].Tool))
			}
			edits[i] = true
		}
	}
	p.Tools.Tokens -= p.remains(slices.Sorted(maps.Keys(cut)))
}

// sampledCuts bounds how many entries are read to tell what a cut leaves.
const sampledCuts = 500

// remains estimates what is left of entries whose calls are cut short. How many
// strings a call has does not stand in the index, so some entries are cut and
// measured: a plan stays cheap, and says what the clone will show. Calls and results
// alternate in a session, and a cut leaves little of the large and all of the small:
// the largest are all measured, of the others one in so many, by size.
func (p *Plan) remains(entries []int32) int {
	src, err := p.source()
	if err != nil {
		return 0
	}
	defer src.Close()
	size := func(i int32) int { return int(p.Session.Entries[i].Tool) }
	slices.SortStableFunc(entries, func(a, b int32) int { return size(b) - size(a) })
	left := 0
	for _, part := range [][]int32{entries[:min(len(entries), sampledCuts/2)], entries[min(len(entries), sampledCuts/2):]} {
		step := max(1, (len(part)+sampledCuts/2-1)/(sampledCuts/2))
		before, after, all := 0, 0, 0
		for n, i := range part {
			all += size(i)
			if n%step != 0 {
				continue
			}
			raw, err := p.Session.Raw(src, int(i))
			if err != nil {
				return 0
			}
			edited, gone := p.editTools(i, raw)
			if gone {
				edited = nil
			}
			before += size(i)
			after += transcript.ToolSize(p.Session.Host, edited)
		}
		if before > 0 {
			left += int(int64(all) * int64(after) / int64(before))
		}
	}
	return message.Tokens(left)
}

func (p *Plan) planThinking(turnOf []int32, edits map[int32]bool) {
	ranges := p.mapTools(p.Options.Thinking)
	for n, i := range p.View {
		e := &p.Session.Entries[i]
		t := turnOf[n]
		if t < 0 || !e.Has(transcript.Thinking) && e.Kind != transcript.Reasoning || e.Has(transcript.Named) {
			continue
		}
		// Thinking that led to a call which is gone stands for nothing, and the
		// services refuse some of it without the call.
		if ranges[t].Band != nil || p.toolTurns[t] {
			p.thinking[i] = true
			p.Tools.Thinking++
			p.Tools.Tokens += message.Tokens(int(e.Think))
			edits[i] = true
		}
	}
}
