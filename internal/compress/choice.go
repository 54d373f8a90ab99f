package compress

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/llm"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Choice is what a user asked for in words; what is empty, the settings say.
type Choice struct {
	Bands, Tools, Thinking, Preset string
	Users                          string // on or off
	Provider, Model, BaseURL       string
	MinTokens                      int
	KeepFacts, Whole, NoCache      bool
}

// Options reads them. Changed says of a flag whether it was given at all.
func (f Choice) Options(c config.Compress, changed func(string) bool) (Options, error) {
	o := Options{Whole: f.Whole, MinTokens: c.MinTokens}
	if changed("min-tokens") {
		o.MinTokens = f.MinTokens
	}
	o.MinTokens = max(o.MinTokens, 1)
	switch f.Users {
	case "on":
	case "off":
		o.NoUsers = true
	default:
		return o, message.Misuse{Err: message.Fail(message.BadOnOff)}
	}
	// No bands at all is a choice, too, when it is said.
	if f.Preset == "" && !slices.ContainsFunc([]string{"bands", "tools", "thinking"}, changed) {
		f.Preset = defaultPreset
	}
	if f.Preset != "" {
		p, err := PresetNamed(f.Preset)
		if err != nil {
			return o, message.Misuse{Err: err}
		}
		o.NoCalls = p.NoCalls
		if o.Newest = p.Newest; !changed("users") {
			o.NoUsers = true
		}
		f.Bands, f.Tools, f.Thinking = cmp.Or(f.Bands, p.Bands), cmp.Or(f.Tools, p.Tools), cmp.Or(f.Thinking, p.Thinking)
	}
	var err error
	if o.Bands, err = ParseBands(f.Bands); err != nil {
		return o, message.Misuse{Err: err}
	}
	if o.Tools, err = ParseTools(f.Tools); err != nil {
		return o, message.Misuse{Err: err}
	}
	if o.Thinking, err = ParseThinking(f.Thinking); err != nil {
		return o, message.Misuse{Err: err}
	}
	return o, nil
}

// Pool is how the backend is asked.
func (f Choice) Pool(c config.Compress, prov Backend, cache Dir) Pool {
	p := NewPool(c)
	p.Model, p.KeepFacts, p.Redact = prov.model, f.KeepFacts, prov.redact
	if prov.slow && c.TimeoutInitialMS == config.Defaults().Compress.TimeoutInitialMS {
		p.TimeoutInitial, p.TimeoutIncrement = time.Minute, time.Minute
	}
	if !f.NoCache {
		p.Cache = cache
	}
	return p
}

// Backend is a provider with what people are told about it.
type Backend struct {
	Provider
	Prices host.Prices // of models
	model  string      // as configured; empty for the provider's own choice
	small  string      // the models it will use
	large  string
	slow   bool // its start alone takes longer than a request may
	redact func(string) (string, []string)
}

func (p Backend) free() bool { return p.redact == nil }

func (p Backend) label() string {
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
func (p Backend) cost(plan *Plan) (usd float64, known bool) {
	if p.free() {
		return 0, true
	}
	if p.small == "" || len(plan.Items) == 0 {
		return 0, len(plan.Items) == 0
	}
	small, large := p.Prices.Of(p.small), p.Prices.Of(p.large)
	if small == nil || large == nil {
		return 0, false
	}
	// These are many requests, none of which is so long that it costs more.
	return (float64(plan.Small.Input)*small.Input + float64(plan.Small.Output)*small.Output +
		float64(plan.Large.Input)*large.Input + float64(plan.Large.Output)*large.Output) / 1e6, true
}

// Backend makes the provider that flags or configuration name. A missing key is an
// error here, before anything else is done; one that is not asked needs none.
func (f Choice) Backend(c config.Compress, env terminal.Env, asked bool) (Backend, error) {
	name := cmp.Or(f.Provider, c.Provider)
	model := cmp.Or(f.Model, c.Model)
	base := cmp.Or(f.BaseURL, c.BaseURL)
	if name == "builtin" {
		return Backend{Provider: Builtin{}}, nil
	}
	service, ok := llm.ByName(name)
	if !ok {
		return Backend{}, message.Misuse{Err: message.WithHint(message.Fail(message.BadProvider, name), message.HintThereAre, names(append([]string{"builtin"}, llm.Names()...)))}
	}
	key, err := service.Key(env.Getenv)
	var missing *llm.MissingKey
	// A server on this machine often wants none, and a plan asks nobody.
	if errors.As(err, &missing) && !loopback(base) && asked {
		return Backend{}, message.WithHint(message.Fail(message.MissingKeyText, missing.Name, missing.Env), message.HintKey)
	}
	small, large := cmp.Or(model, service.Small), cmp.Or(model, service.Large)
	p := Backend{model: model, small: small, large: large, slow: service.Slow, redact: redactText}
	p.Provider = viaModel(name, func(ctx context.Context, prompt string, r Request) (Reply, error) {
		s := llm.Service{URL: base, Model: small, Key: key, Now: env.Now, Env: env.Environ()}
		if r.Large {
			s.Model = large
		}
		return fromLLM(service.Ask(ctx, s, prompt))
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
