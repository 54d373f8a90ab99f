package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/audit"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

func (a *app) auditCmd() *cobra.Command {
	var since, project, hostName, html, policy string
	var all bool
	cmd := &cobra.Command{
		Use: "audit", Short: message.HelpAudit.In(a.Lang), Long: message.HelpAuditLong.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if hostName != "" {
				if _, err := namedHost(hostName); err != nil {
					return err
				}
			}
			o := a.auditOptions()
			o.Project, o.Host = project, hostName
			var err error
			if o.Since, err = sinceTime(since, o.Now); err != nil {
				return err
			}
			if policy != "" {
				if o.Settings, err = policyFile(policy); err != nil {
					return err
				}
				o.PolicyFile = policy
			}
			if o.Files, err = transcript.Everything(a.hostDir); err != nil && len(o.Files) == 0 {
				return err
			}
			progress, clear := a.byteBar(message.AuditReading)
			o.Progress = progress
			r, kept, err := audit.Run(cmd.Context(), o)
			clear()
			if err != nil {
				return err
			}
			if kept != nil {
				a.Note(message.AuditNotKept, kept)
			}
			if html != "" {
				if err := a.auditPage(html, r); err != nil {
					return err
				}
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			a.printAudit(r, len(o.Files) == 0, all)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&since, "since", "", message.HelpAuditSince.In(a.Lang))
	f.StringVar(&project, "project", "", message.HelpProjectFilter.In(a.Lang))
	f.StringVar(&hostName, "host", "", message.HelpHostFilter.In(a.Lang))
	f.StringVar(&html, "html", "", message.HelpAuditHTML.In(a.Lang))
	f.StringVar(&policy, "policy", "", message.HelpAuditPolicy.In(a.Lang))
	f.BoolVar(&all, "all", false, message.HelpAuditAll.In(a.Lang))
	complete(cmd, "host", host.Names())
	return cmd
}

// auditOptions are those of an audit of everything under the settings in force.
func (a *app) auditOptions() audit.Options {
	home := a.store()
	cfg, _ := a.config() // `overtone config` tells its problems
	set, _ := session.Settings(home, cfg.Compact)
	return audit.Options{
		Now: a.Now(), Loc: time.Local, Settings: set, Window: home.Window,
		Cache: filepath.Join(home.Root(), "audit.cache"),
	}
}

func (a *app) auditPage(path string, r *audit.Report) error {
	if err := store.AtomicWrite(path, audit.Page(r, a.Lang), 0o644); err != nil {
		return err
	}
	if !a.JSON {
		a.Note(message.AuditWrote, path)
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
func policyFile(path string) (compact.Settings, error) {
	src, err := config.ReadFile(path, 1<<20)
	if err != nil {
		return compact.Settings{}, message.Fail(message.BadPolicy, path+": "+err.Error())
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
		return set, message.Fail(message.BadPolicy, problems[0].Error())
	}
	return set, nil
}

// listed is how many rows of a list are shown at first.
const (
	listedCompactions = 10
	listedDays        = 14
	listedProjects    = 8
)

func (a *app) printAudit(r *audit.Report, nothing, all bool) {
	if len(r.Sessions) == 0 {
		if nothing {
			a.Tell(message.AuditNone)
		} else {
			a.Tell(message.AuditNoneMatch)
		}
		a.Tell(message.AuditTryDemo)
		return
	}
	w := a.Stdout
	t := &r.Totals
	first, last := "", ""
	for i := range r.Sessions {
		s := &r.Sessions[i]
		if s.Start != "" && (first == "" || s.Start < first) {
			first = s.Start
		}
		last = max(last, s.End)
	}
	a.Tell(message.AuditHead, message.Thousands(t.Sessions), message.Thousands(r.Files), message.Bytes(r.Bytes), a.day(first), a.day(last))
	rows := [][]string{
		{message.AuditTokens.In(a.Lang), message.AuditTokensOf.Format(a.Lang, message.Rounded(t.Tokens.Total()), message.Rounded(t.Tokens.Input), message.Rounded(t.Tokens.Output), message.Rounded(t.Tokens.CacheWrite), message.Rounded(t.Tokens.CacheRead))},
		{message.AuditCost.In(a.Lang), a.cost(r)},
	}
	a.Pairs(w, rows)
	if len(r.Failed) > 0 {
		a.Note(message.AuditUnread, len(r.Failed))
	}
	a.auditCompactions(r)
	a.auditWhatIf(r)
	a.auditCache(r)
	a.auditNewest(r, all)
	a.auditBuckets(message.AuditByDay, message.ColDay, r.Days, all, listedDays, true)
	a.auditBuckets(message.AuditByProj, message.ColProject, r.Projects, all, listedProjects, false)
	a.auditBuckets(message.AuditByModel, message.ColModel, r.Models, all, listedProjects, false)
}

// day is the local day of a time.
func (a *app) day(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return message.AuditUnknown.In(a.Lang)
	}
	return t.Local().Format(time.DateOnly)
}

func (a *app) cost(r *audit.Report) string {
	usd := 0.0
	known := false
	for _, m := range r.Models {
		if m.USD != nil {
			usd += *m.USD
			known = known || m.Tokens.Total() > 0
		}
	}
	text := message.AuditUnknown.In(a.Lang)
	if known {
		text = dollars(usd)
	}
	text = message.AuditCostOf.Format(a.Lang, text, r.Prices.Date)
	if n := r.Totals.Unpriced; n > 0 {
		text += message.AuditUnpriced.Format(a.Lang, message.Rounded(n))
	}
	return text
}

func dollars(usd float64) string {
	whole := strconv.FormatFloat(usd, 'f', 2, 64)
	n, cents, _ := strings.Cut(whole, ".")
	i, _ := strconv.Atoi(n)
	return "$" + message.Thousands(i) + "." + cents
}

func (a *app) auditCompactions(r *audit.Report) {
	t := &r.Totals
	a.Heading(message.AuditCompactions)
	if t.Compactions+t.Failed == 0 {
		a.Tell(message.AuditNoCompact)
		return
	}
	row := func(name message.Text, text string) []string { return []string{name.In(a.Lang), text} }
	rows := [][]string{
		row(message.AuditCount, message.AuditCountOf.Format(a.Lang, t.Compactions, t.Auto, t.Manual, t.Compactions-t.Auto-t.Manual, t.Failed)),
		row(message.AuditMid, message.AuditMidOf.Format(a.Lang, t.MidWork, t.AtBoundary)),
		row(message.AuditWait, message.AuditWaitOf.Format(a.Lang, wait(t.WaitMS), t.Compactions, t.WaitKnown)),
	}
	if t.Lost.Compactions > 0 {
		name := message.AuditNeeded.In(a.Lang)
		for _, k := range []struct {
			what message.Text
			audit.Kept
		}{{message.AuditNames, t.Lost.Names}, {message.AuditCommands, t.Lost.Commands}, {message.AuditNumbers, t.Lost.Numbers}} {
			if k.Needed == 0 {
				continue
			}
			rows = append(rows, []string{name, message.AuditKept.Format(a.Lang, k.what.In(a.Lang), k.Needed, message.Percent(int64(k.Summary), int64(k.Needed)), message.Percent(int64(k.Handover), int64(k.Needed)))})
			name = ""
		}
		edit := "–"
		if t.Lost.ToEdit != nil {
			edit = strconv.Itoa(*t.Lost.ToEdit)
		}
		rows = append(rows, row(message.AuditAgain, message.AuditAgainOf.Format(a.Lang, t.Lost.ReadAgain, t.Lost.RunAgain, edit)))
		if t.Lost.Unreadable > 0 {
			rows = append(rows, []string{"", message.AuditNoSummary.Format(a.Lang, t.Lost.Unreadable)})
		}
	}
	a.Pairs(a.Stdout, rows)
}

func wait(ms int64) string {
	d := (time.Duration(ms) * time.Millisecond).Round(time.Second)
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	case d >= time.Hour:
		return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%ds", int(d.Seconds()))
}

func (a *app) auditWhatIf(r *audit.Report) {
	t := &r.Totals
	if t.Compactions+t.WhatIf.Boundary+t.WhatIf.Forced == 0 {
		return
	}
	a.Heading(message.AuditWhatIf)
	if r.Policy.File != "" {
		a.Tell(message.AuditWhatIfFile, r.Policy.File)
	}
	a.Table(a.Stdout, r.WhatIfTable(a.Lang))
	a.Tell(message.AuditWhatIfNote, r.Policy.From())
	if t.WhatIf.Unknown > 0 {
		a.Tell(message.AuditWindowUnk, t.WhatIf.Unknown)
	}
}

func (a *app) auditCache(r *audit.Report) {
	t := &r.Totals
	c := t.Cache
	if c.Written == 0 {
		return
	}
	a.Heading(message.AuditCacheTitle)
	a.Tell(message.AuditCacheOf, message.Rounded(c.Written), message.Rounded(c.ByCompaction), message.Percent(c.ByCompaction, c.Written), c.Expired, message.Rounded(c.ByExpiry), message.Percent(c.ByExpiry, c.Written))
	switch {
	case t.Payback != nil:
		a.Tell(message.AuditRepaid, strconv.FormatFloat(*t.Payback, 'f', 1, 64), t.RepaidKnown, t.Repaid)
	case t.Compactions > 0:
		a.Tell(message.AuditNeverRepaid)
	}
}

func (a *app) auditNewest(r *audit.Report, all bool) {
	type row struct {
		time  string
		cells []string
	}
	var rows []row
	for i := range r.Sessions {
		s := &r.Sessions[i]
		for j := range s.Compactions {
			c := &s.Compactions[j]
			rows = append(rows, row{c.Time, a.compactionRow(s, c)})
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(x, y row) int { return strings.Compare(y.time, x.time) })
	head := []string{}
	for _, t := range []message.Text{message.ColWhen, message.ColID, message.ColTrigger, message.ColFromTo, message.ColWait, message.ColMid, message.ColBefore, message.ColAfter, message.ColLost, message.ColRepay, message.ColWhatIf} {
		head = append(head, t.In(a.Lang))
	}
	columns := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if a.Narrow() {
		columns = []int{0, 1, 3, 4, 5, 6, 10} // the rest is in --json and --html
	}
	out := [][]string{pick(head, columns)}
	more := 0
	for i, x := range rows {
		if i >= listedCompactions && !all {
			more = len(rows) - i
			break
		}
		out = append(out, pick(x.cells, columns))
	}
	a.Heading(message.AuditNewest)
	a.Table(a.Stdout, out)
	if more > 0 {
		a.Tell(message.AuditMore, more)
	}
}

func pick(row []string, columns []int) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = row[c]
	}
	return out
}

func (a *app) compactionRow(s *audit.Session, c *audit.Compaction) []string {
	when := "–"
	if t, err := time.Parse(time.RFC3339, c.Time); err == nil {
		when = t.Local().Format("2006-01-02 15:04")
	}
	trigger := message.AuditUnknown
	switch c.Trigger {
	case "auto":
		trigger = message.AuditTrigAuto
	case "manual":
		trigger = message.AuditTrigMan
	}
	waited := "–"
	if c.WaitMS != nil {
		waited = wait(*c.WaitMS)
		if c.WaitEstimated {
			waited = "~" + waited
		}
	}
	mid := message.AuditNo
	if c.MidWork {
		mid = message.AuditYes
	}
	near := func(n *audit.Near) string {
		if n == nil {
			return "–"
		}
		return message.AuditNear.Format(a.Lang, n.Boundary, n.Actions)
	}
	lost := "–"
	if c.Loss != nil {
		lost = fmt.Sprintf("%d/%d/%d", c.Loss.Names.Needed, c.Loss.Names.Summary, c.Loss.Names.Handover)
	}
	repaid := "–"
	if c.Payback != nil && c.Payback.N > 0 {
		repaid = strconv.FormatFloat(c.Payback.N, 'f', 1, 64)
	}
	whatIf := map[string]message.Text{"boundary": message.WhatBoundary, "forced": message.WhatForced, "not-needed": message.WhatNotNeeded, "unknown": message.AuditUnknown}[c.WhatIf]
	return []string{
		when, message.Short(s.ID, 9), trigger.In(a.Lang), message.Rounded(c.Before) + "→" + message.Rounded(c.After), waited, mid.In(a.Lang),
		near(c.Earlier), near(c.Later), lost, repaid, whatIf.In(a.Lang),
	}
}

func (a *app) auditBuckets(title, name message.Text, list []audit.Bucket, all bool, most int, newest bool) {
	if len(list) == 0 {
		return
	}
	more := 0
	if len(list) > most && !all {
		more = len(list) - most
		if newest {
			list = list[more:]
		} else {
			list = list[:most]
		}
	}
	head := []string{}
	for _, t := range []message.Text{name, message.ColSessions, message.ColRequests, message.ColInput, message.ColOutput, message.ColWritten, message.ColRead, message.ColCompacted, message.ColUSD} {
		head = append(head, t.In(a.Lang))
	}
	columns := []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	if a.Narrow() {
		columns = []int{0, 1, 4, 5, 6, 7, 8}
	}
	rows := [][]string{pick(head, columns)}
	for _, b := range list {
		usd := message.AuditUnknown.In(a.Lang)
		if b.USD != nil {
			usd = dollars(*b.USD)
		}
		rows = append(rows, pick([]string{
			a.homePath(b.Name, 40), message.Thousands(b.Sessions), message.Thousands(b.Requests), message.Rounded(b.Tokens.Input), message.Rounded(b.Tokens.Output),
			message.Rounded(b.Tokens.CacheWrite), message.Rounded(b.Tokens.CacheRead), strconv.Itoa(b.Compactions), usd,
		}, columns))
	}
	a.Heading(title)
	a.Table(a.Stdout, rows)
	if more > 0 {
		a.Tell(message.AuditMore, more)
	}
}
