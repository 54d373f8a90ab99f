package mirror

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// importWait bounds the host's program that takes a session in.
const importWait = 2 * time.Minute

// importOpencode has the host take the clone in: the session as the host has it, with
// what the clone says otherwise. The mirror is the host's session from then on.
func importOpencode(ctx context.Context, c Clone, find func(variable, usual string) string) error {
	db, err := openDatabase(opencodeDatabase(find))
	if err != nil {
		return err
	}
	defer db.Close()
	info, messages, err := opencodeExport(ctx, db, c.Source)
	if err != nil {
		return fmt.Errorf("read session %s: %w", c.Source, err)
	}
	before, err := readLines(c.From)
	if err != nil {
		return err
	}
	after, err := readLines(c.Path)
	if err != nil {
		return err
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
		list = append(list, opencodeNote(messages, id, c.ID, text))
	}
	about, _ := sjson.Set(info.Raw, "title", c.Title) // valid JSON stays so
	renamed := strings.NewReplacer(ids...)
	doc := renamed.Replace(`{"info":` + about + `,"messages":[` + strings.Join(list, ",") + `]}`)
	if err := takeIn(ctx, doc, c); err != nil {
		return err
	}
	data, err := os.ReadFile(c.Path)
	if err != nil {
		return err
	}
	return store.AtomicWrite(c.Path, []byte(renamed.Replace(string(data))), 0o600)
}

// noteOf is the text that a clone adds at its end for the model, and its id.
func noteOf(before, after map[string]gjson.Result) (uuid, text string) {
	for id, l := range after {
		if !before[id].Exists() && l.Get("isMeta").Bool() {
			return id, transcript.Text([]byte(l.Raw))
		}
	}
	return "", ""
}

// opencodeNote is a message that the host sends to the model and does not show.
func opencodeNote(messages []gjson.Result, id, session, text string) string {
	raw := `{"info":{"role":"user"},"parts":[{"type":"text","synthetic":true}]}`
	set := func(key string, value any) { raw, _ = sjson.Set(raw, key, value) } // texts and numbers
	last := messages[len(messages)-1].Get("info")
	set("info.id", id)
	set("info.sessionID", session)
	set("info.time.created", last.Get("time.created").Int()+1)
	set("info.agent", "build")
	for _, m := range messages {
		if m.Get("info.role").String() == "user" && m.Get("info.model").Exists() {
			raw, _ = sjson.SetRaw(raw, "info.model", m.Get("info.model").Raw)
			set("info.agent", m.Get("info.agent").String())
		}
	}
	set("parts.0.id", "prt_"+id[4:])
	set("parts.0.messageID", id)
	set("parts.0.sessionID", session)
	set("parts.0.text", text)
	return raw
}

// takeIn runs the host's import.
func takeIn(ctx context.Context, doc string, c Clone) error {
	dir, err := os.MkdirTemp("", "overtone-import-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "session.json")
	if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, importWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, "opencode", "import", file)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.CWD, c.Environ, time.Second
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.ID) {
		return fmt.Errorf("opencode import: %w: %.300s", errors.Join(err, errNotTaken), strings.TrimSpace(string(out)))
	}
	return nil
}

var errNotTaken = errors.New("the session was not taken")

// likeID is a new id that sorts like the old one: its beginning is a time.
func likeID(old string) string {
	const head = 16 // msg_ or prt_, and twelve digits of time
	if len(old) < head+8 {
		head := strings.SplitAfterN(old, "_", 2)[0]
		return head + random(26)
	}
	return old[:head] + random(len(old)-head)
}

func random(n int) string {
	b := make([]byte, (n+1)/2)
	rand.Read(b)
	return hex.EncodeToString(b)[:n]
}

// readLines are the lines of a mirror by the ids of their entries.
func readLines(path string) (map[string]gjson.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := map[string]gjson.Result{}
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := r.ReadString('\n')
		if v := gjson.Parse(line); v.Get("uuid").Exists() {
			lines[v.Get("uuid").String()] = v
		}
		if err != nil {
			return lines, nil //nolint:nilerr // the end
		}
	}
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
	m.Get("parts").ForEach(func(_, p gjson.Result) bool {
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
		return true
	})
	if len(parts) == 0 && len(m.Get("parts").Array()) > 0 {
		return ""
	}
	raw, _ = sjson.SetRaw(raw, "parts", "["+strings.Join(parts, ",")+"]") // valid JSON stays so
	if u := after[id].Get("message.usage"); u.Exists() && u.Raw != before[id].Get("message.usage").Raw {
		input := u.Get("input_tokens").Int() + u.Get("cache_creation_input_tokens").Int() + u.Get("cache_read_input_tokens").Int()
		output := u.Get("output_tokens").Int()
		raw, _ = sjson.SetRaw(raw, "info.tokens", fmt.Sprintf(`{"total":%d,"input":%d,"output":%d,"reasoning":0,"cache":{"read":0,"write":0}}`, input+output, input, output))
	}
	return raw
}

// texts are what became of a message's texts.
type texts struct {
	known, gone, differ bool
	text                string
	told                bool
}

func newTexts(before, after gjson.Result) (t texts) {
	t.known = before.Exists()
	if t.gone = t.known && !after.Exists(); t.known && !t.gone {
		t.text = transcript.Text([]byte(after.Raw))
		t.differ = t.text != transcript.Text([]byte(before.Raw))
	}
	return t
}

// next is one of them: all of a new text stands in the place of the first.
func (t *texts) next(p gjson.Result) (raw string, stays bool) {
	switch {
	case t.gone:
		return "", false
	case !t.differ:
		return p.Raw, true
	case t.told || t.text == "":
		return "", false
	}
	t.told = true
	raw, _ = sjson.Set(p.Raw, "text", t.text) // valid JSON stays so
	return raw, true
}

// newCall is what became of a tool's call and its answer.
func newCall(p gjson.Result, id string, before, after map[string]gjson.Result) (raw string, stays bool) {
	part := p.Get("id").String()
	use := `message.content.#(id=="` + part + `").input`
	answer := `message.content.#(tool_use_id=="` + part + `").content`
	was, is := before[id].Get(use), after[id].Get(use)
	if !was.Exists() {
		return p.Raw, true
	}
	if !is.Exists() {
		return "", false
	}
	raw = p.Raw
	if is.Raw != was.Raw {
		raw, _ = sjson.SetRaw(raw, "state.input", is.Raw) // valid JSON stays so
	}
	said, now := before[id+"/results"].Get(answer), after[id+"/results"].Get(answer)
	if said.Exists() && now.Raw != said.Raw {
		text := now.String()
		if now.IsArray() {
			text = now.Get("0.text").String()
		}
		raw, _ = sjson.Set(raw, "state.output", transcript.WithoutExit(text))
	}
	return raw, true
}
