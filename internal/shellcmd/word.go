package shellcmd

import (
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// word expands one shell word. An unquoted guess is split into fields as the
// shell would do, so one word may become several arguments, or none.
func (w *walker) word(wd *syntax.Word, s *scope) []arg {
	if wd == nil {
		return nil
	}
	// A copy, because a loop comes here again and the tree's walker knows no braces.
	split := *wd
	open := 0
	for _, p := range wd.Parts {
		if lit, ok := p.(*syntax.Lit); ok {
			open += strings.Count(lit.Value, "{")
		}
	}
	// The time of the library grows with the square of braces that stay open.
	if w.spend(open * open / 16); w.err != nil {
		return nil
	}
	syntax.SplitBraces(&split)
	b := wordBuilder{}
	for _, p := range split.Parts {
		if w.err != nil {
			break
		}
		w.part(&b, p, s, false)
	}
	args := b.done()
	for _, a := range args {
		w.spend(1 + len(a.Text)/256)
	}
	return args
}

func (w *walker) words(ws []*syntax.Word, s *scope) []arg {
	var args []arg
	for _, wd := range ws {
		args = append(args, w.word(wd, s)...)
	}
	return args
}

// text expands a word that cannot be split: an assignment's value, a
// redirection's target, a here-document.
func (w *walker) text(wd *syntax.Word, s *scope) arg {
	if wd == nil {
		return arg{}
	}
	b := wordBuilder{}
	for _, p := range wd.Parts {
		w.part(&b, p, s, true)
	}
	args := b.done()
	w.spend(1)
	if len(args) == 0 {
		return arg{}
	}
	w.spend(len(args[0].Text) / 256)
	return args[0]
}

// maxGuess bounds the text of a guess: X=$X$X in a row doubles it each time.
const maxGuess = 8 << 10

type wordBuilder struct {
	args    []arg
	text    strings.Builder
	dynamic bool
	open    bool
}

func (b *wordBuilder) static(text string) {
	b.text.WriteString(text)
	b.open = true
}

func (b *wordBuilder) guess(text string, quoted bool) {
	b.dynamic = true
	if len(text)+b.text.Len() > maxGuess {
		text = ""
	}
	if quoted {
		b.static(text)
		return
	}
	fields := strings.Fields(text)
	for i, f := range fields {
		if i > 0 {
			b.flush()
			b.dynamic = true
		}
		b.static(f)
	}
	// An unknown value may be empty, but leaving the word out would shift
	// the arguments after it.
	b.open = true
}

func (b *wordBuilder) flush() {
	if b.open {
		a := arg{Text: b.text.String(), Dynamic: b.dynamic}
		b.args = append(b.args, a)
	}
	b.text.Reset()
	b.dynamic, b.open = false, false
}

func (b *wordBuilder) done() []arg {
	b.flush()
	return b.args
}

func (w *walker) part(b *wordBuilder, p syntax.WordPart, s *scope, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		b.static(unescape(p.Value, ""))
	case *syntax.SglQuoted:
		if p.Dollar {
			b.static(ansiC(p.Value))
		} else {
			b.static(p.Value)
		}
	case *syntax.DblQuoted:
		if len(p.Parts) == 1 {
			if e, ok := p.Parts[0].(*syntax.ParamExp); ok && simpleName(e) == "@" && !quoted {
				w.spend(len(s.args))
				for i, a := range s.args {
					if i > 0 {
						b.flush()
					}
					b.guess(a.Text, true)
				}
				return
			}
		}
		b.open = true
		for _, q := range p.Parts {
			if lit, ok := q.(*syntax.Lit); ok {
				b.static(unescape(lit.Value, "$`\"\\\n"))
				continue
			}
			w.part(b, q, s, true)
		}
	case *syntax.ParamExp:
		text := w.param(p, s)
		if w.spend(len(text) / 64); !quoted {
			w.spend(len(text) / 16) // it is cut into words
		}
		b.guess(text, quoted)
	default: // substitutions, arithmetic, braces
		b.guess("", true)
	}
}

func simpleName(p *syntax.ParamExp) string {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return ""
	}
	return p.Param.Value
}

// param guesses the value of a parameter from what the line itself says.
func (w *walker) param(p *syntax.ParamExp, s *scope) string {
	name := simpleName(p)
	if name == "" {
		return ""
	}
	if v, ok := s.value(name); ok {
		return v
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			return w.text(p.Exp.Word, s).Text
		}
	}
	return ""
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
		if s.dir == "" {
			return ".", s.known
		}
		return s.dir, s.known
	case "OLDPWD":
		if s.old == "" {
			return ".", s.moved
		}
		return s.old, s.moved
	case "@", "*":
		var b strings.Builder
		for _, a := range s.args {
			if b.WriteString(a.Text + " "); b.Len() > maxGuess {
				return "", false
			}
		}
		return strings.TrimSuffix(b.String(), " "), len(s.args) > 0
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
