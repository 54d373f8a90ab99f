package carry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/mirror"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// opencode keeps sessions in a database, which its own program writes.
func opencode() Target {
	t := known(host.Opencode)
	program := host.Of(host.Opencode).Program
	t.write = func(_ World, talk Talk) ([]byte, error) {
		session := struct {
			Info     map[string]any    `json:"info"`
			Messages []opencodeMessage `json:"messages"`
		}{Info: map[string]any{
			"id": talk.ID, "slug": "continued", "title": talk.Title, "version": host.Of(host.Opencode).Floor.String(),
			"time": map[string]int64{"created": talk.Now.UnixMilli(), "updated": talk.Now.UnixMilli()},
		}}
		at, asked := int64(0), ""
		for _, l := range talk.all() {
			at = max(at+1, l.At.UnixMilli()) // they are ordered by it
			id := fmt.Sprintf("msg_%012x%s", len(session.Messages), random(14))
			m := newOpencodeMessage(talk.ID, id, l.Text, at, l.User, l.note)
			if l.User {
				asked = id
			} else {
				m.Info["time"] = map[string]int64{"created": at, "completed": at}
				m.Info["parentID"], m.Info["mode"], m.Info["path"], m.Info["cost"] = asked, "build", map[string]string{"cwd": talk.CWD, "root": talk.CWD}, 0
				m.Info["tokens"] = map[string]any{"input": 0, "output": 0, "reasoning": 0, "cache": map[string]int{"read": 0, "write": 0}}
				m.Info["modelID"], m.Info["providerID"] = noModel, noModel
			}
			session.Messages = append(session.Messages, m)
		}
		return json.Marshal(session)
	}
	t.bring = func(ctx context.Context, w World, talk Talk, file string) (string, string, error) {
		out, err := w.Run(ctx, talk.CWD, program, "import", file)
		if err == nil && !bytes.Contains(out, []byte(talk.ID)) {
			err = fmt.Errorf("opencode import: the session was not taken: %.300s", bytes.TrimSpace(out))
		}
		return talk.ID, "", err
	}
	t.Give = t.giveOpencode
	t.Remove = func(ctx context.Context, w World, id, path string) error {
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

// giveOpencode has the host take the clone in: the session as the host has it, with
// what the clone says otherwise. The mirror is the host's session from then on.
func (t Target) giveOpencode(ctx context.Context, w World, c Clone) (string, error) {
	info, messages, err := mirror.OpencodeSession(ctx, w.Dir, c.Source)
	if err != nil {
		return "", fmt.Errorf("read session %s: %w", c.Source, err)
	}
	before, after, err := c.read()
	if err != nil {
		return "", err
	}
	ids := []string{`"` + c.Source, `"` + c.ID}
	var list []string
	for _, m := range messages {
		id := m.Get("info.id").String()
		ids = append(ids, `"`+id, `"`+likeID(id))
		raw := changed(m, id, before, after)
		if raw == "" {
			continue
		}
		for _, p := range m.Get("parts.#.id").Array() {
			ids = append(ids, `"`+p.String(), `"`+likeID(p.String()))
		}
		list = append(list, raw)
	}
	if uuid, text := noteOf(before, after); text != "" && len(messages) > 0 {
		// As long as the id in the mirror, whose size is known.
		id := "msg_" + messages[len(messages)-1].Get("info.id").String()[4:16] + random(len(uuid)-16-len("/host"))
		ids = append(ids, `"`+uuid, `"`+id+"/host")
		note, err := json.Marshal(opencodeNote(messages, id, c.ID, text))
		if err != nil {
			return "", err
		}
		list = append(list, string(note))
	}
	about := store.SetJSON(info.Raw, "title", c.Title)
	renamed := strings.NewReplacer(ids...)
	doc := renamed.Replace(`{"info":` + about + `,"messages":[` + strings.Join(list, ",") + `]}`)
	if _, err := t.imported(ctx, w, Talk{ID: c.ID, CWD: c.CWD}, []byte(doc)); err != nil {
		return "", err
	}
	data, err := os.ReadFile(c.Path)
	if err != nil {
		return "", err
	}
	return "", store.AtomicWrite(c.Path, []byte(renamed.Replace(string(data))), 0o600)
}

// opencodeNote is a message that the host sends to the model and does not show, in the
// name of the newest that the user sent.
func opencodeNote(messages []gjson.Result, id, session, text string) opencodeMessage {
	note := newOpencodeMessage(session, id, text, messages[len(messages)-1].Get("info.time.created").Int()+1, true, true)
	for _, m := range messages {
		if m.Get("info.role").String() == "user" && m.Get("info.model").Exists() {
			note.Info["model"], note.Info["agent"] = json.RawMessage(m.Get("info.model").Raw), m.Get("info.agent").String()
		}
	}
	return note
}

// likeID is a new id that sorts like the old one: its beginning is a time.
func likeID(old string) string {
	const head = 16 // msg_ or prt_, and twelve digits of time
	if len(old) < head+8 {
		head := strings.SplitAfterN(old, "_", 2)[0]
		return head + random(26)
	}
	return old[:head] + random(len(old)-head)
}

// changed is a message of the host's with what the clone of its mirror says otherwise;
// "" where nothing is left of it.
func changed(m gjson.Result, id string, before, after map[string]gjson.Result) string {
	raw := m.Raw
	var parts []string
	typed := newTexts(before[id], after[id])
	put := newTexts(before[id+"/host"], after[id+"/host"])
	if typed.gone && m.Get("info.role").String() == "user" {
		return ""
	}
	all := m.Get("parts").Array()
	for _, p := range all {
		switch p.Get("type").String() {
		case "text":
			texts := &typed
			if p.Get("synthetic").Bool() && before[id+"/host"].Exists() {
				texts = &put
			}
			if text, stays := texts.next(p); stays {
				parts = append(parts, text)
			}
		case "reasoning":
			if !typed.gone && (!typed.known || after[id].Get(`message.content.#(type=="thinking")`).Exists()) {
				parts = append(parts, p.Raw)
			}
		case "tool":
			if call, stays := newCall(p, id, before, after); stays {
				parts = append(parts, call)
			}
		default:
			parts = append(parts, p.Raw)
		}
	}
	if len(parts) == 0 && len(all) > 0 {
		return ""
	}
	raw = store.SetJSON(raw, "parts", json.RawMessage("["+strings.Join(parts, ",")+"]"))
	if u := after[id].Get("message.usage"); u.Exists() && u.Raw != before[id].Get("message.usage").Raw {
		input := u.Get("input_tokens").Int() + u.Get("cache_creation_input_tokens").Int() + u.Get("cache_read_input_tokens").Int()
		output := u.Get("output_tokens").Int()
		raw = store.SetJSON(raw, "info.tokens", json.RawMessage(fmt.Sprintf(`{"total":%d,"input":%d,"output":%d,"reasoning":0,"cache":{"read":0,"write":0}}`, input+output, input, output)))
	}
	return raw
}

func newCall(p gjson.Result, id string, before, after map[string]gjson.Result) (raw string, stays bool) {
	part := p.Get("id").String()
	use := `message.content.#(id=="` + part + `").input`
	was, is := before[id].Get(use), after[id].Get(use)
	if !was.Exists() {
		return p.Raw, true
	}
	if !is.Exists() {
		return "", false
	}
	raw = p.Raw
	if is.Raw != was.Raw {
		raw = store.SetJSON(raw, "state.input", json.RawMessage(is.Raw))
	}
	said, _ := answerOf(part, before)
	if now, _ := answerOf(part, after); now != said {
		raw = store.SetJSON(raw, "state.output", transcript.WithoutExit(now))
	}
	return raw, true
}
