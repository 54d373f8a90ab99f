package compress

import "fmt"

// MissingKey is the error of a provider whose key is not in the environment.
type MissingKey struct{ Provider, Env string }

func (e *MissingKey) Error() string {
	return fmt.Sprintf("required configuration missing: %s (provider %s)", e.Env, e.Provider)
}

// Key reads a provider's key from the environment, the only place for it.
// Providers that need none give an empty key.
func Key(provider string, getenv func(string) string) (string, error) {
	env := ""
	switch provider {
	case "openrouter":
		env = "OPENROUTER_API_KEY"
	case "openai":
		env = "OPENAI_API_KEY"
	case "anthropic":
		env = "ANTHROPIC_API_KEY"
	case "builtin", "claude":
		return "", nil
	default:
		return "", fmt.Errorf("unknown provider %q", provider)
	}
	if k := getenv(env); k != "" {
		return k, nil
	}
	return "", &MissingKey{provider, env}
}
