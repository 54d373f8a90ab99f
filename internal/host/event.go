package host

import (
	"time"

	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Event is something that happened in a conversation, in words every host
// shares. Whatever reports it, a hook, an app-server or a stream, translates
// into these; whoever follows a conversation knows nothing else.
//
// All of them may be told twice, by a hook and by a watcher of the same
// conversation; what is told again changes nothing.
type Event interface{ event() }

type (
	// SessionSeen: the host tells about the conversation itself. What is empty
	// was not told.
	SessionSeen struct {
		Transcript, Model string
		Window            int64 // tokens
	}
	// TurnStarted: a turn begins. ID is the host's name for it, "" where it has
	// none; At is zero where it is not known.
	//
	// Prompt is the host's name for what began it, where every call of the turn has it.
	TurnStarted struct {
		ID     string
		Prompt string
		At     time.Time
	}
	// TurnEnded: the turn is over. Interrupted says that somebody stopped it.
	TurnEnded struct{ Interrupted bool }
	// UserMessage: somebody wrote to the agent, and At is when it was heard. Ours is set
	// when it was us and the text alone does not tell.
	UserMessage struct {
		Text string
		At   time.Time
		Ours bool
	}
	// AgentMessage: the agent said something to the user.
	AgentMessage struct{ Text string }
	// Proposed: the agent has put a plan or a choice before its user, in a form of
	// the host's own, and waits for his decision.
	Proposed struct{}
	// CommandStarted: a shell command is about to run whose end may tell where
	// the work stands. Before holds the repositories in which it may commit.
	// File is how long the session's file is by now.
	CommandStarted struct {
		ID   string
		File int64
		shellcmd.Observation
	}
	// CommandFinished: a shell command ended. ID is that of its start. Without a
	// time of its start, the beginning of the turn stands in. Running says that it
	// goes on in the background, and this is what it has done so far.
	//
	// Made is what it has committed: whoever reports the end has asked the
	// repository, nobody asks it later. Now is where the repositories of a command
	// that goes on stand by now.
	CommandFinished struct {
		ID      string
		Running bool
		Made    shellcmd.Verdict
		Now     []shellcmd.Mark
		shellcmd.Observation
	}
	// PlanWritten: the agent wrote its plan anew. Plan tells plans apart where
	// the host does; "" where it does not.
	PlanWritten struct {
		Plan  string
		Steps []Step
	}
	// TaskCreated: the agent added one step to its plan.
	TaskCreated struct{ ID, Text string }
	// TaskUpdated: the agent changed one step. What is empty stays as it was.
	TaskUpdated struct {
		ID, Text string
		Status   Status
		Deleted  bool
	}
	// FileChanged: a tool wrote a file.
	FileChanged struct{ File string }
	// ToolActivity: any other tool ran.
	ToolActivity struct{}
	// StageCompleted: a stage of our workflow was completed.
	StageCompleted struct{ Stage string }
	// UsageSeen: how full the context is. Used is -1 when nothing can be said,
	// Window 0 when the host does not tell it. What is told while a compaction
	// runs may be the old size or the new one, and is not for this. Known is the
	// window that the host has told of the model in another session.
	UsageSeen struct {
		Used, Window int64
		Model        string
		Known        int64
	}
	// Compacted: the context was compacted. ID is the host's name for it, ""
	// where it has none; After is -1 until the new size is told. Ours is set when
	// we asked for it or let it happen; otherwise somebody else did it.
	Compacted struct {
		ID            string
		At            time.Time
		Before, After int64
		Ours          bool
	}
)

func (SessionSeen) event()     {}
func (TurnStarted) event()     {}
func (TurnEnded) event()       {}
func (UserMessage) event()     {}
func (AgentMessage) event()    {}
func (Proposed) event()        {}
func (CommandStarted) event()  {}
func (CommandFinished) event() {}
func (PlanWritten) event()     {}
func (TaskCreated) event()     {}
func (TaskUpdated) event()     {}
func (FileChanged) event()     {}
func (ToolActivity) event()    {}
func (StageCompleted) event()  {}
func (UsageSeen) event()       {}
func (Compacted) event()       {}

// Step is one step of a plan. ID is its name where the host gives one, so that
// a reworded step is known again.
type Step struct {
	ID     string `json:"id,omitempty"`
	Text   string `json:"text"`
	Status Status `json:"status"`
}

// Status is how far a step is.
type Status string

const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)
