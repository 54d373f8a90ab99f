package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func factsByKind(text string) map[string][]string {
	m := map[string][]string{}
	for _, f := range Facts(text).list {
		m[f.Kind.String()] = append(m[f.Kind.String()], f.Text)
	}
	return m
}

func TestFacts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       map[string][]string
	}{
		{
			"line reference", "see internal/store/lock.go:12:3, please",
			map[string][]string{"path": {"internal/store/lock.go"}, "number": {"12", "3"}},
		},
		{
			"path before Chinese punctuation", "改 internal/cli/main.go，再跑 ./scripts/run.sh。然後看README.md、go.mod",
			map[string][]string{"path": {"internal/cli/main.go", "scripts/run.sh", "README.md", "go.mod"}},
		},
		{"Chinese counters", "第3輪共1,234筆，佔12.5%，版本v1.2.3", map[string][]string{"number": {"3", "1234", "12.5", "1.2.3"}}},
		{"thousands and lists", "1,234,567 and [12,345] but 1,23 and 2024,2025", map[string][]string{"number": {"1234567", "12345", "1", "23", "2024", "2025"}}},
		{"ranges, dates, times", "10-20, 2024-01-02 03:04:05", map[string][]string{"number": {"10", "20", "2024", "01", "02", "03", "04", "05"}}},
		{"units", "10ms 64KB 3rd 2x 64-bit 50% $300", map[string][]string{"number": {"10", "64", "3", "2", "50", "300"}}},
		{"end of sentence", "It took 3. Then 4.5.", map[string][]string{"number": {"3", "4.5"}}},
		{"list marks", "1. first\n2) second\n  3. third 4", map[string][]string{"number": {"4"}}},
		{
			"hashes", "commit 3fa9c01 and 035D6DE1 and 550e8400-e29b-41d4-a716-446655440000 not 1234567 nor defaced",
			map[string][]string{"hash": {"3fa9c01", "035d6de1", "550e8400-e29b-41d4-a716-446655440000"}, "number": {"1234567"}},
		},
		{"URLs", "(https://example.com/a/b?x=1&y=2). http://h:80/，好", map[string][]string{"url": {"https://example.com/a/b?x=1&y=2", "http://h:80/"}}},
		{
			"identifiers", "fooBar snake_case os.Getenv std::vector HTTPServer --dry-run $HOME call() sha256 TC-15 API",
			map[string][]string{"identifier": {"fooBar", "snake_case", "os.Getenv", "std::vector", "HTTPServer", "--dry-run", "$HOME", "call", "sha256", "TC-15"}},
		},
		{"closing tag", "<role>x</role>", map[string][]string{}},
		{"joined words", "entire/sessions read/write", map[string][]string{"identifier": {"entire/sessions", "read/write"}}},
		{"prose is no fact", "e.g. and/or well-known, either/or. Node was here, i.e. today.", map[string][]string{}},
		{"products are names", "Node.js", map[string][]string{"identifier": {"Node.js"}}},
		{"windows path", `open C:\Users\me\a.txt now`, map[string][]string{"path": {`C:\Users\me\a.txt`}}},
		{
			"home, hidden, folders", "~/.claude/projects .gitignore src/app /etc/hosts ../x/y internal/store/",
			map[string][]string{"path": {"~/.claude/projects", ".gitignore", "src/app", "/etc/hosts", "../x/y", "internal/store"}},
		},
		{
			"inline code", "use `retry` and `go test -run X ./...` or `a/b.go`",
			map[string][]string{"identifier": {"retry"}, "code": {"go test -run X ./..."}, "path": {"a/b.go"}},
		},
		{
			"fence", "```go\nx := 1\n\n  return x\n```\nafter",
			map[string][]string{"code": {"x := 1", "return x"}, "number": {"1"}},
		},
		{
			"error lines", "ok\npanic: nil map\nTypeError here\n建置失敗：缺少符號\nfine",
			map[string][]string{"error line": {"panic: nil map", "TypeError here", "建置失敗：缺少符號"}, "identifier": {"TypeError"}},
		},
		{"hex number", "at 0x1F", map[string][]string{"number": {"0x1f"}}},
		{"nothing", " \n\t", map[string][]string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, factsByKind(tt.text)); d != "" {
				t.Errorf("Facts(%q) (-want +got):\n%s", tt.text, d)
			}
		})
	}
}

func factTexts(fs []Fact) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Kind.String()+" "+f.Text)
	}
	return out
}

func TestInvented(t *testing.T) {
	t.Parallel()
	orig := "Fixed internal/store/lock.go:42 in commit 3fa9c01d2e4b (v1.26.8). Three of 1,234 tests failed, see https://ex.org/a/b/c and TC-15. 第十輪。"
	tests := []struct {
		name, result string
		want         []string
	}{
		{"a copy", orig, nil},
		{"shorter forms", "lock.go, store/lock.go, internal/store, 3fa9c01, 1.26, 1234 tests, 3 failed, https://ex.org/a, 15, round 10", nil},
		{"list marks", "1. lock.go\n2. tests", nil},
		{"another path", "internal/store/log.go", []string{"path internal/store/log.go"}},
		{"another number", "43 tests, 99.5%", []string{"number 43", "number 99.5"}},
		{"a longer hash", "3fa9c01d2e4b99", []string{"hash 3fa9c01d2e4b99"}},
		{"another hash and URL", "abc1234 https://ex.org/z", []string{"hash abc1234", "url https://ex.org/z"}},
		{"new words are fine", "FooBar did someThing_else", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, factTexts(Invented(Facts(orig), Facts(tt.result)))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	orig := "Fixed `retry` in a/b.go:42, commit 3fa9c01d2e4b.\n```\nx := 1\n```\nerror: disk full"
	got := factTexts(Lost(Facts(orig), Facts("a/b.go 3fa9c01 retry x := 1")))
	want := []string{"number 42", "error line error: disk full"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestFactsOfCopyAreNeitherLostNorInvented(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := Facts(anyText().Draw(t, "text"))
		if l := Lost(f, f); l != nil {
			t.Fatalf("lost %v", l)
		}
		if m := Invented(f, f); m != nil {
			t.Fatalf("invented %v", m)
		}
	})
}

// anyText draws text from pieces that matter to the scanner.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", " ", "\n", "\n\n", "。", "，", "；", ". ", ", ", "`", "```\n", "/", ".", "-", ":", "::", "://", "_", "$", "~", "\\", "%", "(", ")", "\"",
			"a", "if", "error", "Error:", "失敗", "錯誤：", "第3輪", "1,234", "v1.2.3", "10ms", "3fa9c01", "internal/store", "a/b.go:12:3",
			"https://x.org/a?b=1", "fooBar", "snake_case", "決定", "必須", "because", "we decided to", "just", "really", "- ", "* ", "1. ", "## ", "@@ -1,2 +3,4 @@\n", "+x", "-y", "😀", "é", "\r\n", "\t",
		}),
		rapid.StringN(0, 6, -1),
		rapid.StringMatching(`[a-z]{1,9} `),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
	})
}

func FuzzFacts(f *testing.F) {
	f.Add("see a/b.go:12:3 第3輪 1,234 `x` https://x.org\nerror: no")
	f.Add("```\ncode\n")
	f.Add("C:\\x\\y \xff\xfe")
	f.Fuzz(func(t *testing.T, text string) {
		last := int32(0)
		for _, sp := range scanFacts(nil, text) {
			if sp.Start < 0 || sp.Start >= sp.End || int(sp.End) > len(text) {
				t.Fatalf("span %+v of %d bytes", sp, len(text))
			}
			if sp.Kind == ErrorLine || sp.Kind == Code {
				continue
			}
			if sp.Start < last {
				t.Fatalf("span %+v begins before %d", sp, last)
			}
			last = sp.End
		}
	})
}
