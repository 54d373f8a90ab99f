package shellcmd

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxPath is the longest path that a system takes.
const maxPath = 4096

// follower is the reader that looks for evidence: it lists every command that a
// line may run, with guesses for what the line does not tell.
type follower struct {
	walker
	cmds []command
}

// parse lists the simple commands that line may run, in the order in which the
// shell would come to them. A command inside a loop over known words is listed
// once per word.
func parse(line string) ([]command, error) {
	if len(line) > maxLine {
		return nil, errTooLong
	}
	f := &follower{walker: walker{fuel: maxSteps, funcs: map[string]*syntax.Stmt{}}}
	f.exec = f.run
	f.script(line, false, &scope{known: true, decides: true, vars: map[string]string{}})
	if f.err != nil {
		return nil, f.err
	}
	return f.cmds, nil
}

// script parses text as a shell program and follows it. The dialect is bash;
// what bash does not understand is tried as zsh, the shell of some hosts.
func (f *follower) script(text string, zsh bool, s *scope) {
	f.spend(16 + 2*len(text))
	f.deeper(func() {
		langs := []syntax.LangVariant{syntax.LangBash, syntax.LangZsh}
		if zsh {
			slices.Reverse(langs)
		}
		file, err := parseScript(text, langs[0])
		if err != nil {
			var again error
			if file, again = parseScript(text, langs[1]); again != nil {
				f.err = err
				return
			}
		}
		f.stmts(file.Stmts, s)
	})
}

func (f *follower) emit(args []arg, s *scope) {
	f.spend(16 + 2*len(s.env))
	if f.err != nil {
		return
	}
	f.cmds = append(f.cmds, command{
		Args: args, Env: slices.Clone(s.env),
		Dir: s.dir, DirKnown: s.known,
		Hidden: s.hidden, Decides: s.decides,
	})
}

// run follows one simple command: into functions, wrappers and shells.
func (f *follower) run(args []arg, s *scope) {
	if len(args) == 0 {
		f.emit(nil, s)
		return
	}
	body, ok := f.funcs[args[0].Text]
	if !ok {
		f.program(args, s)
		return
	}
	// The definition may stand in a branch that was not taken, so the
	// name itself stays in the list too.
	f.emit(args, s)
	f.deeper(func() {
		old := s.args
		s.args = args[1:]
		f.stmt(body, s)
		s.args = old
	})
}

// program is run for a command that cannot be a function, such as the one behind
// env or command.
func (f *follower) program(args []arg, s *scope) {
	f.spend(16 + 2*len(args))
	if f.err != nil || len(args) == 0 {
		return
	}
	switch args[0].Text {
	case "cd", "pushd":
		s.cd(args[1:])
	case "set":
		for _, a := range args[1:] {
			if a.Text == "errexit" || strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "--") && strings.Contains(a.Text, "e") {
				s.errexit = true
			}
		}
	case "eval":
		f.inline("eval", join(args[1:]), s)
		return
	}
	if !f.wrapped(args, s) {
		f.emit(args, s)
	}
}

// inline follows text as a script in the current shell. Where that is a guess, the
// wrapper itself stays in the list: it keeps the guess from passing as known.
func (f *follower) inline(via string, text arg, s *scope) {
	if text.Dynamic {
		f.emit([]arg{literal(via), text}, s)
	}
	if !text.Dynamic || text.Text != "" {
		f.script(text.Text, via == "zsh", s)
	}
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

// carriers run the command, or the script, that is among their arguments.
const carriers = " env sudo doas command builtin exec nohup chronic unbuffer busybox nice ionice time timeout gtimeout stdbuf xargs setsid caffeinate taskset chroot strace ltrace flock su script watch "

// wrapped follows args into the command or script they carry. It reports false
// when args is an ordinary command.
//
// Where the command begins is found by its name, not by knowing how many words
// each option of each carrier takes: the first word that names a program we know,
// or a script of which that is the first word. A wrong guess costs no more than a
// look into the repository's log, which has the last word anyway.
func (f *follower) wrapped(args []arg, s *scope) bool {
	name := base(args[0].Text)
	if isShell(name) {
		return f.shell(name, args[1:], s)
	}
	if !strings.Contains(carriers, " "+name+" ") {
		return false
	}
	c := f.sub(s)
	c.env = slices.Clip(s.env)
	for i := 1; i < len(args); i++ {
		if f.spend(128); f.err != nil { // shapes are looked through for each word
			return true
		}
		a := args[i].Text
		key, value, attached := strings.Cut(a, "=")
		script := strings.TrimPrefix(strings.TrimPrefix(a, "-S"), "--split-string=")
		switch {
		case name == "command" && (a == "-v" || a == "-V"):
			return false
		case attached && syntax.ValidName(key):
			c.env = append(c.env, assign{key, arg{Text: value, Dynamic: args[i].Dynamic}})
		case key == "--chdir" && attached:
			c.cd([]arg{{Text: value, Dynamic: args[i].Dynamic}})
		case (a == "-C" || a == "-D" || a == "--chdir") && i+1 < len(args):
			i++
			c.cd(args[i : i+1])
		case strings.ContainsAny(script, " \t\n") && knownProgram(strings.Fields(script+" ")):
			f.inline(name, arg{Text: script, Dynamic: args[i].Dynamic}, c)
			return true
		case knownProgram([]string{a}):
			inner := args[i:]
			if name == "xargs" {
				inner = append(slices.Clip(inner), arg{Dynamic: true})
			}
			f.deeper(func() { f.program(inner, c) })
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
	return name == "gt" || isShell(name) || len(shapes(name)) > 0 || strings.Contains(carriers, " "+name+" ")
}

func isShell(name string) bool {
	return slices.Contains([]string{"bash", "sh", "zsh", "dash", "ksh", "mksh", "ash"}, name)
}

// shell follows bash -c '…'.
func (f *follower) shell(name string, args []arg, s *scope) bool {
	command := false
	c := f.sub(s)
	c.errexit = false
	for len(args) > 0 && len(args[0].Text) > 1 && strings.ContainsAny(args[0].Text[:1], "-+") {
		a := args[0].Text
		args = args[1:]
		if strings.HasPrefix(a, "--") {
			continue
		}
		if a[0] == '-' && strings.Contains(a, "n") { // reads the syntax only
			return false
		}
		command = command || strings.Contains(a, "c")
		c.errexit = c.errexit || strings.Contains(a, "e")
		if strings.ContainsAny(a, "oO") && len(args) > 0 {
			c.errexit = c.errexit || args[0].Text == "errexit"
			args = args[1:]
		}
	}
	if !command || len(args) == 0 {
		return false
	}
	c.args = args[min(2, len(args)):]
	f.inline(name, args[0], c)
	return true
}

// cd follows a change of directory.
func (s *scope) cd(args []arg) {
	target := literal("~")
	if i := slices.IndexFunc(args, func(a arg) bool { return len(a.Text) < 2 || a.Text[0] != '-' }); i >= 0 {
		target = args[i]
	}
	from, known := s.dir, s.known
	switch {
	case target.Text == "-":
		s.dir, s.known = s.old, s.moved
	case target.Text == "" && target.Dynamic:
		s.known = false
	default:
		s.dir, s.known = within(s.dir, target.Text), s.known || rooted(target.Text)
	}
	s.old, s.moved = from, known
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
