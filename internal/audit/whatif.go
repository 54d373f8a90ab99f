package audit

import (
	"math"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// The policy is played over a trace: the context grows by what the recorded one
// grew, the policy is asked before each request as the hooks ask it, and what it
// compacts falls to the size that compactions of this session had. What the host
// compacted does not happen.

// usualAfter is the size after a compaction where nothing tells.
const usualAfter = 40_000

type player struct {
	set     compact.Settings
	window  int64
	after   int64
	used    int64 // the played context
	clock   int64
	turn    compact.Signals
	before  compact.Signals
	worked  bool
	history []compact.Compaction
	planned []Planned
}

// play returns the policy's compactions; what happened is compared with them.
func play(t *trace, set compact.Settings, window, after int64) []Planned {
	set.Mode = compact.ModeAuto
	if set.ContextWindow > 0 {
		window = int64(set.ContextWindow)
	}
	p := player{set: set, window: window, after: after}
	marks, events := t.marks, t.Compacted
	recorded, compacted := int64(0), false
	for i := range t.requests {
		for len(marks) > 0 && marks[0].at <= i {
			p.mark(&marks[0])
			marks = marks[1:]
		}
		for len(events) > 0 && events[0].At <= i {
			events, compacted = events[1:], true
		}
		r := &t.requests[i]
		if r.side {
			continue
		}
		p.weigh()
		p.clock = r.time
		used := r.tokens.Context() + r.tokens.Output
		switch grown := used - recorded; {
		case recorded == 0:
			p.used = used
		case compacted:
		default:
			p.used = max(used*b2i(grown < 0), p.used+grown)
		}
		recorded, compacted, p.worked = used, false, true
	}
	// Behind the last request nothing is left to compact for.
	return p.planned
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (p *player) mark(m *mark) {
	p.clock = max(p.clock, m.time)
	if m.turn {
		p.before, p.turn, p.worked = p.turn, 0, false
		return
	}
	p.turn |= m.signals
}

// weigh asks the policy. It says nothing while there is room, and nothing without
// a boundary unless it is an emergency: those are most of the cases.
func (p *player) weigh() {
	signals := p.turn
	if !p.worked && signals == 0 {
		signals = p.before
	}
	u := compact.Usage{Used: p.used, Window: p.window}
	free := func(percent float64) bool {
		return max(0, u.Window-u.Used)*10_000 >= int64(math.Round(percent*100))*u.Window
	}
	t := p.set.Trigger
	if free(max(t.EarlyPercentRemainingLT, t.EmergencyPercentRemainingLT)) || signals == 0 && free(t.EmergencyPercentRemainingLT) {
		return
	}
	at := time.UnixMilli(p.clock)
	d := compact.Decide(compact.Input{Settings: p.set, Usage: u, Signals: signals, History: p.history, Now: at})
	if d.Verdict != compact.DoCompact {
		return
	}
	// An emergency that meets a boundary is one, too.
	names := []string{}
	for _, b := range signals.List() {
		if slices.Contains(t.AutoRequiresAnyBoundary, string(b)) {
			names = append(names, string(b))
		}
	}
	p.planned = append(p.planned, Planned{Time: p.clock, Tokens: p.used, Tier: string(d.Tier), Boundary: names})
	after := min(p.after, p.used*9/10)
	p.history = append(p.history[max(0, len(p.history)-8):], compact.Compaction{At: at, Before: p.used, After: after})
	p.used, p.turn, p.before = after, 0, 0
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
		peak = max(peak, r.tokens.Context())
	}
	for _, m := range t.Models {
		if t.Window > 0 {
			break
		}
		if known != nil {
			window = max(window, known(m))
		}
		window = max(window, host.ModelWindow(m))
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
