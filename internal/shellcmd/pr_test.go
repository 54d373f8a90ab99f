package shellcmd

import (
	"fmt"
	"sync"
	"testing"
)

// prRow is a line run by real bash with stand-ins for gh and gt.
type prRow struct {
	line string
	name string // "" when the line asks for no checkpoint
	done bool
}

func prRows() []prRow {
	on := func(name, line string) prRow { return prRow{line, name, true} }
	failed := func(name, line string) prRow { return prRow{line, name, false} }
	off := func(line string) prRow { return prRow{line: line} }
	return []prRow{
		on("gh pr create", `gh pr create --fill`),
		on("gh pr create", `gh pr new --fill`),
		on("gh pr create", `gh pr create --title x --body "y z"`),
		on("gh pr create", "gh pr create --title x --body \"$(cat <<'EOF'\n## Summary\ngh pr view\nEOF\n)\""),
		on("gh pr create", `gh pr create --title --dry-run --body --help`),
		on("gh pr create", `gh pr create -t "-w" -dB main`),
		on("gh pr create", `gh pr create --web=false --fill`),
		on("gh pr create", `gh pr -R o/r create -f`),
		on("gh pr create", `gh -R o/r pr create -f`),
		on("gh pr create", `env GH_TOKEN=x gh pr create -f`),
		on("gh pr create", `sudo -E gh pr create -f`),
		on("gh pr create", `bash -c 'cd sub && timeout 60 gh pr create -f'`),
		on("gh pr create", `git status -s && gh pr create -f; true`),
		on("gh pr create", `URL=$(gh pr create -f)`),
		on("gh pr create", `URL=$(gh pr create -f); echo "$URL"`),
		on("gh pr create", `gh pr create -f | cat`),
		on("gh pr create", `gh pr create -f && false`),
		on("gh pr create", `gh pr create -f || true`),
		on("gh pr create", `gh pr create -f; echo next`),
		on("gh pr create", `gh pr create -f >/dev/null; echo next`),
		on("gh pr merge", `gh pr merge 12 --squash --delete-branch`),
		on("gh pr merge", `gh pr merge --auto --rebase`),
		on("gh pr merge", `for n in 1 2; do gh pr merge $n --squash; done`),
		on("gh pr close", `gh pr close 3 --comment 'later --help'`),
		on("gh pr reopen", `gh pr reopen 3`),
		on("gh pr review", `gh pr review 5 --approve -b "--dry-run"`),
		on("gh pr review", `gh pr review --request-changes --body x`),
		on("gt submit", `gt submit`),
		on("gt submit", `gt submit --stack --no-interactive`),
		on("gt submit", `gt --cwd sub submit`),
		on("gt submit", `command gt submit -p`),
		on("gt ss", `gt ss`),
		on("gt create", `gt create -am "feat: x"`),
		on("gt create", `gt create -m "--dry-run"`),
		on("gt review", `gt review`),
		on("gt land", `gt land`),
		on("gt stack submit", `gt stack submit`),
		on("gt upstack submit", `gt upstack submit --draft`),
		on("gt branch create", `gt branch create x`),
		failed("gh pr create", `FAKE_FAIL=1 gh pr create -f`),
		failed("gh pr create", `FAKE_FAIL=1 gh pr create -f || true`),
		failed("gh pr create", `FAKE_EXISTS=1 gh pr create -f`),
		failed("gh pr create", `FAKE_EXISTS=1 gh pr create -f || true`),
		failed("gh pr create", `FAKE_EXISTS=1 gh pr create -f; git status -s`),
		failed("gh pr create", `URL=$(FAKE_EXISTS=1 gh pr create -f); echo next`),
		failed("gh pr merge", `FAKE_FAIL=1 gh pr merge 3; echo next`),
		failed("gt submit", `FAKE_FAIL=1 gt submit`),
		failed("gt submit", `FAKE_FAIL=1 gt submit; true`),
		failed("gh pr create", `PATH=/nowhere; gh pr create -f`),
		failed("gt ss", `PATH=/nowhere; gt ss || true`),
		failed("gh pr create", `false && gh pr create -f`),
		failed("gh pr create", `if false; then gh pr create -f; fi`),
		failed("gh pr create", `true || gh pr create -f; echo skipped`),
		failed("gt submit", `[ -f missing ] && gt submit; true`),
		off(`gh pr view`), off(`gh pr list --state merged`), off(`gh pr checks`), off(`gh pr diff 3`), off(`gh pr status`),
		off(`gh pr checkout 3`), off(`gh pr comment 3 -b 'gh pr merge'`), off(`gh pr edit 3 --title create`), off(`gh pr ready`),
		off(`gh pr`), off(`gh pr --help`), off(`gh pr create --help`), off(`gh pr create -h`), off(`gh pr create --dry-run --fill`),
		off(`gh pr create --web`), off(`gh pr create -fw`), off(`gh pr merge --disable-auto`), off(`gh issue create -t x`),
		off(`gh repo create x`), off(`gh release create v1`), off(`gh run view 3`), off(`gh search prs 'gh pr merge'`),
		off(`gh api repos/o/r/pulls`), off(`gh issue close 3`), off(`echo 'gh pr create'`), off(`git log --grep='gh pr merge'`),
		off("cat <<'EOF'\ngh pr create\ngt submit\nEOF"), off(`# gh pr create`), off(`f() { gh pr create; }`),
		off(`gt log`), off(`gt ls`), off(`gt sync`), off(`gt checkout main`), off(`gt modify -a`), off(`gt restack`), off(`gt`),
		off(`gt submit --dry-run`), off(`gt submit --help`), off(`gt --help submit`), off(`gt stack restack`), off(`gt stack`),
		off(`git push`), off(`git push -u origin main`), off(`git commit -m 'gt submit'`), off(`gt log submit`),
		off(`grep -r 'gt create' .`), off(`gtsubmit; true`), off(`./gh-pr-create; true`),
	}
}

func TestPRCheckpointAgainstRealShell(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var score [4]int
	t.Cleanup(func() {
		t.Logf("rows %d: precision %.3f, recall %.3f", len(prRows()), ratio(score[0], score[1]), ratio(score[0], score[2]))
	})
	f := newFixture(t)
	for i, row := range prRows() {
		t.Run(fmt.Sprintf("%03d", i), func(t *testing.T) {
			t.Parallel()
			out, code, err := f.run(row.line, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{row.line, quote("/bin/bash", "-lc", row.line)} {
				cmds, err := parse(line)
				if err != nil {
					t.Fatal(err)
				}
				if name, _, _ := prCommand(cmds); name != row.name {
					t.Errorf("prCommand(%q) = %q, want %q", line, name, row.name)
				}
				done := Checkpointed(Observation{Line: line, Cwd: f.repo, Output: out, Exit: &code})
				if done != row.done {
					t.Errorf("Checkpointed(%q) = %v, want %v; exit %d\n%s", line, done, row.done, code, out)
				}
				if line == row.line {
					mu.Lock()
					score[index(done, row.done)]++
					mu.Unlock()
				}
			}
		})
	}
}
