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

func TestAgentIn(t *testing.T) {
	for line, want := range map[string]string{
		"PATH=/bin CLAUDECODE=1":                          "claude",
		"COPILOT_AGENT_SESSION_ID=a0efdc52 HOME=/home/u":  "copilot",
		"CURSOR_AGENT=1":                                  "cursor-agent",
		"CLAUDECODE=":                                     "",
		"COPILOT_OFFLINE=true MY_CODEX_CI=1 CODEX_HOME=x": "",
	} {
		if got := AgentIn(strings.Fields(line)); got != want {
			t.Errorf("%q is of %q, want %q", line, got, want)
		}
	}
}
