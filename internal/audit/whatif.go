package audit

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// The policy is played over a trace: the context grows by what the recorded one
// grew, the policy is asked when the host would ask it, and what it compacts falls
// to the size that compactions of this session had. What the host compacted does
// not happen.
//
// Beside it the opposite is played: a context is compacted only when its window is
// full, and then, with hindsight, at the last boundary before that. The policy's
// tiers begin long before the window is full, so it compacts more often than it
// must; the two together say how much of that is choice.

// usualAfter is the size after a compaction where nothing tells.
const usualAfter = 40_000

type rules struct {
	set    compact.Settings // in mode auto
	window int64
	after  int64 // the size of a compacted context
	asks   int64 // from where on the host asks
	full   int64 // from where on it is compacted, boundary or not
	room   int64 // the same without us: where the host did so by itself
	idle   bool  // we can act only when a turn has ended
	took   int64 // how long a compaction takes, in milliseconds
	ledger ledger
	prices []*host.Price // of the trace's models
}

// rulesOf are those of a host. One that can be refused asks before each request,
// from the point that mode auto sets. Elsewhere nobody can act but at the end of a
// turn; within one the host compacts by itself, when its window is full.
func rulesOf(name transcript.Host, t *trace, set compact.Settings, window, after int64) rules {
	set.Mode = compact.ModeAuto
	if set.ContextWindow > 0 {
		window = int64(set.ContextWindow)
	}
	r := rules{set: set, window: window, after: after, full: window / 10 * 9, idle: true}
	r.room = r.full
	if window <= 0 { // nobody knows when it is full
		r.full, r.room = math.MaxInt64, math.MaxInt64
		return r
	}
	if h, ok := host.Named(string(name)); ok && h.Gates {
		if !set.AtPrompt {
			r.set.Trigger.AutoRequiresAnyBoundary = slices.DeleteFunc(slices.Clone(set.Trigger.AutoRequiresAnyBoundary), isTurnEnd)
		}
		native := min(int64(set.NativeWindow), window)
		r.asks = min((native-20_000)*int64(set.NativePercent)/100, native-33_000)
		r.idle = false
		r.full = r.ceiling(0)
		r.room = r.ceiling(1) // the host's own
	}
	var own []float64
	for i := range t.Compacted {
		if e := &t.Compacted[i]; e.Trigger == "auto" && e.Pre > 0 {
			own = append(own, float64(e.Pre))
		}
	}
	if m := median(own); m != nil {
		r.room = max(r.full, int64(*m))
	}
	return r
}

// ceiling is where a host that a hook holds back is let go, after a step of that size.
func (r *rules) ceiling(step int64) int64 {
	if n := compact.Ceiling(r.set, r.window, step); n > 0 {
		return n
	}
	return r.window / 10 * 9
}

type player struct {
	rules
	used    int64 // the played context
	step    int64 // the largest so far
	over    int   // requests that the host would have refused
	clock   int64
	turn    compact.Signals
	fresh   compact.Signals // those of the turn since its last request
	before  compact.Signals
	worked  bool
	history []compact.Compaction
	planned []Planned
	late    late
	replays bool // fixed is played instead of the policy
	fixed   []Planned
	at      int    // the number of the next request
	past    int    // requests since the context passed the line of the tier ready
	turns   int    // turns that began since, each after one that had ended
	paid    ledger // by the policy
	was     ledger // as it was
	// The requests since the beginning of the audit: how many, and what they sent, by
	// the policy and as it was.
	requests       int
	sent, happened int64
}

// play returns the policy's compactions and those as late as possible; what
// happened is compared with them. What requests sent is added up from a time on.
func play(t *trace, r rules, from int64) player {
	r.ledger.from = from
	p := player{rules: r, late: late{rules: r}}
	p.run(t, from)
	again := player{rules: r, late: late{rules: r}, replays: true, fixed: p.late.plan}
	again.run(t, from)
	p.late.paid = again.paid
	return p
}

func (p *player) run(t *trace, from int64) {
	p.paid, p.was = p.ledger, p.ledger
	marks, events := t.marks, t.Compacted
	recorded, compacted := int64(0), false
	for i := range t.requests {
		p.at, p.late.at = i, i
		for len(marks) > 0 && marks[0].at <= i {
			p.mark(&marks[0])
			marks = marks[1:]
		}
		for len(events) > 0 && events[0].At <= i {
			// What came after the last request was there when it was compacted.
			e := &events[0]
			if recorded > 0 && e.Pre > recorded && !compacted {
				p.clock = max(p.clock, e.Time)
				p.grow(e.Pre-recorded, 0)
				p.late.fill(p.clock, !p.worked)
			}
			if recorded > 0 {
				p.was.compact(e.Time, max(e.Pre, recorded))
			}
			events, compacted = events[1:], true
		}
		r := &t.requests[i]
		if r.side {
			continue
		}
		for ; len(p.fixed) > 0 && p.fixed[0].Request <= i; p.fixed = p.fixed[1:] {
			p.compact(p.fixed[0])
		}
		if !p.idle || p.used >= p.full {
			p.weigh(!p.worked)
		}
		p.late.fill(p.clock, !p.worked)
		if recorded > 0 && !compacted {
			p.grows(r.tokens.context() - recorded)
		}
		p.clock = r.time
		used := r.tokens.context() + r.tokens.Output
		switch {
		case recorded == 0:
			p.used, p.late.used = used, used
		case compacted: // how it grew is not known
		default:
			p.grow(used-recorded, used)
		}
		p.was.price, p.paid.price = p.prices[r.model], p.prices[r.model]
		p.was.book(r.time, r.tokens.context(), r.tokens.Output, true)
		p.paid.book(r.time, p.used-r.tokens.Output, r.tokens.Output, true)
		if r.time >= from {
			p.requests++
			p.happened += used
			p.sent += p.used
			p.late.sent += p.late.used
		}
		recorded, compacted, p.worked, p.fresh = used, false, true, 0
		if p.used > p.window-int64(p.set.Trigger.ReadyPercentRemainingLT*float64(p.window)/100) {
			p.past++ // from here on the end of a turn counts
		}
	}
	// Behind the last request nothing is left to compact for. Whoever acts at the end of a
	// turn cannot know that.
	n := len(p.planned)
	p.at, p.late.at = len(t.requests), len(t.requests)
	for i := range marks {
		p.mark(&marks[i])
	}
	for i := range p.planned[n:] {
		p.planned[n+i].Wasted = true
	}
}

// grows learns by how much a request has grown the context. What it sends has to fit.
func (p *player) grows(by int64) {
	if p.idle {
		return
	}
	p.step = max(p.step, by)
	p.full = p.ceiling(p.step)
	if p.used+by > p.window-compact.HostReserve {
		p.over++
	}
}

// grow adds what the recorded context grew by. Where it shrank without a
// compaction, so do the played ones, but not below it, nor does it ever make one larger.
func (p *player) grow(by, recorded int64) {
	p.used = grown(p.used, by, recorded)
	p.late.used = grown(p.late.used, by, recorded)
}

func grown(used, by, recorded int64) int64 {
	if by < 0 {
		return max(min(used, recorded), used+by)
	}
	return used + by
}

func (p *player) mark(m *mark) {
	p.clock = max(p.clock, m.time)
	if m.turn {
		if p.worked || p.turn != 0 {
			p.before = p.turn
		}
		if p.past > 0 && p.before.Has(compact.TurnEnd) {
			p.turns++
		}
		p.turn, p.fresh, p.worked = 0, 0, false
		return
	}
	p.turn |= m.signals
	p.fresh |= m.signals
	switch {
	case !p.idle:
		p.late.boundary(p.clock, p.counted(m.signals), m.signals.Has(compact.TurnEnd))
	case m.signals.Has(compact.TurnEnd):
		p.late.boundary(p.clock, p.counted(p.turn), true)
		p.weigh(true)
	}
}

// counted are the signals that the policy takes for a boundary.
func (p *player) counted(signals compact.Signals) []string {
	var counts compact.Signals
	for _, name := range p.set.Trigger.AutoRequiresAnyBoundary {
		counts |= compact.Boundary(name).Signal()
	}
	names := []string{}
	for _, b := range (signals & counts).List() {
		names = append(names, string(b))
	}
	return names
}

// weigh asks the policy, between turns or within one. It says nothing while there is
// room, and nothing without a boundary unless it is an emergency: those are most of the
// cases.
func (p *player) weigh(between bool) {
	if p.used < p.asks || p.replays {
		return
	}
	signals := p.turn
	switch {
	case p.idle && !between, !p.idle && between && !p.set.AtPrompt:
		signals = 0 // nobody can act on them, or is to
	case !between:
		signals = p.fresh
	case !p.worked && signals == 0:
		signals = p.before
	}
	u := compact.Usage{Used: p.used, Window: p.window}
	t, full := p.set.Trigger, p.used >= p.full
	if !full && (!u.Below(max(t.EarlyPercentRemainingLT, t.EmergencyPercentRemainingLT)) || signals == 0 && !u.Below(t.EmergencyPercentRemainingLT)) {
		return
	}
	d := compact.Decide(compact.Input{Settings: p.set, Usage: u, Signals: signals, History: p.history, Now: time.UnixMilli(p.clock)})
	if d.Verdict != compact.DoCompact && !full {
		return
	}
	// An emergency that meets a boundary is one, too.
	p.compact(Planned{Time: p.clock, Tokens: p.used, Tier: string(d.Tier), Boundary: p.counted(signals), Between: between, Past: p.past, Turns: p.turns, Request: p.at})
}

func (p *player) compact(m Planned) {
	p.planned = append(p.planned, m)
	p.paid.compact(m.Time, p.used)
	after := min(p.after, p.used*9/10)
	p.history = append(p.history[max(0, len(p.history)-8):], compact.Compaction{At: time.UnixMilli(m.Time), Before: p.used, After: after})
	p.used, p.turn, p.fresh, p.before, p.past, p.turns = after, 0, 0, 0, 0, 0
}

type late struct {
	rules
	used int64
	sent int64
	at   int
	paid ledger
	last *Planned // the last boundary at which it would have helped
	plan []Planned
	need []int64 // when the window was full
}

func (l *late) boundary(clock int64, names []string, between bool) {
	if len(names) > 0 && l.after < l.used*9/10 {
		l.last = &Planned{Time: clock, Tokens: l.used, Boundary: names, Between: between, Request: l.at}
	}
}

// fill looks whether the window is full, between turns or within one.
func (l *late) fill(clock int64, between bool) {
	if l.used < l.room {
		return
	}
	l.need = append(l.need, clock)
	if l.last != nil {
		l.used -= l.last.Tokens - l.after
		l.plan = append(l.plan, *l.last)
	}
	if l.last == nil || l.used >= l.room {
		l.plan = append(l.plan, Planned{Time: clock, Tokens: l.used, Boundary: []string{}, Between: between, Request: l.at})
		l.used = min(l.after, l.used*9/10)
	}
	l.last = nil
}

// mean is a request's share of a sum.
func (w *WhatIf) mean(sum int64) string {
	if w.Requests == 0 {
		return "–"
	}
	return message.Rounded(sum / int64(w.Requests))
}

// whatIfWords are the sentences below the comparison; advice says what another setting
// would change.
func (r *Report) whatIfWords(l message.Lang, advice string) []string {
	w := &r.Totals.WhatIf
	words := []string{message.AuditReckoned.In(l)}
	policy := w.policy()
	if w.Happened > 0 {
		words = append(words, message.AuditWhatIfMid.Format(l, w.HappenedMid, w.Happened, w.Forced, policy))
	}
	if policy > w.Happened {
		words = append(words, message.AuditWhatIfMore.In(l))
	}
	if text := w.pays(l); text != "" {
		words = append(words, text)
	}
	words = append(words, advice, message.AuditWhatIfNote.Format(l, strconv.FormatFloat(r.Policy.Early, 'g', -1, 64)+" %"))
	if n := w.Unknown - w.Unseen; n > 0 {
		words = append(words, message.AuditWindowUnk.Format(l, n))
	}
	if w.Unseen > 0 {
		words = append(words, message.AuditUnseen.Format(l, w.Unseen))
	}
	if t := &r.Totals; t.Compactions > 0 {
		words = append(words, message.AuditWaitNote.Format(l, t.WaitKnown-t.WaitEstimated, t.Compactions))
	}
	return words
}

// whatIfTable is the comparison, with a row of headings: what happened, what the
// policy would have done, and as late as possible. What it is about comes first.
func (r *Report) whatIfTable(l message.Lang) [][]string {
	w := &r.Totals.WhatIf
	n, mean := strconv.Itoa, w.mean
	rows := [][]string{
		{"", message.AuditHappened.In(l), message.AuditByPolicy.In(l), message.AuditLate.In(l)},
		{message.AuditForced.In(l), n(w.HappenedMid), n(w.Forced), n(w.LateForced)},
		{message.AuditAtBoundary.In(l), n(w.HappenedBoundary), n(w.Boundary), n(w.LateBoundary)},
		{message.AuditBetween.In(l), n(w.between()), n(w.PolicyBetween + w.Between - w.Placeless), n(w.LateBetween + w.Between - w.Placeless)},
	}
	if w.Placeless > 0 {
		rows = append(rows, []string{message.AuditUnknown.In(l), n(w.Placeless), n(w.Placeless), n(w.Placeless)})
	}
	return append(rows, [][]string{
		{message.AuditAll.In(l), n(w.Happened), n(w.policy()), n(w.late())},
		{message.AuditNotNeeded.In(l), n(w.NotNeeded), "–", "–"},
		{message.AuditWasted.In(l), "–", n(w.Wasted), "–"},
		{message.AuditMean.In(l), mean(w.Sent), mean(w.PolicySent), mean(w.LateSent)},
		w.costRow(message.AuditFromCache.In(l), func(c *Cost) string { return message.Rounded(c.Tokens.CacheRead) }),
		w.costRow(message.AuditAnew.In(l), func(c *Cost) string { return message.Rounded(c.Tokens.Input + c.Tokens.CacheWrite) }),
		w.costRow(message.AuditCost.In(l), (*Cost).dollars),
		w.costRow(message.AuditWaitPrompt.In(l), func(c *Cost) string { return waitText(c.PromptMS) }),
		w.costRow(message.AuditWaitWork.In(l), func(c *Cost) string { return waitText(c.WorkMS) }),
	}...)
}

func (w *WhatIf) costRow(name string, cell func(*Cost) string) []string {
	return []string{name, cell(&w.Cost.Happened), cell(&w.Cost.Policy), cell(&w.Cost.Late)}
}

func (c *Cost) dollars() string {
	switch {
	case c.Unpriced == 0:
		return message.Dollars(c.USD)
	case c.USD == 0:
		return "–"
	}
	return "≥ " + message.Dollars(c.USD)
}

func waitText(ms int64) string { return message.Span(time.Duration(ms) * time.Millisecond) }

// pays says whether the policy would have paid, in money and in time; "" where nothing is
// known of either.
func (w *WhatIf) pays(l message.Lang) string {
	was, now := &w.Cost.Happened, &w.Cost.Policy
	money, saved := was.USD-now.USD, was.waits()-now.waits()
	pays := "neither"
	switch {
	case money == 0 && saved == 0:
		return ""
	case money >= 0 && saved >= 0:
		pays = "both"
	case money > 0:
		pays = "money"
	case saved > 0:
		pays = "time"
	}
	return message.AuditPays.Format(l, message.Named("pays", pays), now.dollars(), was.dollars(), waitText(now.waits()), waitText(was.waits()), waitText(now.WorkMS), waitText(was.WorkMS))
}

// since leaves out what was planned for before.
func since(list []Planned, from int64) []Planned {
	return slices.DeleteFunc(slices.Clone(list), func(p Planned) bool { return p.Time < from })
}

// placed counts compactions by where they come; wasted are those of all that nothing
// follows.
func placed(list []Planned) (at, forced, between, wasted int) {
	for _, p := range list {
		switch {
		case len(p.Boundary) > 0:
			at++
		case p.Between:
			between++
		default:
			forced++
		}
		if p.Wasted {
			wasted++
		}
	}
	return at, forced, between, wasted
}

// verdict says what the policy did instead of a compaction, before it or else until
// the next one; and whether there had to be one at all.
func (p *player) verdict(from, at, next int64) string {
	if !slices.ContainsFunc(p.late.need, func(t int64) bool { return t > from && t <= next }) {
		return "not-needed"
	}
	for _, span := range [...][2]int64{{from, at}, {at, next}} {
		verdict := ""
		for _, pl := range p.planned {
			if pl.Time > span[0] && pl.Time <= span[1] && verdict != "boundary" {
				verdict = "forced"
				if len(pl.Boundary) > 0 {
					verdict = "boundary"
				}
			}
		}
		if verdict != "" {
			return verdict
		}
	}
	return "forced"
}

// windowOf is the size of a trace's window: what the host tells, else the
// model's; 0 where nobody knows.
func windowOf(t *trace, known func(model string) int64) int64 {
	window := t.Window
	peak := int64(0)
	for i := range t.requests {
		r := &t.requests[i]
		if r.side {
			continue
		}
		peak = max(peak, r.tokens.context())
	}
	for i := 0; t.Window == 0 && i < len(t.Models); i++ {
		if known != nil {
			window = max(window, known(t.Models[i]))
		}
		window = max(window, host.ModelWindow(t.Models[i]))
	}
	for i := range t.Compacted {
		peak = max(peak, t.Compacted[i].Pre)
	}
	// A model may be run with its large window without saying so.
	if window > 0 && peak > window && peak <= 1_000_000 {
		window = 1_000_000
	}
	return window
}
