package cli

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/terminal"
)

// ancestors are the processes that this one was started by, with the first of all: in a
// container that may be an agent.
func ancestors() (list []terminal.Process, err error) {
	for pid := os.Getppid(); pid > 0 && len(list) < maxAncestors; {
		dir := "/proc/" + strconv.Itoa(pid)
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil && pid == 1 {
			break // hidden, and so another user's
		}
		// Behind the program's name, which may hold anything, stand state and parent.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if err != nil || len(fields) < 2 {
			return list, fmt.Errorf("process %d: %w", pid, err)
		}
		file, _ := os.Readlink(dir + "/exe") // another user's is not told
		args, _ := os.ReadFile(dir + "/cmdline")
		environ, _ := os.ReadFile(dir + "/environ")
		split := func(text []byte) []string { return strings.Split(strings.TrimRight(string(text), "\x00"), "\x00") }
		list = append(list, terminal.Process{Words: append([]string{file}, split(args)...), Environ: split(environ)})
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return list, err
		}
	}
	return list, nil
}
