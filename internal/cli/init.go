package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/plugin"
)

type initFlags struct {
	host, mode, language        string
	dry, yes, probe, doNotProbe bool
}

func (a *app) initCmd() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use: "init", Short: message.HelpInit.In(a.lang), Long: message.HelpInitLong.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(host.Names(), f.host) {
				return usageError{message.WithHint(message.Fail(message.BadHost, f.host), message.HintHosts)}
			}
			if !slices.Contains([]string{"", "tag", "suggest", "auto"}, f.mode) {
				return usageError{message.WithHint(message.Fail(message.WatchBadMode, f.mode), message.HintModes)}
			}
			if _, ok := message.Parse(f.language); f.language != "" && !ok {
				return usageError{message.WithHint(message.Fail(message.BadLang, f.language), message.HintLangs)}
			}
			s := &setup{app: a, initFlags: f, report: setupReport{Schema: 1, Host: f.host, DryRun: f.dry}}
			return s.install(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&f.host, "host", string(host.ClaudeCode), message.HelpHost.In(a.lang))
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, message.HelpInitDryRun.In(a.lang))
	cmd.Flags().StringVar(&f.mode, "mode", "", message.HelpMode.In(a.lang))
	cmd.Flags().StringVar(&f.language, "lang", "", message.HelpLang.In(a.lang))
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, message.HelpYes.In(a.lang))
	cmd.Flags().BoolVar(&f.probe, "probe", false, message.HelpProbe.In(a.lang))
	cmd.Flags().BoolVar(&f.doNotProbe, "no-probe", false, message.HelpNoProbe.In(a.lang))
	cmd.MarkFlagsMutuallyExclusive("probe", "no-probe")
	for flag, words := range map[string][]string{"host": host.Names(), "mode": {"tag", "suggest", "auto"}, "lang": {"zh-TW", "en"}} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

// setup is one run of init or uninstall: it looks, shows, asks, and only then
// writes.
type setup struct {
	*app
	initFlags
	report setupReport

	settings []*host.File // the host's, undone by uninstall
	own      []*host.File // ours, left alone by it
	plugin   host.PluginState
	files    []host.PluginFile
}

type setupReport struct {
	Schema   int          `json:"schema"`
	Host     string       `json:"host,omitempty"`
	DryRun   bool         `json:"dryRun"`
	Changed  bool         `json:"changed"`
	Mode     string       `json:"mode,omitempty"`
	Language string       `json:"language,omitempty"`
	Files    []fileReport `json:"files"`
	Backup   string       `json:"backup,omitempty"`
	Warnings []string     `json:"warnings"`
}

type fileReport struct {
	Path   string `json:"path"`
	Action string `json:"action"` // create, edit, remove, keep
	Diff   string `json:"diff,omitempty"`
	Count  int    `json:"count,omitempty"` // files below the plugin's folder
}

func (s *setup) warn(t message.Text, args ...any) {
	s.report.Warnings = append(s.report.Warnings, t.Format(s.lang, args...))
}

func (a *app) backups() host.Backups {
	return host.Backups{Dir: filepath.Join(a.env.store().Root(), "backup")}
}

// pluginDir is where Claude Code loads the plugin from.
func (a *app) pluginDir() string { return filepath.Join(a.env.store().Root(), "plugin") }

// claudeSetup is the installation in Claude Code.
func (a *app) claudeSetup() host.Claude {
	return host.Claude{Dir: a.env.store().ClaudeDir(), Home: a.env.home(), Plugin: a.pluginDir()}
}

func (s *setup) install(ctx context.Context) error {
	if s.env.home() == "" {
		return message.WithHint(message.Fail(message.HomeUnset), message.HintHomeSet)
	}
	cfg, problems := s.env.config()
	for _, p := range problems {
		s.warn(message.WarnConfig, p.Error())
	}
	s.checkPath()
	asked := s.mode
	if s.mode == "" {
		s.mode = cfg.Compact.Mode
	}
	if s.host == string(host.ClaudeCode) {
		s.checkClaude(ctx, asked)
	}
	if err := s.planOwn(asked != "", cfg); err != nil {
		return err
	}
	c := s.claudeSetup()
	var err error
	if s.host == string(host.ClaudeCode) {
		if s.mode == "auto" {
			c.Window, c.Percent = cfg.Compact.NativeWindow, cfg.Compact.NativePercent
		}
		err = s.planClaude(c)
	} else {
		err = s.planCodex(ctx)
	}
	if err != nil {
		return err
	}
	s.describe()
	if err := s.confirm(message.AskApply); err != nil || s.dry {
		return err
	}
	if err := s.apply(); err != nil {
		return err
	}
	if s.host == string(host.ClaudeCode) {
		s.register(ctx, c)
	}
	return s.conclude()
}

// checkPath warns about hooks that will not find this program.
func (s *setup) checkPath() {
	self, err := os.Executable()
	if err != nil {
		return
	}
	found, err := exec.LookPath("overtone")
	if err != nil {
		s.warn(message.WarnNotOnPath)
		s.warn(message.HintPath, filepath.Dir(self))
	} else if !sameFile(found, self) {
		s.warn(message.WarnOtherBinary, found, self)
	}
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// checkClaude looks at the installed Claude Code. Mode auto is given up when it
// cannot be relied upon.
func (s *setup) checkClaude(ctx context.Context, asked string) {
	bin, err := exec.LookPath("claude")
	if err != nil {
		s.warn(message.WarnNoClaude)
		if asked == "auto" {
			s.suggest(message.ProbeNoClaude)
		}
		return
	}
	v, err := host.Ask(ctx, bin, s.env.Environ())
	switch {
	case err != nil:
		s.warn(message.WarnAskVersion, err.Error())
	case v.Less(host.Of(host.ClaudeCode).Floor):
		s.warn(message.WarnOldClaude, v, host.Of(host.ClaudeCode).Floor)
		if asked == "auto" {
			s.suggest(message.WarnOldClaude, v, host.Of(host.ClaudeCode).Floor)
			return
		}
	}
	if !s.probe && (asked != "auto" || s.doNotProbe) {
		return
	}
	if s.dry {
		s.progress(message.InitWouldTry)
		return
	}
	s.progress(message.InitProbing)
	switch ok, err := host.Probe(ctx, bin, s.env.Getenv("PATH")); {
	case err != nil:
		s.suggest(message.ProbeFailed, err.Error())
	case !ok:
		s.suggest(message.ProbeRefused)
	default:
		s.progress(message.InitProbed, v)
	}
}

// suggest gives mode auto up; in any other mode it is only said why auto would
// not do.
func (s *setup) suggest(why message.Text, args ...any) {
	if s.mode == "auto" {
		s.mode = "suggest"
	}
	s.warn(message.WarnSuggest, why.Format(s.lang, args...))
}

// progress is said while the work goes on.
func (s *setup) progress(t message.Text, args ...any) {
	if !s.json {
		s.note(t, args...)
	}
}

// planOwn seeds the configuration and the prompt file, and sets in an existing
// configuration what was asked for.
func (s *setup) planOwn(setMode bool, cfg config.Config) error {
	store := s.env.store()
	conf, err := host.Open(store.ConfigFile())
	if err != nil {
		return err
	}
	s.report.Mode, s.report.Language = s.mode, string(cfg.Language)
	lang, _ := message.Parse(s.language)
	switch {
	case !conf.Exists:
		if s.language == "" {
			if lang, err = s.askLanguage(); err != nil {
				return err
			}
		}
		conf.After = config.Default(string(lang))
		s.report.Language = string(lang)
	case s.language != "":
		if err := s.set(&conf, "language", string(lang)); err != nil {
			return err
		}
		s.report.Language = string(lang)
	}
	if setMode || s.mode != cfg.Compact.Mode {
		if err := s.set(&conf, "compact.mode", s.mode); err != nil {
			return err
		}
	}
	file, err := host.Open(filepath.Join(store.Root(), "auto-compact.md"))
	if err != nil {
		return err
	}
	if !file.Exists {
		file.After = prompt.DefaultAutoCompact()
	}
	s.own = []*host.File{&conf, &file}
	return nil
}

func (s *setup) set(f *host.File, key, value string) error {
	after, err := config.Set(f.After, key, value)
	if err != nil {
		return message.WithHint(fmt.Errorf("edit %s: %w", f.Path, err), message.HintEditConfig, s.short(f.Path), key, value)
	}
	f.After = after
	return nil
}

func (s *setup) planClaude(c host.Claude) error {
	f, err := host.Open(c.Settings())
	if err != nil {
		return err
	}
	if c.Window == 0 {
		// An earlier run in mode auto is taken back to here.
		runs, err := s.backups().Open(host.ClaudeCode)
		if err != nil {
			s.warn(message.WarnConfig, err.Error())
		}
		edits := slices.DeleteFunc(host.Edits(runs, f.Path), func(e host.Edit) bool { return !host.IsWindow(e) })
		if _, err := f.Drop(edits); err != nil {
			return s.jsonHint(err, f.Path)
		}
	}
	if err := f.Edit(c.Edits()); err != nil {
		return s.jsonHint(err, f.Path)
	}
	s.settings = []*host.File{&f}
	if s.files, err = host.PluginFiles(plugin.FS); err != nil {
		return err
	}
	s.plugin, err = host.ComparePlugin(c.Plugin, s.files)
	return err
}

func (s *setup) planCodex(ctx context.Context) error {
	if bin, err := exec.LookPath("codex"); err == nil {
		if v, err := host.Ask(ctx, bin, s.env.Environ()); err == nil && v.Less(host.Of(host.Codex).Floor) {
			s.warn(message.WarnOldCodex, v, host.Of(host.Codex).Floor)
		}
	}
	home, err := filepath.Abs(s.env.codexHome())
	if err != nil {
		return err
	}
	f, err := host.Open(host.CodexFile(home))
	if err != nil {
		return err
	}
	if err := f.Edit(host.CodexEdits()); err != nil {
		return s.jsonHint(err, f.Path)
	}
	s.settings = []*host.File{&f}
	return nil
}

func (s *setup) jsonHint(err error, path string) error {
	return message.WithHint(err, message.HintBrokenJSON, s.short(path))
}

// describe puts what would change into the report and, for people, prints it:
// the difference of each file that is edited, one line for each that is new.
func (s *setup) describe() {
	if n := len(s.files); n > 0 {
		r := fileReport{Path: s.pluginDir(), Action: "keep", Count: n}
		switch {
		case len(s.plugin.Missing) == n:
			r.Action = "create"
		case !s.plugin.Intact():
			r.Action = "edit"
		}
		s.report.Files = append(s.report.Files, r)
	}
	for _, f := range append(slices.Clone(s.own), s.settings...) {
		r := fileReport{Path: f.Path, Action: "keep"}
		switch {
		case !f.Changed():
		case f.Gone:
			r.Action = "remove"
		case !f.Exists:
			r.Action = "create"
		default:
			r.Action = "edit"
		}
		if f.Changed() && (f.Exists || slices.Contains(s.settings, f)) {
			r.Diff = s.diff(f)
		}
		s.report.Files = append(s.report.Files, r)
	}
	s.report.Changed = slices.ContainsFunc(s.report.Files, func(r fileReport) bool { return r.Action != "keep" })
	if s.json {
		return
	}
	for _, r := range s.report.Files {
		fmt.Fprint(s.env.Stdout, r.Diff)
	}
	if s.report.Changed {
		s.list()
	}
}

func (s *setup) list() {
	for _, r := range s.report.Files {
		path := s.short(r.Path)
		if r.Count > 0 {
			path = message.InitPlugin.Format(s.lang, path, r.Count)
		}
		s.say(map[string]message.Text{
			"create": message.InitCreate, "edit": message.InitEdit, "remove": message.InitRemove, "keep": message.InitKeep,
		}[r.Action], path)
	}
}

func (s *setup) diff(f *host.File) string {
	before, after := s.short(f.Path), s.short(f.Path)
	if !f.Exists {
		before = os.DevNull
	}
	now := f.After
	if f.Gone {
		after, now = os.DevNull, nil
	}
	return string(diff.Diff(before, f.Before, after, now))
}

// short shows a path below the home with ~.
func (a *app) short(path string) string {
	if rel, err := filepath.Rel(a.env.home(), path); a.env.home() != "" && err == nil && filepath.IsLocal(rel) {
		return "~" + string(filepath.Separator) + rel
	}
	return path
}

// confirm asks before anything is written, and ends a preview.
func (s *setup) confirm(question message.Text) error {
	if s.dry {
		return s.conclude()
	}
	if !s.report.Changed || !s.interactive() {
		return nil
	}
	s.warnings()
	if yes, err := s.yesOrNo(question.In(s.lang), true); err != nil {
		return err
	} else if !yes {
		return message.Fail(message.NotApplied)
	}
	return nil
}

// interactive reports whether somebody can be asked.
func (s *setup) interactive() bool {
	in, ok1 := s.env.Stdin.(*os.File)
	out, ok2 := s.env.Stdout.(*os.File)
	return !s.yes && !s.json && ok1 && ok2 && s.env.IsTTY(in.Fd()) && s.env.IsTTY(out.Fd())
}

func (s *setup) ask(question string) (string, error) {
	fmt.Fprint(s.env.Stdout, question)
	var line []byte
	// Byte by byte: a buffer would swallow the next answer.
	for b := make([]byte, 1); ; {
		n, err := s.env.Stdin.Read(b)
		if n == 0 && err != nil {
			return "", message.Fail(message.Interrupted)
		}
		if n > 0 && b[0] == '\n' {
			return strings.ToLower(strings.TrimSpace(string(line))), nil
		}
		line = append(line, b[:n]...)
	}
}

func (s *setup) yesOrNo(question string, byDefault bool) (bool, error) {
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
func (s *setup) askLanguage() (message.Lang, error) {
	lang := s.env.lang()
	if !s.interactive() || s.dry {
		return lang, nil
	}
	number := map[message.Lang]string{message.ZH: "1", message.EN: "2"}
	for range 3 {
		answer, err := s.ask(message.AskLanguage.Format(s.lang, number[lang]))
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

// apply keeps backups and writes. The settings come last: they switch on what
// the other files hold.
func (s *setup) apply() error {
	var changed, kept []*host.File
	for _, f := range s.settings {
		if f.Changed() {
			changed = append(changed, f)
		}
	}
	for _, f := range s.own {
		if f.Changed() && f.Exists {
			kept = append(kept, f)
		}
	}
	if len(changed)+len(kept) > 0 {
		m, err := s.backups().Save(s.env.Now(), host.Name(s.host), Version, changed, kept...)
		if err != nil {
			return err
		}
		s.report.Backup = m.Path()
	}
	if len(s.files) > 0 {
		if err := host.WritePlugin(s.pluginDir(), s.files, s.plugin); err != nil {
			return fmt.Errorf("write the plugin: %w", err)
		}
	}
	for _, f := range append(s.own, s.settings...) {
		if err := f.Write(); err != nil {
			return message.WithHint(err, message.HintChangedFile)
		}
	}
	return nil
}

// register announces the plugin to Claude Code, once.
func (s *setup) register(ctx context.Context, c host.Claude) {
	bin, err := exec.LookPath("claude")
	if err != nil || c.Registered() {
		return
	}
	if err := c.Register(ctx, bin, s.env.Environ()); err != nil {
		s.warn(message.WarnRegister, err.Error())
	}
}

func (s *setup) warnings() {
	for _, w := range s.report.Warnings {
		fmt.Fprintln(s.env.Stderr, "⚠ "+w)
	}
	s.report.Warnings = nil
}

// conclude prints the end of the report.
func (s *setup) conclude() error {
	if s.json {
		s.report.Warnings = list(s.report.Warnings)
		s.report.Files = list(s.report.Files)
		return s.printJSON(s.report)
	}
	s.warnings()
	switch {
	case s.dry && s.report.Changed:
		s.say(message.InitDry)
		return nil
	case !s.report.Changed:
		s.say(message.InitNothing)
		return nil
	}
	if s.report.Backup != "" {
		s.say(message.InitBackup, s.short(s.report.Backup))
	}
	s.say(message.InitDone, s.host, s.report.Mode, s.report.Language)
	if s.host == string(host.Codex) {
		s.say(message.InitCodex)
		if s.report.Mode == "auto" {
			s.say(message.InitCodexRun)
		}
		return nil
	}
	s.say(message.InitNext)
	if _, err := exec.LookPath("codex"); err == nil {
		s.say(message.InitAlso)
	}
	return nil
}
