package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

const hereRows = 5

// statusCmd shows where things stand, or how the workflow of one session does.
func (a *app) statusCmd() *cobra.Command {
	var id string
	cmd := a.aboutSession("status", &id, func(cmd *cobra.Command) error {
		if id == "" {
			return a.here(cmd.Context())
		}
		return a.printWorkflow(id)
	})
	a.sessionFlag(cmd, &id)
	return cmd
}

// here tells where things stand: the newest sessions, the workflows that run, and what to
// do next. It only reads.
func (a *app) here(ctx context.Context) error {
	rows, more, err := a.newestSessions(ctx, hereRows, catalog.Filter{}, a.notListed)
	if err != nil {
		return err
	}
	running := []workflow.Status{}
	bars := ""
	for _, id := range a.finder().Recent(hereRows) {
		s, err := a.store().Session(id)
		if err != nil {
			continue
		}
		if state, err := session.Peek(s); err == nil && state != nil && state.Active {
			running = append(running, workflow.StatusOf(state))
			bars += fmt.Sprintf("\n%s  %s  %s\n", message.Short(id, 13), state.WorkflowType, workflow.Bar(state))
		}
	}
	if a.JSON {
		return a.PrintObject("sessions", rows, "more", more, "workflows", running)
	}
	if len(rows) == 0 && bars == "" {
		a.Prose(a.Stdout, a.Format(message.HereNone, a.Program))
		return nil
	}
	if len(rows) > 0 {
		catalog.PrintRows(&a.Terminal, rows, false, a.short)
	}
	if more > 0 {
		a.Note(message.SessionsMore, more, len(rows)+more)
	}
	fmt.Fprint(a.Stdout, bars)
	fmt.Fprintln(a.Stdout)
	a.Prose(a.Stdout, a.Format(message.HereNext, a.Program))
	return nil
}
