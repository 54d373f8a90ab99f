package hook

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestNobodySleepsUnderTheLock: whoever holds a session's lock keeps the other hooks of
// the session waiting, so what waits for something waits before it takes the lock. A
// function that is given a transaction runs under the lock, and neither it nor what it
// calls may sleep.
func TestNobodySleepsUnderTheLock(t *testing.T) {
	t.Parallel()
	calls, locked := map[string][]string{}, map[string]bool{} // by package and name
	fset := token.NewFileSet()
	for _, pkg := range []string{"hook", "session", "store"} {
		files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				name := pkg + "." + fn.Name.Name
				own := ""
				if fn.Recv != nil && len(fn.Recv.List[0].Names) > 0 {
					own = fn.Recv.List[0].Names[0].Name
				}
				calls[name] = append(calls[name], called(pkg, own, fn.Body)...)
				locked[name] = locked[name] || takesTx(fn.Type) || fn.Recv != nil && takesTx(&ast.FuncType{Params: fn.Recv})
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					if lit, ok := n.(*ast.FuncLit); ok && takesTx(lit.Type) {
						inner := name + " under the lock"
						calls[inner], locked[inner] = append(calls[inner], called(pkg, own, lit.Body)...), true
					}
					return true
				})
			}
		}
	}
	if len(locked) == 0 || !sleeps("session.AwaitBatch", calls, map[string]bool{}) || !sleeps("hook.preCompact", calls, map[string]bool{}) {
		t.Fatal("the test does not see who sleeps")
	}
	for name, is := range locked {
		if is && sleeps(name, calls, map[string]bool{}) {
			t.Errorf("%s holds a session's lock and sleeps", name)
		}
	}
}

// takesTx reports a function that is handed a transaction.
func takesTx(f *ast.FuncType) bool {
	for _, p := range f.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			switch x := star.X.(type) {
			case *ast.Ident:
				if x.Name == "Tx" {
					return true
				}
			case *ast.SelectorExpr:
				if x.Sel.Name == "Tx" {
					return true
				}
			}
		}
	}
	return false
}

// called are the functions that a body calls, by package and name: those of the three
// packages, methods of its own receiver, and those of a transaction.
func called(pkg, own string, body ast.Node) (list []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			list = append(list, pkg+"."+f.Name)
		case *ast.SelectorExpr:
			x, ok := f.X.(*ast.Ident)
			switch {
			case !ok:
			case x.Name == "time", x.Name == "session", x.Name == "store":
				list = append(list, x.Name+"."+f.Sel.Name)
			case x.Name == "tx" && pkg == "hook":
				list = append(list, "session."+f.Sel.Name)
			case x.Name == "tx", x.Name == own:
				list = append(list, pkg+"."+f.Sel.Name)
			}
		}
		return true
	})
	return list
}

func sleeps(name string, calls map[string][]string, seen map[string]bool) bool {
	if name == "time.Sleep" {
		return true
	}
	if seen[name] {
		return false
	}
	seen[name] = true
	for _, c := range calls[name] {
		if sleeps(c, calls, seen) {
			return true
		}
	}
	return false
}
