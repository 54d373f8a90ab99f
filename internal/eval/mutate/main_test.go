//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Which changes are made to a piece of code.
func TestMutants(t *testing.T) {
	t.Parallel()
	for src, want := range map[string][]string{
		"func f(a, b int) bool { return a < b }":        {"< → <=", "< → >="},
		"func f(a bool) bool { return !a && true }":     {"! → nothing", "&& → ||", "true → false"},
		"func f() int { return min(3, 0) }":             {"min → max", "3 → 4", "3 → 2", "0 → 1"},
		"func f(a int) { if a == 1 { g() } }":           {"a == 1 → false && (a == 1)", "a == 1 → true || (a == 1)", "== → !=", "1 → 2", "1 → 0", "g() → nothing"},
		"func f(a int) { a++; a += 2; b := a; _ = b }":  {"a++ → nothing", "++ → --", "a += 2 → nothing", "+= → -=", "2 → 3", "2 → 1", "_ = b → nothing"},
		"func f() { for { switch { case x: break } } }": {"break → nothing"},
		"type T struct { A [2]int `json:\"a\"` }":       nil,
	} {
		all, err := mutants("x.go", []byte("package p\n"+src))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range all {
			_, change, _ := strings.Cut(m.String(), ": ")
			got = append(got, change)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: -want +got\n%s", src, d)
		}
	}
}

// The sample of a seed stays what it is when other lines come, and is another one for
// another seed.
func TestSampleIsStable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.go")
	order := func(seed uint64, src string) (list []string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := options{seed: seed}.sample(filepath.Dir(path), []string{"x.go"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			list = append(list, m.was+" → "+m.text+" in "+strings.TrimSpace(m.around()))
		}
		return list
	}
	const src = "package p\n\nfunc f(a, b int) bool { return a < b || b < 7 }\n\nfunc g(a int) int { return a*3 + 1 }\n"
	one := order(1, src)
	more := order(1, strings.Replace(src, "\n\n", "\n\nfunc h(a int) bool { return a == 2 }\n\n", 1))
	more = slices.DeleteFunc(more, func(m string) bool { return strings.Contains(m, "func h") })
	if len(one) < 10 || !slices.Equal(one, more) {
		t.Errorf("%q became %q", one, more)
	}
	if slices.Equal(one, order(2, src)) {
		t.Error("another seed has the same order")
	}
}

// A rule that a test states is protected, one that a test only passes through is not,
// and neither is one that no test reaches. A change that does not compile is none. All
// but the constant's are in one program, also those of functions with labels, deferred
// calls and type parameters.
func TestTry(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for each change")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module m\n\ngo 1.26\n",
		"p/p.go":          "package p\n\nfunc Stated(a string) bool { return a == \"x\" }\n\nfunc Passed(a string) bool { return a == \"x\" }\n\nfunc Missed(a string) bool { return a == \"x\" }\n\nfunc Joined(a string) string { return a + \"x\" }\n\ntype list[T any] []T\n\nfunc (l *list[T]) Put(v T) (n int, err error) {\n\tdefer l.done()\nput:\n\tfor i := range 3 {\n\t\tif i == 1 {\n\t\t\tbreak put\n\t\t}\n\t\t*l = append(*l, v)\n\t}\n\treturn len(*l), nil\n}\n\nfunc (l *list[T]) done() { *l = append(*l, (*l)[0]) }\n\nconst Two = 2\n",
		"p/p_test.go":     "package p\n\nimport \"testing\"\n\nfunc TestStated(t *testing.T) {\n\tif !Stated(\"x\") || Joined(\"\") != \"x\" {\n\t\tt.Fail()\n\t}\n}\n\nfunc TestPassed(t *testing.T) { Passed(\"x\") }\n\nfunc TestPut(t *testing.T) {\n\tvar l list[int]\n\tif n, err := l.Put(7); n != 1 || err != nil || len(l) != Two || l[1] != 7 {\n\t\tt.Fail()\n\t}\n}\n",
		"p/other_test.go": "package p\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	c, err := options{n: 100, workers: 2, seed: 1}.try("p")
	if err != nil {
		t.Fatal(err)
	}
	// Nothing states how long the loop would be without its break.
	if c.killed != 12 || c.alive != 3 || c.bare != 1 {
		t.Errorf("%+v, want 12 killed, three alive and one bare", c)
	}
}
