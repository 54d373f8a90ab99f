package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/carry"
	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// sessionFlag adds --session to a command.
func (a *app) sessionFlag(cmd *cobra.Command, id *string) {
	cmd.PersistentFlags().StringVar(id, "session", "", message.HelpSession.In(a.Lang))
	_ = cmd.RegisterFlagCompletionFunc("session", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.offered(), cobra.ShellCompDirectiveNoFileComp
	})
}

// offered are the sessions that a shell completes, newest first.
func (a *app) offered() []string {
	names := a.finder().Names()
	return names[:min(len(names), 50)]
}

// completeSession offers sessions for a command's arguments.
func (a *app) completeSession(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return a.offered(), cobra.ShellCompDirectiveNoFileComp
}

// finder finds the session that a command is about, and says so where it was not
// named.
func (a *app) finder() catalog.Finder {
	f := catalog.Finder{Home: a.store(), Dir: a.sessionDir, Getenv: a.Getenv}
	f.Remove = func(ctx context.Context, host, id, path string) error {
		target, _ := carry.To(host)
		return target.Remove(ctx, a.agents(), id, path)
	}
	if !a.JSON {
		f.Chosen = func(id string) { a.Note(message.UsingSession, id) }
	}
	return f
}
