package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// What the documents say about hosts is shown by a test, and the test exists.
func TestHostTablesNameTheirTests(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	tests := testNames(t, root)
	named := regexp.MustCompile("`(Test\\w+)(?:/([\\w.-]+))?`")
	check := func(file, text string) (n int) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			n++
			if !tests[m[1]] {
				t.Errorf("%s names %s, which does not exist", file, m[1])
			}
			if m[1] == "TestScripts" && m[2] != "" {
				if _, err := os.Stat(filepath.Join("testdata", "script", m[2]+".txtar")); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
		return n
	}
	doc := read(t, filepath.Join(root, "docs", "internals", "hosts.md"))
	for _, line := range strings.Split(doc, "\n") {
		point, row := strings.CutPrefix(line, "| ")
		if !row || strings.HasPrefix(point, "Point") || strings.HasPrefix(point, "Host") || verified(point) {
			continue
		}
		if check("docs/internals/hosts.md", line) == 0 {
			t.Errorf("no test shows %q", point)
		}
	}
	_, table, ok := strings.Cut(read(t, filepath.Join(root, "README.md")), "<!-- hosts -->\n")
	table, _, closed := strings.Cut(table, "<!-- /hosts -->")
	if !ok || !closed {
		t.Fatal("README.md has no table of hosts")
	}
	rows := strings.Split(strings.TrimSpace(table), "\n")
	for _, row := range rows[2:] {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 1+len(host.All()) {
			t.Errorf("%d cells: %s", len(cells), row)
			continue
		}
		for _, cell := range cells[1:] {
			if check("README.md", cell) == 0 && !strings.Contains(cell, "the host cannot") {
				t.Errorf("README.md: neither a test nor a reason in %q of %q", cell, cells[0])
			}
		}
	}
}

// verified reports a row of the table of versions, and checks it.
func verified(row string) bool {
	for _, h := range host.All() {
		name, _, _ := strings.Cut(row, " | ")
		if !strings.HasPrefix(strings.ToLower(strings.ReplaceAll(name, " ", "-")), string(h.Name)) {
			continue
		}
		ok := strings.Contains(row, h.Floor.String())
		for _, v := range h.Verified {
			ok = ok && strings.Contains(row, v.String())
		}
		return ok
	}
	return false
}

// testNames are the tests of the repository, those behind build tags, too.
func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, dir := range []string{"internal", "e2e"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, m := range declared.FindAllStringSubmatch(read(t, path), -1) {
				names[m[1]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
