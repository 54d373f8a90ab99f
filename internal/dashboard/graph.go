package dashboard

import (
	"fmt"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// graph is a workflow as it is drawn: places in pixels, edges as SVG paths.
type graph struct {
	Width  int         `json:"width"`
	Height int         `json:"height"`
	Nodes  []graphNode `json:"nodes"`
	Edges  []graphEdge `json:"edges"`
	Groups []graphNode `json:"groups"` // stages that go on together
}

type graphNode struct {
	Key string `json:"key"`
	X   int    `json:"x"`
	Y   int    `json:"y"`
	W   int    `json:"w"`
	H   int    `json:"h"`
}

type graphEdge struct {
	From string `json:"from"`
	To   string `json:"to"`
	Path string `json:"path"`
	// Back: the way of work that failed.
	Back bool     `json:"back,omitempty"`
	Also []string `json:"also,omitempty"` // other stages that it stands for
}

// Measures of the drawing.
const (
	nodeW, nodeH = 104, 46
	gapAlong     = 30 // between ranks
	gapAcross    = 14 // between stages of one rank
	margin       = 12
	groupPad     = 8
	lane         = 18 // for each edge that leads back
)

// layout places stages by rank, which is the longest way to them: along the page
// from left to right, or down, for narrow screens. Stages of one rank stand side
// by side, centred. What leads back runs beside all of them, each edge in a lane
// of its own, the longest outside.
func layout(dag workflow.DAG, down bool) graph {
	byRank, ranks, widest := blueprint.Rows(dag), map[string]int{}, 0
	for rank, keys := range byRank {
		widest = max(widest, len(keys))
		for _, k := range keys {
			ranks[k] = rank
		}
	}
	along, across := nodeW, nodeH
	if down {
		along, across = nodeH, nodeW
	}
	depth := widest*(across+gapAcross) - gapAcross
	place := map[string]graphNode{}
	g := graph{Nodes: []graphNode{}, Edges: []graphEdge{}, Groups: []graphNode{}}
	for rank, keys := range byRank {
		extent := len(keys)*(across+gapAcross) - gapAcross
		for i, k := range keys {
			a := margin + rank*(along+gapAlong)
			c := margin + (depth-extent)/2 + i*(across+gapAcross)
			node := graphNode{Key: k, X: a, Y: c, W: nodeW, H: nodeH}
			if down {
				node.X, node.Y = c, a
			}
			place[k] = node
		}
	}
	for _, k := range dag.Keys() {
		g.Nodes = append(g.Nodes, place[k])
		for _, next := range dag.NextOf(k) {
			if _, ok := place[next]; ok {
				g.Edges = append(g.Edges, graphEdge{From: k, To: next, Path: forth(place[k], place[next], down)})
			}
		}
	}
	lanes := 0
	for _, e := range backEdges(dag, ranks) {
		lanes++
		e.Path = back(place[e.From], place[e.To], margin+depth+lanes*lane, down)
		g.Edges = append(g.Edges, e)
	}
	g.Groups = groups(dag, place)
	length := 2*margin + len(byRank)*(along+gapAlong) - gapAlong
	breadth := 2*margin + depth + lanes*lane
	g.Width, g.Height = length, breadth
	if down {
		g.Width, g.Height = breadth, length
	}
	return g
}

// backEdges are the ways of work that failed, the shortest first; of stages of one
// rank that send it to the same place, one is drawn: the last, which stands next to
// the lanes.
func backEdges(dag workflow.DAG, ranks map[string]int) []graphEdge {
	var list []graphEdge
	seen := map[string]int{}
	for k, n := range dag.All() {
		if n.OnFail == "" || n.OnFail == k || !dag.Has(n.OnFail) {
			continue
		}
		e := graphEdge{From: k, To: n.OnFail, Back: true}
		id := fmt.Sprint(ranks[k], " ", n.OnFail)
		if i, ok := seen[id]; ok {
			e.Also = append(slices.Clip(list[i].Also), list[i].From)
			list[i] = e
			continue
		}
		seen[id] = len(list)
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b graphEdge) int {
		return (ranks[a.From] - ranks[a.To]) - (ranks[b.From] - ranks[b.To])
	})
	return list
}

// forth is a curve from the end of one node to the beginning of another.
func forth(a, b graphNode, down bool) string {
	if down {
		x1, y1, x2, y2 := a.X+a.W/2, a.Y+a.H, b.X+b.W/2, b.Y
		mid := (y1 + y2) / 2
		return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1, mid, x2, mid, x2, y2)
	}
	x1, y1, x2, y2 := a.X+a.W, a.Y+a.H/2, b.X, b.Y+b.H/2
	mid := (x1 + x2) / 2
	return fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, mid, y1, mid, y2, x2, y2)
}

// back leaves a node sidewards, runs in its lane and comes in from that side.
func back(a, b graphNode, at int, down bool) string {
	const r = 8
	if down {
		y1, y2 := a.Y+a.H/2+6, b.Y+b.H/2-6
		return fmt.Sprintf("M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %dH%d",
			a.X+a.W, y1, at-r, at, y1, at, y1-r, y2+r, at, y2, at-r, y2, b.X+b.W)
	}
	x1, x2 := a.X+a.W/2+6, b.X+b.W/2-6
	return fmt.Sprintf("M%d %dV%dQ%d %d %d %dH%dQ%d %d %d %dV%d",
		x1, a.Y+a.H, at-r, x1, at, x1-r, at, x2+r, x2, at, x2, at-r, b.Y+b.H)
}

func groups(dag workflow.DAG, place map[string]graphNode) []graphNode {
	list := []graphNode{}
	for k, n := range dag.All() {
		if n.Barrier == nil || len(n.Barrier.Siblings) < 2 {
			continue
		}
		p := place[k]
		box := graphNode{Key: n.Barrier.Group, X: p.X - groupPad, Y: p.Y - groupPad, W: p.W + 2*groupPad, H: p.H + 2*groupPad}
		i := slices.IndexFunc(list, func(g graphNode) bool { return g.Key == box.Key })
		if i < 0 {
			list = append(list, box)
			continue
		}
		g := &list[i]
		x2, y2 := max(g.X+g.W, box.X+box.W), max(g.Y+g.H, box.Y+box.H)
		g.X, g.Y = min(g.X, box.X), min(g.Y, box.Y)
		g.W, g.H = x2-g.X, y2-g.Y
	}
	return list
}
