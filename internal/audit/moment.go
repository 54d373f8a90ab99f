package audit

import (
	"context"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Moment is where a session stands, as its file alone tells.
type Moment struct {
	// Context is what the last model was sent and said.
	Context int64
	Window  int64 // 0 where nobody knows
	// Signals are those of the last turn.
	Signals compact.Signals
	// Last is the last request, Expires when what it cached is gone; both zero
	// where there was none, Expires also where the host does not tell.
	Last, Expires time.Time
	// Repaid is after how many requests a compaction now would be cheaper than
	// none; 0 when it would not make the context smaller.
	Repaid float64
	// Compactions are those that happened, Points the context's size at each request of
	// the main thread, Model the one that was asked last.
	Compactions []Compaction
	Points      []Point
	Model       string
}

// History is what the policy has to know of the compactions.
func (m *Moment) History() []compact.Compaction {
	var list []compact.Compaction
	for i := range m.Compactions {
		c := &m.Compactions[i]
		at, _ := time.Parse(time.RFC3339, c.Time) // empty where it is unknown
		after := c.After
		if after == 0 {
			after = -1
		}
		list = append(list, compact.Compaction{At: at, Before: c.Before, After: after, Foreign: true})
	}
	return list
}

// What a compaction leaves where a session has had none: measured on recorded
// ones.
const (
	usualSummary = 2_900
	usualRead    = 15_000
)

// Now reads a session's file. Own are the user's prices.
func Now(ctx context.Context, file transcript.File, set compact.Settings, known func(model string) int64, own map[string]config.Price) (Moment, error) {
	t, err := read(ctx, file, set, compact.NewMarks(set.Markers), false)
	if err != nil {
		return Moment{}, err
	}
	a := analysis{prices: host.ListPrices(own)}
	m := Moment{Window: windowOf(t, known)}
	m.Points, _ = contextOf(t, 0)
	for i := range t.marks {
		if t.marks[i].turn {
			m.Signals = 0
		}
		m.Signals |= t.marks[i].signals &^ compact.TurnEnd.Signal() // whether a turn runs since, hooks know
	}
	marks := natural(t.marks)
	for i := range t.Compacted {
		c := a.compaction(&traced{file: file, trace: t}, i, marks)
		c.N = i + 1
		m.Compactions = append(m.Compactions, c)
	}
	last := mainBefore(t.requests, len(t.requests))
	if last == nil {
		return m, nil
	}
	m.Model = t.Models[last.model]
	if n := len(t.Compacted); n > 0 && mainAfter(t.requests, t.Compacted[n-1].At) == nil {
		return m, nil // nothing was asked since
	}
	m.Context = last.tokens.context() + last.tokens.Output
	m.Last = time.UnixMilli(last.time)
	// A host that does not tell what it writes does not tell for how long either.
	if wrote, _ := lastWrite(t); wrote {
		m.Expires = m.Last.Add(time.Duration(ledgerOf(t).life) * time.Millisecond)
	}
	m.Repaid = repaidNow(t, last, m.Context, own)
	return m, nil
}

// lastWrite reports whether a request wrote to the cache, and whether the last one
// that did wrote for an hour.
func lastWrite(t *trace) (wrote, hour bool) {
	for i := len(t.requests) - 1; i >= 0; i-- {
		if r := &t.requests[i]; !r.side && r.tokens.CacheWrite > 0 {
			return true, r.tokens.CacheHour > 0
		}
	}
	return false, false
}

// repaidNow reckons with what earlier compactions of the session left.
func repaidNow(t *trace, last *request, used int64, own map[string]config.Price) float64 {
	var after, readAgain []float64
	for i := range t.Compacted {
		if r := mainAfter(t.requests, t.Compacted[i].At); r != nil {
			after, readAgain = append(after, float64(r.tokens.context())), append(readAgain, float64(r.tokens.CacheRead))
		}
	}
	size, cached := middle(after, usualAfter), middle(readAgain, usualRead)
	cached = min(cached, size)
	first := Tokens{CacheRead: cached, CacheWrite: size - cached}
	l := ledgerOf(t)
	if l.hour {
		first.CacheHour = first.CacheWrite
	}
	return repay(ratiosOf(host.ListPrices(own).Of(t.Models[last.model])), l.summary, first, used, size).N
}
