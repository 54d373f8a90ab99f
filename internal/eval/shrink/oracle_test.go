package shrink

import (
	"container/heap"
	"strings"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/extract"
)

// oracle is what whole units of the same size could keep, or nearly: it asks the judge which
// facts each unit holds, and takes what is worth most for each character until the size is
// used up. It keeps the product's promise first: something is left of every message that
// holds a decision or a request. Leads and referents that the product keeps with a unit
// cost it nothing. Its limit is the greed, not the words.
func oracle(pairs []pair, worth func(kind) float64) []string {
	type unit struct {
		pair, at, cost int
		facts          []int
		kept           bool
	}
	budget := 0
	var units []unit
	var split [][]extract.Unit
	var value []float64              // of each fact that is not kept yet
	var held [][2]int                // units of each message that something has to be left of
	open := make([]bool, len(pairs)) // something of the message is kept
	for n, p := range pairs {
		budget += utf8.RuneCountInString(p.after) - markSize
		list := compress.Units(p.before)
		split = append(split, list)
		var all []string
		var of []kind
		holds, first := false, len(value)
		for _, k := range kinds {
			for _, f := range found(k, p.before, p.user) {
				holds = holds || !hard(k)
				all, of, value = append(all, f), append(of, k), append(value, worth(k))
			}
		}
		if holds {
			held = append(held, [2]int{len(units), len(units) + len(list)})
		}
		for i, u := range list {
			t := p.before[u.Start:u.End]
			x := unit{pair: n, at: i, cost: utf8.RuneCountInString(t) + 1}
			for j := range all {
				if has(of[j], t, all[j]) {
					x.facts = append(x.facts, first+j)
				}
			}
			units = append(units, x)
		}
	}
	gain := func(x unit) float64 {
		g := 0.0
		for _, f := range x.facts {
			g += value[f]
		}
		return g / float64(x.cost)
	}
	keep := func(x *unit) {
		if budget -= x.cost; !open[x.pair] {
			budget += markSize + 1
		}
		x.kept, open[x.pair] = true, true
		for _, f := range x.facts {
			value[f] = 0
		}
	}
	for _, h := range held {
		best := h[0]
		for i := h[0]; i < h[1]; i++ {
			if gain(units[i]) > gain(units[best]) {
				best = i
			}
		}
		keep(&units[best])
	}
	q := &densest{}
	for i, x := range units {
		if g := gain(x); g > 0 && !x.kept {
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
		if x.cost > budget+markSize+1 || open[x.pair] && x.cost > budget {
			continue
		}
		keep(x)
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

// markSize is how many characters stand for a message of which nothing is kept.
const markSize = 10

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
