package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/dashboard"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
)

func (a *app) auditCmd() *cobra.Command {
	var since, project, hostName, html, policy string
	var all, lost, tune, write bool
	periods := map[audit.Period]*bool{audit.Week: new(bool), audit.Month: new(bool), audit.Block: new(bool)}
	cmd := a.command("audit", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		a.lists = true
		o := a.auditOptions()
		o.Project, o.Host = project, hostName
		for period, on := range periods {
			if *on && o.Period != "" {
				return oneOf(cmd, "--weekly, --monthly", "--blocks")
			}
			if *on {
				o.Period = period
			}
		}
		var err error
		if o.Since, err = sinceTime(since, o.Now); err != nil {
			return err
		}
		if policy != "" {
			if o.Settings, err = policyFile(policy, a.Lang); err != nil {
				return err
			}
			o.PolicyFile = policy
		}
		if o.Files, err = a.finder().Lived(); err != nil && len(o.Files) == 0 {
			return err
		} else if err != nil {
			a.notListed(err)
		}
		progress, clear := a.byteBar()
		o.Progress = progress
		if tune || write {
			defer clear()
			return a.auditTune(cmd.Context(), o, write)
		}
		r, kept, err := audit.Run(cmd.Context(), o)
		clear()
		if err != nil {
			return err
		}
		if kept != nil {
			a.Note(message.AuditNotKept, kept)
		}
		if html != "" {
			if err := a.writeAudit(html, r); err != nil {
				return err
			}
		}
		switch {
		case a.JSON:
			err = a.PrintJSON(r)
		case len(o.Files) == 0:
			a.Tell(message.AuditNone)
			a.Tell(message.AuditTryDemo)
		case lost:
			r.PrintLost(&a.Terminal)
		case o.Period != "" && r.Files > 0:
			r.PrintPeriods(&a.Terminal)
		default:
			r.Print(&a.Terminal, a.short, all)
		}
		return cmp.Or(err, a.unread(r))
	})
	AddFlags(cmd, map[string]any{
		"since": &since, "project": &project, "html": &html, "policy": &policy, "tune": &tune, "write": &write, "lost": &lost, "all": &all,
		"weekly": periods[audit.Week], "monthly": periods[audit.Month], "blocks": periods[audit.Block],
	})
	a.hostFlag(cmd, &hostName)
	return cmd
}

// unread names the files that could not be read; where none could, that is an error.
func (a *app) unread(r *audit.Report) error {
	const most = 10
	for i, path := range r.Failed {
		if i == most {
			a.LeaveOut(message.Fail(message.AuditUnreadMore, len(r.Failed)-most))
			break
		}
		err := message.Fail(message.AuditUnread, a.short(path))
		for _, fault := range r.Faults {
			if fault.Path == path {
				err = message.WithHint(message.Fail(message.AuditUnread, fault.In(a.Lang)), message.HintFault)
			}
		}
		a.LeaveOut(err)
	}
	if n := len(r.Failed); n > 0 && r.Files == 0 {
		return message.WithHint(message.Fail(message.AuditUnreadAll, n), message.HintUnreadAll)
	}
	return nil
}

// auditTune shows what other tiers would have come to, and writes those that are advised.
func (a *app) auditTune(ctx context.Context, o audit.Options, write bool) error {
	trials, r, err := audit.Tune(ctx, o)
	if err != nil {
		return err
	}
	if a.JSON {
		if err := a.PrintJSON(map[string]any{"schema": 2, "trials": trials}); err != nil {
			return err
		}
	} else {
		r.PrintTrials(&a.Terminal, trials)
	}
	i := slices.IndexFunc(trials, func(t audit.Trial) bool { return t.Chosen })
	if err := a.unread(r); err != nil || !write || trials[i].Now {
		return err
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	list := func(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
	was, chosen := trials[0], trials[i]
	var keys [][2]string
	for _, k := range []struct{ key, old, now string }{
		{"auto_requires_any_boundary", list(was.Boundaries), list(chosen.Boundaries)},
		{"asap_percent_remaining_lt", number(was.Asap), number(chosen.Asap)},
		{"ready_percent_remaining_lt", number(was.Ready), number(chosen.Ready)},
		{"early_percent_remaining_lt", number(was.Early), number(chosen.Early)},
	} {
		if k.old != k.now {
			keys = append(keys, [2]string{"compact.trigger." + k.key, k.now})
		}
	}
	return a.setConfig(keys)
}

// auditOptions are those of an audit of everything under the settings in force.
func (a *app) auditOptions() audit.Options {
	home := a.store()
	cfg, _ := a.config() // `overtone config` tells its problems
	set, _ := session.Settings(home, cfg.Compact)
	return audit.Options{
		Now: a.Now(), Loc: time.Local, Settings: set, Window: home.Window, Prices: cfg.Prices,
		Cache: filepath.Join(home.Root(), "audit.cache"),
	}
}

func (a *app) writeAudit(path string, r *audit.Report) error {
	page, err := dashboard.Export(auditPage{Report: r, Told: r.Told(a.Lang)}, a.Lang)
	if err != nil {
		return err
	}
	if err := a.writePage(path, page, 0o644); err != nil {
		return err
	}
	if !a.JSON {
		a.Note(message.AuditWrote, path)
	}
	return nil
}

// writePage writes a file where the user wants one.
func (a *app) writePage(path string, page []byte, mode fs.FileMode) error {
	store.SweepTemp(filepath.Dir(path), a.Now())
	if err := store.AtomicWrite(path, page, mode); err != nil {
		// The file that it is written to first is nobody's business.
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			err = at.Err
		}
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// sinceTime reads a time span before now, or a day.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, message.Misuse{Err: message.WithHint(message.Fail(message.BadSince, text), message.HintSince)}
}

// policyFile reads a policy: settings, or a prompt file with front matter.
func policyFile(path string, lang message.Lang) (compact.Settings, error) {
	src, err := config.ReadFile(path, 1<<20)
	if err != nil {
		return compact.Settings{}, message.Fail(message.BadPolicy, config.Unread(path, err).In(string(lang)))
	}
	var set compact.Settings
	var problems []config.Problem
	if bytes.HasPrefix(bytes.TrimSpace(src), []byte("---")) {
		set, problems = prompt.ParseAutoCompact(src, path)
	} else {
		var cfg config.Config
		cfg, problems = config.Load(path, nil)
		set = cfg.Compact
	}
	if len(problems) > 0 {
		return set, message.Fail(message.BadPolicy, problems[0].In(string(lang)))
	}
	return set, nil
}
