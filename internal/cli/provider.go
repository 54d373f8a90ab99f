package cli

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/llm"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
)

// provider is a compressor with what the command line has to know about it.
type provider struct {
	compress.Provider
	model  string // as configured; empty for the provider's own choice
	small  string // the models it will use
	large  string
	redact func(string) (string, []string)
}

func (p provider) free() bool { return p.redact == nil }

func (p provider) label() string {
	switch {
	case p.small == "":
		return p.Name()
	case p.small == p.large:
		return p.Name() + " " + p.small
	}
	return p.Name() + " " + p.small + " / " + p.large
}

// cost is what the plan would cost by the price table; nothing is cost for a
// provider on this machine.
func (p provider) cost(plan *compress.Plan) (usd float64, known bool) {
	if p.free() {
		return 0, true
	}
	if p.small == "" || len(plan.Items) == 0 {
		return 0, len(plan.Items) == 0
	}
	small, ok := llm.PriceOf(p.small)
	large, ok2 := llm.PriceOf(p.large)
	if !ok || !ok2 {
		return 0, false
	}
	prompt := compress.PromptTokens()
	for _, it := range plan.Items {
		price := small
		if int(it.Tokens) > compress.LargeThreshold {
			price = large
		}
		out := int(it.Tokens) * plan.Options.Pool.Target(plan.Bands[it.Band].Band.Level) / 100
		usd += price.USD(int(it.Tokens)+prompt, out)
	}
	return usd, true
}

// defaultModels are asked when none is configured: a fast one, and a stronger
// one for long messages.
func defaultModels(name string) (small, large string) {
	switch name {
	case "openrouter":
		return "google/gemini-2.5-flash", "google/gemini-2.5-pro"
	case "openai":
		return "gpt-5-mini", "gpt-5"
	case "anthropic":
		return "claude-haiku-4-5", "claude-sonnet-4-5"
	}
	return "", ""
}

// provider makes the provider that flags or configuration name. A missing key
// is an error here, before anything else is done.
func (a *app) provider(f compressFlags, c config.Compress) (provider, error) {
	name := cmp.Or(f.provider, c.Provider, "builtin")
	model := cmp.Or(f.model, c.Model)
	base := cmp.Or(f.baseURL, c.BaseURL)
	key, err := compress.Key(name, a.env.Getenv)
	var missing *compress.MissingKey
	switch {
	case errors.As(err, &missing):
		// A server on this machine often wants none.
		if !loopback(base) {
			return provider{}, message.WithHint(message.Fail(message.MissingKeyText, missing.Provider, missing.Env), message.HintKey)
		}
	case err != nil:
		return provider{}, usageError{message.Fail(message.BadProvider, name)}
	}
	if name == "builtin" {
		return provider{Provider: compress.Builtin{}}, nil
	}
	small, large := defaultModels(name)
	if model != "" {
		small, large = model, model
	}
	p := provider{model: model, small: small, large: large, redact: redactText}
	p.Provider = compress.Model(name, func(ctx context.Context, prompt string, r compress.Request) (compress.Reply, error) {
		m := small
		if r.Large {
			m = large
		}
		return compress.FromLLM(a.ask(ctx, name, llm.Service{URL: base, Model: m, Key: key, Now: a.env.Now}, prompt))
	})
	return p, nil
}

func (a *app) ask(ctx context.Context, name string, s llm.Service, prompt string) (llm.Answer, error) {
	p := llm.Prompt{User: prompt}
	switch name {
	case "claude":
		return llm.CLI{Model: s.Model, Env: a.env.Environ()}.Ask(ctx, p)
	case "anthropic":
		s.URL = cmp.Or(s.URL, llm.AnthropicURL)
		return s.Messages(ctx, p)
	case "openrouter":
		s.URL = cmp.Or(s.URL, llm.OpenRouterURL)
	default:
		s.URL = cmp.Or(s.URL, llm.OpenAIURL)
	}
	return s.Chat(ctx, p)
}

func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func redactText(text string) (string, []string) {
	clean, found := redact.Text(text)
	var kinds []string
	for _, f := range found {
		for range f.Count {
			kinds = append(kinds, f.Kind)
		}
	}
	return clean, kinds
}
