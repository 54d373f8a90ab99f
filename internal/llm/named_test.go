package llm

import (
	"errors"
	"strings"
	"testing"
)

func TestTC14MissingKey(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for provider, env := range map[string]string{"openrouter": "OPENROUTER_API_KEY", "openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"} {
		n, ok := ByName(provider)
		if !ok {
			t.Fatal(provider)
		}
		_, err := n.Key(none)
		var missing *MissingKey
		if !errors.As(err, &missing) || missing.Env != env || !strings.Contains(err.Error(), env) {
			t.Errorf("%s: %v", provider, err)
		}
	}
	if n, ok := ByName("claude"); !ok || n.Env != "" {
		t.Error("claude needs a key")
	}
	if _, ok := ByName("nobody"); ok {
		t.Error("unknown provider accepted")
	}
}
