package llm

import (
	"regexp"
	"strings"
	"sync"
)

// Price is in US dollars per million tokens.
type Price struct{ Input, Output float64 }

// prices are list prices of November 2025, without discounts for caching or batches.
var prices = [...]struct {
	model string
	Price
}{
	{"claude-opus-4-5", Price{5, 25}},
	{"claude-opus-4-1", Price{15, 75}},
	{"claude-opus-4", Price{15, 75}},
	{"claude-sonnet-4-5", Price{3, 15}},
	{"claude-sonnet-4", Price{3, 15}},
	{"claude-3-7-sonnet", Price{3, 15}},
	{"claude-3-5-sonnet", Price{3, 15}},
	{"claude-haiku-4-5", Price{1, 5}},
	{"claude-3-5-haiku", Price{0.80, 4}},
	{"claude-3-haiku", Price{0.25, 1.25}},
	{"gpt-5", Price{1.25, 10}},
	{"gpt-5-mini", Price{0.25, 2}},
	{"gpt-5-nano", Price{0.05, 0.40}},
	{"gpt-4.1", Price{2, 8}},
	{"gpt-4.1-mini", Price{0.40, 1.60}},
	{"gpt-4.1-nano", Price{0.10, 0.40}},
	{"gpt-4o", Price{2.50, 10}},
	{"gpt-4o-mini", Price{0.15, 0.60}},
	{"gemini-2.5-pro", Price{1.25, 10}},
	{"gemini-2.5-flash", Price{0.30, 2.50}},
	{"gemini-2.5-flash-lite", Price{0.10, 0.40}},
}

// Only a date or "latest" may follow a known name: another word or number makes
// it another model, at another price.
var release = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-latest|[-@]\d{6,8}|-\d{4}-\d{2}-\d{2})?$`)
})

// PriceOf returns the price of a model, under its own name or a broker's
// (vendor/model:variant). False means unknown: say so, do not guess.
func PriceOf(model string) (Price, bool) {
	name := strings.ToLower(strings.TrimSpace(model))
	if strings.HasSuffix(name, ":free") {
		return Price{}, true
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, _, _ = strings.Cut(name, ":")
	dashed := strings.ReplaceAll(name, ".", "-")
	for _, p := range prices {
		for _, n := range [...]string{name, dashed} {
			if rest, ok := strings.CutPrefix(n, p.model); ok && release().MatchString(rest) {
				return p.Price, true
			}
		}
	}
	return Price{}, false
}

// USD is what input and output tokens cost.
func (p Price) USD(input, output int) float64 {
	return (float64(input)*p.Input + float64(output)*p.Output) / 1e6
}
