package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/config"
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
	cmd := a.command("config", message.HelpConfig, message.HelpConfigLong, cobra.NoArgs, func(*cobra.Command, []string) error {
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
	cmd.Flags().BoolVar(&all, "all", false, message.HelpConfigAll.In(a.Lang))
	cmd.Flags().BoolVar(&changed, "changed", false, message.HelpConfigChanged.In(a.Lang))
	return cmd
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
		a.Note(message.ConfigProblem, p.In(string(a.Lang)))
	}
}
