package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// dialogue is one run of init or uninstall with a person: it looks, shows, asks,
// and only then has anything written.
type dialogue struct {
	*terminal.Terminal
	env             Env
	dry, yes, purge bool
	ctx             context.Context //nolint:containedctx // a question is given up with it
}

// Install is a run of init.
func (e Env) Install(ctx context.Context, t *terminal.Terminal, o Options) error {
	if e.Folders.User == "" {
		return message.WithHint(message.Fail(message.HomeUnset), message.HintHomeSet)
	}
	d := &dialogue{Terminal: t, env: e, dry: o.DryRun, yes: o.Yes, ctx: ctx}
	o.askLanguage = d.askLanguage
	o.tell = func(text message.Text, args ...any) {
		if !d.JSON {
			d.Note(text, args...)
		}
	}
	plan, err := e.planInstall(ctx, o)
	if err != nil {
		return err
	}
	if err := d.carryOut(&plan.Report, plan.apply); err != nil || d.JSON {
		return err
	}
	switch {
	case !plan.Changed:
		d.Say(message.InitNothing)
	case d.dry:
		d.Say(message.InitDry)
	default:
		if plan.Backup != "" {
			d.Say(message.InitBackup, e.Folders.Short(plan.Backup))
		}
		d.Say(message.InitDone, plan.Host, plan.Mode, plan.Language)
		for _, t := range plan.next() {
			fmt.Fprintln(d.Stdout, t.In(d.Lang))
		}
	}
	return nil
}

// Uninstall takes Overtone out of its hosts again.
func (e Env) Uninstall(ctx context.Context, t *terminal.Terminal, o RemovalOptions) error {
	if e.Folders.User == "" {
		return message.WithHint(message.Fail(message.HomeUnset), message.HintHomeSet)
	}
	d := &dialogue{Terminal: t, env: e, dry: o.DryRun, yes: o.Yes, purge: o.Purge, ctx: ctx}
	plan, err := e.planRemoval(o.Hosts, o.Purge)
	if err != nil {
		return err
	}
	plan.Host, plan.DryRun = o.Host, o.DryRun
	if o.Purge && o.Clones > 0 {
		plan.warn(message.PurgeClones, o.Clones)
	}
	root := d.root()
	if err := d.carryOut(&plan.Report, plan.apply); err != nil || d.JSON {
		return err
	}
	switch {
	case !plan.Changed:
		d.Say(message.UninstallNothing)
	case d.dry:
		d.Say(message.InitDry)
	case d.purge:
		d.Say(message.UninstallPurged, root)
	default:
		d.Say(message.UninstallDone, root)
	}
	if plan.Changed && o.Clones > 0 && !d.purge {
		d.Say(message.UninstallClones, o.Clones)
	}
	return nil
}

// carryOut shows what would change, asks, and has it written; a preview ends
// after the first. With --json the report is all that is printed.
func (d *dialogue) carryOut(r *Report, apply func(context.Context) error) error {
	d.show(r)
	if !d.dry {
		if err := d.confirm(r); err != nil {
			return err
		}
		if err := apply(d.ctx); err != nil {
			return err
		}
	}
	if d.JSON {
		return d.PrintJSON(r)
	}
	d.warnings(r)
	return nil
}

// show prints, for people, what would change: the difference of each file that
// is edited, one line for every file.
func (d *dialogue) show(r *Report) {
	if d.JSON {
		return
	}
	told := map[string]bool{}
	for _, f := range r.Files {
		d.Diff(f.Diff)
		for _, key := range f.keys {
			if why := message.Named("setting", key); why != (message.Text{}) && !told[key] {
				d.Item("· ", key+": "+why.In(d.Lang))
				told[key] = true
			}
		}
	}
	if !r.Changed {
		return
	}
	for _, f := range r.Files {
		path := d.env.Folders.Short(f.Path)
		if f.Count > 0 {
			path = message.InitPlugin.Format(d.Lang, path, f.Count)
		}
		d.Say(map[action]message.Text{
			create: message.InitCreate, edit: message.InitEdit, remove: message.InitRemove, keep: message.InitKeep,
		}[f.Action], path)
	}
}

func (d *dialogue) root() string { return d.env.Folders.Short(d.env.Home.Root()) }

// confirm asks before anything is written, and once more before sessions go.
func (d *dialogue) confirm(r *Report) error {
	if !d.interactive() {
		// Nobody can be asked: what changes the host, or takes sessions away, has to
		// be wanted in so many words.
		if !d.yes && r.Changed && (d.purge || r.Mode != "") {
			return message.Misuse{Err: message.WithHint(message.Fail(message.RmNeedYes), message.HintRmNeedYes)}
		}
		return nil
	}
	if r.Changed {
		d.warnings(r)
		if yes, err := d.yesOrNo(message.AskApply.In(d.Lang), true); err != nil || !yes {
			return cmp.Or(err, message.Fail(message.NotApplied))
		}
	}
	if d.purge {
		if yes, err := d.yesOrNo(d.Format(message.AskPurge, d.root()), false); err != nil || !yes {
			return errors.Join(err, message.Fail(message.NotApplied))
		}
	}
	return nil
}

// warnings are printed once.
func (d *dialogue) warnings(r *Report) {
	for _, w := range r.Warnings {
		d.Prose(d.Stderr, "⚠ "+w)
	}
	r.Warnings = nil
}

func (d *dialogue) interactive() bool {
	out, ok := terminal.File(d.Stdout)
	return !d.yes && !d.JSON && ok && d.IsTTY(out.Fd()) && d.Listening()
}

func (d *dialogue) ask(question string) (string, error) {
	fmt.Fprint(d.Stdout, question)
	line, err := terminal.ReadLine(d.ctx, d.Stdin)
	return strings.ToLower(line), err
}

func (d *dialogue) yesOrNo(question string, byDefault bool) (bool, error) {
	switch answer, err := d.ask(question); {
	case err != nil:
		return false, err
	case answer == "":
		return byDefault, nil
	default:
		return answer[0] == 'y', nil
	}
}

// askLanguage is the language of the hooks: the user's answer, else the
// locale's, which is a choice only where that names one.
func (d *dialogue) askLanguage() (lang message.Lang, chosen bool, err error) {
	lang = d.Lang
	if !d.interactive() || d.dry {
		return lang, message.NamesLanguage(d.env.Getenv), nil
	}
	number := map[message.Lang]string{message.ZH: "1", message.EN: "2"}
	for range 3 {
		answer, err := d.ask(message.AskLanguage.Format(d.Lang, number[lang]))
		if err != nil {
			return lang, false, err
		}
		switch answer {
		case "":
			return lang, true, nil
		case "1":
			return message.ZH, true, nil
		case "2":
			return message.EN, true, nil
		}
		if l, ok := message.Parse(answer); ok {
			return l, true, nil
		}
	}
	return lang, true, nil
}

// ChangeService makes a service, or takes it back, showing what it does.
func (e Env) ChangeService(ctx context.Context, t *terminal.Terminal, s Service, dry, remove bool) error {
	plan, err := e.planService(s, remove)
	if err != nil {
		return err
	}
	plan.DryRun = dry
	d := &dialogue{Terminal: t, env: e, dry: dry, yes: true, ctx: ctx}
	err = d.carryOut(&plan.Report, plan.apply)
	if err == nil && plan.stuck && !remove {
		err = message.Fail(message.ServiceNotRunning, s.Runs, e.Folders.Short(s.Path))
	}
	if err != nil || t.JSON {
		return err
	}
	switch {
	case !plan.Changed:
		t.Say(message.ServiceNothing)
	case dry:
		t.Say(message.InitDry)
	case remove:
		t.Say(message.ServiceRemoved)
	default:
		t.Say(message.ServiceInstalled, s.Runs)
	}
	return nil
}
