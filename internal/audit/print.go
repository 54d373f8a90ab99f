package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// listed is how many rows of a list are shown at first.
const (
	listedCompactions = 10
	listedDays        = 14
	listedProjects    = 8
)

type printer struct {
	*terminal.Terminal
	*Report
	short func(path string) string
	all   bool
}

// Print shows a report: all of it, or what fits. Short makes paths shorter.
func (r *Report) Print(t *terminal.Terminal, short func(path string) string, all bool) {
	switch {
	case len(r.Sessions) > 0:
		printer{t, r, short, all}.print()
	case len(r.Failed) == 0:
		t.Tell(message.AuditNoneMatch)
	}
}

// span is from when to when the sessions lasted, as their files write it, but not from
// before the audit begins.
func (r *Report) span() (first, last string) {
	for i := range r.Sessions {
		s := &r.Sessions[i]
		if s.Start != "" && (first == "" || s.Start < first) {
			first = s.Start
		}
		last = max(last, s.End)
	}
	return max(first, r.Since), last
}

func (p printer) print() {
	t := &p.Totals
	first, last := p.span()
	p.Tell(message.AuditHead, message.Thousands(t.Sessions), message.Thousands(p.Files), message.Bytes(p.Bytes), p.day(first), p.day(last))
	for _, line := range p.shortLines(p.Lang) {
		p.Prose(p.Stdout, line)
	}
	if all := t.Lost.all(); all.lost() > 0 {
		p.Tell(message.AuditShortEach)
	}
	tokens := p.Format(message.AuditTokensOf, message.Rounded(t.Tokens.total()), message.Rounded(t.Tokens.Input), message.Rounded(t.Tokens.Output), message.Rounded(t.Tokens.CacheWrite), message.Rounded(t.Tokens.CacheRead))
	if t.unrecorded() {
		tokens = p.In(message.AuditUnknown)
	}
	p.Pairs(p.Stdout, [][]string{
		{p.In(message.AuditTokens), tokens},
		{p.In(message.AuditCost), p.cost()},
	})
	p.compactions()
	p.whatIf()
	p.cache()
	p.newest()
	p.buckets(message.AuditByDay, message.ColDay, inUse(p.Days), listedDays, true)
	p.buckets(message.AuditByProj, message.ColProject, p.Projects, listedProjects, false)
	p.buckets(message.AuditByModel, message.ColModel, p.Models, listedProjects, false)
}

// PrintPeriods shows what each week, month or block used, and the sum of all.
func (r *Report) PrintPeriods(t *terminal.Terminal) {
	p := printer{t, r, func(name string) string { return name }, true}
	head := map[Period]message.Text{Week: message.ColWeek, Month: message.ColMonth, Block: message.ColBlock}[r.Period]
	rows := slices.Clone(r.Periods)
	for i := range rows {
		if from, err := time.Parse(time.RFC3339, rows[i].Name); err == nil {
			from = from.Local()
			rows[i].Name = from.Format("2006-01-02 15:04") + from.Add(blockHours*time.Hour).Format("–15:04 ") + rows[i].Host
			if made, err := time.Parse(time.RFC3339, r.Made); err == nil && made.Sub(from) < blockHours*time.Hour {
				rows[i].Name += " · " + p.In(message.AuditUnderWay)
			}
		}
	}
	sum := r.Totals.Bucket
	sum.Name = p.In(message.AuditAll)
	p.table(head, append(rows, sum), nil)
}

func (p printer) day(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return p.In(message.AuditUnknown)
	}
	return t.Local().Format(time.DateOnly)
}

func (p printer) cost() string {
	text := p.Format(message.AuditCostOf, p.dollars(p.Totals.Spent), p.Prices.Date, p.Prices.Source)
	if n := p.Totals.Unpriced; n > 0 {
		text += p.Format(message.AuditUnpriced, message.Rounded(n))
	}
	return text
}

func (p printer) dollars(s Spent) string {
	switch {
	case s.USD == nil:
		return p.In(message.AuditUnknown)
	case s.Unpriced > 0:
		return "≥ " + message.Dollars(*s.USD)
	}
	return message.Dollars(*s.USD)
}

func (p printer) compactions() {
	t := &p.Totals
	p.Heading(message.AuditCompactions)
	if t.Compactions+t.Failed == 0 {
		p.Tell(message.AuditNoCompact)
		return
	}
	row := func(name message.Text, text string) []string { return []string{p.In(name), text} }
	waited := p.In(message.AuditUnknown)
	if t.WaitKnown > 0 {
		waited = p.Format(message.AuditWaitOf, waitText(t.WaitMS), t.WaitKnown-t.WaitEstimated, t.WaitEstimated, t.Compactions-t.WaitKnown)
	}
	struck := p.Format(message.AuditMidOf, t.MidWork, t.AtBoundary, t.WhatIf.between())
	if n := t.WhatIf.Placeless; n > 0 {
		struck += p.Format(message.AuditMidUnseen, n)
	}
	rows := [][]string{
		row(message.AuditCount, p.Format(message.AuditCountOf, t.Compactions, t.Auto, t.Manual, t.Compactions-t.Auto-t.Manual, t.Failed)),
		row(message.AuditMid, struck),
		row(message.AuditWait, waited),
	}
	if t.Lost.Compactions+t.Lost.Unreadable > 0 {
		name := p.In(message.AuditNeeded)
		for _, k := range []struct {
			what message.Text
			Kept
		}{{message.AuditNames, t.Lost.Names}, {message.AuditCommands, t.Lost.Commands}} {
			if k.Needed == 0 {
				continue
			}
			rows = append(rows, []string{name, p.Format(message.AuditKept, p.In(k.what), k.Needed, k.lost(), k.Handover-k.Summary)})
			name = ""
		}
		edit := "–"
		if t.Lost.ToEdit != nil {
			edit = strconv.Itoa(*t.Lost.ToEdit)
		}
		rows = append(rows, row(message.AuditAgain, p.Format(message.AuditAgainOf, t.Lost.ReadAgain, t.Lost.RunAgain, edit)))
	}
	if judged := p.judged(p.Lang); judged != "" {
		rows = append(rows, row(message.AuditJudged, judged))
	}
	p.Pairs(p.Stdout, rows)
}

func (p printer) whatIf() {
	t := &p.Totals
	if t.Compactions+t.WhatIf.policy() == 0 {
		return
	}
	p.Heading(message.AuditWhatIf)
	if p.Policy.File != "" {
		p.Tell(message.AuditWhatIfFile, p.Policy.File)
	}
	p.Table(p.Stdout, p.whatIfTable(p.Lang))
	for _, line := range p.whatIfWords(p.Lang, p.advice(p.Lang)) {
		p.Prose(p.Stdout, line)
	}
}

func (p printer) cache() {
	t := &p.Totals
	c := t.Cache
	if c.ByCompaction+c.ByExpiry == 0 && t.Compactions == 0 {
		return
	}
	p.Heading(message.AuditCacheTitle)
	p.Tell(message.AuditCacheOf, message.Rounded(c.Written), message.Rounded(c.ByCompaction), message.Percent(c.ByCompaction, c.Written), c.Expired, message.Rounded(c.ByExpiry), message.Percent(c.ByExpiry, c.Written))
	if c.ExpiryUSD > 0 {
		p.Tell(message.AuditExpiryUSD, message.Dollars(c.ExpiryUSD))
	}
	switch {
	case t.Payback != nil:
		p.Tell(message.AuditRepaid, message.Decimal(*t.Payback), t.RepaidKnown, t.Repaid)
	case t.Compactions > 0:
		p.Tell(message.AuditNeverRepaid)
	}
}

func (p printer) newest() {
	type row struct {
		time, session string
		n             int
		lost          int // -1 where nobody can say
		cells         []string
	}
	var rows []row
	ids := p.ids()
	for i := range p.Sessions {
		s := &p.Sessions[i]
		for j := range s.Compactions {
			c := &s.Compactions[j]
			lost := -1
			if c.Loss != nil && c.Loss.Unreadable == 0 {
				k := c.Loss.all()
				lost = k.lost()
			}
			rows = append(rows, row{c.Time, s.ID, c.N, lost, p.compactionRow(message.Short(s.ID, max(8, unique(s.ID, ids))+1), c)})
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(x, y row) int { return strings.Compare(y.time, x.time) })
	head := p.Head(message.ColWhen, message.ColID, message.ColTrigger, message.ColFromTo, message.ColWait, message.ColMid, message.ColBefore, message.ColAfter, message.ColLost, message.ColRepay, message.ColWhatIf)
	out := [][]string{head}
	more := 0
	for i, x := range rows {
		if i >= listedCompactions && !p.all {
			more = len(rows) - i
			break
		}
		out = append(out, x.cells)
	}
	p.Heading(message.AuditNewest)
	// What there is no room for is in --json and --html.
	p.Rows(p.Stdout, out, terminal.Plan{Cut: []int{6, 7}, Drop: []int{7, 9, 2, 8, 6, 1, 4, 10}, Right: []int{4, 9}})
	if more > 0 {
		p.Tell(message.AuditMore, more)
	}
	// The one that lost most, of those the newest.
	if x := slices.MaxFunc(rows, func(x, y row) int { return cmp.Compare(x.lost, y.lost) }); x.lost >= 0 {
		p.Tell(message.AuditLookAt)
		fmt.Fprintf(p.Stdout, "  overtone compact packet %s --compaction %d\n", message.Head(x.session, max(13, unique(x.session, ids))), x.n) // to be copied
	}
}

// ids are those of all sessions of the report, in order.
func (r *Report) ids() []string {
	ids := make([]string, 0, len(r.Sessions))
	for i := range r.Sessions {
		ids = append(ids, r.Sessions[i].ID)
	}
	slices.Sort(ids)
	return ids
}

// unique is how many bytes of an id no other one of an ordered list begins with.
func unique(id string, ids []string) int {
	common := func(other string) (n int) {
		for n < min(len(id), len(other)) && id[n] == other[n] {
			n++
		}
		return n
	}
	at, _ := slices.BinarySearch(ids, id)
	n := 0
	if at > 0 {
		n = common(ids[at-1])
	}
	if at+1 < len(ids) {
		n = max(n, common(ids[at+1]))
	}
	return n + 1
}

// PrintLost lists what compactions lost and the agent needed afterwards, the newest
// compaction first, with where each was used.
func (r *Report) PrintLost(t *terminal.Terminal) {
	p := printer{Terminal: t, Report: r}
	type entry struct {
		s *Session
		c *Compaction
	}
	var list []entry
	for i := range r.Sessions {
		for j := range slices.Backward(r.Sessions[i].Compactions) {
			if c := &r.Sessions[i].Compactions[j]; c.Loss != nil && len(c.Loss.Missing) > 0 {
				list = append(list, entry{&r.Sessions[i], c})
			}
		}
	}
	slices.SortStableFunc(list, func(x, y entry) int { return strings.Compare(y.c.Time, x.c.Time) })
	for _, e := range list {
		t.Bold(t.Stdout, p.Format(message.AuditLostOf, p.clock(e.c.Time), e.s.ID, e.c.N, e.s.Title))
		for _, m := range e.c.Loss.Missing {
			mark, where := "✗ ", message.AuditLostGone
			if m.Handover {
				mark, where = "✓ ", message.AuditLostKept
			}
			t.Item("  "+mark, m.Text+" · "+p.In(where))
			t.Item("      ", p.clock(m.Time)+" "+m.Tool+": "+m.Used)
		}
	}
	lines := r.shortLines(t.Lang)
	if judged := r.judged(t.Lang); judged != "" {
		lines = append(lines, message.AuditLostJudged.Format(t.Lang, judged))
	}
	for _, line := range lines {
		t.Prose(t.Stdout, line)
	}
}

// clock is a time on this machine's clock.
func (p printer) clock(stamp string) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return "–"
	}
	layout := "2006-01-02 15:04"
	if n := p.Width(p.Stdout); n > 0 && n < 60 {
		layout = "01-02 15:04"
	}
	return t.Local().Format(layout)
}

func (p printer) compactionRow(id string, c *Compaction) []string {
	waited := "–"
	if c.WaitMS != nil {
		waited = waitText(*c.WaitMS)
		if c.WaitEstimated {
			waited = "~" + waited
		}
	}
	mid := message.AuditNo
	switch {
	case c.MidWork:
		mid = message.AuditYes
	case c.Unseen:
		mid = message.AuditUnknown
	}
	near := func(n *Near) string {
		if n == nil {
			return "–"
		}
		return p.Format(message.AuditNear, n.Boundary, n.Actions)
	}
	lost := "–"
	if c.Loss != nil {
		k := c.Loss.all()
		lost = fmt.Sprintf("%d/%d/%d", k.Needed, k.lost(), k.Needed-k.Handover)
	}
	repaid := "–"
	if c.Payback != nil && c.Payback.N > 0 {
		repaid = message.Decimal(c.Payback.N)
	}
	return []string{
		p.clock(c.Time), id, p.In(message.Named("trigger", c.Trigger)), message.Rounded(c.Before) + "→" + message.Rounded(c.After), waited, p.In(mid),
		near(c.Earlier), near(c.Later), lost, repaid, p.In(message.Named("what-if", c.WhatIf)),
	}
}

func (p printer) buckets(title, name message.Text, list []Bucket, most int, newest bool) {
	if len(list) == 0 {
		return
	}
	more := 0
	if !p.all {
		more = max(0, len(list)-most)
	}
	if newest {
		list = list[more:]
	} else {
		list = list[:len(list)-more]
	}
	p.Heading(title)
	if more > 0 && newest { // it is the older ones
		p.Tell(message.AuditMore, more)
	}
	p.table(name, list, []int{0})
	if more > 0 && !newest {
		p.Tell(message.AuditMore, more)
	}
}

// table shows rows of use; the names in the columns of paths are cut at their beginning.
func (p printer) table(name message.Text, list []Bucket, paths []int) {
	rows := [][]string{p.Head(name, message.ColSessions, message.ColRequests, message.ColInput, message.ColOutput, message.ColWritten, message.ColRead, message.ColCompacted, message.ColUSD)}
	for i := range list {
		b := &list[i]
		count := func(n int64) string {
			if b.unrecorded() {
				return p.In(message.AuditUnknown)
			}
			return message.Rounded(n)
		}
		rows = append(rows, []string{
			p.name(b), message.Thousands(b.Sessions), message.Thousands(b.Requests), count(b.Tokens.Input), count(b.Tokens.Output),
			count(b.Tokens.CacheWrite), count(b.Tokens.CacheRead), strconv.Itoa(b.Compactions), p.dollars(b.Spent),
		})
	}
	p.Rows(p.Stdout, rows, terminal.Plan{Paths: paths, Drop: []int{3, 2, 5, 4, 1, 6}, Right: []int{1, 2, 3, 4, 5, 6, 7, 8}})
}

// inUse are the days on which something happened: the others say nothing.
func inUse(days []Bucket) []Bucket {
	return slices.DeleteFunc(slices.Clone(days), func(b Bucket) bool { return b.Requests == 0 && b.Compactions == 0 && b.Sessions == 0 })
}

// name is what a row is called: also where nobody knows the folder or the model.
func (p printer) name(b *Bucket) string {
	switch b.Name {
	case "":
		return p.In(message.AuditNoFolder)
	case unknownModel:
		return p.In(message.AuditNoModel)
	}
	return p.short(b.Name)
}
