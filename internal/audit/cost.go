package audit

import (
	_ "embed"
	"encoding/json"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// prices.json holds list prices with their date and source.
//
//go:embed prices.json
var pricesFile []byte

// price is what tokens of a model cost, in US dollars for a million.
type price struct {
	Input     float64 `json:"input"`
	Output    float64 `json:"output"`
	Write     float64 `json:"write"`
	WriteHour float64 `json:"writeHour"`
	Read      float64 `json:"read"`
	// Long holds for requests above that many tokens.
	Above int64  `json:"above"`
	Long  *price `json:"long"`
}

type priceTable struct {
	PriceSource
	Tiers  map[string]*price `json:"tiers"`
	Models map[string]string `json:"models"`
}

var prices = sync.OnceValue(func() *priceTable {
	t := &priceTable{}
	if err := json.Unmarshal(pricesFile, t); err != nil {
		panic("prices.json: " + err.Error()) // part of the program
	}
	return t
})

// of is the price of a model, nil where it is not known.
func (t *priceTable) of(model string) *price { return t.Tiers[t.Models[host.ModelID(model)]] }

// usd is what a request costs.
func (p *price) usd(t Tokens) float64 {
	if p.Long != nil && t.context() > p.Above {
		p = p.Long
	}
	five := t.CacheWrite - t.CacheHour
	return (float64(t.Input)*p.Input + float64(t.Output)*p.Output + float64(five)*p.Write + float64(t.CacheHour)*p.WriteHour + float64(t.CacheRead)*p.Read) / 1e6
}

// ratios are prices relative to input.
type ratios struct{ read, write, hour, output float64 }

// usual are those of most models.
var usual = ratios{read: 0.1, write: 1.25, hour: 2, output: 5}

func (t *priceTable) ratios(model string) ratios {
	p := t.of(model)
	if p == nil || p.Input == 0 {
		return usual
	}
	return ratios{p.Read / p.Input, p.Write / p.Input, p.WriteHour / p.Input, p.Output / p.Input}
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
