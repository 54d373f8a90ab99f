package carry

import (
	"os"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
)

// Clone is a clone of a mirror that its host does not know yet.
type Clone struct {
	Source, From string // the session, and its mirror
	ID, Path     string // the clone, and its mirror
	Title, CWD   string
	Now          time.Time
}

// read are the lines of the two mirrors by the ids of their entries.
func (c Clone) read() (before, after map[string]gjson.Result, err error) {
	before, after = map[string]gjson.Result{}, map[string]gjson.Result{}
	for path, into := range map[string]map[string]gjson.Result{c.From: before, c.Path: after} {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		for line := range strings.Lines(string(data)) {
			if v := gjson.Parse(line); v.Get("uuid").Exists() {
				into[v.Get("uuid").String()] = v
			}
		}
	}
	return before, after, nil
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

// answerOf is the answer to a tool's call in the lines of a mirror.
func answerOf(call string, lines map[string]gjson.Result) (text string, ok bool) {
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

type texts struct {
	known, gone, differ, told bool
	text                      string
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
	return store.SetJSON(p.Raw, "text", t.text), true
}
