package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/setup"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// modes are what --mode takes.
var modes = []string{"tag", "suggest", "auto"}

type initFlags struct {
	host, mode, language               string
	dry, yes, probe, doNotProbe, purge bool
	status                             bool
}

func (a *app) initCmd() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use: "init", Short: message.HelpInit.In(a.Lang), Long: message.HelpInitLong.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := namedHost(f.host)
			if err != nil {
				return err
			}
			if f.status && h.Setup(host.Place{}).Status == nil {
				return message.Misuse{Err: message.WithHint(message.Fail(message.NoStatusLine, h.Title), message.HintNoStatus)}
			}
			if f.probe && f.doNotProbe {
				return oneOf(cmd, "--probe", "--no-probe")
			}
			if f.mode != "" && !slices.Contains(modes, f.mode) {
				return message.Misuse{Err: message.WithHint(message.Fail(message.WatchBadMode, f.mode), message.HintModes)}
			}
			if _, ok := message.Parse(f.language); f.language != "" && !ok {
				return message.Misuse{Err: message.WithHint(message.Fail(message.BadLang, f.language), message.HintLangs)}
			}
			return (&installer{a, f, cmd.Context()}).install(cmd.Context(), h)
		},
	}
	cmd.Flags().StringVar(&f.host, "host", host.Names()[0], message.HelpHost.In(a.Lang))
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, message.HelpInitDryRun.In(a.Lang))
	cmd.Flags().StringVar(&f.mode, "mode", "", message.HelpMode.In(a.Lang))
	cmd.Flags().StringVar(&f.language, "lang", "", message.HelpLang.In(a.Lang))
	cmd.Flags().BoolVar(&f.status, "statusline", false, message.HelpStatusFlag.In(a.Lang))
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, message.HelpYes.In(a.Lang))
	cmd.Flags().BoolVar(&f.probe, "probe", false, message.HelpProbe.In(a.Lang))
	cmd.Flags().BoolVar(&f.doNotProbe, "no-probe", false, message.HelpNoProbe.In(a.Lang))
	for flag, words := range map[string][]string{"host": host.Names(), "mode": modes, "lang": {"zh-TW", "en"}} {
		complete(cmd, flag, words)
	}
	return cmd
}

func (a *app) uninstallCmd() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use: "uninstall", Short: message.HelpUninstall.In(a.Lang), Long: message.HelpUninstallLong.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			hosts := host.All()
			if f.host != "" {
				h, err := namedHost(f.host)
				if err != nil {
					return err
				}
				hosts = []*host.Host{h}
			}
			return (&installer{a, f, cmd.Context()}).uninstall(cmd.Context(), hosts)
		},
	}
	cmd.Flags().StringVar(&f.host, "host", "", message.HelpHostAll.In(a.Lang))
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, message.HelpInitDryRun.In(a.Lang))
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, message.HelpYes.In(a.Lang))
	cmd.Flags().BoolVar(&f.purge, "purge", false, message.HelpPurge.In(a.Lang))
	complete(cmd, "host", host.Names())
	return cmd
}

// oneOf refuses two flags that exclude each other.
func oneOf(cmd *cobra.Command, x, y string) error {
	return message.Misuse{Err: message.WithHint(message.Fail(message.FlagsExclude, x, y), message.HintHelp, cmd.CommandPath())}
}

// complete offers words for a flag.
func complete(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func namedHost(name string) (*host.Host, error) {
	h, ok := host.Named(name)
	if !ok {
		if near := nearest(name, host.Names()); near != "" {
			return nil, message.Misuse{Err: message.WithHint(message.Fail(message.BadHost, name), message.HintDidYouMean, near)}
		}
		return nil, message.Misuse{Err: message.WithHint(message.Fail(message.BadHost, name), message.HintHosts)}
	}
	return h, nil
}

// setup is what installing sees of the world.
func (a *app) setup() setup.Env {
	return setup.Env{
		Folders: a.folders(), Home: a.store(), Dir: a.Dir, Getenv: a.Getenv, Environ: a.Environ,
		Now: a.Now, Version: Version, Build: version(), Lang: a.Lang,
	}
}

// installer is one run of init or uninstall: it looks, shows, asks, and only
// then has anything written.
type installer struct {
	*app
	initFlags
	ctx context.Context //nolint:containedctx // a question is given up with it
}

func (s *installer) install(ctx context.Context, h *host.Host) error {
	if s.home() == "" {
		return message.WithHint(message.Fail(message.HomeUnset), message.HintHomeSet)
	}
	plan, err := s.setup().PlanInstall(ctx, setup.Options{
		Host: h, Mode: s.mode, Language: s.language, DryRun: s.dry, StatusLine: s.status, Probe: s.probe, NoProbe: s.doNotProbe,
		Tell: s.progress, AskLanguage: s.askLanguage,
	})
	if err != nil {
		return err
	}
	if err := s.carryOut(ctx, &plan.Report, plan.Apply); err != nil || s.JSON {
		return err
	}
	switch {
	case !plan.Changed:
		s.Say(message.InitNothing)
	case s.dry:
		s.Say(message.InitDry)
	default:
		if plan.Backup != "" {
			s.Say(message.InitBackup, s.short(plan.Backup))
		}
		s.Say(message.InitDone, plan.Host, plan.Mode, plan.Language)
		for _, t := range plan.Next() {
			s.Say(t)
		}
	}
	return nil
}

func (s *installer) uninstall(ctx context.Context, hosts []*host.Host) error {
	if s.home() == "" {
		return message.WithHint(message.Fail(message.HomeUnset), message.HintHomeSet)
	}
	plan, err := s.setup().PlanRemoval(hosts, s.purge)
	if err != nil {
		return err
	}
	plan.Host, plan.DryRun = s.host, s.dry
	root := s.short(s.store().Root())
	if err := s.carryOut(ctx, &plan.Report, plan.Apply); err != nil || s.JSON {
		return err
	}
	switch {
	case !plan.Changed:
		s.Say(message.UninstallNothing)
	case s.dry:
		s.Say(message.InitDry)
	case s.purge:
		s.Say(message.UninstallPurged, root)
	default:
		s.Say(message.UninstallDone, root)
	}
	return nil
}

// carryOut shows what would change, asks, and has it written; a preview ends
// after the first. With --json the report is all that is printed.
func (s *installer) carryOut(ctx context.Context, r *setup.Report, apply func(context.Context) error) error {
	s.show(r)
	if !s.dry {
		if err := s.confirm(r); err != nil {
			return err
		}
		if err := apply(ctx); err != nil {
			return err
		}
	}
	if s.JSON {
		return s.PrintJSON(r)
	}
	s.warnings(r)
	return nil
}

// progress is said while the work goes on.
func (s *installer) progress(t message.Text, args ...any) {
	if !s.JSON {
		s.Note(t, args...)
	}
}

// show prints, for people, what would change: the difference of each file that
// is edited, one line for every file.
func (s *installer) show(r *setup.Report) {
	if s.JSON {
		return
	}
	for _, f := range r.Files {
		fmt.Fprint(s.Stdout, f.Diff)
	}
	if !r.Changed {
		return
	}
	for _, f := range r.Files {
		path := s.short(f.Path)
		if f.Count > 0 {
			path = message.InitPlugin.Format(s.Lang, path, f.Count)
		}
		s.Say(map[setup.Action]message.Text{
			setup.Create: message.InitCreate, setup.Edit: message.InitEdit, setup.Remove: message.InitRemove, setup.Keep: message.InitKeep,
		}[f.Action], path)
	}
}

// short shows a path below the home with ~.
func (a *app) short(path string) string { return a.folders().Short(path) }

// confirm asks before anything is written, and once more before sessions go.
func (s *installer) confirm(r *setup.Report) error {
	if !s.interactive() {
		// Nobody can be asked: what changes the host, or takes sessions away, has to
		// be wanted in so many words.
		if !s.yes && r.Changed && (s.purge || r.Mode != "") {
			return message.Misuse{Err: message.WithHint(message.Fail(message.RmNeedYes), message.HintRmNeedYes)}
		}
		return nil
	}
	if r.Changed {
		s.warnings(r)
		if yes, err := s.yesOrNo(message.AskApply.In(s.Lang), true); err != nil || !yes {
			return cmp.Or(err, message.Fail(message.NotApplied))
		}
	}
	if s.purge {
		root := s.short(s.store().Root())
		if yes, err := s.yesOrNo(message.AskPurge.Format(s.Lang, root), false); err != nil || !yes {
			return errors.Join(err, message.Fail(message.NotApplied))
		}
	}
	return nil
}

// warnings are printed once.
func (s *installer) warnings(r *setup.Report) {
	for _, w := range r.Warnings {
		fmt.Fprintln(s.Stderr, "⚠ "+w)
	}
	r.Warnings = nil
}

// interactive reports whether somebody can be asked.
func (s *installer) interactive() bool {
	in, ok1 := s.Stdin.(*os.File)
	out, ok2 := terminal.File(s.Stdout)
	return !s.yes && !s.JSON && ok1 && ok2 && s.IsTTY(in.Fd()) && s.IsTTY(out.Fd())
}

func (s *installer) ask(question string) (string, error) {
	fmt.Fprint(s.Stdout, question)
	line, err := terminal.ReadLine(s.ctx, s.Stdin)
	return strings.ToLower(line), err
}

func (s *installer) yesOrNo(question string, byDefault bool) (bool, error) {
	switch answer, err := s.ask(question); {
	case err != nil:
		return false, err
	case answer == "":
		return byDefault, nil
	default:
		return answer[0] == 'y', nil
	}
}

// askLanguage is the language of the hooks: the user's answer, else the
// locale's.
func (s *installer) askLanguage() (message.Lang, error) {
	lang := language(s.Getenv)
	if !s.interactive() || s.dry {
		return lang, nil
	}
	number := map[message.Lang]string{message.ZH: "1", message.EN: "2"}
	for range 3 {
		answer, err := s.ask(message.AskLanguage.Format(s.Lang, number[lang]))
		if err != nil {
			return lang, err
		}
		switch answer {
		case "":
			return lang, nil
		case "1":
			return message.ZH, nil
		case "2":
			return message.EN, nil
		}
		if l, ok := message.Parse(answer); ok {
			return l, nil
		}
	}
	return lang, nil
}
