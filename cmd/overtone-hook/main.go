// Command overtone-hook is what agents call at every step of a session. It does the
// same as `overtone hook` and links less: every call pays for what is linked.
package main

import (
	"os"
	"time"

	"github.com/seed-6d03985f/overtone/internal/hook"
)

func main() {
	dir, _ := os.Getwd()
	os.Exit(hook.Program(os.Args[1:], hook.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Dir: dir, Now: time.Now, Awake: hook.Awake,
	}))
}
