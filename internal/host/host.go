// Package host is what differs between the agents that Overtone sits beside: the
// settings they read, how the hooks get there, and which versions are known to
// behave.
//
// The files that are edited belong to the user. So:
//
//   - JSON is edited by spans after it was found valid: order, indentation,
//     line ends and every byte that is not ours stay. What is not JSON is never
//     written.
//   - Before a file changes, its bytes and a manifest of the edits are kept
//     (see [Backups]). Undoing gives the old bytes back if the file is as we
//     left it, and otherwise takes out our members only.
//   - A link stays a link: the file behind it is replaced, whole, by rename.
//   - Nothing is written that is there already.
//
// The package decides nothing about when to install and prints nothing. It reads
// no environment and no clock: paths, environment and time come in.
package host

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Names of the hosts, as on the command line.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
)

// The oldest versions whose hooks are known to behave as the hooks expect.
var (
	ClaudeFloor = Version{2, 1, 197}
	CodexFloor  = Version{0, 166, 0}
)

// Version is major, minor and patch.
type Version [3]int

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// Less compares two versions.
func (v Version) Less(o Version) bool {
	for i := range v {
		if v[i] != o[i] {
			return v[i] < o[i]
		}
	}
	return false
}

// ParseVersion finds the version in what a program prints for --version:
// "2.1.197 (Claude Code)", "codex-cli 0.166.0".
func ParseVersion(text string) (Version, bool) {
	for _, word := range strings.Fields(text) {
		word, _, _ = strings.Cut(strings.TrimPrefix(word, "v"), "-")
		word, _, _ = strings.Cut(word, "+")
		parts := strings.Split(word, ".")
		if len(parts) != 3 {
			continue
		}
		var v Version
		ok := true
		for i, p := range parts {
			n, err := strconv.Atoi(p)
			v[i], ok = n, ok && err == nil && n >= 0
		}
		if ok {
			return v, true
		}
	}
	return Version{}, false
}

// versionWait bounds a program that is asked for its version.
const versionWait = 20 * time.Second

// Ask runs a program for its version.
func Ask(ctx context.Context, bin string, env []string) (Version, error) {
	ctx, cancel := context.WithTimeout(ctx, versionWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "--version")
	cmd.Env = env
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return Version{}, fmt.Errorf("run %s --version: %w", bin, err)
	}
	v, ok := ParseVersion(string(out))
	if !ok {
		return Version{}, fmt.Errorf("run %s --version: no version in %.80q", bin, out)
	}
	return v, nil
}
