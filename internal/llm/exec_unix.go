//go:build unix

package llm

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cancelling cmd kill its whole process group: the agent starts
// children of its own.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
