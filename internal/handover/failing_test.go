package handover

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// TestFailing: what has failed by its own status is told as it was typed, until something
// of the same purpose has passed. What a program prints decides nothing.
func TestFailing(t *testing.T) {
	t.Parallel()
	const broken = "a_test.go:12: totals differ\n--- FAIL: TestTotals (0.0s)\nFAIL"
	for name, c := range map[string]struct {
		tale *tale
		want []string
	}{
		"red":                          {(&tale{}).run("go test ./a", broken, 1), []string{"go test ./a"}},
		"the same passed":              {(&tale{}).run("go test ./a", broken, 1).run("go test ./a", "ok", 0), nil},
		"the same, behind a pipe":      {(&tale{}).run("go test ./a", broken, 1).run("cd /p && go test ./a 2>&1 | tail -3", "ok", 0), nil},
		"red again":                    {(&tale{}).run("go test ./a", "ok", 0).run("go test ./a", broken, 1), []string{"go test ./a"}},
		"a wider run passed":           {(&tale{}).run("cd /p/x && go test ./a -v -run TestTotals", broken, 1).run("make test", "ok", 0), nil},
		"a part of it passed":          {(&tale{}).run("go test ./...", broken, 1).run("go test ./a -run TestTotals", "ok", 0), nil},
		"another test passed":          {(&tale{}).run("go test ./a -run TestTotals", broken, 1).run("go test ./a -run 'TestNames|TestDates'", "ok", 0), []string{"go test ./a -run TestTotals"}},
		"another package passed":       {(&tale{}).run("go test ./cart", broken, 1).run("go test ./order", "ok", 0), []string{"go test ./cart"}},
		"the unit tests passed":        {(&tale{}).run("npm run test:integration", broken, 1).run("npm test", "ok", 0), []string{"npm run test:integration"}},
		"one of two steps passed":      {(&tale{}).run("make fmt && make lint", "a.go:3:1: unused: x", 1).run("make lint", "ok", 0), nil},
		"only the formatter passed":    {(&tale{}).run("make fmt && make lint", "a.go:3:1: unused: x", 1).run("make fmt", "ok", 0), []string{"make fmt && make lint"}},
		"lint passed after the build":  {(&tale{}).run("go build ./...", "a.go:3:1: undefined: x", 1).run("golangci-lint run", "0 issues.", 0), nil},
		"a pipe has hidden the status": {(&tale{}).run("npm test 2>&1 | tail -5", "2 failed, 3 passed\nFAIL", 0), nil},
		"words of a failure, status 0": {(&tale{}).run("go test ./a; true", broken, 0).run("make lint || true", "Error: 12 issues", 0), nil},
		"words of success, status 1":   {(&tale{}).run("go test ./a", "ok\nPASS", 1), []string{"go test ./a"}},
		"a filter's own status":        {(&tale{}).run("go test ./... | grep FAIL", "", 1), []string{"go test ./... | grep FAIL"}},
		"a rebase stopped twice":       {(&tale{}).run("git rebase main", "CONFLICT (content): Merge conflict in a.go", 1).run("git add a.go && git rebase --continue", "CONFLICT (content): Merge conflict in b.go", 1), []string{"git add a.go && git rebase --continue"}},
		"a rebase is through":          {(&tale{}).run("git rebase main", "CONFLICT (content): Merge conflict in a.go", 1).run("git add a.go && git rebase --continue", "Successfully rebased", 0), nil},
		"a run that was ended":         {(&tale{}).run("go test ./...", "signal: killed", 137).run("make a", "", 124).run("make b", "", 130).run("make c", "", 143), nil},
		"a trial that was given up":    {(&tale{}).run("node try.js", "Error: no", 1).run("make a", "", 0).run("make b", "", 0).run("make c", "", 0).run("make d", "", 0), nil},
		"refused":                      {(&tale{}).start("Bash", map[string]any{"command": "go test ./a"}).end("The user doesn't want to proceed with this tool use. The tool use was rejected", true), nil},
		"newer says more than earlier": {(&tale{}).run("go test ./...", broken, 1).run("go test ./a", broken, 1), []string{"go test ./a"}},
		"it only looked around":        {(&tale{}).run("ls nowhere", "no such file", 2).run("grep -r x .", "", 1), nil},
		"a program in a text":          {(&tale{}).run("python3 - <<'E'\nprint('make test')\nE", "Traceback", 1), nil},
		"quoted as it was typed":       {(&tale{}).run("cd /p;  make gen ; go test ./a 2>&1 | tail -3", broken, 1), []string{"cd /p; make gen ; go test ./a 2>&1 | tail -3"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, u := range c.tale.record(t, compact.Words{}).failing() {
				got = append(got, u.line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A hand-over tells a failed command in its own section, with the line that says why.
func TestFailingIsTold(t *testing.T) {
	t.Parallel()
	text := (&tale{}).user("Fix it.").run("make gen; go vet ./...", "a.go:3:6: undefined: RowError", 1).handover(t, "").Text()
	if !strings.Contains(text, "## "+message.HandoverFailing.EN+"\n- "+message.HandoverBroken.Format(message.EN, "`make gen; go vet ./...`", "“a.go:3:6: undefined: RowError”")+"\n") {
		t.Error(text)
	}
}

// TestComplaint: the place of the first mistake, else the last line.
func TestComplaint(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"a_test.go:12: totals differ\n--- FAIL: TestTotals (0.0s)\nFAIL":             "a_test.go:12: totals differ",
		"list/a.go:1: : # example.com/list\nlist/b.go:6:2: declared and not used: x": "list/b.go:6:2: declared and not used: x",
		"a.go:3:1: one thing\nb.go:4:1: another":                                     "a.go:3:1: one thing",
		"12:01:07 the login failed\nbye":                                             "bye",
		"FAIL\nFAIL\texample.com/a\t0.1s\n\n":                                        "FAIL\texample.com/a\t0.1s",
		"hint: run this\nCONFLICT (content): Merge conflict in a.go":                 "CONFLICT (content): Merge conflict in a.go",
		"": "",
	} {
		if got := complaint(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}

// TestSteps: a step is done when the plan tool says so, whatever was done since; how many
// files were edited since is told.
func TestSteps(t *testing.T) {
	t.Parallel()
	plan := []string{"> Read rows", "o Report errors", "o Run the tests", "o Commit"}
	for name, c := range map[string]struct {
		tale  *tale
		open  string
		edits int
	}{
		"nothing since":   {(&tale{}).plan(plan...), "Read rows, Report errors, Run the tests, Commit", 0},
		"files written":   {(&tale{}).plan(plan...).edit("a.go", "a", "b").edit("a.go", "b", "c"), "Read rows, Report errors, Run the tests, Commit", 2},
		"written before":  {(&tale{}).edit("a.go", "a", "b").plan(plan...), "Read rows, Report errors, Run the tests, Commit", 0},
		"tests passed":    {(&tale{}).plan(plan...).run("make test", "ok", 0), "Read rows, Report errors, Run the tests, Commit", 0},
		"it is committed": {(&tale{}).plan(plan...).run("git commit -am x", "[main 1a2b3c4] x\n 1 file changed", 0), "Read rows, Report errors, Run the tests, Commit", 0},
		"ticked off":      {(&tale{}).plan(plan...).edit("a.go", "a", "b").plan("x Read rows", "> Report errors", "o Run the tests", "o Commit"), "Report errors, Run the tests, Commit", 0},
		"all of them":     {(&tale{}).plan(plan...).plan("x Read rows", "x Report errors", "x Run the tests", "x Commit"), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := c.tale.handover(t, "")
			if got := strings.Join(h.Work.Next, ", "); got != c.open {
				t.Errorf("open: %s", got)
			}
			title := message.HandoverNext.EN
			if c.edits > 0 {
				title = message.HandoverNextOld.Format(message.EN, c.edits)
			}
			if got := strings.Contains(h.Text(), "\n## "+title+"\n- “"); got != (c.open != "") {
				t.Errorf("%q: %v in\n%s", title, got, h.Text())
			}
		})
	}
}
