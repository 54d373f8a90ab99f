package handover

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compact"
)

// TestFailing: what was red is told until something shows that it may be repaired.
func TestFailing(t *testing.T) {
	t.Parallel()
	const broken = "a_test.go:12: totals differ\n--- FAIL: TestTotals (0.0s)\nFAIL"
	for name, c := range map[string]struct {
		tale *tale
		want []string
	}{
		"red":                          {(&tale{}).run("go test ./a", broken, 1), []string{"go test ./a"}},
		"the same passed":              {(&tale{}).run("go test ./a", broken, 1).run("go test ./a", "ok", 0), nil},
		"a wider run passed":           {(&tale{}).run("cd /p/x && go test ./a -v -run TestTotals", broken, 1).run("make test", "ok", 0), nil},
		"a part of it passed":          {(&tale{}).run("go test ./...", broken, 1).run("go test ./a -run TestTotals", "ok", 0), nil},
		"another test passed":          {(&tale{}).run("go test ./a -run TestTotals", broken, 1).run("go test ./a -run 'TestNames|TestDates'", "ok", 0), []string{"go test ./a -run TestTotals"}},
		"another package passed":       {(&tale{}).run("go test ./cart", broken, 1).run("go test ./order", "ok", 0), []string{"go test ./cart"}},
		"the unit tests passed":        {(&tale{}).run("npm run test:integration", broken, 1).run("npm test", "ok", 0), []string{"npm run test:integration"}},
		"one of two steps passed":      {(&tale{}).run("make fmt && make lint", "a.go:3:1: unused: x", 1).run("make lint", "ok", 0), nil},
		"only the formatter passed":    {(&tale{}).run("make fmt && make lint", "a.go:3:1: unused: x", 1).run("make fmt", "ok", 0), []string{"make fmt && make lint"}},
		"lint passed after the build":  {(&tale{}).run("go build ./...", "a.go:3:1: undefined: x", 1).run("golangci-lint run", "0 issues.", 0), nil},
		"red behind a pipe":            {(&tale{}).run("npm test 2>&1 | tail -5", "2 failed, 3 passed", 0), []string{"npm test"}},
		"green behind a pipe":          {(&tale{}).run("npm test 2>&1 | tail -5", "0 failed, 5 passed", 0), nil},
		"a search that found nothing":  {(&tale{}).run("go test ./... | grep FAIL", "", 1), nil},
		"a rebase stopped twice":       {(&tale{}).run("git rebase main", "CONFLICT (content): Merge conflict in a.go", 1).run("git add a.go && git rebase --continue", "CONFLICT (content): Merge conflict in b.go", 1), []string{"git rebase --continue"}},
		"a rebase is through":          {(&tale{}).run("git rebase main", "CONFLICT (content): Merge conflict in a.go", 1).run("git add a.go && git rebase --continue", "Successfully rebased", 0), nil},
		"a run that was ended":         {(&tale{}).run("go test ./...", "signal: killed", 137), nil},
		"a trial that was given up":    {(&tale{}).run("node try.js", "Error: no", 1).run("make a", "", 0).run("make b", "", 0).run("make c", "", 0).run("make d", "", 0), nil},
		"refused":                      {(&tale{}).start("Bash", map[string]any{"command": "go test ./a"}).end("The user doesn't want to proceed with this tool use. The tool use was rejected", true), nil},
		"newer says more than earlier": {(&tale{}).run("go test ./...", broken, 1).run("go test ./a", broken, 1), []string{"go test ./a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, u := range c.tale.record(t, compact.Words{}).failing() {
				got = append(got, u.core())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestComplaint: the place of the mistake, and which test it was.
func TestComplaint(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"a_test.go:12: totals differ\n--- FAIL: TestTotals (0.0s)\nFAIL":                                  "a_test.go:12: totals differ | --- FAIL: TestTotals (0.0s)",
		"list/a.go:1: : # example.com/list\nlist/b.go:6:2: declared and not used: x":                      "list/b.go:6:2: declared and not used: x",
		"a_test.go:374: both are condensed\n--- FAIL: TestB (0.1s)\n    b_test.go:9: want 3, got 2\nFAIL": "b_test.go:9: want 3, got 2 | --- FAIL: TestB (0.1s)",
		"FAIL\nFAIL\texample.com/a\t0.1s\nFAIL":                                                           "FAIL example.com/a 0.1s",
		"hint: run this\nCONFLICT (content): Merge conflict in a.go":                                      "CONFLICT (content): Merge conflict in a.go",
	} {
		if got := complaint(output); got != want {
			t.Errorf("%q: %q", output, got)
		}
	}
}

// TestSteps: a step that may be done is not told as open.
func TestSteps(t *testing.T) {
	t.Parallel()
	plan := []string{"> Read rows", "o Report errors", "o Document it", "o Run the tests", "o Commit"}
	for name, c := range map[string]struct {
		tale *tale
		open string
	}{
		"nothing since":   {(&tale{}).plan(plan...), "Read rows, Report errors, Document it, Run the tests, Commit"},
		"a file written":  {(&tale{}).plan(plan...).edit("a.go", "a", "b"), "Document it, Run the tests, Commit"},
		"written before":  {(&tale{}).edit("a.go", "a", "b").plan(plan...), "Read rows, Report errors, Document it, Run the tests, Commit"},
		"tests passed":    {(&tale{}).plan(plan...).run("make test", "ok", 0), "Read rows, Report errors, Document it, Commit"},
		"tests are red":   {(&tale{}).plan(plan...).run("make test", "1 failed", 1), "Read rows, Report errors, Document it, Run the tests, Commit"},
		"it is committed": {(&tale{}).plan(plan...).run("git commit -am x", "[main 1a2b3c4] x\n 1 file changed", 0), "Read rows, Report errors, Document it, Run the tests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.tale.record(t, compact.Words{}).Work()
			if got := strings.Join(w.Next, ", "); got != c.open {
				t.Errorf("open: %s", got)
			}
			if len(w.Next)+len(w.Unsure) != len(plan) || slices.ContainsFunc(w.Unsure, func(s string) bool { return slices.Contains(w.Next, s) }) {
				t.Errorf("open %q, unsure %q", w.Next, w.Unsure)
			}
		})
	}
}
