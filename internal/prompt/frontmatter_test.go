package prompt

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	type result struct {
		Front string
		Line  int
		Body  string
		OK    bool
	}
	for _, tc := range []struct {
		name, src string
		want      result
	}{
		{"usual", "---\na: 1\n---\nbody\n", result{"a: 1\n", 2, "body\n", true}},
		{"body is exact", "---\n---\n\n  body  \n\n", result{"", 2, "\n  body  \n\n", true}},
		{"CRLF", "---\r\na: 1\r\n---\r\nbody\r\n", result{"a: 1\r\n", 2, "body\r\n", true}},
		{"byte order mark", "\ufeff---\na: 1\n---\nbody", result{"a: 1\n", 2, "body", true}},
		{"no newline at the end", "---\na: 1\n---", result{"a: 1\n", 2, "", true}},
		{"later rules are body", "---\n---\na\n---\nb", result{"", 2, "a\n---\nb", true}},
		{"dashes inside a line do not close", "---\na: ---\n----\n --- \n---\nb", result{"a: ---\n----\n --- \n", 2, "b", true}},
		{"none", "# Title\n---\n", result{"", 0, "# Title\n---\n", false}},
		{"not the first line", "\n---\na: 1\n---\n", result{"", 0, "\n---\na: 1\n---\n", false}},
		{"longer first line", "----\na: 1\n---\n", result{"", 0, "----\na: 1\n---\n", false}},
		{"trailing blank", "--- \na: 1\n---\n", result{"", 0, "--- \na: 1\n---\n", false}},
		{"never closed", "---\na: 1\nbody\n", result{"", 1, "---\na: 1\nbody\n", false}},
		{"only the opening", "---", result{"", 1, "---", false}},
		{"empty", "", result{}},
	} {
		front, line, body, ok := splitFront([]byte(tc.src))
		if diff := cmp.Diff(tc.want, result{string(front), line, body, ok}); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}
