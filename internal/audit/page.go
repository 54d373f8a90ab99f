package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Page is the report as one HTML file: no scripts, nothing loaded from anywhere,
// pictures drawn as SVG. Everything from a session is text: markup in it is shown,
// and its control characters are left out.
func Page(r *Report, l message.Lang) []byte {
	p := &page{l: l}
	lang := "en"
	if l == message.ZH {
		lang = "zh-Hant"
	}
	p.put(`<!doctype html>
<html lang="`, lang, `">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>`, esc(message.PageTitle.In(l)), `</title>
<style>`, style, `</style>
</head>
<body>
<main>
<h1>`, esc(message.PageTitle.In(l)), "</h1>\n")
	p.head(r)
	p.compactions(r)
	p.whatIf(r)
	p.days(r)
	p.sessions(r)
	p.buckets(message.AuditByProj, message.ColProject, r.Projects, 50)
	p.buckets(message.AuditByModel, message.ColModel, r.Models, 50)
	p.put("<footer>", esc(message.PageFooter.Format(l, r.Made, r.Prices.Source, r.Prices.Date)), "</footer>\n</main>\n</body>\n</html>\n")
	return []byte(p.b.String())
}

const style = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;--line:#d1d9e0;--a:#0550ae;--b:#bc4c00;--c:#1a7f37;--d:#8250df}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;--a:#58a6ff;--b:#f0883e;--c:#3fb950;--d:#bc8cff}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,sans-serif}
main{max-width:1100px;margin:0 auto;padding:1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.5rem 0 .25rem;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:0}dt{color:var(--dim);text-transform:lowercase}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line);white-space:nowrap}th{font-weight:600;color:var(--dim)}
td.n,th.n{text-align:right}
svg{width:100%;height:auto;display:block}
.axis{stroke:var(--line)}.label{fill:var(--dim);font-size:11px}.ctx{fill:none;stroke:var(--a);stroke-width:1.5}.limit{stroke:var(--dim);stroke-dasharray:4 4}
.happened{stroke:var(--b);stroke-width:1.5}.planned{stroke:var(--c);stroke-width:1.5;stroke-dasharray:3 3}
.read{fill:var(--a)}.written{fill:var(--b)}.in{fill:var(--c)}.out{fill:var(--d)}
.key i{font-style:normal;white-space:nowrap;margin-right:1em}.key span{display:inline-block;width:.8em;height:.8em;margin-right:.3em;vertical-align:baseline}
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere;white-space:normal}
.short{font-size:1.15rem;margin:.3rem 0}.short+dl{margin-top:1rem}footer,.dim{color:var(--dim);font-size:.9rem}footer{margin-top:2rem}
@media(max-width:640px){svg{min-width:36rem}}
@media(max-width:480px){dl{grid-template-columns:1fr}dt{margin-top:.4rem}th,td{padding-right:.45rem}td.long{white-space:normal;overflow-wrap:anywhere;min-width:9rem}}
`

type page struct {
	b strings.Builder
	l message.Lang
}

func (p *page) put(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

// esc makes text of anything.
func esc(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (p *page) title(t message.Text) { p.put("<h2>", esc(t.In(p.l)), "</h2>\n") }

func (p *page) pair(name message.Text, text string) {
	p.put("<dt>", esc(name.In(p.l)), "</dt><dd>", esc(text), "</dd>\n")
}

func (p *page) head(r *Report) {
	t := &r.Totals
	from, to := r.span()
	day := func(s string) string { return s[:min(10, len(s))] }
	p.put("<p>", esc(message.AuditHead.Format(p.l, message.Thousands(t.Sessions), message.Thousands(r.Files), message.Bytes(r.Bytes), day(from), day(to))), "</p>\n")
	for _, line := range r.shortLines(p.l) {
		p.put(`<p class="short">`, esc(line), "</p>\n")
	}
	p.put("<dl>\n")
	p.pair(message.AuditTokens, message.AuditTokensOf.Format(p.l, thousands(t.Tokens.total()), thousands(t.Tokens.Input), thousands(t.Tokens.Output), thousands(t.Tokens.CacheWrite), thousands(t.Tokens.CacheRead)))
	usd, known := 0.0, false
	for _, m := range r.Models {
		if m.USD != nil {
			usd += *m.USD
			known = known || m.Tokens.total() > 0
		}
	}
	text := message.AuditUnknown.In(p.l)
	if known {
		text = message.Dollars(usd)
	}
	text = message.AuditCostOf.Format(p.l, text, r.Prices.Date)
	if t.Unpriced > 0 {
		text += message.AuditUnpriced.Format(p.l, thousands(t.Unpriced))
	}
	p.pair(message.AuditCost, text)
	c := t.Cache
	if c.Written > 0 {
		p.pair(message.AuditCacheTitle, message.AuditCacheOf.Format(p.l, thousands(c.Written), thousands(c.ByCompaction), message.Percent(c.ByCompaction, c.Written), c.Expired, thousands(c.ByExpiry), message.Percent(c.ByExpiry, c.Written)))
	}
	p.put("</dl>\n")
}

func thousands(n int64) string { return message.Thousands(int(n)) }

func (p *page) compactions(r *Report) {
	t := &r.Totals
	p.title(message.AuditCompactions)
	if t.Compactions+t.Failed == 0 {
		p.put("<p>", esc(message.AuditNoCompact.In(p.l)), "</p>\n")
		return
	}
	p.put("<dl>\n")
	p.pair(message.AuditCount, message.AuditCountOf.Format(p.l, t.Compactions, t.Auto, t.Manual, t.Compactions-t.Auto-t.Manual, t.Failed))
	p.pair(message.AuditMid, message.AuditMidOf.Format(p.l, t.MidWork, t.AtBoundary))
	p.pair(message.AuditWait, message.AuditWaitOf.Format(p.l, message.Span(time.Duration(t.WaitMS)*time.Millisecond), t.Compactions, t.WaitKnown))
	if lost := t.Lost; lost.Compactions > 0 {
		for _, k := range []struct {
			what message.Text
			Kept
		}{{message.AuditNames, lost.Names}, {message.AuditCommands, lost.Commands}, {message.AuditNumbers, lost.Numbers}} {
			if k.Needed == 0 {
				continue
			}
			p.pair(message.AuditNeeded, message.AuditKept.Format(p.l, k.what.In(p.l), k.Needed, message.Percent(int64(k.Summary), int64(k.Needed)), message.Percent(int64(k.Handover), int64(k.Needed))))
		}
		edit := "–"
		if lost.ToEdit != nil {
			edit = strconv.Itoa(*lost.ToEdit)
		}
		p.pair(message.AuditAgain, message.AuditAgainOf.Format(p.l, lost.ReadAgain, lost.RunAgain, edit))
	}
	if t.Payback != nil {
		p.pair(message.ColRepay, message.AuditRepaid.Format(p.l, message.Decimal(*t.Payback), t.RepaidKnown, t.Repaid))
	}
	p.put("</dl>\n")
}

func (p *page) table(head []message.Text, rows [][]string) {
	p.put(`<div class="wide" tabindex="0"><table><thead><tr>`)
	for i, h := range head {
		p.put(cell("th", i), esc(h.In(p.l)), "</th>")
	}
	p.put("</tr></thead><tbody>\n")
	for _, row := range rows {
		p.put("<tr>")
		for i, c := range row {
			tag := cell("td", i)
			if i == 0 && len(c) > 16 {
				tag = `<td class="long">` // a project, a model; a date stays on its line
			}
			p.put(tag, esc(c), "</td>")
		}
		p.put("</tr>\n")
	}
	p.put("</tbody></table></div>\n")
}

func cell(tag string, i int) string {
	if i == 0 {
		return "<" + tag + ">"
	}
	return "<" + tag + ` class="n">`
}

func (p *page) whatIf(r *Report) {
	w := r.Totals.WhatIf
	if r.Totals.Compactions+w.Boundary+w.Forced == 0 {
		return
	}
	p.title(message.AuditWhatIf)
	rows := r.whatIfTable(p.l)
	head := make([]message.Text, len(rows[0]))
	for i, h := range rows[0] {
		head[i] = message.Text{ZH: h, EN: h}
	}
	p.table(head, rows[1:])
	for _, line := range r.whatIfWords(p.l) {
		p.put(`<p class="dim">`, esc(line), "</p>\n")
	}
}

const (
	chartWidth  = 1000
	chartHeight = 180
	chartLeft   = 56
	chartBottom = 24
)

func (p *page) days(r *Report) {
	days := r.Days[max(0, len(r.Days)-120):]
	if len(days) == 0 {
		return
	}
	p.title(message.AuditByDay)
	top := int64(1)
	for _, d := range days {
		top = max(top, d.Tokens.total())
	}
	p.put(`<p class="key dim">`)
	for _, k := range []struct {
		class, colour string
		t             message.Text
	}{{"read", "--a", message.PageRead}, {"written", "--b", message.PageWritten}, {"in", "--c", message.PageInput}, {"out", "--d", message.PageOutput}} {
		p.key(k.colour, k.t)
	}
	p.put("</p>\n")
	p.svg(message.AuditByDay.In(p.l))
	p.axis(top)
	width := float64(chartWidth-chartLeft) / float64(len(days))
	for i, d := range days {
		x := chartLeft + float64(i)*width
		y := float64(chartHeight - chartBottom)
		p.put("<g><title>", esc(fmt.Sprintf("%s: %s", d.Name, thousands(d.Tokens.total()))), "</title>")
		for _, part := range []struct {
			class string
			n     int64
		}{{"read", d.Tokens.CacheRead}, {"written", d.Tokens.CacheWrite}, {"in", d.Tokens.Input}, {"out", d.Tokens.Output}} {
			h := float64(part.n) / float64(top) * (chartHeight - chartBottom - 8)
			y -= h
			fmt.Fprintf(&p.b, `<rect class="%s" x="%.1f" y="%.2f" width="%.1f" height="%.2f"/>`, part.class, x+width*.1, y, min(width*.8, 40), h)
		}
		p.put("</g>\n")
	}
	p.ends(days[0].Name, days[len(days)-1].Name)
	p.put("</svg></div>\n")
	p.buckets(message.Text{}, message.ColDay, slices.Clone(r.Days), 400)
}

// key is an entry of a legend; it is not torn from its colour.
func (p *page) key(colour string, t message.Text) {
	p.put(`<i><span style="background:var(`, colour, `)"></span>`, esc(t.In(p.l)), "</i> ")
}

func (p *page) svg(label string) {
	fmt.Fprintf(&p.b, `<div class="wide"><svg viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", chartWidth, chartHeight, esc(label))
}

func (p *page) axis(top int64) {
	bottom := chartHeight - chartBottom
	fmt.Fprintf(&p.b, `<line class="axis" x1="%d" y1="%d" x2="%d" y2="%d"/><text class="label" x="0" y="14">%s</text><text class="label" x="0" y="%d">0</text>`+"\n",
		chartLeft, bottom, chartWidth, bottom, esc(thousandsShort(top)), bottom)
}

func thousandsShort(n int64) string {
	switch {
	case n >= 1_000_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
	case n >= 1000:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}

func (p *page) ends(from, to string) {
	fmt.Fprintf(&p.b, `<text class="label" x="%d" y="%d">%s</text><text class="label" x="%d" y="%d" text-anchor="end">%s</text>`,
		chartLeft, chartHeight-6, esc(from), chartWidth, chartHeight-6, esc(to))
}

// pageSessions is how many sessions are drawn: those with most compactions and
// the largest contexts.
const pageSessions = 24

func (p *page) sessions(r *Report) {
	var list []*Session
	for i := range r.Sessions {
		if len(r.Sessions[i].Context) > 1 {
			list = append(list, &r.Sessions[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(len(b.Compactions), len(a.Compactions)), cmp.Compare(b.Peak, a.Peak))
	})
	if len(list) == 0 {
		return
	}
	p.title(message.PageContext)
	p.put(`<p class="key dim">`)
	p.key("--a", message.PageSize)
	p.key("--b", message.PageHappened)
	p.key("--c", message.PagePlanned)
	p.put("</p>\n")
	for _, s := range list[:min(len(list), pageSessions)] {
		p.session(s)
	}
}

func (p *page) session(s *Session) {
	p.put("<h3>", esc(cmp.Or(s.Title, s.ID)), "</h3>\n", `<p class="dim">`, esc(s.ID), " · ", esc(s.Host), " · ", esc(s.Project), "</p>\n")
	first, last := s.Context[0].Time, s.Context[len(s.Context)-1].Time
	span := float64(max(1, last-first))
	top := max(s.Peak, 1)
	if s.Window > 0 && s.Window <= 2*s.Peak {
		top = max(top, s.Window)
	}
	for _, pl := range s.Planned {
		top = max(top, pl.Tokens)
	}
	x := func(t int64) float64 {
		return chartLeft + min(1, max(0, float64(t-first)/span))*(chartWidth-chartLeft-4)
	}
	y := func(n int64) float64 {
		return float64(chartHeight-chartBottom) - float64(n)/float64(top)*(chartHeight-chartBottom-8)
	}
	p.svg(message.PageContext.In(p.l) + " " + s.ID)
	p.axis(top)
	if s.Window > 0 && s.Window <= top {
		fmt.Fprintf(&p.b, `<line class="limit" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`+"\n", chartLeft, y(s.Window), chartWidth, y(s.Window))
	}
	p.put(`<path class="ctx" d="`)
	for i, pt := range s.Context {
		op := "L"
		if i == 0 {
			op = "M"
		}
		fmt.Fprintf(&p.b, "%s%.1f %.1f", op, x(pt.Time), y(pt.Tokens))
	}
	p.put(`"/>`, "\n")
	for _, pl := range s.Planned {
		fmt.Fprintf(&p.b, `<line class="planned" x1="%.1f" y1="%.1f" x2="%.1f" y2="%d"><title>%s</title></line>`+"\n", x(pl.Time), y(pl.Tokens), x(pl.Time), chartHeight-chartBottom,
			esc(strings.Join(append([]string{pl.Tier, thousands(pl.Tokens)}, pl.Boundary...), " · ")))
	}
	for i := range s.Compactions {
		c := &s.Compactions[i]
		at, err := time.Parse(time.RFC3339, c.Time)
		if err != nil {
			continue
		}
		fmt.Fprintf(&p.b, `<line class="happened" x1="%.1f" y1="8" x2="%.1f" y2="%d"><title>%s</title></line>`+"\n", x(at.UnixMilli()), x(at.UnixMilli()), chartHeight-chartBottom,
			esc(fmt.Sprintf("%s: %s → %s", triggerText(c.Trigger).In(p.l), thousands(c.Before), thousands(c.After))))
	}
	p.ends(local(first), local(last))
	p.put("</svg></div>\n")
	p.lost(s)
}

// lost lists what the summaries of a session did not state.
func (p *page) lost(s *Session) {
	rows := [][]string{}
	for i := range s.Compactions {
		c := &s.Compactions[i]
		row := []string{local(parse(c.Time)), triggerText(c.Trigger).In(p.l), thousands(c.Before), thousands(c.After), "–", p.near(c.Earlier), p.near(c.Later), "–", "–"}
		if c.WaitMS != nil {
			row[4] = message.Span(time.Duration(*c.WaitMS) * time.Millisecond)
		}
		if c.Loss != nil {
			row[7] = fmt.Sprintf("%d/%d/%d", c.Loss.Names.Needed, c.Loss.Names.Summary, c.Loss.Names.Handover)
		}
		if c.Payback != nil && c.Payback.N > 0 {
			row[8] = message.Decimal(c.Payback.N)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	p.table([]message.Text{message.ColWhen, message.ColTrigger, message.ColTokensBefore, message.ColTokensAfter, message.ColWait, message.ColBefore, message.ColAfter, message.ColLost, message.ColRepay}, rows)
	var missing []string
	for i := range s.Compactions {
		if l := s.Compactions[i].Loss; l != nil {
			for _, m := range l.Missing {
				if name := "<code>" + esc(m.Text) + "</code>"; !slices.Contains(missing, name) {
					missing = append(missing, name)
				}
			}
		}
	}
	if len(missing) > 0 {
		p.put("<p>", esc(message.PageMissing.In(p.l)), " ", strings.Join(missing, ", "), "</p>\n")
	}
}

func parse(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// local is a time as people read it.
func local(ms int64) string {
	if ms == 0 {
		return "–"
	}
	return time.UnixMilli(ms).Format("2006-01-02 15:04")
}

func (p *page) near(n *Near) string {
	if n == nil {
		return "–"
	}
	return message.AuditNear.Format(p.l, n.Boundary, n.Actions)
}

func (p *page) buckets(title, name message.Text, list []Bucket, most int) {
	if len(list) == 0 {
		return
	}
	if title != (message.Text{}) {
		p.title(title)
	}
	if name == message.ColDay {
		slices.Reverse(list)
	}
	rows := [][]string{}
	for _, b := range list[:min(most, len(list))] {
		usd := message.AuditUnknown.In(p.l)
		if b.USD != nil {
			usd = message.Dollars(*b.USD)
		}
		rows = append(rows, []string{
			b.Name, strconv.Itoa(b.Sessions), strconv.Itoa(b.Requests), thousands(b.Tokens.Input), thousands(b.Tokens.Output),
			thousands(b.Tokens.CacheWrite), thousands(b.Tokens.CacheRead), strconv.Itoa(b.Compactions), usd,
		})
	}
	p.table([]message.Text{name, message.ColSessions, message.ColRequests, message.ColInput, message.ColOutput, message.ColWritten, message.ColRead, message.ColCompacted, message.ColUSD}, rows)
}
