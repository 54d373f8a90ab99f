package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// Every command and every flag of the program has a text, and every text of the table a
// command or a flag.
func TestEveryCommandIsDescribed(t *testing.T) {
	t.Parallel()
	a := newApp("overtone", Env{Getenv: func(string) string { return "" }})
	described(t, a.root(), true)
}

// The same for a program that is built on [Shell].
func TestDescribesOtherPrograms(t *testing.T) {
	t.Parallel()
	a := newApp("overtone-team", Env{Getenv: func(string) string { return "" }})
	root := a.newRoot("overtone-team")
	root.AddCommand(a.command("fleet", cobra.NoArgs, nil))
	a.speak(root)
	described(t, root, false)
}

func described(t *testing.T, root *cobra.Command, whole bool) {
	t.Helper()
	has := map[string]bool{} // what the table may speak of
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		has[c.CommandPath()] = true
		if c.Short == "" {
			t.Errorf("%s has no text", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			has[c.CommandPath()+" --"+f.Name] = true
			if f.Usage == "" && !f.Hidden || strings.Contains(f.Usage, "%s") || strings.Contains(f.Usage, "%!") {
				t.Errorf("%s --%s: %q", c.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	path := ""
	message.EachHelp(func(name string, _ message.Text) {
		switch {
		case strings.HasPrefix(name, "--"):
			name = path + " " + name
		case name == "$" || name == "":
			return
		default:
			path = name
		}
		if program, _, _ := strings.Cut(name, " "); whole && program == root.Name() && !has[name] {
			t.Errorf("the table has a text of %s, which is not there", name)
		}
	})
}
