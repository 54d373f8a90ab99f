//go:build unix

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one small change of a file: text in place of the bytes from..to.
type mutant struct {
	path     string
	line     int
	column   int
	from, to int
	text     string
	was      string

	order uint64 // in the sample
	src   []byte // of the whole file
	body  span   // of the function it lies in
	// returns is what its function returns, as the source has it.
	returns string

	switchable bool // it can be one of many in a program
	joined     bool // it is
	refused    bool // the compiler does not take it
}

type span struct{ from, to int }

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
	var body span
	var returns string
	switchable := false
	add := func(from, to token.Pos, text string) {
		p := fset.Position(from)
		end := fset.Position(to).Offset
		all = append(all, mutant{
			path: path, line: p.Line, column: p.Column, from: p.Offset, to: end, text: text, was: string(src[p.Offset:end]),
			src: src, body: body, returns: returns, switchable: switchable && body.from <= p.Offset && end <= body.to,
		})
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
		case *ast.FuncDecl:
			if switchable = n.Body != nil; switchable {
				body = span{fset.Position(n.Body.Lbrace).Offset + 1, fset.Position(n.Body.Rbrace).Offset}
				// Within another function nothing is recovered.
				switchable = !bytes.Contains(src[body.from:body.to], []byte("recover()"))
			}
			if returns = ""; n.Type.Results != nil {
				returns = string(src[fset.Position(n.Type.Results.Pos()).Offset:fset.Position(n.Type.Results.End()).Offset])
			}
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

// around is the line of the change, with a mark in its place.
func (m mutant) around() string {
	from, to := bytes.LastIndexByte(m.src[:m.from], '\n')+1, len(m.src)
	if n := bytes.IndexByte(m.src[m.to:], '\n'); n >= 0 {
		to = m.to + n
	}
	return string(m.src[from:m.from]) + "\x00" + string(m.src[m.from:to])
}

// apply is the file with the change.
func (m mutant) apply(src []byte) []byte {
	return slices.Concat(src[:m.from], []byte(m.text), src[m.to:])
}

// join writes the files with all changes that are to be joined. Each is a copy of its
// function's body at the beginning of the function, and the name of the program switches
// one on: what tests start again with an environment of their own is changed, too. The
// lines of a copy are said to be those of a file of the change's name, so that the
// compiler's errors tell which one it does not take.
func join(all []mutant) (map[string][]byte, error) {
	files := map[string][]byte{}
	bodies := map[string]map[span][]int{}
	for n, m := range all {
		if m.joined {
			if bodies[m.path] == nil {
				bodies[m.path] = map[span][]int{}
			}
			bodies[m.path][m.body] = append(bodies[m.path][m.body], n)
		}
	}
	for path, in := range bodies {
		var out bytes.Buffer
		var src []byte
		at := 0
		for _, body := range slices.SortedFunc(maps.Keys(in), func(a, b span) int { return a.from - b.from }) {
			src = all[in[body][0]].src
			out.Write(src[at:body.from])
			at = body.from
			for _, n := range in[body] {
				m := all[n]
				before, after := "", "return"
				if m.returns != "" {
					before, after = "return", ""
				}
				fmt.Fprintf(&out, " if switchedMutant == %d { %s func() %s { /*line mutant%d.go:1:1*/ %s%s%s\n }(); %s };", n, before, m.returns, n,
					src[body.from:m.from], m.text, src[m.to:body.to], after)
			}
			fmt.Fprintf(&out, "/*line %s:%d:1*/", filepath.Base(path), 1+bytes.Count(src[:at], []byte("\n")))
		}
		out.Write(src[at:])
		files[path] = out.Bytes()
		if name, err := parser.ParseFile(token.NewFileSet(), path, src, parser.PackageClauseOnly); err != nil {
			return nil, err
		} else {
			files[filepath.Join(filepath.Dir(path), "switched_mutant.go")] = []byte(strings.ReplaceAll(mutantSwitch, "PACKAGE", name.Name.Name))
		}
	}
	return files, nil
}

const mutantSwitch = `package PACKAGE

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

var switchedMutant = func() int {
	exe, _ := os.Executable()
	n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(exe), ".test"))
	if err != nil {
		return -1
	}
	return n
}()
`
