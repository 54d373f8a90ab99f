package audit

import "github.com/seed-6d03985f/overtone/internal/host"

func usd(p *host.Price, t Tokens) float64 {
	return p.USD(t.Input, t.Output, t.CacheWrite-t.CacheHour, t.CacheHour, t.CacheRead)
}

// ratios are prices relative to input.
type ratios struct{ read, write, hour, output float64 }

// usual are those of most models.
var usual = ratios{read: 0.1, write: 1.25, hour: 2, output: 5}

func ratiosOf(p *host.Price) ratios {
	if p == nil || p.Input == 0 {
		return usual
	}
	return ratios{p.Read / p.Input, p.Write / p.Input, p.WriteHour() / p.Input, p.Output / p.Input}
}

// charsPerToken is what a summary has; its request is in no transcript.
const charsPerToken = 4

// repay is the break-even of a compaction: after how many requests it is cheaper
// than none. It is 0 when the context has not become smaller.
func repay(r ratios, summary int64, first Tokens, before, after int64) Payback {
	p := Payback{Summary: summary, Read: first.CacheRead, Written: first.CacheWrite + first.Input, Before: before, After: after}
	if before <= after || r.read == 0 {
		return p
	}
	written := r.write*float64(first.CacheWrite-first.CacheHour) + r.hour*float64(first.CacheHour)
	if first.CacheWrite == 0 {
		written = r.write * float64(first.Input) // a host that does not tell what it writes
	} else {
		written += float64(first.Input)
	}
	p.N = 1 + (r.output*float64(summary)+r.read*float64(first.CacheRead)+written)/(r.read*float64(before-after))
	return p
}

// How long a host's cache lives, in milliseconds.
const (
	fiveMinutes = 5 * 60_000
	oneHour     = 60 * 60_000
)

// expired reports how much a request wrote again because its cache was gone: the
// time since the one before is over, and most of what that one had is not read.
func expired(before, now *request) (int64, bool) {
	life := int64(fiveMinutes)
	if before.tokens.CacheHour > 0 {
		life = oneHour
	}
	had := before.tokens.context()
	if before.time == 0 || now.time-before.time <= life || now.tokens.CacheRead*2 >= had || now.tokens.CacheWrite == 0 {
		return 0, false
	}
	grown := max(0, now.tokens.context()-had)
	return max(0, now.tokens.CacheWrite-grown), true
}

// Cost is what main threads and their compactions come to: all by one reckoning, so that
// what happened can be compared with what did not.
type Cost struct {
	// Tokens are sent and got: read from the cache as long as it lives, else written. USD
	// is at list prices, Unpriced are the tokens of models without one.
	Tokens   Tokens  `json:"tokens"`
	USD      float64 `json:"usd"`
	Unpriced int64   `json:"unpricedTokens"`
	// How long people wait for compactions: when they have sent a message, and while the
	// agent is at work.
	PromptMS int64 `json:"waitAtPromptMs"`
	WorkMS   int64 `json:"waitInWorkMs"`
}

func (c *Cost) waits() int64 { return c.PromptMS + c.WorkMS }

// ledger adds up the requests of one thread from a time on. It knows what the cache holds.
type ledger struct {
	Cost
	from    int64
	life    int64 // of the cache
	hour    bool  // it is written for an hour
	summary int64 // what a compaction writes
	price   *host.Price
	cached  int64
	last    int64
}

// book adds a request that sends a context. What the cache does not hold is written to it,
// or only sent.
func (l *ledger) book(clock, context, output int64, write bool) {
	t := Tokens{Output: output}
	context = max(context, 0)
	if l.last > 0 && clock-l.last <= l.life {
		t.CacheRead = min(l.cached, context)
	}
	switch rest := context - t.CacheRead; {
	case !write:
		t.Input = rest
	case l.hour:
		t.CacheWrite, t.CacheHour = rest, rest
	default:
		t.CacheWrite = rest
	}
	l.cached, l.last = context, clock
	if clock < l.from {
		return
	}
	l.Tokens.add(t)
	if l.price == nil {
		l.Unpriced += t.total()
		return
	}
	l.USD += usd(l.price, t)
}

// compact adds the request of a compaction. What stands before every conversation stays in
// the cache.
func (l *ledger) compact(clock, context int64) {
	l.book(clock, context, l.summary, false)
	l.cached = usualRead
}

// usualTook is how long a compaction takes where none was timed, in milliseconds.
const usualTook = 60_000

// tookMS is how long a compaction took, 0 where nobody knows; guessed where it is the time
// between the lines around it.
func (e *event) tookMS() (ms int64, guessed bool) {
	switch {
	case e.TookMS > 0:
		return e.TookMS, false
	case e.GapMS > 0 && e.GapMS <= maxWait && e.Trigger != "manual":
		return e.GapMS, true
	}
	return 0, false
}

func tooks(t *trace) (list []float64) {
	for i := range t.Compacted {
		if ms, _ := t.Compacted[i].tookMS(); ms > 0 {
			list = append(list, float64(ms))
		}
	}
	return list
}

// ledgerOf reckons with what the compactions of a trace wrote, and for how long it caches.
func ledgerOf(t *trace) ledger {
	l := ledger{life: fiveMinutes, summary: usualSummary}
	if _, l.hour = lastWrite(t); l.hour {
		l.life = oneHour
	}
	var wrote []float64
	for i := range t.Compacted {
		if n := t.Compacted[i].Summary; n > 0 {
			wrote = append(wrote, float64(n)/charsPerToken)
		}
	}
	if m := median(wrote); m != nil {
		l.summary = int64(*m)
	}
	return l
}

// await adds how long people wait for planned compactions. Who acts at the end of a turn
// lets those wait who write before it is done.
func (c *Cost) await(list []Planned, t *trace, r *rules) {
	for _, p := range list {
		switch {
		case p.Wasted:
		case !p.Between:
			c.WorkMS += r.took
		case !r.idle:
			c.PromptMS += r.took
		default:
			for i := range t.marks {
				if m := &t.marks[i]; m.turn && m.at >= p.Request && m.time >= p.Time {
					c.PromptMS += max(0, r.took-(m.time-p.Time))
					break
				}
			}
		}
	}
}
