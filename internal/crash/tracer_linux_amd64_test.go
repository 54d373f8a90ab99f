package crash

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// System calls that can change what is on disk, or what the host has read.
var changes = map[uint64]string{
	syscall.SYS_WRITE: "write", syscall.SYS_PWRITE64: "pwrite", syscall.SYS_RENAME: "rename", syscall.SYS_RENAMEAT: "renameat", 316: "renameat2",
	syscall.SYS_UNLINK: "unlink", syscall.SYS_UNLINKAT: "unlinkat", syscall.SYS_RMDIR: "rmdir", syscall.SYS_MKDIR: "mkdir", syscall.SYS_MKDIRAT: "mkdirat",
	syscall.SYS_FSYNC: "fsync", syscall.SYS_FTRUNCATE: "ftruncate", syscall.SYS_FCHMOD: "fchmod", syscall.SYS_UTIMENSAT: "utimensat",
	syscall.SYS_FLOCK: "flock", syscall.SYS_EXIT_GROUP: "exit", copyFileRange: "copy",
}

const copyFileRange = 326

// reads are the calls, beside those that change something, that may fail.
var reads = map[uint64]string{
	syscall.SYS_OPENAT: "open", syscall.SYS_READ: "read", syscall.SYS_PREAD64: "pread", syscall.SYS_FSTAT: "fstat",
	262: "stat", syscall.SYS_GETDENTS64: "getdents", syscall.SYS_LSEEK: "lseek",
}

// target says where a process is killed: before the nth system call, counted over
// all its threads; of those that change something only, where every is false. With
// n 0 it lives. With an error the process lives, and that call fails; of those that
// deal with files all count.
type target struct {
	n     int
	every bool
	fails syscall.Errno
}

// trace runs a program and kills it. It returns how many calls there were, the one
// that was not made, and the exit status of a program that lived.
func trace(path string, args []string, attr *os.ProcAttr, at target) (calls int, last string, status syscall.WaitStatus, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr.Sys = &syscall.SysProcAttr{Ptrace: true}
	p, err := os.StartProcess(path, append([]string{path}, args...), attr)
	if err != nil {
		return 0, "", 0, err
	}
	defer p.Release() //nolint:errcheck // it is reaped below
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(p.Pid, &ws, syscall.WALL, nil); err != nil {
		return 0, "", 0, err
	}
	const options = syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACESYSGOOD | 0x100000 // and die with the tracer
	if err := syscall.PtraceSetOptions(p.Pid, options); err != nil {
		return 0, "", 0, err
	}
	if err := syscall.PtraceSyscall(p.Pid, 0); err != nil {
		return 0, "", 0, err
	}
	inside := map[int]bool{}
	killed := false
	failing := 0 // the thread whose call is to fail
	for {
		pid, err := syscall.Wait4(-1, &ws, syscall.WALL, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return calls, last, status, err
		}
		if ws.Exited() || ws.Signaled() {
			if pid == p.Pid {
				return calls, last, ws, nil
			}
			continue
		}
		deliver := 0
		switch sig := ws.StopSignal(); {
		case sig == syscall.SIGTRAP|0x80:
			inside[pid] = !inside[pid]
			var regs syscall.PtraceRegs
			if !inside[pid] && pid == failing {
				if failing = 0; syscall.PtraceGetRegs(pid, &regs) == nil {
					regs.Rax = -uint64(at.fails)
					_ = syscall.PtraceSetRegs(pid, &regs) // it is stopped
				}
			}
			if !inside[pid] || killed {
				break
			}
			if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
				break // gone
			}
			name, counts := changes[regs.Orig_rax]
			if regs.Orig_rax == syscall.SYS_OPENAT && regs.Rdx&syscall.O_CREAT != 0 {
				name, counts = "create", true
			}
			if !counts && at.fails != 0 {
				name, counts = reads[regs.Orig_rax]
			}
			// An exit cannot fail, nor can the event by which the runtime wakes its own
			// poller: it is no file, and where writing to it fails the runtime gives up.
			if at.fails != 0 && counts {
				fd, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", p.Pid, int32(regs.Rdi)))
				counts = regs.Orig_rax != syscall.SYS_EXIT_GROUP && fd != "anon_inode:[eventfd]"
			}
			if !counts && at.every {
				name, counts = fmt.Sprintf("call %d", regs.Orig_rax), true
			}
			if !counts {
				break
			}
			if calls++; calls == at.n {
				last, killed = name, true
				if at.fails != 0 {
					failing, last = pid, fmt.Sprintf("%s(%d)", name, int32(regs.Rdi))
					regs.Orig_rax = ^uint64(0)
					_ = syscall.PtraceSetRegs(pid, &regs) // it is stopped
					break
				}
				_ = syscall.Kill(p.Pid, syscall.SIGKILL) // it is there: we have stopped it
			}
		case sig == syscall.SIGTRAP, sig == syscall.SIGSTOP:
		default:
			deliver = int(sig)
		}
		_ = syscall.PtraceSyscall(pid, deliver) // a thread that was killed is gone
	}
}
