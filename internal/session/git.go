package session

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/handover"
)

// treePatience is how long git may take to tell of the working tree.
const treePatience = 200 * time.Millisecond

// AskTree asks git what is changed and not committed, which commits are there, and which
// of the branch were made since a time. Git is
// kept from everything else that it could do: no hook, filter, file monitor, signature
// check or fetch is run, and no lock is taken. Where git is missing, getenv is nil,
// there is no repository, or it takes too long, nothing is known.
func AskTree(dir string, since time.Time, getenv func(string) string) (t handover.Tree) {
	if getenv == nil {
		return t
	}
	ctx, cancel := context.WithTimeout(context.Background(), treePatience)
	defer cancel()
	git := func(args ...string) func() ([]byte, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{
			"-C", dir, "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false", "-c", "core.quotePath=false",
		}, args...)...)
		cmd.Env = []string{
			"PATH=" + getenv("PATH"), "HOME=" + getenv("HOME"), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_PAGER=cat",
		}
		var out bytes.Buffer
		cmd.Stdout = &out
		err := cmd.Start()
		return func() ([]byte, error) {
			if err == nil {
				err = cmd.Wait()
			}
			return out.Bytes(), err
		}
	}
	// Only sizes and times are compared: to compare contents git would run filters.
	waits := [...]func() ([]byte, error){
		git("rev-parse", "--show-toplevel"),
		git("log", "--all", "HEAD", "-n", "500", "--format=%H%x09%b%x00"),
		git("log", "HEAD", "-n", "30", "--since="+since.UTC().Format(time.RFC3339), "--format=%H%x09%an%x09%s%x00"),
		git("diff-index", "--cached", "--name-only", "--no-ext-diff", "--ignore-submodules=all", "-z", "HEAD"),
		git("diff-files", "--name-only", "--no-ext-diff", "--ignore-submodules=all", "-z"),
		git("ls-files", "--others", "--exclude-standard", "--directory", "--full-name", "-z"),
	}
	var outs [len(waits)][]byte
	known := true
	for i, wait := range waits {
		var err error
		outs[i], err = wait()
		known = known && err == nil
	}
	if !known {
		return handover.Tree{}
	}
	root := strings.TrimSpace(string(outs[0]))
	seen := map[string]bool{}
	for _, list := range outs[3:] {
		for file := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
			if file != "" && !seen[file] {
				seen[file] = true
				t.Dirty = append(t.Dirty, filepath.Join(root, file))
			}
		}
	}
	t.Known = true
	undone := map[string]bool{}
	for entry := range strings.SplitSeq(string(outs[1]), "\x00") {
		hash, body, _ := strings.Cut(strings.TrimSpace(entry), "\t")
		for _, m := range reverts().FindAllStringSubmatch(body, -1) {
			undone[m[1]] = true
		}
		if hash != "" && !undone[hash] {
			t.Commits = append(t.Commits, hash)
		}
	}
	for entry := range strings.SplitSeq(string(outs[2]), "\x00") {
		if f := strings.SplitN(strings.TrimSpace(entry), "\t", 3); len(f) == 3 && !since.IsZero() && slices.Contains(t.Commits, f[0]) {
			t.Since = append(t.Since, compact.TreeCommit{Hash: f[0], By: f[1], Subject: f[2]})
		}
	}
	return t
}

var reverts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`This reverts commit ([0-9a-f]{40})`) })
