package cli

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/host"
)

var updateHosts = flag.Bool("update-hosts", false, "write the README's table of hosts anew")

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
		if !row || strings.HasPrefix(point, "Point") || strings.HasPrefix(point, "Host") || strings.HasPrefix(point, "Feature") || strings.HasSuffix(point, ".go` |") || verified(point) {
			continue
		}
		if check("docs/internals/hosts.md", line) == 0 {
			t.Errorf("no test shows %q", point)
		}
	}
	real := testNames(t, filepath.Join(root, "e2e"))
	var table strings.Builder
	for n, row := range hostCells(t, doc, "cells") {
		if len(row) != 1+len(host.All()) && n != 1 {
			t.Fatalf("%d cells: %q", len(row), row)
		}
		for i, cell := range row[1:] {
			if n < 2 {
				continue // the head
			}
			word, reason, _ := strings.Cut(cell, ": ")
			switch shown := slices.ContainsFunc(named.FindAllStringSubmatch(cell, -1), func(m []string) bool { return real[m[1]] }); {
			case word == "yes" && !shown:
				t.Errorf("docs/internals/hosts.md: no test runs the real program for %q of %q", cell, row[0])
			case word != "yes" && word != "partly" && word != "no" || reason == "":
				t.Errorf("docs/internals/hosts.md: no reason for %q of %q", cell, row[0])
			}
			row[1+i] = word
		}
		if n == 1 {
			table.WriteString("|---" + strings.Repeat("|---", len(host.All())) + "|\n")
			continue
		}
		table.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	// The README's table is made of that one.
	readme := filepath.Join(root, "README.md")
	text := read(t, readme)
	before, rest, _ := strings.Cut(text, "<!-- hosts -->\n")
	_, after, ok := strings.Cut(rest, "<!-- /hosts -->")
	switch made := before + "<!-- hosts -->\n" + table.String() + "<!-- /hosts -->" + after; {
	case !ok:
		t.Fatal("README.md has no table of hosts")
	case made == text:
	case *updateHosts:
		if err := os.WriteFile(readme, []byte(made), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	default:
		t.Error("README.md does not say of the hosts what docs/internals/hosts.md shows: run go test ./internal/cli -run HostTables -update-hosts")
	}
}

// A host that was added later is a handful of files, which bear its name and which the
// documents list; what else knows it has a line of it.
func TestFilesOfAHost(t *testing.T) {
	t.Parallel()
	const limit = 6
	root := filepath.Join("..", "..")
	doc := read(t, filepath.Join(root, "docs", "internals", "hosts.md"))
	for _, h := range []host.Name{host.Opencode, host.Gemini} {
		var files []string
		for _, dir := range []string{"cmd", "internal", "plugin"} {
			err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || e.Name() == "testdata" || strings.HasSuffix(path, "_test.go") || !strings.Contains(e.Name(), string(h)) {
					return err
				}
				if rel, err := filepath.Rel(root, path); err == nil && filepath.Ext(path) == ".go" { // the shim is JavaScript
					files = append(files, "`"+strings.TrimPrefix(filepath.ToSlash(rel), "internal/")+"`")
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(files) > limit {
			t.Errorf("%s has %d files, more than %d: %s", h, len(files), limit, files)
		}
		if row := "| " + host.Of(h).Title + " | " + strings.Join(files, ", ") + " |"; !strings.Contains(doc, row) {
			t.Errorf("docs/internals/hosts.md lacks the row\n%s", row)
		}
	}
}

// hostCells are the cells of the table between two comments.
func hostCells(t *testing.T, text, mark string) (rows [][]string) {
	t.Helper()
	_, table, ok := strings.Cut(text, "<!-- "+mark+" -->\n")
	table, _, closed := strings.Cut(table, "<!-- /"+mark+" -->")
	if !ok || !closed {
		t.Fatalf("no table between comments %q", mark)
	}
	for _, row := range strings.Split(strings.TrimSpace(table), "\n") {
		rows = append(rows, strings.Split(strings.Trim(row, "| "), " | "))
	}
	return rows
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
	for _, dir := range []string{"internal", "team", "e2e", "."} {
		if _, err := os.Stat(filepath.Join(root, dir)); err != nil || dir == "." && filepath.Base(root) != "e2e" {
			continue
		}
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
