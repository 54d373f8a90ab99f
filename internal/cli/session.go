package cli

import (
	"context"
	"math"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/message"
)

func (a *app) sessionFlag(cmd *cobra.Command, id *string) {
	cmd.PersistentFlags().StringVar(id, "session", "", "")
	_ = cmd.RegisterFlagCompletionFunc("session", a.completeSession)
}

// aboutSession is a command that shows one session, which may be named by --session,
// like that of a group, or as its argument.
func (a *app) aboutSession(name string, id *string, run func(*cobra.Command) error) *cobra.Command {
	cmd := a.command(name+" [SESSION]", cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			if *id != "" && *id != args[0] {
				return message.Misuse{Err: message.Fail(message.SessionTwice, *id, args[0])}
			}
			*id = args[0]
		}
		return run(cmd)
	})
	cmd.ValidArgsFunction = a.completeSession
	return cmd
}

// completeSession offers sessions to a shell, newest first.
func (a *app) completeSession(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := a.finder().Names()
	return names[:min(len(names), 50)], cobra.ShellCompDirectiveNoFileComp
}

// finder finds the session that a command is about, and says so where it was not
// named.
func (a *app) finder() catalog.Finder {
	f := catalog.Finder{Home: a.store(), Dir: a.sessionDir, Getenv: a.Getenv}
	f.Remove = func(ctx context.Context, host, id, path string) error {
		target, _ := carry.To(host)
		return target.Remove(ctx, a.agents(), id, path)
	}
	f.Titled = func() []catalog.Row {
		x, clear := a.index()
		defer clear()
		rows, _, _ := f.Newest(context.Background(), x, a.Now(), math.MaxInt, catalog.Filter{}) // what cannot be listed is not found
		return rows
	}
	if !a.JSON {
		f.Chosen = func(id string) { a.Note(message.UsingSession, id) }
	}
	return f
}
