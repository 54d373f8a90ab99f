package shellcmd

import (
	"slices"
	"strings"
)

// carriers run the command, or the script, that is among their arguments.
const carriers = " env sudo doas command builtin exec nohup chronic unbuffer busybox nice ionice time timeout gtimeout stdbuf xargs setsid caffeinate taskset chroot strace ltrace flock su script watch find "

// wrapped follows args into the command or script they carry. It reports false
// when args is an ordinary command.
//
// Where the command begins is found by its name, not by knowing how many words
// each option of each carrier takes: the first word that names a program we know,
// or a script of which that is the first word. A wrong guess costs no more than a
// look into the repository's log, which has the last word anyway.
func (w *walker) wrapped(args []arg, s *scope) bool {
	name := base(args[0].Text)
	if isShell(name) {
		return w.shell(name, args[1:], s)
	}
	if !strings.Contains(carriers, " "+name+" ") {
		return false
	}
	c := w.sub(s)
	c.stdin, c.env = s.stdin, slices.Clip(s.env)
	for i := 1; i < len(args); i++ {
		w.spend(8) // what is known of programs is looked through for each word
		if w.err != nil {
			return true
		}
		a := args[i].Text
		key, value, attached := strings.Cut(a, "=")
		script := strings.TrimPrefix(strings.TrimPrefix(a, "-S"), "--split-string=")
		switch {
		case name == "command" && (a == "-v" || a == "-V"):
			return false
		case assignment(a):
			c.env = append(c.env, assign{key, arg{Text: value, Dynamic: args[i].Dynamic}})
		case key == "--chdir" && attached:
			c.cd([]arg{{Text: value, Dynamic: args[i].Dynamic}})
		case (a == "-C" || a == "-D" || a == "--chdir") && i+1 < len(args):
			i++
			c.cd(args[i : i+1])
		case strings.ContainsAny(script, " \t\n") && knownProgram(strings.Fields(script+" ")):
			w.inline(name, arg{Text: script, Dynamic: args[i].Dynamic}, c)
			return true
		case knownProgram([]string{a}):
			inner := args[i:]
			switch name {
			case "find": // what follows ; or + is find's again
				if end := slices.IndexFunc(inner, func(a arg) bool { return a.Text == ";" || a.Text == "+" }); end > 0 {
					inner = inner[:end]
				}
				c.decides = false
				w.emit(args, s)
			case "xargs":
				inner = append(slices.Clip(inner), arg{Dynamic: true})
			}
			w.under(inner, c)
			return true
		}
	}
	return false
}

// knownProgram reports whether a command begins with a program that we know.
func knownProgram(words []string) bool {
	if len(words) == 0 {
		return false
	}
	name := base(words[0])
	return name == "git" || name == "gt" || isShell(name) || entries(name) != nil || wrappers[name] != "" || strings.Contains(carriers, " "+name+" ")
}

func isShell(name string) bool {
	switch name {
	case "bash", "sh", "zsh", "dash", "ksh", "mksh", "ash":
		return true
	}
	return false
}

func (w *walker) under(args []arg, s *scope) {
	w.depth++
	if w.depth > maxDepth {
		w.err = errTooComplex
	}
	w.program(args, s)
	w.depth--
}

func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// shell follows bash -c '…' and shells that read a script from the line.
func (w *walker) shell(name string, args []arg, s *scope) bool {
	command, stdin := false, false
	c := w.sub(s)
	c.errexit = false
	i := 0
	for ; i < len(args); i++ {
		a := args[i].Text
		if a == "--" || a == "-" {
			i++
			break
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		if strings.HasPrefix(a, "--") {
			if a == "--rcfile" || a == "--init-file" {
				i++
			}
			continue
		}
		if a[0] == '-' && strings.Contains(a, "n") { // reads the syntax only
			return false
		}
		command = command || strings.Contains(a, "c")
		stdin = stdin || strings.Contains(a, "s")
		c.errexit = c.errexit || strings.Contains(a, "e")
		if strings.ContainsAny(a, "oO") && i+1 < len(args) {
			i++
			c.errexit = c.errexit || args[i].Text == "errexit"
		}
	}
	rest := args[min(i, len(args)):]
	switch {
	case command && len(rest) > 0:
		c.args = rest[min(2, len(rest)):]
		w.inline(name, rest[0], c)
		return true
	case !command && (stdin || len(rest) == 0) && s.stdin != nil:
		c.args = rest
		w.inline(name, *s.stdin, c)
		return true
	}
	return false
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
