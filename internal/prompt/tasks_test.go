package prompt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseTasks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, src string
		checked   int
		unchecked []string
	}{
		{"usual", "---\nfeature: x\n---\n\n## Tasks\n\n- [ ] a\n- [x] b\n- [X] c\n- [ ] d\n", 2, []string{"a", "d"}},
		{"CRLF", "## Tasks\r\n\r\n- [ ] a\r\n- [x] b\r\n", 1, []string{"a"}},
		{"stages when there are no tasks", "- [ ] no\n## Stages\n- [ ] PLAN\n## Notes\n- [ ] no\n", 0, []string{"PLAN"}},
		{"tasks win over stages", "## Stages\n- [ ] PLAN\n## Tasks\n- [ ] a\n", 0, []string{"a"}},
		{"an empty tasks section has no tasks", "## Stages\n- [ ] PLAN\n## Tasks\n", 0, nil},
		{"no heading: whole file", "# Title\n- [ ] a\n\ntext\n- [x] b\n", 1, []string{"a"}},
		{"deeper headings stay inside", "## Tasks\n- [ ] a\n### More\n- [ ] b\n## Other\n- [ ] c\n", 0, []string{"a", "b"}},
		{"### Tasks is not ## Tasks", "### Tasks\n- [ ] a\n## Tasks\n- [ ] b\n", 0, []string{"b"}},
		{"## Tasks later in a line is not a heading", "see ## Tasks\n- [ ] a\n## Stages\n- [ ] b\n", 0, []string{"b"}},
		{"## Tasks and more is another heading", "## Tasks done\n- [x] a\n## Tasks\n- [ ] b\n", 0, []string{"b"}},
		{"empty box does not eat the next line", "## Tasks\n- [ ]\n- [x] foo\n- [ ] \n- [ ] bar\n", 1, []string{"bar"}},
		{"fenced code", "## Tasks\n```md\n- [ ] no\n## Tasks\n```\n- [ ] a\n~~~~\n- [ ] no\n~~~\n- [ ] no\n~~~~\n- [ ] b\n", 0, []string{"a", "b"}},
		{"fence inside an item", "## Tasks\n- [ ] a\n  ```\n  - [ ] no\n  ```\n- [ ] b\n", 0, []string{"a", "b"}},
		{"inline code is no fence", "## Tasks\n```x``` y\n- [ ] a\n", 0, []string{"a"}},
		{"other bullets", "## Tasks\n* [ ] a\n+ [x] b\n- [ ] c\n", 1, []string{"a", "c"}},
		{"nested items count", "## Tasks\n- [x] a\n  - [ ] b\n\t- [ ] c\n        - [x] d\n", 2, []string{"b", "c"}},
		{"trimmed", "## Tasks\n-  [ ]   a b   \n- [ ]c\n", 0, []string{"a b", "c"}},
		{"not boxes", "## Tasks\n- a\n-[ ] b\n- [y] c\n- [x](http://x)\n- [x][ref]\n- [x]: x\n1. [ ] d\n> - [ ] e\n[ ] f\n- [  ] g\n", 0, nil},
		{"front matter is not a list", "---\n## Tasks\n- [ ] no\n---\n- [ ] a\n", 0, []string{"a"}},
		{"unicode", "## Tasks\n- [ ] 實作「登入」🧪\n", 0, []string{"實作「登入」🧪"}},
		{"empty", "", 0, nil},
	} {
		got := parseTasks([]byte(tc.src))
		if diff := cmp.Diff(tc.unchecked, got.unchecked); diff != "" || got.checked != tc.checked {
			t.Errorf("%s: %d checked, want %d; unchecked %s", tc.name, got.checked, tc.checked, diff)
		}
	}
}

func TestTick(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, src, stage, want string }{
		{"first of two", "## Tasks\n- [ ] PLAN\n- [ ] TEST\n- [ ] TEST\n", "TEST", "## Tasks\n- [ ] PLAN\n- [x] TEST\n- [ ] TEST\n"},
		{"ticked ones are passed over", "- [x] TEST\n- [ ] TEST", "TEST", "- [x] TEST\n- [x] TEST"},
		{"CRLF and front matter", "\ufeff---\r\na: 1\r\n---\r\n- [ ] DEV\r\n", "DEV", "\ufeff---\r\na: 1\r\n---\r\n- [x] DEV\r\n"},
		{"blanks at the end stay", "- [ ] DEV  \n", "DEV", "- [x] DEV  \n"},
		{"not a prefix", "- [ ] DEVOPS\n", "DEV", ""},
		{"not nested, not another bullet", "  - [ ] DEV\n* [ ] DEV\n", "DEV", ""},
		{"not in code", "```\n- [ ] DEV\n```\n", "DEV", ""},
		{"not lower case", "- [ ] dev\n", "DEV", ""},
		{"no stage", "- [ ] \n", "", ""},
		{"a stage with meta characters", "- [ ] D.V\n- [ ] DEV\n", "D.V", "- [x] D.V\n- [ ] DEV\n"},
	} {
		got, ok := tick([]byte(tc.src), tc.stage)
		if ok != (tc.want != "") {
			t.Errorf("%s: ticked %v", tc.name, ok)
		}
		if tc.want == "" {
			tc.want = tc.src
		}
		if diff := cmp.Diff(tc.want, string(got)); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

// Whatever surrounds it, ticking changes one byte, moves one task from open to
// done when it is in the section, and the source is left alone.
func TestTickChangesOneByte(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"- [ ] DEV", "- [x] DEV", "* [ ] DEV", "```", "~~~", "## Tasks", "## Stages", "", "text", "---", "- [ ] other", "  - [ ] DEV", "- [ ]"})
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		src := strings.Join(rapid.SliceOf(piece).Draw(t, "lines"), end)
		before := parseTasks([]byte(src))
		in := []byte(src)
		out, ok := tick(in, "DEV")
		if string(in) != src {
			t.Fatal("the source changed")
		}
		diff := 0
		for i := range out {
			if out[i] != src[i] {
				diff++
			}
		}
		after := parseTasks(out)
		if len(out) != len(src) || ok != (diff == 1) || diff > 1 {
			t.Fatalf("%d bytes differ, ticked %v", diff, ok)
		}
		if after.checked+len(after.unchecked) != before.checked+len(before.unchecked) || after.checked-before.checked > 1 {
			t.Fatalf("before %v, after %v", before, after)
		}
	})
}

func FuzzTasks(f *testing.F) {
	for _, s := range []string{"", "## Tasks\n- [ ] a\n- [x] b\n", "```\n- [ ] a", "---\nx\n---\n- [ ] DEV\n", "- [ ]\n- [x] foo", "- [ ] DEV\r"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got := parseTasks(src)
		for _, u := range got.unchecked {
			if u == "" || u != strings.TrimSpace(u) || strings.Contains(u, "\n") {
				t.Errorf("task %q", u)
			}
		}
		if out, ok := tick(src, "DEV"); len(out) != len(src) || !ok && string(out) != string(src) {
			t.Error("tick changed more than a byte")
		}
	})
}
