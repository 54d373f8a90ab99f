package watch

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
)

// What we read of the app-server's messages. Everything else in them is of no
// interest; a field that is missing is its zero value.
type (
	notice struct {
		ThreadID   string      `json:"threadId"`
		TurnID     string      `json:"turnId"`
		Thread     *wireThread `json:"thread"`
		Turn       *wireTurn   `json:"turn"`
		Item       *wireItem   `json:"item"`
		Status     *wireStatus `json:"status"`
		TokenUsage *wireUsage  `json:"tokenUsage"`
		Plan       []wireStep  `json:"plan"`
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
		Type  string   `json:"type"`
		Flags []string `json:"activeFlags"`
	}
	wireTurn struct {
		ID     string     `json:"id"`
		Status turnStatus `json:"status"`
		Items  []wireItem `json:"items"`
	}
	wireItem struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		ClientID string `json:"clientId"`
		Text     string `json:"text"`
		Content  []struct {
			Text string `json:"text"`
		} `json:"content"`
		Command  string `json:"command"`
		Cwd      string `json:"cwd"`
		Status   string `json:"status"`
		Output   string `json:"aggregatedOutput"`
		ExitCode *int   `json:"exitCode"`
		Actions  []struct {
			Command string `json:"command"`
		} `json:"commandActions"`
		Changes []struct {
			Path string `json:"path"`
		} `json:"changes"`
		Tool    string `json:"tool"`
		EndedMS int64  `json:"completedAtMs"`
	}
	wireUsage struct {
		Last struct {
			Total int64 `json:"totalTokens"`
		} `json:"last"`
		Window int64 `json:"modelContextWindow"`
	}
	wireStep struct {
		Step   string `json:"step"`
		Status string `json:"status"`
	}
	wireQueue struct {
		Data []struct {
			ID       string `json:"id"`
			ClientID string `json:"clientUserMessageId"`
		} `json:"data"`
	}
	wireTurns struct {
		Data []wireTurn `json:"data"`
		Next string     `json:"nextCursor"`
	}
	wireItems struct {
		Data []struct {
			TurnID string   `json:"turnId"`
			Item   wireItem `json:"item"`
		} `json:"data"`
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

func (u wireUsage) usage() compact.Usage {
	return compact.Usage{Used: u.Last.Total, Window: u.Window}
}

// message is the text of a user's message.
func (it wireItem) message() string {
	var parts []string
	for _, c := range it.Content {
		if c.Text != "" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func (it wireItem) ended() time.Time {
	if it.EndedMS <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(it.EndedMS)
}

func planSteps(steps []wireStep) []host.Step {
	out := make([]host.Step, len(steps))
	for i, s := range steps {
		out[i] = host.Step{Text: s.Step, Status: host.Status(s.Status)}
	}
	return out
}

// packetPrefix is how the ids of packets begin. A user message whose client id
// begins so is ours, whichever watcher or version sent it.
const packetPrefix = "ovt-"

func ours(clientID string) bool { return strings.HasPrefix(clientID, packetPrefix) }

func textInput(text string) []any {
	return []any{map[string]any{"type": "text", "text": text, "text_elements": []any{}}}
}
