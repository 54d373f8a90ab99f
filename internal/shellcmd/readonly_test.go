package shellcmd

import (
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

func TestReadOnly(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		``, `ls -la`, `cat a b`, `head -n 5 f | tail -1`, `grep -rn 'x > y' . | wc -l`, `rg -n "TODO|FIXME" src`, `pwd`, `cd sub && ls`,
		`find . -name '*.go' -type f`, `find . -newer f -print0 | xargs -0 grep -l x`, `stat f; file f; du -sh .`, `echo hello`,
		`echo "$HOME" 2>&1`, `ls missing 2>/dev/null`, `ls >/dev/null 2>&1`, `ls &>/dev/null`, `test -f x && echo y || echo n`, `[ -d x ]`, `[[ -n $x ]]`,
		`jq '.a > 3' f.json`, `jq -r .x < f`, `sed -n '1,40p' f`, `sed 's/a/b/g; s|x|y|' f`, `sed -E -e 's/(a)/\1/2p' -e '/x/,/y/d' f`, `sed -n '/start/,$p' f`,
		`sed -n '$=' f`, `sed '/^#/d;/^$/d' f`,
		`awk '{print $1}' f`, `awk -F: '$3 > 100 {print $1}' /etc/passwd`, `awk '/a|b/ {n++} END {print n}' f`, `awk -v n=3 'NR==n || NR==4' f`,
		`sort -u f | uniq -c | sort -rn | head`, `sort -t: -k2 f`, `cut -d: -f1 f | tr a-z A-Z`, `diff a b`, `diff <(sort a) <(sort b)`, `date`, `date +%s`,
		`date -d yesterday +%F`, `which go; type ls; command -v git`, `env`, `printenv PATH`, `id -u`, `uname -a`, `ps aux | grep x`, `tree -L 2`,
		`git status`, `git status -s && git diff --stat`, `git log --oneline -5`, `git log --author='a b' -- path`, `git diff HEAD~1 -- f`, `git show HEAD:f`,
		`git -C sub log`, `git diff $(git merge-base main HEAD)..HEAD -- docs`, `git diff --stat "$(git merge-base main HEAD)"..HEAD`, `TODO_COUNT=$(ls *.md | wc -l) && echo "$TODO_COUNT"`, `x=a; sort "$x.txt" "$x/$x"`, `git --no-pager diff`, `git -c color.ui=never diff`, `git -c core.pager=cat log`, `git branch`, `git branch -a`, `git branch -vv`,
		`git branch --show-current`, `git branch --list 'x*'`, `git branch --contains HEAD`, `git branch --merged main`, `git tag`, `git tag -l 'v*'`, `git tag --sort=-creatordate`,
		`git remote -v`, `git remote get-url origin`, `git config --get user.name`, `git config user.name`, `git config -l`, `git config -f .gitmodules --get-regexp path`, `base64 f`, `ls | xargs -I{} cat {}`, `git stash list`, `git worktree list`,
		`git rev-parse --show-toplevel`, `git ls-files | head`, `git blame -L1,5 f`, `git grep -n x`, `git reflog`, `git reflog show HEAD`, `git describe --tags`, `git --version`,
		`git symbolic-ref HEAD`, `git submodule status`, `git rev-list --count HEAD`, `git for-each-ref --format='%(refname)'`, `git cat-file -p HEAD`,
		`GIT_PAGER=cat git log`, `gh pr view 3`, `gh pr list`, `gh pr diff`, `gh issue view 4 --comments`, `gh run list`, `gh api repos/o/r`, `gh search code x`,
		`go version`, `go env GOPATH`, `go list ./...`, `go doc fmt.Println`, `npm ls`, `node --version`, `python3 --version`, `make --version`,
		`overtone workflow status`, `/usr/local/bin/overtone timeline`, `overtone workflow status --json | jq .phase`, `cd x && overtone workflow cancel`, `cat f | overtone route check`,
		`bash -c 'ls | wc -l'`, `timeout 5 ls`, `time ls`, `nice -n 5 grep x f`, `for f in *.go; do wc -l "$f"; done`, `while read -r l; do echo "$l"; done < f`,
		`x=$(git rev-parse HEAD); echo "$x"`, `if [ -f a ]; then cat a; fi`, `echo $(ls)`, `set -euo pipefail; ls`, "cat <<'EOF'\nrm -rf x\nEOF", `ls | tee /dev/null`,
		`sqlite3 -readonly -safe app.db 'select credits, edited_at from users'`, `curl -q -s https://example.com/api | python3 -I -m json.tool`, `curl -qsSL https://example.com/x | head`, `overtone status`, `overtone status --json`,
		`# rm -rf x`, `uniq f`, `hostname`, `echo '>' x`, `grep '>' f`, `cat "$f"`, `ls $d`,
	} {
		if ok, why := ReadOnly(line); !ok {
			t.Errorf("not read-only: %s: %s", line, why.In(message.EN))
		}
	}
	for _, line := range []string{
		`rm f`, `rm -rf x`, `mv a b`, `cp a b`, `touch x`, `mkdir x`, `chmod +x f`, `ln -s a b`, `dd if=a of=b`, `truncate -s0 f`,
		`echo x > f`, `echo x >> f`, `ls &> f`, `ls 2> e`, `> f`, `ls >| f`, `ls >& f`, `ls > $f`, `ls > "/dev/$x"`, `cat a > b 2>/dev/null`, `{ ls; } > f`, `(ls) > f`,
		`ls; rm f`, `ls && rm f`, `ls || rm f`, `ls | xargs rm`, `ls | tee f`, `ls | tee -a f`, `echo $(rm f)`, "echo `rm f`", `cat <(rm f)`, `bash -c 'rm f'`, `bash s.sh`, `sh <<< 'rm f'`,
		`. ./x`, `source x`, `eval "$x"`, `eval 'rm f'`, `$x`, `$(echo rm) f`, `"$x" f`, `x=rm; $x f`, `x=ls; $x f`, `./ls`, `../bin/cat f`, `bin/git log`, `unknown`, `python3 -c 1`, `node x.js`,
		`find . -delete`, `find . -exec rm {} \;`, `find . -execdir x \;`, `find . -ok rm {} \;`, `find . -fprint o`, `find . -fls o`, `find . $x`, `find . -{delete,print}`,
		`sed -i s/a/b/ f`, `sed -i.bak s/a/b/ f`, `sed --in-place s/a/b/ f`, `sed -ni p f`, `sed -n 'w o' f`, `sed 's/a/b/w o' f`, `sed 's/a/b/e' f`, `sed '1e rm f' f`, `sed -f s f`, `sed "$x" f`, `sed -n '/x/w o' f`, `sed 'p;w o' f`,
		`awk '{print > "o"}' f`, `awk '{print | "sh"}' f`, `awk 'BEGIN{system("rm f")}'`, `awk -f p f`, `awk "$x" f`, `awk -i inplace 1 f`, `awk '"rm f" | getline' f`, `awk '/"/ {print > "x"}' f`, `awk '{printf "a" >> "o"}' f`,
		`sort -o f f`, `sort f -uo g`, `sort --output=f f`, `uniq a b`, `rg --pre ./x y`, `date -s 2020-01-01`, `date 01010000`, `hostname x`, `tree -o f`, `less f`, `less -o f g`, `file -C -m x`, `yq -i .a=1 f`,
		`git commit -m x`, `git add f`, `git push`, `git pull`, `git fetch`, `git checkout f`, `git stash`, `git stash pop`, `git reset --hard`, `git clean -fd`, `git branch x`, `git branch -D x`, `git branch -m a b`,
		`git branch --set-upstream-to=o`, `git branch -f x`, `git tag v1`, `git tag -d v1`, `git tag -a v1 -m x`, `git remote add a b`, `git remote rm a`, `git config user.name x`, `git config --unset a.b`, `git config set a.b c`, `git config --edit`,
		`git diff --output=f`, `git log --output f`, `git grep -O x`, `git grep --open-files-in-pager=rm x`, `git -c core.pager='rm f' log`, `git -c alias.x='!rm f' x`, `git -c diff.external=x diff`, `git --exec-path=/x status`,
		`git symbolic-ref HEAD refs/heads/x`, `git reflog expire --all`, `git reflog delete x`, `git worktree add x`, `git submodule update`, `git notes add`, `git bisect start`, `git x`, `git $x`, `git $x log`, `git log $x`, `git ls-remote --upload-pack=x r`, `git ls-remote ext::x`,
		`GIT_EXTERNAL_DIFF=x git diff`, `GIT_PAGER='rm f' git log`, `PATH=. ls`, `LD_PRELOAD=x ls`, `env PATH=. ls`, `export PATH=.; ls`, `PATH=.; ls`, `GIT_SSH_COMMAND=x git ls-remote r`,
		`gh pr create -f`, `gh pr merge 3`, `gh issue close 3`, `gh api -X DELETE x`, `gh api x -f a=b`, `gh api --method=POST x`, `gh repo clone x`, `gh pr checkout 3`, `gh pr view --web`, `gh $x`,
		`go build ./...`, `go test ./...`, `go env -w A=b`, `go list -toolexec=x`, `go run .`, `npm install`, `npm run x`, `make`, `curl x`, `wget x`, `kill 1`, `docker run x`,
		`./overtone x`, `bin/overtone x`, `overtone status > f`, `overtone status; rm f`, `OVERTONE=1 ./x`,
		`f() { rm x; }; f`, `ls() { rm x; }; ls`, `f() { ls; }; f`, `alias ls=rm; ls`, `trap 'rm f' EXIT`, `exec rm f`, `xargs -a l rm`, `xargs git`, `xargs -I{} sh -c 'cat {}'`, `xargs -IX sh -c 'cat X'`, `mapfile -C 'rm f' a`, `hash -p ./x ls`, `jobs -x rm f`, `arch -x86_64 rm f`, `base64 -i a -o b`, `sort --compress=x f`, `script -c ls`, `strace -o f ls`, `watch ls`, `env -S 'rm f'`, `command rm f`,
		`node -e 1`, `python3 -V x`, `make -v x`, `exec > f`, `coproc rm f`, `case x in x) rm f;; esac`, `[[ $(rm f) ]]`, `echo $((1+$(rm f)))`, "cat <<E\n$(rm f)\nE", `ls "`, `if true; then rm f; fi`, `(cd x && rm f)`, `echo ${x:-$(rm f)}`,
	} {
		if ok, _ := ReadOnly(line); ok {
			t.Errorf("passes as read-only: %s", line)
		}
	}
}

// Where only a value is unknown, the reason is the value, not the program's options.
func TestValueIsTheReason(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`curl -q -s "http://localhost:$PORT/"`, `git log $(git branch --show-current)`, `getent passwd "$USER"`} {
		if ok, why := ReadOnly(line); ok || why.text != message.GuardDynamic {
			t.Errorf("%s: %s", line, why.In(message.EN))
		}
	}
}

// Some commands of overtone are a person's, however an agent wraps them; the words
// alone are nobody's.
func TestPersonal(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`overtone workflow trust release`:                      "overtone workflow trust",
		`script -qc "overtone workflow trust release"`:         "overtone workflow trust",
		`yes release | overtone workflow trust release`:        "overtone workflow trust",
		`echo '{}' > ~/.overtone/trusted.json`:                 "overtone workflow trust",
		`overtone init --yes`:                                  "overtone init",
		`cd /tmp && overtone --json uninstall`:                 "overtone uninstall",
		`sudo -u me /usr/local/bin/overtone uninstall --purge`: "overtone uninstall",
		`bash -c 'overtone config set workflow.guard false'`:   "overtone config",
		`env OVERTONE_HOME=/x timeout 5 overtone config edit`:  "overtone config",
		`x=$(overtone init --yes)`:                             "overtone init",
		`ov=overtone; $ov uninstall`:                           "overtone uninstall",
		`overtone config ((`:                                   "overtone config",
		`overtone init --help`:                                 "",
		`overtone workflow status`:                             "",
		`overtone workflow new config --stages DEV`:            "",
		// Of trust the words are enough.
		`git commit -m "overtone: trust, init and config" -m x`: "overtone workflow trust",
		`git commit -m "overtone config: mend"`:                 "",
		`cd overtone && git init`:                               "",
		`go test ./overtone/internal/config`:                    "",
		`sed -i s/a/b/ ~/.overtone/config.yaml`:                 "",
		`grep -rn "overtone uninstall" docs`:                    "",
		`make install`:                                          "",
		`cat ~/.overtone/trusted.json`:                          "",
	} {
		if got := Personal(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
