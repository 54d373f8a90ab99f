package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
	schemas "github.com/seed-6d03985f/overtone/schema"
)

func (a *app) workflowCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE|NAME]", Short: message.HelpWorkflowCheck.In(a.Lang), Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			entries, err := a.toCheck(args)
			if err != nil {
				return err
			}
			return a.check(entries)
		},
	}
}

// toCheck reads the file that is meant, by path or by name, or all that are not
// built in.
func (a *app) toCheck(args []string) ([]blueprint.Entry, error) {
	lib := a.library()
	if len(args) == 0 {
		return lib.Own(), nil
	}
	arg := args[0]
	data, err := config.ReadFile(arg, 1<<20)
	if err == nil {
		path, err := filepath.Abs(filepath.Join(a.Dir, arg))
		if filepath.IsAbs(arg) {
			path, err = arg, nil
		}
		if err != nil {
			return nil, err
		}
		f, problems := blueprint.Parse(strings.TrimSuffix(filepath.Base(arg), filepath.Ext(arg)), path, data)
		return []blueprint.Entry{{File: f, Problems: problems}}, nil
	}
	if f, problems, ok := lib.Find(arg); ok {
		return []blueprint.Entry{{File: f, Problems: problems}}, nil
	}
	if strings.ContainsRune(arg, filepath.Separator) || filepath.Ext(arg) != "" || !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w", arg, err)
	}
	return nil, a.noWorkflow(arg, lib.Names())
}

func (a *app) check(entries []blueprint.Entry) error {
	type problem struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
	}
	out := struct {
		Schema   int       `json:"schema"`
		Checked  []string  `json:"checked"`
		Problems []problem `json:"problems"`
	}{1, []string{}, []problem{}}
	root, agents := a.library().Project(), blueprint.Agents(a.agentFolders())
	for _, e := range entries {
		name := e.Path
		if name == "" {
			name = e.Name
		}
		out.Checked = append(out.Checked, name)
		for _, p := range blueprint.Check(e.File, e.Problems, root, agents) {
			out.Problems = append(out.Problems, problem{p.File, p.Line, p.Text.In(a.Lang), p.Hint.In(a.Lang)})
			if !a.JSON {
				p.File = a.shortPath(p.File)
				fmt.Fprintln(a.Stdout, p.In(a.Lang))
				if hint := p.Hint.In(a.Lang); hint != "" {
					fmt.Fprintln(a.Stdout, "  hint: "+hint)
				}
			}
		}
	}
	if a.JSON {
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	}
	switch {
	case len(out.Problems) > 0:
		return message.Fail(message.CheckFound, len(out.Problems), len(out.Checked))
	case a.JSON:
	case len(out.Checked) == 0:
		a.Say(message.CheckNone, a.shortPath(blueprint.Folder(root, false)))
	default:
		a.Say(message.CheckFine, len(out.Checked))
	}
	return nil
}

// agentFolders is where people keep agents of their own.
func (a *app) agentFolders() []string {
	root := a.library().Project()
	var list []string
	for _, h := range host.All() {
		list = append(list, filepath.Join(root, "."+h.Program, "agents"), filepath.Join(a.hostDir(h), "agents"))
	}
	return list
}

// shortPath is a path as seen from here.
func (a *app) shortPath(path string) string {
	if rel, err := filepath.Rel(a.Dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func (a *app) workflowSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: message.HelpWorkflowSchema.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if !a.JSON {
				_, err := a.Stdout.Write(schemas.Workflow)
				return err
			}
			return a.PrintJSON(struct {
				Schema   int             `json:"schema"`
				Workflow json.RawMessage `json:"workflow"`
			}{1, schemas.Workflow})
		},
	}
}

// parseStages reads a list such as "PLAN,DEV,LINT=my-linter,REVIEW+TEST": what is
// joined by + runs side by side.
func parseStages(text string) ([]workflow.Draft, error) {
	var list []workflow.Draft
	groups := 0
	for _, part := range strings.Split(text, ",") {
		members := strings.Split(part, "+")
		if len(members) > 1 {
			groups++
		}
		for _, m := range members {
			key, agent, _ := strings.Cut(strings.TrimSpace(m), "=")
			base, suffix, has := strings.Cut(strings.TrimSpace(key), ":")
			key = strings.ToUpper(base)
			if has {
				key += ":" + suffix
			}
			if key == "" {
				return nil, message.Misuse{Err: message.WithHint(message.Fail(message.BadStage, strings.TrimSpace(text)), message.HintStages, strings.Join(stageNames(), ", "))}
			}
			s := workflow.Draft{Key: key, Retries: -1, Spec: workflow.Spec{Agent: strings.TrimSpace(agent)}}
			if len(members) > 1 {
				s.Barrier = fmt.Sprintf("side-by-side-%d", groups)
			}
			list = append(list, s)
		}
	}
	return list, nil
}

func (a *app) workflowNew() *cobra.Command {
	var stages, label string
	var runs []string
	var home bool
	cmd := &cobra.Command{
		Use: "new NAME", Short: message.HelpWorkflowNew.In(a.Lang), Long: message.HelpWorkflowNewLong.In(a.Lang), Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if stages == "" {
				answer, err := a.Ask(cmd.Context(), message.AskStages.Format(a.Lang, strings.Join(stageNames(), " ")), message.NewNoStages)
				if err != nil {
					return err
				}
				stages = answer
			}
			return a.newWorkflow(args[0], stages, label, runs, home)
		},
	}
	cmd.Flags().StringVar(&stages, "stages", "", message.HelpNewStages.In(a.Lang))
	cmd.Flags().StringArrayVar(&runs, "run", nil, message.HelpNewRun.In(a.Lang))
	cmd.Flags().StringVar(&label, "label", "", message.HelpNewLabel.In(a.Lang))
	cmd.Flags().BoolVar(&home, "home", false, message.HelpNewHome.In(a.Lang))
	return cmd
}

func (a *app) newWorkflow(name, list, label string, runs []string, home bool) error {
	stages, err := parseStages(list)
	if err != nil {
		return err
	}
	for _, r := range runs {
		key, command, ok := strings.Cut(r, "=")
		at := slices.IndexFunc(stages, func(s workflow.Draft) bool { return s.Key == strings.ToUpper(strings.TrimSpace(key)) })
		if !ok || at < 0 {
			return message.Misuse{Err: message.WithHint(message.Fail(message.NewBadRun, r), message.HintNewRun)}
		}
		stages[at].Spec.Run = strings.TrimSpace(command)
	}
	text := message.Text{ZH: name, EN: name}
	if label != "" {
		text = message.Text{ZH: label, EN: label}
	}
	lib := a.library()
	path := filepath.Join(blueprint.Folder(lib.Project(), false), name+blueprint.Suffix)
	if home {
		path = filepath.Join(blueprint.Folder(lib.Home, true), name+blueprint.Suffix)
	}
	f, problems := blueprint.Parse(name, path, blueprint.Encode(text, "", stages))
	// A stage that judges and has nowhere to go back to says so, instead of failing
	// the check.
	if len(problems) > 0 {
		for i := range stages {
			if stages[i].OnFail == "" && slices.ContainsFunc(problems, func(p blueprint.Problem) bool { return p.Nowhere(i, f) }) {
				stages[i].OnFail = workflow.Nowhere
			}
		}
		f, problems = blueprint.Parse(name, path, blueprint.Encode(text, "", stages))
	}
	if len(problems) > 0 {
		p := problems[0]
		return message.Misuse{Err: message.Hinted{Err: message.Fail(message.Verbatim, p.Text.In(a.Lang)), Hint: p.Hint}}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err = writeNew(path, append([]byte(message.NewHead.Format(a.Lang, name)), f.Source...))
	if errors.Is(err, fs.ErrExist) {
		return message.WithHint(message.Fail(message.NewThere, a.shortPath(path)), message.HintNewThere)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(struct {
			Schema int      `json:"schema"`
			Name   string   `json:"name"`
			File   string   `json:"file"`
			Stages []string `json:"stages"`
		}{1, name, path, f.DAG.Keys()})
	}
	a.Say(message.NewWritten, a.shortPath(path))
	fmt.Fprint(a.Stdout, blueprint.Draw(f.DAG, a.Lang))
	a.Say(message.NewNext, a.shortPath(path), name)
	if f.Runs() {
		a.Say(message.NewTrust, name)
	}
	return nil
}

// writeNew writes a file that must not be there yet, whoever else writes it now.
func writeNew(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(path) // half a file is none
	}
	return err
}

func (a *app) workflowTrust() *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use: "trust NAME", Short: message.HelpWorkflowTrust.In(a.Lang), Long: message.HelpWorkflowTrustLong.In(a.Lang), Args: usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: a.templateArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := a.named(args[0], "")
			if err != nil {
				return err
			}
			root := a.store().Root()
			if revoke {
				was, err := blueprint.Distrust(root, f.Path)
				if err == nil && !was {
					err = message.Fail(message.TrustNot, f.Name)
				}
				if err != nil {
					return err
				}
				return a.trusted(root, f, message.TrustRevoked, f.Path)
			}
			return a.trust(cmd.Context(), root, f)
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, message.HelpTrustRevoke.In(a.Lang))
	return cmd
}

// trust shows what a file runs and asks a person for it. The answer is typed: a key
// pressed by mistake is none.
func (a *app) trust(ctx context.Context, root string, f blueprint.File) error {
	switch {
	case f.Path == "" || !f.Runs():
		return a.trusted(root, f, message.TrustNothing, f.Name)
	case blueprint.IsTrusted(root, f):
		return a.trusted(root, f, message.TrustAlready, f.Path)
	}
	fmt.Fprintln(a.Stderr, message.TrustShow.Format(a.Lang, f.Path))
	for _, k := range f.DAG.Keys() {
		if run := f.DAG.Spec(k).Run; run != "" {
			fmt.Fprintf(a.Stderr, "  %s: %s\n", k, strings.ReplaceAll(visible(run), "\n", "\n      "))
		}
	}
	answer, err := a.Ask(ctx, message.TrustAsk.Format(a.Lang, f.Name), message.TrustNobody)
	if err != nil {
		return err
	}
	if answer != f.Name {
		return message.Fail(message.TrustNo, f.Name)
	}
	// What was shown is what is trusted, though the file may have changed meanwhile.
	if err := blueprint.Trust(root, f, a.Now()); err != nil {
		return err
	}
	return a.trusted(root, f, message.TrustDone, f.Path)
}

// trusted tells how a file stands now.
func (a *app) trusted(root string, f blueprint.File, t message.Text, args ...any) error {
	if !a.JSON {
		a.Say(t, args...)
		return nil
	}
	out := struct {
		Schema   int               `json:"schema"`
		Name     string            `json:"name"`
		File     *string           `json:"file"`
		Trusted  bool              `json:"trusted"`
		Commands map[string]string `json:"commands"`
	}{Schema: 1, Name: f.Name, Trusted: blueprint.IsTrusted(root, f), Commands: f.Commands()}
	if f.Path != "" {
		out.File = &f.Path
	}
	return a.PrintJSON(out)
}

// visible makes control characters seen: a command must not hide from whoever
// reads it.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if blueprint.Hidden(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
