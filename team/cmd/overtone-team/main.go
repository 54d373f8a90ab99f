// Command overtone-team joins several machines: one timeline, who runs what,
// sessions that move. It is a program of its own because of what it links.
package main

import (
	"os"

	"github.com/seed-6d03985f/overtone/internal/cli"
	"github.com/seed-6d03985f/overtone/team/internal/teamcli"
)

func main() { os.Exit(teamcli.Main(os.Args[1:], cli.OSEnv())) }
