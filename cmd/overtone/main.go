// Command overtone keeps long coding-agent work coherent.
package main

import (
	"os"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.OSEnv())) }
