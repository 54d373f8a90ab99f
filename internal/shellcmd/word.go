package shellcmd

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// arg is one word of a command after expansion.
type arg struct {
	// Text is the word's value; for a Dynamic word the best guess, or "".
	Text string
	// Dynamic says that the value depends on run time.
	Dynamic bool
	// known is how many bytes of a Dynamic word's Text are certain, from its start.
	known int
	// one says that the word is exactly one argument.
	one bool
	// home says that it is the home directory, with text behind it that is certain.
	home bool
	traits
}

// traits are what is certain of a value, or of every argument that a word becomes.
type traits struct {
	number bool // it is an integer, or nothing
	safe   bool // it does not start with -, + or @, which make options of words
	whole  bool // the shell neither cuts it into words nor takes it for a pattern
}

func (t traits) and(o traits) traits {
	return traits{t.number && o.number, t.safe && o.safe, t.whole && o.whole}
}

// literal is a word whose value is certain.
func literal(text string) arg {
	digits := strings.TrimPrefix(text, "-")
	return arg{Text: text, one: true, traits: traits{
		number: digits != "" && strings.Trim(digits, "0123456789") == "",
		safe:   text == "" || !strings.ContainsAny(text[:1], "-+@"),
		whole:  !strings.ContainsAny(text, " \t\n*?[\\"),
	}}
}

// certain is the part of the text that is certain.
func (a arg) certain() string {
	if a.Dynamic {
		return a.Text[:a.known]
	}
	return a.Text
}

// How the shell reads a part of a word.
type quoting int

const (
	inWord   quoting = iota // splits, expands patterns and braces
	inText                  // cannot be split: an assignment's value, a redirection's target, a here-document
	inQuotes                // between double quotes
)

// words expands shell words. An unquoted guess is split into fields as the shell
// would do, so one word may become several arguments, or none.
func (w *walker) words(list []*syntax.Word, s *scope) []arg {
	var args []arg
	for _, wd := range list {
		args = append(args, w.expand(wd, s, inWord)...)
	}
	return args
}

// text expands a word that cannot be split.
func (w *walker) text(wd *syntax.Word, s *scope) arg {
	args := w.expand(wd, s, inText)
	if len(args) == 0 {
		return literal("")
	}
	return args[0]
}

// expand expands a word and follows the commands in it.
func (w *walker) expand(wd *syntax.Word, s *scope, in quoting) []arg {
	if wd == nil {
		return nil
	}
	b := builder{arg: arg{one: true, traits: traits{whole: true}}, sole: len(wd.Parts) == 1, cuts: in == inWord}
	var open strings.Builder
	for _, p := range wd.Parts {
		if l, ok := p.(*syntax.Lit); ok && in == inWord {
			open.WriteString(l.Value)
		}
	}
	inner := open.String()[:strings.LastIndexByte(open.String(), '}')+1]
	b.globs, b.braces = strings.Contains(open.String(), "]"), strings.Contains(inner, ",") || strings.Contains(inner, "..")
	for i, p := range wd.Parts {
		if w.err != nil {
			break
		}
		w.part(&b, p, s, in, i == 0)
		w.beside(&b, wd.Parts[i:])
	}
	b.flush()
	for _, a := range b.args {
		w.spend(16 + len(a.Text)/16)
	}
	return b.args
}

// beside looks at what follows a part. zsh takes $x[…] for an element of x, and $#x[…] for
// its length, whose index is arithmetic, and $x:s/a/b/ or $x:t for a changed value, which
// may start with anything; it expands $~x and its kind, which bash leaves as they are.
func (w *walker) beside(b *builder, parts []syntax.WordPart) {
	if w.guard == nil || len(parts) < 2 {
		return
	}
	next, ok := parts[1].(*syntax.Lit)
	p, short := parts[0].(*syntax.ParamExp)
	short = short && p.Short
	switch dollar, is := parts[0].(*syntax.Lit); {
	case !ok:
	case short && (next.Value[0] == '[' || p.Param.Value == "#" && matches(`^[\w*@]`, next.Value)):
		w.odd(message.GuardArith, p)
	case short && matches(`^:[A-Za-z&]`, next.Value):
		b.safe = b.safe && b.known > 0
	case is && dollar.Value == "$" && strings.ContainsAny(next.Value[:1], "~=^+"):
		w.odd(message.GuardCode, next)
	}
}

// maxGuess bounds the text of a guess: X=$X$X in a row doubles it each time.
const maxGuess = 8 << 10

// builder collects a word from its parts.
type builder struct {
	arg                           // the word under way, but for its Text
	args          []arg           // those that are complete
	buf           strings.Builder // becomes Text
	open          bool            // there is a word under way
	sole, cuts    bool            // it has only one part; it may become several arguments
	blank         bool            // what came so far may be nothing
	globs, braces bool            // its unquoted text may be a pattern, or an expansion of braces
}

// expansion is what is known of a part that only the shell can expand.
type expansion struct {
	traits
	guess  string
	splits bool // it may become any number of arguments
	many   bool // it may become none or several, which start like the word
	filled bool // it is never empty; else what follows may come first
	home   bool // it is the home directory
}

func (b *builder) static(text string) {
	if b.blank && text != "" {
		b.safe, b.blank = b.safe && literal(text).safe, false
	}
	b.whole = b.whole && literal(text).whole
	b.buf.WriteString(text)
	b.open = true
}

func (b *builder) dynamic(e expansion) {
	b.home = e.home && !b.Dynamic && b.buf.Len() == 0
	switch {
	case !b.Dynamic:
		b.known = b.buf.Len()
		start := b.buf.String()
		b.Dynamic, b.blank = true, start == "" && !e.filled
		b.safe = start != "" && literal(start).safe || start == "" && e.safe
	case b.blank:
		b.safe, b.blank = b.safe && e.safe, !e.filled
	}
	b.one = b.one && !e.splits && !e.many
	b.safe = b.safe && !e.splits
	b.number = b.sole && e.number
	b.whole = b.whole && e.whole
	if len(e.guess)+b.buf.Len() > maxGuess {
		e.guess = ""
	}
	// An unknown value may be empty, but leaving the word out would shift
	// the arguments after it.
	b.open = true
	if !e.splits {
		b.buf.WriteString(e.guess)
		return
	}
	for i, f := range strings.Fields(e.guess) {
		if i > 0 {
			b.flush()
			b.Dynamic, b.open = true, true
		}
		b.buf.WriteString(f)
	}
}

func (b *builder) flush() {
	if b.open {
		a := b.arg
		if a.Text = b.buf.String(); !a.Dynamic {
			a = literal(a.Text)
		}
		b.args = append(b.args, a)
	}
	b.buf.Reset()
	b.arg, b.open = arg{}, false
}

// literal adds text in which unquoted characters may still expand.
func (b *builder) literal(text string, first bool) {
	start := 0
	add := func(end int) { b.static(unescape(text[start:end], "")) }
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '~' && i == 0 && first:
			b.dynamic(expansion{guess: "~", traits: traits{safe: true}, filled: true, home: true})
			start = 1
		case c == '*', c == '?', c == '[' && b.globs:
			add(i)
			b.dynamic(expansion{guess: string(c), many: true})
			start = i + 1
		case c == '{' && b.braces:
			add(i)
			b.dynamic(expansion{many: true})
			return
		}
	}
	add(len(text))
}

func (w *walker) part(b *builder, p syntax.WordPart, s *scope, in quoting, first bool) {
	w.spend(16)
	switch p := p.(type) {
	case *syntax.Lit:
		w.spend(len(p.Value))
		switch in {
		case inWord:
			b.literal(p.Value, first)
		case inText:
			b.static(unescape(p.Value, ""))
		case inQuotes:
			b.static(unescape(p.Value, "$`\"\\\n"))
		}
	case *syntax.SglQuoted:
		w.spend(len(p.Value))
		switch {
		case !p.Dollar:
			b.static(p.Value)
		case w.guard != nil && !matches(`^(?:[^\\]|\\[abeEfnrtv\\'"])*$`, p.Value): // it may end the word
			b.dynamic(expansion{})
		default:
			b.static(ansiC(p.Value))
		}
	case *syntax.DblQuoted:
		if p.Dollar { // translated, then expanded
			w.odd(message.GuardCode, p)
		}
		b.static("")
		b.sole = b.sole && len(p.Parts) == 1
		for i, q := range p.Parts {
			w.part(b, q, s, inQuotes, false)
			w.beside(b, p.Parts[i:])
		}
	case *syntax.ParamExp:
		w.param(b, p, s, in)
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			w.odd(message.GuardCode, p)
		}
		w.captured(p.Stmts, s, false)
		t := w.prints(p, s)
		b.dynamic(expansion{traits: t, splits: in == inWord && !t.whole, many: in == inWord})
	case *syntax.ArithmExp:
		w.arith(s, p.X)
		b.dynamic(expansion{traits: traits{number: true, whole: true}, filled: true})
	case *syntax.ProcSubst:
		if len(p.Stmts) == 1 && p.Stmts[0].Cmd == nil {
			w.odd(message.GuardCode, p)
		}
		w.captured(p.Stmts, s, false)
		b.dynamic(expansion{traits: traits{safe: true}, filled: true})
	default: // *(…): zsh runs code in them
		w.odd(message.GuardCode, p)
		b.dynamic(expansion{many: true})
	}
}

// param adds an expansion of a variable, with a guess from what the line says.
func (w *walker) param(b *builder, p *syntax.ParamExp, s *scope, in quoting) {
	if p.Excl || p.Param == nil || p.Flags != nil || p.Width || p.IsSet || len(p.Modifiers) > 0 { // ${!x} evaluates x
		w.odd(message.GuardCode, p)
		b.dynamic(expansion{splits: in == inWord})
		return
	}
	name, plain := p.Param.Value, !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil
	all := name == "@"
	if p.Index != nil {
		i, ok := p.Index.(*syntax.Word)
		if at := ok && i.Lit() == "@"; at || ok && i.Lit() == "*" {
			all = at
		} else {
			w.arith(s, p.Index)
		}
	}
	if p.Slice != nil {
		w.arith(s, p.Slice.Offset, p.Slice.Length)
	}
	if p.Repl != nil {
		w.text(p.Repl.Orig, s)
		w.text(p.Repl.With, s)
	}
	e := expansion{splits: in == inWord || all && !p.Length, many: in == inWord}
	known := false
	if plain {
		e.guess, known = s.value(name)
	}
	if p.Exp != nil {
		word := w.text(p.Exp.Word, s)
		switch p.Exp.Op {
		case syntax.AssignUnset, syntax.AssignUnsetOrNull, syntax.OtherParamOps: // ${x@P} expands a prompt
			w.odd(message.GuardCode, p)
			fallthrough
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
			if !known && p.Exp.Op != syntax.OtherParamOps {
				e.guess = word.Text
			}
		}
	} else if plain {
		e.traits = w.vars[name]
	}
	switch unchanged := plain && p.Exp == nil; {
	case p.Length || unchanged && slices.Contains([]string{"#", "?", "$"}, name):
		e.traits, e.filled = traits{true, true, true}, true
	case unchanged && (name == "HOME" || name == "PWD"): // no line that passes sets them
		e.safe, e.home = true, name == "HOME"
	}
	e.splits = e.splits && (all || !e.whole)
	if all && plain && in == inQuotes && b.sole && b.cuts && len(s.args) > 0 {
		w.spend(16 * len(s.args))
		for i, a := range s.args {
			if i > 0 {
				b.flush()
			}
			b.dynamic(expansion{guess: a.Text})
		}
		return
	}
	if w.spend(len(e.guess) / 4); e.splits {
		w.spend(len(e.guess)) // it is cut into words
	}
	b.dynamic(e)
}

// value is the guess for a variable or a positional parameter.
func (s *scope) value(name string) (string, bool) {
	if v, ok := s.vars[name]; ok {
		return v, true
	}
	switch name {
	case "HOME":
		return "~", true
	case "PWD":
		return cmp.Or(s.dir, "."), s.known
	case "OLDPWD":
		return cmp.Or(s.old, "."), s.moved
	case "@", "*":
		return join(s.args).Text, len(s.args) > 0
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(s.args) {
		return s.args[n-1].Text, true
	}
	return "", false
}

// unescape removes backslashes. Inside double quotes only those before the
// characters of set count.
func unescape(text, set string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) && (set == "" || strings.IndexByte(set, text[i+1]) >= 0) {
			i++
			if text[i] != '\n' {
				b.WriteByte(text[i])
			}
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// ansiC decodes the escapes of $'…' that stand for one certain character. Those
// with digits depend on the locale, and nobody hides a commit in them.
func ansiC(text string) string { return ansiEscapes().Replace(text) }

var ansiEscapes = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\a`, "\a", `\b`, "\b", `\e`, "\x1b", `\E`, "\x1b",
		`\f`, "\f", `\n`, "\n", `\r`, "\r", `\t`, "\t", `\v`, "\v")
})
