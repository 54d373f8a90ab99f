package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func (a *app) workflowCmd() *cobra.Command {
	var id string
	cmd := &cobra.Command{Use: "workflow", Short: message.HelpWorkflow.In(a.Lang), Args: usageArgs(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	a.sessionFlag(cmd, &id)
	cmd.AddCommand(a.workflowList(), a.workflowShow(), a.workflowStart(&id), a.workflowStatus(&id),
		a.workflowCheck(), a.workflowNew(), a.workflowSchema(), a.workflowTrust(), a.workflowRun(&id))

	var reason string
	cancel := a.step("cancel", message.HelpWorkflowCancel, cobra.NoArgs, &id, func([]string) workflow.Event {
		return workflow.Cancel{Reason: reason}
	})
	stop := cancel.RunE
	cancel.RunE = func(cmd *cobra.Command, args []string) error {
		sess, err := a.finder().Session(id, false)
		if err != nil {
			return err
		}
		// Nothing to cancel is what was wanted.
		if s, err := a.peek(sess); err != nil || s == nil || !s.Active {
			if err == nil && a.JSON {
				return a.PrintJSON(statusOf(cmp.Or(s, &workflow.State{SessionID: sess.ID()})))
			}
			if err == nil {
				a.Say(message.NothingRuns, sess.ID())
			}
			return err
		}
		return stop(cmd, args)
	}
	cancel.Flags().StringVar(&reason, "reason", "", message.HelpReason.In(a.Lang))
	cmd.AddCommand(
		cancel,
		a.step("skip STAGE", message.HelpWorkflowSkip, cobra.ExactArgs(1), &id, func(args []string) workflow.Event {
			return workflow.Skip{Stage: args[0], At: a.Now()}
		}),
		a.step("restart STAGE", message.HelpWorkflowRestart, cobra.ExactArgs(1), &id, func(args []string) workflow.Event {
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
	return &cobra.Command{
		Use: "list", Short: message.HelpWorkflowList.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			type row struct {
				Name     string   `json:"name"`
				Label    string   `json:"label"`
				Stages   []string `json:"stages"`
				File     *string  `json:"file"`
				Problems []string `json:"problems,omitempty"`
				Hidden   bool     `json:"hidden,omitempty"`
			}
			out := struct {
				Schema    int   `json:"schema"`
				Templates []row `json:"templates"`
			}{Schema: 1}
			rows := [][]string{{message.ColTemplate.In(a.Lang), message.ColLabel.In(a.Lang), message.ColStages.In(a.Lang)}}
			for _, e := range a.library().List() {
				r := row{Name: e.Name, Label: e.Label.In(a.Lang), Stages: list(e.DAG.Keys()), Hidden: e.Hidden}
				text := strings.Join(r.Stages, " → ")
				if e.Path != "" {
					r.File = &e.Path
				}
				for _, p := range e.Problems {
					r.Problems = append(r.Problems, p.In(a.Lang))
				}
				switch {
				case len(e.Problems) > 0:
					text = "⚠ " + e.Problems[0].In(a.Lang)
				case e.Hidden:
					text += message.ListHidden.In(a.Lang)
				}
				out.Templates = append(out.Templates, r)
				rows = append(rows, []string{e.Name, e.Label.In(a.Lang), text})
			}
			if a.JSON {
				return a.PrintJSON(out)
			}
			a.Table(a.Stdout, rows)
			return nil
		},
	}
}

// named reads the workflow of a name, or makes one of the stages given by --stages.
func (a *app) named(name, custom string) (blueprint.File, error) {
	if custom != "" {
		stages, err := parseStages(custom)
		if err != nil {
			return blueprint.File{}, err
		}
		var keys []string
		for _, s := range stages {
			if _, ok := workflow.Lookup(s.Key); !ok && s.Spec.Agent == "" {
				return blueprint.File{}, message.Misuse{Err: message.WithHint(message.Fail(message.BadStage, s.Key), message.HintStages, strings.Join(stageNames(), ", "))}
			}
			keys = append(keys, s.Key)
		}
		// A list of known stages is as it has always been: what the registry says of
		// them is enough.
		if plainStages(stages) {
			rules, _ := a.rules()
			dag, err := rules.TemplateToDAG(name, keys)
			if err != nil {
				return blueprint.File{}, message.Misuse{Err: err}
			}
			return blueprint.File{Name: name, Label: message.Text{ZH: name, EN: name}, Stages: stages, DAG: dag}, nil
		}
		f, problems := blueprint.Parse(name, "", blueprint.Encode(message.Text{}, "", stages))
		return f, a.broken(name, problems)
	}
	lib := a.library()
	f, problems, ok := lib.Find(name)
	if !ok {
		return f, a.noWorkflow(name, lib.Names())
	}
	return f, a.broken(name, problems)
}

// noWorkflow is the answer to a name that nothing has.
func (a *app) noWorkflow(name string, known []string) error {
	if near := workflow.Nearest(name, known); len(near) > 0 {
		return message.Misuse{Err: message.WithHint(message.Fail(message.UnknownTemplate, name), message.HintNearAll, strings.Join(near, ", "), strings.Join(known, ", "))}
	}
	return message.Misuse{Err: message.WithHint(message.Fail(message.UnknownTemplate, name), message.HintTemplates, strings.Join(known, ", "))}
}

// broken is the answer to a file that cannot be run.
func (a *app) broken(name string, problems []blueprint.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	err := message.Fail(message.Verbatim, p.In(a.Lang))
	if p.File == "" {
		return message.Misuse{Err: err}
	}
	return message.WithHint(err, message.HintCheckFile, p.File)
}

func plainStages(stages []workflow.Draft) bool {
	return !slices.ContainsFunc(stages, func(s workflow.Draft) bool { return s.Spec.Agent != "" || s.Barrier != "" })
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
	var yaml, mermaid, dot bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: message.HelpWorkflowShow.In(a.Lang), Args: usageArgs(cobra.ExactArgs(1)),
		Example:           "  overtone workflow show standard\n  overtone workflow show standard --yaml\n  overtone workflow show mine --stages DEV,REVIEW,TEST,DOCS",
		ValidArgsFunction: a.templateArg,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := a.named(args[0], custom)
			if err != nil {
				return err
			}
			switch {
			case a.JSON:
				err = a.printDAG(f)
			case yaml && f.Source != nil:
				_, err = a.Stdout.Write(f.Source)
			case yaml:
				_, err = a.Stdout.Write(blueprint.Encode(f.Label, f.About, f.Stages))
			case mermaid:
				fmt.Fprint(a.Stdout, blueprint.Mermaid(f.DAG, a.Lang))
			case dot:
				fmt.Fprint(a.Stdout, blueprint.Dot(f.Name, f.DAG, a.Lang))
			default:
				err = a.printDAG(f)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&custom, "stages", "", message.HelpStages.In(a.Lang))
	cmd.Flags().BoolVar(&yaml, "yaml", false, message.HelpShowYAML.In(a.Lang))
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, message.HelpShowMermaid.In(a.Lang))
	cmd.Flags().BoolVar(&dot, "dot", false, message.HelpShowDot.In(a.Lang))
	cmd.MarkFlagsMutuallyExclusive("yaml", "mermaid", "dot")
	return cmd
}

func (a *app) printDAG(f blueprint.File) error {
	type barrier struct {
		Group    string   `json:"group"`
		Total    int      `json:"total"`
		Siblings []string `json:"siblings"`
		Next     *string  `json:"next"`
		Timeout  string   `json:"timeout,omitempty"`
	}
	type node struct {
		Stage      string   `json:"stage"`
		Label      string   `json:"label"`
		Agent      *string  `json:"agent"`
		Judges     bool     `json:"judges"`
		Deps       []string `json:"deps"`
		Next       []string `json:"next"`
		OnFail     *string  `json:"onFail"`
		MaxRetries *int     `json:"maxRetries"`
		Barrier    *barrier `json:"barrier"`
		Run        string   `json:"run,omitempty"`
		Context    []string `json:"context,omitempty"`
		When       []string `json:"when,omitempty"`
	}
	out := struct {
		Schema int     `json:"schema"`
		Name   string  `json:"name"`
		Label  string  `json:"label"`
		File   *string `json:"file"`
		Nodes  []node  `json:"nodes"`
	}{Schema: 1, Name: f.Name, Label: f.Label.In(a.Lang), Nodes: []node{}}
	if f.Path != "" {
		out.File = &f.Path
	}
	rules, _ := a.rules()
	s, _ := rules.Apply(nil, workflow.Start{Type: f.Name, Plan: &workflow.Plan{DAG: f.DAG}, At: a.Now()})
	if s == nil {
		s = &workflow.State{}
	}
	rows := [][]string{{message.ColStage.In(a.Lang), message.ColDeps.In(a.Lang), message.ColNext.In(a.Lang), message.ColOnFail.In(a.Lang), message.ColBarrier.In(a.Lang), message.ColAgent.In(a.Lang)}}
	for k, n := range s.DAG.All() {
		info, _ := s.DAG.Info(k)
		spec := s.DAG.Spec(k)
		o := node{Stage: k, Label: info.Label.In(a.Lang), Judges: s.Quality(k), Deps: list(n.Deps), Next: list(n.Next), Run: spec.Run, Context: spec.Context, When: spec.When}
		row := []string{k, dash(n.Deps), dash(n.Next), "—", "—", s.DAG.AgentOf(k)}
		if agent := s.DAG.AgentOf(k); agent != "" {
			o.Agent = &agent
		}
		if spec.Run != "" {
			row[5] = "$ " + short(spec.Run)
		}
		if n.OnFail != "" {
			o.OnFail, o.MaxRetries = &n.OnFail, &n.MaxRetries
			row[3] = fmt.Sprintf("%s ×%d", n.OnFail, n.MaxRetries)
		}
		if b := n.Barrier; b != nil {
			o.Barrier = &barrier{Group: b.Group, Total: b.Total, Siblings: list(b.Siblings)}
			if b.Timeout > 0 {
				o.Barrier.Timeout = b.Timeout.String()
			}
			if b.Next != "" {
				o.Barrier.Next = &b.Next
			}
			row[4] = b.Group
		}
		out.Nodes = append(out.Nodes, o)
		rows = append(rows, row)
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	fmt.Fprintln(a.Stdout, blueprint.Draw(s.DAG, a.Lang))
	a.Table(a.Stdout, rows)
	return nil
}

func short(s string) string { return message.Cut(strings.Join(strings.Fields(s), " "), 60) }

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
	cfg, problems := a.config()
	for _, p := range problems {
		fmt.Fprintln(a.Stderr, "overtone: "+p.Error())
	}
	return session.Rules(cfg, a.folders().ShownClaude), message.Spoken(message.Lang(cfg.Language), cfg.Chosen, a.Getenv)
}

func (a *app) workflowStart(id *string) *cobra.Command {
	var custom, feature string
	var force bool
	cmd := &cobra.Command{
		Use: "start NAME", Short: message.HelpWorkflowStart.In(a.Lang), Args: usageArgs(cobra.ExactArgs(1)),
		Example:           "  overtone workflow start quick --session 4619580b-78d8-4c54-b553-d75ffcda094f",
		ValidArgsFunction: a.templateArg,
		RunE: func(_ *cobra.Command, args []string) error {
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
			if force {
				if err := a.moveAside(s); err != nil {
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
		},
	}
	cmd.Flags().StringVar(&custom, "stages", "", message.HelpStages.In(a.Lang))
	cmd.Flags().StringVar(&feature, "feature", "", message.HelpFeature.In(a.Lang))
	cmd.Flags().BoolVar(&force, "force", false, message.HelpForce.In(a.Lang))
	return cmd
}

// moveAside makes room for a new run: a state that nobody can read is kept under
// another name, one that is at work is not touched.
func (a *app) moveAside(s *store.Session) error {
	// What a newer version wrote is not damaged.
	if _, err := session.Peek(s); err == nil || errors.Is(err, workflow.ErrNewer) {
		return unread(s, err)
	}
	return s.Update(func(tx *store.Tx) error {
		name, err := tx.MoveAside(store.WorkflowFile, a.Now())
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an older one, in the host's folder, which the new one hides
		}
		if err == nil {
			a.Note(message.MovedAside, name)
		}
		return err
	})
}

// peek reads a session's workflow; what cannot be read comes with a way out.
func (a *app) peek(s *store.Session) (*workflow.State, error) {
	state, err := session.Peek(s)
	if err != nil {
		err = fmt.Errorf("read workflow of session %s: %w", s.ID(), err)
	}
	return state, unread(s, err)
}

func unread(s *store.Session, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workflow.ErrNewer):
		return message.WithHint(err, message.HintUpgrade, "overtone")
	}
	return message.WithHint(err, message.HintUnread, s.ID())
}

// step is a command that applies one event to the session's workflow.
func (a *app) step(use string, short message.Text, args cobra.PositionalArgs, id *string, ev func([]string) workflow.Event) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short.In(a.Lang), Args: usageArgs(args),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.finder().Session(*id, false)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if state, err := a.peek(s); err == nil && state != nil {
					if args[0], err = stageArg(state, args[0]); err != nil {
						return err
					}
				}
			}
			return a.apply(s, ev(args), true, false)
		},
	}
}

// stageArg is the stage of a run that a person means.
func stageArg(s *workflow.State, arg string) (string, error) {
	arg = strings.TrimSpace(arg)
	keys := s.Stages.Keys()
	if slices.Contains(keys, arg) {
		return arg, nil
	}
	if i := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, arg) }); i >= 0 {
		return keys[i], nil
	}
	err := message.Fail(message.RefusedOutside, arg)
	if near := workflow.Nearest(arg, keys); len(near) > 0 {
		return "", message.Misuse{Err: message.WithHint(err, message.HintFlawNear, strings.Join(near, ", "))}
	}
	return "", message.Misuse{Err: message.WithHint(err, message.HintStages, dash(keys))}
}

// apply steps a workflow from the command line and shows what came of it. There must
// be one, or one that cannot be read counts as none.
func (a *app) apply(sess *store.Session, ev workflow.Event, must, anew bool) error {
	rules, lang := a.rules()
	var (
		s   *workflow.State
		out workflow.Outcome
	)
	if must {
		if old, err := a.peek(sess); err != nil {
			return err
		} else if old == nil {
			return message.WithHint(message.Fail(message.NoWorkflow, sess.ID()), message.HintStart)
		}
	}
	err := sess.Update(func(tx *store.Tx) error {
		old, err := session.Load(tx)
		if err != nil && anew && !errors.Is(err, workflow.ErrNewer) {
			old, err = nil, nil
		}
		if err != nil {
			return unread(sess, err)
		}
		s, out, err = session.Step(tx, rules, lang, old, ev, a.Now())
		return err
	})
	if err != nil {
		return err
	}
	if out.Kind == workflow.Refused {
		return message.Error{Reason: out.Reason}
	}
	if a.JSON {
		return a.PrintJSON(statusOf(s))
	}
	fmt.Fprintln(a.Stdout, workflow.Instruction(s, out, a.Lang))
	return nil
}

func (a *app) workflowStatus(id *string) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: message.HelpWorkflowStatus.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			sess, _, err := a.finder().Look(*id)
			if err != nil {
				return err
			}
			s, err := a.peek(sess)
			if err != nil {
				return err
			}
			// Having none is an answer too, and a host that pastes this command's
			// output drops it all when it fails.
			if s == nil {
				s = &workflow.State{SessionID: sess.ID()}
			}
			if a.JSON {
				return a.PrintJSON(statusOf(s))
			}
			if s.WorkflowType == "" {
				a.Say(message.NoWorkflow, sess.ID())
				a.Note(message.HintStart)
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
	EndReason    string        `json:"endReason,omitempty"`
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
		Schema: 1, SessionID: s.SessionID, WorkflowID: s.WorkflowID, WorkflowType: s.WorkflowType, Phase: s.Phase(), Ended: s.Ended, EndReason: s.EndReason,
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
	a.Say(message.StatusHead, s.WorkflowType, s.Phase(), sid)
	fmt.Fprintln(a.Stdout, workflow.Bar(s))
	rows := [][]string{{message.ColStage.In(a.Lang), message.ColStatus.In(a.Lang), message.ColResult.In(a.Lang), message.ColNotes.In(a.Lang)}}
	for k, st := range s.Stages.All() {
		var notes []string
		add := func(when bool, t message.Text, args ...any) {
			if when {
				notes = append(notes, t.Format(a.Lang, args...))
			}
		}
		add(st.Forced, message.NoteForced)
		add(st.Unverified, message.NoteUnverif)
		add(st.SkipWanted, message.NoteSkip)
		add(st.Sifted(), message.NoteSifted)
		add(s.Broken() && st.Status == workflow.Pending && st.Reason == "", message.NoteNotBegun)
		add(s.Broken() && st.Status == workflow.Pending && st.Reason != "", message.NoteCutOff)
		add(s.Retries[k] > 0, message.NoteRetries, s.Retries[k])
		add(s.Crashes[k] > 0, message.NoteCrashes, s.Crashes[k])
		name := s.Describe(k, a.Lang)
		if !strings.HasSuffix(name, " "+k) { // a stage without a label is called by its key
			name += " " + k
		}
		rows = append(rows, []string{name, st.Status, dash(nonEmpty(st.Result)), strings.Join(notes, ", ")})
	}
	a.Table(a.Stdout, rows)
	if s.EndReason != "" {
		a.Say(message.LoopReason, s.EndReason)
	}
	a.Say(message.StatusCounts, s.FailCount, s.RejectCount, s.Unverified())
	if hint := workflow.NextStep(s, a.Lang); hint != "" && s.Active {
		a.Say(message.StatusNext, hint)
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
