package carry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// copilot imports a session by a command of its own, which chooses the id.
func copilot() Target {
	t := known(host.Copilot)
	t.write = func(_ World, talk Talk) ([]byte, error) {
		out := []any{map[string]any{"type": "session", "version": 1, "externalId": "overtone-" + talk.ID, "createdAt": iso(talk.Now), "title": talk.Title}}
		for _, l := range talk.all() {
			text := []map[string]string{{"type": "text", "text": l.Text}}
			out = append(out, map[string]any{"type": "message", "id": strconv.Itoa(len(out)), "timestamp": iso(l.At), "role": role(l.User), "content": text})
		}
		return lines(out...)
	}
	t.bring = func(ctx context.Context, w World, talk Talk, file string) (string, string, error) {
		out, err := w.Run(ctx, talk.CWD, host.Of(t.Name).Program, "sessions", "import", file, "--name", talk.Title, "--working-directory", talk.CWD, "--output", "json")
		if err != nil {
			return "", "", err
		}
		answer := out[max(0, bytes.IndexByte(out, '{')):] // it may warn before
		id := gjson.GetBytes(answer, "sessionId").String()
		if !json.Valid(answer) || id == "" || filepath.Base(id) != id {
			return "", "", fmt.Errorf("copilot sessions import: no session in its answer: %.200s", out)
		}
		return id, filepath.Join(w.of(t.Name), host.Of(t.Name).Sessions.Dir, id, "events.jsonl"), nil
	}
	// A session is a folder.
	t.Remove = func(_ context.Context, _ World, id, path string) error {
		dir := filepath.Dir(path)
		if filepath.Base(dir) != id {
			return os.Remove(path)
		}
		return os.RemoveAll(dir)
	}
	return t
}

func role(user bool) string {
	if user {
		return "user"
	}
	return "assistant"
}
