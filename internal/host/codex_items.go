package host

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// PacketPrefix is how the ids of our packets begin. A message whose client id
// begins so is ours, whichever watcher or version sent it.
const PacketPrefix = "ovt-"

// CodexHistory is the file in which Codex's terminal keeps what is typed, beside the
// sessions one of which is rollout.
func CodexHistory(rollout string) string {
	return filepath.Join(rollout, "../../../../../history.jsonl")
}

// CodexItem is an item of a turn, as Codex's app-server tells it. Everything else
// in it is of no interest; a field that is missing is its zero value.
type CodexItem struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	ClientID string `json:"clientId"`
	Text     string `json:"text"`
	// Content is a user's message, in the form in which it can be sent again.
	Content   json.RawMessage `json:"content"`
	Questions []struct{}      `json:"questions"` // that a message asks in a form of its own
	Command   string          `json:"command"`
	Cwd       string          `json:"cwd"`
	Status    string          `json:"status"`
	Output    string          `json:"aggregatedOutput"`
	ExitCode  *int            `json:"exitCode"`
	Changes   []struct {
		Path string `json:"path"`
	} `json:"changes"`
	EndedMS int64 `json:"completedAtMs"`
}

// Kinds of items that mean more than what happened in the turn.
const (
	CodexCompaction  = "contextCompaction"
	CodexUserMessage = "userMessage"
)

// Events are what a completed item says. A compaction is none of them: its size
// is told apart from it.
func (it CodexItem) Events() []Event {
	switch it.Type {
	case CodexUserMessage:
		return []Event{UserMessage{Text: it.Message(), Ours: it.Ours()}}
	case "agentMessage":
		out := []Event{AgentMessage{Text: it.Text}}
		if len(it.Questions) > 0 {
			out = append(out, Proposed{})
		}
		return out
	case "plan": // of plan mode; update_plan's is told apart from the items
		return []Event{Proposed{}}
	case "commandExecution":
		if it.Status == "declined" {
			return nil
		}
		return []Event{CommandFinished{ID: it.ID, Observation: shellcmd.Observation{
			Line: it.Command, Cwd: it.Cwd, Output: it.Output, Exit: it.ExitCode, Ended: it.Ended(),
		}}}
	case "fileChange":
		var out []Event
		for _, c := range it.Changes {
			if it.Status == "completed" {
				out = append(out, FileChanged{File: c.Path})
			}
		}
		return out
	case "mcpToolCall", "dynamicToolCall", "collabAgentToolCall", "webSearch", "imageGeneration":
		return []Event{ToolActivity{}}
	}
	return nil
}

// Ours says that the item is a message of ours.
func (it CodexItem) Ours() bool { return strings.HasPrefix(it.ClientID, PacketPrefix) }

// Message is the text of a user's message.
func (it CodexItem) Message() string { return contentText(gjson.ParseBytes(it.Content)) }

// Ended is when the item was completed, zero when it is not told. When a command
// began is told too, but of a short one only when it is over.
func (it CodexItem) Ended() time.Time {
	if it.EndedMS <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(it.EndedMS)
}

// CodexPlan is what a new plan of the agent's says, as the app-server tells it.
func CodexPlan(plan []byte) Event {
	return PlanWritten{Steps: steps(gjson.ParseBytes(plan), "step")}
}

// CodexUsage is the context's size, as the app-server tells it.
type CodexUsage struct {
	Last struct {
		Total int64 `json:"totalTokens"`
	} `json:"last"`
	Window int64 `json:"modelContextWindow"`
}

// Event is what a new size says; without a window it says nothing.
func (u CodexUsage) Event() (UsageSeen, bool) {
	return UsageSeen{Used: u.Last.Total, Window: u.Window}, u.Window > 0
}
