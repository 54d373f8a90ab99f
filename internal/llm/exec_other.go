//go:build !unix

package llm

import "os/exec"

// ownGroup leaves cmd alone: cancelling kills the program itself.
func ownGroup(*exec.Cmd) {}
