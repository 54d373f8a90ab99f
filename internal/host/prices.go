package host

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/seed-6d03985f/overtone/internal/config"
)

// prices.json holds the vendors' list prices, with their date and source. A key is one
// model or several.
//
//go:embed prices.json
var pricesFile []byte

// Price is what tokens of a model cost, in US dollars for a million.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// Write is that of the cache for five minutes, Read of what is read from it; 0
	// where the vendor takes that of the input.
	Write float64 `json:"write"`
	Read  float64 `json:"read"`
	// Long holds for requests that send more tokens than Above.
	Above int64  `json:"above"`
	Long  *Price `json:"long"`
}

// WriteHour is the price of the cache for an hour: twice the input's, says the one
// vendor that has it.
func (p *Price) WriteHour() float64 { return 2 * p.Input }

func (p *Price) complete() {
	p.Write, p.Read = cmp.Or(p.Write, p.Input), cmp.Or(p.Read, p.Input)
	if p.Long != nil {
		p.Long.complete()
	}
}

// USD is what a request costs: tokens that are new, the answer's, those written to the
// cache for five minutes and for an hour, and those read from it.
func (p *Price) USD(input, output, write, hour, read int64) float64 {
	if p.Long != nil && input+write+hour+read > p.Above {
		p = p.Long
	}
	return (float64(input)*p.Input + float64(output)*p.Output + float64(write)*p.Write + float64(hour)*p.WriteHour() + float64(read)*p.Read) / 1e6
}

// PriceSource says when a list of prices was made, and of what.
type PriceSource struct {
	Date   string `json:"date"`
	Source string `json:"source"`
}

// Prices are a list of them.
type Prices struct {
	PriceSource
	list map[string]*Price
	own  map[string]config.Price
}

var listPrices = sync.OnceValue(func() Prices {
	var file struct {
		PriceSource
		Prices map[string]*Price `json:"prices"`
	}
	if err := json.Unmarshal(pricesFile, &file); err != nil {
		panic("prices.json: " + err.Error()) // part of the program
	}
	l := Prices{PriceSource: file.PriceSource, list: map[string]*Price{}}
	for names, p := range file.Prices {
		p.complete()
		for name := range strings.FieldsSeq(names) {
			l.list[name] = p
		}
	}
	return l
})

// ListPrices are the vendors', and the user's own before them.
func ListPrices(own map[string]config.Price) Prices {
	l := listPrices()
	if l.own = own; len(own) > 0 {
		l.Source += " + config.yaml"
	}
	return l
}

// Of is the price of a model; nil where it is not known: say so, do not guess.
func (l Prices) Of(model string) *Price {
	model = strings.ToLower(model)
	id, best := ModelID(model), ""
	for name := range l.own {
		begin := strings.ToLower(name)
		if len(name) > len(best) && (strings.HasPrefix(model, begin) || strings.HasPrefix(id, begin)) {
			best = name
		}
	}
	switch own, ok := l.own[best]; {
	case ok:
		return &Price{Input: own.Input, Output: own.Output, Write: own.CacheWrite, Read: own.CacheRead}
	case strings.HasSuffix(model, ":free"):
		return &Price{}
	}
	return l.list[strings.TrimSuffix(id, "-preview")]
}
