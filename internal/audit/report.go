// Package audit says what the sessions on this machine went through: how full
// their contexts were, when they were compacted and what that cost and lost, and
// what the policy would have done instead. It only reads, and needs no hook to
// have seen anything.
//
// It has three parts. The reader (trace.go, loss.go) makes one pass over a file
// and leaves a trace: a row for each request and a mark for each turn, boundary
// and compaction, no texts. Traces are kept beside our other files (cache.go), so
// only what has changed is read again. The rest is a pure function of traces,
// policy and prices (analyse.go, whatif.go, cost.go): asking what another policy
// would have done reads nothing.
//
// Where a file does not say something the report says that it is not known:
// numbers that may be absent are pointers.
package audit

import (
	"reflect"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Report is the answer, as it is printed as JSON.
type Report struct {
	Schema int `json:"schema"`
	// Since is where the audit begins; empty for everything.
	Since   string `json:"since,omitempty"`
	Project string `json:"project,omitempty"`
	Host    string `json:"host,omitempty"`
	Made    string `json:"made"`

	Files      int   `json:"files"`
	Bytes      int64 `json:"bytes"`
	Unreadable int   `json:"unreadableLines"`
	// Failed are files that could not be read, or hold nothing that is a session's; Faults
	// are those of them that a mistake of ours has left out.
	Failed []string            `json:"unreadableFiles,omitempty"`
	Faults []*transcript.Fault `json:"faults,omitempty"`

	Totals Totals   `json:"totals"`
	Days   []Bucket `json:"days"`
	// Periods are the weeks, months or blocks that were asked for.
	Period   Period    `json:"period,omitempty"`
	Periods  []Bucket  `json:"periods,omitempty"`
	Projects []Bucket  `json:"projects"`
	Models   []Bucket  `json:"models"`
	Sessions []Session `json:"sessions"`

	Policy Policy           `json:"policy"`
	Prices host.PriceSource `json:"prices"`

	list    []traced // what it was made of
	options Options
}

// Period is a span of time that use is added up by.
type Period string

const (
	Week  Period = "week"  // from Monday on
	Month Period = "month" // of the calendar
	Block Period = "block" // five hours of one host, from the hour of the first request on
)

// Tokens are what requests sent and got. Rows of one message count once.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheWrite int64 `json:"cacheWrite"` // five minutes and one hour together
	CacheHour  int64 `json:"cacheWriteHour"`
	CacheRead  int64 `json:"cacheRead"`
}

func (t Tokens) total() int64 { return t.Input + t.Output + t.CacheWrite + t.CacheRead }

// context is what a request sent: all but the answer.
func (t Tokens) context() int64 { return t.Input + t.CacheWrite + t.CacheRead }

// fromCache is the same if n of the tokens that were written had been read.
func (t Tokens) fromCache(n int64) Tokens {
	t.CacheWrite -= n
	t.CacheHour = min(t.CacheHour, t.CacheWrite)
	t.CacheRead += n
	return t
}

func (t *Tokens) add(o Tokens) {
	t.Input += o.Input
	t.Output += o.Output
	t.CacheWrite += o.CacheWrite
	t.CacheHour += o.CacheHour
	t.CacheRead += o.CacheRead
}

// Spent is what requests used.
type Spent struct {
	Requests int    `json:"requests"`
	Tokens   Tokens `json:"tokens"`
	// USD is at list prices, of the models whose price is known; nil where none is.
	// Unpriced are the tokens of the others.
	USD      *float64 `json:"usd"`
	Unpriced int64    `json:"unpricedTokens"`
}

// spend adds a request; without a price p it has none.
func (s *Spent) spend(t Tokens, p *host.Price) {
	s.Requests++
	s.Tokens.add(t)
	s.pay(t.total(), Tokens{}, t, p)
}

// grow adds what the output of a request turned out to be larger by.
func (s *Spent) grow(by int64, t Tokens, p *host.Price) {
	s.Tokens.Output += by
	before := t
	before.Output -= by
	s.pay(by, before, t, p)
}

// pay adds the price of so many tokens more, of a request that was something else before.
func (s *Spent) pay(tokens int64, before, now Tokens, p *host.Price) {
	if p == nil {
		s.Unpriced += tokens
		return
	}
	if s.USD == nil {
		s.USD = new(float64)
	}
	*s.USD += usd(p, now) - usd(p, before)
}

// priced: nothing costs nothing. What sessions used that recorded no request nobody knows.
func (s *Spent) priced(sessions int) {
	if s.USD == nil && s.Unpriced == 0 && (s.Requests > 0 || sessions == 0) {
		s.USD = new(float64)
	}
}

// Bucket is a day, a project, a model or a period. A week's name is its first day, a
// block's its first hour; a block is one host's.
type Bucket struct {
	Name        string `json:"name"`
	Host        string `json:"host,omitempty"`
	Sessions    int    `json:"sessions"`
	Compactions int    `json:"compactions"`
	Spent
}

// unrecorded says that there are sessions, and that none tells what it used.
func (b *Bucket) unrecorded() bool { return b.Sessions > 0 && b.Requests == 0 }

// Totals add up the sessions.
type Totals struct {
	Bucket
	Auto   int `json:"automatic"`
	Manual int `json:"manual"`
	Failed int `json:"failed"`
	// MidWork struck while the agent was at work, AtBoundary at the end of a
	// piece of work; the others came between turns, but for those of which the file shows
	// nothing before (WhatIf.Placeless).
	MidWork    int `json:"midWork"`
	AtBoundary int `json:"atBoundary"`
	// WaitMS is how long people waited for compactions; WaitKnown says for how
	// many of them that is known, WaitEstimated for how many of those it is the time
	// between the lines around it.
	WaitMS        int64 `json:"waitMs"`
	WaitKnown     int   `json:"waitKnown"`
	WaitEstimated int   `json:"waitEstimated"`
	// Lost adds up what was needed after compactions.
	Lost Loss `json:"lost"`
	// Cache is what became of the prompt cache.
	Cache Cache `json:"cache"`
	// WhatIf is what the policy would have done.
	WhatIf WhatIf `json:"whatIf"`
	// Payback is the middle one of the compactions' break-evens, in requests.
	Payback *float64 `json:"requestsToRepay"`
	// Repaid counts the compactions after which that many requests followed, of
	// those whose break-even is known.
	Repaid      int `json:"repaid"`
	RepaidKnown int `json:"repaidKnown"`
}

// Cache is what became of the prompt cache, in tokens written.
type Cache struct {
	Written int64 `json:"written"`
	Read    int64 `json:"read"`
	// ByCompaction was written by the first request after a compaction.
	ByCompaction int64 `json:"writtenAfterCompaction"`
	// ByExpiry was written again because the cache had expired, in that many
	// requests; ExpiryUSD is what that cost more than reading it, where the price is known.
	ByExpiry  int64   `json:"writtenAfterExpiry"`
	Expired   int     `json:"expired"`
	ExpiryUSD float64 `json:"expiryUsd"`
}

// Session is one conversation with its sub-agents.
type Session struct {
	ID      string   `json:"id"`
	Host    string   `json:"host"`
	Project string   `json:"project"`
	Title   string   `json:"title"`
	Path    string   `json:"path"`
	Start   string   `json:"start,omitempty"`
	End     string   `json:"end,omitempty"`
	Models  []string `json:"models"`
	// Agents is the number of sub-agents' files; their tokens are the session's.
	Agents  int `json:"agents"`
	Turns   int `json:"turns"`
	Actions int `json:"actions"`
	Spent
	Cache Cache `json:"cache"`

	// Window is 0 where it is not known.
	Window int64 `json:"window"`
	// Peak is the fullest that the context was, at a request or before a compaction.
	Peak int64 `json:"peak"`
	// Context is the size over time, thinned out to what a picture shows.
	Context     []Point        `json:"context"`
	Boundaries  map[string]int `json:"boundaries"`
	Compactions []Compaction   `json:"compactions"`
	Failed      []Failure      `json:"failed,omitempty"`
	WhatIf      WhatIf         `json:"whatIf"`
	// Planned are the compactions that the policy would have made.
	Planned []Planned `json:"planned"`
}

// Point is the size of a context at a time.
type Point struct {
	Time   int64 `json:"t"` // Unix milliseconds
	Tokens int64 `json:"tokens"`
}

// Compaction is one that worked.
type Compaction struct {
	N       int    `json:"n"`
	Time    string `json:"time,omitempty"`
	Trigger string `json:"trigger"` // auto, manual, or unknown
	Before  int64  `json:"before"`
	After   int64  `json:"after"`
	// WaitMS is how long it took; WaitEstimated when that is the time between
	// the lines around it and not what the host says.
	WaitMS        *int64 `json:"waitMs"`
	WaitEstimated bool   `json:"waitEstimated,omitempty"`
	// MidWork: while the agent was at work, and not at a boundary. Unseen: the file shows
	// nothing before it, so nobody can say.
	MidWork bool `json:"midWork"`
	Unseen  bool `json:"unseen,omitempty"`
	// At are the boundaries that it came at.
	At      []string `json:"at"`
	Earlier *Near    `json:"boundaryBefore"`
	Later   *Near    `json:"boundaryAfter"`
	Loss    *Loss    `json:"loss"`
	Payback *Payback `json:"payback"`
	// WhatIf says what the policy would have done since the compaction before:
	// boundary or forced; not-needed where the window was not full; unknown without
	// its size.
	WhatIf string `json:"whatIf"`
}

// Near is the nearest boundary on one side of a compaction.
type Near struct {
	Boundary string `json:"boundary"`
	Actions  int    `json:"actions"` // tool calls in between
	Seconds  int64  `json:"seconds"`
}

// Failure is a compaction that did not happen.
type Failure struct {
	Time string `json:"time,omitempty"`
	Said string `json:"said"`
}

// Loss is what the agent needed after a compaction and what it did to find it
// again.
type Loss struct {
	Names    Kept `json:"names"`
	Commands Kept `json:"commands"`
	// Handover is the length of ours, in characters; Summary that of the host's.
	Handover int `json:"handoverCharacters"`
	Summary  int `json:"summaryCharacters"`
	// ReadAgain are files that had been read before, RunAgain command lines that
	// had been run before.
	ReadAgain int `json:"filesReadAgain"`
	RunAgain  int `json:"commandsRunAgain"`
	// ToEdit is how many tool calls it took to the first edit; nil where there
	// was none.
	ToEdit *int `json:"actionsToFirstEdit"`
	// Compactions is how many could be judged; Unreadable those that could not, as
	// their summary cannot be read. What was done again is of both.
	Compactions int `json:"compactions"`
	Unreadable  int `json:"unreadableSummaries"`
	// Files are the first of those that were read again. Missing are all that was lost.
	Files   []string  `json:"files,omitempty"`
	Missing []Missing `json:"missing,omitempty"`
}

// Kept counts what was needed and who states it.
type Kept struct {
	Needed   int `json:"needed"`
	Summary  int `json:"inSummary"`
	Handover int `json:"inSummaryOrHandover"`
}

// lost is what was needed and nothing stated.
func (k Kept) lost() int { return k.Needed - k.Summary }

// all are names and commands together.
func (l *Loss) all() Kept {
	n, c := l.Names, l.Commands
	return Kept{n.Needed + c.Needed, n.Summary + c.Summary, n.Handover + c.Handover}
}

// Missing is something that was needed and that the summary did not state.
type Missing struct {
	Text     string `json:"text"`
	Kind     string `json:"kind"` // name, command
	Handover bool   `json:"inHandover"`
	// Time, Tool and Used say where it was needed: when, in a call of which tool, and
	// the command or the line.
	Time string `json:"time,omitempty"`
	Tool string `json:"tool"`
	Used string `json:"used"`
}

// Payback is after how many requests a compaction is cheaper than none:
//
//	N* = 1 + (o·S + r·R′ + w·I) / (r·(C − C′))
//
// with S tokens of summary, R′ read and I written by the first request after it,
// C and C′ the contexts, and prices relative to input.
type Payback struct {
	Summary int64 `json:"summaryTokens"` // estimated from its length
	Read    int64 `json:"read"`
	Written int64 `json:"written"`
	Before  int64 `json:"contextBefore"`
	After   int64 `json:"contextAfter"`
	// N is the number of requests; 0 when it never pays: the context has not
	// become smaller.
	N float64 `json:"requests"`
	// Followed is how many there were until the next compaction or the end.
	Followed int `json:"followed"`
}

// WhatIf compares what happened with what the policy would have done.
type WhatIf struct {
	// Compactions that happened.
	Happened int `json:"happened"`
	// HappenedBoundary and HappenedMid are those of them that came at a boundary and
	// in mid-work; the others came between turns.
	HappenedBoundary int `json:"happenedAtBoundary"`
	HappenedMid      int `json:"happenedMidWork"`
	// Boundary, Forced and PolicyBetween are the policy's: at a boundary, in mid-work as
	// the window was full, and between turns without a boundary that counts. After the
	// Wasted ones of all three the thread has ended.
	Boundary      int `json:"atBoundary"`
	Forced        int `json:"forced"`
	PolicyBetween int `json:"betweenByPolicy"`
	Wasted        int `json:"wasted"`
	// Refused are requests that would not have fit, as the policy waited too long.
	Refused int `json:"refused"`
	// LateBoundary, LateForced and LateBetween are those that had to be: as late as the
	// window allows, at the last boundary before that or, without one, anywhere.
	LateBoundary int `json:"lateAtBoundary"`
	LateForced   int `json:"lateForced"`
	LateBetween  int `json:"betweenLate"`
	// NotNeeded are those that happened while the window was not full.
	NotNeeded int `json:"notNeeded"`
	// Requests of main threads, and what they sent in all: as it was, by the policy,
	// and as late as possible.
	Requests   int   `json:"requests"`
	Sent       int64 `json:"sent"`
	PolicySent int64 `json:"sentByPolicy"`
	LateSent   int64 `json:"sentLate"`
	// Cost is what main threads cost, by one reckoning for all three.
	Cost struct {
		Happened Cost `json:"happened"`
		Policy   Cost `json:"policy"`
		Late     Cost `json:"late"`
	} `json:"cost"`
	// Unknown are compactions in sessions whose window is not known, and those before
	// which the file shows no request (Unseen): what the policy would have done there
	// nobody can say, so they stand everywhere as they were. Between are those of them
	// that came between turns, the Placeless ones among them.
	Unknown int `json:"unknown"`
	Unseen  int `json:"unseen"`
	Between int `json:"between"`
	// Placeless are those before which the file shows nothing at all: nobody can say
	// whether they came between turns.
	Placeless int `json:"placeless"`
}

// happened counts a compaction; seen is whether the file shows a request before it.
func (w *WhatIf) happened(c *Compaction, seen bool) {
	unknown := 0
	if c.WhatIf == "unknown" {
		unknown = 1
		if !seen {
			w.Unseen++
		}
	}
	w.Happened++
	w.Unknown += unknown
	switch {
	case len(c.At) > 0:
		w.HappenedBoundary++
		w.Boundary += unknown
		w.LateBoundary += unknown
	case c.MidWork:
		w.HappenedMid++
		w.Forced += unknown
		w.LateForced += unknown
	default:
		w.Between += unknown
	}
	if c.Unseen {
		w.Placeless++
	}
	if c.WhatIf == "not-needed" {
		w.NotNeeded++
	}
}

// waited adds how long somebody waited, in every column where it cannot be compared.
func (w *WhatIf) waited(ms int64, mid, unknown bool) {
	for i, c := range []*Cost{&w.Cost.Happened, &w.Cost.Policy, &w.Cost.Late} {
		switch {
		case i > 0 && !unknown:
		case mid:
			c.WorkMS += ms
		default:
			c.PromptMS += ms
		}
	}
}

// policy is how many compactions the policy makes, late how many there had to be.
func (w *WhatIf) policy() int { return w.Boundary + w.Forced + w.PolicyBetween + w.Between }
func (w *WhatIf) late() int   { return w.LateBoundary + w.LateForced + w.LateBetween + w.Between }

// between is how many compactions came between turns.
func (w *WhatIf) between() int { return w.Happened - w.HappenedMid - w.HappenedBoundary - w.Placeless }

// addUp adds the numbers of one struct to those of another, and those of structs in them.
func addUp[T any](to *T, from T) { addFields(reflect.ValueOf(to).Elem(), reflect.ValueOf(from)) }

func addFields(to, from reflect.Value) {
	for i := range to.NumField() {
		switch f := to.Field(i); f.Kind() {
		case reflect.Int, reflect.Int64:
			f.SetInt(f.Int() + from.Field(i).Int())
		case reflect.Float64:
			f.SetFloat(f.Float() + from.Field(i).Float())
		case reflect.Struct:
			addFields(f, from.Field(i))
		}
	}
}

// shortLines is the report in a few sentences: what compactions did to the work.
func (r *Report) shortLines(l message.Lang) []string {
	t := &r.Totals
	if t.Compactions == 0 {
		return nil
	}
	waited := message.AuditUnknown.In(l)
	if t.WaitKnown > 0 {
		waited = waitText(t.WaitMS)
		if t.WaitEstimated > 0 {
			waited = "~" + waited
		}
	}
	lines := []string{message.AuditShortMid.Format(l, t.MidWork, t.Compactions, waited)}
	if t.Lost.Compactions > 0 {
		all := t.Lost.all()
		if all.lost() == 0 {
			lines = append(lines, message.AuditShortKept.In(l))
		} else {
			lines = append(lines, message.AuditShortLost.Format(l, all.lost(), all.Needed, all.Handover-all.Summary))
		}
	}
	return lines
}

// Told is what [Report.Print] says in sentences and of the policy, for pages that draw the
// rest: they say the same.
type Told struct {
	Short  []string   `json:"short"`
	WhatIf [][]string `json:"whatIf"` // the first row has the headings
	Words  []string   `json:"words"`
}

// Told is a report in a language.
func (r *Report) Told(l message.Lang) Told {
	return Told{Short: r.shortLines(l), WhatIf: r.whatIfTable(l), Words: r.whatIfWords(l, r.advice(l))}
}

// judged says of how many compactions it can be told what they lost, and why it cannot
// of the others; "" where it can of all.
func (r *Report) judged(l message.Lang) string {
	t := &r.Totals
	if t.Lost.Compactions == t.Compactions {
		return ""
	}
	text := message.AuditJudgedOf.Format(l, t.Lost.Compactions, t.Compactions)
	if n := t.Lost.Unreadable; n > 0 {
		text += message.AuditNoSummary.Format(l, n)
	}
	if n := t.Compactions - t.Lost.Compactions - t.Lost.Unreadable; n > 0 {
		text += message.AuditNoBefore.Format(l, n)
	}
	return text
}

// Planned is a compaction of the policy's.
type Planned struct {
	Time     int64    `json:"t"`
	Tokens   int64    `json:"tokens"`
	Tier     string   `json:"tier"`
	Boundary []string `json:"boundary"`
	// Between: no turn was under way. Wasted: no request followed it.
	Between bool `json:"between,omitempty"`
	Wasted  bool `json:"wasted,omitempty"`
	// Past is how many requests the context had been past the line of the tier ready, Turns
	// how many turns had begun in that time, each after one that had ended.
	Past  int `json:"requestsPastLine,omitempty"`
	Turns int `json:"turnsPastLine,omitempty"`
	// Request is the number of the trace's request before which it comes.
	Request int `json:"-"`
}

// Policy says which one was asked.
type Policy struct {
	// File is empty for the settings in force.
	File      string   `json:"file,omitempty"`
	Early     float64  `json:"earlyPercentRemaining"`
	Ready     float64  `json:"readyPercentRemaining"`
	Asap      float64  `json:"asapPercentRemaining"`
	Emergency float64  `json:"emergencyPercentRemaining"`
	Counts    []string `json:"boundaries"`
}

func stamp(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339)
}
