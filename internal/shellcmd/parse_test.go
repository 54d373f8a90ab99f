package shellcmd

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// show writes commands in a short form: dir$ argv, ? for words not known.
func show(cmds []command) []string {
	var out []string
	for _, c := range cmds {
		var b strings.Builder
		if !c.DirKnown {
			b.WriteString("?$ ")
		} else if c.Dir != "" {
			b.WriteString(c.Dir + "$ ")
		}
		for _, e := range c.Env {
			b.WriteString(e.Name + "=" + e.Value.Text + " ")
		}
		for i, a := range c.Args {
			if i > 0 {
				b.WriteByte(' ')
			}
			if a.Dynamic {
				b.WriteByte('?')
			}
			b.WriteString(a.Text)
		}
		out = append(out, b.String())
	}
	return out
}

func TestParse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		``:                               nil,
		`ls -l`:                          {"ls -l"},
		`a && b || c; d | e &`:           {"a", "b", "c", "d", "e"},
		`'a b' "c d" e\ f $'g\th'`:       {"a b c d e f g\th"},
		`"" x`:                           {" x"},
		`echo a{b,c} "{d,e}"`:            {"echo ?a {d,e}"},
		`x $y "$z" ${w:-dflt}`:           {"x ? ? ?dflt"},
		`v=one; x $v "$v-$u"`:            {"v=one ", "x ?one ?one-"},
		`v='a b'; x $v "$v"`:             {"v=a b ", "x ?a ?b ?a b"},
		`v=$(a); b "$v"`:                 {"a", "v= ", "b ?"},
		`a $(b $(c)) <(d) "$(e)"`:        {"c", "b ?", "d", "e", "a ? ? ?"},
		`echo $((1+$(a)))`:               {"a", "echo ?"},
		`[[ -n $(a) ]] && b`:             {"a", "b"},
		`(a; b); { c; }`:                 {"a", "b", "c"},
		`if a; then b; else c; fi`:       {"a", "b", "c"},
		`while a; do b; done`:            {"a", "b"},
		`for i in 1 2; do x $i; done`:    {"x ?1", "x ?2"},
		`for i in 1 2; do x {a,b}; done`: {"x ?", "x ?"},
		`for i in $l; do x $i; done`:     {"x ?"},
		`case $x in a) b;; *) c;; esac`:  {"b", "c"},
		`f() { x "$@"; }; f 1 2`:         {"f 1 2", "x ?1 ?2"},
		`f() { x; }`:                     nil,
		`time -p a; ! b`:                 {"a", "b"},
		`A=1 x`:                          {"A=1 x"},
		`export A=1 B; x`:                {"A=1 B= export", "x"},
		`a >o 2>&1 <i; >o`:               {"a", ""},
		`{ a; b; } > o; c`:               {"a", "b", "c"},
		`cd d && a; cd ..; b`:            {"d$ cd d", "d$ a", "cd ..", "b"},
		`(cd d; a); b`:                   {"d$ cd d", "d$ a", "b"},
		`cd /x/../y; a; cd -; b`:         {"/y$ cd /x/../y", "/y$ a", "cd -", "b"},
		`cd $d; a; cd /e; b`:             {"?$ cd ?", "?$ a", "/e$ cd /e", "/e$ b"},
		`cd; a`:                          {"~$ cd", "~$ a"},
		`cd d | a; b`:                    {"d$ cd d", "a", "b"},
		`env -i A=1 -u B git y`:          {"A=1 git y"},
		`env`:                            {"env"},
		`env A=1`:                        {"env A=1"},
		`env -S 'git "y z"' w`:           {"git y z"},
		`sudo -u root -- git -u y`:       {"git -u y"},
		`sudo -l`:                        {"sudo -l"},
		`sudo -D /d git x`:               {"/d$ git x"},
		`sudo xyz x`:                     {"sudo xyz x"},
		`command -v git`:                 {"command -v git"},
		`command git a; builtin echo y; exec -a n gh z`:        {"git a", "echo y", "gh z"},
		`nice -n 5 git a; nice -10 ls; timeout -s KILL 5 gt b`: {"git a", "ls", "gt b"},
		`xargs -0 -n1 -I{} git x {}`:                           {"git x {} ?"},
		`xargs echo git`:                                       {"echo git ?"},
		`bash -c 'a "$1"; b' _ z`:                              {"a ?z", "b"},
		`bash -lc "cd d && a"; b`:                              {"d$ cd d", "d$ a", "b"},
		`/bin/sh -xec a`:                                       {"a"},
		`bash s.sh -c x`:                                       {"bash s.sh -c x"},
		`bash -n -c a`:                                         {"bash -n -c a"},
		`bash -c "$s"`:                                         {"bash ?"},
		`s='a; b'; bash -c "$s"`:                               {"s=a; b ", "bash ?a; b", "a", "b"},
		`eval "a b" c`:                                         {"a b c"},
		`eval "$s"`:                                            {"eval ?"},
		"cat <<E\na\nE":                                        {"cat"},
		"cat <<E\n$(a)\nE":                                     {"a", "cat"},
		"cat <<'E'\n$(a)\nE":                                   {"cat"},
		`cat s | bash`:                                         {"cat s", "bash"},
		`watch -n 1 git a; flock -w 3 l gh y; flock l -c 'git z'`: {"git a", "gh y", "git z"},
		`su - u -c 'git a'`: {"git a"},
		`echo ok # a`:       {"echo ok"},
	} {
		got, err := parse(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want, show(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	bomb := "x=aaaaaaaa;" + strings.Repeat("x=$x$x;", 60) + "echo $x"
	if _, err := parse(bomb); err != nil {
		t.Errorf("a guess that grows too long is dropped: %v", err)
	}
	for name, line := range map[string]string{
		"too long":     strings.Repeat("a", maxLine+1),
		"open quote":   `echo "a`,
		"open bracket": `(a`,
		"nested":       strings.Repeat("(", 2000) + "a" + strings.Repeat(")", 2000),
		"recursion":    `f() { f; f; }; f`,
		"loops":        strings.Repeat("for i in 1 2 3 4 5 6 7 8 9; do ", 12) + "a" + strings.Repeat("; done", 12),
	} {
		start := time.Now()
		if _, err := parse(line); err == nil {
			t.Errorf("%s: no error", name)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
	if _, err := parse(strings.Repeat("a", maxLine+1)); !errors.Is(err, errTooLong) {
		t.Errorf("got %v", err)
	}
}

func TestDecides(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`X`: true, `a && X`: true, `X && a`: true, `a; X`: true, `(X)`: true, `{ X; }`: true, `bash -c X`: true,
		`bash -c 'a && X' && b`: true, `set -e; X; a`: true, `set -o errexit; X; a`: true, `bash -ec 'X; a'`: true,
		`X || exit 1`: true, `X || false`: true, `v=$(X)`: true, `a | X`: true, `time X`: true,
		`X; a`: false, `X || a`: false, `a || X`: false, `! X`: false, `X &`: false, `X | a`: false, `if X; then a; fi`: false,
		`if a; then X; fi`: false, `for i in 1; do X; done`: false, `echo $(X)`: false, `X || exit 0`: false, `X || exit`: false,
		`bash -c 'X; a'`: false,
	} {
		cmds, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cmds {
			if c.name() == "X" && c.Decides != want {
				t.Errorf("%q: decides %v, want %v", line, c.Decides, want)
			}
		}
	}
}

// Whatever the words are, quote gives a line that runs exactly them.
func TestQuoteRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		argv := append([]string{"prog"}, rapid.SliceOf(rapid.StringMatching(`[ -~\n\t世界é]{0,12}`)).Draw(t, "argv")...)
		cmds, err := parse(quote(argv...))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range cmds[0].Args {
			if a.Dynamic {
				t.Fatalf("dynamic word in %q", argv)
			}
			got = append(got, a.Text)
		}
		if diff := cmp.Diff(argv, got); diff != "" || len(cmds) != 1 {
			t.Fatalf("%d commands, %s", len(cmds), diff)
		}
	})
}

func FuzzLine(f *testing.F) {
	for _, r := range commitRows() {
		f.Add(r.line)
	}
	for _, s := range []string{"", "\x00", "`", "$((", "<<E", "git -c", "git -C", "env -S", "xargs -I", "find -exec", "sudo -u", "cd", "((((", "${", "$'\\x", "a=(b", "sed -e", "gh pr", "gt stack"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		zero := 0
		Committed(Observation{Line: line, Cwd: "/", Output: "[main 1234567] x\n", Exit: &zero, Aliases: func(n string) (string, bool) { return n + " " + n, true }})
		Checkpointed(Observation{Line: line, Output: line})
		ReadOnly(line)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("took %v", d)
		}
	})
}
