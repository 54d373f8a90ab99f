package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/setup"
	"github.com/seed-6d03985f/overtone/internal/store"
)

func (a *app) doctorCmd() *cobra.Command {
	var id string
	cmd := a.command("doctor", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		var session *store.Session // the one named, else the last one
		if id != "" || len(a.finder().Recent(1)) > 0 {
			quiet := *a
			quiet.JSON = true // the session is named in the findings
			var err error
			if session, err = quiet.finder().Known(id, true); err != nil {
				return err
			}
		}
		return a.printFindings(a.setup().Examine(cmd.Context(), session))
	})
	a.sessionFlag(cmd, &id)
	return cmd
}

func (a *app) printFindings(findings []setup.Finding) error {
	count := map[host.Health]int{}
	for _, f := range findings {
		count[f.Status]++
	}
	broken := count[host.Broken]
	if a.JSON {
		err := a.PrintObject("ok", broken == 0, "checks", findings)
		if err != nil {
			return err
		}
	} else {
		marks := map[host.Health]string{host.Fine: "✓", host.Note: "·", host.Warn: "⚠", host.Broken: "✗"}
		for _, f := range findings {
			a.Item(marks[f.Status]+" ", f.Text)
			if f.Hint != "" {
				a.Item("  → ", f.Hint)
			}
		}
	}
	switch {
	case broken > 0:
		return message.Fail(message.DoctorBroken, broken)
	case a.JSON:
	case count[host.Warn] > 0:
		a.Say(message.DoctorWarned, count[host.Warn])
	default:
		a.Say(message.DoctorFine)
	}
	return nil
}
