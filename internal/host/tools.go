package host

import "strings"

// Kind is what a tool does, whatever its host calls it.
type Kind uint8

const (
	otherTool   Kind = iota
	ShellTool        // runs a command line
	EditTool         // changes a file
	WriteTool        // writes a whole file
	AgentTool        // hands work to a sub-agent
	MessageTool      // speaks to a sub-agent
	HaltTool         // ends a sub-agent
	WaitTool         // waits for sub-agents
)

// Edits reports whether the tool changes files.
func (k Kind) Edits() bool { return k == EditTool || k == WriteTool }

// kindOf tells the tools of all hosts apart: no two of them give one name to different
// tools. Those of Codex for sub-agents may come with the name of their group in front.
func kindOf(tool string) Kind {
	switch tool {
	case "Bash", "bash", "run_shell_command":
		return ShellTool
	case "Write", "write", "create", "write_file":
		return WriteTool
	case "Edit", "MultiEdit", "NotebookEdit", "edit", "multiedit", "patch", "apply_patch", "str_replace_editor", "replace",
		"PowerShell": // whose language nobody here reads: it may change anything
		return EditTool
	case "Agent", "Task", "task":
		return AgentTool
	case "SendMessage":
		return MessageTool
	case "TaskStop":
		return HaltTool
	}
	switch {
	case strings.HasPrefix(tool, "mcp__"): // of a server
	case strings.HasSuffix(tool, "spawn_agent"):
		return AgentTool
	case strings.HasSuffix(tool, "send_input"):
		return MessageTool
	case strings.HasSuffix(tool, "close_agent"):
		return HaltTool
	case strings.HasSuffix(tool, "wait_agent"):
		return WaitTool
	}
	return otherTool
}
