package main

import (
	"fmt"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// count sums the coverage of a text over many compactions.
func count(list []*compaction, kind func(need) bool, text func(c *compaction) []string) (got, all int) {
	for _, c := range list {
		n, of := c.covered(kind, text(c)...)
		got, all = got+n, all+of
	}
	return got, all
}

func share(list []*compaction, kind func(need) bool, text func(c *compaction) []string) float64 {
	got, all := count(list, kind, text)
	return float64(got) / float64(max(1, all))
}

func meanUnits(list []*compaction, text func(c *compaction) string) int {
	n := 0
	for _, c := range list {
		n += message.Units(text(c))
	}
	return n / max(1, len(list))
}

// half is every second session: the constants were chosen on the first.
func half(list []*compaction, which int) []*compaction {
	var out []*compaction
	k, last := -1, ""
	for _, c := range list {
		session, _, _ := strings.Cut(c.name, ".")
		session, _, _ = strings.Cut(session, "@")
		if session != last {
			k, last = k+1, session
		}
		if k%2 == which {
			out = append(out, c)
		}
	}
	return out
}

func report(list, cuts []*compaction) {
	needed, paths := 0, 0
	for _, c := range list {
		needed += len(c.needed)
		for _, n := range c.needed {
			if n.path {
				paths++
			}
		}
	}
	fmt.Printf("%d compactions, %d needed names (%d paths, %d identifiers)\n\n", len(list), needed, paths, needed-paths)
	fmt.Println("compaction   known  needed  summary  + hand-over  characters")
	for _, c := range list {
		text := c.handover(0).Text()
		alone, _ := c.covered(nil, c.summary)
		both, _ := c.covered(nil, c.summary, text)
		fmt.Printf("%-11s %6d  %6d  %7d  %11d  %10d\n", c.name, c.known, len(c.needed), alone, both, message.Units(text))
	}
	table(list)
	kinds(list)
	curve("Summary and hand-over by length", list)
	sections(list)
	if len(cuts) > 0 {
		n := 0
		for _, c := range cuts {
			n += len(c.needed)
		}
		fmt.Printf("\nWithout a summary: %d cuts of all sessions where nothing was compacted, %d needed names\n", len(cuts), n)
		curve("Hand-over alone by length", cuts)
	}
}

// sums prints what counts as lines of a benchmark.
func sums(list []*compaction, real bool) {
	name := "Generated"
	if real {
		name = "Recorded"
	}
	ours := func(c *compaction) string { return c.handover(0).Text() }
	fmt.Printf("== internal/eval/survive\nBenchmarkSurvive/%s 1 %d compactions %.3f summary-stated %.3f handover-stated %d characters\n", name, len(list),
		share(list, nil, func(c *compaction) []string { return []string{c.summary} }),
		share(list, nil, func(c *compaction) []string { return []string{c.summary, ours(c)} }), meanUnits(list, ours))
}

func table(list []*compaction) {
	sets := []struct {
		name string
		list []*compaction
		kind func(need) bool
	}{
		{"all", list, nil},
		{"half 1", half(list, 0), nil},
		{"half 2", half(list, 1), nil},
		{"paths", list, func(n need) bool { return n.path }},
		{"identifiers", list, func(n need) bool { return !n.path }},
	}
	ours := func(c *compaction) string { return c.handover(0).Text() }
	names := func(c *compaction) string { return c.part("names") }
	rows := []struct {
		name string
		text func(c *compaction) []string
		len  func(c *compaction) string
	}{
		{"the host's summary", func(c *compaction) []string { return []string{c.summary} }, func(c *compaction) string { return c.summary }},
		{"summary + five files put back", func(c *compaction) []string { return []string{c.summary, c.files} }, nil},
		{"hand-over alone", func(c *compaction) []string { return []string{ours(c)} }, ours},
		{"summary + hand-over", func(c *compaction) []string { return []string{c.summary, ours(c)} }, ours},
		{"summary + floor of that length", func(c *compaction) []string {
			return []string{c.summary, c.floor(message.Units(ours(c)))}
		}, ours},
		{"summary + crude list of that length", func(c *compaction) []string {
			return []string{c.summary, c.crudeList(message.Units(ours(c)))}
		}, ours},
		{"summary + the section of names", func(c *compaction) []string { return []string{c.summary, names(c)} }, names},
		{"summary + crude list of its length", func(c *compaction) []string {
			return []string{c.summary, c.crudeList(message.Units(names(c)))}
		}, names},
	}
	fmt.Printf("\n%-36s", "")
	for _, s := range sets {
		fmt.Printf("  %11s", s.name)
	}
	fmt.Println("  characters")
	for _, r := range rows {
		fmt.Printf("%-36s", r.name)
		for _, s := range sets {
			got, all := count(s.list, s.kind, r.text)
			fmt.Printf("  %11s", fmt.Sprintf("%d/%d %.2f", got, all, float64(got)/float64(max(1, all))))
		}
		if r.len != nil {
			fmt.Printf("  %10d", meanUnits(list, r.len))
		}
		fmt.Println()
	}
}

// kinds shows how many of the needed names are stated, on both halves: of all, of those
// that are no library's, which every model knows, and of those that no edit coins anew,
// either.
func kinds(list []*compaction) {
	ours := func(c *compaction) string { return c.handover(0).Text() }
	fmt.Println("\nNeeded names that are stated. Half 1 was tuned on, half 2 was not.")
	for which := range 2 {
		names, of := []string{}, half(list, which)
		for _, c := range of {
			names = append(names, c.name)
		}
		fmt.Printf("half %d: %d compactions (%s), %d characters of hand-over in the mean\n", which+1, len(of), strings.Join(names, ", "), meanUnits(of, ours))
	}
	fmt.Printf("%-38s  %24s  %24s  %24s\n%-38s", "", "summary", "+ hand-over", "+ crude list, 2,000", "")
	for range 3 {
		fmt.Printf("  %11s  %11s", "half 1", "half 2")
	}
	fmt.Println()
	for _, k := range []struct {
		name string
		kind func(need) bool
	}{
		{"all", nil},
		{"no library's", func(n need) bool { return !n.library }},
		{"neither a library's nor coined anew", remembered},
	} {
		fmt.Printf("%-38s", k.name)
		for _, text := range []func(c *compaction) string{
			func(*compaction) string { return "" }, ours, func(c *compaction) string { return c.crudeList(2000) },
		} {
			for which := range 2 {
				got, all := count(half(list, which), k.kind, func(c *compaction) []string { return []string{c.summary, text(c)} })
				fmt.Printf("  %11s", fmt.Sprintf("%d/%d %.3f", got, all, float64(got)/float64(max(1, all))))
			}
		}
		fmt.Println()
	}
}

// curve shows coverage by length: the last words, the crude list, our section of
// names alone, the whole hand-over.
func curve(title string, list []*compaction) {
	fmt.Printf("\n%s\n%-10s  %6s  %6s  %6s  %9s  %6s  %6s\n", title, "characters", "floor", "crude", "names", "hand-over", "half 1", "half 2")
	for n := 1000; n <= 8000; n += 1000 {
		with := func(f func(c *compaction) string) func(c *compaction) []string {
			return func(c *compaction) []string { return []string{c.summary, f(c)} }
		}
		whole := with(func(c *compaction) string { return c.handover(n).Text() })
		fmt.Printf("%-10d  %6.2f  %6.2f  %6.2f  %9.2f  %6.2f  %6.2f\n", n,
			share(list, nil, with(func(c *compaction) string { return c.floor(n) })),
			share(list, nil, with(func(c *compaction) string { return c.crudeList(n) })),
			share(list, nil, with(func(c *compaction) string { return c.handover(0).Names("", n) })),
			share(list, nil, whole), share(half(list, 0), nil, whole), share(half(list, 1), nil, whole))
	}
}

// sections shows what each section adds to the summary, and to all the others.
func sections(list []*compaction) {
	fmt.Printf("\n%-10s  %10s  %15s  %20s  %15s\n", "section", "characters", "adds to summary", "per 1,000 characters", "lost without it")
	whole := share(list, nil, func(c *compaction) []string { return []string{c.summary, c.handover(0).Text()} })
	base := share(list, nil, func(c *compaction) []string { return []string{c.summary} })
	for _, name := range []string{"header", "request", "state", "failing", "tree", "rules", "decisions", "plan", "done", "commands", "names", "recall", "directive"} {
		one := func(c *compaction) string { return c.part(name) }
		rest := func(c *compaction) []string {
			texts := []string{c.summary}
			for _, p := range c.handover(0).Parts() {
				if p.Name != name {
					texts = append(texts, p.Text)
				}
			}
			return texts
		}
		chars := meanUnits(list, one)
		if chars == 0 {
			continue
		}
		adds := share(list, nil, func(c *compaction) []string { return []string{c.summary, one(c)} }) - base
		fmt.Printf("%-10s  %10d  %15.2f  %20.2f  %15.2f\n", name, chars, adds, adds*1000/float64(chars), whole-share(list, nil, rest))
	}
}
