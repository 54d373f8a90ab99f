package setup

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Options are what init was asked for.
type Options struct {
	Host           *host.Host
	Mode, Language string // "" where nothing was asked
	DryRun, Yes    bool
	StatusLine     bool // show our status line, where there is none yet
	// NoWorkflows leaves agents and commands out.
	NoWorkflows bool
	// Others: the other hosts that are here are set up in the same run.
	Others bool
	// tell shows a note.
	tell func(t message.Text, args ...any)
	// askLanguage is asked where the configuration does not name one, and there is no word
	// about it.
	askLanguage func() (lang message.Lang, chosen bool, err error)
}

type installation struct {
	change
	setup  host.Setup
	others bool
	host   host.Version // the program's, zero where it is not known
	plugin host.PluginState
	files  []host.PluginFile
}

// Present are the hosts whose programs are here.
func Present() []*host.Host {
	return slices.DeleteFunc(host.All(), func(h *host.Host) bool {
		_, err := exec.LookPath(h.Program)
		return err != nil
	})
}

func (e Env) planInstall(ctx context.Context, o Options) (*installation, error) {
	i := &installation{change: newChange(e, o.Host), others: o.Others}
	i.DryRun = o.DryRun
	cfg, problems := e.config()
	for _, p := range problems {
		i.warn(message.WarnConfig, p.In(string(e.Lang)))
	}
	i.setup = e.setupWith(o.Host, cfg.Compact, o.NoWorkflows)
	i.checkPath()
	if i.Mode = o.Mode; i.Mode == "" {
		i.Mode = cfg.Compact.Mode
	}
	i.checkHost(ctx, o)
	if err := i.planOwn(o, cfg); err != nil {
		return nil, err
	}
	if err := i.planSettings(o.StatusLine); err != nil {
		return nil, err
	}
	i.describePlugin()
	i.describe()
	return i, nil
}

// checkPath warns about agents that will not find this program, or no program for
// hooks beside it.
func (i *installation) checkPath() {
	path, found, same := self()
	if i.env.Hook == "" {
		i.warn(message.WarnNoHook, filepath.Dir(path))
	}
	switch {
	case path == "":
	case found == "":
		i.warn(message.WarnNotOnPath)
		i.warn(message.HintPath, filepath.Dir(path))
	case !same:
		i.warn(message.WarnOtherBinary, found, path)
	}
}

// checkHost looks at the host's program. Mode auto is given up where nobody can rely upon
// it; elsewhere that is only said.
func (i *installation) checkHost(ctx context.Context, o Options) {
	h := o.Host
	auto := h.Gates && o.Mode == "auto"
	var odd message.Reason
	if bin, err := exec.LookPath(h.Program); err != nil {
		odd = message.Because(message.WarnNoProgram, h.Title, h.Program)
	} else if i.host, err = i.env.version(ctx, bin); err != nil && h.Gates {
		odd = message.Because(message.WarnAskVersion, err.Error())
	} else if err == nil && i.host.Less(h.Floor) {
		odd = message.Because(message.WarnOld, h.Title, i.host, h.Floor)
	}
	if why := odd.In(i.env.Lang); why != "" {
		i.Warnings = append(i.Warnings, why)
		if auto {
			i.Mode = "suggest"
			i.warn(message.WarnSuggest, why)
		}
	} else if cfg, _ := i.env.config(); auto && cfg.Compact.ContextWindow == 0 {
		o.tell(message.InitGuess, message.Thousands(host.SmallWindow))
	}
}

// planOwn seeds the configuration and the prompt file, and sets in an existing
// configuration what was asked for.
func (i *installation) planOwn(o Options, cfg config.Config) error {
	conf, err := i.load(i.env.Home.ConfigFile())
	if err != nil {
		return err
	}
	i.Language = string(message.Spoken(message.Lang(cfg.Language), cfg.Chosen, i.env.Getenv))
	lang, chosen := message.Parse(o.Language)
	if !chosen && (!conf.Exists || !cfg.Chosen) {
		if lang, chosen, err = o.askLanguage(); err != nil {
			return err
		}
		chosen = chosen || cfg.Chosen // by a variable
	}
	if chosen {
		i.Language = string(lang)
	}
	if !conf.Exists {
		conf.After = config.Default(string(lang), chosen)
	} else if chosen {
		// A file in which no line can be set keeps the locale's language.
		if err := i.set(&conf, "language", string(lang)); err != nil && o.Language != "" {
			return err
		}
	}
	if o.Mode != "" || i.Mode != cfg.Compact.Mode {
		if err := i.set(&conf, "compact.mode", i.Mode); err != nil {
			return err
		}
	}
	file, err := i.load(session.PromptFile(i.env.Home))
	if err != nil {
		return err
	}
	if !file.Exists {
		file.After = []byte(config.AutoCompact)
	}
	i.own = []*host.File{&conf, &file}
	return nil
}

func (i *installation) set(f *host.File, key, value string) error {
	after, err := config.Set(f.After, key, value)
	if err != nil {
		return message.WithHint(message.Fail(message.ConfigNotSet, f.Path, key, value), message.HintEditConfig,
			i.env.Folders.Short(f.Path), key, value)
	}
	f.After = after
	return nil
}

func (i *installation) planSettings(status bool) error {
	s := i.setup
	f, err := i.load(s.Settings)
	if err != nil {
		return err
	}
	edits := s.Edits
	auto, rounds := i.Mode == "auto" && len(s.Auto) > 0, s.NeedsRounds(i.Mode, i.host)
	if auto {
		edits = append(edits, s.Auto...)
	}
	if rounds {
		edits = append(edits, s.Rounds...)
	}
	// What an earlier run needed, in mode auto or for an older host, is taken back.
	spare := slices.DeleteFunc(host.Edits(i.runs(s.Name), f.Path), func(e host.Edit) bool {
		return (auto || !s.IsAuto(e)) && (rounds || !s.IsRounds(e))
	})
	if _, err := f.Drop(spare); err != nil {
		return i.jsonHint(err, f.Path)
	}
	switch ours, taken := s.StatusLine(f.Before); {
	case ours || status && s.Status != nil && !taken:
		edits = append(edits, *s.Status)
	case status && taken:
		i.warn(message.WarnStatusKept, i.env.Folders.Short(f.Path))
	}
	if err := f.Edit(edits); err != nil {
		return i.jsonHint(err, f.Path)
	}
	changed := slices.ContainsFunc(f.Edits, func(e host.Edit) bool { return e.Old != nil })
	if changed && s.Texts.Changed != (message.Text{}) {
		i.warn(s.Texts.Changed)
	}
	i.settings = []*host.File{&f}
	for _, b := range s.Beside {
		f, err := host.Open(b.Path)
		if err == nil {
			err = f.Edit(b.Edits)
		}
		if err != nil {
			return i.jsonHint(err, b.Path)
		}
		i.settings = append([]*host.File{&f}, i.settings...)
	}
	for _, b := range s.Blocks {
		f, err := i.load(b.Path)
		if err != nil {
			return err
		}
		file, err := readTOML(f.Before)
		if err != nil {
			return i.tomlHint(err, b)
		}
		switch whose, _ := claimed(file, b); whose {
		case theirs:
			i.warn(message.WarnTableKept, i.env.Folders.Short(b.Path), strings.Join(b.Key, "."))
		case nobodys:
			if err := addTable(&f, b); err != nil {
				return i.tomlHint(err, b)
			}
			i.settings = append([]*host.File{&f}, i.settings...)
		}
	}
	if i.files, err = s.Plugin.Files(); err != nil {
		return err
	}
	if i.plugin, err = s.Plugin.Compare(i.files); err != nil {
		return i.jsonHint(err, s.Plugin.Dir)
	}
	return nil
}

func (i *installation) describePlugin() {
	n := len(i.files)
	if n == 0 {
		return
	}
	r := fileReport{Path: i.setup.Plugin.Dir, Action: keep, Count: n}
	switch {
	case len(i.plugin.Missing) == n:
		r.Action = create
	case !i.plugin.Intact():
		r.Action = edit
	}
	i.Files = append(i.Files, r)
}

// apply keeps backups and writes. The settings come last: they switch on what
// the other files hold.
func (i *installation) apply(ctx context.Context) error {
	var changed, kept []*host.File
	for _, f := range i.settings {
		if f.Changed() {
			changed = append(changed, f)
		}
	}
	for _, f := range i.own {
		if f.Changed() && f.Exists {
			kept = append(kept, f)
		}
	}
	if p := i.setup.Plugin; p.Shared { // what has a name of ours there may be the user's, or changed by him
		for _, name := range i.plugin.Changed {
			f, err := i.load(filepath.Join(p.Dir, filepath.FromSlash(name)))
			if err != nil {
				return err
			}
			kept = append(kept, &f)
		}
	}
	if len(changed)+len(kept) > 0 {
		m, err := i.env.backups().Save(i.env.Now(), i.setup.Name, i.env.Version, changed, kept...)
		if err != nil {
			return err
		}
		i.Backup = m.Dir
	}
	if len(i.files) > 0 {
		store.SweepTemp(i.setup.Plugin.Dir, i.env.Now())
		if err := i.setup.Plugin.Write(i.files, i.plugin); err != nil {
			return fmt.Errorf("write the plugin: %w", err)
		}
	}
	for _, f := range append(i.own, i.settings...) {
		if err := i.env.write(f); err != nil {
			return err
		}
	}
	if bin, err := exec.LookPath(i.setup.Program); err == nil && i.setup.Register != nil {
		if err := i.setup.Register(ctx, bin, i.env.Environ()); err != nil {
			i.warn(message.WarnRegister, err.Error())
		}
	}
	return nil
}

func (i *installation) next() []message.Reason {
	t := i.setup.Texts
	next := []message.Reason{message.Because(t.Next)}
	if (i.Mode == "auto" || i.setup.Watched) && t.NextAuto != (message.Text{}) {
		next = append(next, message.Because(t.NextAuto))
	}
	for _, h := range host.All() {
		if h == i.setup.Host || i.others {
			continue
		}
		if runs, err := i.env.backups().Open(h.Name); err == nil && len(runs) > 0 {
			continue // installed already
		}
		if _, err := exec.LookPath(h.Program); err == nil {
			next = append(next, message.Because(message.InitAlso, h.Title, h.Name))
		}
	}
	return next
}
