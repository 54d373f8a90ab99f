package carry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/mirror"
	"github.com/seed-6d03985f/overtone/internal/recall"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

type geminiLine struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"`
	Content   any    `json:"content"`
}

// gemini has no place that is hidden from the person.
func gemini() Target {
	t := known(host.Gemini)
	t.path = func(w World, talk Talk) string {
		dir := w.of(host.Gemini)
		return filepath.Join(dir, "tmp", geminiFolder(dir, RealPath(talk.CWD)), "chats", geminiName(talk.Now))
	}
	t.Give = giveGemini
	t.Remove = func(_ context.Context, w World, id, path string) error {
		if file := mirror.GeminiFile(w.of(host.Gemini), id); file != "" && file != path { // path is our mirror
			if err := os.Remove(file); err != nil {
				return err
			}
		}
		return os.Remove(path)
	}
	t.after = func(_ World, talk Talk, path string) error {
		mark, err := os.OpenFile(filepath.Join(filepath.Dir(filepath.Dir(path)), mirror.GeminiRoot), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = mark.WriteString(RealPath(talk.CWD))
		return errors.Join(err, mark.Close())
	}
	t.write = func(_ World, talk Talk) ([]byte, error) {
		out := []any{geminiHead(talk.ID, recall.Hash(talk.CWD), talk.Title, talk.Now)}
		for _, l := range talk.all() {
			m := geminiLine{transcript.NewID(t.Name, talk.Now), iso(l.At), geminiSaid, l.Text}
			if l.User {
				m.Type, m.Content = "user", geminiTyped(geminiSent(l.Text))
			}
			out = append(out, m)
		}
		return lines(out...)
	}
	return t
}

// geminiName is the name of a session's file. One that ends in the first digits of the
// session's id is deleted by the start that follows a resume: the host takes it for the
// empty file that it made.
func geminiName(now time.Time) string {
	return "session-" + now.UTC().Format("2006-01-02T15-04") + "-" + random(8) + ".jsonl"
}

// geminiHead is the first line of a session. What is older than its retention the host
// deletes, so that all times but those of the messages are of now.
func geminiHead(id, project, title string, now time.Time) map[string]string {
	return map[string]string{"sessionId": id, "projectHash": project, "startTime": iso(now), "lastUpdated": iso(now), "kind": "main", "summary": title}
}

func geminiTyped(text string) []map[string]string { return []map[string]string{{"text": text}} }

// geminiSent makes a user's text one that goes to the model: it takes some beginnings
// for commands, and for context of its own.
func geminiSent(text string) string {
	for _, p := range [...]string{"/", "?", "<session_context>", "<hook_context>"} {
		if strings.HasPrefix(strings.TrimSpace(text), p) {
			return "> " + text
		}
	}
	return text
}

// geminiFolder is the name under which the host keeps what belongs to a folder: the one
// on its list, one that a marker says is the folder's, or a free one of the kind that it
// would choose.
func geminiFolder(dir, cwd string) string {
	known := mirror.GeminiProjects(dir)
	for name, folder := range known {
		if folder == cwd && name != "" && filepath.Base(name) == name {
			return name
		}
	}
	folders, _ := os.ReadDir(filepath.Join(dir, "tmp")) // there may be none yet
	for _, f := range folders {
		if owner, ok := mirror.GeminiOwner(dir, f.Name()); ok && owner == cwd {
			return f.Name()
		}
	}
	words := strings.FieldsFunc(strings.ToLower(filepath.Base(cwd)), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	slug := cmp.Or(strings.Join(words, "-"), "project")
	for n, name := 0, slug; ; name = fmt.Sprintf("%s-%d", slug, n) {
		n++
		if _, owned := mirror.GeminiOwner(dir, name); !owned && known[name] == "" {
			return name
		}
	}
}

// giveGemini writes a clone as a session file of its own beside the original: from
// its last compression on, with what the clone says otherwise.
func giveGemini(_ context.Context, w World, c Clone) (string, error) {
	from := mirror.GeminiFile(w.of(host.Gemini), c.Source)
	data, err := transcript.GeminiLines(from)
	if err != nil {
		return "", fmt.Errorf("read session %s: %w", c.Source, err)
	}
	before, after, err := c.read()
	if err != nil {
		return "", err
	}
	out := []any{geminiHead(c.ID, gjson.GetBytes(data, "projectHash").String(), c.Title, c.Now)}
	for _, m := range geminiMessages(data) {
		if raw := changedGemini(m, before, after); raw != "" {
			out = append(out, json.RawMessage(raw))
		}
	}
	if uuid, text := noteOf(before, after); text != "" {
		out = append(out, geminiLine{uuid, iso(c.Now), "user", geminiTyped(text)})
	}
	file, err := lines(out...)
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(from), geminiName(c.Now))
	if err := store.AtomicWrite(path, file, 0o600); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return path, os.Chtimes(c.Path, info.ModTime(), info.ModTime())
}

// geminiMessages are the messages that a session file leaves the model, each as it was
// written last.
func geminiMessages(data []byte) []gjson.Result {
	var list []gjson.Result
	at := map[string]int{}
	add := func(m gjson.Result) {
		// A call and its answer may have one name after a resume.
		id := m.Get("type").String() + m.Get("id").String()
		if i, known := at[id]; known {
			list[i] = m
			return
		}
		at[id] = len(list)
		list = append(list, m)
	}
	for line := range bytes.Lines(data) {
		l := gjson.ParseBytes(line)
		all := l.Get("$set.messages")
		switch {
		case all.Exists() && bytes.Contains(line, []byte("<state_snapshot>")):
			list, at = nil, map[string]int{}
			fallthrough
		case all.Exists() && len(list) == 0:
			all.ForEach(func(_, m gjson.Result) bool {
				if !strings.HasPrefix(m.Get("content.0.text").String(), "<session_context>") { // written anew
					add(m)
				}
				return true
			})
		case l.Get("id").Exists() && l.Get("type").Exists():
			add(l)
		}
	}
	return list
}

// geminiSaid is the type of an agent's message in Gemini CLI's files.
const geminiSaid = "gemini"

// changedGemini is a message with what the clone says otherwise, "" where nothing is
// left of it.
func changedGemini(m gjson.Result, before, after map[string]gjson.Result) string {
	id, raw := m.Get("id").String(), m.Raw
	said := newTexts(before[id], after[id])
	if said.gone {
		return ""
	}
	if said.differ {
		text := any(geminiTyped(said.text))
		if m.Get("type").String() == geminiSaid {
			text = said.text
		}
		raw = store.SetJSON(raw, "content", text)
	}
	if said.known && !after[id].Get(`message.content.#(type=="thinking")`).Exists() && m.Get("thoughts").Exists() {
		raw = store.SetJSON(raw, "thoughts", []string{})
	}
	if m.Get("toolCalls").Exists() {
		raw = store.SetJSON(raw, "toolCalls", eachAnswer(m.Get("toolCalls"), "id", "result.0.functionResponse.response.output", before, after))
	}
	if m.Get("content.0.functionResponse").Exists() {
		parts := eachAnswer(m.Get("content"), "functionResponse.id", "functionResponse.response.output", before, after)
		if string(parts) == "[]" {
			return ""
		}
		raw = store.SetJSON(raw, "content", parts)
	}
	return raw
}

// eachAnswer is a list of tools' answers with what the clone says of them.
func eachAnswer(list gjson.Result, id, output string, before, after map[string]gjson.Result) json.RawMessage {
	var out []string
	for _, v := range list.Array() {
		was, known := answerOf(v.Get(id).String(), before)
		is, stays := answerOf(v.Get(id).String(), after)
		if known && !stays {
			continue
		}
		raw := v.Raw
		if known && was != is {
			raw = store.SetJSON(raw, output, transcript.WithoutExit(is))
		}
		out = append(out, raw)
	}
	return json.RawMessage("[" + strings.Join(out, ",") + "]")
}
