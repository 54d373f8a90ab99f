package shrink

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// pair is a message before and after.
type pair struct {
	before, after string
	user          bool
	amid          bool // the agent's, and more of the turn follows
	turn          int32
	file          string
}

// compressed runs the product over a copy of a session and reads the clone.
func compressed(t *testing.T, file string, level compress.Level, by compress.Builtin) []pair {
	t.Helper()
	ctx := context.Background()
	s, err := transcript.Read(ctx, copied(t, file))
	if err != nil {
		t.Fatal(err)
	}
	bands, err := compress.ParseBands("0-100:" + string(level))
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Defaults().Compress
	plan, err := compress.NewPlan(s, compress.Options{Bands: bands, Whole: true, MinTokens: cfg.MinTokens, Pool: compress.NewPool(cfg)})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Items) == 0 {
		return nil
	}
	res, err := plan.Run(ctx, by, compress.RunOptions{ID: transcript.NewID(s.Host, time.Unix(0, 0)), Now: time.Unix(0, 0)})
	if err != nil {
		t.Logf("%s: %v", filepath.Base(file), err)
		return nil
	}
	clone, err := transcript.Read(ctx, res.Clone.Path)
	if err != nil {
		t.Fatal(err)
	}
	a, b := openFile(t, s.Path), openFile(t, clone.Path)
	defer a.Close()
	defer b.Close()
	// A clone may lack lines that are no messages; the messages keep their order.
	at := map[int32]int{}
	cloned := messagesOf(clone)
	for n, i := range messagesOf(s) {
		at[i] = int(cloned[n])
	}
	var out []pair
	for n, it := range plan.Items {
		x, err := s.Raw(a, int(it.Entry))
		if err != nil {
			t.Fatal(err)
		}
		y, err := clone.Raw(b, at[it.Entry])
		if err != nil {
			t.Fatal(err)
		}
		amid := !it.User && n+1 < len(plan.Items) && !plan.Items[n+1].User && plan.Items[n+1].Turn == it.Turn
		out = append(out, pair{transcript.Text(x), transcript.Text(y), it.User, amid, it.Turn, filepath.Base(file)})
	}
	return out
}

func messagesOf(s *transcript.Session) []int32 {
	var out []int32
	for i := range s.Entries {
		if k := s.Entries[i].Kind; k == transcript.User || k == transcript.Assistant {
			out = append(out, int32(i))
		}
	}
	return out
}

func openFile(t *testing.T, path string) *os.File {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// score is what one method kept.
type score struct {
	name         string
	kept, all    []int // by kind
	chars        int
	denied, lost int
	pieces, rest int
	cut          int
	blocks       int
	alone        []string // blocks that nobody can place
	empty        []string
	holds        [2]int // messages that hold a decision or a request, by words and as read
	gone         [2]int // those of them of which nothing is left
	ends         [2]int // those of these that are a user's or end a turn
	untold       [2]int // those of which none of these is left
	each         [][3]part
}

// part is how much of the facts of a class a message keeps.
type part struct{ kept, all int }

// classes are what ratios are told of: hard facts, soft ones by words and as read.
var classes = [3]func(kind) bool{hard, soft, told}

func (s *score) add(p pair, result string) {
	var holds, tells [2]bool
	var each [3]part
	for i, k := range kinds {
		judge := 0
		if told(k) {
			judge = 1
		}
		for _, f := range found(k, p.before, p.user) {
			s.all[i]++
			kept := has(k, result, f)
			if kept {
				s.kept[i]++
			}
			for c, of := range classes {
				if of(k) {
					each[c].all++
					if kept {
						each[c].kept++
					}
				}
			}
			if !hard(k) {
				holds[judge], tells[judge] = true, tells[judge] || kept
			}
		}
	}
	s.each = append(s.each, each)
	for j := range holds {
		if !holds[j] {
			continue
		}
		s.holds[j]++
		if strings.TrimSpace(result) == "" || mark.MatchString(result) {
			s.gone[j]++
			if !p.amid {
				s.ends[j]++
			}
		}
		if !tells[j] {
			s.untold[j]++
		}
	}
	s.chars += len([]rune(result))
	kept, lost := denials(p.before, result)
	s.denied += kept
	s.lost += lost
	n, e := remnants(result)
	s.pieces += n
	s.rest += len(e)
	s.empty = append(s.empty, e...)
	s.cut += cutTokens(p.before, result)
	blocks, alone := orphans(p.before, result)
	s.blocks += blocks
	s.alone = append(s.alone, alone...)
}

func (s *score) share(want func(kind) bool) float64 {
	kept, all := 0, 0
	for i, k := range kinds {
		if want(k) {
			kept += s.kept[i]
			all += s.all[i]
		}
	}
	if all == 0 {
		return 0
	}
	return 100 * float64(kept) / float64(all)
}

func hard(k kind) bool { return !k.soft && k.read == 0 }
func soft(k kind) bool { return k.soft }
func told(k kind) bool { return k.read != 0 }

func percent(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return 100 * float64(a) / float64(b)
}

// goals are how much more of hard and of soft facts than the best baseline is aimed at.
var goals = map[compress.Level][2]float64{compress.Compress: {1.4, 1.7}, compress.HeavyCompress: {1.25, 2.5}}

// spread is where nine of ten ratios of a class lie when the messages are drawn anew, with
// what is then the best baseline: how much chance there is in a ratio.
func spread(ours *score, others []*score, class int) (low, high float64) {
	rng := rand.New(rand.NewPCG(1, 7))
	ratios := make([]float64, 400)
	for i := range ratios {
		draw := make([]int, len(ours.each))
		for j := range draw {
			draw[j] = rng.IntN(len(draw))
		}
		kept := func(s *score) (n int) {
			for _, j := range draw {
				n += s.each[j][class].kept
			}
			return n
		}
		best := 0
		for _, s := range others {
			best = max(best, kept(s))
		}
		ratios[i] = float64(kept(ours)) / float64(best)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/20], ratios[len(ratios)*19/20]
}

// measure scores the product and the baselines, which have exactly the room that it
// used, and returns the row of the summary.
func measure(t *testing.T, c corpus, level compress.Level) string {
	var pairs []pair
	for _, f := range c.files {
		pairs = append(pairs, compressed(t, f, level, compress.Builtin{})...)
	}
	room := 0
	var texts []string
	for _, p := range pairs {
		room += utf8.RuneCountInString(p.after)
		texts = append(texts, p.before)
	}
	fresh := func(name string) *score {
		return &score{name: name, kept: make([]int, len(kinds)), all: make([]int, len(kinds))}
	}
	ours := fresh("builtin")
	for _, p := range pairs {
		ours.add(p, p.after)
	}
	out := []*score{ours}
	stats := newStatistics(texts)
	for _, b := range baselines {
		s := fresh(b.name)
		for i, text := range b.exactly(texts, room, stats) {
			s.add(pairs[i], text)
		}
		out = append(out, s)
	}
	best := func(want func(kind) bool) float64 {
		m := 0.0
		for _, s := range out[1:] {
			m = max(m, s.share(want))
		}
		return m
	}
	// The oracle that comes nearest to both goals at once.
	var limit *score
	nearest := 0.0
	for _, worth := range []float64{1, 2, 4, 8} {
		s := fresh("oracle")
		for from := 0; from < len(pairs); {
			to := from
			for to < len(pairs) && pairs[to].file == pairs[from].file {
				to++
			}
			for i, text := range oracle(pairs[from:to], func(k kind) float64 {
				if hard(k) {
					return 1
				}
				return worth
			}) {
				s.add(pairs[from+i], text)
			}
			from = to
		}
		if g := min(s.share(hard)/best(hard)/goals[level][0], s.share(soft)/best(soft)/goals[level][1]); limit == nil || g > nearest {
			limit, nearest = s, g
		}
	}
	if dump := os.Getenv("OVERTONE_EVAL_DUMP"); dump != "" {
		f, err := os.OpenFile(dump, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, p := range pairs {
			fmt.Fprintf(f, "=== %s %s %s user=%v %d → %d\n%s\n--- kept\n%s\n\n", c.name, level, p.file, p.user, len(p.before), len(p.after), p.before, p.after)
		}
	}
	if os.Getenv("OVERTONE_EVAL_EMPTY") != "" {
		for _, s := range ours.empty {
			t.Logf("says nothing: %s", s)
		}
		for _, s := range ours.alone {
			t.Logf("stands alone: %s", s)
		}
	}
	total := 0
	for _, p := range pairs {
		total += len([]rune(p.before))
	}
	t.Logf("%s, %s: %d messages, %d characters", c.name, level, len(pairs), total)
	var b strings.Builder
	fmt.Fprintf(&b, "  %-9s %6s", "", "size")
	for _, k := range kinds {
		fmt.Fprintf(&b, " %9s", k.name)
	}
	fmt.Fprintf(&b, " %6s %6s %6s %7s %8s %4s\n", "HARD", "SOFT", "READ", "denial", "remnant", "cut")
	for _, s := range append(slices.Clone(out), limit) {
		fmt.Fprintf(&b, "  %-9s %5.1f%%", s.name, percent(s.chars, total))
		for i := range kinds {
			fmt.Fprintf(&b, " %9.1f", percent(s.kept[i], s.all[i]))
		}
		fmt.Fprintf(&b, " %6.1f %6.1f %6.1f %6.1f%% %7.1f%% %4d\n", s.share(hard), s.share(soft), s.share(told), percent(s.lost, s.denied), percent(s.rest, s.pieces), s.cut)
	}
	fmt.Fprintf(&b, "  %-9s %6s", "facts", "")
	for i := range kinds {
		fmt.Fprintf(&b, " %9d", ours.all[i])
	}
	t.Log("\n" + b.String())
	row := fmt.Sprintf("%-9s %-15s %5.1f%%", c.name, level, percent(ours.chars, total))
	only := func(name string) func(kind) bool { return func(k kind) bool { return k.name == name } }
	for c, want := range classes {
		low, high := spread(ours, out[1:], c)
		row += fmt.Sprintf("  %4.1f/%4.1f ×%.2f (%.2f–%.2f) of %.2f", ours.share(want), best(want), ours.share(want)/best(want), low, high, limit.share(want)/best(want))
	}
	for _, want := range []func(kind) bool{only("quantity"), only("error")} {
		row += fmt.Sprintf("  %4.1f/%4.1f ×%.2f", ours.share(want), best(want), ours.share(want)/best(want))
	}
	row += fmt.Sprintf("  %4.1f%%  %4.1f%%  %d  %5.1f ", percent(ours.lost, ours.denied), percent(ours.rest, ours.pieces), ours.cut, percent(len(ours.alone), ours.blocks))
	for j := range ours.holds {
		row += fmt.Sprintf("  %3d %3d %3d /%3d", ours.gone[j], ours.ends[j], ours.untold[j], ours.holds[j])
	}
	return row
}

// TestEval measures the samples, and the corpus by project.
func TestEval(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("make eval runs this")
	}
	only := os.Getenv("OVERTONE_EVAL_ONLY")
	var rows []string
	for _, c := range append(corpora(t), projects(t)...) {
		if only != "" && !strings.Contains(c.name, only) {
			continue
		}
		slices.Sort(c.files)
		for _, l := range []compress.Level{compress.Compress, compress.HeavyCompress} {
			rows = append(rows, measure(t, c, l))
		}
	}
	t.Logf("kept in percent / best baseline of this run, and their ratio (nine of ten times between, drawn anew), of what an oracle reaches of all three at once; denials lost, remnants, cut tokens, orphans in 100 blocks; messages that hold a decision or a request: gone whole, of these a user's or the end of a turn, without any of these, all, by words and as read\n  %-9s %-15s %6s  %-35s  %-35s  %-35s  %-15s  %-15s  %6s %6s  %s  %s  %-17s  %-17s\n  %s",
		"", "", "size", "hard facts", "soft", "soft, as read", "quantity", "error", "denial", "remn.", "cut", "orphan", "gone", "gone, as read", strings.Join(rows, "\n  "))
}

// removals are what the compressor does without each of its weights.
var removals = []struct {
	name   string
	remove func(*compress.Weights)
}{
	{"Name", func(w *compress.Weights) { w.Name = 0 }},
	{"Say", func(w *compress.Weights) { w.Say = 0 }},
	{"Start", func(w *compress.Weights) { w.Start = 0 }},
	{"Cue", func(w *compress.Weights) { w.Cue = 0 }},
}

// TestEvalWeights prints what is lost without each weight, in points of hard and of soft
// facts of all projects together, and in brackets the least that is lost when any one of
// them is left out: what is below zero there rests on one project alone.
func TestEvalWeights(t *testing.T) {
	if os.Getenv("OVERTONE_EVAL") == "" {
		t.Skip("make eval runs this")
	}
	if n := reflect.TypeFor[compress.Weights]().NumField(); n != len(removals) || n >= 12 {
		t.Errorf("%d weights, %d removals", n, len(removals))
	}
	list := projects(t)
	if len(list) == 0 {
		t.Skip("no recorded sessions")
	}
	list = list[:len(list)-1]
	// at scores each project by itself.
	at := func(level compress.Level, w compress.Weights) (out []*score) {
		for _, c := range list {
			s := &score{kept: make([]int, len(kinds)), all: make([]int, len(kinds))}
			for _, f := range c.files {
				for _, p := range compressed(t, f, level, compress.Builtin{Weights: &w}) {
					s.add(p, p.after)
				}
			}
			out = append(out, s)
		}
		return out
	}
	// share is that of all projects but one.
	share := func(of []*score, without int, want func(kind) bool) float64 {
		sum := &score{kept: make([]int, len(kinds)), all: make([]int, len(kinds))}
		for n, s := range of {
			for i := range kinds {
				if n != without {
					sum.kept[i] += s.kept[i]
					sum.all[i] += s.all[i]
				}
			}
		}
		return sum.share(want)
	}
	var b strings.Builder
	for _, level := range []compress.Level{compress.Compress, compress.HeavyCompress} {
		base := at(level, compress.Tuned())
		for _, r := range removals {
			w := compress.Tuned()
			r.remove(&w)
			now := at(level, w)
			fmt.Fprintf(&b, "%-15s without %-8s", level, r.name)
			for _, want := range []func(kind) bool{hard, soft} {
				least := math.Inf(1)
				for n := range list {
					least = min(least, share(base, n, want)-share(now, n, want))
				}
				fmt.Fprintf(&b, "  %+6.1f (%+6.1f)", share(base, -1, want)-share(now, -1, want), least)
			}
			b.WriteByte('\n')
		}
	}
	t.Log("points of hard and of soft facts that each weight wins\n" + b.String())
}
