//go:build unix

package store

import "syscall"

// openFlags go with every open: a link in place of the file is an error, and a
// pipe put there does not hang the hook.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
