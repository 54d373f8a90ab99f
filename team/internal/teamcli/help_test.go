package teamcli

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

// Every command and every flag of the program has a text in the table of package message.
func TestEveryCommandIsDescribed(t *testing.T) {
	t.Parallel()
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "/nowhere" }}
	var list []*cobra.Command
	code := cli.RunProgram("overtone-team", nil, env, func(sh *cli.Shell) []*cobra.Command {
		list = (&program{sh}).commands()
		return list
	})
	if code != 0 || len(list) < 10 {
		t.Fatalf("code %d, %d commands", code, len(list))
	}
	for i := 0; i < len(list); i++ {
		c := list[i]
		list = append(list, c.Commands()...)
		if c.Short == "" {
			t.Errorf("%s has no text", c.CommandPath())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" && !f.Hidden || strings.Contains(f.Usage, "%s") || strings.Contains(f.Usage, "%!") {
				t.Errorf("%s --%s: %q", c.CommandPath(), f.Name, f.Usage)
			}
		})
	}
}
