package workflow

import "testing"

// In a pattern of paths * and ? mean something, and nothing else does.
func TestPatternsAreLiteral(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "a.gob", false},
		{"*.go", "x/a.go", false},
		{"**/*.go", "x/y/a.go", true},
		{"?.go", "é.go", true},
		{"?.go", "ab.go", false},
		{"[id].tsx", "[id].tsx", true},
		{"[id].tsx", "i.tsx", false},
		{`a\*`, `a\b`, true},
		{`a\*`, "a*", false},
		{"docs", "docs/a/b.md", true},
		{"a*b*c", "axxbyyc", true},
		{"a*b*c", "axxbyy", false},
	} {
		if got := matchPath(c.pattern, c.file); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.file, got)
		}
	}
}
