package host

import (
	"math"
	"testing"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	list := ListPrices(nil)
	if _, err := time.Parse(time.DateOnly, list.Date); err != nil || list.Source == "" {
		t.Errorf("the table does not say when and where it comes from: %v", err)
	}
	for name, p := range list.list {
		if ModelID(name) != name {
			t.Errorf("%s is found under %s only", name, ModelID(name))
		}
		for q := p; q != nil; q = q.Long {
			if q.Input <= 0 || q.Output < q.Input || q.Read <= 0 || q.Read > q.Input || q.Write < q.Input || (q.Long == nil) != (q.Above == 0) {
				t.Errorf("%s: %+v", name, *q)
			}
		}
	}
	for model, input := range map[string]float64{
		"claude-sonnet-4-5":                             3,
		"claude-sonnet-4-5-20250929":                    3,
		"claude-sonnet-4-5[1m]":                         3,
		"Claude-Opus-4-1@20250805":                      15,
		"anthropic/claude-sonnet-4.5":                   3,
		"openrouter/anthropic/claude-opus-4.5:thinking": 5,
		"us.anthropic.claude-opus-4-1-20250805-v1:0":    15,
		"anthropic.claude-opus-4-6-v1":                  5,
		"claude-opus-4-20250514":                        15,
		"claude-3-5-haiku-latest":                       0.8,
		"claude-3.5-haiku":                              0.8,
		"google/gemini-2.5-flash:thinking":              0.3,
		"gemini-3-flash-preview":                        0.5,
		"openai/gpt-4o-mini":                            0.15,
		"gpt-4o-2024-08-06":                             2.5,
		"gpt-5-2025-08-07":                              1.25,
		"gpt-5-chat-latest":                             1.25,
		"us.openai.gpt-5.6-sol":                         4,
		"azure/eu/gpt-5-codex":                          1.25,
	} {
		if p := list.Of(model); p == nil || p.Input != input {
			t.Errorf("%s: %+v, want %v", model, p, input)
		}
	}
	if p := list.Of("some/model:free"); p == nil || *p != (Price{}) {
		t.Errorf("free: %+v", p)
	}
	// Another word or number makes it another model, at another price.
	for _, model := range []string{"", "claude-opus-4-9", "gpt-5-unheard-of", "gpt-50", "gpt", "llama3", "<synthetic>", "gemini-2.5-flash-preview-05-20"} {
		if p := list.Of(model); p != nil {
			t.Errorf("%s: %+v", model, *p)
		}
	}
}

func TestPriceOfARequest(t *testing.T) {
	t.Parallel()
	list := ListPrices(nil)
	for _, c := range []struct {
		model                            string
		input, output, write, hour, read int64
		want                             float64
	}{
		{"claude-opus-5", 1, 10, 100, 1000, 10_000, 1*5 + 10*25 + 100*6.25 + 1000*10 + 10_000*0.5},
		{"claude-sonnet-4-5", 0, 1, 0, 0, 200_000, 15 + 200_000*0.3},
		{"claude-sonnet-4-5", 1, 1, 0, 0, 200_000, 6 + 22.5 + 200_000*0.6},
		{"claude-sonnet-4-5", 0, 0, 100_000, 100_001, 0, 100_000*7.5 + 100_001*12},
		{"claude-sonnet-4-6", 1, 1, 0, 0, 200_000, 3 + 15 + 200_000*0.3},
		{"gpt-5.5", 10, 1, 0, 0, 272_000, 10*10 + 45 + 272_000*1},
		{"gpt-5", 10, 1, 0, 0, 100, 10*1.25 + 10 + 100*0.125},
		{"gpt-5-pro", 10, 1, 0, 0, 100, 110*15 + 120},
		{"gemini-2.5-pro", 10, 1, 10, 0, 0, 20*1.25 + 10},
	} {
		if got := 1e6 * list.Of(c.model).USD(c.input, c.output, c.write, c.hour, c.read); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The user's own come first, the longest name of them.
func TestOwnPrices(t *testing.T) {
	t.Parallel()
	list := ListPrices(map[string]config.Price{
		"gpt-5.4":     {Input: 1, Output: 2, CacheWrite: 3, CacheRead: 4},
		"gpt-5.4-mi":  {Input: 5},
		"Local/":      {},
		"claude-opus": {Input: 6, Output: 7},
	})
	for model, want := range map[string]*Price{
		"gpt-5.4":                      {Input: 1, Output: 2, Write: 3, Read: 4},
		"openai/gpt-5.4-2026-03-05":    {Input: 1, Output: 2, Write: 3, Read: 4},
		"gpt-5.4-mini":                 {Input: 5},
		"local/anything":               {},
		"us.anthropic.claude-opus-5-5": {Input: 6, Output: 7},
		"claude-opus-5":                {Input: 6, Output: 7},
		"claude-sonnet-5":              list.list["claude-sonnet-5"],
		"other":                        nil,
	} {
		if got := list.Of(model); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %+v, want %+v", model, got, want)
		}
	}
	if plain := ListPrices(nil); list.Source != plain.Source+" + config.yaml" {
		t.Errorf("%q, and %q without", list.Source, plain.Source)
	}
}
