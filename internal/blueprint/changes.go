package blueprint

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// changesWait bounds the question what was changed: a hook waits for the answer.
const changesWait = 2 * time.Second

// Changed is the files of the project that differ from where a run began, those that
// git does not know yet included. Without git, or without an answer in time, it is
// not known.
func Changed(origin *workflow.Origin) (files []string, known bool) {
	if origin == nil || origin.Root == "" || origin.Commit == "" {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), changesWait)
	defer cancel()
	seen := map[string]bool{}
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z", origin.Commit, "--"},
		{"ls-files", "--others", "--exclude-standard", "-z"},
	} {
		// No program that the repository's settings name is started.
		cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "--no-optional-locks"}, args...)...)
		cmd.Dir, cmd.WaitDelay = origin.Root, time.Second
		out, err := cmd.Output()
		if err != nil {
			return nil, false
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name != "" && !seen[name] {
				seen[name] = true
				files = append(files, name)
			}
		}
	}
	return files, true
}
