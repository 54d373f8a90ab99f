package shrink

import (
	"container/heap"
	"strings"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/extract"
)

// oracle is what whole units of the same size could keep at most of the kinds that are
// wanted, or nearly: it asks the judge which facts each unit holds, and takes the most for
// each character until the size is used up. Its limit is the greed, not the words.
func oracle(pairs []pair, want func(kind) bool) []string {
	type unit struct {
		pair, at, cost int
		facts          []int
		kept           bool
	}
	budget := 0
	var units []unit
	var split [][]extract.Unit
	have := map[int]bool{}
	facts := 0
	for n, p := range pairs {
		budget += utf8.RuneCountInString(p.after) - len("…#00000000") + 2
		list := extract.Units(p.before, func() bool { return true })
		split = append(split, list)
		var all []string
		var of []kind
		for _, k := range kinds {
			if !want(k) {
				continue
			}
			for _, f := range found(k, p.before, p.user) {
				all, of = append(all, f), append(of, k)
			}
		}
		for i, u := range list {
			t := p.before[u.Start:u.End]
			x := unit{pair: n, at: i, cost: utf8.RuneCountInString(t) + 1}
			for j := range all {
				if has(of[j], t, all[j]) {
					x.facts = append(x.facts, facts+j)
				}
			}
			units = append(units, x)
		}
		facts += len(all)
	}
	gain := func(x unit) float64 {
		g := 0
		for _, f := range x.facts {
			if !have[f] {
				g++
			}
		}
		return float64(g) / float64(x.cost)
	}
	q := &densest{}
	for i, x := range units {
		if g := gain(x); g > 0 {
			q.list = append(q.list, dense{i, g})
		}
	}
	heap.Init(q)
	for q.Len() > 0 {
		c := heap.Pop(q).(dense)
		x := &units[c.unit]
		if now := gain(*x); now < c.gain {
			if now > 0 {
				heap.Push(q, dense{c.unit, now})
			}
			continue
		}
		if x.cost > budget {
			continue
		}
		budget -= x.cost
		x.kept = true
		for _, f := range x.facts {
			have[f] = true
		}
	}
	texts := make([][]string, len(pairs))
	for _, x := range units {
		if x.kept {
			u := split[x.pair][x.at]
			texts[x.pair] = append(texts[x.pair], pairs[x.pair].before[u.Start:u.End])
		}
	}
	out := make([]string, len(pairs))
	for i := range out {
		if out[i] = strings.Join(texts[i], "\n"); out[i] == "" {
			out[i] = "…#00000000"
		}
	}
	return out
}

type dense struct {
	unit int
	gain float64
}

type densest struct{ list []dense }

func (q *densest) Len() int           { return len(q.list) }
func (q *densest) Less(a, b int) bool { return q.list[a].gain > q.list[b].gain }
func (q *densest) Swap(a, b int)      { q.list[a], q.list[b] = q.list[b], q.list[a] }
func (q *densest) Push(x any)         { q.list = append(q.list, x.(dense)) }
func (q *densest) Pop() any {
	last := len(q.list) - 1
	x := q.list[last]
	q.list = q.list[:last]
	return x
}
