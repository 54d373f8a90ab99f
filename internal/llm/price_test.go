package llm

import "testing"

func TestPriceOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model string
		want  Price
		ok    bool
	}{
		{"claude-sonnet-4-5", Price{3, 15}, true},
		{"claude-sonnet-4-5-20250929", Price{3, 15}, true},
		{"anthropic/claude-sonnet-4.5", Price{3, 15}, true},
		{"claude-opus-4-20250514", Price{15, 75}, true},
		{"claude-3-5-haiku-latest", Price{0.80, 4}, true},
		{"google/gemini-2.5-flash:thinking", Price{0.30, 2.50}, true},
		{"openai/gpt-4o-mini", Price{0.15, 0.60}, true},
		{"gpt-4o-2024-08-06", Price{2.50, 10}, true},
		{"some/model:free", Price{}, true},
		{"claude-opus-4-9", Price{}, false},
		{"gpt-5-pro", Price{}, false},
		{"llama3", Price{}, false},
		{"", Price{}, false},
	}
	for _, tt := range tests {
		if got, ok := PriceOf(tt.model); got != tt.want || ok != tt.ok {
			t.Errorf("PriceOf(%q) = %v, %v, want %v, %v", tt.model, got, ok, tt.want, tt.ok)
		}
	}
}
