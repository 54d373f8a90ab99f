package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// continuePreset is how a clone is made that is to be gone on with.
const continuePreset = "fresh"

// beingWritten is how long ago the last line of a session may be that is written to.
const beingWritten = time.Minute

// keeps are how much of what is older can be kept.
var keeps = []string{"10%", "30%", "all"}

func (f continueFlags) percent() (int, error) {
	switch n, err := strconv.Atoi(strings.TrimSuffix(f.keep, "%")); {
	case f.keep == "all":
		return 100, nil
	case err != nil || n < 1 || n > 100:
		return 0, message.Misuse{Err: message.WithHint(message.Fail(message.ContinueBadKeep, f.keep), message.HintThereAre, keeps)}
	default:
		return n, nil
	}
}

type continueFlags struct {
	in, keep           string
	run, dryRun, print bool
}

func (a *app) continueCmd() *cobra.Command {
	var f continueFlags
	cmd := a.command("continue [SESSION]", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error { return a.goOn(cmd.Context(), f, args) })
	cmd.ValidArgsFunction = a.completeSession
	cmd.Flags().StringVar(&f.in, "in", "", strings.Join(carry.Names(), ", "))
	AddFlags(cmd, map[string]any{"run": &f.run, "dry-run": &f.dryRun, "print": &f.print})
	cmd.Flags().StringVar(&f.keep, "keep", keeps[0], strings.Join(keeps, ", "))
	cmd.MarkFlagsMutuallyExclusive("print", "run")
	complete(cmd, "in", carry.Names())
	complete(cmd, "keep", keeps)
	return cmd
}

type continued struct {
	Schema   int            `json:"schema"`
	DryRun   bool           `json:"dryRun"`
	Source   continuedFrom  `json:"source"`
	Host     string         `json:"host"`
	ID       string         `json:"id,omitempty"`
	Path     string         `json:"path,omitempty"`
	Title    string         `json:"title,omitempty"`
	CWD      string         `json:"cwd"`
	Messages int            `json:"messages"`
	Before   int            `json:"tokensBefore"`
	After    int            `json:"tokensAfter"`
	Redacted map[string]int `json:"redacted"`
	Open     string         `json:"openTurn,omitempty"`
	Left     int            `json:"openMessages,omitempty"`
	Gone     string         `json:"folderGone,omitempty"`
	Resume   string         `json:"resume,omitempty"`
	Undo     string         `json:"undo,omitempty"`

	cloned bool
	calls  int           // of tools that a clone cuts short or leaves out
	told   *carry.Retold // nil for a clone
	asIs   bool          // there is nothing to shorten
	took   time.Duration // the agent's own import
}

type continuedFrom struct {
	ID   string `json:"id"`
	Host string `json:"host"`
	Path string `json:"path"`
}

func (a *app) goOn(ctx context.Context, f continueFlags, args []string) error {
	if f.run && (a.JSON || f.dryRun) {
		return message.Misuse{Err: message.Fail(message.ContinueRunAlone)}
	}
	keep, err := f.percent()
	if err != nil {
		return err
	}
	ref := ""
	if len(args) > 0 {
		ref = args[0]
	}
	file, err := a.finder().ToContinue(ref, a.Dir)
	if err != nil {
		return err
	}
	target, ok := carry.To(cmp.Or(f.in, string(file.Host)))
	if !ok {
		return message.Misuse{Err: message.WithHint(message.Fail(message.ContinueNoTarget, f.in), message.HintThereAre, carry.Names())}
	}
	if f.run { // before anything is made for it
		program, _, _ := strings.Cut(target.Resume(""), " ")
		if _, err := exec.LookPath(program); err != nil {
			return missing(err, target)
		}
	}
	doc := continued{Schema: 1, DryRun: f.dryRun, Source: continuedFrom{file.ID, string(file.Host), file.Path}, Host: string(target.Name), Redacted: map[string]int{}}
	end := file.Size
	if a.Now().Sub(file.ModTime) < beingWritten {
		turns, err := carry.LastWhole(ctx, file)
		if err != nil {
			return err
		}
		end, doc.Open, doc.Left = turns.End, message.Short(turns.Open, 80), turns.Messages
	}
	if doc.Gone, err = a.folderGone(transcript.FirstCWD(file.Path)); err != nil {
		return err
	}
	// A clone belongs to its source's folder: where that is gone no agent finds it.
	f.dryRun = f.dryRun || f.print
	doc.cloned = !f.print && target.Name == file.Host && host.Of(file.Host).Texts.NoClone == (message.Text{}) && doc.Gone == ""
	if doc.cloned {
		err = a.cloneToContinue(ctx, f, keep, file, end, &doc)
	}
	if !doc.cloned {
		err = a.carryOver(ctx, f, keep, file, end, target, &doc)
	}
	if err != nil {
		return err
	}
	return a.continues(f, target, &doc)
}

// folderGone is the folder of a session where that is not there, so that it goes on in the
// current one.
func (a *app) folderGone(cwd string) (string, error) {
	if info, err := os.Stat(cwd); cwd == "" || err == nil && info.IsDir() {
		return "", nil
	}
	if a.Dir == "" {
		return "", message.WithHint(message.Fail(message.ContinueNowhere, a.short(cwd)), message.HintNowhere)
	}
	return cwd, nil
}

// cloneToContinue makes a clone in the same agent. Where there is nothing to shorten,
// the session itself is the one to go on with; but not while the agent is at work in it.
func (a *app) cloneToContinue(ctx context.Context, f continueFlags, keep int, file transcript.File, end int64, doc *continued) error {
	cfg, _ := a.config()
	choice := compress.Choice{Preset: continuePreset, Users: "on", Provider: "builtin"}
	opts, err := choice.Options(cfg.Compress, func(string) bool { return false })
	if err != nil {
		return err
	}
	choice.NoCache = f.dryRun // which writes nothing
	opts.Pool = choice.Pool(cfg.Compress, compress.Backend{Provider: compress.Builtin{}}, a.compressCache())
	if opts.Pool.TargetHeavy = keep; keep == 100 {
		opts.Bands = nil
	}
	s, err := transcript.ReadTo(ctx, file.Path, end)
	if err != nil {
		return catalog.ReadHint(file.Path, err)
	}
	plan, err := compress.NewPlan(s, opts)
	if err != nil {
		return err
	}
	if len(plan.Turns) == 0 {
		doc.cloned = false // a compaction in mid-turn may be all there is
		return nil
	}
	doc.Source.ID, doc.CWD, doc.Title, doc.Messages = s.ID, s.CWD, a.cloneTitle(compressFlags{}, s), len(plan.Items)
	doc.calls = plan.Tools.Removed + plan.Tools.Truncated
	doc.Before, doc.After = plan.Counted(nil)
	run := compress.RunOptions{
		ID: transcript.NewID(s.Host, a.Now()), Title: doc.Title, Now: a.Now(), Clones: compress.ClonesIn(a.store().Root()),
		Note: catalog.NewCloneNote(s.ID, s.CWD, a.Lang),
	}
	var res *compress.Result
	switch {
	case doc.After >= doc.Before:
		err = compress.ErrNothing // a very short one would grow
	case f.dryRun:
		res, err = a.previewClone(ctx, plan, run, doc)
	default:
		var clear func()
		run.Progress, clear = a.progress()
		res, err = plan.Run(ctx, compress.Builtin{}, run)
		clear()
	}
	if errors.Is(err, compress.ErrNothing) {
		if doc.Open != "" {
			doc.cloned = false
			return nil
		}
		if s.HasUsage {
			doc.Before = int(s.Usage.Tokens())
		}
		doc.After, doc.Title, doc.asIs = doc.Before, "", true
		if !f.dryRun {
			doc.ID, doc.Path = file.ID, file.Path
		}
		return nil
	}
	if err == nil && !f.dryRun {
		doc.ID = res.Clone.ID
		doc.Path, err = a.giveBack(ctx, s, doc.Title, res.Clone)
	}
	if err != nil {
		return err
	}
	doc.Before, doc.After = plan.Counted(res)
	return nil
}

// previewClone makes a clone where nobody finds it and reads it: what is shown is what will
// be there.
func (a *app) previewClone(
	ctx context.Context, plan *compress.Plan, run compress.RunOptions, doc *continued,
) (res *compress.Result, err error) {
	if run.Dir, err = os.MkdirTemp("", "overtone-continue-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(run.Dir)) }()
	note := &noted{Noter: run.Note}
	run.Note, run.Clones = note, ""
	if res, err = plan.Run(ctx, compress.Builtin{}, run); err != nil {
		return nil, err
	}
	c := res.Clone
	story, err := carry.Read(ctx, transcript.File{Path: c.Path, ID: c.ID, Host: plan.Session.Host, Size: c.Bytes}, c.Bytes)
	if err != nil {
		return nil, err
	}
	if doc.told, err = story.Tell(ctx, carry.Options{Keep: 100, Lang: a.Lang, Now: a.Now()}); err != nil {
		return nil, err
	}
	doc.told.Short, doc.told.Tools, doc.told.Note = res.Stats.MessagesCompressed, 0, note.text
	doc.told.Left = message.Percent(int64(res.Stats.CompressedTokens), int64(res.Stats.OriginalTokens))
	return res, nil
}

// noted remembers what the note of a clone says.
type noted struct {
	compress.Noter
	text string
}

func (n *noted) Note(states func(string) bool) string {
	n.text = n.Noter.Note(states)
	return n.text
}

// carryOver writes the conversation anew, as a session of the target's. One whose folder
// is not there goes on in the current one.
func (a *app) carryOver(ctx context.Context, f continueFlags, keep int, file transcript.File, end int64, target carry.Target, doc *continued) error {
	from, _ := carry.To(string(file.Host))
	story, err := carry.Read(ctx, file, end)
	if err != nil {
		return catalog.ReadHint(file.Path, err)
	}
	if name := transcript.Names(a.hostDir)[file.ID]; name != "" {
		story.Title = name
	}
	if story.CWD == "" || doc.Gone != "" {
		story.CWD = a.Dir
	}
	o := carry.Options{From: from.Title, Gone: doc.Gone, Lang: a.Lang, Now: a.Now(), Keep: keep, Kept: a.compressCache()}
	if f.dryRun {
		o.Kept = ""
	}
	told, err := story.Tell(ctx, o)
	if err != nil {
		return err
	}
	if told.Messages == 0 {
		return message.WithHint(message.Fail(message.ContinueEmpty, story.ID), message.HintEmpty)
	}
	doc.Source.ID, doc.told = story.ID, told
	doc.Title, doc.CWD, doc.Messages, doc.Before, doc.After, doc.Redacted = told.Title, told.CWD, told.Messages, told.Before, told.After, told.Redacted
	if f.dryRun {
		return nil
	}
	made, err := target.Make(ctx, a.agents(), told, file, compress.ClonesIn(a.store().Root()))
	doc.ID, doc.Path, doc.took = made.ID, made.Path, made.Took
	return missing(err, target)
}

// printTalk writes lines of a conversation, and its note, word for word.
func (a *app) printTalk(lines []carry.Line, note string) {
	for _, l := range lines {
		who := message.ContinueAgent
		switch {
		case l.Summary:
			who = message.ContinueSummary
		case l.User:
			who = message.ContinueUser
		}
		fmt.Fprintf(a.Stdout, "## %s\n\n%s\n\n", who.In(a.Lang), l.Text)
	}
	fmt.Fprintln(a.Stdout, note)
}

// continues tells what was made, or starts it.
func (a *app) continues(f continueFlags, target carry.Target, doc *continued) error {
	if f.print {
		if a.JSON {
			return message.Misuse{Err: message.Fail(message.ContinuePrintAlone)}
		}
		fmt.Fprintf(a.Stdout, "# %s\n\n", doc.Title)
		a.printTalk(doc.told.Lines, doc.told.Note)
		return nil
	}
	made := doc.ID != "" && doc.ID != doc.Source.ID
	if doc.ID != "" {
		doc.Resume = target.Resume(doc.ID)
	}
	if made {
		doc.Undo = "overtone sessions rm " + doc.ID
	}
	if a.JSON {
		return a.PrintJSON(doc)
	}
	from, _ := carry.To(doc.Source.Host)
	a.Tell(message.ContinueFromTo, from.Title, doc.Source.ID, target.Title)
	if doc.Gone != "" {
		a.Tell(message.ContinueGone, a.short(doc.Gone), a.short(doc.CWD))
	}
	before, after, less := message.Thousands(doc.Before), message.Thousands(doc.After), ""
	if doc.After < doc.Before {
		less = " (" + message.Change(doc.Before, doc.After) + ")"
	}
	switch {
	case doc.asIs:
		a.Tell(message.ContinueAsIs, before)
	case doc.cloned:
		a.Tell(message.ContinueShort, message.Thousands(doc.Messages), message.Thousands(doc.calls), before, after, less)
	default:
		a.Tell(message.ContinueSize, message.Thousands(doc.Messages), before, after, less, target.Title)
	}
	if len(doc.Redacted) > 0 {
		a.Tell(message.ContinueRedacted, target.Title, compress.Counts(&a.Terminal, doc.Redacted))
	}
	if doc.Open != "" {
		a.Tell(message.ContinueOpen, doc.Open, message.Thousands(doc.Left))
	}
	if doc.ID == "" {
		if doc.told != nil {
			if doc.told.Short > 0 {
				a.Tell(message.ContinueOlder, message.Thousands(doc.told.Short), doc.told.Left)
			}
			switch {
			case doc.told.Tools > 0 && doc.told.Tools <= carry.ToolsTold:
				a.Tell(message.ContinueFewCalls, message.Thousands(doc.told.Tools))
			case doc.told.Tools > 0:
				a.Tell(message.ContinueCalls, message.Thousands(doc.told.Tools), carry.ToolsTold)
			case doc.calls > 0:
				a.Tell(message.ContinueNoCalls, message.Thousands(doc.calls))
			}
			a.Tell(message.ContinueEnds)
			a.printTalk(doc.told.Ends(), doc.told.Note)
		}
		a.Note(message.InitDry)
		return nil
	}
	if made && doc.Path != "" {
		a.Say(message.ContinueSession, a.short(doc.Path))
	}
	if doc.took >= time.Second {
		a.Say(message.ContinueTook, doc.took.Round(time.Second/10), target.Title)
	}
	command := doc.Resume
	if doc.CWD != "" && doc.CWD != a.Dir {
		command = "cd " + terminal.Quote(doc.CWD) + " && " + command
	}
	a.Say(message.DoneResume, command)
	if made {
		a.Say(message.DoneUndo, doc.ID)
	}
	if !f.run {
		return nil
	}
	terminal.Flush(a.Stdout)
	words := strings.Fields(doc.Resume)
	cmd := exec.Command(words[0], words[1:]...) // an interrupt is for it, not for us
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = doc.CWD, a.Environ(), a.Stdin, terminal.Raw(a.Stdout), terminal.Raw(a.Stderr)
	return missing(cmd.Run(), target)
}

// missing says what to do about an agent that is not there.
func missing(err error, target carry.Target) error {
	if !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	program, _, _ := strings.Cut(target.Resume(""), " ")
	return message.WithHint(message.Fail(message.ContinueMissing, program, target.Title), message.HintMissing, carry.Names())
}

// waitFor shows on a terminal which program of an agent's is waited for, and since when.
func (a *app) waitFor(command string) (done func()) {
	bar, stop, ended := a.NewBar(time.Second), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				bar.Update(0, 1, func(_ string, took time.Duration) string {
					return a.Format(message.ContinueWaits, command, took.Round(time.Second))
				})
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
		bar.Clear()
	}
}

// agents is what carrying touches: the agents' folders and programs.
func (a *app) agents() carry.World {
	return carry.World{Dir: a.folders().Find, Run: func(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.Env = cmp.Or(dir, a.Dir), append(a.Environ(), "OVERTONE_DISABLE=1")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		done := a.waitFor(filepath.Base(program) + " " + args[0])
		out, err := cmd.Output()
		done()
		if err != nil {
			return out, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), args[0], err, message.Cut(message.OneLine(errs.String()+" "+string(out)), 300))
		}
		return out, nil
	}}
}
