package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// share is the coverage of texts, summed over many compactions.
func share(list []*compaction, kind func(need) bool, texts func(c *compaction) []string) float64 {
	got, all := 0, 0
	for _, c := range list {
		n, of := c.covered(kind, texts(c)...)
		got, all = got+n, all+of
	}
	return float64(got) / float64(max(1, all))
}

// mean is the coverage of texts, the mean of the compactions that needed something.
func mean(list []*compaction, kind func(need) bool, texts func(c *compaction) []string) float64 {
	sum, n := 0.0, 0
	for _, c := range list {
		if got, all := c.covered(kind, texts(c)...); all > 0 {
			sum, n = sum+float64(got)/float64(all), n+1
		}
	}
	return sum / float64(max(1, n))
}

func meanUnits(list []*compaction, text func(c *compaction) string) int {
	n := 0
	for _, c := range list {
		n += message.Units(text(c))
	}
	return n / max(1, len(list))
}

// of are the compactions of a host's sessions, in one project or, for "", in all but the older.
func of(list []*compaction, host, project string) (out []*compaction) {
	for _, c := range list {
		if c.of.Host == host && (c.of.Project == project || project == "" && c.of.Project != older) {
			out = append(out, c)
		}
	}
	return out
}

func host(c *compaction) []string { return []string{c.kept} }
func ours(c *compaction) []string { return []string{c.text} }
func both(c *compaction) []string { return []string{c.kept, c.text} }
func text(c *compaction) string   { return c.text }
func own(n need) bool             { return n.own }

// wanted is how many names a list needed.
func wanted(list []*compaction, kind func(need) bool) (n int) {
	for _, c := range list {
		_, all := c.covered(kind)
		n += all
	}
	return n
}

// enough names make a project's share worth comparing.
const enough = 20

// report is what is stated, by host and project, as tables of Markdown.
func report(list, cuts []*compaction) string {
	var b strings.Builder
	for _, host := range []struct{ name, title string }{{"claude", "Claude Code"}, {"codex", "Codex"}} {
		b.WriteString(table(host.title, host.name, list))
	}
	b.WriteString("### Cut where nothing was compacted\n\nNo summary, the hand-over alone.\n\n| project | cuts | needed | stated |\n|---|---|---|---|\n")
	for _, p := range append(projects(cuts), "") {
		in := slices.Concat(of(cuts, "claude", p), of(cuts, "codex", p))
		if len(in) == 0 {
			continue
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f |\n", named(p), len(in), wanted(in, nil), share(in, nil, ours))
	}
	return b.String() + "\n"
}

func named(project string) string {
	if project == "" {
		return "**all but the older**"
	}
	return project
}

func projects(list []*compaction) (out []string) {
	for _, c := range list {
		if !slices.Contains(out, c.of.Project) {
			out = append(out, c.of.Project)
		}
	}
	slices.Sort(out)
	return out
}

// table is one host's.
func table(title, name string, list []*compaction) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| project | compactions | needed | the host | hand-over | both | both, mean | needed, own | host | both | characters |\n|---|---|---|---|---|---|---|---|---|---|---|\n", title)
	low, high := 1.0, 0.0
	for _, p := range append(projects(list), "") {
		in := of(list, name, p)
		if len(in) == 0 {
			continue
		}
		all := share(in, nil, both)
		if n := wanted(in, nil); p != "" && p != older && n >= enough {
			low, high = min(low, all), max(high, all)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %.3f | %.3f | %.3f | %d | %.3f | %.3f | %s |\n", named(p), len(in), wanted(in, nil), share(in, nil, host), share(in, nil, ours), all,
			mean(in, nil, both), wanted(in, own), share(in, own, host), share(in, own, both), message.Thousands(meanUnits(in, text)))
	}
	if low <= high {
		fmt.Fprintf(&b, "\nBoth together, over the projects with %d needed names or more: from %.3f to %.3f.\n", enough, low, high)
	}
	return b.String() + "\n"
}

// sums prints what counts as lines of a benchmark.
func sums(list []*compaction) {
	fmt.Println("== internal/eval/survive")
	for _, set := range []struct{ name, host, project string }{{"Claude", "claude", ""}, {"Codex", "codex", ""}, {"Older", "claude", older}} {
		in := of(list, set.host, set.project)
		if len(in) > 0 {
			fmt.Printf("BenchmarkSurvive/%s 1 %d compactions %.3f host-stated %.3f both-stated %d characters\n", set.name, len(in),
				share(in, nil, host), share(in, nil, both), meanUnits(in, text))
		}
	}
}

// The marks between which a page's numbers stand.
const (
	begins = "<!-- numbers: make compactions -->\n"
	ends   = "<!-- end of numbers -->\n"
)

// filled is a page with the numbers of today.
func filled(page string, list, cuts []*compaction) (string, error) {
	head, rest, ok := strings.Cut(page, begins)
	_, foot, ended := strings.Cut(rest, ends)
	if !ok || !ended {
		return "", fmt.Errorf("no lines %q and %q", begins, ends)
	}
	return head + begins + "\n" + report(list, cuts) + sources(list) + ends + foot, nil
}

func write(page string, list, cuts []*compaction) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	text, err := filled(string(data), list, cuts)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// sources lists where the sessions stand.
func sources(list []*compaction) string {
	var b strings.Builder
	b.WriteString("### The sessions\n\n| repository | commit | path | object | licence | host | compactions |\n|---|---|---|---|---|---|---|\n")
	var seen []samples.Session
	n := map[samples.Session]int{}
	for _, c := range list {
		if n[c.of]++; n[c.of] == 1 {
			seen = append(seen, c.of)
		}
	}
	for _, s := range seen {
		if s.Source != "" {
			fmt.Fprintf(&b, "| %s | `%.12s` | `%s` | `%.12s` | %s | %s %s | %d |\n", s.Project, s.Commit, s.Source, s.Blob, s.Licence, s.Host, s.Version, n[s])
		}
	}
	return b.String() + "\n"
}

// curve shows coverage by length: the last words, and the names.
func curve(title string, list []*compaction) {
	fmt.Printf("\n%s\n%-10s  %6s  %6s\n", title, "characters", "floor", "names")
	for n := 1000; n <= 4000; n += 500 {
		with := func(f func(c *compaction) string) func(c *compaction) []string {
			return func(c *compaction) []string { return []string{c.kept, f(c)} }
		}
		fmt.Printf("%-10d  %6.3f  %6.3f\n", n, share(list, nil, with(func(c *compaction) string { return c.floor(n) })),
			share(list, nil, with(func(c *compaction) string { return c.hand.Names("", n) })))
	}
}

// sections shows what each section adds to the summary, and to all the others.
func sections(list []*compaction) {
	fmt.Printf("\n%-10s  %10s  %15s  %20s  %15s\n", "section", "characters", "adds to summary", "per 1,000 characters", "lost without it")
	whole, base := share(list, nil, both), share(list, nil, host)
	for _, name := range []string{"header", "words", "state", "failing", "tree", "plan", "done", "commands", "names", "recall", "directive"} {
		one := func(c *compaction) string { return c.part(name) }
		rest := func(c *compaction) []string {
			texts := []string{c.kept}
			for _, p := range c.hand.Parts() {
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
		adds := share(list, nil, func(c *compaction) []string { return []string{c.kept, one(c)} }) - base
		fmt.Printf("%-10s  %10d  %15.2f  %20.2f  %15.2f\n", name, chars, adds, adds*1000/float64(chars), whole-share(list, nil, rest))
	}
}
