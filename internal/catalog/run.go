package catalog

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

type stageRun struct {
	*terminal.Terminal
	sess  *store.Session
	opts  session.Options
	stage string
	id    string // of the hand-over
	spec  workflow.Spec
	root  string // where it is run
	dir   string // of reports, as models are told it
}

// RunStage runs the command of a stage whose turn it is: hands the stage over to
// this process, runs, and completes it with what came of it. Home is where trust is
// kept.
func RunStage(ctx context.Context, t *terminal.Terminal, home string, sess *store.Session, stage string, o session.Options) error {
	s, err := session.State(sess)
	switch {
	case err != nil:
		return err
	case s == nil:
		return message.WithHint(message.Fail(message.NoWorkflow, sess.ID()), message.HintStart)
	case !s.Active:
		return message.WithHint(message.Fail(message.NotRunning, s.WorkflowType), message.HintStart)
	}
	if stage, err = s.StageNamed(stage); err != nil {
		return err
	}
	spec := s.DAG.Spec(stage)
	if spec.Run == "" {
		var there []string
		for _, k := range s.DAG.Keys() {
			if s.DAG.Spec(k).Run != "" {
				there = append(there, k)
			}
		}
		return message.Misuse{Err: message.WithHint(message.Fail(message.RunNoCommand, stage), message.HintThereAre, terminal.Dash(there))}
	}
	command, trusted, err := blueprint.Command(home, s.Origin, stage, spec.Run)
	if err != nil {
		return err
	}
	if !trusted {
		return message.WithHint(message.Fail(message.RunUntrusted, s.Origin.Path), message.HintRunUntrusted, s.WorkflowType)
	}
	r := &stageRun{
		Terminal: t, sess: sess, opts: o, stage: stage, spec: spec, root: s.Origin.Root, dir: o.Rules.ContextDir,
		id: fmt.Sprintf("run-%d-%d", os.Getpid(), t.Now().UnixNano()),
	}
	if err := r.begin(); err != nil {
		return err
	}
	var live io.Writer
	if f, ok := terminal.File(t.Stderr); ok && t.IsTTY(f.Fd()) {
		live = f
	}
	env := append(t.Environ(), "OVERTONE_STAGE="+stage, "OVERTONE_SESSION="+sess.ID())
	ran := blueprint.Run(ctx, command, r.root, env, spec.RunTimeout, live, t.Now)
	if ctx.Err() != nil && !ran.TimedOut {
		return r.drop()
	}
	return r.end(ran)
}

func (r *stageRun) update(f func(tx *session.Tx) error) error {
	r.opts.Now = r.Now()
	return session.Update(r.sess, r.opts, f)
}

func (r *stageRun) begin() error {
	return r.update(func(tx *session.Tx) error {
		if tx.Workflow == nil {
			return message.Fail(message.NoWorkflow, r.sess.ID())
		}
		for _, d := range tx.Workflow.Delegations {
			if pid, ok := session.RunBy(d.AgentID); ok && d.Open && d.Stage == r.stage && session.Alive(pid) {
				return message.Fail(message.RunBusy, r.stage, pid)
			}
		}
		out, err := tx.Apply(workflow.Delegate{
			ID: r.id, Stage: r.stage, AgentID: session.RunnerID(os.Getpid()), Async: true, At: r.opts.Now,
		})
		if err != nil {
			return err
		}
		if out.Kind != workflow.Delegated {
			return message.Fail(message.Verbatim, strings.Join(strings.Fields(workflow.DenyText(tx.Workflow, out, r.Lang)), " "))
		}
		return nil
	})
}

// drop gives the stage back: whoever stopped the command has not judged the work.
func (r *stageRun) drop() error {
	err := r.update(func(tx *session.Tx) error {
		_, err := tx.Apply(workflow.Drop{ID: r.id})
		return err
	})
	if err != nil {
		return err
	}
	return message.Fail(message.Interrupted)
}

func (r *stageRun) end(ran blueprint.Ran) error {
	how := r.how(ran)
	route := workflow.Route{Verdict: workflow.Pass, Route: workflow.Next}
	if ran.Exit != 0 {
		route = workflow.Route{Verdict: workflow.Fail, Route: workflow.Dev, Severity: "HIGH", Hint: hintOf(how, ran.Output)}
	}
	var (
		s   *workflow.State
		out workflow.Outcome
	)
	err := r.update(func(tx *session.Tx) error {
		if tx.Workflow == nil {
			return message.Fail(message.NoWorkflow, r.sess.ID())
		}
		report := message.RunReport.Format(r.opts.Lang, r.stage, message.Cut(message.OneLine(r.spec.Run), 60), how, ran.Took.Round(time.Millisecond), strings.ReplaceAll(strings.TrimRight(ran.Output, "\n"), "```", "'''"))
		if err := tx.WriteContext(r.stage, []byte(report)); err != nil {
			return err
		}
		route.ContextFile = r.dir + "/" + store.ContextName(r.sess.ID(), r.stage)
		if n, _ := tx.Workflow.DAG.Get(r.stage); n.Barrier != nil {
			route.Route, route.BarrierGroup = workflow.Barrier, n.Barrier.Group
		}
		var err error
		out, err = tx.Apply(workflow.Completion{ID: r.id, Stage: r.stage, Route: &route, At: r.opts.Now})
		if err != nil {
			return err
		}
		if out.Kind == workflow.Refused || out.Kind == workflow.Duplicate {
			return message.Fail(message.RunLate, out.Reason.In(r.Lang))
		}
		s = tx.Workflow
		tx.Observe(host.StageCompleted{Stage: r.stage}, compact.Settings{})
		// The main agent reads what this prints: nothing is left to say.
		tx.Post(session.Message{})
		return nil
	})
	if err != nil {
		return err
	}
	return r.tell(s, out, route, ran, how)
}

func (r *stageRun) how(ran blueprint.Ran) string {
	switch {
	case ran.Err != nil:
		return message.RunNoStart.Format(r.opts.Lang, ran.Err)
	case ran.TimedOut:
		limit := cmp.Or(r.spec.RunTimeout, blueprint.RunTimeout)
		return message.RunTime.Format(r.opts.Lang, limit)
	}
	return message.RunExit.Format(r.opts.Lang, ran.Exit)
}

func hintOf(how, output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return message.Cut(strings.TrimSpace(how+" "+lines[len(lines)-1]), 180)
}

func (r *stageRun) tell(s *workflow.State, out workflow.Outcome, route workflow.Route, ran blueprint.Ran, how string) error {
	took := ran.Took.Round(time.Millisecond)
	if r.JSON {
		return r.PrintObject("stage", r.stage, "verdict", route.Verdict, "exit", ran.Exit, "timedOut", ran.TimedOut,
			"tookMs", took.Milliseconds(), "report", route.ContextFile, "next", terminal.List(out.Next), "workflow", workflow.StatusOf(s))
	}
	if route.Verdict == workflow.Pass {
		fmt.Fprintln(r.Stdout, message.RunPassed.Format(r.opts.Lang, r.stage, took))
	} else {
		fmt.Fprintln(r.Stdout, message.RunFailed.Format(r.opts.Lang, r.stage, how, took))
	}
	if text := workflow.Instruction(s, out, r.opts.Lang); text != "" {
		fmt.Fprintln(r.Stdout, text)
	}
	return nil
}
