//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// mutant is one small change of a file: text in place of the bytes from..to.
type mutant struct {
	path     string
	line     int
	column   int
	from, to int
	text     string
	was      string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s → %s", m.path, m.line, oneLine(m.was), oneLine(m.text))
}

// operators that are exchanged. A change that the compiler refuses is no mutant: no
// types are needed here.
var operators = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

var words = map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}

// mutants lists the changes of a file, in the order of their places.
func mutants(path string, src []byte) ([]mutant, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, 0)
	if err != nil {
		return nil, err
	}
	var all []mutant
	add := func(from, to token.Pos, text string) {
		p := fset.Position(from)
		end := fset.Position(to).Offset
		all = append(all, mutant{path: path, line: p.Line, column: p.Column, from: p.Offset, to: end, text: text, was: string(src[p.Offset:end])})
	}
	exchange := func(at token.Pos, op token.Token) {
		for _, other := range operators[op] {
			add(at, at+token.Pos(len(op.String())), other.String())
		}
	}
	// The statements of a block or of a case may go; what they declare may not.
	removable := func(list []ast.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *ast.AssignStmt:
				if s.Tok != token.DEFINE {
					add(s.Pos(), s.End(), "")
				}
			case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt, *ast.DeferStmt, *ast.SendStmt:
				add(s.Pos(), s.End(), "")
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.BinaryExpr:
			exchange(n.OpPos, n.Op)
		case *ast.AssignStmt:
			exchange(n.TokPos, n.Tok)
		case *ast.IncDecStmt:
			exchange(n.TokPos, n.Tok)
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				add(n.OpPos, n.X.Pos(), "")
			}
		case *ast.IfStmt:
			// A condition as a whole: the rule is off, or holds always.
			cond := string(src[fset.Position(n.Cond.Pos()).Offset:fset.Position(n.Cond.End()).Offset])
			add(n.Cond.Pos(), n.Cond.End(), "false && ("+cond+")")
			add(n.Cond.Pos(), n.Cond.End(), "true || ("+cond+")")
		case *ast.Ident:
			if other, ok := words[n.Name]; ok {
				add(n.Pos(), n.End(), other)
			}
		case *ast.BasicLit:
			if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil && n.Kind == token.INT {
				add(n.Pos(), n.End(), strconv.FormatInt(v+1, 10))
				if v > 0 {
					add(n.Pos(), n.End(), strconv.FormatInt(v-1, 10))
				}
			}
		case *ast.BlockStmt:
			removable(n.List)
		case *ast.CaseClause:
			removable(n.Body)
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b mutant) int { return a.from - b.from })
	return all, nil
}

// apply is the file with the change.
func (m mutant) apply(src []byte) []byte {
	return slices.Concat(src[:m.from], []byte(m.text), src[m.to:])
}
