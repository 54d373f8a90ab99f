package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/terminal"
)

func (a *app) versionCmd() *cobra.Command {
	return a.command("version", cobra.NoArgs, func(*cobra.Command, []string) error {
		b := terminal.ThisBuild()
		if a.JSON {
			return a.PrintJSON(struct {
				Schema int `json:"schema"`
				terminal.Build
			}{1, b})
		}
		state := message.VersionClean
		switch {
		case b.Commit == "":
			state = message.AuditUnknown
		case b.Modified:
			state = message.VersionModified
		}
		a.Pairs(a.Stdout, [][]string{
			{"overtone", b.Version},
			{message.VersionCommit.In(a.Lang), message.OneLine(b.Commit + " " + b.Date + " " + state.In(a.Lang))},
			{"go", b.Go + " " + b.Platform},
		})
		return nil
	})
}
