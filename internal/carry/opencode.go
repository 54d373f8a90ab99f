package carry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
)

// opencode keeps sessions in a database, which its own program writes.
func opencode() Target {
	t := known(host.Opencode)
	program := host.Of(host.Opencode).Program
	t.write = func(talk Talk) ([]byte, error) {
		session := struct {
			Info     map[string]any    `json:"info"`
			Messages []opencodeMessage `json:"messages"`
		}{Info: map[string]any{
			"id": talk.ID, "slug": "continued", "title": talk.Title, "version": host.Of(host.Opencode).Floor.String(),
			"time": map[string]int64{"created": talk.Now.UnixMilli(), "updated": talk.Now.UnixMilli()},
		}}
		at, asked := int64(0), ""
		add := func(user, hidden bool, text string, when time.Time) {
			at = max(at+1, when.UnixMilli()) // they are ordered by it
			id := fmt.Sprintf("msg_%012x%s", len(session.Messages), random(14))
			m := newOpencodeMessage(talk.ID, id, text, at, user, hidden)
			if user {
				asked = id
			} else {
				m.Info["time"] = map[string]int64{"created": at, "completed": at}
				m.Info["parentID"], m.Info["mode"], m.Info["path"], m.Info["cost"] = asked, "build", map[string]string{"cwd": talk.CWD, "root": talk.CWD}, 0
				m.Info["tokens"] = map[string]any{"input": 0, "output": 0, "reasoning": 0, "cache": map[string]int{"read": 0, "write": 0}}
				m.Info["modelID"], m.Info["providerID"] = noModel, noModel
			}
			session.Messages = append(session.Messages, m)
		}
		for _, l := range talk.Lines {
			add(l.User, false, l.Text, l.At)
		}
		add(true, true, talk.Note, talk.Now)
		return json.Marshal(session)
	}
	t.bring = func(ctx context.Context, w World, talk Talk, file string) (string, string, error) {
		out, err := w.Run(ctx, talk.CWD, program, "import", file)
		if err == nil && !bytes.Contains(out, []byte(talk.ID)) {
			err = fmt.Errorf("opencode import: the session was not taken: %.300s", bytes.TrimSpace(out))
		}
		return talk.ID, "", err
	}
	t.give = t.giveOpencode
	t.remove = func(ctx context.Context, w World, id, path string) error {
		if _, err := w.Run(ctx, "", program, "session", "delete", id); err != nil || path == "" {
			return err
		}
		return os.Remove(path) // our mirror of it
	}
	return t
}

// opencodeMessage is a message as opencode's program imports it.
type opencodeMessage struct {
	Info  map[string]any `json:"info"`
	Parts []any          `json:"parts"`
}

// newOpencodeMessage has one text; hidden keeps it from the person.
func newOpencodeMessage(session, id, text string, at int64, user, hidden bool) opencodeMessage {
	info := map[string]any{"id": id, "sessionID": session, "role": role(user), "agent": "build", "time": map[string]int64{"created": at}}
	if user {
		info["model"] = map[string]string{"providerID": noModel, "modelID": noModel}
	}
	part := map[string]any{"id": "prt_" + id[4:], "sessionID": session, "messageID": id, "type": "text", "text": text}
	if hidden {
		part["synthetic"] = true
	}
	return opencodeMessage{info, []any{part}}
}

// noModel is a model that nobody has: opencode then takes the user's own.
const noModel = "overtone"
