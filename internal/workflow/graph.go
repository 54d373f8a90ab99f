package workflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// Draft is a stage of a workflow as its file says it.
type Draft struct {
	Key string // one that is listed again becomes X:2, X:3
	// After is what it depends on; nil is what stands before it in the list, with
	// all that shares that one's barrier.
	After   []string
	OnFail  string // "" is the nearest DEV it depends on, for a stage that judges
	Retries int    // how often it may send the work back; below 0 the rules' limit holds
	// Barrier is the group that it goes on together with. "" is the one that its
	// neighbours make in the built-in workflows, [Nowhere] is none.
	Barrier        string
	BarrierTimeout time.Duration
	Spec           Spec
}

// Nowhere stands for "no stage" in a file: on_fail: none, barrier: none.
const Nowhere = "none"

// maxStages bounds a workflow: its graph is in every state file, and in prompts.
const maxStages = 48

// Plan is the graph that a run begins with, and the user's file it was read from.
type Plan struct {
	DAG    DAG
	Origin *Origin
}

// Flaw is something that keeps a workflow from being run.
type Flaw struct {
	Stage int    // its place in the list; -1 = the list as a whole
	Field string // of the file: after, on_fail, barrier, stage
	Text  message.Reason
	Hint  message.Reason
}

// NewGraph builds the graph of a workflow's stages. With a flaw there is none; all
// flaws that do not hide each other are found at once.
func NewGraph(drafts []Draft) (DAG, []Flaw) {
	g := grapher{drafts: drafts}
	if len(drafts) > maxStages {
		g.flaw(-1, "stage", message.FlawMany, len(drafts), maxStages)
		return DAG{}, g.flaws
	}
	g.name()
	g.group()
	g.depend()
	if len(g.flaws) == 0 {
		g.build()
		g.acyclic()
	}
	if len(g.flaws) == 0 {
		g.wayBack()
	}
	if len(g.flaws) > 0 {
		return DAG{}, g.flaws
	}
	return g.dag, nil
}

type grapher struct {
	drafts []Draft
	keys   []string
	groups []string // of each stage; "" = alone
	deps   [][]string
	dag    DAG
	flaws  []Flaw
}

func (g *grapher) flaw(stage int, field string, t message.Text, args ...any) *Flaw {
	g.flaws = append(g.flaws, Flaw{Stage: stage, Field: field, Text: message.Because(t, args...)})
	return &g.flaws[len(g.flaws)-1]
}

func (f *Flaw) advise(t message.Text, args ...any) { f.Hint = message.Because(t, args...) }

// name gives each stage its key, and makes sure that somebody can do it.
func (g *grapher) name() {
	list := make([]string, len(g.drafts))
	for i, d := range g.drafts {
		list[i] = d.Key
	}
	g.keys = listKeys("", list)
	files := map[string]bool{} // a key is part of its report's name
	for i, k := range g.keys {
		d := g.drafts[i]
		_, known := Lookup(k)
		switch {
		case !validKey(d.Key):
			g.flaw(i, "stage", message.FlawKey, d.Key).advise(message.HintFlawKey)
		case files[fileKey(k)]:
			g.flaw(i, "stage", message.FlawTwice, k).advise(message.HintFlawTwice)
		case !known && d.Spec.Agent == "" && d.Spec.Run == "":
			g.flaw(i, "stage", message.FlawStage, k).Hint = Meant(Base(k), StageNames(), message.HintFlawStageNear, message.HintFlawStage)
		case d.Spec.Agent != "" && d.Spec.Run != "":
			g.flaw(i, "run", message.FlawBoth, k).advise(message.HintFlawBoth)
		}
		files[fileKey(k)] = true
	}
}

// fileKey is the same for keys that would share their report's file.
func fileKey(key string) string { return strings.ToUpper(strings.ReplaceAll(key, ":", "-")) }

// validKey: a key is part of file names, and stands in texts as a word.
func validKey(key string) bool {
	base, suffix, has := strings.Cut(key, ":")
	if base == "" || len(key) > 40 || strings.Trim(base, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" ||
		base[0] < 'A' || base[0] > 'Z' || base == MergedContext {
		return false
	}
	return !has || suffix != "" && strings.Trim(suffix, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// group finds the barriers: those that are named, and, among stages of which
// nothing is said, those that stand side by side in the built-in workflows.
func (g *grapher) group() {
	g.groups = make([]string, len(g.drafts))
	free := make([]string, len(g.drafts)) // the keys that may join a group by themselves
	for i, d := range g.drafts {
		if d.Barrier != Nowhere {
			g.groups[i] = d.Barrier
		}
		free[i] = g.keys[i]
		if (d.Barrier != "" || d.After != nil) && Base(free[i]) != "DEV" {
			free[i] = "·" // a stage of no group, but a DEV stays one
		}
	}
	used := map[string]int{}
	for i := 0; i < len(free); {
		name, n := groupAt(free, i)
		if name != "" {
			used[name]++
			for j := range n {
				g.groups[i+j] = numbered(name, used[name])
			}
		}
		i += n
	}
	for i, name := range g.groups {
		if g.drafts[i].Barrier == "" || name == "" {
			continue
		}
		switch n := len(g.members(name)); {
		case !ValidName(strings.ReplaceAll(name, ":", "-")):
			g.flaw(i, "barrier", message.FlawGroup, name).advise(message.HintFlawGroup)
		case n == 1:
			g.flaw(i, "barrier", message.FlawAlone, name, g.keys[i]).advise(message.HintFlawAlone)
		}
	}
}

// members is the places of a barrier's stages.
func (g *grapher) members(group string) []int {
	var list []int
	for i, name := range g.groups {
		if name == group && name != "" {
			list = append(list, i)
		}
	}
	return list
}

// depend finds what each stage comes after. Who comes after one stage of a barrier
// comes after all of them.
func (g *grapher) depend() {
	g.deps = make([][]string, len(g.drafts))
	for i, d := range g.drafts {
		var direct []int
		if d.After == nil {
			// The members of a barrier that stand together begin together.
			j := i
			for j > 0 && g.groups[i] != "" && g.groups[j-1] == g.groups[i] && g.drafts[j].After == nil {
				j--
			}
			if j < i && g.drafts[j].After != nil {
				g.deps[i] = slices.Clone(g.deps[j])
				continue
			}
			if j > 0 {
				direct = []int{j - 1}
			}
		}
		for _, key := range d.After {
			at := slices.Index(g.keys, key)
			switch {
			case at < 0:
				g.unknown(i, "after", message.FlawAfter, key)
			case at == i:
				g.flaw(i, "after", message.FlawSelf, key).advise(message.HintFlawSelf)
			default:
				direct = append(direct, at)
			}
		}
		for _, at := range direct {
			if g.groups[at] != "" && g.groups[at] == g.groups[i] {
				g.flaw(i, "after", message.FlawOpen, g.groups[i], g.keys[i], g.keys[at]).advise(message.HintFlawOpen)
				continue
			}
			all := g.members(g.groups[at])
			if len(all) == 0 {
				all = []int{at}
			}
			for _, m := range all {
				if !slices.Contains(g.deps[i], g.keys[m]) {
					g.deps[i] = append(g.deps[i], g.keys[m])
				}
			}
		}
	}
}

// unknown reports a name that is not in the list.
func (g *grapher) unknown(stage int, field string, t message.Text, key string) {
	g.flaw(stage, field, t, key).Hint = Meant(key, g.keys, message.HintDidYouMean, message.HintFlawListed)
}

func (g *grapher) build() {
	for i, k := range g.keys {
		d := g.drafts[i]
		n := node{Deps: g.deps[i], MaxRetries: d.Retries}
		if d.Retries < 0 {
			n.MaxRetries = unsaid
		} else {
			n.raw = unread(fmt.Sprintf(`{"maxRetries":%d}`, d.Retries)) // what the file says is kept, whatever else it says
		}
		if d.OnFail != Nowhere {
			n.OnFail = d.OnFail
		}
		for j, deps := range g.deps {
			if slices.Contains(deps, k) {
				n.Next = append(n.Next, g.keys[j])
			}
		}
		if !d.Spec.plain() {
			n.Spec = new(d.Spec)
		}
		if name := g.groups[i]; name != "" {
			n.Barrier = &barrierRef{Group: name}
			for _, m := range g.members(name) {
				n.Barrier.Siblings = append(n.Barrier.Siblings, g.keys[m])
				n.Barrier.Timeout = max(n.Barrier.Timeout, g.drafts[m].BarrierTimeout)
			}
			n.Barrier.Total = len(n.Barrier.Siblings)
			if len(n.Next) > 0 {
				n.Barrier.Next = n.Next[0]
			}
		}
		g.dag.Set(k, n)
	}
}

// acyclic finds a stage that waits for itself, and a barrier of which one stage
// waits for another: a FAIL of the first would keep the second from ever voting.
func (g *grapher) acyclic() {
	if g.dag.validate() != nil {
		for i, k := range g.keys {
			if loop := g.loop(k); loop != nil {
				g.flaw(i, "after", message.FlawCycle, strings.Join(loop, " → ")).advise(message.HintFlawCycle)
				return
			}
		}
	}
	for i, k := range g.keys {
		for _, m := range g.members(g.groups[i]) {
			if m != i && g.dag.leads(g.keys[m], k) {
				g.flaw(i, "barrier", message.FlawOpen, g.groups[i], k, g.keys[m]).advise(message.HintFlawOpen)
			}
		}
	}
}

// loop is a way from a stage back to itself, in the order of the work.
func (g *grapher) loop(key string) []string {
	var walk func(path []string) []string
	seen := map[string]bool{}
	walk = func(path []string) []string {
		n, _ := g.dag.Get(path[len(path)-1])
		for _, d := range n.Deps {
			if d == key {
				slices.Reverse(path)
				return append([]string{key}, path...)
			}
			if seen[d] {
				continue
			}
			seen[d] = true
			if found := walk(append(slices.Clone(path), d)); found != nil {
				return found
			}
		}
		return nil
	}
	return walk([]string{key})
}

func (g *grapher) wayBack() {
	for i, k := range g.keys {
		d := g.drafts[i]
		n, _ := g.dag.Get(k)
		judges := false
		if st, ok := g.dag.Info(k); ok {
			judges = st.quality
		}
		switch {
		case d.OnFail == Nowhere:
			if g.dag.Rework(k) != "" {
				spec := g.dag.Spec(k)
				spec.NoRework = true
				n.Spec = &spec
			}
		case d.OnFail == "" && !judges:
		case d.OnFail == "":
			if n.OnFail = g.dag.Rework(k); n.OnFail == "" {
				g.flaw(i, "on_fail", message.FlawNowhere, k).advise(message.HintFlawNowhere)
			}
		case !g.dag.Has(d.OnFail):
			g.unknown(i, "on_fail", message.FlawOnFail, d.OnFail)
		case !g.dag.leads(d.OnFail, k):
			g.flaw(i, "on_fail", message.FlawAhead, d.OnFail, k).advise(message.HintFlawAhead)
		}
		g.dag.Set(k, n)
	}
}

// Nearest is the names that a mistyped one is most likely to mean, the nearest
// first, at most three.
func Nearest(name string, known []string) []string {
	type found struct {
		name string
		n    int
	}
	var list []found
	limit := max(1, len(name)/3) + 1
	for _, k := range known {
		n := 2 * maxName // what is longer than any name is near to none
		if len(name) <= n && len(k) <= n {
			n = config.Distance(strings.ToLower(name), strings.ToLower(k))
		}
		if n <= limit || len(name) > 2 && (strings.HasPrefix(k, name) || strings.HasPrefix(name, k)) {
			list = append(list, found{k, n})
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return a.n - b.n })
	var names []string
	for _, f := range list[:min(3, len(list))] {
		names = append(names, f.name)
	}
	return names
}

// Meant is the hint about a mistyped name: the names that it most likely means, else all.
func Meant(name string, known []string, near, all message.Text) message.Reason {
	if list := Nearest(name, known); len(list) > 0 {
		return message.Because(near, list)
	}
	return message.Because(all, known)
}

// Closest is the one that a mistyped name most likely means, "" when none is close.
func Closest(name string, known []string) string {
	if near := Nearest(name, known); len(near) > 0 {
		return near[0]
	}
	return ""
}
