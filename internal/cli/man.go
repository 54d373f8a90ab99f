package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// manCmd prints the program's manual page, for packages: its help texts, in roff.
func (a *app) manCmd() *cobra.Command {
	cmd := a.command("man", message.HelpMan, message.Text{}, cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		a.manual(terminal.Raw(a.Stdout), cmd.Root())
		return nil
	})
	cmd.Hidden = true
	return cmd
}

func (a *app) manual(w io.Writer, root *cobra.Command) {
	name := root.Name()
	fmt.Fprintf(w, ".TH %s 1 \"\" \"Overtone %s\"\n.SH %s\n%s \\- %s\n", strings.ToUpper(name), terminal.Version, a.In(message.ManName), roff(name), roff(root.Short))
	fmt.Fprintf(w, ".SH %s\n.B %s\n[%s]\n.SH %s\n", a.In(message.ManSynopsis), roff(name), a.In(message.UsageCommand), a.In(message.ManDescription))
	manText(w, root.Long)
	a.manFlags(w, root.PersistentFlags())
	fmt.Fprintf(w, ".SH %s\n", a.In(message.ManCommands))
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			if sub.Runnable() && !sub.HasAvailableSubCommands() || sub.HasLocalFlags() {
				fmt.Fprintf(w, ".SS %s\n", roff(strings.TrimSuffix(sub.UseLine(), " [flags]")))
				manText(w, cmp.Or(sub.Long, sub.Short))
				a.manFlags(w, sub.LocalFlags())
				if sub.Example != "" {
					manText(w, strings.TrimRight(sub.Example, "\n"))
				}
			}
			walk(sub)
		}
	}
	walk(root)
	fmt.Fprintf(w, ".SH %s\n", a.In(message.ManExit))
	manText(w, a.In(message.ManExitText))
}

// manFlags lists flags; every command has its help, which is told once.
func (a *app) manFlags(w io.Writer, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(name), roff(f.Usage))
	})
}

// manText prints paragraphs; what is laid out stays so.
func manText(w io.Writer, text string) {
	laid := false
	for line := range strings.SplitSeq(paragraphs(strings.TrimSpace(text)), "\n") {
		if is := strings.HasPrefix(line, " "); is != laid {
			fmt.Fprintln(w, map[bool]string{true: ".nf", false: ".fi"}[is])
			laid = is
		}
		if line == "" {
			fmt.Fprintln(w, ".PP")
			continue
		}
		fmt.Fprintln(w, roff(line))
	}
	if laid {
		fmt.Fprintln(w, ".fi")
	}
}

// roff is a text that the formatter takes as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
