package host

import (
	"path/filepath"
	"slices"
	"strings"
)

// HeadlessClaude are the arguments of a Claude Code that is driven by messages,
// the user's own last. Our hooks are off in it, because the packet comes as a
// message; without them a native window that is kept low for the gate would
// compact blindly, so it gets the model's whole window.
func HeadlessClaude(own []string) []string {
	args := []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}
	if !slices.ContainsFunc(own, func(s string) bool { return s == "--settings" || strings.HasPrefix(s, "--settings=") }) {
		args = append(args, "--settings", `{"autoCompactWindow":1000000,"precomputeCompactionEnabled":false,"env":{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE":"100"}}`)
	}
	return append(args, own...)
}

// ResumedClaude is the session that arguments for claude name.
func ResumedClaude(args []string) string {
	for i, s := range args {
		for _, flag := range []string{"--resume", "-r", "--session-id"} {
			if v, ok := strings.CutPrefix(s, flag+"="); ok {
				return v
			}
			if s == flag && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				return args[i+1]
			}
		}
	}
	return ""
}

// ClaudeSession is the file of a session in Claude Code's folder, whatever its
// project; "" where there is none.
func ClaudeSession(dir, id string) string {
	found, _ := filepath.Glob(filepath.Join(dir, claudeHost.Sessions.Dir, "*", id+".jsonl"))
	return append(found, "")[0]
}
