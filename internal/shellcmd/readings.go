package shellcmd

import (
	"reflect"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// readings refuses what two readers of one text read differently. The parser is one
// reader, bash and zsh are others, and a command that only they see runs unseen:
//
//	echo "${x:-'$(touch new)'}"    quotes in an expansion that is in quotes itself
//	ls # list \                    a comment whose last character is a backslash: the next line is a command
//	cat <<E … \                    a here-document, whose end may be put together from two lines
//	ls `awk '"`>new`"' f`          a backquote in quotes in backquotes
//	{ ls } always { touch new; }   a bracket that ends a word: zsh closes the block with it
//	[[ a =~ (<(touch new)) ]]      a process substitution in the brackets of a pattern
//
// So all that is like them is refused, by its text and not by its tree.
func (g *guard) readings(f *syntax.File, text string, lang syntax.LangVariant) {
	written := func(n syntax.Node) string { return text[n.Pos().Offset():n.End().Offset()] }
	var body *syntax.Word // of the here-document that was met last, which is no word of a command
	syntax.Walk(f, func(n syntax.Node) bool {
		if g.spend(8); n == nil || g.err != nil {
			return false
		}
		plain := true
		switch n := n.(type) {
		case *syntax.Comment:
			plain = !strings.HasSuffix(strings.TrimRight(n.Text, "\n"), `\`)
		case *syntax.CmdSubst:
			plain = !n.Backquotes
		case *syntax.ParamExp:
			plain = matches(plainExpansion(), written(n))
		case *syntax.ArithmExp:
			plain = !n.Bracket
		case *syntax.BinaryTest:
			plain = n.Op != syntax.TsReMatch || !strings.ContainsAny(written(n.Y), "<>")
		case *syntax.Word:
			plain = n == body || paired(n)
		case *syntax.Redirect:
			body = n.Hdoc
			plain = n.Hdoc == nil || n.Op == syntax.Hdoc && document(written(n.Word), written(n.Hdoc), text[n.Hdoc.End().Offset():])
		}
		if !plain {
			what, _, _ := strings.Cut(written(n), "\n")
			g.refuse(message.GuardReadings, what)
		}
		return plain
	})
	if g.err == nil && !g.again(f, lang) {
		g.refuse(message.GuardReadings, text)
	}
}

// plainExpansion is what may stand behind a dollar: a name, perhaps with an index, and
// perhaps with an operator and a word without anything that can be quoted or expanded.
var plainExpansion = sync.OnceValue(func() string {
	name := `(?:\w+|[@*#?$!-])`
	element := name + `(?:\[[\w$@*+-]*\])?`
	operation := strings.Join([]string{
		`:?[-+?=][\w./-]*`,
		`(?:##?|%%?|\^\^?|,,?)[\w./*-]*`,
		`//?[#%]?[\w.:*-]*(?:/[\w.:* -]*)?`,
		`:(?:[\w$ ][\w$ +-]*)?(?::[\w$ +-]*)?`,
	}, "|")
	return `^\$(?:` + name + `|\{#?` + element + `\}|\{` + element + `(?:` + operation + `)\})$`
})

// paired reports whether every unquoted } of a word has its { before it. To zsh any other
// one ends the block around it, wherever it stands.
func paired(word *syntax.Word) bool {
	open := 0
	for _, p := range word.Parts {
		lit, ok := p.(*syntax.Lit)
		for i := 0; ok && i < len(lit.Value); i++ {
			switch lit.Value[i] {
			case '\\':
				i++
			case '{':
				open++
			case '}':
				open--
			}
			if open < 0 {
				return false
			}
		}
	}
	return true
}

// document reports whether a here-document ends where everybody sees its end: at a
// line that is the word behind <<, and nothing else. The body that the parser tells
// includes that line. A backslash means something only where the word has no quotes.
func document(word, body, rest string) bool {
	end := strings.Trim(word, `'"`)
	return matches(`^(\w+|'\w+'|"\w+")$`, word) && body[strings.LastIndexByte(body, '\n')+1:] == end &&
		(rest == "" || rest[0] == '\n') && (end != word || !strings.Contains(body, `\`))
}

// again is a second net: the tree, written as a script and read again, is the same
// tree. What was not understood seldom is.
func (g *guard) again(f *syntax.File, lang syntax.LangVariant) bool {
	var b strings.Builder
	if syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, f) != nil {
		return false
	}
	g.spend(b.Len())
	if g.err != nil {
		return true // and refused
	}
	twice, err := parseScript(b.String(), lang)
	return err == nil && same(reflect.ValueOf(f.Stmts), reflect.ValueOf(twice.Stmts))
}

// same compares trees in all but places and comments.
func same(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		a, b = a.Elem(), b.Elem()
		return a.Type() == b.Type() && same(a, b)
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[syntax.Pos]() {
			return true
		}
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Type() == reflect.TypeFor[[]syntax.Comment]() {
			return true
		}
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}
