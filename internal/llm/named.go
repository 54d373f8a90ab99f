package llm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Named is a service that people choose by name.
type Named struct {
	Name string
	// Env is the variable that holds its key, the only place for it; empty when
	// it needs none.
	Env string
	// Small and Large are asked when no model is configured: a fast one, and a
	// stronger one for long texts.
	Small, Large string
	// Slow says that starting it alone takes longer than a request may.
	Slow bool

	url string
	ask func(s Service, ctx context.Context, prompt string) (Answer, error)
}

// named is the one list of services: a new one is a row, and a file of its own
// when it speaks a protocol of its own.
func named() []Named {
	return []Named{
		{Name: "openrouter", Env: "OPENROUTER_API_KEY", Small: "google/gemini-2.5-flash", Large: "google/gemini-2.5-pro", url: "https://openrouter.ai/api/v1", ask: Service.chat},
		{Name: "openai", Env: "OPENAI_API_KEY", Small: "gpt-5-mini", Large: "gpt-5", url: "https://api.openai.com/v1", ask: Service.chat},
		{Name: "anthropic", Env: "ANTHROPIC_API_KEY", Small: "claude-haiku-4-5", Large: "claude-sonnet-4-5", url: "https://api.anthropic.com/v1", ask: Service.messages},
		{Name: "claude", Slow: true, ask: Service.claude},
	}
}

// Names lists the services.
func Names() []string {
	var names []string
	for _, n := range named() {
		names = append(names, n.Name)
	}
	return names
}

// ByName finds a service.
func ByName(name string) (Named, bool) {
	all := named()
	i := slices.IndexFunc(all, func(n Named) bool { return n.Name == name })
	if i < 0 {
		return Named{}, false
	}
	return all[i], true
}

// Ask asks once, at the service's own address when s names none.
func (n Named) Ask(ctx context.Context, s Service, prompt string) (Answer, error) {
	s.URL = cmp.Or(s.URL, n.url)
	return n.ask(s, ctx, prompt)
}

// MissingKey is the error of a service whose key is not in the environment.
type MissingKey struct{ Name, Env string }

func (e *MissingKey) Error() string {
	return fmt.Sprintf("required configuration missing: %s (provider %s)", e.Env, e.Name)
}

// Key reads the service's key from the environment.
func (n Named) Key(getenv func(string) string) (string, error) {
	if n.Env == "" {
		return "", nil
	}
	if k := getenv(n.Env); k != "" {
		return k, nil
	}
	return "", &MissingKey{n.Name, n.Env}
}
