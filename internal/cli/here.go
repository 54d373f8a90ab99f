package cli

import (
	"context"
	"fmt"

	"github.com/seed-6d03985f/overtone/internal/catalog"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/terminal"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// hereRows is how many sessions, and how many workflows, are shown.
const hereRows = 5

// here tells somebody who types the program's name alone on a terminal where things stand:
// the newest sessions, the workflows that run, and what to do next. It only reads.
func (a *app) here(ctx context.Context) error {
	rows, more, err := a.newestSessions(ctx, hereRows, catalog.Filter{}, a.notListed)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		a.Say(message.HereNone, a.Program)
		return nil
	}
	catalog.PrintRows(&a.Terminal, rows, false, a.short)
	if more > 0 {
		a.Note(message.SessionsMore, more)
	}
	for _, id := range a.finder().Recent(hereRows) {
		s, err := a.store().Session(id)
		if err != nil {
			continue
		}
		if state, err := session.Peek(s); err == nil && state != nil && state.Active {
			fmt.Fprintf(a.Stdout, "\n%s  %s  %s\n", message.Short(id, 13), state.WorkflowType, workflow.Bar(state))
		}
	}
	fmt.Fprintln(a.Stdout)
	a.Say(message.HereNext, a.Program)
	return nil
}

// onTerminal reports whether a person reads what is printed.
func (a *app) onTerminal() bool {
	f, ok := terminal.File(a.Stdout)
	return ok && !a.JSON && a.IsTTY(f.Fd())
}
