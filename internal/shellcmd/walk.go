package shellcmd

import (
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxFuel bounds the work on one line: one unit is about one word. A line
	// of ordinary size needs some hundreds.
	maxFuel = 20_000
	// maxDepth bounds nested scripts (bash -c inside bash -c) and function calls.
	maxDepth = 12
	// maxUnroll is how many words of a for loop are followed one by one.
	maxUnroll = 16
	// maxStack bounds the parser, which recurses, in calls: hundreds of
	// substitutions in each other.
	maxStack = 4000
	// maxPath is the longest path that a system takes.
	maxPath = 4096
)

type walker struct {
	cmds  []command
	funcs map[string]*syntax.Stmt
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
	stdin   *arg // text that the command reads, when the line tells
}

func (w *walker) sub(s *scope) *scope {
	w.spend(len(s.vars) / 8)
	c := *s
	c.vars = maps.Clone(s.vars)
	c.stdin = nil
	return &c
}

func (w *walker) spend(n int) {
	w.fuel -= n
	if w.fuel < 0 && w.err == nil {
		w.err = errTooComplex
	}
}

// script parses text as a shell program and follows it. The dialect is bash;
// what bash does not understand is tried as zsh, the shell of some hosts.
func (w *walker) script(text string, zsh bool, s *scope) {
	if w.err != nil {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	w.spend(1 + len(text)/8)
	if w.depth > maxDepth {
		w.err = errTooComplex
	}
	if w.err != nil {
		return
	}
	langs := []syntax.LangVariant{syntax.LangBash, syntax.LangZsh}
	if zsh {
		slices.Reverse(langs)
	}
	var first error
	for _, lang := range langs {
		f, err := parseScript(text, lang)
		if err == nil {
			w.stmts(f.Stmts, s)
			return
		}
		if first == nil {
			first = err
		}
	}
	w.err = first
}

func parseScript(text string, lang syntax.LangVariant) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(lang)).Parse(shallow{strings.NewReader(text)}, "")
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
	w.spend(1)
	// Redirections hold for everything inside the statement, but a cd
	// inside it must outlive it: only these fields are put back.
	hidden, stdin, decides := s.hidden, s.stdin, s.decides
	defer func() { s.hidden, s.stdin, s.decides = hidden, stdin, decides }()
	w.redirects(st.Redirs, s)
	if st.Negated || st.Background || st.Coprocess || st.Disown {
		s.decides = false
	}
	switch c := st.Cmd.(type) {
	case nil:
		if len(st.Redirs) > 0 {
			w.emit(nil, s)
		}
	case *syntax.CallExpr:
		w.call(c, s)
	case *syntax.BinaryCmd:
		w.binary(c, s)
	case *syntax.Subshell:
		inner := w.sub(s)
		inner.stdin = s.stdin
		w.stmts(c.Stmts, inner)
	case *syntax.Block:
		w.stmts(c.Stmts, s)
	case *syntax.IfClause:
		s.decides = false
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond, s)
			w.stmts(c.Then, s)
		}
	case *syntax.WhileClause:
		s.decides = false
		w.stmts(c.Cond, s)
		w.stmts(c.Do, s)
	case *syntax.ForClause:
		s.decides = false
		w.loop(c, s)
	case *syntax.CaseClause:
		s.decides = false
		w.substs(c.Word, s)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.substs(p, s)
			}
			w.stmts(item.Stmts, s)
		}
	case *syntax.FuncDecl:
		if c.Name != nil {
			w.funcs[c.Name.Value] = c.Body
		}
		for _, n := range c.Names {
			w.funcs[n.Value] = c.Body
		}
		if c.Name == nil && len(c.Names) == 0 {
			w.stmt(c.Body, s)
		}
	case *syntax.TimeClause:
		w.stmt(c.Stmt, s)
	case *syntax.CoprocClause:
		s.decides = false
		w.stmt(c.Stmt, w.sub(s))
	case *syntax.DeclClause:
		w.declare(c, s)
	default: // arithmetic and [[ … ]]: only what they substitute runs
		w.substs(c, s)
	}
}

func (w *walker) loop(c *syntax.ForClause, s *scope) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.substs(c.Loop, s)
		w.stmts(c.Do, s)
		return
	}
	for _, item := range iter.Items {
		w.substs(item, s)
	}
	items := w.words(iter.Items, s)
	if len(items) == 0 || len(items) > maxUnroll || slices.ContainsFunc(items, func(a arg) bool { return a.Dynamic }) {
		delete(s.vars, iter.Name.Value)
		w.stmts(c.Do, s)
		return
	}
	for _, item := range items {
		if w.err != nil {
			return
		}
		s.vars[iter.Name.Value] = item.Text
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
		left.stdin = s.stdin
		w.stmt(c.X, left)
		right := w.sub(s)
		right.stdin = w.printed(c.X, s)
		w.stmt(c.Y, right)
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

// printed is the text that a statement certainly prints: an echo, a printf
// without verbs or a cat of a here-document, in front of a shell's pipe.
func (w *walker) printed(st *syntax.Stmt, s *scope) *arg {
	c, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return nil
	}
	args := w.words(c.Args, s)
	if len(args) == 0 {
		return nil
	}
	out := arg{}
	switch base(args[0].Text) {
	case "cat":
		if len(args) > 1 {
			return nil
		}
		for _, r := range st.Redirs {
			if r.Hdoc != nil {
				out = w.text(r.Hdoc, s)
				return &out
			}
		}
		return nil
	case "printf":
		if len(args) == 2 && !strings.Contains(args[1].Text, "%") {
			out = args[1]
			out.Text = ansiC(out.Text)
			return &out
		}
		if len(args) == 3 && (args[1].Text == `%s\n` || args[1].Text == "%s") {
			out = args[2]
			return &out
		}
		return nil
	case "echo":
		var texts []string
		for i, a := range args[1:] {
			if i == 0 && (a.Text == "-n" || a.Text == "-e" || a.Text == "-ne") {
				continue
			}
			out.Dynamic = out.Dynamic || a.Dynamic
			texts = append(texts, a.Text)
		}
		out.Text = strings.Join(texts, " ")
		return &out
	}
	return nil
}

func (w *walker) redirects(list []*syntax.Redirect, s *scope) {
	for _, r := range list {
		w.substs(r.Word, s)
		w.substs(r.Hdoc, s)
		stdout := r.N == nil || r.N.Value == "1"
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			word := r.Hdoc
			if word == nil {
				word = r.Word
			}
			body := w.text(word, s)
			s.stdin = &body
		case syntax.RdrIn, syntax.DplIn:
			s.stdin = nil
		case syntax.DplOut:
			target := w.text(r.Word, s)
			s.hidden = s.hidden || stdout && (target.Dynamic || strings.Trim(target.Text, "0123456789-") != "")
		default:
			target := w.text(r.Word, s)
			shown := target.Text == "/dev/stdout" || target.Text == "/dev/stderr" || target.Text == "/dev/tty"
			s.hidden = s.hidden || stdout && !shown
		}
	}
}

// substs follows the command and process substitutions inside a node.
func (w *walker) substs(n syntax.Node, s *scope) {
	switch v := n.(type) {
	case nil:
		return
	case *syntax.Word:
		if v == nil {
			return
		}
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		if w.err != nil {
			return false
		}
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.captured(n.Stmts, s, false)
			return false
		case *syntax.ProcSubst:
			w.captured(n.Stmts, s, false)
			return false
		}
		return true
	})
}

func (w *walker) captured(list []*syntax.Stmt, s *scope, decides bool) {
	c := w.sub(s)
	c.hidden, c.decides = true, decides
	w.stmts(list, c)
}

func (w *walker) assign(list []*syntax.Assign, s *scope) []assign {
	var out []assign
	for _, a := range list {
		if a.Name == nil {
			continue
		}
		v := arg{Dynamic: true}
		if a.Array == nil && a.Index == nil && !a.Append {
			v = w.text(a.Value, s)
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
	for _, a := range c.Args {
		w.substs(a, s)
	}
	list := w.assign(c.Args, s)
	s.set(list)
	env := s.env
	s.env = append(slices.Clip(env), list...)
	w.emit([]arg{{Text: c.Variant.Value}}, s)
	s.env = env
}

func (w *walker) call(c *syntax.CallExpr, s *scope) {
	for _, a := range c.Args {
		w.substs(a, s)
	}
	list := w.assign(c.Assigns, s)
	if len(c.Args) == 0 {
		// The status of x=$(cmd) is cmd's.
		for i, a := range c.Assigns {
			if sub := soleSubst(a.Value); sub != nil && i == len(c.Assigns)-1 {
				w.captured(sub.Stmts, s, s.decides)
				continue
			}
			w.substs(a, s)
		}
		s.set(list)
		env := s.env
		s.env = append(slices.Clip(env), list...)
		w.emit(nil, s)
		s.env = env
		return
	}
	for _, a := range c.Assigns {
		w.substs(a, s)
	}
	env := s.env
	s.env = append(slices.Clip(env), list...)
	w.exec(w.words(c.Args, s), s)
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

func (w *walker) emit(args []arg, s *scope) {
	w.spend(1 + len(s.env)/8)
	if w.err != nil {
		return
	}
	w.cmds = append(w.cmds, command{
		Args: args, Env: slices.Clone(s.env),
		Dir: s.dir, DirKnown: s.known,
		Hidden: s.hidden, Decides: s.decides,
	})
}

// exec follows one simple command: into functions, wrappers and shells.
func (w *walker) exec(args []arg, s *scope) {
	w.spend(1 + len(args)/8)
	if w.err != nil || len(args) == 0 {
		return
	}
	name := args[0].Text
	if body, ok := w.funcs[name]; ok {
		// The definition may stand in a branch that was not taken, so the
		// name itself stays in the list too.
		w.emit(args, s)
		w.depth++
		if w.depth > maxDepth {
			w.err = errTooComplex
		}
		old := s.args
		s.args = args[1:]
		w.stmt(body, s)
		s.args = old
		w.depth--
		return
	}
	w.program(args, s)
}

// program is exec for a command that cannot be a function, such as the one
// behind env or command.
func (w *walker) program(args []arg, s *scope) {
	w.spend(1 + len(args)/8)
	if w.err != nil || len(args) == 0 {
		return
	}
	switch args[0].Text {
	case "cd", "pushd":
		s.cd(args[1:])
		w.emit(args, s)
		return
	case "popd":
		s.cd([]arg{{Text: "-"}})
		w.emit(args, s)
		return
	case "set":
		for _, a := range args[1:] {
			if a.Text == "errexit" || strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "e") {
				s.errexit = true
			}
		}
		w.emit(args, s)
		return
	case "eval":
		w.inline("eval", join(args[1:]), s)
		return
	case "trap":
		if len(args) > 2 && args[1].Text != "-" && args[1].Text != "" {
			c := w.sub(s)
			c.decides = false
			w.inline("trap", args[1], c)
			return
		}
	}
	if w.wrapped(args, s) {
		return
	}
	w.emit(args, s)
}

// inline follows text as a script in the current shell; text that is not known
// leaves the wrapper itself as the command.
func (w *walker) inline(via string, text arg, s *scope) {
	if text.Dynamic && text.Text == "" {
		w.emit([]arg{{Text: via}, text}, s)
		return
	}
	if text.Dynamic {
		// The guess shows what to look for, the wrapper keeps it from
		// passing as known.
		w.emit([]arg{{Text: via}, text}, s)
	}
	w.script(text.Text, via == "zsh", s)
}

func join(args []arg) arg {
	out := arg{}
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.Text
		out.Dynamic = out.Dynamic || a.Dynamic
	}
	out.Text = strings.Join(texts, " ")
	return out
}

// cd follows a change of directory.
func (s *scope) cd(args []arg) {
	i := 0
	for i < len(args) && len(args[i].Text) > 1 && strings.HasPrefix(args[i].Text, "-") {
		i++
	}
	target := arg{Text: "~"}
	if i < len(args) {
		target = args[i]
	}
	from, known := s.dir, s.known
	switch {
	case target.Text == "-":
		s.dir, s.known = s.old, s.moved
	case target.Text == "" && target.Dynamic:
		s.known = false
	default:
		s.enter(target.Text)
	}
	s.old, s.moved = from, known
}

func (s *scope) enter(dir string) {
	s.dir, s.known = within(s.dir, dir), s.known || rooted(dir)
}

func rooted(dir string) bool {
	return path.IsAbs(dir) || dir == "~" || strings.HasPrefix(dir, "~/")
}

// within is dir as seen from the directory from, both as in command.Dir.
func within(from, dir string) string {
	if rooted(dir) {
		return path.Clean(dir)
	}
	if len(from)+len(dir) > maxPath {
		return from // nobody gets there
	}
	if dir = path.Join(from, dir); dir == "." {
		return ""
	}
	return dir
}
