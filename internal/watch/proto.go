package watch

import (
	"encoding/json"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// What we read of the app-server's messages. Everything else in them is of no
// interest; a field that is missing is its zero value.
type (
	notice struct {
		ThreadID   string           `json:"threadId"`
		TurnID     string           `json:"turnId"`
		Thread     *wireThread      `json:"thread"`
		Turn       *wireTurn        `json:"turn"`
		Item       *host.CodexItem  `json:"item"`
		Status     *wireStatus      `json:"status"`
		TokenUsage *host.CodexUsage `json:"tokenUsage"`
		Plan       json.RawMessage  `json:"plan"`
		Goal       *wireGoal        `json:"goal"`
	}
	wireThread struct {
		ID        string     `json:"id"`
		Parent    string     `json:"parentThreadId"`
		Ephemeral bool       `json:"ephemeral"`
		Preview   string     `json:"preview"`
		Path      string     `json:"path"`
		Cwd       string     `json:"cwd"`
		Status    wireStatus `json:"status"`
	}
	wireStatus struct {
		Type string `json:"type"`
	}
	wireTurn struct {
		ID     string           `json:"id"`
		Status turnStatus       `json:"status"`
		Items  []host.CodexItem `json:"items"`
	}
	wireQueued struct {
		ID       string `json:"id"`
		ClientID string `json:"clientUserMessageId"`
	}
	wireAdded struct {
		Queued wireQueued `json:"queuedSubmission"`
	}
	wireItem struct {
		Item host.CodexItem `json:"item"`
	}
	page[T any] struct {
		Data []T    `json:"data"`
		Next string `json:"nextCursor"`
	}
)

// parseNotice reads a notification's parameters and says which thread it is
// about, "" when about none.
func parseNotice(raw json.RawMessage) (notice, string) {
	var n notice
	if json.Unmarshal(raw, &n) != nil {
		return notice{}, ""
	}
	if n.ThreadID == "" && n.Thread != nil {
		return n, n.Thread.ID
	}
	return n, n.ThreadID
}

// watched says whether a thread is a user's own: not a sub-agent's, and not
// one of those the host makes for itself, for titles for example.
func (t wireThread) watched() bool { return t.ID != "" && !t.Ephemeral && t.Parent == "" }

func (s wireStatus) idle() bool { return s.Type == "idle" }

func textInput(text string) []any {
	return []any{map[string]any{"type": "text", "text": text, "text_elements": []any{}}}
}
