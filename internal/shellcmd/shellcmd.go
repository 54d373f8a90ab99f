// Package shellcmd answers questions about one shell command line: which
// programs it runs, whether it committed, whether it published or closed a pull
// request, and whether it only reads.
//
// One walk (walk.go, word.go) follows the syntax tree and hands out the simple
// commands of a line, in the order in which the shell comes to them. Of each word
// it tells what is certain: its text, or else whether it is exactly one argument,
// whether it can start like an option, whether it is a number. Beside that it
// keeps a guess.
//
// Two readers use the walk. The follower (follow.go) looks for evidence of commits
// and pull requests: it takes guesses, follows functions, wrappers (sudo, timeout,
// xargs, …) and shells that are given a script. A wrong guess costs little, since
// git's own output or the reflog has the last word. The guard (guard.go) gives a
// permission and takes no guess: whatever the walk does not understand is refused, so
// is what shells may read otherwise than our parser (readings.go), and every simple
// command must match a shape as a whole. Shapes are data: a line
// of shapes.txt says which words, options and operands a reading command has, and
// in which order (shape.go). What a shape allows and what it only just refuses is
// in testdata/shapes.txt, run against the real programs.
//
// Work is bounded: the walk counts its steps, and lines above maxLine or lines that
// nest or expand too far are refused. The package runs no process; a repository is
// read from its files (ReadHead, UserAliases). Other version control systems,
// aliases from start-up files and remote commands (ssh) are not looked into.
package shellcmd

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine is the longest line that is looked at, in bytes.
const maxLine = 64 << 10

var (
	// errTooLong says that a line is longer than maxLine.
	errTooLong = errors.New("command line too long")
	// errTooComplex says that a line nests or expands further than the walk follows.
	errTooComplex = errors.New("command line too complex")
)

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
