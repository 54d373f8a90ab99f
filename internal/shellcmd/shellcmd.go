// Package shellcmd answers questions about one shell command line: which
// programs it runs, whether it committed, whether it published or closed a pull
// request, and whether it only reads.
//
// Parse walks the syntax tree of the line and yields every simple command that
// may be executed: through lists, pipes, subshells, substitutions, loops and
// functions, through wrappers (env, sudo, timeout, xargs, …) and through shells
// that are given a script (bash -lc '…', eval, a here-document). Words are
// expanded as far as the line itself tells; what depends on run time is marked
// Dynamic and carries a guess where there is one. A here-document is data unless
// a shell reads it.
//
// Guesses are good enough to look for evidence, never to give a permission:
// Committed starts from a guess and lets git's own output or the reflog decide;
// ReadOnly trusts static words only, and says no to whatever it does not know.
//
// Work is bounded: lines above MaxLine and lines that expand too far are refused
// with an error. The package runs no process; a repository is read from its
// files (ReadHead, UserAliases). Other version control systems, shell aliases
// from start-up files and remote commands (ssh) are not looked into.
package shellcmd

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// MaxLine is the longest line that Parse looks at, in bytes.
const MaxLine = 64 << 10

var (
	// ErrTooLong says that a line is longer than MaxLine.
	ErrTooLong = errors.New("command line too long")
	// ErrTooComplex says that a line nests or expands further than Parse follows.
	ErrTooComplex = errors.New("command line too complex")
)

// Arg is one word of a command after expansion.
type Arg struct {
	// Text is the word's value; for a Dynamic word the best guess, or "".
	Text string
	// Dynamic says that the value depends on run time.
	Dynamic bool
	// Prefix is the part of a Dynamic word that is certain.
	Prefix string
}

// Assign is an assignment that holds for one command.
type Assign struct {
	Name  string
	Value Arg
}

// Command is one simple command that a line may run.
type Command struct {
	// Args is the program and its arguments. It is empty for a redirection
	// or an assignment that stands alone.
	Args []Arg
	// Env holds the assignments in front of the command.
	Env []Assign
	// Via names the wrappers the command was found in, outermost first.
	Via []string
	// Dir is the working directory: absolute, starting with ~ for the home
	// directory, or relative to where the line started ("" is that place).
	Dir string
	// DirKnown is false when Dir cannot be told from the line.
	DirKnown bool
	// Writes lists the files that the command's output is redirected to,
	// without the null device and other file descriptors.
	Writes []Arg
	// Hidden says that the command's output is not the line's output: it is
	// captured, piped on or redirected.
	Hidden bool
	// Decides says that the line can only end with status 0 if this command
	// ran and ended with status 0.
	Decides bool
}

// Name is the program's base name without .exe, or "" when it is not known.
func (c Command) Name() string {
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

// Parse lists the simple commands that line may run, in the order in which the
// shell would come to them. A command inside a loop over known words is listed
// once per word.
func Parse(line string) ([]Command, error) {
	if len(line) > MaxLine {
		return nil, ErrTooLong
	}
	w := &walker{fuel: maxFuel, funcs: map[string]*syntax.Stmt{}}
	s := &scope{known: true, decides: true, vars: map[string]string{}}
	w.script(line, false, s)
	if w.err != nil {
		return nil, w.err
	}
	return w.cmds, nil
}

// Runs reports whether line may run the named program, directly or as a wrapper.
func Runs(line, prog string) bool {
	cmds, err := Parse(line)
	if err != nil {
		return false
	}
	for _, c := range cmds {
		if c.Name() == prog {
			return true
		}
		for _, v := range c.Via {
			if v == prog {
				return true
			}
		}
	}
	return false
}

// Quote turns an argument vector into a line that Parse reads back as the same
// vector.
func Quote(argv ...string) string {
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

// Resolve makes a Command's Dir absolute, given where the line started and the
// user's home directory. It fails when one of them is needed and unknown.
func Resolve(dir, cwd, home string) (string, error) {
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
