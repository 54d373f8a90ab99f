package shrink

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// A baseline shortens messages to so many bytes: of reads one, and tells what is
// left of it for any size.
type baseline struct {
	name string
	of   func(text string, c *statistics) func(n int) string
}

// exactly gives a baseline as much room as there is, in characters of all texts
// together: each message the same share of its length, and as large a share as fits.
func (b baseline) exactly(texts []string, room int, c *statistics) []string {
	var short []func(int) string
	for _, t := range texts {
		short = append(short, b.of(t, c))
	}
	at := func(share float64) (out []string, used int) {
		for i, t := range texts {
			out = append(out, short[i](int(float64(len(t))*share)))
			used += utf8.RuneCountInString(out[i])
		}
		return out, used
	}
	best, _ := at(0)
	low, high := 0.0, 1.0
	for range 12 {
		share := (low + high) / 2
		if out, used := at(share); used <= room {
			best, low = out, share
		} else {
			high = share
		}
	}
	return best
}

// statistics are what a baseline may know of the other messages.
type statistics struct {
	messages int
	in       map[string]int // word → messages that have it
}

func newStatistics(texts []string) *statistics {
	c := &statistics{messages: len(texts), in: map[string]int{}}
	for _, t := range texts {
		seen := map[string]bool{}
		for _, w := range words(t) {
			if !seen[w] {
				seen[w] = true
				c.in[w]++
			}
		}
	}
	return c
}

func (c *statistics) idf(w string) float64 {
	return math.Log(float64(c.messages+1) / float64(c.in[w]+1))
}

var baselines = []baseline{
	{"head", func(t string, _ *statistics) func(int) string { return func(n int) string { return head(t, n) } }},
	{"tail", func(t string, _ *statistics) func(int) string { return func(n int) string { return tail(t, n) } }},
	{"random", func(t string, _ *statistics) func(int) string {
		rng := rand.New(rand.NewPCG(uint64(len(t)), 7))
		return pick(t, func(s []string) []float64 {
			score := make([]float64, len(s))
			for i := range s {
				score[i] = rng.Float64()
			}
			return score
		})
	}},
	{"tf-idf", func(t string, c *statistics) func(int) string {
		return pick(t, func(s []string) []float64 {
			tf := map[string]float64{}
			for _, w := range words(t) {
				tf[w]++
			}
			score := make([]float64, len(s))
			for i := range s {
				ws := words(s[i])
				for _, w := range ws {
					score[i] += tf[w] * c.idf(w)
				}
				score[i] /= float64(len(ws) + 1)
			}
			return score
		})
	}},
	{"textrank", func(t string, _ *statistics) func(int) string { return pick(t, textRank) }},
	{"coverage", func(t string, c *statistics) func(int) string { return func(n int) string { return coverage(t, n, c) } }},
}

func head(t string, n int) string {
	if len(t) <= n {
		return t
	}
	for n > 0 && !utf8.RuneStart(t[n]) {
		n--
	}
	if i := strings.LastIndexAny(t[:n], " \n"); i > n/2 {
		n = i
	}
	return t[:n]
}

func tail(t string, n int) string {
	if len(t) <= n {
		return t
	}
	from := len(t) - n
	for from < len(t) && !utf8.RuneStart(t[from]) {
		from++
	}
	if i := strings.IndexAny(t[from:], " \n"); i >= 0 && i < n/2 {
		from += i + 1
	}
	return t[from:]
}

// pick keeps the best sentences that fit, in their order; when none fits, the
// front of the best.
func pick(t string, rank func([]string) []float64) func(n int) string {
	s := sentences(t)
	score := rank(s)
	order := make([]int, len(s))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	return func(n int) string { return fill(s, order, n) }
}

func fill(s []string, order []int, n int) string {
	keep := map[int]bool{}
	left := n
	for _, i := range order {
		if len(s[i])+1 <= left {
			keep[i] = true
			left -= len(s[i]) + 1
		}
	}
	if len(keep) == 0 && len(order) > 0 {
		return head(s[order[0]], n)
	}
	var out []string
	for i := range s {
		if keep[i] {
			out = append(out, s[i])
		}
	}
	return strings.Join(out, "\n")
}

func textRank(s []string) []float64 {
	n := min(len(s), 300)
	sets := make([]map[string]bool, n)
	for i := range n {
		sets[i] = map[string]bool{}
		for _, w := range words(s[i]) {
			sets[i][w] = true
		}
	}
	sim := make([][]float64, n)
	sum := make([]float64, n)
	for i := range n {
		sim[i] = make([]float64, n)
		for j := range n {
			if i == j || len(sets[i]) < 2 || len(sets[j]) < 2 {
				continue
			}
			common := 0
			for w := range sets[i] {
				if sets[j][w] {
					common++
				}
			}
			sim[i][j] = float64(common) / (math.Log(float64(len(sets[i]))+1) + math.Log(float64(len(sets[j]))+1))
			sum[i] += sim[i][j]
		}
	}
	score := make([]float64, len(s))
	for i := range n {
		score[i] = 1
	}
	for range 20 {
		next := make([]float64, len(s))
		for i := range n {
			next[i] = 0.15
			for j := range n {
				if sum[j] > 0 {
					next[i] += 0.85 * sim[j][i] / sum[j] * score[j]
				}
			}
		}
		score = next
	}
	return score
}

// coverage takes the sentence that adds the most new words per character, again
// and again.
func coverage(t string, n int, c *statistics) string {
	s := sentences(t)
	sets := make([][]string, len(s))
	for i := range s {
		sets[i] = words(s[i])
	}
	covered := map[string]bool{}
	var order []int
	used := make([]bool, len(s))
	left := n
	for len(order) < min(len(s), 200) {
		best, at := 0.0, -1
		for i := range s {
			if used[i] || len(s[i])+1 > left {
				continue
			}
			gain := 0.0
			for _, w := range sets[i] {
				if !covered[w] {
					gain += c.idf(w)
				}
			}
			if gain /= float64(len(s[i]) + 1); gain > best {
				best, at = gain, i
			}
		}
		if at < 0 {
			break
		}
		used[at] = true
		left -= len(s[at]) + 1
		for _, w := range sets[at] {
			covered[w] = true
		}
		order = append(order, at)
	}
	if len(order) == 0 && len(s) > 0 {
		order = []int{0}
	}
	return fill(s, order, n)
}
