package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/llm"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type compressFlags struct {
	bands, tools, thinking, preset string
	users                          string
	provider, model, baseURL       string
	title                          string
	minTokens                      int
	dryRun, keepFacts, whole       bool
	noCache                        bool
}

func (a *app) compressCmd() *cobra.Command {
	var f compressFlags
	cmd := &cobra.Command{
		Use: "compress [SESSION]", Short: message.HelpCompress.In(a.Lang), Long: message.HelpCompressLong.In(a.Lang),
		Args: usageArgs(cobra.MaximumNArgs(1)), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compress(cmd.Context(), f, args, cmd.Flags().Changed)
		},
	}
	fl := cmd.Flags()
	str := func(p *string, name, def string, help message.Text) { fl.StringVar(p, name, def, help.In(a.Lang)) }
	str(&f.bands, "bands", "", message.HelpBands)
	str(&f.tools, "tools", "", message.HelpTools)
	str(&f.thinking, "thinking", "", message.HelpThinking)
	str(&f.preset, "preset", "", message.HelpPreset)
	str(&f.users, "users", "on", message.HelpUsers)
	fl.StringVar(&f.provider, "provider", "", message.HelpProvider.Format(a.Lang, strings.Join(llm.Names(), ", ")))
	str(&f.model, "model", "", message.HelpModel)
	str(&f.baseURL, "base-url", "", message.HelpBaseURL)
	str(&f.title, "title", "", message.HelpTitle)
	fl.IntVar(&f.minTokens, "min-tokens", 0, message.HelpMinTokens.In(a.Lang))
	fl.BoolVar(&f.dryRun, "dry-run", false, message.HelpDryRun.In(a.Lang))
	fl.BoolVar(&f.keepFacts, "keep-facts", false, message.HelpKeepFacts.In(a.Lang))
	fl.BoolVar(&f.whole, "whole-file", false, message.HelpWholeFile.In(a.Lang))
	fl.BoolVar(&f.noCache, "no-cache", false, message.HelpNoCache.In(a.Lang))
	complete(cmd, "provider", llm.Names())
	complete(cmd, "preset", compress.PresetNames())
	complete(cmd, "users", []string{"on", "off"})
	return cmd
}

func (a *app) compress(ctx context.Context, f compressFlags, args []string, changed func(string) bool) error {
	// A session may have a gigabyte: its index should not cost twice its size.
	defer debug.SetGCPercent(debug.SetGCPercent(40))
	cfg, problems := a.config()
	for _, p := range problems {
		a.Note(message.ConfigProblem, p)
	}
	opts, err := a.compressOptions(f, cfg.Compress, changed)
	if err != nil {
		return err
	}
	prov, err := a.provider(f, cfg.Compress)
	if err != nil {
		return err
	}
	opts.Pool = a.pool(f, cfg.Compress, prov)
	s, err := a.compressed(ctx, args)
	if err != nil {
		return err
	}
	plan, err := compress.NewPlan(s, opts)
	if err != nil {
		return message.Misuse{Err: err}
	}
	if opts.Newest > 0 && plan.Few() {
		a.Note(message.FewTurns, len(plan.Turns))
	}
	doc := a.compressDoc(plan, prov, f.dryRun)
	if f.dryRun {
		if a.JSON {
			return a.PrintJSON(doc)
		}
		a.printPlan(a.Stdout, plan, prov)
		return nil
	}
	if plan.Nothing() {
		return message.WithHint(message.Fail(message.NothingToDo), message.HintNothing)
	}
	if !a.JSON {
		a.printPlan(a.Stderr, plan, prov)
	}
	return a.runPlan(ctx, plan, prov, f, doc)
}

// compressed is the session that the command is about.
func (a *app) compressed(ctx context.Context, args []string) (_ *transcript.Session, err error) {
	ref := ""
	if len(args) > 0 {
		ref = args[0]
	} else if ref, err = a.pickSession(ctx); err != nil {
		return nil, err
	}
	file, err := a.finder().Resolve(ref)
	if err != nil {
		return nil, err
	}
	return transcript.Read(ctx, file.Path)
}

// runPlan compresses and shows what came of it: a clone, or for a format that
// cannot be resumed a text to start with.
func (a *app) runPlan(ctx context.Context, plan *compress.Plan, prov provider, f compressFlags, doc compressJSON) error {
	s := plan.Session
	update, clear := a.progress()
	run := compress.RunOptions{ID: transcript.NewID(s.Host, a.Now()), Title: a.cloneTitle(f, s), Now: a.Now(), Progress: update, Refs: a.JSON}
	a.record(s.ID, store.On(message.EventCompressStart, "clone", run.ID, "provider", prov.Name()))
	if s.Legacy {
		packet, res, err := plan.Packet(ctx, prov.Provider, run)
		clear()
		a.recordEnd(s.ID, res, err)
		if err != nil {
			return err
		}
		if a.JSON {
			doc.Result, doc.Packet = resultDoc(res), packet
			return a.PrintJSON(doc)
		}
		a.Note(message.LegacyPacket)
		_, err = fmt.Fprint(a.Stdout, packet)
		return err
	}
	res, err := plan.Run(ctx, prov.Provider, run)
	clear()
	a.recordEnd(s.ID, res, err)
	switch {
	case errors.Is(err, compress.ErrNothing):
		return message.WithHint(message.Fail(message.NothingToDo), message.HintNothing)
	case err != nil:
		return err
	}
	a.rememberClone(s, res)
	if a.JSON {
		doc.Result = resultDoc(res)
		doc.Resume, doc.CWD = resumeCommand(s, res.Clone.ID), s.CWD
		return a.PrintJSON(doc)
	}
	a.printResult(plan, res, prov)
	return nil
}

// rememberClone puts a clone on the list of those that may be removed again.
// Losing that is no failure of the command.
func (a *app) rememberClone(s *transcript.Session, res *compress.Result) {
	err := compress.ClonesIn(a.store().Root()).Add(compress.CloneRecord{
		ID: res.Clone.ID, Source: s.ID, Host: string(s.Host), Path: res.Clone.Path, Size: res.Clone.Bytes,
		Created: a.Now().UTC().Format(time.RFC3339),
	})
	if err != nil {
		a.Note(message.ClonesProblem, err)
	}
}

// recordEnd tells a session's timeline how its compression ended.
func (a *app) recordEnd(id string, res *compress.Result, err error) {
	if err != nil {
		a.record(id, store.On(message.EventCompressFailed, "error", message.Cut(err.Error(), 200)))
		return
	}
	a.record(id, store.On(message.EventCompressComplete, "clone", res.Clone.ID, "messagesCompressed", res.Stats.MessagesCompressed,
		"messagesFailed", res.Stats.MessagesFailed, "tokensRemoved", res.Stats.TokensRemoved))
}

// record puts an event on the timeline of a session that hooks have seen. One
// they have not gets no folder for it: a session's folder is what makes it the
// one used last. Losing the event is no failure of the command.
func (a *app) record(id string, e store.Event) {
	s, err := a.store().Session(id)
	if err == nil {
		err = s.Record(e)
	}
	if err != nil {
		a.Note(message.TimelineProblem, err)
	}
}

func (a *app) compressOptions(f compressFlags, c config.Compress, changed func(string) bool) (compress.Options, error) {
	o := compress.Options{Whole: f.whole, MinTokens: c.MinTokens}
	if changed("min-tokens") {
		o.MinTokens = f.minTokens
	}
	if o.MinTokens <= 0 {
		o.MinTokens = 1
	}
	switch f.users {
	case "on":
	case "off":
		o.NoUsers = true
	default:
		return o, message.Misuse{Err: message.Fail(message.BadOnOff)}
	}
	if f.preset == "" && f.bands == "" && f.tools == "" && f.thinking == "" {
		f.preset = compress.DefaultPreset
	}
	if f.preset != "" {
		p, err := compress.PresetNamed(f.preset)
		if err != nil {
			return o, message.Misuse{Err: err}
		}
		o.Newest, o.NoUsers = p.Newest, o.NoUsers || !changed("users")
		f.bands, f.tools, f.thinking = cmp.Or(f.bands, p.Bands), cmp.Or(f.tools, p.Tools), cmp.Or(f.thinking, p.Thinking)
	}
	var err error
	if o.Bands, err = compress.ParseBands(f.bands); err != nil {
		return o, message.Misuse{Err: err}
	}
	if o.Tools, err = compress.ParseTools(f.tools); err != nil {
		return o, message.Misuse{Err: err}
	}
	if o.Thinking, err = compress.ParseThinking(f.thinking); err != nil {
		return o, message.Misuse{Err: err}
	}
	return o, nil
}

func (a *app) pool(f compressFlags, c config.Compress, prov provider) compress.Pool {
	p := compress.NewPool(c)
	p.Model, p.KeepFacts, p.Redact = prov.model, f.keepFacts, prov.redact
	if prov.slow && c.TimeoutInitialMS == config.Defaults().Compress.TimeoutInitialMS {
		p.TimeoutInitial, p.TimeoutIncrement = time.Minute, time.Minute
	}
	if !f.noCache {
		p.Cache = a.compressCache()
	}
	return p
}

func (a *app) compressCache() compress.Dir {
	return compress.Dir(filepath.Join(a.store().Root(), "compress"))
}

func (a *app) cloneTitle(f compressFlags, s *transcript.Session) string {
	if f.title != "" {
		return f.title
	}
	return message.CloneTitle.Format(a.Lang, cmp.Or(s.Title, s.ID))
}

func resumeCommand(s *transcript.Session, id string) string {
	return host.Of(s.Host).Resume(id)
}

// pickSession asks on a terminal; elsewhere the session has to be named.
func (a *app) pickSession(ctx context.Context) (string, error) {
	in, ok := a.Stdin.(*os.File)
	if !ok || !a.IsTTY(in.Fd()) || a.JSON {
		return "", message.Misuse{Err: message.WithHint(message.Fail(message.NeedSession), message.HintSessions)}
	}
	rows, _, err := a.newestSessions(ctx, 10, session.Filter{})
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", message.Fail(message.NoSessions)
	}
	session.PrintRows(&a.Terminal, rows, true, a.short)
	fmt.Fprint(a.Stderr, message.PickSession.Format(a.Lang, len(rows)))
	line, err := terminal.ReadLine(ctx, in)
	if err != nil {
		return "", err
	}
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > len(rows) {
		return "", message.Misuse{Err: message.Fail(message.BadChoice, line)}
	}
	return rows[n-1].Path, nil
}

// progress is a line over messages. Time follows the text, not their number.
func (a *app) progress() (update func(compress.Progress), clear func()) {
	bar := a.NewBar(0)
	return func(p compress.Progress) {
		bar.Update(int64(p.Done), int64(p.Total), func(drawn string, took time.Duration) string {
			left := "…"
			if p.Tokens > 0 {
				left = time.Duration(float64(took) * float64(p.TotalTokens-p.Tokens) / float64(p.Tokens)).Round(time.Second).String()
			}
			return a.Format(message.ProgressBar, drawn, p.Done, p.Total, p.Failed, left)
		})
	}, bar.Clear
}

func (a *app) printPlan(w io.Writer, p *compress.Plan, prov provider) {
	line := func(t message.Text, args ...any) { fmt.Fprintln(w, t.Format(a.Lang, args...)) }
	s := p.Session
	line(message.PlanHead, s.ID, s.Host, len(p.Turns), message.Thousands(p.Tokens))
	if s.HasUsage {
		line(message.PlanUsage, message.Thousands(int(s.Usage.Tokens())))
	}
	if dead := len(s.Entries) - len(p.View); dead > 0 {
		line(message.PlanDead, dead)
	}
	if n := s.Problems.Unreadable(); n > 0 {
		line(message.PlanProblems, n)
	}
	if len(p.Bands) > 0 {
		rows := [][]string{{}}
		for _, t := range []message.Text{message.ColBand, message.ColTurns, message.ColMessages, message.ColTokens, message.ColTarget} {
			rows[0] = append(rows[0], t.In(a.Lang))
		}
		for _, b := range p.Bands {
			rows = append(rows, []string{b.Band.String(), fmt.Sprint(b.Turns), fmt.Sprint(b.Messages), message.Thousands(b.Tokens), message.Thousands(b.Target)})
		}
		a.Table(w, rows)
	}
	if t := p.Tools; t.Removed+t.Truncated+t.Thinking > 0 {
		line(message.PlanTools, t.Removed, t.Truncated, t.Thinking, message.Thousands(t.Tokens))
	}
	if len(p.Skipped) > 0 {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(p.Skipped)) {
			parts = append(parts, fmt.Sprintf("%s %d", k, p.Skipped[k]))
		}
		line(message.PlanSkipped, strings.Join(parts, ", "))
	}
	percent := 0
	if p.Tokens > 0 {
		percent = 100 * (p.Tokens - p.Target) / p.Tokens
	}
	line(message.PlanTarget, message.Thousands(p.Target), percent)
	if prov.free() {
		line(message.PlanLocal, prov.label())
		return
	}
	cost := message.CostUnknown.In(a.Lang)
	if usd, known := prov.cost(p); known {
		cost = message.CostAbout.Format(a.Lang, usd)
	}
	line(message.PlanCost, prov.label(), message.Thousands(p.Small.Input+p.Large.Input), message.Thousands(p.Small.Output+p.Large.Output), cost)
}

func (a *app) printResult(p *compress.Plan, r *compress.Result, prov provider) {
	a.Say(message.DoneCounts, r.Stats.MessagesCompressed, r.Stats.MessagesFailed, r.Stats.MessagesSkipped, r.Cached)
	a.Say(message.DoneContext, message.Thousands(r.Before), message.Thousands(r.After), percentLess(r.Before, r.After))
	a.Say(message.DoneTokens, message.Thousands(r.Stats.OriginalTokens), message.Thousands(r.Stats.CompressedTokens), r.Stats.ReductionPercent)
	if t := r.Tools; t.Removed+t.Truncated+t.Thinking > 0 {
		a.Say(message.PlanTools, t.Removed, t.Truncated, t.Thinking, message.Thousands(t.Tokens))
	}
	if text := lostText(r.Lost); text != "" {
		a.Say(message.DoneLost, text)
	}
	if g := r.Gone; g.Sentences > 0 {
		a.Say(message.DoneGone, g.Sentences, g.Requests, g.Decisions)
	}
	if len(r.Redacted) > 0 {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(r.Redacted)) {
			parts = append(parts, fmt.Sprintf("%s %d", k, r.Redacted[k]))
		}
		a.Say(message.DoneRedacted, strings.Join(parts, ", "))
	}
	if r.InputTokens+r.OutputTokens > 0 {
		a.Say(message.DoneSpent, r.InputTokens, r.OutputTokens)
	}
	shown := 0
	for _, m := range r.Messages {
		if m.Status == compress.Failed && shown < 5 {
			a.Note(message.DoneFailure, m.Line, m.Error)
			shown++
		}
	}
	if rest := r.Stats.MessagesFailed - shown; rest > 0 {
		a.Note(message.DoneMore, rest)
	}
	a.Say(message.DoneClone, r.Clone.Path)
	command := resumeCommand(p.Session, r.Clone.ID)
	if cwd := p.Session.CWD; cwd != "" && cwd != a.Dir {
		command = "cd " + shellQuote(cwd) + " && " + command
	}
	a.Say(message.DoneResume, command)
	if r.Stats.MessagesCompressed > 0 {
		a.Say(message.DoneRecall, r.Clone.ID)
	}
}

func percentLess(before, after int) int {
	if before == 0 {
		return 0
	}
	return 100 * (before - after) / before
}

func lostText(lost map[extract.Kind]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(lost)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, lost[k]))
	}
	return strings.Join(parts, ", ")
}

func shellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-~", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// compressJSON is the output of --json.
type compressJSON struct {
	Schema int         `json:"schema"`
	DryRun bool        `json:"dryRun"`
	Source sourceJSON  `json:"source"`
	Plan   planJSON    `json:"plan"`
	Result *resultJSON `json:"result,omitempty"`
	Resume string      `json:"resume,omitempty"`
	CWD    string      `json:"cwd,omitempty"`
	Packet string      `json:"packet,omitempty"`
}

type sourceJSON struct {
	ID         string                         `json:"id"`
	Host       string                         `json:"host"`
	Path       string                         `json:"path"`
	Lines      int                            `json:"lines"`
	LiveTokens int64                          `json:"liveTokens"`
	Problems   map[transcript.ProblemKind]int `json:"problems,omitempty"`
}

type planJSON struct {
	Provider     string                `json:"provider"`
	Model        string                `json:"model,omitempty"`
	Turns        int                   `json:"turns"`
	Tokens       int                   `json:"tokens"`
	TargetTokens int                   `json:"targetTokens"`
	InputTokens  int                   `json:"inputTokens"`
	OutputTokens int                   `json:"outputTokens"`
	CostUSD      *float64              `json:"costUSD"`
	Bands        []bandJSON            `json:"bands"`
	Tools        toolsJSON             `json:"tools"`
	Skipped      map[compress.Skip]int `json:"skipped"`
}

type bandJSON struct {
	compress.Band
	Turns        int `json:"turns"`
	Messages     int `json:"messages"`
	Tokens       int `json:"tokens"`
	TargetTokens int `json:"targetTokens"`
}

type toolsJSON struct {
	Removed   int `json:"removed"`
	Truncated int `json:"truncated"`
	Kept      int `json:"kept"`
	Thinking  int `json:"thinking"`
	Tokens    int `json:"tokens"`
}

type resultJSON struct {
	ID       string             `json:"id"`
	Path     string             `json:"path"`
	Bytes    int64              `json:"bytes"`
	Stats    compress.Stats     `json:"stats"`
	Cached   int                `json:"cached"`
	Lost     map[string]int     `json:"lostFacts"`
	Redacted map[string]int     `json:"redacted"`
	Input    int                `json:"inputTokens"`
	Output   int                `json:"outputTokens"`
	Removed  int                `json:"removedLines"`
	Before   int                `json:"contextTokensBefore"`
	After    int                `json:"contextTokensAfter"`
	Gone     extract.Losses     `json:"gone"`
	Messages []compress.Message `json:"messages"`
}

func toolDoc(t compress.ToolPlan) toolsJSON {
	return toolsJSON{t.Removed, t.Truncated, t.Kept, t.Thinking, t.Tokens}
}

func (a *app) compressDoc(p *compress.Plan, prov provider, dry bool) compressJSON {
	s := p.Session
	live := recall.Estimate(s)
	if s.HasUsage {
		live = s.Usage.Tokens()
	}
	d := compressJSON{
		Schema: 1, DryRun: dry,
		Source: sourceJSON{s.ID, string(s.Host), s.Path, s.Lines, live, s.Problems.Counts},
		Plan: planJSON{
			Provider: prov.Name(), Model: prov.model, Turns: len(p.Turns), Tokens: p.Tokens, TargetTokens: p.Target,
			InputTokens: p.Small.Input + p.Large.Input, OutputTokens: p.Small.Output + p.Large.Output, Bands: []bandJSON{}, Tools: toolDoc(p.Tools), Skipped: p.Skipped,
		},
	}
	if usd, known := prov.cost(p); known {
		d.Plan.CostUSD = &usd
	}
	for _, b := range p.Bands {
		d.Plan.Bands = append(d.Plan.Bands, bandJSON{b.Band, b.Turns, b.Messages, b.Tokens, b.Target})
	}
	return d
}

func resultDoc(r *compress.Result) *resultJSON {
	lost := map[string]int{}
	for k, n := range r.Lost {
		lost[k.String()] = n
	}
	return &resultJSON{r.Clone.ID, r.Clone.Path, r.Clone.Bytes, r.Stats, r.Cached, lost, r.Redacted, r.InputTokens, r.OutputTokens, r.RemovedEntries, r.Before, r.After, r.Gone, r.Messages}
}
