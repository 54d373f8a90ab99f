package shellcmd

import (
	"slices"
	"strings"
)

// wrap describes the options of a program that runs another one.
type wrap struct {
	short  string   // short options with a value
	long   []string // long options with a separate value
	none   string   // short options that mean: no command is run
	chdir  string   // options that change the directory: "-C --chdir"
	skip   int      // arguments between the options and the command
	assign bool     // NAME=VALUE may stand before the command
	more   bool     // arguments from elsewhere are added at the end
}

func wrapperOf(name string) (wrap, bool) {
	switch name {
	case "env":
		return wrap{short: "uCS", long: []string{"--unset", "--chdir", "--split-string"}, chdir: "-C --chdir", assign: true}, true
	case "sudo":
		return wrap{
			short: "ughpCrtTUDRac", none: "elvKkV", chdir: "-D --chdir", assign: true,
			long: []string{"--user", "--group", "--host", "--prompt", "--close-from", "--role", "--type", "--command-timeout", "--other-user", "--chdir", "--chroot"},
		}, true
	case "doas":
		return wrap{short: "uCa", none: "L"}, true
	case "command":
		return wrap{none: "vV"}, true
	case "builtin", "nohup", "chronic", "unbuffer", "busybox":
		return wrap{}, true
	case "exec":
		return wrap{short: "a"}, true
	case "nice":
		return wrap{short: "n", long: []string{"--adjustment"}}, true
	case "ionice":
		return wrap{short: "cnpPu", long: []string{"--class", "--classdata"}}, true
	case "time":
		return wrap{short: "fo", long: []string{"--format", "--output"}}, true
	case "timeout", "gtimeout":
		return wrap{short: "sk", long: []string{"--signal", "--kill-after"}, skip: 1}, true
	case "stdbuf":
		return wrap{short: "ioe", long: []string{"--input", "--output", "--error"}}, true
	case "xargs":
		return wrap{
			short: "IJRSnPLsdEa", more: true,
			long: []string{"--replace", "--max-args", "--max-procs", "--max-lines", "--max-chars", "--delimiter", "--eof", "--arg-file", "--process-slot-var"},
		}, true
	case "setsid":
		return wrap{}, true
	case "caffeinate":
		return wrap{short: "tw"}, true
	case "taskset", "chroot":
		return wrap{skip: 1}, true
	case "strace", "ltrace":
		return wrap{short: "aeEIoOpPsSuUX"}, true
	}
	return wrap{}, false
}

func isShell(name string) bool {
	switch name {
	case "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash":
		return true
	}
	return false
}

// wrapped follows args into the command or script they carry. It reports false
// when args is an ordinary command.
func (w *walker) wrapped(args []arg, s *scope) bool {
	name := base(args[0].Text)
	if isShell(name) {
		return w.shell(name, args[1:], s)
	}
	switch name {
	case "su", "script":
		if text, ok := optionValue(args[1:], 'c', "--command"); ok {
			w.inline(name, text, s.sub())
			return true
		}
		return false
	case "watch":
		i := skipOptions(args[1:], "ndqe", []string{"--interval"}) + 1
		if i >= len(args) {
			return false
		}
		w.inline(name, join(args[i:]), s.sub())
		return true
	case "flock":
		if text, ok := optionValue(args[1:], 'c', "--command"); ok {
			w.inline(name, text, s.sub())
			return true
		}
		i := skipOptions(args[1:], "wE", []string{"--timeout", "--conflict-exit-code"}) + 2
		if i >= len(args) {
			return false
		}
		w.under(name, args[i:], s)
		return true
	case "find":
		w.emit(args, s)
		w.findExec(args[1:], s)
		return true
	}
	spec, ok := wrapperOf(name)
	if !ok {
		return false
	}
	in := spec.inner(args[1:])
	if in.none || len(in.args) == 0 {
		if name == "xargs" && !in.none {
			w.under(name, []arg{{Text: "echo"}, {Dynamic: true}}, s)
			return true
		}
		return false
	}
	c := s
	if in.dir.Text != "" || in.dir.Dynamic {
		c = s.sub()
		c.stdin = s.stdin
		c.cd([]arg{in.dir})
	}
	env := c.env
	c.env = append(slices.Clip(env), in.env...)
	if spec.more {
		in.args = append(replaced(args[1:], in.args), arg{Dynamic: true})
	}
	w.under(name, in.args, c)
	c.env = env
	return true
}

// replaced marks the words into which xargs puts what it reads.
func replaced(options, args []arg) []arg {
	mark := "{}"
	own := options[:len(options)-len(args)]
	for i, a := range own {
		if v, ok := strings.CutPrefix(a.Text, "-I"); ok && v != "" {
			mark = v
		} else if v, ok := strings.CutPrefix(a.Text, "--replace="); ok {
			mark = v
		} else if a.Text == "-I" && i+1 < len(own) {
			mark = own[i+1].Text
		}
	}
	out := slices.Clone(args)
	for i, a := range out {
		if at := strings.Index(a.Text, mark); at >= 0 {
			out[i] = arg{Text: a.Text, Dynamic: true, Prefix: a.Text[:at]}
		}
	}
	return out
}

func (w *walker) under(via string, args []arg, s *scope) {
	w.depth++
	if w.depth > maxDepth {
		w.err = errTooComplex
	}
	old := s.via
	s.via = append(slices.Clip(old), via)
	w.program(args, s)
	s.via = old
	w.depth--
}

type innerCommand struct {
	args []arg
	env  []assign
	dir  arg
	none bool
}

func (spec wrap) inner(args []arg) innerCommand {
	var in innerCommand
	chdir := strings.Fields(spec.chdir)
	i := 0
options:
	for i < len(args) {
		a := args[i].Text
		switch {
		case a == "" && args[i].Dynamic:
			// $OPTIONS that we do not know
			i++
		case a == "--":
			i++
			break options
		case strings.HasPrefix(a, "--"):
			name, value, attached := strings.Cut(a, "=")
			v := arg{Text: value, Dynamic: args[i].Dynamic}
			i++
			if !attached && slices.Contains(spec.long, name) && i < len(args) {
				v = args[i]
				i++
			}
			if name == "--split-string" {
				in.args = append(split(v), args[i:]...)
				return spec.reparse(in)
			}
			if slices.Contains(chdir, name) {
				in.dir = v
			}
			if name == "--help" || name == "--version" {
				in.none = true
			}
		case len(a) > 1 && a[0] == '-':
			v, c, used := shortValue(args[i:], spec.short)
			if strings.ContainsAny(a[1:], spec.none) && spec.none != "" && c == 0 {
				in.none = true
			}
			i += used
			if c == 'S' && spec.assign && spec.none == "" {
				in.args = append(split(v), args[i:]...)
				return spec.reparse(in)
			}
			if c != 0 && slices.Contains(chdir, "-"+string(c)) {
				in.dir = v
			}
		case spec.assign && assignment(a):
			name, value, _ := strings.Cut(a, "=")
			in.env = append(in.env, assign{Name: name, Value: arg{Text: value, Dynamic: args[i].Dynamic}})
			i++
		default:
			break options
		}
	}
	// After -- assignments may still come first (env -- A=b cmd).
	for spec.assign && i < len(args) && assignment(args[i].Text) {
		name, value, _ := strings.Cut(args[i].Text, "=")
		in.env = append(in.env, assign{Name: name, Value: arg{Text: value, Dynamic: args[i].Dynamic}})
		i++
	}
	i += spec.skip
	if i < len(args) {
		in.args = args[i:]
	}
	return in
}

// reparse reads the words of env -S, which may hold assignments and options.
func (spec wrap) reparse(in innerCommand) innerCommand {
	spec.short = strings.ReplaceAll(spec.short, "S", "")
	again := spec.inner(in.args)
	again.env = append(in.env, again.env...)
	if again.dir == (arg{}) {
		again.dir = in.dir
	}
	return again
}

func split(v arg) []arg {
	var out []arg
	for _, f := range splitWords(v.Text) {
		out = append(out, arg{Text: f, Dynamic: v.Dynamic})
	}
	return out
}

// shortValue reads one cluster of short options. It returns the option that
// takes a value (0 when none does), the value, and how many words were used.
func shortValue(args []arg, withValue string) (arg, byte, int) {
	a := args[0].Text
	for j := 1; j < len(a); j++ {
		if strings.IndexByte(withValue, a[j]) < 0 {
			continue
		}
		if j+1 < len(a) {
			return arg{Text: a[j+1:], Dynamic: args[0].Dynamic}, a[j], 1
		}
		if len(args) > 1 {
			return args[1], a[j], 2
		}
		return arg{}, a[j], 1
	}
	return arg{}, 0, 1
}

func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func skipOptions(args []arg, short string, long []string) int {
	i := 0
	for i < len(args) {
		a := args[i].Text
		switch {
		case a == "--":
			return i + 1
		case strings.HasPrefix(a, "--"):
			i++
			if !strings.Contains(a, "=") && slices.Contains(long, a) {
				i++
			}
		case len(a) > 1 && a[0] == '-':
			_, _, used := shortValue(args[i:], short)
			i += used
		default:
			return i
		}
	}
	return i
}

func optionValue(args []arg, short byte, long string) (arg, bool) {
	for i, a := range args {
		if v, ok := strings.CutPrefix(a.Text, long+"="); ok {
			return arg{Text: v, Dynamic: a.Dynamic}, true
		}
		cluster := len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && a.Text[len(a.Text)-1] == short
		if (a.Text == long || cluster) && i+1 < len(args) {
			return args[i+1], true
		}
	}
	return arg{}, false
}

// shell follows bash -c '…' and shells that read a script from the line.
func (w *walker) shell(name string, args []arg, s *scope) bool {
	command, stdin, dry := false, false, false
	c := s.sub()
	c.errexit = false
	i := 0
options:
	for i < len(args) {
		a := args[i].Text
		switch {
		case a == "" && args[i].Dynamic:
			return false
		case a == "--" || a == "-":
			i++
			break options
		case strings.HasPrefix(a, "--"):
			i++
			if a == "--rcfile" || a == "--init-file" {
				i++
			}
			if a == "--version" || a == "--help" {
				return false
			}
		case len(a) > 1 && (a[0] == '-' || a[0] == '+'):
			i++
			for j := 1; j < len(a); j++ {
				switch a[j] {
				case 'c':
					command = true
				case 's':
					stdin = true
				case 'n':
					dry = a[0] == '-'
				case 'e':
					c.errexit = true
				case 'o', 'O':
					if i < len(args) && args[i].Text == "errexit" {
						c.errexit = true
					}
					i++
				}
			}
		default:
			break options
		}
	}
	rest := args[min(i, len(args)):]
	switch {
	case dry:
		return false
	case command:
		if len(rest) == 0 {
			return false
		}
		c.args = nil
		if len(rest) > 2 {
			c.args = rest[2:]
		}
		w.inline(name, rest[0], c)
		return true
	case (stdin || len(rest) == 0) && s.stdin != nil:
		c.args = rest
		w.inline(name, *s.stdin, c)
		return true
	}
	return false
}

// findExec follows the commands of find's -exec and its relatives.
func (w *walker) findExec(args []arg, s *scope) {
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		inDir := strings.HasSuffix(args[i].Text, "dir")
		j := i + 1
		for j < len(args) && args[j].Text != ";" && (args[j].Text != "+" || args[j-1].Text != "{}") {
			j++
		}
		var inner []arg
		for _, a := range args[i+1 : j] {
			if prefix, _, ok := strings.Cut(a.Text, "{}"); ok {
				a = arg{Dynamic: true, Prefix: prefix}
			}
			inner = append(inner, a)
		}
		c := s.sub()
		c.decides = false
		if inDir {
			c.known = false
		}
		w.under("find", inner, c)
		i = j
	}
}

// splitWords splits text at blanks with quotes and backslashes, as git splits
// an alias and env -S its string.
func splitWords(text string) []string {
	var out []string
	var b strings.Builder
	open := false
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			open = true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			if open {
				out = append(out, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteByte(c)
			open = true
		}
	}
	if open {
		out = append(out, b.String())
	}
	return out
}
