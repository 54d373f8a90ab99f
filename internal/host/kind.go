package host

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
