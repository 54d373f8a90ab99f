package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A decision is on record so that somebody can overrule it: in what situation it was
// made, what it is, why, and what would change it, on one screen.
func TestDecisionsAreOnRecord(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/decisions/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no records (%v)", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text, at := string(data), 0
		if n := strings.Count(text, "\n"); n > 25 {
			t.Errorf("%s has %d lines", file, n)
		}
		for _, part := range []string{"# ", "**Context.** ", "**Decision.** ", "**Why.** ", "**What would change it.** "} {
			i := strings.Index(text[at:], part)
			if i < 0 {
				t.Errorf("%s lacks %q, or has it in another place", file, part)
				break
			}
			at += i + len(part)
		}
	}
}

// What CONTRIBUTING.md names is there: files, functions of files, targets and tests.
func TestContributingIsTrue(t *testing.T) {
	t.Parallel()
	const root = "../.."
	data, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`(internal/[a-z_/]+\\.go)(?::([A-Za-z.]+))?`").FindAllStringSubmatch(string(data), -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil || m[2] != "" && !declares(t, filepath.Join(root, m[1]), m[2]) {
			t.Errorf("%s %s: %v", m[1], m[2], err)
		}
	}
	for _, m := range regexp.MustCompile("`make ([a-z0-9-]+)`").FindAllStringSubmatch(string(data), -1) {
		if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
			t.Errorf("make has no %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(string(data), -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Errorf("a link to %s: %v", m[1], err)
		}
	}
}
