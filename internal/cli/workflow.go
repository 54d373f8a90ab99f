package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func (a *app) workflowCmd() *cobra.Command {
	var id string
	cmd := a.group("workflow")
	a.sessionFlag(cmd, &id)
	cmd.AddCommand(a.workflowList(), a.workflowShow(), a.workflowStart(&id),
		a.aboutSession("status", &id, func(*cobra.Command) error { return a.printWorkflow(id) }),
		a.workflowCheck(), a.workflowNew(), a.workflowSchema(), a.workflowTrust(), a.workflowRun(&id))

	var reason string
	cancel := a.step("cancel", cobra.NoArgs, &id, func([]string) workflow.Event {
		return workflow.Cancel{Reason: reason}
	})
	stop := cancel.RunE
	cancel.RunE = func(cmd *cobra.Command, args []string) error {
		sess, err := a.finder().Known(id, false)
		if err != nil {
			return err
		}
		s, err := session.Peek(sess)
		if err != nil {
			// What cannot be read closes the guard, and this is the way to open it.
			if err := a.moveAside(sess, err); err != nil {
				return err
			}
			s = nil
		}
		// Nothing to cancel is what was wanted.
		if s == nil || !s.Active {
			if a.JSON {
				return a.PrintJSON(workflow.StatusOf(cmp.Or(s, &workflow.State{SessionID: sess.ID()})))
			}
			a.Say(message.NothingRuns, sess.ID())
			return nil
		}
		return stop(cmd, args)
	}
	cancel.Flags().StringVar(&reason, "reason", "", "")
	cmd.AddCommand(
		cancel, a.workflowResume(&id),
		a.step("skip STAGE", cobra.ExactArgs(1), &id, func(args []string) workflow.Event {
			return workflow.Skip{Stage: args[0], At: a.Now()}
		}),
		a.step("restart STAGE", cobra.ExactArgs(1), &id, func(args []string) workflow.Event {
			return workflow.Restart{Stage: args[0], At: a.Now()}
		}),
	)
	return cmd
}

// library is where workflows are looked for from here.
func (a *app) library() blueprint.Library {
	return blueprint.Library{Dir: a.Dir, Home: a.store().Root()}
}

// templateArg completes the names of workflows.
func (a *app) templateArg(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return a.library().Names(), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) workflowList() *cobra.Command {
	all := false
	cmd := a.command("list", cobra.NoArgs, func(*cobra.Command, []string) error {
		return a.library().Print(&a.Terminal, all)
	})
	cmd.Flags().BoolVar(&all, "all", false, "")
	return cmd
}

func (a *app) workflowShow() *cobra.Command {
	var custom string
	var yaml bool
	cmd := a.command("show NAME", cobra.ExactArgs(1), func(_ *cobra.Command, args []string) error {
		f, err := a.named(args[0], custom)
		if err != nil {
			return err
		}
		switch {
		case a.JSON:
			err = f.Print(&a.Terminal, a.fresh(f))
		case yaml && f.Source != nil:
			_, err = a.Stdout.Write(f.Source)
		case yaml:
			_, err = a.Stdout.Write(blueprint.Encode(f.Label, f.About, f.Stages))
		default:
			err = f.Print(&a.Terminal, a.fresh(f))
		}
		return err
	})
	cmd.ValidArgsFunction = a.templateArg
	AddFlags(cmd, map[string]any{"stages": &custom, "yaml": &yaml})
	return cmd
}

// fresh is a run of a workflow that has not begun.
func (a *app) fresh(f blueprint.File) *workflow.State {
	rules, _ := a.rules()
	s, _ := rules.Apply(nil, workflow.Start{Type: f.Name, Plan: a.library().Plan(f), At: a.Now()})
	return cmp.Or(s, &workflow.State{})
}

// named is the workflow of a name, or of the stages given in its place.
func (a *app) named(name, custom string) (blueprint.File, error) {
	cfg, _ := a.config() // whoever runs it tells the problems
	return a.library().Named(name, custom, session.Rules(cfg, a.folders().ShownClaude), a.Lang)
}

// rules are the engine's settings here.
func (a *app) rules() (workflow.Rules, message.Lang) {
	cfg, problems := a.config()
	for _, p := range problems {
		fmt.Fprintln(a.Stderr, "overtone: "+p.In(string(a.Lang)))
	}
	return session.Rules(cfg, a.folders().ShownClaude), message.Spoken(message.Lang(cfg.Language), cfg.Chosen, a.Getenv)
}

func (a *app) changes() session.Options {
	rules, lang := a.rules()
	return session.Options{Rules: rules, Lang: lang, Warn: func(err error) { fmt.Fprintln(a.Stderr, "overtone: "+err.Error()) }}
}

func (a *app) workflowRun(id *string) *cobra.Command {
	return a.command("run STAGE", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		sess, err := a.finder().Known(*id, false)
		if err != nil {
			return err
		}
		return catalog.RunStage(cmd.Context(), &a.Terminal, a.store().Root(), sess, args[0], a.changes())
	})
}

func (a *app) workflowStart(id *string) *cobra.Command {
	var custom, feature string
	var force bool
	cmd := a.command("start NAME", cobra.ExactArgs(1), func(_ *cobra.Command, args []string) error {
		f, err := a.named(args[0], custom)
		if err != nil {
			return err
		}
		if f.DAG.Len() == 0 {
			return message.Misuse{Err: message.Fail(message.NoneTemplate)}
		}
		s, err := a.finder().Session(*id, false)
		if err != nil {
			return err
		}
		if *id != "" {
			if _, _, err := a.finder().Look(*id); err != nil {
				a.Note(message.StartsAhead, s.ID()) // it may be one to come, or mistyped
			}
		}
		// What a newer version wrote is not damaged, and one at work is not touched.
		if _, err := session.Peek(s); force && errors.Is(err, workflow.ErrNewer) {
			return session.Unread(s, err)
		} else if force && err != nil {
			if err := a.moveAside(s, err); err != nil {
				return err
			}
		}
		if f.Runs() && !blueprint.IsTrusted(a.store().Root(), f) {
			a.Note(message.NotTrusted, f.Path, f.Name)
		}
		return a.apply(s, workflow.Start{
			SessionID: s.ID(), WorkflowID: session.NewWorkflowID(a.Now()), Type: args[0], Plan: a.library().Plan(f),
			Feature: feature, Environment: session.DetectEnvironment(a.Dir), At: a.Now(),
		}, false, force)
	})
	cmd.ValidArgsFunction = a.templateArg
	AddFlags(cmd, map[string]any{"stages": &custom, "feature": &feature, "force": &force})
	return cmd
}

// moveAside keeps a state that cannot be read under another name. One in the host's
// folder, which is not ours to move, is hidden by a state of nothing.
func (a *app) moveAside(s *store.Session, damaged error) error {
	return s.Update(func(tx *store.Tx) error {
		name, err := tx.SetAside(store.WorkflowFile, damaged)
		if errors.Is(err, fs.ErrNotExist) {
			return tx.Write(store.WorkflowFile, (&workflow.State{SessionID: s.ID()}).Encode())
		}
		if err == nil {
			a.Note(message.MovedAside, name)
		}
		return err
	})
}

// step is a command that applies one event to the session's workflow.
func (a *app) step(use string, args cobra.PositionalArgs, id *string, ev func([]string) workflow.Event) *cobra.Command {
	return a.command(use, args, func(_ *cobra.Command, args []string) error {
		s, err := a.finder().Known(*id, false)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			if state, err := session.State(s); err == nil && state != nil {
				if args[0], err = state.StageNamed(args[0]); err != nil {
					return err
				}
			}
		}
		return a.apply(s, ev(args), true, false)
	})
}

// workflowResume lets a workflow that rests go on.
func (a *app) workflowResume(id *string) *cobra.Command {
	return a.command("resume", cobra.NoArgs, func(*cobra.Command, []string) error {
		sess, err := a.finder().Known(*id, false)
		if err != nil {
			return err
		}
		s, err := session.State(sess)
		switch {
		case err != nil:
			return err
		case s == nil || !s.Active:
			return message.WithHint(message.Fail(message.NothingRuns, sess.ID()), message.HintStart)
		}
		o := a.changes()
		o.Now = a.Now()
		if err := session.Update(sess, o, (*session.Tx).Resume); err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(workflow.StatusOf(s))
		}
		a.Say(message.Resumed, s.WorkflowType, workflow.NextStep(s, a.Lang))
		return nil
	})
}

// apply steps a workflow from the command line and shows what came of it. There must
// be one, or one that cannot be read counts as none.
func (a *app) apply(sess *store.Session, ev workflow.Event, must, anew bool) error {
	old, err := session.State(sess)
	switch {
	case err != nil && !anew:
		return err
	case must && old == nil:
		return message.WithHint(message.Fail(message.NoWorkflow, sess.ID()), message.HintStart)
	}
	var (
		s   *workflow.State
		out workflow.Outcome
	)
	o := a.changes()
	o.Now, o.Anew = a.Now(), anew
	err = session.Update(sess, o, func(tx *session.Tx) (err error) {
		out, err = tx.Apply(ev)
		s = tx.Workflow
		return err
	})
	if err != nil {
		return err
	}
	if out.Kind == workflow.Refused {
		return message.Error{Reason: out.Reason}
	}
	if a.JSON {
		return a.PrintJSON(workflow.StatusOf(s))
	}
	fmt.Fprintln(a.Stdout, workflow.Instruction(s, out, a.Lang))
	return nil
}

func (a *app) printWorkflow(id string) error {
	sess, _, err := a.finder().Look(id)
	if err != nil {
		return err
	}
	s, err := session.State(sess)
	if err != nil {
		return err
	}
	// Having none is an answer too, and a host that pastes this command's
	// output drops it all when it fails.
	if s == nil {
		s = &workflow.State{SessionID: sess.ID()}
	}
	if a.JSON {
		return a.PrintJSON(workflow.StatusOf(s))
	}
	if s.WorkflowType == "" {
		a.Say(message.NoWorkflow, sess.ID())
		a.Note(message.HintStart)
		return nil
	}
	a.printStatus(sess.ID(), s)
	return nil
}

func (a *app) printStatus(sid string, s *workflow.State) {
	a.Say(message.StatusHead, s.WorkflowType, s.Phase(), sid)
	fmt.Fprintln(a.Stdout, workflow.Bar(s))
	a.Table(a.Stdout, workflow.StatusTable(s, a.Lang))
	if s.EndReason != "" {
		a.Say(message.LoopReason, s.EndReason)
	}
	a.Say(message.StatusCounts, s.FailCount, s.RejectCount, s.Unverified())
	if hint := workflow.NextStep(s, a.Lang); hint != "" && s.Active {
		a.Say(message.StatusNext, hint)
	}
}
