package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// node is a stage's place in the graph.
type node struct {
	Deps       []string    `file:"deps"`
	Next       []string    `file:"next"`
	OnFail     string      `file:"onFail,null"` // "" = nowhere
	MaxRetries int         // how often it may send the work back; unsaid until the rules fill it in
	Barrier    *barrierRef `file:"barrier,null"`
	Spec       *Spec       `file:"stage,omit"` // what the workflow's file says of the stage; nil = nothing

	raw unread
}

func (n *node) read(r gjson.Result) bool {
	readFields(r.Get, n)
	n.raw, n.MaxRetries = unread(r.Raw), unsaid
	if m := r.Get("maxRetries"); m.Type == gjson.Number && m.Num >= 0 {
		n.MaxRetries = count(m)
	}
	return true
}

func (n node) object() object {
	o := n.raw.with(n)
	// A stage without an onFail of its own follows the setting.
	if n.MaxRetries >= 0 && (n.OnFail != "" || o.Has("maxRetries")) {
		o.put("maxRetries", n.MaxRetries)
	}
	return o
}

// unsaid is the limit of a node whose file gives none: the rules' limit holds.
const unsaid = -1

// barrierRef says which barrier a node votes in.
type barrierRef struct {
	Group    string        `file:"group" json:"group"`
	Total    int           `file:"total" json:"total"`
	Siblings []string      `file:"siblings" json:"siblings"`
	Next     string        `file:"next,null" json:"-"`    // "" = the workflow ends behind it
	Timeout  time.Duration `file:"timeoutMs,ms" json:"-"` // 0 = the rules' one
}

// DAG is the graph of a workflow, in the order of the work.
type DAG struct{ orderedMap[node] }

// object is the graph with what can be read off the dependencies.
func (d DAG) object() (o object) {
	for k, n := range d.All() {
		n.Next = d.NextOf(k)
		o.put(k, n)
	}
	return o
}

// listKeys names the stages of a list: a repeated one becomes X:2, X:3; the
// template test-first calls its two tests TEST:write and TEST:verify.
func listKeys(template string, stages []string) []string {
	total, seen := map[string]int{}, map[string]int{}
	for _, s := range stages {
		total[s]++
	}
	keys := make([]string, len(stages))
	for i, s := range stages {
		seen[s]++
		keys[i] = numbered(s, seen[s])
		if template == "test-first" && s == "TEST" && total[s] > 1 && seen[s] <= 2 {
			keys[i] = [...]string{"TEST:write", "TEST:verify"}[seen[s]-1]
		}
	}
	return keys
}

// TemplateToDAG builds the graph of a stage list. Stages follow each other;
// neighbours of one barrier group run side by side, and what comes after
// depends on all of them.
func (r Rules) TemplateToDAG(template string, stages []string) (DAG, error) {
	for _, s := range stages {
		if _, ok := Lookup(s); !ok {
			return DAG{}, fmt.Errorf("unknown stage %q", s)
		}
	}
	return dagOf(listKeys(template, stages), r.MaxRetries), nil
}

// dagOf is the graph of stages of which only the keys are known.
func dagOf(keys []string, maxRetries int) DAG {
	g := grapher{keys: keys, drafts: make([]Draft, len(keys))}
	g.group()
	g.depend()
	g.build()
	g.wayBack() // where there is no way back, a FAIL goes nowhere
	for k, n := range g.dag.All() {
		n.MaxRetries, n.raw = maxRetries, ""
		g.dag.Set(k, n)
	}
	return g.dag
}

// numbered is the name of the n-th of several.
func numbered(name string, n int) string {
	if n > 1 {
		name += ":" + strconv.Itoa(n)
	}
	return name
}

// barrier is the one that a stage votes in, nil for none.
func (d DAG) barrier(key string) *barrierRef {
	n, _ := d.Get(key)
	return n.Barrier
}

// groupAt finds how many stages from i on form a barrier group. A TEST in front
// of the DEV it prepares is not one.
func groupAt(keys []string, i int) (string, int) {
	isDev := func(k string) bool { return Base(k) == "DEV" }
	group := func(k string) string { s, _ := Lookup(k); return s.group }
	name := group(keys[i])
	if name == "" || name == postDev && !slices.ContainsFunc(keys[:i], isDev) && slices.ContainsFunc(keys, isDev) {
		return "", 1
	}
	var seen []string
	for _, k := range keys[i:] {
		if group(k) != name || slices.Contains(seen, Base(k)) {
			break
		}
		seen = append(seen, Base(k))
	}
	if len(seen) == 1 {
		return "", 1
	}
	return name, len(seen)
}

// NextOf is the stages that depend on key: the node's own list, or, for graphs
// that give deps only, what can be read off them.
func (d DAG) NextOf(key string) []string {
	if n, ok := d.Get(key); ok && len(n.Next) > 0 {
		return n.Next
	}
	var next []string
	for k, n := range d.All() {
		if slices.Contains(n.Deps, key) {
			next = append(next, k)
		}
	}
	return next
}

// downstream is key and everything that depends on it, in order.
func (d DAG) downstream(key string) []string {
	reach := map[string]bool{key: true}
	for changed := true; changed; {
		changed = false
		for k, n := range d.All() {
			if !reach[k] && slices.ContainsFunc(n.Deps, func(dep string) bool { return reach[dep] }) {
				reach[k], changed = true, true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(d.Keys()), func(k string) bool { return !reach[k] })
}

// leads reports whether key depends on from, over any number of stages, or is it.
func (d DAG) leads(from, key string) bool {
	seen := map[string]bool{}
	var walk func(k string) bool
	walk = func(k string) bool {
		if k == from {
			return true
		}
		if seen[k] {
			return false
		}
		seen[k] = true
		n, _ := d.Get(k)
		return slices.ContainsFunc(n.Deps, walk)
	}
	return walk(key)
}

// Rework is where a FAIL of key goes back to: its onFail, itself for a DEV, else
// the nearest DEV it depends on; "" when there is none. What does not lead to key
// is no way back: key would never be done again.
func (d DAG) Rework(key string) string {
	n, ok := d.Get(key)
	if !ok || n.Spec != nil && n.Spec.NoRework {
		return ""
	}
	if n.OnFail != "" && d.Has(n.OnFail) && d.leads(n.OnFail, key) {
		return n.OnFail
	}
	if Base(key) == "DEV" {
		return key
	}
	for _, k := range slices.Backward(d.before(key)) {
		if Base(k) == "DEV" && d.leads(k, key) {
			return k
		}
	}
	return ""
}

// before is the stages that are listed before one of them.
func (d DAG) before(key string) []string { return d.Keys()[:max(0, slices.Index(d.Keys(), key))] }

// validate checks what a graph from a file must satisfy for the engine to end:
// dependencies exist and there is no cycle.
func (d DAG) validate() error {
	left := d.Keys()
	for len(left) > 0 {
		var waiting []string
		for _, k := range left {
			n, _ := d.Get(k)
			for _, dep := range n.Deps {
				if !d.Has(dep) {
					return fmt.Errorf("stage %s depends on %s, which is not in the graph", k, dep)
				}
			}
			if slices.ContainsFunc(n.Deps, func(dep string) bool { return slices.Contains(left, dep) }) {
				waiting = append(waiting, k)
			}
		}
		if len(waiting) == len(left) {
			return fmt.Errorf("the graph has a cycle through %s", strings.Join(left, ", "))
		}
		left = waiting
	}
	return nil
}
