// Package shellcmd answers questions about one shell command line: which
// programs it runs, whether it committed, whether it published or closed a pull
// request, and whether it only reads.
//
// Two readers share the parser, because they need opposite things. The walker
// (parse) looks for evidence: it yields every simple command that may be executed,
// through lists, pipes, substitutions, loops, functions, wrappers (sudo, timeout,
// xargs, …) and shells that are given a script, expands words as far as the line
// tells and guesses the rest. A wrong guess costs little, since git's own output
// or the reflog has the last word. The guard (ReadOnly) gives a permission: it
// guesses nothing, follows nothing that it does not know, and says no by default.
// What it knows of programs is data, in programs.txt.
//
// Work is bounded: lines above maxLine and lines that nest or expand too far are
// refused. The package runs no process; a repository is read from its files
// (ReadHead, UserAliases). Other version control systems, shell aliases from
// start-up files and remote commands (ssh) are not looked into.
package shellcmd

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine is the longest line that parse looks at, in bytes.
const maxLine = 64 << 10

var (
	// errTooLong says that a line is longer than maxLine.
	errTooLong = errors.New("command line too long")
	// errTooComplex says that a line nests or expands further than parse follows.
	errTooComplex = errors.New("command line too complex")
)

// arg is one word of a command after expansion.
type arg struct {
	// Text is the word's value; for a Dynamic word the best guess, or "".
	Text string
	// Dynamic says that the value depends on run time.
	Dynamic bool
}

// assign is an assignment that holds for one command.
type assign struct {
	Name  string
	Value arg
}

// command is one simple command that a line may run.
type command struct {
	// Args is the program and its arguments. It is empty for a redirection
	// or an assignment that stands alone.
	Args []arg
	// Env holds the assignments in front of the command.
	Env []assign
	// Dir is the working directory: absolute, starting with ~ for the home
	// directory, or relative to where the line started ("" is that place).
	Dir string
	// DirKnown is false when Dir cannot be told from the line.
	DirKnown bool
	// Hidden says that the command's output is not the line's output: it is
	// captured, piped on or redirected.
	Hidden bool
	// Decides says that the line can only end with status 0 if this command
	// ran and ended with status 0.
	Decides bool
}

// name is the program's base name without .exe, or "" when it is not known.
func (c command) name() string {
	if len(c.Args) == 0 {
		return ""
	}
	return base(c.Args[0].Text)
}

func base(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	return strings.TrimSuffix(name, ".exe")
}

// parse lists the simple commands that line may run, in the order in which the
// shell would come to them. A command inside a loop over known words is listed
// once per word.
func parse(line string) ([]command, error) {
	if len(line) > maxLine {
		return nil, errTooLong
	}
	w := &walker{fuel: maxFuel, funcs: map[string]*syntax.Stmt{}}
	s := &scope{known: true, decides: true, vars: map[string]string{}}
	w.script(line, false, s)
	if w.err != nil {
		return nil, w.err
	}
	return w.cmds, nil
}

// quote turns an argument vector into a line that parse reads back as the same
// vector.
func quote(argv ...string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		q, err := syntax.Quote(a, syntax.LangBash)
		if err != nil {
			// Only a NUL byte cannot be quoted, and no argument can hold one.
			q, _ = syntax.Quote(strings.ReplaceAll(a, "\x00", ""), syntax.LangBash)
		}
		words[i] = q
	}
	return strings.Join(words, " ")
}

// resolve makes a command's Dir absolute, given where the line started and the
// user's home directory. It fails when one of them is needed and unknown.
func resolve(dir, cwd, home string) (string, error) {
	switch {
	case dir == "":
		dir = cwd
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		if home == "" {
			return "", fmt.Errorf("resolve %s: home directory unknown", dir)
		}
		dir = path.Join(home, strings.TrimPrefix(dir, "~"))
	case !path.IsAbs(dir):
		dir = path.Join(cwd, dir)
	}
	if !path.IsAbs(dir) {
		return "", fmt.Errorf("resolve %s: working directory unknown", dir)
	}
	return path.Clean(dir), nil
}
