package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/seed-6d03985f/overtone/internal/message"
)

// built is what the program knows of its making.
type built struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	// Modified: there were changes that the commit does not have.
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func build() built {
	b := built{Version: Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// version is one line: 0.1.0 (abc1234, modified).
func version() string {
	b := build()
	v := b.Version
	if len(b.Commit) >= 7 {
		v += " (" + b.Commit[:7]
		if b.Modified {
			v += ", modified"
		}
		v += ")"
	}
	return v
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: message.HelpVersion.In(a.Lang), Args: usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			b := build()
			if a.JSON {
				return a.PrintJSON(struct {
					Schema int `json:"schema"`
					built
				}{1, b})
			}
			state := message.VersionClean
			switch {
			case b.Commit == "":
				state = message.VersionUnknown
			case b.Modified:
				state = message.VersionModified
			}
			a.Pairs(a.Stdout, [][]string{
				{"overtone", b.Version},
				{message.VersionCommit.In(a.Lang), message.OneLine(b.Commit + " " + b.Date + " " + state.In(a.Lang))},
				{"go", b.Go + " " + b.Platform},
			})
			return nil
		},
	}
}
