package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/compress"
	"github.com/seed-6d03985f/overtone/internal/message"
)

func (a *app) sessionsCmd() *cobra.Command {
	limit := 20
	var filter catalog.Filter
	cmd := a.command("sessions", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if limit < 1 {
			return tooFew(cmd, limit)
		}
		a.lists = true
		rows, more, err := a.newestSessions(cmd.Context(), limit, filter, a.notListed)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintObject("sessions", rows, "more", more)
		}
		switch {
		case len(rows)+more > 0:
			catalog.PrintRows(&a.Terminal, rows, false, a.short)
		case filter != catalog.Filter{}:
			a.Note(message.SessionsNone)
		default:
			a.Note(message.NoSessions)
		}
		if more > 0 {
			a.Note(message.SessionsMore, more, len(rows)+more)
		}
		return nil
	})
	AddFlags(cmd, map[string]any{"limit,n": &limit, "project": &filter.Project})
	a.hostFlag(cmd, &filter.Host)
	cmd.AddCommand(a.sessionsRmCmd())
	return cmd
}

// tooFew is the answer to a list of none.
func tooFew(cmd *cobra.Command, n int) error {
	return message.Misuse{Err: message.WithHint(message.Fail(message.AtLeastOne, "--limit", n), message.HintHelp, cmd.CommandPath())}
}

// newestSessions are the hosts' sessions, with how many more there are; closed is
// told of what could not be listed beside them.
func (a *app) newestSessions(ctx context.Context, limit int, filter catalog.Filter, closed func(error)) ([]catalog.Row, int, error) {
	x, clear := a.index()
	defer clear()
	f := a.finder()
	f.Closed = closed
	return f.Newest(ctx, x, a.Now(), limit, filter)
}

func (a *app) notListed(err error) { a.unlisted(message.SessionsClosed, err) }

// unlisted names what cannot be listed. The exit code tells of it where sessions are what
// the command is about.
func (a *app) unlisted(text message.Text, args ...any) {
	if a.lists {
		a.LeaveOut(message.Fail(text, args...))
	} else {
		a.Note(text, args...)
	}
}

func (a *app) sessionsRmCmd() *cobra.Command {
	var yes, force bool
	cmd := a.command("rm CLONE...", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		return a.finder().RemoveClones(cmd.Context(), &a.Terminal, a.short, args, yes, force)
	})
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return compress.ClonesIn(a.store().Root()).Standing(), cobra.ShellCompDirectiveNoFileComp
	}
	AddFlags(cmd, map[string]any{"yes,y": &yes, "force": &force})
	return cmd
}
