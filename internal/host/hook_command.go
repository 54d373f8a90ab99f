package host

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// HookProgram is what hosts call for their hooks. It lies beside overtone.
const HookProgram = "overtone-hook"

// hookCommand is what a host starts for an event, word by word: the program for
// hooks, else overtone, which does the same.
func (p Place) hookCommand(h Name, event string) []string {
	words := []string{p.Hook}
	if p.Hook == "" {
		words = []string{"overtone", "hook"}
	}
	return append(words, event, "--host", string(h))
}

// hookLine is the same for a shell; mark is what it ends with in every version.
func (p Place) hookLine(h Name, event string) (line, mark string) {
	return shellLine(p.hookCommand(h, event)), " " + event + " --host " + string(h)
}

// softLine is hookLine for hosts that run it in a shell and ask nobody about a changed
// one. A Go program that has not enough memory or threads to start ends with 2, which
// these hosts read as "block". Codex would ask its user to review every hook again, and
// run none of them until then, for the sake of limits that hardly anybody has.
func (p Place) softLine(h Name, event string) (line, mark string) {
	line, mark = p.hookLine(h, event)
	if runtime.GOOS != "windows" { // where not every shell has it
		line += " || true"
	}
	return line, mark
}

// shellLine is a command as a shell reads it. Only the program's path may hold
// anything that has to be quoted. On Windows both of the shells that hosts use
// take slashes between double quotes.
func shellLine(words []string) string {
	program := terminal.Quote(words[0])
	if runtime.GOOS == "windows" && filepath.IsAbs(words[0]) {
		program = `"` + filepath.ToSlash(words[0]) + `"`
	}
	return strings.Join(append([]string{program}, words[1:]...), " ")
}

// isStatusLine reports whether a command is our status line and nothing else, in
// the form of any version.
func isStatusLine(command string) bool {
	program, ok := strings.CutSuffix(command, " statusline")
	path := strings.Trim(program, `'"`)
	whole := path != program || !strings.Contains(program, " ")
	return ok && whole && (program == "overtone" || strings.TrimSuffix(filepath.Base(path), ".exe") == HookProgram)
}

// MissingProgram is a program for hooks that a settings file calls and that is not
// there, "" where there is none.
func MissingProgram(settings []byte) string {
	missing := ""
	var look func(v gjson.Result)
	look = func(v gjson.Result) {
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(_, v gjson.Result) bool { look(v); return true })
			return
		}
		before, after, ok := strings.Cut(v.String(), HookProgram)
		path := strings.ReplaceAll(strings.TrimLeft(before, `'"`), `'\''`, `'`) + HookProgram // as shellLine quotes it
		if strings.HasPrefix(after, ".exe") {
			path += ".exe"
		}
		if _, err := os.Stat(path); ok && filepath.IsAbs(path) && err != nil {
			missing = path
		}
	}
	look(gjson.ParseBytes(settings))
	return missing
}
