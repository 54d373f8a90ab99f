package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// setting is a key with what holds and where that comes from.
type setting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
	// Origin is default, locale, file, prompt or environment; From is the file or the
	// variable.
	Origin string `json:"origin"`
	From   string `json:"from"`
	Help   string `json:"help"`

	inner bool
}

func (a *app) configCmd() *cobra.Command {
	var changed, all bool
	cmd := a.command("config", cobra.NoArgs, func(*cobra.Command, []string) error {
		list, problems := a.settings()
		shown := []setting{}
		for _, s := range list {
			given := s.Origin != "default" && s.Origin != "locale"
			if given || !changed && (all || a.JSON || !s.inner) {
				shown = append(shown, s)
			}
		}
		return a.printSettings(shown, problems)
	})
	AddFlags(cmd, map[string]any{"all": &all, "changed": &changed})
	cmd.AddCommand(
		a.command("get KEY", cobra.ExactArgs(1), func(_ *cobra.Command, args []string) error {
			s, err := a.setting(args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintObject("key", s.Key, "value", s.Value, "default", s.Default, "origin", s.Origin, "from", s.From, "help", s.Help)
			}
			fmt.Fprintln(a.Stdout, s.Value)
			return nil
		}),
		a.command("set KEY VALUE", cobra.ExactArgs(2), func(_ *cobra.Command, args []string) error {
			if err := a.setConfig([][2]string{{args[0], args[1]}}); err != nil {
				return err
			}
			s, err := a.setting(args[0])
			if err == nil && s.Origin == "environment" {
				a.Note(message.ConfigOverruled, s.From, s.Value)
			}
			return err
		}),
	)
	return cmd
}

// setting is the one of a key. A key that is none is a misuse that names the nearest.
func (a *app) setting(key string) (setting, error) {
	list, _ := a.settings()
	i := slices.IndexFunc(list, func(s setting) bool { return s.Key == key })
	if i < 0 {
		return setting{}, a.misset(key, "null")
	}
	return list[i], nil
}

// misset tells why a key, or a value of it, cannot be.
func (a *app) misset(key, value string) error {
	for _, p := range config.Check(key, value) {
		return message.Misuse{Err: errors.New(p.In(string(a.Lang)))}
	}
	path := a.store().ConfigFile()
	return message.WithHint(message.Fail(message.ConfigNotSet, path, key, value), message.HintEditConfig, a.short(path), key, value)
}

// setConfig writes settings into the user's file, all of them or none, and tells what each
// was before.
func (a *app) setConfig(list [][2]string) error {
	f, err := host.Open(a.store().ConfigFile())
	if err != nil {
		return err
	}
	var told []string
	for _, kv := range list {
		if len(config.Check(kv[0], kv[1])) > 0 {
			return a.misset(kv[0], kv[1])
		}
		was, err := a.setting(kv[0])
		if err != nil {
			return err
		}
		if f.After, err = config.Set(f.After, kv[0], kv[1]); err != nil {
			return a.misset(kv[0], kv[1])
		}
		told = append(told, fmt.Sprintf("%s: %s → %s", kv[0], was.Value, kv[1]))
	}
	if err := f.Write(); err != nil {
		return err
	}
	for _, line := range told {
		fmt.Fprintln(a.Stderr, line)
	}
	a.Note(message.ConfigWrote, a.short(f.Path))
	return nil
}

// settings are all of them, in the order of the file.
func (a *app) settings() ([]setting, []config.Problem) {
	home := a.store()
	cfg, origins, problems := config.LoadFrom(home.ConfigFile(), a.Getenv)
	set, more := session.Settings(home, cfg.Compact)
	problems = append(problems, more...)
	cfg.Compact = set
	values := config.Values(cfg)
	var list []setting
	for _, k := range config.Keys() {
		s := setting{Key: k.Key, Value: values[k.Key], Default: k.Default, Origin: "default", Help: k.EN, inner: k.Inner}
		if a.Lang == message.ZH {
			s.Help = k.ZH
		}
		if _, named := message.Locale(a.Getenv); k.Key == "language" && !cfg.Chosen && named {
			s.Value, s.Origin = string(a.Lang), "locale"
		}
		switch from, ok := origins[k.Key]; {
		case ok && from == config.FromFile:
			s.Origin, s.From = "file", a.short(home.ConfigFile())
		case ok:
			s.Origin, s.From = "environment", from
		case k.Prompt != "" && s.Value != s.Default:
			s.Origin, s.From = "prompt", a.short(session.PromptFile(home))
		}
		list = append(list, s)
	}
	return list, problems
}

func (a *app) printSettings(list []setting, problems []config.Problem) error {
	if a.JSON {
		texts := []string{}
		for _, p := range problems {
			texts = append(texts, p.In(string(a.Lang)))
		}
		return a.PrintObject("file", a.store().ConfigFile(), "settings", list, "problems", texts)
	}
	rows := [][]string{{message.ColKey.In(a.Lang), message.ColValue.In(a.Lang), message.ColOrigin.In(a.Lang)}}
	for _, s := range list {
		from := s.From
		switch s.Origin {
		case "default":
			from = message.OriginDefault.In(a.Lang)
		case "locale":
			from = message.OriginLocale.In(a.Lang)
		}
		rows = append(rows, []string{s.Key, message.Short(s.Value, 60), from})
	}
	if len(list) > 0 {
		a.Rows(a.Stdout, rows, terminal.Plan{Cut: []int{1, 2}})
	} else {
		a.Say(message.ConfigAllDefault)
	}
	for _, p := range problems {
		p.File = a.short(p.File)
		fmt.Fprintln(a.Stderr, "⚠ "+p.In(string(a.Lang)))
	}
	return nil
}

// noteProblems tells what is wrong in the settings beside what a command prints.
func (a *app) noteProblems(problems []config.Problem) {
	for _, p := range problems {
		p.File = a.short(p.File)
		a.Note(message.WarnConfig, p.In(string(a.Lang)))
	}
}
