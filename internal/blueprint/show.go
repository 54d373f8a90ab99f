package blueprint

import (
	"fmt"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// Print shows the workflows that are used most and the user's own, or all of them. For
// programs there are always all.
func (l Library) Print(t *terminal.Terminal, all bool) error {
	type row struct {
		Name     string   `json:"name"`
		AliasOf  string   `json:"aliasOf,omitempty"`
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
	rows := [][]string{t.Head(message.ColTemplate, message.ColLabel, message.ColStages)}
	var more, names []string
	for i, e := range l.List() {
		r := row{Name: e.Name, AliasOf: sameAs(e.Name), Label: e.Label.In(t.Lang), Stages: terminal.List(e.DAG.Keys()), Hidden: e.Hidden}
		text := chain(e.DAG)
		if e.Path != "" {
			r.File = &e.Path
		}
		for _, p := range e.Problems {
			r.Problems = append(r.Problems, p.In(t.Lang))
		}
		switch {
		case len(e.Problems) > 0:
			text = "⚠ " + e.Problems[0].In(t.Lang)
		case e.Hidden:
			text += message.ListHidden.In(t.Lang)
		}
		out.Templates = append(out.Templates, r)
		switch {
		case e.Path == "" && r.AliasOf != "":
			names = append(names, e.Name+" = "+r.AliasOf)
		case e.Path == "" && i >= usual && !all:
			more = append(more, e.Name)
		default:
			rows = append(rows, []string{e.Name, e.Label.In(t.Lang), text})
		}
	}
	if t.JSON {
		return t.PrintJSON(out)
	}
	t.Table(t.Stdout, rows)
	if len(more) > 0 {
		t.Tell(message.ListMore, strings.Join(more, ", "))
	}
	t.Tell(message.ListAliases, strings.Join(names, ", "))
	return nil
}

// chain is a graph in one line: → between what follows, ∥ between what runs side by side.
func chain(dag workflow.DAG) string {
	var steps []string
	for _, row := range Rows(dag) {
		steps = append(steps, strings.Join(row, " ∥ "))
	}
	return strings.Join(steps, " → ")
}

// Print shows the graph of a workflow, as a run of it begins with.
func (f File) Print(t *terminal.Terminal, s *workflow.State) error {
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
	}{Schema: 1, Name: f.Name, Label: f.Label.In(t.Lang), Nodes: []node{}}
	if f.Path != "" {
		out.File = &f.Path
	}
	rows := [][]string{t.Head(message.ColStage, message.ColDeps, message.ColNext, message.ColOnFail, message.ColBarrier, message.ColAgent)}
	for k, n := range s.DAG.All() {
		info, _ := s.DAG.Info(k)
		spec := s.DAG.Spec(k)
		o := node{Stage: k, Label: info.Label.In(t.Lang), Judges: s.Quality(k), Deps: terminal.List(n.Deps), Next: terminal.List(n.Next), Run: spec.Run, Context: spec.Context, When: spec.When}
		row := []string{k, terminal.Dash(n.Deps), terminal.Dash(n.Next), "—", "—", s.DAG.AgentOf(k)}
		if agent := s.DAG.AgentOf(k); agent != "" {
			o.Agent = &agent
		}
		if spec.Run != "" {
			row[5] = "$ " + message.Cut(message.OneLine(spec.Run), 60)
		}
		if n.OnFail != "" {
			o.OnFail, o.MaxRetries = &n.OnFail, &n.MaxRetries
			row[3] = fmt.Sprintf("%s ×%d", n.OnFail, n.MaxRetries)
		}
		if b := n.Barrier; b != nil {
			o.Barrier = &barrier{Group: b.Group, Total: b.Total, Siblings: terminal.List(b.Siblings)}
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
	if t.JSON {
		return t.PrintJSON(out)
	}
	fmt.Fprintln(t.Stdout, draw(s.DAG, t.Lang))
	// What comes then, the picture shows, too.
	t.Rows(t.Stdout, rows, terminal.Plan{Cut: []int{5}, Drop: []int{2}})
	return nil
}
