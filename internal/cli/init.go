package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/setup"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

var modes = []string{"off", "tag", "suggest", "auto"}

type initFlags struct {
	hosts           []string
	mode, language  string
	dry, yes, purge bool
	status, bare    bool
}

func (a *app) initCmd() *cobra.Command {
	var f initFlags
	cmd := a.command("init", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		hosts, err := hostsMeant(f.hosts, setup.Present)
		if err != nil {
			return err
		}
		if len(hosts) > 0 && f.status && !slices.ContainsFunc(hosts, func(h *host.Host) bool { return h.Setup(host.Place{}).Status != nil }) {
			return message.Misuse{Err: message.WithHint(message.Fail(message.NoStatusLine, hosts[0].Title), message.HintNoStatus)}
		}
		if f.mode != "" && !slices.Contains(modes, f.mode) {
			return message.Misuse{Err: message.WithHint(message.Fail(message.WatchBadMode, f.mode), message.HintModes)}
		}
		if _, ok := message.Parse(f.language); f.language != "" && !ok {
			return message.Misuse{Err: message.WithHint(message.Fail(message.BadLang, f.language), message.HintLangs)}
		}
		if len(hosts) == 0 {
			return message.WithHint(message.Fail(message.NoHosts), message.HintNoHosts, host.Names())
		}
		var errs []error
		env := a.setup()
		env.Ask(cmd.Context(), hosts)
		for _, h := range hosts { // one that cannot be set up keeps no other from it
			errs = append(errs, env.Install(cmd.Context(), &a.Terminal, setup.Options{
				Host: h, Mode: f.mode, Language: f.language, DryRun: f.dry, Yes: f.yes, StatusLine: f.status, Others: len(hosts) > 1, NoWorkflows: f.bare,
			}))
		}
		if len(errs) == 1 {
			return errs[0]
		}
		return errors.Join(errs...)
	})
	cmd.Flags().StringSliceVar(&f.hosts, "host", nil, strings.Join(host.Names(), ", "))
	AddFlags(cmd, map[string]any{
		"dry-run": &f.dry, "mode": &f.mode, "lang": &f.language, "statusline": &f.status, "no-workflows": &f.bare, "yes,y": &f.yes,
	})
	cmd.Flags().Bool("no-probe", false, "") // of earlier versions, which tried the host first
	_ = cmd.Flags().MarkHidden("no-probe")
	for flag, words := range map[string][]string{"host": host.Names(), "mode": modes, "lang": {"zh-TW", "en"}} {
		complete(cmd, flag, words)
	}
	return cmd
}

func (a *app) uninstallCmd() *cobra.Command {
	var f initFlags
	cmd := a.command("uninstall", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		hosts, err := hostsMeant(f.hosts, host.All)
		if err != nil {
			return err
		}
		return a.setup().Uninstall(cmd.Context(), &a.Terminal, setup.RemovalOptions{
			Hosts: hosts, Host: strings.Join(f.hosts, ","), DryRun: f.dry, Yes: f.yes, Purge: f.purge,
			Clones: len(compress.ClonesIn(a.store().Root()).Standing()),
		})
	})
	AddFlags(cmd, map[string]any{"host": &f.hosts, "dry-run": &f.dry, "yes,y": &f.yes, "purge": &f.purge})
	complete(cmd, "host", host.Names())
	return cmd
}

// oneOf refuses two flags that exclude each other.
func oneOf(cmd *cobra.Command, x, y string) error {
	return message.Misuse{Err: message.WithHint(message.Fail(message.FlagsExclude, x, y), message.HintHelp, cmd.CommandPath())}
}

func complete(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// hostFlag adds --host, which leaves out the sessions of other hosts. It takes one.
func (a *app) hostFlag(cmd *cobra.Command, name *string) {
	var names []string
	cmd.Flags().StringSliceVar(&names, "host", nil, strings.Join(host.Names(), ", "))
	complete(cmd, "host", host.Names())
	cmd.PreRunE = func(*cobra.Command, []string) error {
		hosts, err := hostsMeant(names, func() []*host.Host { return nil })
		if err != nil || len(hosts) == 0 {
			return err
		}
		if len(hosts) > 1 {
			return message.Misuse{Err: message.WithHint(message.Fail(message.OneHost, names), message.HintOneHost)}
		}
		*name = string(hosts[0].Name)
		return nil
	}
}

// hostsMeant are the hosts of some names, each once, or the others where none is named.
func hostsMeant(names []string, others func() []*host.Host) ([]*host.Host, error) {
	var hosts []*host.Host
	for _, name := range names {
		h, err := namedHost(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	if len(names) == 0 {
		return others(), nil
	}
	return hosts, nil
}

func namedHost(name string) (*host.Host, error) {
	h, ok := host.Named(name)
	if !ok {
		hint := workflow.Meant(name, host.Names(), message.HintDidYouMean, message.HintThereAre)
		return nil, message.Misuse{Err: message.Hinted{Err: message.Fail(message.BadHost, name), Hint: hint}}
	}
	return h, nil
}

// setup is what installing sees of the world.
func (a *app) setup() setup.Env {
	bar := a.NewBar(0)
	return setup.Env{
		Progress: func(done, total int64) {
			bar.Update(done, total, func(drawn string, _ time.Duration) string { return drawn + " " + a.In(message.AskingVersions) })
			if done == total {
				bar.Clear()
			}
		},
		Folders: a.folders(), Home: a.store(), Hook: setup.HookProgram(), Dir: a.Dir, Getenv: a.Getenv, Environ: a.Environ,
		Now: a.Now, Version: terminal.Version, Build: terminal.ThisBuild().String(), Lang: a.Lang,
	}
}

// short shows a path below the home with ~.
func (a *app) short(path string) string { return a.folders().Short(path) }
