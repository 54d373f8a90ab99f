package host

import (
	"strings"
	"testing"
)

func TestAgentOf(t *testing.T) {
	for line, want := range map[string]bool{
		"/home/u/.local/share/claude/versions/2.1.325 claude --resume":                      true,
		"/home/u/.local/share/claude/versions/2.1.325 sh":                                   true,
		"/usr/bin/node node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js":         true,
		"/usr/bin/node node --no-warnings /usr/lib/node_modules/@openai/codex/bin/codex.js": true,
		"/usr/bin/node claude":                        true,
		`C:\Users\u\claude.exe C:\Users\u\claude.exe`: true,
		"/opt/codex codex exec":                       true,
		"/usr/bin/python3.12 python3 /usr/bin/aider":  true,
		"/usr/bin/bash -bash":                         false,
		"/usr/bin/bash -bash codex":                   false,
		"/usr/bin/vim vim /home/u/codex":              false,
		"/usr/bin/node node server.js /home/u/claude": false,
		"/home/claude/bin/zsh zsh":                    false,
		"/usr/bin/tmux tmux new -s claude":            false,
		" sshd: u@pts/0":                              false,
	} {
		if got := AgentOf(strings.Split(line, " ")); (got != "") != want {
			t.Errorf("%q is taken for %q", line, got)
		}
	}
}
