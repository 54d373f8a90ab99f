package carry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/mirror"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// giveGemini writes a clone as a session file of its own beside the original: from
// its last compression on, with what the clone says otherwise.
func giveGemini(_ context.Context, w World, c Clone) error {
	from := mirror.GeminiFile(w.of(host.Gemini), c.Source)
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read session %s: %w", c.Source, err)
	}
	before, after, err := c.read()
	if err != nil {
		return err
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
		return err
	}
	path := filepath.Join(filepath.Dir(from), geminiName(c.Now))
	if err := store.AtomicWrite(path, file, 0o600); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Chtimes(c.Path, info.ModTime(), info.ModTime())
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
		raw, _ = sjson.Set(raw, "content", text) // valid JSON stays so
	}
	if said.known && !after[id].Get(`message.content.#(type=="thinking")`).Exists() && m.Get("thoughts").Exists() {
		raw, _ = sjson.SetRaw(raw, "thoughts", "[]")
	}
	if m.Get("toolCalls").Exists() {
		raw, _ = sjson.SetRaw(raw, "toolCalls", eachAnswer(m.Get("toolCalls"), "id", "result.0.functionResponse.response.output", before, after))
	}
	if m.Get("content.0.functionResponse").Exists() {
		parts := eachAnswer(m.Get("content"), "functionResponse.id", "functionResponse.response.output", before, after)
		if parts == "[]" {
			return ""
		}
		raw, _ = sjson.SetRaw(raw, "content", parts)
	}
	return raw
}

// eachAnswer is a list of tools' answers with what the clone says of them.
func eachAnswer(list gjson.Result, id, output string, before, after map[string]gjson.Result) string {
	var out []string
	list.ForEach(func(_, v gjson.Result) bool {
		was, is, known, stays := answerOf(v.Get(id).String(), before, after)
		raw := v.Raw
		switch {
		case known && !stays:
			return true
		case known && was != is:
			raw, _ = sjson.Set(raw, output, transcript.WithoutExit(is)) // valid JSON stays so
		}
		out = append(out, raw)
		return true
	})
	return "[" + strings.Join(out, ",") + "]"
}

// answerOf is what a tool's answer was, and is in the clone.
func answerOf(call string, before, after map[string]gjson.Result) (was, is string, known, stays bool) {
	find := func(lines map[string]gjson.Result) (text string, ok bool) {
		for _, l := range lines {
			v := l.Get(`message.content.#(tool_use_id=="` + call + `").content`)
			if v.IsArray() {
				v = v.Get("0.text")
			}
			if v.Exists() {
				return v.String(), true
			}
		}
		return "", false
	}
	was, known = find(before)
	is, stays = find(after)
	return was, is, known, stays
}
