package host

import (
	"regexp"
	"strings"
	"sync"
)

// AgentIn is the agent whose variables these are: those that it gives to the commands
// that it runs, and that nobody else has; "" for none.
func AgentIn(environ []string) string {
	for _, line := range environ {
		if name, value, _ := strings.Cut(line, "="); value != "" && agentVars[name] != "" {
			return agentVars[name]
		}
	}
	return ""
}

// agentVars: Copilot CLI's were seen in its shell tool (TestCopilot_Variables), those of the
// other hosts stand in their programs, and of Cursor's, which is no host of ours, its users
// tell.
var agentVars = map[string]string{
	"CLAUDECODE": "claude", "GEMINI_CLI": "gemini", "OPENCODE": "opencode", "COPILOT_CLI": "copilot", "COPILOT_AGENT_SESSION_ID": "copilot", "CURSOR_AGENT": "cursor-agent",
	"CODEX_THREAD_ID": "codex", "CODEX_CI": "codex", "CODEX_SANDBOX": "codex", "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
}

// AgentOf is the agent that a process is, "" for none: by its file and its arguments,
// the first of which is its name. An interpreter is known by the script that it runs, a
// program that has a version for a name by the folder it lies in.
func AgentOf(process []string) string {
	script := false
	for i, word := range process {
		word = strings.ToLower(strings.ReplaceAll(word, `\`, "/"))
		if i > 1 && !script {
			return ""
		}
		if name := agents().FindString(word); name != "" {
			return name
		}
		script = script && strings.HasPrefix(word, "-") || i < 2 && (script || interpreters().MatchString(word))
	}
	return ""
}

var (
	agents = sync.OnceValue(func() *regexp.Regexp {
		names := []string{"gemini", "opencode", "cursor-agent", "aider"}
		for _, h := range All() {
			names = append(names, h.Program)
		}
		return regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)(\.(exe|cmd|[cm]?js))?$|claude/versions/[0-9.]+$|node_modules/(@anthropic-ai/claude-code|@openai/codex|@github/copilot|@google/gemini-cli|opencode-ai)\b`)
	})
	interpreters = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(node|nodejs|bun|deno|python[0-9.]*)(\.exe)?$`)
	})
)
