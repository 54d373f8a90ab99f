//go:build unix && !linux

package cli

import (
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// ancestors are the processes that this one was started by.
func ancestors() (list []terminal.Process, err error) {
	for pid := strconv.Itoa(os.Getppid()); pid != "1" && pid != "0" && len(list) < maxAncestors; {
		// By its path: PATH may be anybody's.
		out, err := exec.Command("/bin/ps", "-o", "ppid=,comm=", "-p", pid).Output()
		if err != nil {
			return list, err
		}
		parent, file, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
		args, err := exec.Command("/bin/ps", "-o", "args=", "-p", pid).Output()
		if err != nil {
			return list, err
		}
		list = append(list, terminal.Process{Words: append([]string{strings.TrimSpace(file)}, strings.Fields(string(args))...)})
		pid = parent
	}
	return list, nil
}
