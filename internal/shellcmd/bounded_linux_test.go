package shellcmd

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// hostile is the size of the lines below. Longer ones are refused by their length.
const hostile = 100_000

// atMost is what one question about a line may cost: ten times what it costs. The
// guard's own is what is promised, in the best of some tries: other programs take the
// processor's caches and its speed.
const (
	atMost = time.Second
	guards = 100 * time.Millisecond
)

// fill repeats unit between two texts, up to size.
func fill(before, unit, after string, size int) string {
	return before + strings.Repeat(unit, max(1, (size-len(before)-len(after))/len(unit))) + after
}

// A host that waits too long for the guard goes on without it. So what a hook asks
// about a line is bounded, whatever the line is: in steps that are counted, and in
// time, since not everything that costs time is a step.
func TestDecisionsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a ", 4000)
	assigned := strings.Repeat("a=1 ", 5000)
	var many strings.Builder
	for i := range 3000 {
		many.WriteString("v" + strings.Repeat("x", i%40) + string(rune('a'+i%26)) + "=1;")
	}
	// Each carries more than a thousand of what the second text is.
	for _, c := range [][3]string{
		{"", "env ", "true; touch F"},
		{"", "xargs ", "true"},
		{"bash ", "-e ", "-c ls"},
		{"bash -c ", "-e ", "ls"},
		{"xargs ", "-n1 ", "true"},
		{"timeout ", "-v ", "5 ls"},
		{"", "command ", "ls"},
		{"", "env LC_A=a ", "ls"},
		{"env ", "LC_A=a ", "ls"},
		{"", "bash -c ", "ls"},
		{"", "sh -c ls;", ""},
		{"find . ", `-exec ls \; `, ""},
		{"", "find . -exec ", `ls \;`},
		{"echo ", "a", ""},
		{"echo ", "[]", ""},
		{"echo ", "{a,b}", ""},
		{"echo ", "{", ""},
		{"echo ", `""`, ""},
		{"echo ", "$x", ""},
		{"", "ls;", ""},
		{"", "ls|", "ls"},
		{"", "git log;", ""},
		{"sed '", "s/a/b/;", "'"},
		{"awk '", "print", "'"},
		{"echo $((", "1+", "1))"},
		{"echo $((", "1?", "1))"},
		{"[[ ", "! ", "a ]]"},
		{"", "! ", "ls"},
		{"", "if ", "ls"},
		{"", "case a in a) ", "ls"},
		{"", "f()", "ls"},
		{"", "cat <<a;", "\na"},
		{"cat ", "<<a ", ""},
		{"cat <<a\n", "$x\n", "a"},
		{"", "`", ""},
		{"echo `", `\`, "`"},
		{"echo `", "\\`", "`"},
		{"", "$'", ""},
		{"", "${a:-", ""},
		{"", "((", ""},
		{"", "$(", ""},
		{"", "[[ ", ""},
		{"", "{ ", ""},
		{"x='" + long + "'; echo ", "$x", ""},
		{"f(){ ", "echo $@ $*;", "}; f " + long},
		{"f(){ ", `echo "$@";`, "}; f " + long},
		{"f(){ ", "ls;", "}; " + assigned + "f"},
		{many.String(), "(ls);", ""},
		{many.String() + "echo ", "`ls`", ""},
		{"sudo ", "a=a ", "ls"},
		{"sudo ", "a ", "ls"},
		{"eval ", "eval ", "ls"},
		{"git ", "-C a ", "commit"},
		{"", "cd a/b;", ""},
		{"git -c alias.x='!", "git x;", "' x"},
		{"", "git commit -m a;", ""},
		{"overtone", " ", "init;("},
	} {
		for _, size := range []int{maxLine, hostile} {
			bounded(t, fill(c[0], c[1], c[2], size))
		}
	}
	bounded(t, fill("overtone config ", "overtone ", "", 16<<20))
	for _, c := range [][3]string{
		{"echo $(", "ls", ")"},
		{"(", "ls", ")"},
		{"{ ", "ls", ";}"},
		{"echo $((", "1", "))"},
		{"[[ $( ", "ls | wc -l", " | wc -l) -eq 1 ]]"},
		{"declare x=$(", "ls", ")"},
		{"x=$(", "ls", ")"},
		{"echo ${x:-", "a", "}"},
		{`echo "$(`, "ls", `)"`},
		{"cat <(", "ls", ")"},
		{"if ", "ls", ";then ls;fi"},
		{"case a in a) ", "ls", ";;esac"},
		{"[[ (", "a", ") ]]"},
		{"echo ${a[", "1", "]}"},
		{"f() { ", "ls", ";};f"},
		{"echo [$(echo ", "]", ")]"},
		{"echo $(git rev-parse ", "a", ")"},
		{"cat $(cat <<E\n", "x", "\nE\n)"},
		{"(ls|", "ls", ")"},
	} {
		for _, depth := range []int{20, 200, hostile / len(c[0]+c[2])} {
			nested := strings.Repeat(c[0], depth) + c[1] + strings.Repeat(c[2], depth)
			bounded(t, nested)
			bounded(t, fill("", nested+";", "", maxLine))
		}
	}
}

func TestGeneratedDecisionsAreBounded(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"env ", "xargs ", "-n1 ", "-I{} ", "timeout 5 ", "command ", "nice ", "bash -c ", "sh -c ", "-e ", "find . -exec ", `\; `, "ls ", "git log ", "git -c alias.x='!git x' ", "x ", "sed p ", "awk 1 ", "echo ", "eval ", "sudo ", "overtone ", "init ",
		"a", "a=1 ", "a=$a$a;", "$x", "${x:-", "}", "$((", "))", "((", "1+", "1?", "[[ ", " ]]", "! ", "-eq 1 ", "$(", ")", "(", "<(", "{ ", "; }", "{", "[", "]", ",", "`", "\\`", `"`, "'", "$'", "\\", "\n", "<<E ", "\nE\n", "<<< a ", ">&2 ", "2>/dev/null ",
		";", "|", "&&", "||", "&", "if ", "then ", "fi;", "while ", "do ", "done;", "for i in a b c; do ", "case a in a) ", ";;", "esac;", "f() { ", "f;", "declare x=", "#", "~", "*", "é",
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string, most int) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, most).Draw(t, label), "")
		}
		size := rapid.SampledFrom([]int{1000, 10_000, maxLine, hostile}).Draw(t, "size")
		line := fill(draw("before", 5), draw("unit", 5)+rapid.SampledFrom(pieces).Draw(t, "piece"), draw("after", 5), size)
		if rapid.Bool().Draw(t, "nested") {
			line = line[:len(line)/2] + fill("", draw("closing", 3)+")", "", size/2)
		}
		bounded(t, line)
	})
}

// bounded asks everything that hooks ask about a line.
func bounded(t rapid.TB, line string) {
	t.Helper()
	g := newGuard(maxSteps)
	g.script(line, syntax.LangBash)
	// The word that is being read when the last step is made is read to its end.
	if steps := maxSteps - g.fuel; steps > maxSteps+16*hostile || g.fuel < 0 && g.err == nil {
		t.Errorf("%d steps, %v: %.80q", steps, g.err, line)
	}
	best := atMost
	for range 5 {
		if best = min(best, threadTime(func() { ReadOnly(line) })); best <= guards {
			break
		}
	}
	if best > guards {
		t.Errorf("ReadOnly takes %v: %.80q", best, line)
	}
	for name, ask := range map[string]func(){
		"Personal":     func() { Personal(line + "\n# overtone init") },
		"Snapshot":     func() { Snapshot(Observation{Line: line, Cwd: "/", Head: ReadHead}) },
		"Checkpointed": func() { Checkpointed(Observation{Line: line, Cwd: "/"}) },
	} {
		if d := threadTime(ask); d > atMost {
			t.Errorf("%s takes %v: %.80q", name, d, line)
		}
	}
}

// threadTime is how long f keeps a processor busy: other tests and programs do
// not count.
func threadTime(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() time.Duration {
		var u syscall.Rusage
		if syscall.Getrusage(1, &u) != nil { // RUSAGE_THREAD
			return 0
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := now()
	f()
	return now() - start
}
