package shellcmd

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
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

// ReadOnly reports whether a line is known to do nothing but read, or run overtone
// itself, in bash and in zsh. The walk must understand all of it, and each simple
// command must match a shape as a whole; everything else is refused. What the user
// set up (aliases, configuration, PATH) is trusted: the guard keeps an agent to its
// role, it is no sandbox.
func ReadOnly(line string) (bool, Refusal) { return Place{}.ReadOnly(line) }

// ReadOnly also looks at the repositories that git would be run in, from here.
func (p Place) ReadOnly(line string) (bool, Refusal) {
	g := newGuard(maxSteps)
	g.script(line, syntax.LangBash)
	g.repositories(p)
	if g.err != nil && g.why.what == "" {
		g.why = Refusal{message.GuardSyntax, g.err.Error()}
	}
	return g.err == nil, g.why
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
func verbOf(c command) string {
	list := options(c.Args[1:], valueFlags{long: named()})
	verb, _, _ := strings.Cut(firstWords(list), " ")
	if asks(list, "--help", "-h") {
		return ""
	}
	return verb
}

var errDenied = errors.New("not known to only read")

// guard is the reader that gives a permission: an error of its walk is a refusal.
type guard struct {
	walker
	why Refusal
	git bool // git is run, or a program that runs it
	routes
}

func newGuard(fuel int) *guard {
	g := &guard{walker: walker{fuel: fuel, funcs: map[string]*syntax.Stmt{}}}
	g.guard, g.exec = g, func(args []arg, _ *scope) { g.run(args) }
	return g
}

func (g *guard) refuse(text message.Text, what string) {
	if g.err != nil {
		return
	}
	if r := []rune(what); len(r) > 60 {
		what = string(r[:30]) + "…" + string(r[len(r)-29:])
	}
	g.err, g.why = errDenied, Refusal{text, what}
}

// source is a node as it was written, for a refusal.
func source(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n) != nil {
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
	g.readings(f, text, lang)
	outer := g.vars
	g.vars = g.variables(f)
	g.stmts(f.Stmts, &scope{known: true, vars: map[string]string{}})
	g.vars = outer
}

// variables tells what the line lets each variable hold, at any time: the flow is
// not followed, so a variable is as wild as its wildest assignment. It may also be
// unset.
func (g *guard) variables(f *syntax.File) map[string]traits {
	vars := maps.Clone(g.vars) // a script may inherit them
	if vars == nil {
		vars = map[string]traits{}
	}
	set := func(name string, t traits) {
		if old, ok := vars[name]; ok {
			t = t.and(old)
		}
		vars[name] = t
	}
	var counted []string // arithmetic assigns to them
	assigned := func(x syntax.ArithmExpr, is bool) {
		if word, ok := x.(*syntax.Word); ok && is {
			counted = append(counted, word.Lit())
		}
	}
	outer, s := g.vars, &scope{}
	g.vars, g.muted = nil, true
	defer func() { g.vars, g.muted = outer, false }()
	syntax.Walk(f, func(n syntax.Node) bool {
		if g.spend(8); g.err != nil {
			return false
		}
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Array != nil {
				set(n.Name.Value, traits{})
			} else if n.Name != nil {
				set(n.Name.Value, g.text(n.Value, s).traits)
			}
		case *syntax.ForClause:
			it, ok := n.Loop.(*syntax.WordIter)
			if !ok {
				break
			}
			t := traits{true, true, true}
			for _, item := range it.Items {
				if matches(`^\{\d+\.\.\d+(\.\.\d+)?\}$`, item.Lit()) {
					continue
				}
				for _, a := range g.expand(item, s, inWord) {
					t = t.and(a.traits)
				}
			}
			if len(it.Items) == 0 {
				t = traits{}
			}
			set(it.Name.Value, t)
		case *syntax.UnaryArithm:
			assigned(n.X, n.Op == syntax.Inc || n.Op == syntax.Dec)
		case *syntax.BinaryArithm:
			op := n.Op.String()
			assigned(n.X, strings.HasSuffix(op, "=") && !slices.Contains([]string{"==", "!=", "<=", ">="}, op))
		case *syntax.CallExpr: // only these are given names to assign to
			args := g.words(n.Args, s)
			if slices.ContainsFunc(args, func(a arg) bool { return slices.Contains([]string{"read", "mapfile", "readarray"}, a.Text) }) {
				for _, a := range args {
					set(a.Text, traits{})
				}
			}
		}
		return true
	})
	for _, name := range counted { // the number may be negative
		if _, ok := vars[name]; ok {
			set(name, traits{number: true, whole: true})
		}
	}
	return vars
}

// prints tells what a substitution prints, as far as shapes say so. A program that
// fails prints nothing, as long as its complaints are not caught too.
func (w *walker) prints(p *syntax.CmdSubst, s *scope) traits {
	if w.guard == nil || len(p.Stmts) != 1 {
		return traits{}
	}
	st := p.Stmts[0]
	for pipe, ok := st.Cmd.(*syntax.BinaryCmd); ok && pipe.Op == syntax.Pipe; pipe, ok = st.Cmd.(*syntax.BinaryCmd) {
		st = pipe.Y
	}
	call, ok := st.Cmd.(*syntax.CallExpr)
	// What it complains of must not come out with it, as 2>&1 and 2>/dev/stdout have it.
	apart := func(r *syntax.Redirect) bool {
		return r.Op == syntax.RdrIn || r.Op == syntax.RdrOut && r.Word.Lit() == "/dev/null"
	}
	if !ok || len(call.Assigns) > 0 || slices.ContainsFunc(st.Redirs, func(r *syntax.Redirect) bool { return !apart(r) }) {
		return traits{}
	}
	muted := w.muted
	w.muted = true
	args := w.words(call.Args, s)
	w.muted = muted
	if len(args) == 0 || args[0].Dynamic {
		return traits{}
	}
	m, _ := find(args[0].Text, args[1:])
	number, plain := strings.HasPrefix(m.line, "#"), strings.HasPrefix(m.line, "=")
	return traits{number, number || plain || strings.HasPrefix(m.line, "/"), number || plain}
}

// assignable reports whether a variable is one that neither a shell nor a program
// looks at. By custom those that they do are in capitals, so small letters pass,
// except what zsh, npm and proxies read; of the capitals only names of no meaning.
func assignable(name string) bool { return is("VAR", name) && !is("SPECIAL", name) }

// run checks a simple command, and the commands that it is given to run.
func (g *guard) run(args []arg) {
	if len(args) == 0 {
		return
	}
	g.spend(256) // shapes are looked through
	for _, a := range args {
		g.spend(8 + len(a.Text))
	}
	g.deeper(func() {
		prog := args[0]
		name := base(prog.Text)
		// A path that is not the system's may hold any program of that name.
		if prog.Dynamic || prog.Text != name && !systemPath(prog.Text) {
			g.refuse(message.GuardProgram, prog.Text)
			return
		}
		m, at := find(name, args[1:])
		if !m.found {
			g.refuse(refusal(name, args[1:], at))
			return
		}
		g.git = g.git || slices.Contains([]string{"git", "gh", "cloc"}, name)
		g.follow(name, args[1:])
		for _, inner := range m.commands {
			g.run(inner)
		}
		for _, script := range m.scripts {
			// [[ a > b ]] writes a file where sh is no bash.
			if g.script(script, syntax.LangBash); name != "bash" {
				g.script(script, syntax.LangPOSIX)
			}
		}
	})
}

// refusal says what is wrong with a command that has no shape: its words up to the
// one that none of its shapes takes.
func refusal(name string, args []arg, at int) (message.Text, string) {
	line := name
	for _, a := range args[:min(at+1, len(args))] {
		line += " " + a.Text
	}
	switch {
	case len(shapes(name)) == 0:
		return message.GuardProgram, name
	case name == "overtone":
		return message.GuardOwn, line
	// What people type, and can write in ways that are easy to overlook.
	case name == "sqlite3":
		return message.GuardSQLite, line
	case name == "tsc":
		return message.GuardTSC, line
	case name == "curl" && !(at < len(args) && args[at].Dynamic):
		return message.GuardCurl, line
	case name == "git" && slices.ContainsFunc(args[:min(at+1, len(args))], func(a arg) bool { return a.is("fetch") }):
		return message.GuardFetch, line
	case slices.ContainsFunc(args, func(a arg) bool { return a.is("json.tool") }) && strings.HasPrefix(name, "python"):
		return message.GuardJSONTool, line
	case at < len(args) && args[at].Dynamic:
		return message.GuardDynamic, name
	}
	return message.GuardOption, line
}

var compiled sync.Map // patterns and shapes, made when first used

func matches(pattern, text string) bool {
	re, ok := compiled.Load(pattern)
	if !ok {
		re, _ = compiled.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return re.(*regexp.Regexp).MatchString(text)
}
