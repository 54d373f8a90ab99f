package carry

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// codex: items go to the model, events to the screen and the list. The provider is the
// user's: another one keeps a session off the list, and without one its terminal refuses it.
func codex() Target {
	t := known(host.Codex)
	t.path = func(w World, talk Talk) string {
		return host.Of(t.Name).SessionPath(w.of(t.Name), talk.CWD, "rollout-"+talk.Now.Format("2006-01-02T15-04-05")+"-"+talk.ID+".jsonl")
	}
	t.after = func(_ World, talk Talk, path string) error {
		return transcript.NameRollout(path, talk.ID, talk.Title, talk.Now)
	}
	t.Remove = func(_ context.Context, _ World, id, path string) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return transcript.ForgetName(path, id)
	}
	t.write = func(w World, talk Talk) ([]byte, error) {
		out := []any{rollout{iso(talk.Now), "session_meta", map[string]string{
			"id": talk.ID, "timestamp": iso(talk.Now), "cwd": talk.CWD, "originator": "codex-tui", "cli_version": codexVersion(), "source": "cli",
			"model_provider": codexProvider(w.of(t.Name)),
		}}}
		for _, l := range talk.all() {
			kind, event := "output_text", codexEvent{Type: "agent_message", Message: l.Text}
			if l.User {
				kind, event.Type, event.Images = "input_text", "user_message", &[]string{}
			}
			// The note is the user's, too: a developer's would be lost with the first compaction.
			out = append(out, rollout{iso(l.At), "response_item", codexMessage{"message", role(l.User), []codexText{{kind, l.Text}}}})
			if !l.note {
				out = append(out, rollout{iso(l.At), "event_msg", event})
			}
		}
		return lines(out...)
	}
	return t
}

// codexProvider is the provider of models that the user's configuration names above its
// first table.
func codexProvider(dir string) string {
	config, _ := os.ReadFile(filepath.Join(dir, "config.toml")) // most have none
	for line := range strings.Lines(string(config)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.HasPrefix(key, "[") {
			break
		}
		value, _, _ = strings.Cut(strings.TrimSpace(value), "#")
		if name := strings.Trim(value, "\"' "); strings.TrimSpace(key) == "model_provider" && name != "" {
			return name
		}
	}
	return "openai"
}

func codexVersion() string {
	verified := host.Of(host.Codex).Verified
	return verified[len(verified)-1].String()
}

// A rollout is read from its front, where types stand.
type (
	rollout struct {
		Timestamp string `json:"timestamp"`
		Type      string `json:"type"`
		Payload   any    `json:"payload"`
	}
	codexMessage struct {
		Type    string      `json:"type"`
		Role    string      `json:"role"`
		Content []codexText `json:"content"`
	}
	codexText struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	codexEvent struct {
		Type    string    `json:"type"`
		Message string    `json:"message"`
		Images  *[]string `json:"images,omitempty"`
	}
)
