package audit

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type traced struct {
	file transcript.File
	*trace
	copied int64 // the time of the last request that another file holds, too
}

// bucket adds up requests under one name.
type bucket struct {
	Bucket
	sessions map[string]bool
}

type buckets map[string]*bucket

func (b buckets) at(name string) *bucket {
	k := b[name]
	if k == nil {
		k = &bucket{sessions: map[string]bool{}}
		k.Name = name
		b[name] = k
	}
	return k
}

func (b *bucket) done() Bucket {
	b.Sessions = len(b.sessions)
	b.priced(b.Sessions)
	return b.Bucket
}

func (b buckets) list(order func(a, b Bucket) int) []Bucket {
	out := make([]Bucket, 0, len(b))
	for _, k := range b {
		out = append(out, k.done())
	}
	slices.SortFunc(out, func(a, b Bucket) int {
		return cmp.Or(order(a, b), strings.Compare(a.Name, b.Name), strings.Compare(a.Host, b.Host))
	})
	return out
}

// unknownModel is the bucket of what no model is told of: sessions without a request,
// and compactions before which the file shows none.
const unknownModel = "unknown"

type analysis struct {
	Options
	prices   host.Prices
	from     int64             // Unix milliseconds
	seen     map[uint64]int64  // requests, and the tokens of the largest row of each
	struck   map[[2]int64]bool // compactions, by time and size
	days     buckets
	periods  buckets
	projects buckets
	models   buckets
	total    bucket
	rows     []*bucket
	after    int64 // the usual size after a compaction
	took     int64 // how long one usually takes, in milliseconds
	room     room
	dayEnd   int64 // the day that was asked for last
	dayStart int64
	day      string
}

// analyse makes the report. Traces are in order of time, so that of a request
// that several files hold the first one's counts.
func analyse(list []traced, o Options) *Report {
	a := &analysis{Options: o, prices: host.ListPrices(o.Prices), seen: map[uint64]int64{}, struck: map[[2]int64]bool{}, days: buckets{}, periods: buckets{}, projects: buckets{}, models: buckets{}}
	a.total.sessions = map[string]bool{}
	if !o.Since.IsZero() {
		a.from = o.Since.UnixMilli()
	}
	slices.SortStableFunc(list, func(x, y traced) int { return cmp.Compare(x.First, y.First) })
	a.after, a.took = usualSize(list, &a.room)
	t := o.Settings.Trigger
	r := &Report{
		Schema: 2, Project: o.Project, Host: o.Host, Made: o.Now.UTC().Format(time.RFC3339), Prices: a.prices.PriceSource, Sessions: []Session{},
		Policy: Policy{
			File: o.PolicyFile, Early: t.EarlyPercentRemainingLT, Ready: t.ReadyPercentRemainingLT, Asap: t.AsapPercentRemainingLT,
			Emergency: t.EmergencyPercentRemainingLT, Counts: slices.Clone(t.AutoRequiresAnyBoundary),
		},
	}
	if !o.Since.IsZero() {
		r.Since = o.Since.UTC().Format(time.RFC3339)
	}
	sessions := map[string]int{}
	var payback []float64
	var toEdit []float64
	// Main threads first: a sub-agent's file belongs to one of them.
	for _, agents := range [...]bool{false, true} {
		for i := range list {
			t := &list[i]
			if t.file.Agent != agents || !a.takes(t, sessions) {
				continue
			}
			t.unpack(&a.room)
			r.Files++
			r.Bytes += t.file.Size
			r.Unreadable += t.Unreadable
			id := t.file.ID
			if agents {
				id = cmp.Or(t.file.Parent, id)
			}
			at, ok := sessions[id]
			if !ok {
				at = len(r.Sessions)
				sessions[id] = at
				r.Sessions = append(r.Sessions, a.session(t, id))
			}
			s := &r.Sessions[at]
			if agents && ok {
				s.Agents++
			}
			if !o.trial {
				a.requests(t, s)
			}
			if !agents {
				a.compactions(t, s, &r.Totals, &payback, &toEdit)
			}
			t.leave()
		}
	}
	slices.SortStableFunc(r.Sessions, func(x, y Session) int { return cmp.Or(strings.Compare(y.End, x.End), strings.Compare(x.ID, y.ID)) })
	for i := range r.Sessions {
		addUp(&r.Totals.Cache, r.Sessions[i].Cache)
	}
	byTokens := func(x, y Bucket) int { return cmp.Compare(y.Tokens.total(), x.Tokens.total()) }
	byName := func(x, y Bucket) int { return strings.Compare(x.Name, y.Name) }
	r.Days = withEmpty(a.days.list(byName))
	if r.Period = o.Period; r.Period == Block {
		a.periods = a.periods.blocks()
	}
	r.Periods = a.periods.list(byName)
	for i := range r.Sessions {
		s := &r.Sessions[i]
		a.total.sessions[s.ID], a.projects.at(s.Project).sessions[s.ID] = true, true
		if len(s.Models) == 0 {
			a.models.at(unknownModel).sessions[s.ID] = true
		}
	}
	r.Projects, r.Models = a.projects.list(byTokens), a.models.list(byTokens)
	r.Totals.Bucket = a.total.done()
	r.Totals.Payback = median(payback)
	if m := median(toEdit); m != nil {
		n := int(*m)
		r.Totals.Lost.ToEdit = &n
	}
	return r
}

// takes is the filter. Of a file without times nobody can say what happened since when.
func (a *analysis) takes(t *traced, sessions map[string]int) bool {
	if a.Host != "" && string(t.file.Host) != a.Host || t.Last < a.from {
		return false
	}
	if a.Project == "" {
		return true
	}
	if _, ok := sessions[t.file.Parent]; ok && t.file.Agent {
		return true
	}
	return strings.Contains(strings.ToLower(projectOf(t)), strings.ToLower(a.Project))
}

func projectOf(t *traced) string { return cmp.Or(t.CWD, t.file.Folder) }

func (a *analysis) session(t *traced, id string) Session {
	s := Session{
		ID: id, Host: string(t.file.Host), Project: projectOf(t), Title: t.Title, Path: t.file.Path,
		Start: stamp(t.First), End: stamp(t.Last), Models: []string{}, Context: []Point{}, Boundaries: map[string]int{},
		Compactions: []Compaction{}, Planned: []Planned{},
	}
	if !t.file.Agent {
		s.Turns, s.Actions = t.Turns, t.Actions
		s.Window = windowOf(t.trace, a.Window)
		s.Context, s.Peak = contextOf(t.trace, a.from)
		s.Context = thinned(s.Context)
		for _, m := range t.marks {
			for _, b := range m.signals.List() {
				s.Boundaries[string(b)]++
			}
		}
	}
	return s
}

func (a *analysis) requests(t *traced, s *Session) {
	var last *request
	first := -1 // the request after the last compaction
	t.copied = 0
	events := t.Compacted
	costs := make([]*host.Price, len(t.Models))
	for i, m := range t.Models {
		costs[i] = a.prices.Of(m)
	}
	for i := range t.requests {
		r := &t.requests[i]
		for len(events) > 0 && events[0].At <= i {
			first, events = i, events[1:]
		}
		before := last
		if !r.side || t.file.Agent {
			last = r
		}
		p := costs[r.model]
		model := t.Models[r.model]
		if r.time >= a.from && !slices.Contains(s.Models, model) {
			s.Models = append(s.Models, model)
		}
		if r.key != 0 {
			had, ok := a.seen[r.key]
			a.seen[r.key] = max(had, r.tokens.total())
			if ok {
				t.copied = max(t.copied, r.time)
				// What a parent's file tells of a sub-agent's answer may be its beginning.
				if by := r.tokens.total() - had; by > 0 && r.time >= a.from {
					s.grow(by, r.tokens, p)
					for _, b := range a.parts(s, model, r.time) {
						b.grow(by, r.tokens, p)
					}
				}
				continue
			}
		}
		if r.time < a.from {
			continue
		}
		s.spend(r.tokens, p)
		cache := Cache{Written: r.tokens.CacheWrite, Read: r.tokens.CacheRead}
		switch {
		case first >= 0 && !r.side:
			cache.ByCompaction, first = r.tokens.CacheWrite, -1
		case before != nil && (!r.side || t.file.Agent):
			if n, ok := expired(before, r); ok {
				cache.ByExpiry, cache.Expired = n, 1
				if p != nil {
					cache.ExpiryUSD = usd(p, r.tokens) - usd(p, r.tokens.fromCache(n))
				}
			}
		}
		addUp(&s.Cache, cache)
		for _, b := range a.parts(s, model, r.time) {
			b.sessions[s.ID] = true
			b.spend(r.tokens, p)
		}
	}
	s.priced(1)
}

// parts are the rows that something counts in, until the next call: all, its day, its
// project, its model, and the period that was asked for.
func (a *analysis) parts(s *Session, model string, ms int64) []*bucket {
	day := a.dayOf(ms)
	a.rows = append(a.rows[:0], &a.total, a.days.at(day), a.projects.at(s.Project), a.models.at(cmp.Or(model, unknownModel)))
	switch a.Period {
	case Week:
		t := time.UnixMilli(ms).In(a.Loc)
		a.rows = append(a.rows, a.periods.at(t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format(time.DateOnly)))
	case Month:
		a.rows = append(a.rows, a.periods.at(day[:len("2006-01")]))
	case Block:
		hour := time.UnixMilli(ms).UTC().Truncate(time.Hour).Format(time.RFC3339)
		b := a.periods.at(hour + " " + s.Host)
		b.Name, b.Host = hour, s.Host
		a.rows = append(a.rows, b)
	}
	return a.rows
}

// blockHours is how long a window of use lasts by which vendors bill.
const blockHours = 5

// blocks joins the hours of each host: a window begins with the hour of the first request
// that is in none.
func (b buckets) blocks() buckets {
	open, out := map[string]*bucket{}, buckets{}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		k := b[key]
		at, _ := time.Parse(time.RFC3339, k.Name) // as it was written
		if to := open[k.Host]; to != nil {
			if from, _ := time.Parse(time.RFC3339, to.Name); at.Sub(from) < blockHours*time.Hour {
				to.join(k)
				continue
			}
		}
		open[k.Host], out[key] = k, k
	}
	return out
}

func (b *bucket) join(o *bucket) {
	maps.Copy(b.sessions, o.sessions)
	b.Compactions += o.Compactions
	b.Requests += o.Requests
	b.Tokens.add(o.Tokens)
	b.Unpriced += o.Unpriced
	if o.USD != nil {
		sum := *o.USD
		if b.USD != nil {
			sum += *b.USD
		}
		b.USD = &sum
	}
}

// maxDays bounds the days that are listed although nothing happened: a clock that was
// wrong once makes no list of decades.
const maxDays = 3660

// withEmpty adds the days in between on which nothing happened.
func withEmpty(days []Bucket) []Bucket {
	out := make([]Bucket, 0, len(days))
	for _, d := range days {
		day, err := time.Parse(time.DateOnly, d.Name)
		if n := len(out); err == nil && n > 0 {
			before, err := time.Parse(time.DateOnly, out[n-1].Name)
			if err == nil && day.Sub(before) < maxDays*24*time.Hour {
				for before = before.AddDate(0, 0, 1); before.Before(day); before = before.AddDate(0, 0, 1) {
					out = append(out, Bucket{Name: before.Format(time.DateOnly), Spent: Spent{USD: new(float64)}})
				}
			}
		}
		out = append(out, d)
	}
	return out
}

// dayOf is the local day. Requests come in order, so the day is nearly always the
// one before's.
func (a *analysis) dayOf(ms int64) string {
	if ms >= a.dayStart && ms < a.dayEnd {
		return a.day
	}
	t := time.UnixMilli(ms).In(a.Loc)
	start := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, a.Loc)
	a.dayStart, a.dayEnd, a.day = start.UnixMilli(), start.AddDate(0, 0, 1).UnixMilli(), t.Format(time.DateOnly)
	return a.day
}

// maxWait is the longest pause that is taken for a compaction; a longer one is a
// person who was away.
const maxWait = 10 * 60_000

func (a *analysis) compactions(t *traced, s *Session, sum *Totals, payback, toEdit *[]float64) {
	// What a copy of another session holds of it has been counted there.
	from := max(a.from, t.copied+1)
	for _, f := range t.Failed {
		if f.Time >= from {
			s.Failed = append(s.Failed, Failure{stamp(f.Time), f.Said})
			sum.Failed++
		}
	}
	w := &s.WhatIf
	rules := rulesOf(t.file.Host, t.trace, a.Settings, s.Window, middle(sizesAfter(t.trace), a.after))
	rules.took, rules.ledger = middle(tooks(t.trace), a.took), ledgerOf(t.trace)
	for _, m := range t.Models {
		rules.prices = append(rules.prices, a.prices.Of(m))
	}
	played := play(t.trace, rules, from)
	w.Cost.Happened, w.Cost.Policy, w.Cost.Late = played.was.Cost, played.paid.Cost, played.late.paid.Cost
	if s.Window > 0 {
		w.Requests, w.Sent, w.PolicySent, w.LateSent = played.requests, played.happened, played.sent, played.late.sent
	} else {
		w.Cost.Policy, w.Cost.Late = w.Cost.Happened, w.Cost.Happened
	}
	late := since(played.late.plan, from)
	s.Planned = append(s.Planned, since(played.planned, from)...)
	w.Boundary, w.Forced, w.PolicyBetween, w.Wasted = placed(s.Planned)
	w.Refused = played.over
	w.LateBoundary, w.LateForced, w.LateBetween, _ = placed(late)
	w.Cost.Policy.await(s.Planned, t.trace, &rules)
	w.Cost.Late.await(late, t.trace, &rules)
	before, marks := int64(0), natural(t.marks)
	for i := range t.Compacted {
		e := &t.Compacted[i]
		verdict, request := "unknown", mainBefore(t.requests, e.At)
		if s.Window > 0 && request != nil {
			next := t.Last + 1
			if i+1 < len(t.Compacted) {
				next = t.Compacted[i+1].Time
			}
			verdict = played.verdict(before, e.Time, next)
		}
		before = e.Time
		id := [2]int64{e.Time, e.Pre}
		if e.Time < a.from || e.Time > 0 && a.struck[id] {
			continue
		}
		a.struck[id] = true
		c := a.compaction(t, i, marks)
		c.N, c.WhatIf = i+1, verdict
		s.Compactions = append(s.Compactions, c)
		s.Peak = max(s.Peak, c.Before)
		model := ""
		if request != nil {
			model = t.Models[request.model]
		}
		for _, b := range a.parts(s, model, e.Time) {
			b.Compactions++
		}
		switch c.Trigger {
		case "auto":
			sum.Auto++
		case "manual":
			sum.Manual++
		}
		if c.MidWork {
			sum.MidWork++
		}
		if len(c.At) > 0 {
			sum.AtBoundary++
		}
		w.happened(&c, request != nil)
		took := rules.took
		if c.WaitMS != nil {
			took = *c.WaitMS
		}
		if !c.Unseen {
			w.waited(took, e.MidWork, verdict == "unknown")
		}
		if c.WaitMS != nil {
			sum.WaitMS += *c.WaitMS
			sum.WaitKnown++
			if c.WaitEstimated {
				sum.WaitEstimated++
			}
		}
		if c.Loss != nil {
			addUp(&sum.Lost, *c.Loss)
			if c.Loss.ToEdit != nil {
				*toEdit = append(*toEdit, float64(*c.Loss.ToEdit))
			}
		}
		if p := c.Payback; p != nil && p.N > 0 {
			*payback = append(*payback, p.N)
			sum.RepaidKnown++
			if float64(p.Followed) >= p.N {
				sum.Repaid++
			}
		}
	}
	addUp(&sum.WhatIf, s.WhatIf)
}

// nearby is how many actions away a boundary may be for a compaction to have come
// at it: the one that made it, and one more.
const nearby = 1

// natural are the marks of boundaries that a person would call the end of a piece of work;
// what comes between turns is counted as such.
func natural(marks []mark) (list []mark) {
	for _, m := range marks {
		m.signals &^= compact.PlanUpdate.Signal() | compact.TurnEnd.Signal()
		if m.signals != 0 {
			list = append(list, m)
		}
	}
	return list
}

// place says which of the natural marks, in their order, a compaction came at, and which
// are the last before and the first after it.
func (c *Compaction) place(e *event, marks []mark) {
	later := sort.Search(len(marks), func(i int) bool {
		m := &marks[i]
		return m.at > e.At || m.at == e.At && m.time > e.Time
	})
	near := func(m *mark, sign int) *Near {
		return &Near{Boundary: string(m.signals.List()[0]), Actions: sign * (m.actions - e.Actions), Seconds: int64(sign) * (m.time - e.Time) / 1000}
	}
	if later < len(marks) {
		c.Later = near(&marks[later], 1)
	}
	if later == 0 {
		return
	}
	c.Earlier = near(&marks[later-1], -1)
	at := later
	for at > 0 && e.Actions-marks[at-1].actions <= nearby {
		at--
	}
	for _, m := range marks[at:later] {
		for _, b := range m.signals.List() {
			c.At = append(c.At, string(b))
		}
	}
}

func (a *analysis) compaction(t *traced, i int, marks []mark) Compaction {
	e := &t.Compacted[i]
	c := Compaction{Time: stamp(e.Time), Trigger: cmp.Or(e.Trigger, "unknown"), Before: e.Pre, After: e.Post, MidWork: e.MidWork, At: []string{}, Loss: e.Loss}
	c.Unseen = e.At == 0 && e.Actions == 0 && (len(t.marks) == 0 || t.marks[0].time > e.Time)
	if ms, guessed := e.tookMS(); ms > 0 {
		c.WaitMS, c.WaitEstimated = &ms, guessed
	}
	c.place(e, marks)
	// Where a piece of work has just ended, nothing is interrupted.
	c.MidWork = c.MidWork && len(c.At) == 0
	before, first := mainBefore(t.requests, e.At), mainAfter(t.requests, e.At)
	if before != nil && c.Before == 0 {
		c.Before = before.tokens.context() + before.tokens.Output
	}
	if first != nil {
		end := len(t.requests)
		if i+1 < len(t.Compacted) {
			end = t.Compacted[i+1].At
		}
		// What the host says of the size after it leaves out its own instructions and tools,
		// which the size before it holds.
		if c.After == 0 || e.At < end {
			c.After = first.tokens.context()
		}
		p := repay(ratiosOf(a.prices.Of(t.Models[first.model])), int64(e.Summary/charsPerToken), first.tokens, c.Before, first.tokens.context())
		for j := e.At; j < end; j++ {
			if !t.requests[j].side {
				p.Followed++
			}
		}
		// Without the size before it there is nothing to compare.
		if c.Before > 0 {
			c.Payback = &p
		}
	}
	return c
}

func mainBefore(list []request, at int) *request {
	for i := min(at, len(list)) - 1; i >= 0; i-- {
		if !list[i].side {
			return &list[i]
		}
	}
	return nil
}

func mainAfter(list []request, at int) *request {
	for i := at; i < len(list); i++ {
		if !list[i].side {
			return &list[i]
		}
	}
	return nil
}

func sizesAfter(t *trace) []float64 {
	var out []float64
	for i := range t.Compacted {
		if r := mainAfter(t.requests, t.Compacted[i].At); r != nil {
			out = append(out, float64(r.tokens.context()))
		}
	}
	return out
}

func usualSize(list []traced, r *room) (after, took int64) {
	var all, waits []float64
	for i := range list {
		if t := &list[i]; !t.file.Agent && len(t.Compacted) > 0 {
			t.unpack(r)
			all = append(all, sizesAfter(t.trace)...)
			waits = append(waits, tooks(t.trace)...)
			t.leave()
		}
	}
	return middle(all, usualAfter), middle(waits, usualTook)
}

// middle is the median, or what is usual.
func middle(list []float64, usual int64) int64 {
	if m := median(list); m != nil {
		return int64(*m)
	}
	return usual
}

// maxPoints is what a picture of a session can show.
const maxPoints = 160

// contextOf is the main thread's size over time, and its peak.
func contextOf(t *trace, from int64) (all []Point, peak int64) {
	for i := range t.requests {
		r := &t.requests[i]
		if r.side || r.time < from {
			continue
		}
		n := r.tokens.context() + r.tokens.Output
		all = append(all, Point{r.time, n})
		peak = max(peak, n)
	}
	return all, peak
}

// thinned keeps what a picture can show. Of each stretch the largest and what follows
// a compaction stay, so that a thinned out line keeps its shape.
func thinned(all []Point) []Point {
	if len(all) <= maxPoints {
		return slices.Clip(append([]Point{}, all...))
	}
	out := make([]Point, 0, maxPoints)
	step := float64(len(all)) / (maxPoints / 2)
	for k := range maxPoints / 2 {
		part := all[int(float64(k)*step):min(len(all), int(float64(k+1)*step))]
		if len(part) == 0 {
			continue
		}
		lo, hi := 0, 0
		for i := range part {
			if part[i].Tokens < part[lo].Tokens {
				lo = i
			}
			if part[i].Tokens >= part[hi].Tokens {
				hi = i
			}
		}
		out = append(out, part[min(lo, hi)])
		if lo != hi {
			out = append(out, part[max(lo, hi)])
		}
	}
	return out
}
