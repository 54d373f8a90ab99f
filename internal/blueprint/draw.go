package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// draw is the graph as a person reads it: what runs side by side on one line, from
// the first to the last.
func draw(dag workflow.DAG, lang message.Lang) string {
	var b strings.Builder
	for i, row := range Rows(dag) {
		if i > 0 {
			b.WriteString("    ↓\n")
		}
		var parts, notes []string
		for j := 0; j < len(row); {
			n, _ := dag.Get(row[j])
			if n.Barrier == nil {
				parts = append(parts, cell(dag, row[j], lang))
				j++
				continue
			}
			var members []string
			for j < len(row) {
				m, _ := dag.Get(row[j])
				if m.Barrier == nil || m.Barrier.Group != n.Barrier.Group {
					break
				}
				members = append(members, cell(dag, row[j], lang))
				j++
			}
			parts = append(parts, "[ "+strings.Join(members, " ∥ ")+" ]")
			notes = append(notes, n.Barrier.Group)
		}
		for _, k := range row {
			if n, _ := dag.Get(k); n.OnFail != "" {
				back := "✗→" + n.OnFail
				if n.MaxRetries >= 0 {
					back += fmt.Sprintf("×%d", n.MaxRetries)
				}
				if !slices.Contains(notes, back) {
					notes = append(notes, back)
				}
			}
		}
		line := "  " + strings.Join(parts, "   ")
		if len(notes) > 0 {
			line += "   (" + strings.Join(notes, ", ") + ")"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func cell(dag workflow.DAG, key string, lang message.Lang) string {
	st, _ := dag.Info(key)
	text := st.Emoji + " " + key
	if label := st.Label.In(lang); label != key {
		text += " " + label
	}
	if len(dag.Spec(key).When) > 0 {
		text += "?"
	}
	return text
}

// Rows puts each stage behind the last one that it depends on; members of a barrier
// stand together.
func Rows(dag workflow.DAG) [][]string {
	rank := map[string]int{}
	for range dag.Len() {
		for k, n := range dag.All() {
			for _, d := range n.Deps {
				rank[k] = max(rank[k], rank[d]+1)
			}
			if n.Barrier != nil {
				for _, s := range n.Barrier.Siblings {
					rank[k] = max(rank[k], rank[s])
				}
			}
		}
	}
	var out [][]string
	for k, n := range dag.All() {
		for len(out) <= rank[k] {
			out = append(out, nil)
		}
		row := out[rank[k]]
		at := len(row)
		if n.Barrier != nil {
			for i, other := range row {
				if m, _ := dag.Get(other); m.Barrier != nil && m.Barrier.Group == n.Barrier.Group {
					at = i + 1
				}
			}
		}
		out[rank[k]] = slices.Insert(row, at, k)
	}
	return slices.DeleteFunc(out, func(row []string) bool { return len(row) == 0 })
}
