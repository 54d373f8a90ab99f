package config

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Comments are taken out of most files before the library sees them. A quoted value
// leaves them in, and nothing else may depend on it: what is read, what is wrong, where.
func TestCommentsChangeNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	plain := strings.Split(string(Default("en", true)), "\n")
	for range 200 {
		lines := append([]string(nil), plain...)
		for i, line := range lines {
			key := strings.Replace(line, "#", "", 1)
			if name, _, ok := strings.Cut(strings.TrimSpace(key), ":"); !ok || strings.Contains(name, " ") || strings.ContainsAny(key, `"'>|`) {
				continue
			}
			switch r.IntN(6) {
			case 0:
				lines[i] = key
			case 1:
				lines[i] = key + " # mine"
			case 2:
				lines[i] = strings.Replace(key, ":", "x:", 1) // unknown
			}
		}
		text := strings.Join(lines, "\n")
		read := func(text string) (Config, []Problem) {
			c := Defaults()
			problems := DecodeYAML([]byte(text), "f", 1, &c)
			return c, problems
		}
		got, gotProblems := read(text)
		want, wantProblems := read(strings.Replace(text, "language: en", `language: "en"`, 1))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, text)
		}
		if diff := cmp.Diff(wantProblems, gotProblems); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, text)
		}
	}
	for _, text := range []string{
		"a: |\n  one\n  # two\n", "a: >-\n  one\n  # two\n", "a: \"one\n  # two\"\n", "a: 'one\n  # two'\n", "a: one\n  # two\n  three\n", "a:\n  - x\n  # two\n", "a: [\n  # two\n  b]\n",
	} {
		if got := withoutComments(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A mistake is told in Chinese by what it is, as far as the library's sentence tells.
func TestMistakesInChinese(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"stages:\n\t- DEV\n": "Tab",
		"a:\n  b: 1\n\tc: 2": "Tab",
		`a: "x\]"`:           "跳脫字元",
		`a: "x`:              "引號沒有成對",
		"a: [1, 2":           "中括號",
		"a: {b: 1":           "大括號",
	} {
		if _, bad := ParseYAML([]byte(src), "f.yaml"); bad == nil || !strings.Contains(bad.ZH, want) {
			t.Errorf("%q: %v, want %q", src, bad, want)
		} else if tab := strings.Contains(bad.Msg, "indent with blanks"); tab != (want == "Tab") {
			t.Errorf("%q in English: %v", src, bad)
		}
	}
}
