package shellcmd

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/seed-6d03985f/overtone/internal/message"
)

//go:embed programs.txt
var table string

type rule struct {
	subs                       []string
	any, harmful, exact        bool
	pattern, not               string
	flags, values, must, never string
	long                       []string
	most                       int
}

// entries are the table's rules for a program, not yet taken apart: a hook asks for one
// or two programs and then ends, and a map of all costs it more than to look.
func entries(program string) (list []string) {
	for line := range strings.Lines(table) {
		if !strings.Contains(line, program) {
			continue
		}
		names, text, ok := strings.Cut(line, " | ")
		if !ok || line[0] == '#' {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			if name == program {
				list = append(list, strings.TrimSpace(text))
			}
		}
	}
	return list
}

func rules(name string) []rule {
	var out []rule
	for _, text := range entries(name) {
		r := rule{most: -1}
		if pattern, ok := strings.CutPrefix(text, "~"); ok {
			r.pattern, r.not, _ = strings.Cut(pattern, " ¬")
			text = ""
		}
		if subs, rest, ok := strings.Cut(text, " > "); ok {
			r.subs, text = strings.Split(strings.ReplaceAll(strings.ReplaceAll(subs, "_", "¦"), ",", "¦,")+"¦", ","), rest
		}
		for _, f := range strings.Fields(text) {
			switch rest := f[1:]; f[0] {
			case '*':
				r.any = true
			case '+', '!':
				r.flags, r.harmful = rest, f[0] == '!'
			case ':':
				r.values = rest
			case '?':
				r.must = rest
			case '@':
				r.never = rest
			case '=':
				r.exact = true
			case '#':
				r.most, _ = strconv.Atoi(rest)
			default:
				r.long = append(r.long, f)
			}
		}
		out = append(out, r)
	}
	return out
}

var compiled sync.Map // patterns, made when first used

func compile(pattern string) *regexp.Regexp {
	re, ok := compiled.Load(pattern)
	if !ok {
		made := regexp.MustCompile(pattern)
		made.Longest()
		re, _ = compiled.LoadOrStore(pattern, made)
	}
	return re.(*regexp.Regexp)
}

func matches(pattern, text string) bool { return compile(pattern).MatchString(text) }

// joined writes words for a pattern; false when one of them is not certain.
func joined(args []word) (string, bool) {
	var b strings.Builder
	for _, w := range args {
		if !w.static || strings.Contains(w.text, "¦") {
			return "", false
		}
		b.WriteString(w.text + "¦")
	}
	return b.String(), true
}

// prefix is how many words a pattern takes in front, as many as it can; -1 where
// it does not match. The pattern ends with a whole word.
func prefix(pattern string, args []word) int {
	n := slices.IndexFunc(args, func(w word) bool { _, ok := joined([]word{w}); return !ok })
	if n < 0 {
		n = len(args)
	}
	line, _ := joined(args[:n])
	at := compile(pattern).FindStringIndex(line)
	if at == nil {
		return -1
	}
	return strings.Count(line[:at[1]], "¦")
}

// exec checks a simple command.
func (g *guard) exec(args []word) {
	g.depth++
	defer func() { g.depth-- }()
	g.spend(256) // what is known of programs is looked through
	for _, a := range args {
		g.spend(8 + len(a.text))
	}
	if g.depth > maxDepth {
		g.refuse(message.GuardSyntax, errTooComplex.Error())
	}
	if g.denied {
		return
	}
	prog := args[0]
	name := base(prog.text)
	// A path that is not the system's may hold any program of that name.
	if !prog.static || prog.text != name && !systemPath(prog.text) {
		g.refuse(message.GuardProgram, prog.text)
		return
	}
	if wrapper, ok := wrappers[name]; ok {
		g.wrapped(name, wrapper, args[1:])
		return
	}
	check := g.program
	switch name {
	case "[", "test":
		check = g.testArgs
	case "read", "mapfile", "readarray", "unset":
		check = g.assigning
	case "printf":
		check = g.printf
	case "bash", "sh", "dash", "ash":
		check = g.shell
	case "find":
		check = g.find
	case "sed", "gsed":
		check = g.sed
	case "awk", "gawk", "mawk", "nawk":
		check = g.awk
	case "git":
		check = g.git
	}
	if bad, ok := check(name, args[1:]); !ok {
		text := message.GuardOption
		switch {
		case name == "overtone":
			text = message.GuardOwn
		case !bad.static:
			text = message.GuardDynamic
		case bad.text == "" && entries(name) == nil:
			text = message.GuardProgram
		}
		g.refuse(text, strings.TrimSpace(name+" "+bad.text))
	}
}

// program looks a program up in the table.
func (g *guard) program(name string, args []word) (bad word, ok bool) {
	bad = word{static: true}
	if line, ok := joined(args); ok && entries(name) != nil && (line == "--version¦" || line == "--help¦") {
		return bad, true
	}
	for _, r := range rules(name) {
		if bad, ok = r.check(args); ok {
			break
		}
	}
	return bad, ok
}

// check returns the first word that is not known to be harmless.
func (r rule) check(args []word) (word, bool) {
	if r.pattern != "" {
		line, ok := joined(args)
		return word{static: ok, text: strings.ReplaceAll(line, "¦", " ")}, ok && matches(r.pattern, line) && (r.not == "" || !matches(r.not, line))
	}
	if r.subs != nil {
		one, _ := joined(args[:min(1, len(args))])
		two, _ := joined(args[:min(2, len(args))])
		switch {
		case slices.Contains(r.subs, one):
			args = args[1:]
		case slices.Contains(r.subs, two):
			args = args[2:]
		default:
			return append(args, word{static: true})[0], false
		}
	}
	if r.any {
		return word{}, true
	}
	must, ended, operands := r.must == "", false, 0
	for i := 0; i < len(args); i++ {
		w := args[i]
		long, _, _ := strings.Cut(strings.TrimLeft(w.text, "-"), "=")
		switch {
		case w.static && w.text == "--" && !ended:
			ended = true
		case !w.option() || ended || r.most >= 0 && operands > 0: // not every program takes options that late
			if operands++; !w.one && r.most >= 0 || r.never != "" && strings.ContainsAny(w.text[:min(1, len(w.text))], r.never) || operands == r.most+1 {
				return w, false
			}
		case !w.static:
			return w, false
		case r.exact:
			if !slices.Contains(r.long, long) {
				return w, false
			}
		case strings.HasPrefix(w.text, "--"):
			// Programs take a harmful option shortened, too.
			if r.harmful == slices.ContainsFunc(r.long, func(l string) bool {
				return l == long || r.harmful && (strings.HasPrefix(l, long) || strings.HasPrefix(long, l))
			}) {
				return w, false
			}
		default:
			must = must || strings.ContainsAny(w.text, r.must)
			value := strings.IndexAny(w.text, r.values)
			for j := 1; j < len(w.text) && (value < 0 || j < value); j++ {
				if r.harmful == strings.Contains(r.flags, w.text[j:j+1]) && !(w.text[j] >= '0' && w.text[j] <= '9') {
					return w, false
				}
			}
			// A value must be one word that is no option, so that however the
			// program reads the line, no option is overlooked.
			if value == len(w.text)-1 && i+1 < len(args) && !(args[i+1].static && args[i+1].option()) {
				if i++; args[i].option() || !args[i].one {
					return args[i], false
				}
			}
		}
	}
	return word{static: true, text: "-" + r.must}, must
}

// wrappers run the command that follows what the pattern matches.
var wrappers = map[string]string{
	"command": `^`,
	"env":     `^((LANG|LC_\w+|TERM|COLUMNS|NO_COLOR|CLICOLOR|FORCE_COLOR|GOOS|GOARCH|CGO_ENABLED|GIT_OPTIONAL_LOCKS|GIT_TERMINAL_PROMPT)=[\w.:+-]*¦|TZ=[\w/:+-]*¦|(GIT_|GH_|MAN)?PAGER=(cat)?¦)*`,
	"nice":    `^((-n¦?|-|--adjustment=)\d+¦)?`,
	"stdbuf":  `^(-[ioe][L0]¦)+`,
	"timeout": `^(-[ks]¦?\w+¦|-v¦|--preserve-status¦|--foreground¦|--(signal|kill-after)=\w+¦)*[\d.]+[smhd]?¦`,
	"xargs":   `^(-[0rtx]+¦|-0?[nPL]¦?\d+¦|-0?I¦?[^-¦]+¦|-d¦?[^-¦]+¦|-a¦[^-¦]+¦|--null¦|--no-run-if-empty¦|--max-(args|procs|lines)=\d+¦)*`,
}

func (g *guard) wrapped(name, pattern string, args []word) {
	if line, ok := joined(args); name == "command" && ok && matches(`^-[vV]¦`, line) {
		return
	}
	at := prefix(pattern, args)
	if at < 0 || at < len(args) && args[at].option() {
		g.refuse(message.GuardOption, name)
		return
	}
	inner := slices.Clone(args[at:])
	if name == "xargs" {
		inner = added(args[:at], inner)
	}
	if len(inner) > 0 {
		g.exec(inner)
	}
}

// added puts what xargs reads into its command: in place of a mark, or behind.
func added(options, inner []word) []word {
	line, _ := joined(options)
	m := compile(`(?:^|¦)-0?I¦?([^¦]+)`).FindStringSubmatch(line)
	if m == nil {
		if len(inner) == 0 {
			return nil // echo
		}
		return append(inner, word{})
	}
	for i, w := range inner {
		if at := strings.Index(w.text, m[1]); at >= 0 {
			inner[i] = word{text: w.text[:at], one: true, lead: at > 0 && w.text[0] != '-'}
		}
	}
	return inner
}

// testArgs checks [ … ]: -v looks into subscripts, which are arithmetic.
func (g *guard) testArgs(_ string, args []word) (word, bool) {
	for i, w := range args {
		if !w.one && !w.lead {
			return w, false
		}
		sets := w.static && (w.text == "-v" || w.text == "-R") || !w.static && !w.lead
		if sets && i+1 < len(args) && (!args[i+1].static || strings.Contains(args[i+1].text, "[")) {
			return args[i+1], false
		}
	}
	return word{}, true
}

// assigning checks the builtins that are given names of variables.
func (g *guard) assigning(_ string, args []word) (word, bool) {
	line, ok := joined(args)
	for _, w := range args {
		if assignment(w.text + "=") {
			g.assignable(w.text)
		}
	}
	return word{static: ok, text: line}, ok && matches(`^(-[rsatv]+¦|-[rst]*[dnNOptu]¦?[^-¦]*¦)*([A-Za-z_]\w*¦)*$`, line)
}

// printf checks the format: -v and %n assign.
func (g *guard) printf(_ string, args []word) (word, bool) {
	args = append(args, word{static: true}, word{static: true}, word{static: true})
	if args[0].static && args[0].text == "-v" {
		if bad, ok := g.assigning("", args[1:2]); !ok {
			return bad, false
		}
		args = args[2:]
	}
	if args[0].static && args[0].text == "--" {
		args = args[1:]
	}
	return args[0], args[0].static && !matches(`^-|%[^%A-Za-z]*[hjlLqtz]*n`, args[0].text)
}

// shell checks the script behind -c, in each language that the shell may speak:
// [[ a > b ]] writes a file where sh is no bash.
func (g *guard) shell(name string, args []word) (word, bool) {
	at := prefix(`^(-[elux]+¦|-o¦pipefail¦)*-[elux]*c[elux]*¦(-[elux]+¦|-o¦pipefail¦)*`, args)
	if at > 0 && at < len(args) && !args[at].option() {
		if !args[at].static {
			return args[at], false
		}
		if g.script(args[at].text, syntax.LangBash); name != "bash" {
			g.script(args[at].text, syntax.LangPOSIX)
		}
		return word{}, true
	}
	line, ok := joined(args)
	return word{static: true, text: "…"}, ok && matches(`^(-n¦[^-¦][^¦]*¦|--version¦)$`, line) // -n only reads
}

const findTests = " -a -amin -and -atime -cmin -ctime -cnewer -daystart -depth -empty -executable -E -false -follow -fstype -group -H -iname -inum -ipath -iregex -L -links -ls -maxdepth -mindepth -mmin " +
	"-mount -mtime -name -nogroup -not -nouser -o -or -P -path -perm -print -print0 -printf -prune -quit -readable -regex -regextype -samefile -size -true -type -uid -gid -user -wholename -writable -xdev -xtype "

// find allows tests, and commands that read.
func (g *guard) find(_ string, args []word) (word, bool) {
	certain := true // each word so far is one
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.static && (w.text == "-exec" || w.text == "-execdir"):
			var inner []word
			for i++; i < len(args) && !(args[i].static && (args[i].text == ";" || args[i].text == "+" && args[i-1].text == "{}")); i++ {
				a := args[i]
				if at := strings.Index(a.text, "{}"); at >= 0 {
					// A path starts like the place it was found in, which is no option.
					a = word{text: a.text[:at], lead: at == 0 || a.text[0] != '-'}
				}
				inner = append(inner, a)
			}
			if len(inner) == 0 {
				return w, false
			}
			g.exec(inner)
		case w.static && w.option():
			if !strings.Contains(findTests, " "+w.text+" ") && !matches(`^-(newer\w*|\d+\w?)$`, w.text) {
				return w, false
			}
		case w.option(): // a pattern from a variable
			if !certain || !w.one || i == 0 || !slices.Contains([]string{"-name", "-iname", "-path", "-ipath", "-newer", "-mtime", "-mmin"}, args[i-1].text) {
				return w, false
			}
		}
		certain = certain && w.one
	}
	return word{}, true
}

// sed allows p, d, q, = and plain substitutions: its language also writes files
// and runs commands.
func (g *guard) sed(_ string, args []word) (word, bool) {
	script := -1
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case !w.option():
			if script < 0 {
				script = i
			}
		case !w.static || !matches(`^(-[nErszu]*e?|--quiet|--silent|--regexp-extended|--)$`, w.text):
			return w, false
		case strings.HasSuffix(w.text, "e") && w.text[1] != '-' && i+1 < len(args):
			i++
			script = i
		default:
			continue
		}
		if script == i && (!args[i].static || !matches(sedScript(), args[i].text)) {
			return args[i], false
		}
	}
	return word{static: true}, script >= 0
}

// sedScript reads sed's language no further than it must. A bracket must close
// before the delimiter: implementations differ in whether one inside counts.
var sedScript = sync.OnceValue(func() string {
	part := func(d string) string {
		return strings.ReplaceAll(`(?:[^\\\n\[D]|\\[^\nD]|\[\^?[^\]\n\\D]+\])*`, "D", d)
	}
	addr := `(?:\d+|\$|/` + part("/") + `/)`
	command := `[pdqQ=]`
	for _, d := range []string{"/", "|", ",", "#"} {
		q := regexp.QuoteMeta(d)
		command += `|s` + q + part(d) + q + part(d) + q + `[gpiI0-9]*`
	}
	one := `\s*(?:` + addr + `(?:,\s*(?:` + addr + `|\+\d+))?)?\s*!?\s*(?:` + command + `)\s*`
	return `^` + one + `(?:;` + one + `)*;?\s*$`
})

// awk allows programs that cannot write or run anything. No operator is told from
// a character in an expression: output needs a print in front of > or |, input
// from a command a getline.
func (g *guard) awk(_ string, args []word) (word, bool) {
	for i, w := range args {
		switch {
		case i > 0 && args[i-1].static && (args[i-1].text == "-F" || args[i-1].text == "-v"):
			if !w.one {
				return w, false
			}
		case w.static && (strings.HasPrefix(w.text, "-F") || strings.HasPrefix(w.text, "-v")):
		case !w.static || w.option():
			return w, false
		default:
			pipes := strings.ReplaceAll(w.text, "||", "")
			runs := strings.Contains(w.text, "system") || strings.Contains(w.text, "@") || strings.Contains(w.text, "getline") && strings.Contains(pipes, "|")
			if at := strings.Index(pipes, "print"); runs || at >= 0 && strings.ContainsAny(pipes[at:], ">|") {
				return w, false
			}
			return word{}, true // what follows the program is never an option
		}
	}
	return word{static: true}, false
}

// git allows subcommands that read. Most of them hand unknown options on to log
// or diff, so what is harmful there is refused everywhere.
func (g *guard) git(_ string, args []word) (word, bool) {
	i := 0
	for ; i < len(args) && args[i].option(); i++ {
		w := args[i]
		switch {
		case !w.static:
			return w, false
		case w.text == "-C" && i+1 < len(args) && args[i+1].one:
			i++
		case w.text == "-c" && i+1 < len(args) && args[i+1].static && matches(gitSettings, args[i+1].text):
			i++
		case !matches(`^(--no-pager|-P|--no-optional-locks|--literal-pathspecs|--version|-v)$`, w.text):
			return w, false
		}
	}
	if i == len(args) {
		return word{}, true
	}
	if bad, ok := (rule{harmful: true, most: -1, long: strings.Fields("output ext-diff exec upload-pack open-files-in-pager")}).check(args[i+1:]); !ok {
		return bad, false
	}
	if !args[i].static || entries("git/"+args[i].text) == nil {
		return args[i], false
	}
	bad, ok := g.program("git/"+args[i].text, args[i+1:])
	if bad.static {
		bad.text = args[i].text + " " + bad.text
	}
	return bad, ok
}

// gitSettings are those that run nothing.
const gitSettings = `(?i)^(core\.(quotepath|abbrev)|log\.date|diff\.(renames|context|noprefix|algorithm)|status\.short|grep\.linenumber|(color|advice|column)\.\w+)=[\w,-]*$|^(core\.pager|pager\.\w+)=(cat|false)?$`
