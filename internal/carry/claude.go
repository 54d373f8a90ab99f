package carry

import (
	"path/filepath"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type claudeLine struct {
	Type      string         `json:"type"`
	UUID      string         `json:"uuid"`
	Parent    *string        `json:"parentUuid"`
	Session   string         `json:"sessionId"`
	Timestamp string         `json:"timestamp"`
	CWD       string         `json:"cwd"`
	Side      bool           `json:"isSidechain"`
	Meta      bool           `json:"isMeta,omitempty"`
	Message   map[string]any `json:"message"`
}

func claude() Target {
	t := known(host.ClaudeCode)
	t.path = func(w World, talk Talk) string {
		return host.Of(t.Name).SessionPath(w.of(t.Name), RealPath(talk.CWD), talk.ID+".jsonl")
	}
	t.write = func(_ World, talk Talk) ([]byte, error) {
		var out []any
		var parent *string
		for _, said := range talk.all() {
			l := claudeLine{Type: "user", UUID: transcript.NewID(t.Name, talk.Now), Parent: parent, Session: talk.ID, Timestamp: iso(said.At), CWD: talk.CWD, Meta: said.note}
			l.Message = map[string]any{"role": "user", "content": said.Text}
			if !said.User {
				l.Type = "assistant"
				// Version 2.1.197 hangs without a model, and with another vendor's takes its own.
				l.Message = map[string]any{"role": "assistant", "model": "<synthetic>", "content": []any{map[string]any{"type": "text", "text": said.Text}}}
			}
			parent = &l.UUID
			out = append(out, l)
		}
		out = append(out, map[string]string{"type": "custom-title", "customTitle": talk.Title, "sessionId": talk.ID})
		return lines(out...)
	}
	return t
}

// RealPath is a folder as programs see it that are started in it.
func RealPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
