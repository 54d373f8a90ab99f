package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

func (a *app) uninstallCmd() *cobra.Command {
	var (
		f     initFlags
		purge bool
	)
	cmd := &cobra.Command{
		Use: "uninstall", Short: message.HelpUninstall.In(a.lang), Long: message.HelpUninstallLong.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			hosts := host.Names()
			if f.host != "" {
				if !slices.Contains(hosts, f.host) {
					return usageError{message.WithHint(message.Fail(message.BadHost, f.host), message.HintHosts)}
				}
				hosts = []string{f.host}
			}
			s := &setup{app: a, initFlags: f, report: setupReport{Schema: 1, Host: f.host, DryRun: f.dry}}
			return s.uninstall(cmd.Context(), hosts, purge)
		},
	}
	cmd.Flags().StringVar(&f.host, "host", "", message.HelpHostAll.In(a.lang))
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, message.HelpInitDryRun.In(a.lang))
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, message.HelpYes.In(a.lang))
	cmd.Flags().BoolVar(&purge, "purge", false, message.HelpPurge.In(a.lang))
	_ = cmd.RegisterFlagCompletionFunc("host", cobra.FixedCompletions(host.Names(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (s *setup) uninstall(ctx context.Context, hosts []string, purge bool) error {
	if s.env.home() == "" {
		return message.WithHint(message.Fail(message.HomeUnset), message.HintHomeSet)
	}
	root := s.env.store().Root()
	if purge && (holds(root, s.env.home()) || holds(root, s.env.Dir)) {
		return message.WithHint(message.Fail(message.PurgeRefused, root), message.HintPurge)
	}
	var open []host.Manifest
	for _, name := range hosts {
		runs, err := s.backups().Open(host.Name(name))
		if err != nil {
			s.warn(message.WarnConfig, err.Error())
		}
		if err := s.planUndo(name, runs); err != nil {
			return err
		}
		open = append(open, runs...)
	}
	plugin := slices.Contains(hosts, string(host.ClaudeCode))
	s.describe()
	folder := ""
	if _, err := os.Lstat(s.pluginDir()); plugin && err == nil {
		folder = s.pluginDir()
	}
	if _, err := os.Lstat(root); purge && err == nil {
		folder = root
	}
	if folder != "" {
		s.report.Files, s.report.Changed = append(s.report.Files, fileReport{Path: folder, Action: "remove"}), true
		if !s.json {
			s.say(message.InitRemove, s.short(folder))
		}
	}
	if s.dry {
		return s.undone(purge)
	}
	if err := s.confirm(message.AskApply); err != nil {
		return err
	}
	if purge && s.interactive() {
		if yes, err := s.yesOrNo(message.AskPurge.Format(s.lang, s.short(root)), false); err != nil || !yes {
			return errors.Join(err, message.Fail(message.NotApplied))
		}
	}
	for _, f := range s.settings {
		if err := f.Write(); err != nil {
			return message.WithHint(err, message.HintChangedFile)
		}
		f.Tidy()
	}
	if plugin {
		s.unregister(ctx)
	}
	for _, m := range open {
		if err := m.Close(); err != nil {
			return err
		}
	}
	if folder != "" {
		if err := removeFolder(folder); err != nil {
			return err
		}
	}
	return s.undone(purge)
}

// holds reports whether dir is below folder, or is it.
func holds(folder, dir string) bool {
	rel, err := filepath.Rel(folder, dir)
	return err == nil && filepath.IsLocal(rel)
}

// removeFolder removes a folder, and what it is a link to.
func removeFolder(dir string) error {
	target, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = dir, nil
	}
	if err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(target), os.RemoveAll(dir))
}

// planUndo takes back what the runs changed, in every file they changed. A file
// that no run is known for is rid of what bears our name.
func (s *setup) planUndo(name string, runs []host.Manifest) error {
	codex, err := filepath.Abs(s.env.codexHome())
	if err != nil {
		return err
	}
	usual, edits := s.claudeSetup().Settings(), s.claudeSetup().Edits()
	if name == string(host.Codex) {
		usual, edits = host.CodexFile(codex), host.CodexEdits()
	}
	paths := []string{usual}
	for _, m := range runs {
		for _, e := range m.Files {
			if !e.Keep && !slices.Contains(paths, e.Path) {
				paths = append(paths, e.Path)
			}
		}
	}
	for _, path := range paths {
		f, err := host.Open(path)
		if err != nil {
			return err
		}
		kept, err := f.Undo(runs)
		if err == nil && len(host.Edits(runs, path)) == 0 {
			kept, err = f.DropOwn(edits)
		}
		if err != nil {
			return s.jsonHint(err, path)
		}
		for _, e := range kept {
			s.warn(message.WarnKept, s.short(path), strings.Join(e.Path, "."))
		}
		if f.Exists {
			s.settings = append(s.settings, &f)
		}
	}
	return nil
}

// unregister has Claude Code forget the plugin's folder.
func (s *setup) unregister(ctx context.Context) {
	bin, err := exec.LookPath("claude")
	c := s.claudeSetup()
	if err != nil || !c.Registered() {
		return
	}
	if data, err := os.ReadFile(c.Settings()); err == nil && host.Declared(data) {
		return
	}
	if err := c.Unregister(ctx, bin, s.env.Environ()); err != nil {
		s.warn(message.WarnUnregister, err.Error())
	}
}

func (s *setup) undone(purge bool) error {
	if s.json {
		s.report.Warnings = list(s.report.Warnings)
		s.report.Files = list(s.report.Files)
		return s.printJSON(s.report)
	}
	s.warnings()
	switch root := s.short(s.env.store().Root()); {
	case !s.report.Changed:
		s.say(message.UninstallNothing)
	case s.dry:
		s.say(message.InitDry)
	case purge:
		s.say(message.UninstallPurged, root)
	default:
		s.say(message.UninstallDone, root)
	}
	return nil
}
