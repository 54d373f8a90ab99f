package audit

import "github.com/seed-6d03985f/overtone/internal/host"

// usd is what a request costs.
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
