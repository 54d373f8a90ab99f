package shellcmd

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Refusal says why a line is not known to read only.
type Refusal struct {
	text message.Text
	what string
}

// In is the reason and the way out, for the agent.
func (r Refusal) In(lang message.Lang) string { return r.text.Format(lang, r.what) }

// ReadOnly reports whether bash would do nothing but read if it ran line, or run
// overtone itself. It follows the syntax tree and knows what it allows: each kind
// of statement, expansion, redirection, assignment and program has its rule, and
// what has none is refused. Nothing is guessed: a word counts by its value only
// where the line alone decides it, and else by what it can never become (an
// option, two words). What the user set up (aliases, configuration, PATH) is
// trusted: the guard keeps an agent to its role, it is no sandbox.
func ReadOnly(line string) (bool, Refusal) {
	g := guard{fuel: maxSteps}
	g.script(line, syntax.LangBash)
	return !g.denied, g.why
}

// Personal is the command of overtone that a line would run and that only a person
// runs: trust, init, uninstall, config; "" if there is none. Programs are told by
// the tree, so that a message or a path with these words in it passes. Of trust the
// words are enough: it lets files run commands.
func Personal(line string) string {
	verbs := append(slices.Clip(personal), "workflow trust", "trust")
	named := slices.IndexFunc(verbs, func(v string) bool { return strings.Contains(line, v) })
	if !strings.Contains(line, "overtone") || named < 0 {
		return ""
	}
	if len(line) > 4*maxLine { // too long for a pattern, and for most shells
		return "overtone " + verbs[named]
	}
	if reads, _ := ReadOnly(line); reads {
		return ""
	}
	if matches(`\bovertone\b[^;&|\n]*\btrust(ed\.json)?\b`, line) {
		return "overtone workflow trust"
	}
	cmds, err := parse(line)
	for _, verb := range personal {
		// What the parser does not understand, a shell may.
		if err != nil && matches(`\bovertone\s+(-\S+\s+)*`+verb+`\b`, line) ||
			slices.ContainsFunc(cmds, func(c command) bool { return c.name() == "overtone" && verbOf(c) == verb }) {
			return "overtone " + verb
		}
	}
	return ""
}

var personal = []string{"init", "uninstall", "config"}

// verbOf is the first word behind a program that is no option; "" where only help
// is asked for.
func verbOf(c command) (verb string) {
	for _, a := range c.Args[1:] {
		switch {
		case a.Text == "--help" || a.Text == "-h":
			return ""
		case verb == "" && !strings.HasPrefix(a.Text, "-"):
			verb = a.Text
		}
	}
	return verb
}

// maxSteps bounds the work on one line: a step is about a byte looked at, and a
// command costs some hundreds. What needs more is refused.
const maxSteps = 1 << 18

type guard struct {
	vars   map[string]class
	fuel   int
	depth  int     // of commands that run commands
	denied bool    // nothing is followed any more
	why    Refusal // the first one found
}

func (g *guard) refuse(text message.Text, what string) {
	if g.denied {
		return
	}
	if r := []rune(what); len(r) > 60 {
		what = string(r[:60]) + "…"
	}
	g.denied, g.why = true, Refusal{text, what}
}

func (g *guard) spend(n int) {
	if g.fuel -= n; g.fuel < 0 {
		g.refuse(message.GuardSyntax, errTooComplex.Error())
	}
}

// source is a node as it was written, for a refusal.
func (g *guard) source(n syntax.Node) string {
	var b strings.Builder
	if g.denied || syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n) != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}

// script checks a whole program; bash -c brings in further ones.
func (g *guard) script(text string, lang syntax.LangVariant) {
	// A control character may mean one thing to the parser, another to the shell.
	odd := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
	if len(text) > maxLine || strings.ContainsFunc(text, odd) || !utf8.ValidString(text) {
		g.refuse(message.GuardSyntax, errTooComplex.Error())
		return
	}
	g.spend(len(text))
	f, err := parseScript(text, lang)
	if err != nil {
		g.refuse(message.GuardSyntax, err.Error())
		return
	}
	outer := g.vars
	g.vars = g.classes(f)
	g.stmts(f.Stmts)
	g.vars = outer
}

func (g *guard) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		g.stmt(st)
	}
}

func (g *guard) stmt(st *syntax.Stmt) {
	if g.spend(16); g.denied {
		return
	}
	// First, since a redirection truncates its file on any kind of statement.
	for _, r := range st.Redirs {
		g.redirect(r)
	}
	switch c := st.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		args := g.words(c.Args)
		for _, a := range c.Assigns {
			g.assign(a, len(args) > 0 && !(a.Name.Value == "IFS" && args[0].text == "read"))
		}
		if len(args) > 0 {
			g.exec(args)
		}
	case *syntax.BinaryCmd:
		g.stmt(c.X)
		g.stmt(c.Y)
	case *syntax.Subshell:
		g.stmts(c.Stmts)
	case *syntax.Block:
		g.stmts(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			g.stmts(c.Cond)
			g.stmts(c.Then)
		}
	case *syntax.WhileClause:
		g.stmts(c.Cond)
		g.stmts(c.Do)
	case *syntax.ForClause:
		switch l := c.Loop.(type) {
		case *syntax.WordIter:
			g.assignable(l.Name.Value)
			g.words(l.Items)
		case *syntax.CStyleLoop:
			g.arith(l.Init, l.Cond, l.Post)
		}
		g.stmts(c.Do)
	case *syntax.CaseClause:
		g.word(c.Word)
		for _, item := range c.Items {
			g.words(item.Patterns)
			g.stmts(item.Stmts)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			g.stmt(c.Stmt)
		}
	case *syntax.DeclClause:
		for _, a := range c.Args {
			w := g.word(a.Value)
			switch {
			case a.Name == nil && (!w.static || !matches(`^-[aAfFpr]+$`, w.text)): // -i evaluates, -n renames
				g.refuse(message.GuardAssign, g.source(a.Value))
			case a.Value != nil && !w.number && !w.tokens && (strings.HasPrefix(w.text, "(") || w.text == "" && !w.static):
				// declare takes '(…)' for an array, whose elements it expands.
				g.refuse(message.GuardCode, g.source(a.Value))
			case a.Name != nil:
				g.assign(a, c.Variant.Value == "export")
			}
		}
	case *syntax.ArithmCmd:
		g.arith(c.X)
	case *syntax.LetClause:
		g.arith(c.Exprs...)
	case *syntax.TestClause:
		g.test(c.X)
	default: // functions and coprocesses change what a name means
		g.refuse(message.GuardCode, g.source(st))
	}
}

func (g *guard) redirect(r *syntax.Redirect) {
	if r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" { // {name}>file assigns
		g.refuse(message.GuardAssign, r.N.Value)
	}
	g.word(r.Hdoc)
	w := g.word(r.Word)
	ok := false
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		ok = true
	case syntax.RdrIn:
		ok = !matches(`^/dev/(tcp|udp)`, w.text)
	case syntax.DplIn, syntax.DplOut:
		ok = w.static && matches(`^([0-9]+-?|-|/dev/(null|stdout|stderr))$`, w.text)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		ok = w.static && matches(`^/dev/(null|stdout|stderr)$`, w.text)
	}
	if !ok {
		g.refuse(message.GuardRedirect, g.source(r.Word))
	}
}

// assign checks an assignment, and its value when a program gets to see it: any
// name may load code or start a program there, except a few that cannot.
func (g *guard) assign(a *syntax.Assign, exported bool) {
	g.arith(a.Index)
	w := g.word(a.Value)
	if a.Array != nil {
		w.static = false
		for _, e := range a.Array.Elems {
			g.arith(e.Index)
			g.word(e.Value)
		}
	}
	if !exported {
		g.assignable(a.Name.Value)
	} else if !w.static || a.Append || a.Index != nil || !matches(wrappers["env"]+"$", a.Name.Value+"="+w.text+"¦") {
		g.refuse(message.GuardAssign, a.Name.Value)
	}
}

// assignable refuses variables that the shell or a program may look at. By
// custom those are in capitals, so small letters pass, except what zsh ties to
// PATH and what npm and proxies read; of the capitals only names of no meaning.
func (g *guard) assignable(name string) {
	if !matches(`^([a-z]\w*|[A-Z]|IFS|BASE|BRANCH|COMMIT|COUNT|DIR|END|FILE|FILES|HASH|ID|LINE|MSG|NAME|OUT|PATTERN|PKG|PR|REF|REPO|RESULT|ROOT|SHA|SRC|START|TAG|TARGET|URL|VERSION|([A-Z]+_)+(BRANCH|COMMIT|COUNT|HASH|LINES|SHA))$`, name) ||
		matches(`path$|^(npm|GIT|BASH|LD)_|_proxy$|^(argv|fignore|histchars|prompt|psvar|signals|status|watch)$`, name) {
		g.refuse(message.GuardAssign, name)
	}
}

// arith checks expressions. A name in one stands for its value, which bash
// evaluates as an expression again, and a subscript in that runs commands:
// x='a[$(…)]'; echo $((x)). So only names that can hold nothing but numbers pass.
func (g *guard) arith(list ...syntax.ArithmExpr) {
	for _, x := range list {
		if g.spend(16); g.denied {
			return
		}
		switch x := x.(type) {
		case nil:
		case *syntax.BinaryArithm:
			if name, ok := assigned(x); ok {
				g.assignable(name)
			}
			g.arith(x.X, x.Y)
		case *syntax.UnaryArithm:
			if name, ok := assigned(x); ok {
				g.assignable(name)
			}
			g.arith(x.X)
		case *syntax.ParenArithm:
			g.arith(x.X)
		case *syntax.Word:
			lit := x.Lit()
			if w := g.word(x); lit != "@" && lit != "*" && g.vars[lit] != number && !w.number {
				g.refuse(message.GuardArith, g.source(x))
			}
		default:
			g.refuse(message.GuardArith, g.source(x))
		}
	}
}

// assigned is the name that an operator assigns to.
func assigned(x syntax.ArithmExpr) (string, bool) {
	var to syntax.ArithmExpr
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if matches(`^([^=!<>]*|<<|>>)=$`, x.Op.String()) {
			to = x.X
		}
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			to = x.X
		}
	}
	w, ok := to.(*syntax.Word)
	if !ok {
		return "", to != nil
	}
	return w.Lit(), true
}

// test checks [[ … ]], where a comparison of numbers is arithmetic too.
func (g *guard) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		g.word(x)
	case *syntax.ParenTest:
		g.test(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			g.refuse(message.GuardArith, g.source(x.X))
		}
		g.test(x.X)
	case *syntax.BinaryTest:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			g.test(side)
			if w, ok := side.(*syntax.Word); x.Op >= syntax.TsEql && x.Op <= syntax.TsGtr && !(ok && g.word(w).number) {
				g.refuse(message.GuardArith, g.source(side))
			}
		}
	default:
		g.refuse(message.GuardArith, g.source(x))
	}
}

// class says what the line lets a variable hold, at any time: the flow is not
// followed, so a variable is as wild as its wildest assignment. It may also be
// unset, or hold what the environment gave it.
type class uint8

const (
	unknown class = iota // never assigned here
	number               // an integer
	plain                // one word without special characters that is no option
	leading              // no option
	wild
)

// classes looks at every assignment in a program, whatever form it has.
func (g *guard) classes(f *syntax.File) map[string]class {
	vars := map[string]class{}
	words := guard{denied: true} // it follows nothing
	set := func(name string, values ...*syntax.Word) {
		c := number
		for _, v := range values {
			switch w := words.word(v); {
			case w.number || v != nil && matches(`^\{\d+\.\.\d+\}$`, v.Lit()):
			case w.static && matches(`^[A-Za-z0-9_./][A-Za-z0-9_./%+=,-]*$`, w.text) || w.tokens:
				c = max(c, plain)
			case w.lead && v != nil:
				c = max(c, leading)
			default:
				c = wild
			}
		}
		vars[name] = max(vars[name], c)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if g.spend(8); g.denied {
			return false
		}
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				set(n.Name.Value, n.Value)
			}
		case *syntax.ForClause:
			if it, ok := n.Loop.(*syntax.WordIter); ok {
				set(it.Name.Value, it.Items...)
				if n.Select || len(it.Items) == 0 {
					set(it.Name.Value, nil)
				}
			}
		case *syntax.BinaryArithm, *syntax.UnaryArithm:
			if name, ok := assigned(n.(syntax.ArithmExpr)); ok {
				set(name)
			}
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				set(n.Param.Value, nil)
			}
		case *syntax.CallExpr: // read, mapfile, printf -v: any word may be a name
			for _, a := range n.Args {
				if w := words.word(a); w.static && assignment(w.text+"=") {
					set(w.text, nil)
				}
			}
		}
		return true
	})
	return vars
}

// word is a shell word as far as the line decides it.
type word struct {
	text   string // the value; if not static, what it starts with
	static bool   // the value is certain
	one    bool   // it is exactly one argument
	lead   bool   // no argument that it becomes starts with a dash
	number bool   // an integer, or nothing
	tokens bool   // every argument that it becomes is a plain one
}

// option reports whether a word may be an option.
func (w word) option() bool {
	return !w.static && !w.lead || w.static && len(w.text) > 1 && w.text[0] == '-'
}

func (g *guard) words(list []*syntax.Word) []word {
	out := make([]word, len(list))
	for i, w := range list {
		out[i] = g.word(w)
	}
	return out
}

// word checks a word's expansions and tells what can be known of it.
func (g *guard) word(x *syntax.Word) word {
	g.spend(16)
	b := builder{word: word{static: true, one: true}}
	if x == nil {
		return b.word
	}
	b.sole = len(x.Parts) == 1
	var open strings.Builder
	for _, p := range x.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			open.WriteString(l.Value)
		}
	}
	b.globs = strings.Contains(open.String(), "]")
	b.braces = strings.Contains(open.String(), "{") && matches(`(?s)(,|\.\.).*\}`, open.String())
	for i, p := range x.Parts {
		g.part(&b, p, false, i == 0)
	}
	b.text = b.buf.String()
	if b.static {
		b.lead = !strings.HasPrefix(b.text, "-")
		digits := strings.TrimPrefix(b.text, "-")
		b.number = digits != "" && strings.Trim(digits, "0123456789") == ""
	}
	return b.word
}

// builder collects a word from its parts.
type builder struct {
	word
	buf           strings.Builder // becomes text
	sole          bool            // there is only one part
	empty         bool            // what came so far may be nothing
	globs, braces bool            // its unquoted text may be a pattern, or an expansion of braces
}

// expansion is what is known of a part that only the shell can expand.
type expansion struct {
	splits bool // it may become any number of arguments
	many   bool // it may become none or several, which start like the word
	safe   bool // it does not start with a dash
	filled bool // it is never empty; else what follows may come first
}

func (b *builder) expand(e expansion) {
	switch start := b.buf.String(); {
	case b.static:
		b.static, b.empty = false, start == "" && !e.filled
		b.lead = start != "" && start[0] != '-' || start == "" && e.safe
	case b.empty:
		b.lead, b.empty = b.lead && e.safe, !e.filled
	}
	b.one = b.one && !e.splits && !e.many
	b.lead = b.lead && !e.splits
}

func (b *builder) add(text string) {
	switch {
	case b.static:
		b.buf.WriteString(text)
	case b.empty && text != "":
		b.lead, b.empty = b.lead && text[0] != '-', false
	}
}

// literal adds text in which unquoted characters may still expand.
func (b *builder) literal(text string, first bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.add(text[i : i+1])
		case c == '~' && i == 0 && first:
			b.expand(expansion{safe: true, filled: true})
		case c == '*', c == '?', c == '[' && b.globs, c == '{' && b.braces:
			b.expand(expansion{many: true})
		default:
			b.add(text[i : i+1])
		}
	}
}

func (g *guard) part(b *builder, p syntax.WordPart, quoted, first bool) {
	g.spend(16)
	switch p := p.(type) {
	case *syntax.Lit:
		g.spend(len(p.Value))
		if quoted {
			b.add(unescape(p.Value, "$`\"\\\n"))
		} else {
			b.literal(p.Value, first)
		}
	case *syntax.SglQuoted:
		g.spend(len(p.Value))
		switch {
		case !p.Dollar:
			b.add(p.Value)
		case matches(`\\[^abeEfnrtv\\'"]`, p.Value): // depends on the locale, or ends the word
			b.expand(expansion{})
		default:
			b.add(ansiC(p.Value))
		}
	case *syntax.DblQuoted:
		if p.Dollar { // translated, then expanded
			g.refuse(message.GuardCode, g.source(p))
		}
		b.sole = b.sole && len(p.Parts) == 1
		for _, q := range p.Parts {
			g.part(b, q, true, false)
		}
	case *syntax.ParamExp:
		g.param(b, p, quoted)
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			g.refuse(message.GuardCode, g.source(p))
		}
		g.stmts(p.Stmts)
		kind := printedClass(p)
		b.number, b.tokens = b.sole && kind == number, b.sole && kind == plain
		b.expand(expansion{splits: !quoted && g.cuts(kind), many: !quoted, safe: kind != wild})
	case *syntax.ArithmExp:
		g.arith(p.X)
		b.number = b.sole
		b.expand(expansion{safe: true, filled: true})
	case *syntax.ProcSubst:
		g.stmts(p.Stmts)
		b.expand(expansion{safe: true, filled: true})
	default: // *(…): zsh runs code in them
		g.refuse(message.GuardCode, g.source(p))
	}
}

// param adds an expansion of a variable.
func (g *guard) param(b *builder, p *syntax.ParamExp, quoted bool) {
	if p.Excl || p.Param == nil || p.Flags != nil || p.Width || p.IsSet || len(p.Modifiers) > 0 { // ${!x} evaluates x
		g.refuse(message.GuardCode, g.source(p))
		return
	}
	all := p.Param.Value == "@"
	if w, ok := p.Index.(*syntax.Word); ok {
		all = all || w.Lit() == "@"
	}
	g.arith(p.Index)
	if p.Slice != nil {
		g.arith(p.Slice.Offset, p.Slice.Length)
	}
	if p.Repl != nil {
		g.words([]*syntax.Word{p.Repl.Orig, p.Repl.With})
	}
	if p.Exp != nil {
		w := g.word(p.Exp.Word)
		switch p.Exp.Op {
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			g.assignable(p.Param.Value)
		case syntax.OtherParamOps: // ${x@P} expands a prompt
			if !matches(`^[QULu]$`, w.text) {
				g.refuse(message.GuardCode, g.source(p))
			}
		}
	}
	kind := wild
	switch {
	case p.Length || slices.Contains([]string{"#", "?", "$"}, p.Param.Value):
		kind = number
	case p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil:
	case g.vars[p.Param.Value] != unknown:
		kind = g.vars[p.Param.Value]
	}
	b.number = b.number || b.sole && kind == number
	b.expand(expansion{splits: !quoted && g.cuts(kind) || all && !p.Length, many: !quoted, safe: kind < wild, filled: p.Length})
}

// cuts reports whether the shell may cut a value into words that start anywhere:
// a plain one too, once IFS is not what it was.
func (g *guard) cuts(c class) bool { return c >= leading || c == plain && g.vars["IFS"] != unknown }

// printedClass tells what a substitution prints: a number, hashes of commits, or
// anything. A program that fails prints nothing, as long as its complaints are
// not caught too: nothing but its input may be redirected.
func printedClass(c *syntax.CmdSubst) class {
	if len(c.Stmts) != 1 {
		return wild
	}
	st := c.Stmts[0]
	for {
		pipe, ok := st.Cmd.(*syntax.BinaryCmd)
		if !ok || pipe.Op != syntax.Pipe {
			break
		}
		st = pipe.Y
	}
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || slices.ContainsFunc(st.Redirs, func(r *syntax.Redirect) bool { return r.Op != syntax.RdrIn || r.N != nil }) {
		return wild
	}
	words := make([]string, len(call.Args))
	for i, a := range call.Args {
		words[i] = a.Lit()
	}
	switch line := strings.Join(words, " "); {
	case matches(`^(wc -[clmw]|nproc|date \+%s|seq( \d+)+)$`, line):
		return number
	case st == c.Stmts[0] && matches(`^git (rev-parse|rev-list|merge-base|describe|log (-\d+ )?--(format|pretty)=(format:)?%[hH])( -n \d+| -\d+| --(short|verify|abbrev-ref|all|reverse|first-parent|tags|always|(abbrev|max-count)=\d+)| [A-Za-z0-9][\w./~^-]*)*$`, line):
		return plain
	}
	return wild
}
