package carry

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// opencode keeps sessions in a database, which its own program writes.
func opencode() Target {
	t := known(host.Opencode)
	program := host.Of(host.Opencode).Program
	t.newID = func(now time.Time) string {
		return fmt.Sprintf("ses_%012x%s", now.UnixMilli()&0xffffffffffff, random(7))
	}
	t.write = func(talk Talk) ([]byte, error) {
		session := struct {
			Info     map[string]any `json:"info"`
			Messages []any          `json:"messages"`
		}{Info: map[string]any{
			"id": talk.ID, "slug": "continued", "title": talk.Title, "version": host.Of(host.Opencode).Floor.String(),
			"time": map[string]int64{"created": talk.Now.UnixMilli(), "updated": talk.Now.UnixMilli()},
		}}
		at, asked := int64(0), ""
		add := func(user, hidden bool, text string, when time.Time) {
			at = max(at+1, when.UnixMilli()) // they are ordered by it
			id := fmt.Sprintf("msg_%012x%s", len(session.Messages), random(7))
			info := map[string]any{"id": id, "sessionID": talk.ID, "role": role(user), "agent": "build", "time": map[string]int64{"created": at}}
			if user {
				asked = id
				info["model"] = map[string]string{"providerID": noModel, "modelID": noModel}
			} else {
				info["time"] = map[string]int64{"created": at, "completed": at}
				info["parentID"], info["mode"], info["path"], info["cost"] = asked, "build", map[string]string{"cwd": talk.CWD, "root": talk.CWD}, 0
				info["tokens"] = map[string]any{"input": 0, "output": 0, "reasoning": 0, "cache": map[string]int{"read": 0, "write": 0}}
				info["modelID"], info["providerID"] = noModel, noModel
			}
			part := map[string]any{"id": fmt.Sprintf("prt_%012x%s", len(session.Messages), random(7)), "sessionID": talk.ID, "messageID": id, "type": "text", "text": text}
			if hidden {
				part["synthetic"] = true
			}
			session.Messages = append(session.Messages, map[string]any{"info": info, "parts": []any{part}})
		}
		for _, l := range talk.Lines {
			add(l.User, false, l.Text, l.At)
		}
		add(true, true, talk.Note, talk.Now)
		return json.Marshal(session)
	}
	t.bring = func(ctx context.Context, w World, talk Talk, file string) (string, string, error) {
		_, err := w.Run(ctx, talk.CWD, program, "import", file)
		return talk.ID, "", err
	}
	t.remove = func(ctx context.Context, w World, id, _ string) error {
		_, err := w.Run(ctx, "", program, "session", "delete", id)
		return err
	}
	return t
}

// noModel is a model that nobody has: opencode then takes the user's own.
const noModel = "overtone"
