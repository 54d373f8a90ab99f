//go:build !linux

package shellcmd

import "syscall"

// apart is nil where processes cannot be kept away from the machine.
func apart() *syscall.SysProcAttr { return nil }
