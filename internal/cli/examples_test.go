package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

// The help of every command has a line to start from, behind what it says of
// itself, in both languages.
func TestHelpHasExamples(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"C", "zh_TW.UTF-8"} {
		help := func(args ...string) string {
			env := cli.OSEnv()
			var out bytes.Buffer
			home := t.TempDir()
			env.Getenv = func(k string) string { return map[string]string{"HOME": home, "LANG": lang, "COLUMNS": "400"}[k] }
			env.Stdout, env.Stderr = &out, &out
			cli.Main(append(args, "--help"), env)
			return out.String()
		}
		var walk func(path []string)
		walk = func(path []string) {
			text := help(path...)
			commands, title := "\nCommands:\n", "Usage:\n"
			if lang != "C" {
				commands, title = "\n指令：\n", "用法：\n"
			}
			before, list, more := strings.Cut(text, commands)
			_, usage, _ := strings.Cut(before, title)
			examples := strings.Count(before, "  overtone ") + strings.Count(before, "| overtone ") - strings.Count(strings.Split(usage, "\n\n")[0], "  overtone ")
			if examples < 1 {
				t.Errorf("overtone %s --help (%s) shows no example:\n%s", strings.Join(path, " "), lang, text)
			}
			if !more {
				return
			}
			for line := range strings.Lines(strings.Split(list, "\n\n")[0]) {
				if name := strings.Fields(line)[0]; name != "help" && name != "completion" {
					walk(append(path[:len(path):len(path)], name))
				}
			}
		}
		walk(nil)
	}
}
