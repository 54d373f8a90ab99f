package shellcmd

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// commitRow is a line that real bash runs in a real repository.
type commitRow struct {
	line  string
	setup string
	want  bool
	// other marks a line that makes commits by other means than git commit.
	other bool
	// blind is set where output and exit status alone cannot tell; the
	// verdict is then the opposite of want unless the repository is read.
	blind bool
}

func yes(line string) commitRow           { return commitRow{line: line, want: true} }
func no(line string) commitRow            { return commitRow{line: line} }
func (r commitRow) in(s string) commitRow { r.setup = s; return r }
func (r commitRow) unseen() commitRow     { r.blind = true; return r }
func (r commitRow) byOther() commitRow    { r.other = true; return r }

const clean = `git reset -q --hard && git -C sub reset -q --hard`

func commitRows() []commitRow {
	return []commitRow{
		// plain forms and options
		yes(`git commit -m one`),
		yes(`git commit -am 'all of it'`),
		yes(`git commit -m one -m two`),
		yes(`git commit --message="with = sign"`),
		yes(`git commit --amend --no-edit`),
		yes(`git commit --amend -m changed`),
		yes(`git commit --allow-empty -m empty`).in(clean),
		yes(`git commit -q -m quiet`),
		yes(`git commit -qam quiet`),
		yes(`git commit --quiet --message quiet`),
		yes(`git commit -F notes.log`),
		yes(`git commit -C HEAD`),
		yes(`git commit --fixup HEAD`),
		yes(`git commit --squash=HEAD -m s`),
		yes(`GIT_EDITOR=true git commit --amend`),
		yes(`git commit -s --no-verify -m signed`),
		yes(`git commit --author 'A <a@example.test>' --date 2020-01-01T00:00:00Z -m dated`),
		yes(`git commit --trailer 'Reviewed-by: x' -m t`),
		yes(`git commit -m only -- f`),
		yes(`git commit -i f -m include`),
		yes(`git commit f g -m paths`),
		yes(`git commit -v -m verbose`),
		yes(`git commit -uno -m u`),
		yes(`git commit -m --dry-run`),
		yes(`git commit -m 'git commit --dry-run'`),
		yes(`git commit -m "nothing to commit, working tree clean"`),
		yes(`git commit -m "[main abcdef0] fake"`),
		yes(`git commit -m '修正：提交訊息'`),
		yes(`git commit -m "it's" # git log`),
		yes("git add -A\ngit commit -m multi\ngit status --short"),
		yes("git \\\n  commit \\\n  -m continued"),
		yes(`git commit -m $'first\n\nsecond'`),
		yes(`git commit -m x </dev/null`),
		yes(`GIT_COMMITTER_DATE=2001-01-01T00:00:00Z git commit -m old`),
		yes(`GIT_COMMITTER_DATE=2001-01-01T00:00:00Z git commit -qm old`),
		// global options, repositories elsewhere
		yes(`git -c user.name=z -c user.email=z@example.test commit -m c`),
		yes(`git -c commit.gpgsign=false --no-pager -p commit -m c`),
		yes(`git -C . commit -m here`),
		yes(`git -C sub commit -am sub`),
		yes(`git -C sub commit -qam sub`),
		yes(`git -C s''ub -c core.abbrev=12 commit -am sub`),
		yes(`git --git-dir=.git --work-tree=. commit -m gd`),
		yes(`git --git-dir .git commit -qm gd`),
		yes(`git --git-dir=sub/.git --work-tree=sub commit -qam gd`),
		yes(`GIT_DIR=sub/.git GIT_WORK_TREE=sub git commit -qam gd`),
		yes(`cd sub && git commit -am x`),
		yes(`cd sub && git commit -qam x`),
		yes(`(cd sub && git commit -qam x)`),
		yes(`cd sub; git commit -qam x; cd ..`).unseen(),
		yes(`cd ./sub/ || exit 1; git commit -qam x`),
		yes(`pushd sub >/dev/null && git commit -qam x && popd >/dev/null`),
		yes(`cd / && git -C "$OLDPWD" commit -qam elsewhere`),
		yes(`D=sub; cd "$D" && git commit -qam x`),
		yes(`cd "$PWD/sub" && git commit -qam x`),
		yes(`cd ~/repo/sub && git commit -qam x`),
		yes(`cd "$HOME/repo" && git commit -qm x`),
		yes(`cd "$(git rev-parse --show-toplevel)" && git commit -m x`),
		yes(`cd "$(pwd)" && git commit -qm x`),
		yes(`cd ../wt && echo w > f && git commit -qam w`).in(`git worktree add -q ../wt topic`),
		yes(`git -C ../wt commit --allow-empty -m w`).in(`git worktree add -q ../wt topic`),
		yes(`git -C ../fresh commit -q --allow-empty -m root`).in(`git init -q ../fresh && git -C ../fresh config user.name n && git -C ../fresh config user.email e`),
		yes(`git -C ../fresh commit --allow-empty -m root`).in(`git init -q ../fresh && git -C ../fresh config user.name n && git -C ../fresh config user.email e`),
		// states of the repository
		yes(`git commit -m detached`).in(`git checkout -q --detach`),
		yes(`git commit -qm detached`).in(`git checkout -q --detach`),
		yes(`git commit -qm packed`).in(`git pack-refs --all`),
		yes(`git commit -qm nolog`).in(`git config core.logAllRefUpdates false && rm -rf .git/logs`),
		yes(`git commit -m orphan`).in(`git checkout -q --orphan fresh`),
		yes(`git commit --no-edit`).in(clean + ` && git merge -q --no-ff --no-commit topic`),
		yes(`git commit --no-verify -m skip`).in(`mkdir -p .git/hooks; printf '#!/bin/sh\nexit 1\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`),
		yes(`git commit -m x && git reset -q --hard HEAD~1`),
		yes(`git commit -qm x && git checkout -q -b other`),
		yes(`git commit -qm x && git merge -q --no-edit topic`).in(`git commit -qam pre; printf z > z; git add z`),
		// wrappers
		yes(`env git commit -m x`),
		yes(`env A=1 B='2 3' git commit -m x`),
		yes(`env -i PATH="$PATH" HOME="$HOME" git commit -m x`),
		yes(`env -u FOO --unset=BAR git commit -m x`),
		yes(`env -C sub git commit -qam x`),
		yes(`env --chdir=sub git commit -qam x`),
		yes(`env -S 'git commit -qm split'`),
		yes(`sudo git commit -m x`),
		yes(`sudo -E -u root GIT_X=1 git commit -qm x`),
		yes(`doas -u root git commit -qm x`),
		yes(`command git commit -qm x`),
		yes(`\git commit -qm x`),
		yes(`"git" 'commit' -q"m" x`),
		yes(`"$(command -v git)" commit -m x`),
		yes(`exec git commit -qm x`),
		yes(`nohup git commit -m x`),
		yes(`nice git commit -qm x`),
		yes(`nice -n 5 git commit -qm x`),
		yes(`time git commit -m x`),
		yes(`timeout 30 git commit -qm x`),
		yes(`timeout -k 5 --signal=INT 30s git commit -qm x`),
		yes(`stdbuf -oL -e 0 git commit -m x`),
		yes(`setsid -w git commit -qm x`),
		yes(`A=1 B=2 git commit -qm x`),
		yes(`bash -c 'git commit -m x'`),
		yes(`bash -lc 'git commit -qm x'`),
		yes(`/bin/bash -lc "git add -A && git commit -qm 'quoted \"msg\"'"`),
		yes(`sh -c "git commit -qm x"`),
		yes(`bash -o pipefail -ec 'git commit -qm x'`),
		yes(`bash -c "bash -c 'git commit -qm deep'"`),
		yes(`bash -c 'git commit -qm "$1"' _ message`),
		yes(`sudo env X=1 timeout 20 bash -c 'nice git commit -qm all'`),
		yes(`eval 'git commit -qm x'`),
		yes(`eval git commit -qm x`),
		yes(`M="a message"; eval "git commit -qm \"$M\""`),
		yes(`echo f | xargs git commit -qm x`),
		yes(`echo msg | xargs -I{} git commit -qm {}`),
		yes(`find . -maxdepth 0 -exec git commit -qm x \;`).unseen(),
		yes(`trap 'git commit -qm x' EXIT; true`).unseen(),
		// lists, pipes, compound commands
		yes(`git add -A && git commit -m x`),
		yes(`git add f; git commit -m x; git status -s`),
		yes(`git commit -m x && git push`),
		yes(`git commit -m x; git push`),
		yes(`git commit -qm x && git push`).unseen(),
		yes(`git commit -m x && false`),
		yes(`git commit -m x; exit 3`),
		yes(`git commit -m x || true`),
		yes(`git commit -qm x || exit 1`),
		yes(`set -e; git commit -qm x; git status -s`),
		yes(`true && git commit -qm x`),
		yes(`false || git commit -m x`),
		yes(`[ -f f ] && git commit -qm x`),
		yes(`[[ -f f && -d sub ]] && git commit -qm x`),
		yes(`git commit -m x | cat`),
		yes(`git commit -m x 2>&1 | tail -n 3`),
		yes(`git commit -m x | wc -l`).unseen(),
		yes(`git commit -m x > out.txt 2>&1`),
		yes(`>/dev/null git commit -m x`),
		yes(`git commit -m x &>/dev/null`),
		yes(`out=$(git commit -m x)`),
		yes(`out=$(git commit -m x); echo "$out"`),
		yes(`out="$(git commit -m x 2>&1)"; echo done`).unseen(),
		yes("echo `git commit -qm x`").unseen(),
		yes(`(git commit -qm x)`),
		yes(`{ git commit -qm x; }`),
		yes(`! git commit -m x`),
		yes(`git commit -m x & wait`),
		yes(`if ! git diff --quiet; then git commit -am x; fi`),
		yes(`if git commit -m x; then echo ok; else echo bad; fi`),
		yes(`for i in 1 2; do echo $i >> f; git commit -am "c$i"; done`),
		yes(`for d in sub; do (cd "$d" && git commit -qam x); done`).unseen(),
		yes(`while read -r m; do git commit -m "$m"; done <<< 'from read'`),
		yes(`case a in a) git commit -m c;; *) git status;; esac`),
		yes(`ci() { git commit "$@"; }; ci -m x`),
		yes(`ci() { git commit "$@"; }; ci -qm x`),
		yes(`G=git; $G commit -qm x`),
		yes(`C="git commit -q"; $C -m x`),
		yes(`${GIT:-git} commit -qm x`),
		yes(`g=commit; git "$g" -qm x`),
		// here-documents
		yes("git commit -F - <<'EOF'\nfeat: x\n\nnothing to commit\nEOF"),
		yes("git commit -m \"$(cat <<'EOF'\nfeat: x\n\nbody with 'quotes' and $(echo no)\nEOF\n)\""),
		yes("git add -A && git commit -q -m \"$(cat <<'EOF'\nfix: y\nEOF\n)\" && git log --oneline -1"),
		yes("cat <<'EOF' | git commit -F -\nx\nEOF"),
		yes("cat <<EOF\n$(git commit -m x)\nEOF"),
		// aliases and scripts
		yes(`git ci -m x`),
		yes(`git ci -qm x`),
		yes(`git CI -m x`),
		yes(`git cia -qm x`),
		yes(`git cm message`),
		yes(`git bang -qm x`),
		yes(`git save everything`),
		yes(`./release.sh`),
		yes(`bash release.sh`),
		yes(`. ./release.sh`),
		yes(`./quiet.sh`).unseen(),
		yes(`sh quiet.sh && echo ok`).unseen(),
		yes(`perl -e 'system("git commit -m viaperl")'`),
		yes(`awk 'BEGIN { system("git commit -m viaawk") }'`),
		yes("printf 'echo 6 > f\\ngit commit -am viascript\\n' > s.sh; bash s.sh"),

		// look-alikes: the words without the act
		no(`echo 'git commit -m x'`),
		no(`echo git commit -m x`),
		no(`printf '%s\n' 'git commit'`),
		no(`: git commit -m x`),
		no(`true git commit -m x`),
		no(`# git commit -m x`),
		no(`test "git commit" = x`),
		no(`git log --oneline --grep='git commit'`),
		no(`git log -1 --format=%s | grep commit`),
		no(`git log --format='[main %h] %s'`),
		no(`git log --format='[main %h] %s'; git commit -m x`).in(clean).unseen(),
		no(`grep -rn 'git commit' .`),
		no(`git grep 'git commit'`),
		no(`sed -n 's/git commit/X/p' notes.log`),
		no(`awk '/git commit/' notes.log`),
		no(`cat notes.log`),
		no(`tail -n 2 notes.log; git status -s`),
		no(`echo '[main 1234567] fake'`),
		no(`echo '[main 1234567] fake'; git commit -m x`).in(clean),
		no(`./show.sh`).unseen(),
		no(`./show.sh; git commit -m x || true`).in(clean).unseen(),
		no(`./noop.sh git commit -m x`),
		no(`type git; command -v git`),
		no(`alias gc='git commit'`),
		no(`f() { git commit -m x; }`),
		no(`trap - EXIT; echo git commit`),
		no("cat <<'EOF'\ngit commit -m x\nEOF"),
		no("cat > s.sh <<'EOF'\ngit commit -m x\nEOF"),
		no(`tee s.sh <<< 'git commit -m x' > /dev/null`),
		no(`bash -n -c 'git commit -m x'`),
		no(`bash -c 'echo git commit -m x'`),
		no(`bash -c "echo 'git commit'"`),
		no(`echo "git commit" | cat`),
		no(`echo x | xargs echo git commit -m`),
		no(`find . -maxdepth 0 -exec echo git commit \;`),
		no(`"git commit" -m x`),
		no(`git "commit -m x"`),
		no(`X='git commit -m x'; echo "$X"`),
		no(`git say`),
		no(`python3 -c 'print("[main 1234567] x")'`),
		// git commit that does not commit
		no(`git commit --dry-run -am x`),
		no(`git commit --dry-run -am x || true`),
		no(`git commit --dry -m x`),
		no(`git commit --short`),
		no(`git commit --porcelain -a`),
		no(`git commit -z`),
		no(`git commit --long`),
		no(`git commit -h`),
		no(`git commit --help >/dev/null 2>&1`),
		no(`git help commit >/dev/null 2>&1`),
		no(`git commit --amend --dry-run`),
		no(`git dry -a`),
		no(`git ci --dry-run`),
		no(`git -c alias.ci2='commit --dry-run' ci2`),
		no(`git commit -m nothing`).in(clean),
		no(`git commit -m nothing; true`).in(clean),
		no(`git commit -m nothing || true`).in(clean),
		no(`git commit -qm nothing; true`).in(clean),
		no(`git commit -qm nothing`).in(clean),
		no(`git commit -m nothing >/dev/null 2>&1 || echo skipped`).in(clean),
		no(`git commit -m nothing; echo $?`).in(clean),
		no(`git commit -m untracked`).in(clean + ` && touch new`),
		no(`git add -A && git commit -m x | tail -1`).in(clean),
		no(`out=$(git commit -m x); echo "$out"`).in(clean),
		no(`git cm nothing`).in(clean),
		no(`git bang -m nothing; true`).in(clean),
		no(`./release.sh`).in(clean),
		no(`./quiet.sh; true`).in(clean),
		no(`git commit -m ''`),
		no(`git commit`),
		no(`git commit --no-such-option -m x`),
		no(`git commit -m x -- missing-file`),
		no(`git commit -m x`).in(`mkdir -p .git/hooks; printf '#!/bin/sh\necho "[main 1234567] lint"; exit 1\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`).unseen(),
		no(`git commit -qm x || true`).in(`mkdir -p .git/hooks; printf '#!/bin/sh\nexit 1\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`),
		no(`git commit -m x`).in(`touch .git/index.lock`),
		no(`git commit -m x; true`).in(`touch .git/index.lock`),
		no(`cd / && git commit -m x`),
		no(`git -C /nonexistent commit -m x; true`),
		no(`git -C sub ci -am x`),
		no(`cd missing && git commit -m x; true`),
		no(`false && git commit -m x; true`),
		no(`true || git commit -m x`),
		no(`if false; then git commit -m x; fi`),
		no(`for i in; do git commit -m x; done`),
		no(`case a in b) git commit -m x;; esac`),
		no(`git comit -m x`),
		no(`git no-such-command commit`),
		no(`git 'commit' --dry-run -m "real"`),
		no(`jj commit -m x; true`),
		no(`(exit 1) && git commit -qm x || true`),
		// other ways of git to make or move commits
		no(`git merge --no-edit topic`).in(clean),
		no(`git merge --no-ff -m 'git commit' topic`).in(clean).byOther(),
		no(`git cherry-pick topic`).in(clean).byOther(),
		no(`git revert --no-edit HEAD`).in(clean).byOther(),
		no(`git rebase topic`).in(clean + ` && git commit -q --allow-empty -m own`).byOther(),
		no(`git pull . topic`).in(clean),
		no(`git reset -q --hard HEAD~1`),
		no(`git checkout -q topic`).in(clean),
		no(`git stash`).byOther(),
		no(`git commit-tree -m x 'HEAD^{tree}'`).byOther(),
		no(`git commit-graph write`),
		no(`git tag -a v1 -m 'git commit'`),
		no(`git notes add -m 'git commit'`).byOther(),
		no(`git show -s; git diff --stat; git blame f`),
		no(`git lg`),
		no(`git push; true`),
		no(`git config alias.new commit`),
		no(`git branch commit && git switch -q commit`),
		no(`make -n commit 2>/dev/null; true`),
	}
}

// sight is how much of a finished line a host lets us see.
type sight struct {
	name                string
	marks, times, reads bool
}

func TestCommittedAgainstRealGit(t *testing.T) {
	t.Parallel()
	rows := commitRows()
	if len(rows) < 150 {
		t.Errorf("%d rows, want at least 150", len(rows))
	}
	modes := []sight{
		{name: "marks", marks: true, reads: true},
		{name: "times", times: true, reads: true},
		{name: "output"},
	}
	var mu sync.Mutex
	score := map[string]*[4]int{} // true and false positives, false and true negatives
	for _, m := range modes {
		score[m.name] = &[4]int{}
	}
	t.Cleanup(func() {
		for _, m := range modes {
			s := score[m.name]
			t.Logf("%-6s rows %d: precision %.3f, recall %.3f (tp %d, fp %d, fn %d, tn %d)", m.name, s[0]+s[1]+s[2]+s[3],
				ratio(s[0], s[1]), ratio(s[0], s[2]), s[0], s[1], s[2], s[3])
		}
	})
	for i, row := range rows {
		t.Run(fmt.Sprintf("%03d", i), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if row.setup != "" {
				if out, code, err := f.run(row.setup, true); err != nil || code != 0 {
					t.Fatalf("set-up of %q: %d %v\n%s", row.line, code, err, out)
				}
			}
			o := Observation{
				Line: row.line, Cwd: f.repo, Home: f.root, Head: ReadHead,
				Aliases: UserAliases(f.repo, f.root, nil),
			}
			marks := Snapshot(o)
			objects := f.commits(t)
			o.Started = time.Now()
			out, code, err := f.run(row.line, false)
			if err != nil {
				t.Fatalf("%q: %v", row.line, err)
			}
			o.Ended = time.Now()
			o.Output, o.Exit = out, &code
			if made := f.commits(t) != objects; made != (row.want || row.other) {
				t.Fatalf("%q: commits made: %v, the row says %v, by other means: %v\n%s", row.line, made, row.want, row.other, out)
			}
			for _, m := range modes {
				for _, line := range []string{row.line, quote("/bin/bash", "-lc", row.line)} {
					seen := o
					seen.Line = line
					if m.marks {
						seen.Before = marks
					}
					if !m.times {
						seen.Started, seen.Ended = time.Time{}, time.Time{}
					}
					if !m.reads {
						seen.Head = nil
					}
					want := row.want
					if row.blind && m.name == "output" {
						want = !want
					}
					v := Committed(seen)
					if v.Committed != want {
						t.Errorf("%s: %s\n got %+v, want %v\n exit %d, output:\n%s", m.name, line, v, want, code, out)
					}
					if line == row.line {
						mu.Lock()
						score[m.name][index(v.Committed, row.want)]++
						mu.Unlock()
					}
				}
			}
		})
	}
}

func index(got, want bool) int {
	switch {
	case got && want:
		return 0
	case got:
		return 1
	case want:
		return 2
	}
	return 3
}

func ratio(hit, miss int) float64 {
	if hit+miss == 0 {
		return 1
	}
	return float64(hit) / float64(hit+miss)
}

func TestCommittedNamesTheCommits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := Observation{Line: `git commit -qm 'first slice' && git commit -qam 'second: slice'`, Cwd: f.repo, Head: ReadHead}
	o.Before = Snapshot(o)
	if out, code, err := f.run(o.Line, false); err != nil || code != 0 {
		t.Fatal(code, err, out)
	}
	v := Committed(o)
	var subjects []string
	for _, c := range v.Commits {
		subjects = append(subjects, c.Subject)
		if len(c.Hash) != 40 {
			t.Errorf("hash %q", c.Hash)
		}
	}
	if got := strings.Join(subjects, "|"); !v.Committed || got != "first slice|second: slice" {
		t.Errorf("got %+v", v)
	}
}
