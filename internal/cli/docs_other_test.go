//go:build !unix

package cli_test

import "syscall"

func ownGroup() *syscall.SysProcAttr { return nil }

func endGroup(int, syscall.Signal) error { return nil }
