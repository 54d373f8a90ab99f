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
	slow   bool // its start alone takes longer than a request may
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
	return small.USD(plan.Small.Input, plan.Small.Output) + large.USD(plan.Large.Input, plan.Large.Output), ok && ok2
}

// provider makes the provider that flags or configuration name. A missing key
// is an error here, before anything else is done.
func (a *app) provider(f compressFlags, c config.Compress) (provider, error) {
	name := cmp.Or(f.provider, c.Provider)
	model := cmp.Or(f.model, c.Model)
	base := cmp.Or(f.baseURL, c.BaseURL)
	if name == "builtin" {
		return provider{Provider: compress.Builtin{}}, nil
	}
	service, ok := llm.ByName(name)
	if !ok {
		return provider{}, message.Misuse{Err: message.Fail(message.BadProvider, name)}
	}
	key, err := service.Key(a.Getenv)
	var missing *llm.MissingKey
	// A server on this machine often wants none, and a plan asks nobody.
	if errors.As(err, &missing) && !loopback(base) && !f.dryRun {
		return provider{}, message.WithHint(message.Fail(message.MissingKeyText, missing.Name, missing.Env), message.HintKey)
	}
	small, large := cmp.Or(model, service.Small), cmp.Or(model, service.Large)
	p := provider{model: model, small: small, large: large, slow: service.Slow, redact: redactText}
	p.Provider = compress.Model(name, func(ctx context.Context, prompt string, r compress.Request) (compress.Reply, error) {
		s := llm.Service{URL: base, Model: small, Key: key, Now: a.Now, Env: a.Environ()}
		if r.Large {
			s.Model = large
		}
		return compress.FromLLM(service.Ask(ctx, s, llm.Prompt{User: prompt}))
	})
	return p, nil
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
