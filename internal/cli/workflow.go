package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func (a *app) workflowCmd() *cobra.Command {
	var id string
	cmd := &cobra.Command{Use: "workflow", Short: message.HelpWorkflow.In(a.lang), Args: usageArgs(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	a.sessionFlag(cmd, &id)
	cmd.AddCommand(a.workflowList(), a.workflowShow(), a.workflowStart(&id), a.workflowStatus(&id))

	var reason string
	cancel := a.step("cancel", message.HelpWorkflowCancel, cobra.NoArgs, &id, func([]string) workflow.Event {
		return workflow.Cancel{Reason: reason}
	})
	stop := cancel.RunE
	cancel.RunE = func(cmd *cobra.Command, args []string) error {
		sess, err := a.session(id, false)
		if err != nil {
			return err
		}
		// Nothing to cancel is what was wanted.
		if s, err := session.Peek(sess); err != nil || s == nil || !s.Active {
			if err == nil && a.json {
				return a.printJSON(statusOf(cmp.Or(s, &workflow.State{SessionID: sess.ID()})))
			}
			if err == nil {
				a.say(message.NothingRuns, sess.ID())
			}
			return err
		}
		return stop(cmd, args)
	}
	cancel.Flags().StringVar(&reason, "reason", "", message.HelpReason.In(a.lang))
	cmd.AddCommand(
		cancel,
		a.step("skip STAGE", message.HelpWorkflowSkip, cobra.ExactArgs(1), &id, func(args []string) workflow.Event {
			return workflow.Skip{Stage: args[0], At: a.env.Now()}
		}),
		a.step("restart STAGE", message.HelpWorkflowRestart, cobra.ExactArgs(1), &id, func(args []string) workflow.Event {
			return workflow.Restart{Stage: args[0]}
		}),
	)
	return cmd
}

// templateArg completes template names.
func templateArg(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, t := range workflow.Templates() {
		names = append(names, t.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) workflowList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: message.HelpWorkflowList.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			type row struct {
				Name   string   `json:"name"`
				Label  string   `json:"label"`
				Stages []string `json:"stages"`
			}
			out := struct {
				Schema    int   `json:"schema"`
				Templates []row `json:"templates"`
			}{Schema: 1}
			rows := [][]string{{message.ColTemplate.In(a.lang), message.ColLabel.In(a.lang), message.ColStages.In(a.lang)}}
			for _, t := range workflow.Templates() {
				keys := workflow.StageKeys(t.Name, t.Stages)
				out.Templates = append(out.Templates, row{t.Name, t.Label.In(a.lang), keys})
				rows = append(rows, []string{t.Name, t.Label.In(a.lang), strings.Join(keys, " → ")})
			}
			if a.json {
				return a.printJSON(out)
			}
			table(a.env.Stdout, rows)
			return nil
		},
	}
}

// stagesOf is a template's stage list, or the one given by --stages.
func (a *app) stagesOf(name, custom string) ([]string, error) {
	if custom != "" {
		var stages []string
		for _, s := range strings.Split(custom, ",") {
			s = strings.ToUpper(strings.TrimSpace(s))
			if _, ok := workflow.Lookup(s); !ok {
				return nil, usageError{message.WithHint(message.Fail(message.BadStage, s), message.HintStages, strings.Join(stageNames(), ", "))}
			}
			stages = append(stages, s)
		}
		return stages, nil
	}
	t, ok := workflow.FindTemplate(name)
	if !ok {
		names, _ := templateArg(nil, nil, "")
		return nil, usageError{message.WithHint(message.Fail(message.UnknownTemplate, name), message.HintTemplates, strings.Join(names, ", "))}
	}
	return t.Stages, nil
}

func stageNames() []string {
	var names []string
	for _, s := range workflow.Stages() {
		names = append(names, s.Key)
	}
	return names
}

func (a *app) workflowShow() *cobra.Command {
	var custom string
	cmd := &cobra.Command{
		Use: "show TEMPLATE", Short: message.HelpWorkflowShow.In(a.lang), Args: usageArgs(cobra.ExactArgs(1)),
		Example:           "  overtone workflow show standard\n  overtone workflow show mine --stages DEV,REVIEW,TEST,DOCS",
		ValidArgsFunction: templateArg,
		RunE: func(_ *cobra.Command, args []string) error {
			stages, err := a.stagesOf(args[0], custom)
			if err != nil {
				return err
			}
			rules, _ := a.rules()
			dag, err := rules.TemplateToDAG(args[0], stages)
			if err != nil {
				return usageError{err}
			}
			return a.printDAG(args[0], dag)
		},
	}
	cmd.Flags().StringVar(&custom, "stages", "", message.HelpStages.In(a.lang))
	return cmd
}

func (a *app) printDAG(name string, dag workflow.DAG) error {
	type barrier struct {
		Group    string   `json:"group"`
		Total    int      `json:"total"`
		Siblings []string `json:"siblings"`
		Next     *string  `json:"next"`
	}
	type node struct {
		Stage      string   `json:"stage"`
		Deps       []string `json:"deps"`
		Next       []string `json:"next"`
		OnFail     *string  `json:"onFail"`
		MaxRetries *int     `json:"maxRetries"`
		Barrier    *barrier `json:"barrier"`
	}
	out := struct {
		Schema int    `json:"schema"`
		Name   string `json:"name"`
		Nodes  []node `json:"nodes"`
	}{Schema: 1, Name: name, Nodes: []node{}}
	rows := [][]string{{message.ColStage.In(a.lang), message.ColDeps.In(a.lang), message.ColNext.In(a.lang), message.ColOnFail.In(a.lang), message.ColBarrier.In(a.lang), message.ColAgent.In(a.lang)}}
	for k, n := range dag.All() {
		o := node{Stage: k, Deps: list(n.Deps), Next: list(n.Next)}
		row := []string{k, dash(n.Deps), dash(n.Next), "—", "—", workflow.AgentOf(k)}
		if n.OnFail != "" {
			o.OnFail, o.MaxRetries = &n.OnFail, &n.MaxRetries
			row[3] = fmt.Sprintf("%s ×%d", n.OnFail, n.MaxRetries)
		}
		if b := n.Barrier; b != nil {
			o.Barrier = &barrier{b.Group, b.Total, list(b.Siblings), nil}
			if b.Next != "" {
				o.Barrier.Next = &b.Next
			}
			row[4] = b.Group
		}
		out.Nodes = append(out.Nodes, o)
		rows = append(rows, row)
	}
	if a.json {
		return a.printJSON(out)
	}
	table(a.env.Stdout, rows)
	return nil
}

// list is l, never null in JSON.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func dash(l []string) string {
	if len(l) == 0 {
		return "—"
	}
	return strings.Join(l, ", ")
}

// rules are the engine's settings here.
func (a *app) rules() (workflow.Rules, message.Lang) {
	cfg, problems := a.env.config()
	for _, p := range problems {
		fmt.Fprintln(a.env.Stderr, "overtone: "+p.Error())
	}
	return session.Rules(cfg, a.env.folders().ShownClaude), message.Lang(cfg.Language)
}

func (a *app) workflowStart(id *string) *cobra.Command {
	var custom, feature string
	cmd := &cobra.Command{
		Use: "start TEMPLATE", Short: message.HelpWorkflowStart.In(a.lang), Args: usageArgs(cobra.ExactArgs(1)),
		Example:           "  overtone workflow start quick --session 4619580b-78d8-4c54-b553-d75ffcda094f",
		ValidArgsFunction: templateArg,
		RunE: func(_ *cobra.Command, args []string) error {
			stages, err := a.stagesOf(args[0], custom)
			if err != nil {
				return err
			}
			if len(stages) == 0 {
				return usageError{message.Fail(message.NoneTemplate)}
			}
			s, err := a.session(*id, false)
			if err != nil {
				return err
			}
			return a.apply(s, workflow.Start{
				SessionID: s.ID(), WorkflowID: session.NewWorkflowID(a.env.Now()), Type: args[0], Stages: stages,
				Feature: feature, Environment: session.DetectEnvironment(a.env.Dir), At: a.env.Now(),
			}, false)
		},
	}
	cmd.Flags().StringVar(&custom, "stages", "", message.HelpStages.In(a.lang))
	cmd.Flags().StringVar(&feature, "feature", "", message.HelpFeature.In(a.lang))
	return cmd
}

// step is a command that applies one event to the session's workflow.
func (a *app) step(use string, short message.Text, args cobra.PositionalArgs, id *string, ev func([]string) workflow.Event) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short.In(a.lang), Args: usageArgs(args),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.session(*id, false)
			if err != nil {
				return err
			}
			return a.apply(s, ev(args), true)
		},
	}
}

// apply steps a workflow from the command line and shows what came of it.
func (a *app) apply(sess *store.Session, ev workflow.Event, must bool) error {
	rules, lang := a.rules()
	var (
		s   *workflow.State
		out workflow.Outcome
	)
	if must {
		if old, err := session.Peek(sess); err != nil {
			return err
		} else if old == nil {
			return message.WithHint(message.Fail(message.NoWorkflow, sess.ID()), message.HintStart)
		}
	}
	err := sess.Update(func(tx *store.Tx) error {
		old, err := session.Load(tx)
		if err != nil {
			return err
		}
		s, out, err = session.Step(tx, rules, lang, old, ev)
		return err
	})
	if err != nil {
		return err
	}
	if out.Kind == workflow.Refused {
		return message.Error{Reason: out.Reason}
	}
	if a.json {
		return a.printJSON(statusOf(s))
	}
	fmt.Fprintln(a.env.Stdout, workflow.Instruction(s, out, a.lang))
	return nil
}

func (a *app) workflowStatus(id *string) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: message.HelpWorkflowStatus.In(a.lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			sess, err := a.session(*id, true)
			if err != nil {
				return err
			}
			s, err := session.Peek(sess)
			if err != nil {
				return err
			}
			// Having none is an answer too, and a host that pastes this command's
			// output drops it all when it fails.
			if s == nil {
				s = &workflow.State{SessionID: sess.ID()}
			}
			if a.json {
				return a.printJSON(statusOf(s))
			}
			if s.WorkflowType == "" {
				a.say(message.NoWorkflow, sess.ID())
				a.note(message.HintStart)
				return nil
			}
			a.printStatus(sess.ID(), s)
			return nil
		},
	}
}

type stageStatus struct {
	Stage      string `json:"stage"`
	Status     string `json:"status"`
	Result     string `json:"result,omitempty"`
	Agent      string `json:"agent,omitempty"`
	Retries    int    `json:"retries"`
	Crashes    int    `json:"crashes"`
	Forced     bool   `json:"forced,omitempty"`
	Unverified bool   `json:"unverified,omitempty"`
	Skip       bool   `json:"skipWanted,omitempty"`
}

type workflowStatus struct {
	Schema       int           `json:"schema"`
	SessionID    string        `json:"sessionId"`
	WorkflowID   string        `json:"workflowId"`
	WorkflowType string        `json:"workflowType"`
	Phase        string        `json:"phase"`
	Ended        string        `json:"ended,omitempty"`
	CurrentStage *string       `json:"currentStage"`
	Stages       []stageStatus `json:"stages"`
	Ready        []string      `json:"ready"`
	FailCount    int           `json:"failCount"`
	RejectCount  int           `json:"rejectCount"`
	Unverified   int           `json:"unverified"`
	FeatureName  string        `json:"featureName,omitempty"`
}

func statusOf(s *workflow.State) workflowStatus {
	out := workflowStatus{
		Schema: 1, SessionID: s.SessionID, WorkflowID: s.WorkflowID, WorkflowType: s.WorkflowType, Phase: s.Phase(), Ended: s.Ended,
		Stages: []stageStatus{}, Ready: []string{}, FailCount: s.FailCount, RejectCount: s.RejectCount,
		Unverified: s.Unverified(), FeatureName: s.FeatureName,
	}
	if s.CurrentStage != "" {
		out.CurrentStage = &s.CurrentStage
	}
	if s.Active {
		out.Ready = list(s.Ready())
	}
	for k, st := range s.Stages.All() {
		out.Stages = append(out.Stages, stageStatus{
			Stage: k, Status: st.Status, Result: st.Result, Agent: st.Agent, Retries: s.Retries[k], Crashes: s.Crashes[k],
			Forced: st.Forced, Unverified: st.Unverified, Skip: st.SkipWanted,
		})
	}
	return out
}

func (a *app) printStatus(sid string, s *workflow.State) {
	a.say(message.StatusHead, s.WorkflowType, s.Phase(), sid)
	fmt.Fprintln(a.env.Stdout, workflow.Bar(s))
	rows := [][]string{{message.ColStage.In(a.lang), message.ColStatus.In(a.lang), message.ColResult.In(a.lang), message.ColNotes.In(a.lang)}}
	for k, st := range s.Stages.All() {
		var notes []string
		add := func(when bool, t message.Text, args ...any) {
			if when {
				notes = append(notes, t.Format(a.lang, args...))
			}
		}
		add(st.Forced, message.NoteForced)
		add(st.Unverified, message.NoteUnverif)
		add(st.SkipWanted, message.NoteSkip)
		add(s.Retries[k] > 0, message.NoteRetries, s.Retries[k])
		add(s.Crashes[k] > 0, message.NoteCrashes, s.Crashes[k])
		rows = append(rows, []string{workflow.Describe(k, a.lang) + " " + k, st.Status, dash(nonEmpty(st.Result)), strings.Join(notes, ", ")})
	}
	table(a.env.Stdout, rows)
	a.say(message.StatusCounts, s.FailCount, s.RejectCount, s.Unverified())
	if hint := workflow.NextStep(s, a.lang); hint != "" && s.Active {
		a.say(message.StatusNext, hint)
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
