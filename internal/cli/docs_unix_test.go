//go:build unix

package cli_test

import "syscall"

// ownGroup lets a script and what it starts be ended together.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func endGroup(pid int, s syscall.Signal) error { return syscall.Kill(-pid, s) }
