package shellcmd

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed shapes.txt
var table string

// shape is one form of a command that only reads.
type shape struct {
	line  string // of the table, which explains itself
	items []item
}

// item is one element of a shape. It takes the words that it fits, and tells how
// many those are.
type item struct {
	take           func(m *match, args []arg) int
	optional, many bool
}

// shapes are those of a program. A hook asks for one or two programs and then ends:
// only their lines are taken apart.
func shapes(program string) []shape {
	if list, ok := compiled.Load("shape " + program); ok {
		return list.([]shape)
	}
	var list []shape
	for line := range strings.Lines(table) {
		names, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		// An indented line has no name, a comment only its mark.
		if names != "" && names != "#" && strings.Contains("|"+strings.TrimLeft(names, "#=/")+"|", "|"+program+"|") {
			list = append(list, shape{line, parseItems(strings.Fields(rest), false)})
		}
	}
	compiled.Store("shape "+program, list)
	return list
}

// definition is the text behind an indented name of the table.
func definition(name string) string {
	if text, ok := compiled.Load("type " + name); ok {
		return text.(string)
	}
	_, rest, _ := strings.Cut(table, "\n  "+name+" ")
	text, _, _ := strings.Cut(rest, "\n")
	compiled.Store("type "+name, text)
	return text
}

func parseItems(tokens []string, set bool) (items []item) {
	for len(tokens) > 0 {
		t := tokens[0]
		tokens = tokens[1:]
		switch {
		case t == "{":
			end := slices.Index(tokens, "}")
			inner := tokens[:end]
			// Most shapes are left before their long lists of options.
			members := sync.OnceValue(func() []item { return parseItems(inner, true) })
			items = append(items, item{optional: true, many: true, take: func(m *match, args []arg) int {
				for _, it := range members() {
					if n := it.take(m, args); n > 0 {
						return n
					}
				}
				return 0
			}})
			tokens = tokens[end+1:]
		case t[0] == '@':
			items = append(items, parseItems(strings.Fields(definition(t)), set)...)
		default:
			items = append(items, parseItem(t, set))
		}
	}
	return items
}

func parseItem(t string, set bool) item {
	it := item{}
	if t != "?" && t[0] == '?' {
		it.optional, t = true, t[1:]
	}
	if rest, ok := strings.CutSuffix(t, "*"); ok && t != "--*" {
		it.optional, it.many, t = true, true, rest
	}
	// A word that may become several stands where any number may.
	many := set || it.many
	name, value, pair := strings.Cut(t, "::")
	option, valued := strings.CutSuffix(t, "=")
	flag, perhaps := strings.CutSuffix(t, "?")
	one := func(fits func(arg) bool) {
		it.take = func(_ *match, args []arg) int { return count(fits(args[0]), 1) }
	}
	switch {
	case t == "--*":
		it.optional = true
		it.take = func(_ *match, args []arg) int { return count(args[0].is("--"), len(args)) }
	case t == "-exec;":
		it.take = (*match).exec
	case strings.HasPrefix(t, "CMD"):
		it.take = func(m *match, args []arg) int { return m.command(t, args) }
	case t == "SCRIPT":
		it.take = func(m *match, args []arg) int {
			m.scripts = append(m.scripts, args[0].Text)
			return count(!args[0].Dynamic && args[0].safe, 1)
		}
	case pair:
		it.take = func(_ *match, args []arg) int {
			return count((args[0].is(name) || name[0] == '/' && fits(name, args[0], false)) && len(args) > 1 && fits(value, args[1], false), 2)
		}
	case t[0] == '/' || t[0] >= 'A' && t[0] <= 'Z':
		one(func(a arg) bool { return fits(t, a, many) })
	case t[0] == '[' && t != "[":
		it.take = func(_ *match, args []arg) int { return cluster(t[1:len(t)-1], args) }
	case t[0] == '-' && valued:
		it.take = func(_ *match, args []arg) int {
			if args[0].starts(t) {
				return 1
			}
			return count(args[0].is(option) && len(args) > 1 && fits("FILE", args[1], false), 2)
		}
	case t[0] == '-' && perhaps:
		one(func(a arg) bool { return a.is(flag) || a.starts(flag+"=") })
	default:
		words := strings.Split(t, "|")
		one(func(a arg) bool { return !a.Dynamic && slices.Contains(words, a.Text) })
	}
	return it
}

// is reports whether a word is certainly this text.
func (a arg) is(text string) bool { return !a.Dynamic && a.Text == text }

// starts reports whether a word is one argument that starts with this text.
func (a arg) starts(text string) bool { return a.one && strings.HasPrefix(a.certain(), text) }

func count(ok bool, n int) int {
	if ok {
		return n
	}
	return 0
}

// match is a shape that a command has, and what the command runs.
type match struct {
	shape
	found    bool
	commands [][]arg
	scripts  []string
}

// find looks for a shape that a program's arguments have as a whole. Without one
// it tells how many words the best one took. Each item takes as many words as it
// can: shapes are written so that there is nothing to try again.
func find(program string, args []arg) (m match, most int) {
	list := shapes(program)
	// To zsh what stands behind these is arithmetic: --help counts the variable help down.
	if len(list) > 0 && !matches(`^(exit|return|break|continue)$`, program) {
		list = append(slices.Clip(list), shapes("<any>")...)
	}
	for _, s := range list {
		m = match{shape: s}
		at, ok := 0, true
		for i := 0; ok && i < len(s.items); i++ {
			n := m.take(s.items[i], args[at:])
			at, ok = at+n, n > 0 || s.items[i].optional
		}
		if m.found = ok && at == len(args); m.found {
			return m, at
		}
		most = max(most, at)
	}
	return match{}, most
}

func (m *match) take(it item, args []arg) (at int) {
	for at < len(args) {
		n := it.take(m, args[at:])
		if at += n; n == 0 || !it.many {
			break
		}
	}
	return at
}

// cluster takes a word of short options. A letter with : has a value, the rest of
// the word or the next one; with ~ it may have one, the rest of the word.
func cluster(letters string, args []arg) int {
	a := args[0]
	text := a.certain()
	if len(text) < 2 || text[0] != '-' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		at := strings.IndexByte(letters, text[i])
		if at < 0 || text[i] == ':' || text[i] == '~' {
			return 0
		}
		switch suffix := (letters + " ")[at+1]; {
		case suffix != ':' && suffix != '~':
		case i+1 < len(text): // the value is not empty, whatever a variable adds to it
			return count(a.one, 1)
		case suffix == ':':
			return count(!a.Dynamic && len(args) > 1 && fits("FILE", args[1], false), 2)
		}
	}
	return count(!a.Dynamic, 1)
}

// command takes all words as a command that a wrapper runs: as they stand, with words
// behind them that nobody knows (xargs), or with such a word in place of a mark.
func (m *match) command(kind string, args []arg) int {
	if args[0].Dynamic || !args[0].safe {
		return 0
	}
	switch kind {
	case "CMD+":
		args = append(slices.Clip(args), arg{Dynamic: true})
	case "CMD{}", "CMD%":
		args = replaced(args, kind[3:], arg{Dynamic: true, one: true})
	}
	m.commands = append(m.commands, args)
	return len(args) - count(kind == "CMD+", 1)
}

// exec takes find's -exec with its command. All of it must be certain: a word that
// becomes ; ends it, and what follows is find's. A path that find finds starts like
// the place it is found in, which is no option; the bare name that some hand to
// -execdir may be one.
func (m *match) exec(args []arg) int {
	if !args[0].is("-exec") && !args[0].is("-execdir") {
		return 0
	}
	for i := 1; i < len(args) && !args[i].Dynamic; i++ {
		several := args[i].is("+") && args[i-1].is("{}")
		if i > 1 && (several || args[i].is(";")) {
			m.commands = append(m.commands, replaced(args[1:i], "{}", arg{Dynamic: true, one: !several, traits: traits{safe: args[0].is("-exec")}}))
			return i + 1
		}
	}
	return 0
}

// replaced puts what is known of a value in the place of a mark. A part of a word that
// only the shell knows may be such a mark, or end one.
func replaced(args []arg, mark string, value arg) []arg {
	args = slices.Clone(args)
	for i, a := range args {
		if a.Dynamic {
			a.Text = strings.TrimSuffix(a.certain(), mark[:1])
			a.known = len(a.Text)
			a.safe = a.safe && (a.known > 0 || a.number)
			args[i] = a
		}
		if at := strings.Index(a.Text, mark); at >= 0 {
			args[i] = value
			args[i].Text, args[i].known = a.Text[:at], at
			args[i].safe = at == 0 && value.safe || at > 0 && a.safe
		}
	}
	return args
}

// fits reports whether a word is of a type. Where many may stand, one word may also
// become several, or none.
func fits(name string, a arg, many bool) bool {
	switch name {
	case "ANY":
		return true
	case "ARG":
		return a.one
	case "FILE", "PATH":
		return a.safe && (a.one || many) || !a.Dynamic && (a.Text == "-" || name == "FILE" && a.Text[0] != '-')
	case "NUM":
		return a.number
	case "NAME":
		return !a.Dynamic && assignable(a.Text)
	case "AWK":
		return !a.Dynamic && a.safe && awkReads(a.Text)
	case "SED":
		return !a.Dynamic && matches(sedScript(), a.Text)
	}
	return !a.Dynamic && is(name, a.Text)
}

// is reports whether a text is of a type that is a pattern: one of the table's, or
// one between slashes.
func is(name, text string) bool {
	pattern := strings.Trim(name, "/")
	if name[0] != '/' {
		pattern = definition(name)
	}
	pattern, never, but := strings.Cut(pattern, " ¬ ")
	return matches(`^(?s:`+pattern+`)$`, text) && !(but && matches(never, text))
}

// awkReads reports whether an awk program cannot write or run anything. No operator
// is told from a character in an expression: output needs a print in front of > or
// |, input from a command a getline.
func awkReads(text string) bool {
	pipes := strings.ReplaceAll(text, "||", "")
	_, printed, _ := strings.Cut(pipes, "print")
	return !matches(`system|@|\\\n`, text) && !strings.ContainsAny(printed, ">|") &&
		!(strings.Contains(text, "getline") && strings.Contains(pipes, "|"))
}

// sedScript is the part of sed's language that only prints: p, d, q, = and plain
// substitutions. A bracket must close before the delimiter, and everybody must see
// where: implementations differ in whether a delimiter inside counts.
var sedScript = sync.OnceValue(func() string {
	part := func(d string) string {
		return strings.ReplaceAll(`(?:[^\\\n\[D]|\\[^\n]|\[\^?(?:\[:\w+:\]|[^\]\[^\n\\D])+\])*`, "D", d)
	}
	addr := `(?:\d+|\$|/` + part("/") + `/)`
	command := `[pdqQ=]`
	for _, d := range []string{"/", `\|`, ",", "#"} {
		command += `|s` + d + part(d) + d + part(d) + d + `[gpiI0-9]*`
	}
	one := `\s*(?:` + addr + `(?:,\s*(?:` + addr + `|\+\d+))?)?\s*!?\s*(?:` + command + `)\s*`
	return `^` + one + `(?:;` + one + `)*;?\s*$`
})
