package shellcmd

import (
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seed-6d03985f/overtone/internal/message"
)

const (
	// maxSteps bounds the work on one line: a step is about a byte looked at, and
	// a command costs some hundreds.
	maxSteps = 1 << 18
	// maxDepth bounds nested scripts (bash -c inside bash -c), wrappers and
	// function calls.
	maxDepth = 12
	// maxUnroll is how many words of a for loop are followed one by one.
	maxUnroll = 16
	// maxStack bounds the parser, which recurses, in calls: hundreds of
	// substitutions in each other.
	maxStack = 4000
)

// walker follows a syntax tree and hands each simple command to its reader.
type walker struct {
	// exec takes a simple command; one of no words is an assignment or a
	// redirection that stands alone.
	exec func(args []arg, s *scope)
	// guard is the reader that must be certain, nil for the one that guesses.
	guard *guard
	vars  map[string]traits // what the guard knows of the line's variables
	funcs map[string]*syntax.Stmt
	muted bool // words are looked at again, what they run was followed already
	fuel  int
	depth int
	err   error
}

// scope is what a shell environment knows while the line is followed.
type scope struct {
	dir     string // as command.Dir
	known   bool
	old     string // the directory before the last cd
	moved   bool   // old is valid
	vars    map[string]string
	args    []arg // $1, $2, …
	env     []assign
	hidden  bool
	decides bool
	errexit bool
}

func (w *walker) sub(s *scope) *scope {
	w.spend(2 * len(s.vars))
	c := *s
	c.vars = maps.Clone(s.vars)
	return &c
}

func (w *walker) spend(n int) {
	w.fuel -= n
	if w.fuel < 0 && w.err == nil {
		w.err = errTooComplex
	}
}

// deeper runs f one level down.
func (w *walker) deeper(f func()) {
	if w.depth++; w.depth > maxDepth && w.err == nil {
		w.err = errTooComplex
	}
	if w.err == nil {
		f()
	}
	w.depth--
}

// odd refuses, for the guard, what the walk does not understand well enough.
func (w *walker) odd(why message.Text, n syntax.Node) {
	if w.guard != nil && !w.muted {
		w.guard.refuse(why, source(n))
	}
}

func parseScript(text string, lang syntax.LangVariant) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(shallow{strings.NewReader(text)}, "")
}

// shallow is a script that ends where its parser has come too deep. The parser
// asks for a kilobyte at a time, from the depth it is at: that is the exact
// measure, whatever brackets, keywords or operators brought it there.
type shallow struct{ r io.Reader }

func (s shallow) Read(p []byte) (int, error) {
	if runtime.Callers(maxStack, make([]uintptr, 1)) > 0 {
		return 0, errTooComplex
	}
	return s.r.Read(p)
}

func (w *walker) stmts(list []*syntax.Stmt, s *scope) {
	decides := s.decides
	for i, st := range list {
		s.decides = decides && (i == len(list)-1 || s.errexit)
		w.stmt(st, s)
	}
	s.decides = decides
}

func (w *walker) stmt(st *syntax.Stmt, s *scope) {
	if w.err != nil || st == nil {
		return
	}
	w.spend(16)
	// Redirections hold for everything inside the statement, but a cd
	// inside it must outlive it: only these fields are put back.
	hidden, decides := s.hidden, s.decides
	defer func() { s.hidden, s.decides = hidden, decides }()
	for _, r := range st.Redirs {
		w.redirect(r, s)
	}
	switch st.Cmd.(type) {
	case *syntax.CallExpr, *syntax.BinaryCmd, *syntax.Subshell, *syntax.Block, *syntax.TimeClause, *syntax.DeclClause:
		s.decides = s.decides && !st.Negated && !st.Background && !st.Coprocess && !st.Disown
	default:
		s.decides = false
	}
	switch c := st.Cmd.(type) {
	case nil:
		if len(st.Redirs) > 0 {
			w.odd(message.GuardCode, st) // zsh shows a file that stands alone in a pager
			w.exec(nil, s)
		}
	case *syntax.CallExpr:
		w.call(c, s)
	case *syntax.BinaryCmd:
		w.binary(c, s)
	case *syntax.Subshell:
		w.stmts(c.Stmts, w.sub(s))
	case *syntax.Block:
		w.stmts(c.Stmts, s)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond, s)
			w.stmts(c.Then, s)
		}
	case *syntax.WhileClause:
		w.stmts(c.Cond, s)
		w.stmts(c.Do, s)
	case *syntax.ForClause:
		w.loop(c, s)
	case *syntax.CaseClause:
		w.text(c.Word, s)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.text(p, s)
			}
			w.stmts(item.Stmts, s)
		}
	case *syntax.FuncDecl:
		w.odd(message.GuardCode, st)
		for _, n := range append(slices.Clip(c.Names), c.Name) {
			if n != nil {
				w.funcs[n.Value] = c.Body
			}
		}
		if c.Name == nil && len(c.Names) == 0 {
			w.stmt(c.Body, s)
		}
	case *syntax.TimeClause:
		w.stmt(c.Stmt, s)
	case *syntax.CoprocClause:
		w.odd(message.GuardCode, st)
		w.stmt(c.Stmt, w.sub(s))
	case *syntax.DeclClause:
		w.declare(c, s)
	case *syntax.ArithmCmd:
		w.arith(s, c.X)
	case *syntax.LetClause:
		w.arith(s, c.Exprs...)
	case *syntax.TestClause:
		w.test(c.X, s)
	default:
		w.odd(message.GuardCode, st)
	}
}

func (w *walker) loop(c *syntax.ForClause, s *scope) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		if l, ok := c.Loop.(*syntax.CStyleLoop); ok {
			w.arith(s, l.Init, l.Cond, l.Post)
		}
		w.stmts(c.Do, s)
		return
	}
	name := iter.Name.Value
	if w.guard != nil && !assignable(name) {
		w.odd(message.GuardAssign, iter.Name)
	}
	items := w.words(iter.Items, s)
	if w.guard != nil || len(items) == 0 || len(items) > maxUnroll || slices.ContainsFunc(items, func(a arg) bool { return a.Dynamic }) {
		delete(s.vars, name)
		w.stmts(c.Do, s)
		return
	}
	for _, item := range items {
		if w.err != nil {
			return
		}
		s.vars[name] = item.Text
		w.stmts(c.Do, s)
	}
}

func (w *walker) binary(c *syntax.BinaryCmd, s *scope) {
	decides := s.decides
	switch c.Op {
	case syntax.AndStmt:
		w.stmt(c.X, s)
		w.stmt(c.Y, s)
	case syntax.OrStmt:
		s.decides = decides && fails(c.Y)
		w.stmt(c.X, s)
		s.decides = false
		dir, known := s.dir, s.known
		w.stmt(c.Y, s)
		// The right side runs when the left one failed; what follows the
		// list most likely runs after a left side that worked.
		s.dir, s.known = dir, known
	default: // a pipe
		left := w.sub(s)
		left.decides, left.hidden = false, true
		w.stmt(c.X, left)
		w.stmt(c.Y, w.sub(s))
	}
	s.decides = decides
}

// fails reports whether a statement certainly ends with a non-zero status.
func fails(st *syntax.Stmt) bool {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	switch c.Args[0].Lit() {
	case "false":
		return true
	case "exit", "return":
		return len(c.Args) == 2 && c.Args[1].Lit() != "0" && c.Args[1].Lit() != ""
	}
	return false
}

func (w *walker) redirect(r *syntax.Redirect, s *scope) {
	w.text(r.Hdoc, s)
	target := w.text(r.Word, s)
	stdout := r.N == nil || r.N.Value == "1"
	device := !target.Dynamic && slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr"}, target.Text)
	// Digits with a - behind them move a descriptor in bash, and name a file in zsh.
	descriptor := !target.Dynamic && (target.Text == "-" || target.Text != "" && strings.Trim(target.Text, "0123456789") == "")
	reads := device
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		reads = true
	case syntax.RdrIn:
		reads = !strings.HasPrefix(target.certain(), "/dev/tcp") && !strings.HasPrefix(target.certain(), "/dev/udp")
	case syntax.DplIn:
		reads = device || descriptor
	case syntax.DplOut:
		s.hidden = s.hidden || stdout && !descriptor
		reads = device || descriptor
	default:
		shown := device && target.Text != "/dev/null" || target.Text == "/dev/tty"
		s.hidden = s.hidden || stdout && !shown
	}
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" { // {name}>file assigns
		w.odd(message.GuardAssign, r.N)
	}
	if !reads {
		w.odd(message.GuardRedirect, r.Word)
	}
}

func (w *walker) captured(list []*syntax.Stmt, s *scope, decides bool) {
	if w.muted {
		return
	}
	c := w.sub(s)
	c.hidden, c.decides = true, decides
	if len(list) == 1 && list[0].Cmd == nil && len(list[0].Redirs) == 1 && list[0].Redirs[0].Op == syntax.RdrIn { // $(<file)
		w.redirect(list[0].Redirs[0], c)
		w.exec(nil, c)
		return
	}
	w.stmts(list, c)
}

// assign reads assignments. Exported ones are those that a program gets to see.
func (w *walker) assign(list []*syntax.Assign, exported bool, s *scope) []assign {
	var out []assign
	for i, a := range list {
		if a.Name == nil {
			if w.text(a.Value, s); a.Value != nil {
				w.odd(message.GuardAssign, a.Value)
			}
			continue
		}
		w.arith(s, a.Index)
		if a.Array != nil {
			for _, e := range a.Array.Elems {
				w.arith(s, e.Index)
				w.expand(e.Value, s, inWord)
			}
		}
		v := arg{}
		if sub := soleSubst(a.Value); sub != nil && !exported && i == len(list)-1 {
			w.captured(sub.Stmts, s, s.decides) // the status of x=$(cmd) is cmd's
			v.Dynamic = true
		} else if v = w.text(a.Value, s); a.Array != nil || a.Index != nil || a.Append {
			v = arg{Dynamic: true}
		}
		if w.guard != nil && (!exported && !assignable(a.Name.Value) || exported && (v.Dynamic || !is("ENV", a.Name.Value+"="+v.Text))) {
			w.odd(message.GuardAssign, a.Name)
		}
		out = append(out, assign{Name: a.Name.Value, Value: v})
	}
	return out
}

func (s *scope) set(list []assign) {
	for _, a := range list {
		if a.Value.Dynamic && a.Value.Text == "" {
			delete(s.vars, a.Name)
			continue
		}
		s.vars[a.Name] = a.Value.Text
	}
}

func (w *walker) declare(c *syntax.DeclClause, s *scope) {
	list := w.assign(c.Args, true, s)
	s.set(list)
	w.under(list, []arg{literal(c.Variant.Value)}, s)
}

func (w *walker) call(c *syntax.CallExpr, s *scope) {
	args := w.words(c.Args, s)
	// Only read looks at what is given to it alone of how words are split.
	reads := len(args) > 0 && args[0].Text == "read" && len(c.Assigns) == 1 && c.Assigns[0].Name.Value == "IFS" && c.Assigns[0].Array == nil
	if reads {
		w.text(c.Assigns[0].Value, s)
		c = &syntax.CallExpr{Args: c.Args}
	}
	list := w.assign(c.Assigns, len(c.Args) > 0, s)
	if len(c.Args) == 0 {
		s.set(list)
	}
	w.under(list, args, s)
}

// under runs a command with assignments of its own.
func (w *walker) under(list []assign, args []arg, s *scope) {
	env := s.env
	s.env = append(slices.Clip(env), list...)
	if w.err == nil {
		w.exec(args, s)
	}
	s.env = env
}

func soleSubst(wd *syntax.Word) *syntax.CmdSubst {
	if wd == nil || len(wd.Parts) != 1 {
		return nil
	}
	p := wd.Parts[0]
	if q, ok := p.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		p = q.Parts[0]
	}
	sub, _ := p.(*syntax.CmdSubst)
	return sub
}

// arith follows expressions. A name in one stands for its value, which the shell
// evaluates as an expression again, and a subscript in that runs commands:
// x='a[$(…)]'; echo $((x)). So only names that hold nothing but numbers are clear.
func (w *walker) arith(s *scope, list ...syntax.ArithmExpr) {
	for _, x := range list {
		if w.spend(16); w.err != nil {
			return
		}
		switch x := x.(type) {
		case nil:
		case *syntax.BinaryArithm:
			w.arith(s, x.X, x.Y)
		case *syntax.UnaryArithm:
			w.arith(s, x.X)
		case *syntax.ParenArithm:
			w.arith(s, x.X)
		case *syntax.Word:
			if !w.text(x, s).number && !w.vars[x.Lit()].number {
				w.odd(message.GuardArith, x)
			}
		default:
			w.odd(message.GuardArith, x)
		}
	}
}

// test follows [[ … ]], where a comparison of numbers is arithmetic too.
func (w *walker) test(x syntax.TestExpr, s *scope) {
	switch x := x.(type) {
	case *syntax.Word:
		w.text(x, s)
	case *syntax.ParenTest:
		w.test(x.X, s)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar || x.Op == syntax.TsFdTerm {
			w.odd(message.GuardArith, x.X)
		}
		w.test(x.X, s)
	case *syntax.BinaryTest:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			if word, ok := side.(*syntax.Word); ok && x.Op >= syntax.TsEql && x.Op <= syntax.TsGtr {
				w.arith(s, word)
			} else {
				w.test(side, s)
			}
		}
	default:
		w.odd(message.GuardArith, x)
	}
}
