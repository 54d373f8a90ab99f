package shellcmd

import (
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// What the parser reads otherwise than a shell is refused for that reason, with all
// that looks like it, also where this one line would be harmless.
func TestTwoReadings(t *testing.T) {
	t.Parallel()
	reason, _, _ := strings.Cut(message.GuardReadings.EN, "%s")
	for _, line := range []string{
		// Each of these writes in bash, the first three in zsh, too.
		`echo "${x:-'$(touch new)'}"`,
		"ls # list \\\ntouch new",
		"git status # state\\\ngit commit -qam x",
		"cat <<EOF\nEO\\\nF\ntouch new\nEOF",
		`echo ${x:-<(touch new)}`,
		"ls `awk '\"`>new`\"' f`",
		`[[ a =~ (<(touch new)) ]]`, `[[ a =~ ((>(touch new))|b) ]]`, "[[ a =~ (<\\\n(touch new)) ]]",
		// These in zsh.
		"{ ls } always { touch new; }", "{ echo a} always { touch new; }", `{ echo "a"} always { touch new; }`, "{ x=a} always { touch new; }", "{ cat < f} always { touch new; }", "ls | { cat {a}} always { touch new; }", "echo }", `echo "{"}`, "echo ${x}}", "echo {a b}",
		// Their kin.
		`echo "${x:-'a'}"`, `echo "${x:+"a"}"`, `echo "${x-a b}"`, `echo ${x:-$y}`, `echo ${x:-a\}}`, `echo ${x:-"}"}`, `echo ${x:-{}`, `echo ${x#'a'}`, `echo ${x%%"$y"}`, `echo ${x//\//a}`, `echo ${x/a/$(ls)}`, `echo ${x:-$(ls)}`,
		`echo "${x:?a b}"`, "echo ${x:-`ls`}", "echo ${x:-\n}", "echo ${x:-é}", "echo ${x\\\n}", `echo $[1]`, "cat <<E\n${x:-'a'}\nE", `x="${y:-'a'}"`, `bash -c 'echo "${x:-"a"}"'`, `echo "$(echo "${x:-'a'}")"`, `[[ ${x:-'a'} ]]`, `cat < "${x:-'a'}"`,
		"echo `ls`", "echo \"`ls`\"", "x=`ls`", "cat <<E\n`ls`\nE", "ls # a\\", "ls # a\\\n", "# \\\nls", "ls; # a\\\\\nls", "(ls # a\\\n)", "echo $(ls # a\\\n)", "bash -c 'ls # a\\\nls'",
		"cat <<E\n\\\nE\nE", "cat <<E\na\\\nE\nE", "cat <<E\na\\tb\nE", "cat <<-E\n\ta\\\n\tE\n\tE", "cat <<-'E'\n\ta\n\tE", "cat <<E\\\nF\na\nEF", "cat <<E'F'\na\nEF", "cat <<\\E\na\nE", "cat <<$'E'\na\nE", "cat <<'a b'\nx\na b", "cat <<''\na\n\n",
	} {
		if ok, why := ReadOnly(line); ok {
			t.Errorf("passes: %q", line)
		} else if got := why.In(message.EN); !strings.HasPrefix(got, reason) {
			t.Errorf("%q: another reason: %s", line, got)
		}
	}
	for _, line := range []string{
		`echo "${x:-a}" "${x:+.a/b-c_1}" "${x-}"`, `echo ${f##*/} "${f%.*}" "${f%%.tar.gz}" "${PATH//:/ }" "${x/a/b}" "${x:1:2}" "${x: -1}" "${#x}" "${a[0]}" "${a[@]}" "${#a[@]}" "${x^^}"`,
		`git show HEAD@{1} stash@{0}`, `echo {a,b}{1..3} \} "}" '}' {"a",b}`, `docker inspect --format={{.Id}} x`, "cat <<E\n}\nE", "{ ls {a,b}; }",
		`[[ $x =~ ^(a|b)+[.]"c"$ ]]`, "ls # a \\ b", "ls # it's `here`\ngit status", "# a\nls # b\n# c", "grep -n '`' README.md", "grep -n \"\\`a\\`\" README.md", `grep '\\' f # the end`,
		"cat <<E\na $x\nE", "cat <<'E'\na\\\nE", "cat <<\"E\" | sort\n\\\nE\nls", "cat <<E; ls\nE", "echo $(cat <<E\na\nE\n)", "ls \\\n  -l \\\n  f",
	} {
		if ok, why := ReadOnly(line); !ok {
			t.Errorf("refused: %q: %s", line, why.In(message.EN))
		}
	}
}
