// Command eval measures what an agent still has after a compaction: of the
// names that it went on to use from memory, how many does a text state?
//
// For each recorded compaction (side chains left out):
//
//   - known are the names between the previous compaction and this one, in texts,
//     tool inputs (values, not keys) and tool results, not in what the host puts there;
//   - needed are those that stand in a tool input after it, up to the next one,
//     were known before, had not been stated again by a tool result, a text of the user
//     or an earlier tool input, and are not coined by the very edit that holds them;
//   - a name is the base name of a path, or an identifier of six characters or
//     more (extract.NameScan);
//   - coverage is the share of the needed names that a text states literally, as
//     a whole word. It is shown of all, and of those that no other owner's sessions hold:
//     the others are names of libraries and public APIs, which a model knows;
//   - what the host states is its summary, and on Codex the messages that it keeps
//     beside the summary, which it mostly encrypts.
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
	page := flag.String("page", "", "write the numbers into this page, between its marks")
	flag.Parse()
	if err := run(*show, *bench, *page); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

// older is what the sessions are called that earlier numbers were measured on.
const older = "entireio/cli, older"

// sets are the compactions that were recorded, and cuts of the same sessions.
func sets() (list, cuts []*compaction, err error) {
	dir, err := os.MkdirTemp("", "eval")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	add := func(s samples.Session, data []byte) error {
		cs, err := recorded(dir, s, data)
		if err != nil {
			return err
		}
		list = append(list, cs...)
		cs, err = cut(dir, s, data)
		cuts = append(cuts, cs...)
		os.Remove(filepath.Join(dir, samples.Name(s.Path)+".jsonl"))
		return err
	}
	sessions := samples.Corpus()
	for _, path := range samples.Find("compactions/*.jsonl*", "real/claude_03*.jsonl*") {
		sessions = append(sessions, samples.Session{Path: path, Project: older, Host: "claude"})
	}
	if len(sessions) == 0 {
		fmt.Printf("No recorded sessions in %s: this is a generated corpus. It shows that the measure works, not how good a hand-over is.\n\n", samples.Folder())
		for name, data := range corpus() {
			if err := add(samples.Session{Path: name, Project: "made-up", Host: "claude"}, data); err != nil {
				return nil, nil, err
			}
		}
		return list, cuts, nil
	}
	for _, s := range sessions {
		if !strings.Contains(filepath.Base(s.Path), ".jsonl") {
			continue // no lines, and no compactions
		}
		data, err := samples.Read(s.Path)
		if err != nil {
			return nil, nil, err
		}
		// Fixtures of viewers, which are no sessions, are among them.
		if err := add(s, data); err != nil {
			fmt.Fprintf(os.Stderr, "eval: left out %s: %v\n", filepath.Base(s.Path), err)
		}
	}
	return list, cuts, claim(append(list, cuts...), sessions)
}

func run(show string, bench bool, page string) error {
	list, cuts, err := sets()
	switch {
	case err != nil:
		return err
	case bench:
		sums(list)
		return nil
	case page != "":
		return write(page, list, cuts)
	case show != "":
		for _, c := range append(list, cuts...) {
			if strings.HasPrefix(c.name, show) {
				fmt.Print(c.show())
			}
		}
		return nil
	}
	fmt.Print(report(list, cuts))
	curve("Summary and names by length", list)
	sections(list)
	curve("Without a summary: names alone by length", cuts)
	recent := of(list, "claude", older)
	if len(recent) == 0 {
		recent = list
	}
	if err := shrinking(recent); err != nil {
		return err
	}
	return continuing(recent)
}

// show is the hand-over of one compaction with what it misses.
func (c *compaction) show() string {
	var b strings.Builder
	fmt.Fprintf(&b, "=== %s\n%s\n", c.name, c.text)
	for _, n := range c.needed {
		if got, _ := c.covered(func(o need) bool { return o == n }, c.kept, c.text); got == 0 {
			fmt.Fprintf(&b, "missed: %s\n", n.text)
		}
	}
	return b.String()
}
