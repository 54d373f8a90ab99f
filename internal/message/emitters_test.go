package message

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Every type of event that has a constant is emitted somewhere, and nobody
// writes one as a literal: a type without an emitter has a label and no constant.
func TestEventsHaveEmitters(t *testing.T) {
	t.Parallel()
	constants := eventConstants(t)
	for typ := range constants {
		if _, ok := EventLabel(typ); !ok {
			t.Errorf("%s has a constant and no label", typ)
		}
	}
	emitted := map[string]bool{}
	for _, dir := range []string{"../../internal", "../../cmd", "../../team"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "events.go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if name := callee(n); (name == "On" || name == "emit") && len(n.Args) > 0 {
						emitted[constantName(n.Args[0])] = true
					}
				case *ast.AssignStmt: // the type of an event, chosen before it is emitted
					for _, v := range n.Rhs {
						emitted[constantName(v)] = true
					}
				case *ast.BasicLit:
					text, err := strconv.Unquote(n.Value)
					if _, is := EventLabel(text); n.Kind == token.STRING && err == nil && is {
						t.Errorf("%s writes %s, not its constant", path, n.Value)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for typ, name := range constants {
		if !emitted[name] {
			t.Errorf("nothing emits %s (%s)", name, typ)
		}
	}
}

func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

func constantName(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return ""
}

// eventConstants reads the constants of events.go: type → name.
func eventConstants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "events.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "Event") || len(v.Values) != 1 {
			return true
		}
		lit, ok := v.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		typ, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		constants[typ] = v.Names[0].Name
		return true
	})
	return constants
}
