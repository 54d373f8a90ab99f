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
	var list []row
	rows := [][]string{t.Head(message.ColTemplate, message.ColLabel, message.ColStages)}
	var more, names []string
	for i, e := range l.List() {
		r := row{Name: e.Name, AliasOf: sameAs(e.Name), Label: e.Label.In(t.Lang), File: orNull(e.Path), Hidden: e.Hidden}
		r.Stages = terminal.List(e.DAG.Keys())
		text := chain(e.DAG)
		for _, p := range e.Problems {
			r.Problems = append(r.Problems, p.In(t.Lang))
		}
		switch {
		case len(e.Problems) > 0:
			text = "⚠ " + e.Problems[0].In(t.Lang)
		case e.Hidden:
			text += message.ListHidden.In(t.Lang)
		}
		list = append(list, r)
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
		return t.PrintObject("templates", list)
	}
	t.Table(t.Stdout, rows)
	if len(more) > 0 {
		t.Tell(message.ListMore, more)
	}
	t.Tell(message.ListAliases, names)
	return nil
}

// orNull is a text that programs are told as null where there is none.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
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
	nodes := []node{}
	rows := [][]string{t.Head(message.ColStage, message.ColDeps, message.ColNext, message.ColOnFail, message.ColBarrier, message.ColAgent)}
	for k, n := range s.DAG.All() {
		info, _ := s.DAG.Info(k)
		spec := s.DAG.Spec(k)
		o := node{
			Stage: k, Label: info.Label.In(t.Lang), Judges: s.Quality(k), Deps: terminal.List(n.Deps), Next: terminal.List(n.Next),
			Agent: orNull(s.DAG.AgentOf(k)), OnFail: orNull(n.OnFail), Run: spec.Run, Context: spec.Context, When: spec.When,
		}
		row := []string{k, terminal.Dash(n.Deps), terminal.Dash(n.Next), "—", "—", s.DAG.AgentOf(k)}
		if spec.Run != "" {
			row[5] = "$ " + message.Cut(message.OneLine(spec.Run), 60)
		}
		if n.OnFail != "" {
			o.MaxRetries = &n.MaxRetries
			row[3] = fmt.Sprintf("%s ×%d", n.OnFail, n.MaxRetries)
		}
		if b := n.Barrier; b != nil {
			o.Barrier = &barrier{Group: b.Group, Total: b.Total, Siblings: terminal.List(b.Siblings), Next: orNull(b.Next)}
			if b.Timeout > 0 {
				o.Barrier.Timeout = b.Timeout.String()
			}
			row[4] = b.Group
		}
		nodes = append(nodes, o)
		rows = append(rows, row)
	}
	if t.JSON {
		return t.PrintObject("name", f.Name, "label", f.Label.In(t.Lang), "file", orNull(f.Path), "nodes", nodes)
	}
	fmt.Fprintln(t.Stdout, draw(s.DAG, t.Lang))
	// What comes then, the picture shows, too.
	t.Rows(t.Stdout, rows, terminal.Plan{Cut: []int{5}, Drop: []int{2}})
	return nil
}
