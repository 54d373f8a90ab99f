// The runtime would follow the container's CPU limit as long as it runs; nothing here is
// that parallel.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// Command overtone keeps long coding-agent work coherent.
package main

import (
	"os"

	"github.com/seed-6d03985f/overtone/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.OSEnv())) }
