// Command eval measures what an agent still has after a compaction: of the
// names that it went on to use from memory, how many does a text state?
//
// For each recorded compaction with a summary (side chains left out):
//
//   - known are the names between the previous compaction and this one, in texts,
//     tool inputs (values, not keys) and tool results;
//   - needed are those that stand in a tool input after it, up to the next one,
//     were known before, and had not been stated again by a tool result, a text
//     of the user or an earlier tool input;
//   - a name is the base name of a path, or an identifier of six characters or
//     more (extract.NameScan);
//   - coverage is the share of the needed names that a text states literally, as
//     a whole word. It is shown of all, and without the names that nobody has to
//     remember: those of libraries (libraries.txt), and those that the edit which uses
//     them defines itself.
//
// It reads the sessions of package samples; without them it makes some up, and says so:
// those numbers show that the measure works, not how good the product is.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/eval/samples"
)

func main() {
	show := flag.String("show", "", "print the hand-overs of the sessions whose names begin with this, and what they miss")
	bench := flag.Bool("bench", false, "print the sums as benchmarks, for the page of numbers")
	flag.Parse()
	if err := run(*show, *bench); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(show string, bench bool) error {
	files := samples.Find("compactions/*.jsonl*", "real/*.jsonl*")
	var list, cuts []*compaction
	add := func(name string, data []byte) error {
		cs, err := recorded(name, data)
		if err != nil {
			return err
		}
		list = append(list, cs...)
		cs, err = cut(name, data)
		cuts = append(cuts, cs...)
		return err
	}
	if len(files) == 0 {
		fmt.Printf("No recorded sessions in %s: this is a generated corpus. It shows that the measure works, not how good a hand-over is.\n\n", samples.Folder())
		for name, data := range corpus() {
			if err := add(name, data); err != nil {
				return err
			}
		}
	}
	for _, f := range files {
		data, err := samples.Read(f)
		if err != nil {
			return err
		}
		// Two lines that are no session at all are among the samples.
		if err := add(samples.Name(f), data); err != nil {
			fmt.Fprintf(os.Stderr, "eval: left out %s: %v\n", filepath.Base(f), err)
		}
	}
	if bench {
		sums(list, len(files) > 0)
		return nil
	}
	if show != "" {
		for _, c := range append(list, cuts...) {
			if strings.HasPrefix(c.name, show) {
				fmt.Print(c.show())
			}
		}
		return nil
	}
	report(list, cuts)
	if err := shrinking(list); err != nil {
		return err
	}
	return continuing(list)
}

// show is the hand-over of one compaction with what it misses.
func (c *compaction) show() string {
	text := c.handover(0).Text()
	var b strings.Builder
	fmt.Fprintf(&b, "=== %s\n%s\n", c.name, text)
	for _, n := range c.needed {
		if got, _ := c.covered(func(o need) bool { return o == n }, c.summary, text); got == 0 {
			fmt.Fprintf(&b, "missed: %s\n", n.text)
		}
	}
	return b.String()
}
