package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// The library's own words are English only, and some are Go's; here they are
// said in the language of the locale.

// speak makes a command and those below it speak for themselves.
func (a *app) speak(root *cobra.Command) {
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			c, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commandNames(c), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, strings.Join(args, " "))
			}
			return c.Help()
		},
	})
	root.InitDefaultHelpCmd()
	root.Flags().BoolP("version", "v", false, "")
	a.describe(root)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if text := strings.TrimSpace(cmp.Or(c.Long, c.Short)); text != "" {
			a.Prose(c.OutOrStdout(), text)
			fmt.Fprintln(c.OutOrStdout())
		}
		a.usage(c.OutOrStdout(), c)
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		a.usage(c.OutOrStderr(), c)
		return nil
	})
	root.SetFlagErrorFunc(a.flagError)
}

// describe gives a program's commands and flags their texts and examples, which stand in
// a table of package message. The usage that a flag was made with goes into its text.
func (a *app) describe(root *cobra.Command) {
	texts := map[string]string{} // of flags
	path, c := "", &cobra.Command{}
	message.EachHelp(func(name string, t message.Text) {
		text := strings.ReplaceAll(t.In(a.Lang), `\n`, "\n")
		switch {
		case name == "":
			c.Long = text
		case name == "$": // a command line reads the same in every language
			c.Example = strings.TrimPrefix(c.Example+"\n  "+t.ZH, "\n")
		case strings.HasPrefix(name, "--"):
			texts[path+name] = text
		default:
			path, c = name, &cobra.Command{} // of another program
			if found, _, err := root.Find(strings.Fields(name)[1:]); err == nil && found.CommandPath() == name {
				c = found
			}
			c.Short = text
		}
	})
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Flags().Lookup("help") == nil {
			c.Flags().BoolP("help", "h", false, "")
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			text := cmp.Or(texts[c.CommandPath()+"--"+f.Name], texts["--"+f.Name])
			if f.Usage != "" {
				text = fmt.Sprintf(text, f.Usage)
			}
			f.Usage = text
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			names = append(names, sub.Name())
		}
	}
	return names
}

func (a *app) usage(w io.Writer, c *cobra.Command) {
	in := func(t message.Text) string { return t.In(a.Lang) }
	a.Bold(w, in(message.UsageTitle))
	if c.Runnable() {
		fmt.Fprintln(w, "  "+strings.TrimSuffix(c.UseLine(), " [flags]")+" ["+in(message.UsageFlag)+"]")
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(w, "  "+c.CommandPath()+" ["+in(message.UsageCommand)+"]")
	}
	if c.Example != "" {
		fmt.Fprintln(w)
		a.Bold(w, in(message.UsageExamples))
		fmt.Fprintln(w, strings.TrimRight(c.Example, "\n"))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(w)
		a.Bold(w, in(message.UsageCommands))
		var rows [][]string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				rows = append(rows, []string{"  " + sub.Name(), sub.Short})
			}
		}
		a.Pairs(w, rows)
	}
	a.flagTable(w, message.UsageFlags, c.LocalFlags())
	a.flagTable(w, message.UsageGlobal, c.InheritedFlags())
	if c.HasAvailableSubCommands() {
		fmt.Fprintln(w)
		fmt.Fprintln(w, message.UsageMore.Format(a.Lang, c.CommandPath()))
	}
}

func (a *app) flagTable(w io.Writer, title message.Text, flags *pflag.FlagSet) {
	var rows [][]string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		kind := map[string]string{"bool": "", "int": " N", "uint16": " N", "float64": " N", "duration": " TIME"}
		if k, ok := kind[f.Value.Type()]; ok {
			name += k
		} else {
			name += " " + strings.ToUpper(valueName(f))
		}
		text := f.Usage
		if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "[]" && d != "0s" {
			if s, ok := strings.CutSuffix(d, "m0s"); ok && f.Value.Type() == "duration" {
				d = s + "m"
			}
			if s, ok := strings.CutSuffix(d, "h0m"); ok {
				d = s + "h" // 24h0m0s
			}
			text += message.UsageDefault.Format(a.Lang, d)
		}
		rows = append(rows, []string{name, text})
	})
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	a.Bold(w, title.In(a.Lang))
	a.Pairs(w, rows)
}

// valueName is what a flag's value is called: mostly as the flag.
func valueName(f *pflag.Flag) string {
	return cmp.Or(map[string]string{
		"session": "id", "thread": "id", "in": "agent", "since": "when", "bin": "program", "dir": "folder", "tenant": "name", "node": "name",
		"transcript": "file", "policy": "file", "html": "file", "out": "file", "ca": "file", "creds": "file", "socket": "file",
		"base-url": "url", "hub": "url", "remote": "url", "listen": "address", "cluster": "address", "route": "address",
		"tools": "ranges", "thinking": "ranges", "users": "on|off", "header": "key=value", "run": "stage=command", "remote-auth-token-env": "variable",
	}[f.Name], f.Name)
}

func (a *app) flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		syntax  *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if s := unknown.GetSpecifiedShortnames(); s != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return unknownWord(message.Fail(message.UnknownFlag, name), unknown.GetSpecifiedName(), flagNames(cmd), "--", cmd)
	case errors.As(err, &missing):
		err = message.Fail(message.FlagNeedsValue, "--"+missing.GetFlag().Name)
	case errors.As(err, &invalid):
		want := message.FlagText
		switch invalid.GetFlag().Value.Type() {
		case "uint16":
			want = message.FlagPort
		case "int", "float64":
			want = message.FlagNumber
		case "bool":
			want = message.FlagBool
		case "duration":
			want = message.FlagDuration
		}
		err = message.Fail(message.FlagBadValue, "--"+invalid.GetFlag().Name, invalid.GetValue(), want.In(a.Lang))
	case errors.As(err, &syntax):
		err = message.Fail(message.FlagBadSyntax, syntax.GetSpecifiedFlag())
	}
	return message.Misuse{Err: message.WithHint(err, message.HintHelp, cmd.CommandPath())}
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.InheritedFlags()} {
		set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	}
	return names
}

// unknownWord is a wrong word, with the one that may have been meant.
func unknownWord(err error, word string, words []string, prefix string, cmd *cobra.Command) error {
	if near := workflow.Closest(word, words); near != "" {
		return message.Misuse{Err: message.WithHint(err, message.HintDidYouMean, prefix+near)}
	}
	return message.Misuse{Err: message.WithHint(err, message.HintHelp, cmd.CommandPath())}
}

func unknownCommand(cmd *cobra.Command, word string) error {
	return unknownWord(message.Fail(message.UnknownCommand, word, cmd.CommandPath()), word, commandNames(cmd), cmd.CommandPath()+" ", cmd)
}

// command is a command. Its texts, and those of its flags, stand in the table of package message.
func (a *app) command(use string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Args: usageArgs(args), RunE: run}
}

// AddFlags adds flags by their names, which a letter may follow behind a comma. What each
// sets has its default by then.
func AddFlags(cmd *cobra.Command, list map[string]any) {
	for name, to := range list {
		name, letter, _ := strings.Cut(name, ",")
		switch f := cmd.Flags(); to := to.(type) {
		case *string:
			f.StringVarP(to, name, letter, *to, "")
		case *bool:
			f.BoolVarP(to, name, letter, *to, "")
		case *int:
			f.IntVarP(to, name, letter, *to, "")
		case *uint16:
			f.Uint16VarP(to, name, letter, *to, "")
		case *time.Duration:
			f.DurationVarP(to, name, letter, *to, "")
		case *[]string:
			f.StringSliceVarP(to, name, letter, *to, "")
		default:
			panic("cli: no flag is of the kind of --" + name)
		}
	}
}

// group is a command that only has others below it.
func (a *app) group(use string) *cobra.Command {
	return a.command(use, cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
}

// usageArgs makes a wrong number of arguments a usage error that names them.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		if cmd.HasSubCommands() && len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		names := strings.Fields(cmd.Use)[1:]
		err := message.Fail(message.MissingArg, "")
		switch {
		case len(args) < len(names):
			err = message.Fail(message.MissingArg, strings.Trim(names[len(args)], "[]."))
		case len(args) > len(names):
			err = message.Fail(message.ExtraArg, args[len(names)])
			if slices.Contains(names, "[SESSION]") {
				return message.Misuse{Err: message.WithHint(err, message.HintQuote, cmd.CommandPath(), terminal.Quote(strings.Join(args, " ")))}
			}
		}
		return message.Misuse{Err: message.WithHint(err, message.HintHelp, cmd.CommandPath())}
	}
}

func (a *app) completionCmd() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	cmd := a.command("completion SHELL", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		root, out := cmd.Root(), terminal.Raw(a.Stdout)
		switch args[0] {
		case "bash":
			return root.GenBashCompletionV2(out, true)
		case "zsh":
			return root.GenZshCompletion(out)
		case "fish":
			return root.GenFishCompletion(out, true)
		case "powershell":
			return root.GenPowerShellCompletionWithDesc(out)
		}
		return message.Misuse{Err: message.WithHint(message.Fail(message.UnknownShell, args[0]), message.HintThereAre, shells)}
	})
	cmd.ValidArgs = shells
	return cmd
}
