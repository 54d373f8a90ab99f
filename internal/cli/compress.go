package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/llm"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type compressFlags struct {
	compress.Choice
	title  string
	dryRun bool
}

func (a *app) compressCmd() *cobra.Command {
	var f compressFlags
	cmd := a.command("compress [SESSION]", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		return a.compress(cmd.Context(), f, args, cmd.Flags().Changed)
	})
	cmd.ValidArgsFunction = a.completeSession
	f.Users = "on"
	AddFlags(cmd, map[string]any{
		"bands": &f.Bands, "tools": &f.Tools, "thinking": &f.Thinking, "preset": &f.Preset, "users": &f.Users, "model": &f.Model, "base-url": &f.BaseURL,
		"title": &f.title, "min-tokens": &f.MinTokens, "dry-run": &f.dryRun, "keep-facts": &f.KeepFacts, "whole-file": &f.Whole, "no-cache": &f.NoCache,
	})
	cmd.Flags().Lookup("users").DefValue = "" // its text says more
	cmd.Flags().StringVar(&f.Provider, "provider", "", strings.Join(llm.Names(), ", "))
	complete(cmd, "provider", llm.Names())
	complete(cmd, "preset", compress.PresetNames())
	complete(cmd, "users", []string{"on", "off"})
	return cmd
}

func (a *app) compress(ctx context.Context, f compressFlags, args []string, changed func(string) bool) error {
	// A session may have a gigabyte: its index should not cost twice its size.
	defer debug.SetGCPercent(debug.SetGCPercent(40))
	cfg, problems := a.config()
	a.noteProblems(problems)
	opts, err := f.Options(cfg.Compress, changed)
	if err != nil {
		return err
	}
	back, err := f.Backend(cfg.Compress, a.Env, !f.dryRun)
	if err != nil {
		return err
	}
	back.Prices = host.ListPrices(cfg.Prices)
	opts.Pool = f.Pool(cfg.Compress, back, a.compressCache())
	s, err := a.compressed(ctx, args)
	if err != nil {
		return err
	}
	plan, err := compress.NewPlan(s, opts)
	if err != nil {
		return message.Misuse{Err: err}
	}
	if plan.Few() && !plan.Nothing() {
		a.Note(message.FewTurns, len(plan.Turns))
	}
	doc := plan.Document(back, f.dryRun)
	if doc.Gone, err = a.folderGone(s.CWD); err != nil {
		return err
	}
	tell := a.Note
	if f.dryRun {
		tell = a.Say // of a preview it is a part
	}
	switch stays := host.Of(s.Host).Mirrored; { // its clone stands beside it
	case doc.Gone == "" || plan.Nothing():
	case stays && !f.dryRun:
		return message.WithHint(message.Fail(message.CompressGone, a.short(doc.Gone)), message.HintCompressGone, s.ID)
	case a.JSON:
	case stays:
		tell(message.CompressGone, a.short(doc.Gone))
	default:
		tell(message.ContinueGone, a.short(doc.Gone), a.short(a.Dir))
	}
	if f.dryRun {
		if a.JSON {
			return a.PrintJSON(doc)
		}
		plan.Print(&a.Terminal, a.Stdout, back)
		return nil
	}
	if plan.Nothing() {
		return message.WithHint(message.Fail(message.NothingToDo), message.HintNothing)
	}
	if !a.JSON {
		plan.Print(&a.Terminal, a.Stderr, back)
	}
	return a.runPlan(ctx, plan, back, f, doc)
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
	if why := host.Of(file.Host).Texts.NoClone; why != (message.Text{}) {
		// Before a model is asked, and paid for.
		return nil, message.WithHint(message.Fail(why), message.HintNoCopilotClone)
	}
	s, err := transcript.Read(ctx, file.Path)
	return s, catalog.ReadHint(file.Path, err)
}

// runPlan compresses and shows what came of it: a clone, or for a format that
// cannot be resumed a text to start with.
func (a *app) runPlan(ctx context.Context, plan *compress.Plan, back compress.Backend, f compressFlags, doc compress.Document) error {
	s := plan.Session
	update, clear := a.progress()
	note := catalog.NewCloneNote(s.ID, s.CWD, a.Lang)
	run := compress.RunOptions{ID: transcript.NewID(s.Host, a.Now()), Title: a.cloneTitle(f, s), Now: a.Now(), Progress: update, Refs: a.JSON, Clones: compress.ClonesIn(a.store().Root())}
	if doc.Gone != "" { // no agent would find it there
		s.CWD, note.Moved = a.Dir, message.MovedFolder.Format(a.Lang, doc.Gone, a.Dir)
		if h := host.Of(s.Host); h.Sessions.ByProject {
			run.Dir = h.SessionPath(a.sessionDir(h), carry.RealPath(a.Dir), "")
		}
	}
	run.Note = note
	a.record(s.ID, store.On(message.EventCompressStart, "clone", run.ID, "provider", back.Name()))
	if s.Legacy {
		packet, res, err := plan.Packet(ctx, back.Provider, run)
		clear()
		a.recordEnd(s.ID, res, err)
		if err != nil {
			return err
		}
		if a.JSON {
			doc.Result, doc.Packet = res.Document(), packet
			return a.PrintJSON(doc)
		}
		a.Note(message.LegacyPacket)
		_, err = fmt.Fprint(a.Stdout, packet)
		return err
	}
	res, err := plan.Run(ctx, back.Provider, run)
	clear()
	a.recordEnd(s.ID, res, err)
	var failed *compress.AllFailed
	switch {
	case errors.Is(err, compress.ErrNothing):
		return message.WithHint(message.Fail(message.NothingToDo), message.HintNothing)
	case errors.As(err, &failed):
		return message.WithHint(message.Fail(message.AllFailed, len(failed.Messages), failed.Messages[0].Why(a.Lang)), message.HintAllFailed)
	case err != nil:
		return err
	}
	if _, err := a.giveBack(ctx, s, run.Title, res.Clone); err != nil {
		return err
	}
	// What clones left that are gone meanwhile. That is no business of this one.
	if _, err := a.finder().TidyClones(ctx, nil, a.Now()); err != nil && ctx.Err() == nil {
		a.Note(message.ClonesProblem, err)
	}
	if a.JSON {
		doc.Result = res.Document()
		doc.Resume, doc.CWD = host.Of(s.Host).Resume(res.Clone.ID), s.CWD
		return a.PrintJSON(doc)
	}
	plan.PrintResult(&a.Terminal, res)
	return nil
}

// giveBack makes the clone of a mirror a session of its host's, and says in which file
// the host keeps it.
func (a *app) giveBack(ctx context.Context, s *transcript.Session, title string, clone transcript.Cloned) (string, error) {
	target, _ := carry.To(string(s.Host))
	path, err := target.Give(ctx, a.agents(), carry.Clone{Source: s.ID, From: s.Path, ID: clone.ID, Path: clone.Path, Title: title, CWD: s.CWD, Now: a.Now()})
	if err != nil {
		return "", errors.Join(err, os.Remove(clone.Path))
	}
	return path, nil
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

func (a *app) compressCache() compress.Dir {
	return compress.CacheIn(a.store().Root())
}

func (a *app) cloneTitle(f compressFlags, s *transcript.Session) string {
	if f.title != "" {
		return message.OneLine(f.title)
	}
	title := message.OneLine(cmp.Or(transcript.Names(a.sessionDir)[s.ID], s.Title, s.ID))
	for _, l := range []message.Lang{message.ZH, message.EN} { // a clone's clone
		title = strings.TrimSuffix(title, message.CloneTitle.Format(l, ""))
	}
	// Hosts cut a long title at its end, where it says how to recall.
	return message.CloneTitle.Format(a.Lang, message.Short(title, 60))
}

// pickSession asks on a terminal; elsewhere the session has to be named.
func (a *app) pickSession(ctx context.Context) (string, error) {
	in, ok := a.Stdin.(*os.File)
	if !ok || !a.IsTTY(in.Fd()) || a.JSON {
		return "", message.Misuse{Err: message.WithHint(message.Fail(message.NeedSession), message.HintSessions)}
	}
	rows, _, err := a.newestSessions(ctx, 10, catalog.Filter{}, a.notListed)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", catalog.NoneYet()
	}
	catalog.PrintRows(&a.Terminal, rows, true, a.short)
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
