package hook

import (
	"fmt"
	"runtime/debug"

	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// Program runs `overtone-hook`: EVENT [--host NAME], serve --host NAME, statusline, or version. Like
// every call of a host it exits with 0, whatever happens.
func Program(args []string, env Env) int {
	if !Brace() {
		return 0
	}
	env.Stdout, env.Stderr = terminal.NewScreen(env.Stdout), terminal.NewScreen(env.Stderr)
	defer terminal.Flush(env.Stderr)
	defer terminal.Flush(env.Stdout)
	env.Version = terminal.Version
	switch {
	case len(args) == 1 && (args[0] == "version" || args[0] == "--version"):
		fmt.Fprintln(env.Stdout, "overtone-hook version", terminal.ThisBuild())
	case len(args) == 1 && args[0] == "statusline":
		fmt.Fprintln(env.Stdout, StatusLine(env))
	default:
		return Main(args, env)
	}
	if err := terminal.WriteError(env.Stdout); err != nil {
		fmt.Fprintln(env.Stderr, "[overtone/stdout]", err)
	}
	return 0
}

// Brace prepares a process that a host waits for, and reports whether it can do
// anything at all.
func Brace() bool {
	// What no recover stops (a stack overflow, no memory, no thread) would end
	// with 2, which hosts read as "block". This way it ends with an abort.
	debug.SetTraceback("crash")
	return !starved()
}
