package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitectureIsTrue: each step of a walk in ARCHITECTURE.md is a function
// of the tree, and the layers it draws are those that are tested.
func TestArchitectureIsTrue(t *testing.T) {
	t.Parallel()
	const root = "../.."
	data, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile("(?m)^[0-9]+\\. `([^`:]+\\.go):([^`]+)`")
	walks := 0
	for _, section := range strings.Split(string(data), "\n## ") {
		title, body, _ := strings.Cut(section, "\n")
		if !strings.HasPrefix(title, "Walk: ") {
			continue
		}
		walks++
		steps := step.FindAllStringSubmatch(body, -1)
		if n := len(regexp.MustCompile(`(?m)^[0-9]+\. `).FindAllString(body, -1)); n < 6 || n != len(steps) {
			t.Errorf("%s: %d steps, of which %d name a function", title, n, len(steps))
		}
		// A step may name more functions than its first.
		for _, s := range regexp.MustCompile("`(internal/[^`:]+\\.go):([^`]+)`").FindAllStringSubmatch(body, -1) {
			if !declares(t, filepath.Join(root, s[1]), s[2]) {
				t.Errorf("%s: %s has no %s", title, s[1], s[2])
			}
		}
	}
	if walks != 4 {
		t.Errorf("%d walks", walks)
	}
	_, drawn, _ := strings.Cut(string(data), " cmd/overtone\n")
	drawn, _, _ = strings.Cut(drawn, "```")
	for i, line := range strings.Split(strings.TrimSpace(drawn), "\n") {
		for _, name := range regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1) {
			if _, err := os.Stat(filepath.Join(root, "internal", name)); err != nil {
				break // what the packages are for
			}
			if i >= len(layers) || !slices.Contains(layers[i], name) {
				t.Errorf("%s is drawn on line %d", name, i)
			}
		}
	}
}

// declares reports whether a file declares a function, or a method written as
// Type.Method.
func declares(t *testing.T, path, name string) bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return false
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		got := fn.Name.Name
		if fn.Recv != nil {
			typ := fn.Recv.List[0].Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			if id, ok := typ.(*ast.Ident); ok {
				got = id.Name + "." + got
			}
		}
		if got == name {
			return true
		}
	}
	return false
}
