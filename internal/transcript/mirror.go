package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Mirror is a file of ours of a session that its host keeps in another way than in
// lines. It has Claude Code's form, with the host's name on every line, so that
// whatever reads sessions reads it; it grows with the session, and secrets are left
// out of it. The host's own record stays the truth: a mirror can be made anew at any
// time.
type Mirror struct {
	Path    string
	Host    Host
	Session string
	CWD     string
	Version string
	Title   string
	// Agent: the session is a sub-agent's.
	Agent bool
}

// HostMessage is one message, as a host tells it.
type HostMessage struct {
	ID    string
	Time  int64 // Unix milliseconds
	Agent bool  // the agent's; else the user's
	Meta  bool  // the host's own words, in the user's place
	// Summary is set on what a compaction left, with who asked for it and how large
	// the context was.
	Summary bool
	Trigger string
	Pre     int64
	Model   string
	Usage   *Usage
	Failed  bool // an error that is shown as a message
	// Stopped: the user broke the message off.
	Stopped bool
	Blocks  []HostBlock
}

// HostBlock is a text, a thought, or a call of a tool with its answer.
type HostBlock struct {
	ID, Text, Thought string
	Tool              string
	Input             json.RawMessage
	Answer            string
	Answered, Failed  bool
}

// resultsMark and metaMark end the ids of the lines that a message has beside its own.
const resultsMark, metaMark = "/results", "/host"

type mirrorLine struct {
	Host    Host           `json:"host"`
	Type    string         `json:"type"`
	Subtype string         `json:"subtype,omitempty"`
	UUID    string         `json:"uuid,omitempty"`
	Parent  *string        `json:"parentUuid,omitempty"`
	Session string         `json:"sessionId"`
	Time    string         `json:"timestamp,omitempty"`
	CWD     string         `json:"cwd,omitempty"`
	Version string         `json:"version,omitempty"`
	Side    bool           `json:"isSidechain,omitempty"`
	Meta    bool           `json:"isMeta,omitempty"`
	Summary bool           `json:"isCompactSummary,omitempty"`
	Failed  bool           `json:"isApiErrorMessage,omitempty"`
	Title   string         `json:"customTitle,omitempty"`
	Compact *mirrorCompact `json:"compactMetadata,omitempty"`
	Message *mirrorMessage `json:"message,omitempty"`
}

type mirrorCompact struct {
	Trigger string `json:"trigger"`
	Pre     int64  `json:"preTokens"`
}

type mirrorMessage struct {
	ID      string       `json:"id,omitempty"`
	Role    string       `json:"role"`
	Model   string       `json:"model,omitempty"`
	Content []any        `json:"content"`
	Stop    string       `json:"stop_reason,omitempty"`
	Usage   *mirrorUsage `json:"usage,omitempty"`
}

type mirrorUsage struct {
	Input    int64 `json:"input_tokens"`
	Creation int64 `json:"cache_creation_input_tokens"`
	Read     int64 `json:"cache_read_input_tokens"`
	Output   int64 `json:"output_tokens"`
}

// ending is what a mirror ends with: its last line that has an id, the message that this
// belongs to, and how many tools' answers it holds; nothing where there is none. The title
// is looked for where the mirror is to have one.
type ending struct {
	line, message, title string
	answers              int
}

func (m Mirror) ending() (e ending) {
	_ = backward(m.Path, func(line []byte) bool { // what cannot be read is not there
		if e.line == "" {
			e.line = gjson.GetBytes(line, "uuid").String()
			if e.message, _, _ = strings.Cut(e.line, "/"); strings.HasSuffix(e.line, resultsMark) {
				e.answers = int(gjson.GetBytes(line, "message.content.#").Int())
			}
		}
		if e.title == "" && bytes.Contains(line, []byte(`"customTitle"`)) {
			e.title = gjson.GetBytes(line, "customTitle").String()
		}
		return e.message == "" || e.title == "" && m.Title != ""
	})
	return e
}

// Newest is the message that the file ends with, "" where there is none.
func (m Mirror) Newest() string { return m.ending().message }

// Add brings the file up to date with the newest messages of a session, oldest first;
// all says that there are no others. gap reports that some are missing between the end
// of the file and these: nothing was written then.
func (m Mirror) Add(list []HostMessage, all bool) (gap bool, err error) {
	end, from := m.ending(), 0
	for i, t := range list {
		if t.ID == end.message {
			from = i + 1
		}
	}
	switch {
	case from == 0 && !all:
		return true, nil
	case from == 0: // taken back, another database's, or the end of the file is one long line
		end = ending{}
		if err := os.Remove(m.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	var out []byte
	if m.Title != "" && end.title != redact.Clean(m.Title) {
		out = m.line(out, mirrorLine{Type: "custom-title", Title: redact.Clean(m.Title)})
	}
	parent := end.line
	for _, t := range list[from:] {
		out, parent = m.tell(out, t, parent)
	}
	if len(out) == 0 {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(m.Path), 0o700); err != nil {
		return false, err
	}
	unlock, err := store.LockFolder(filepath.Dir(m.Path))
	if err != nil {
		return false, err
	}
	defer unlock()
	if m.Newest() != end.message {
		return false, nil // another one has just done it
	}
	f, err := os.OpenFile(m.Path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.Write(out)
	return false, errors.Join(err, f.Close())
}

func (m Mirror) line(out []byte, l mirrorLine) []byte {
	l.Host, l.Session, l.Side = m.Host, m.Session, m.Agent
	b, err := json.Marshal(l)
	if err != nil {
		return out // only an input that is no JSON
	}
	return append(append(out, b...), '\n')
}

func (m Mirror) tell(out []byte, t HostMessage, parent string) (_ []byte, last string) {
	at := Time(t.Time).Format("2006-01-02T15:04:05.000Z")
	add := func(l mirrorLine, id string) {
		if l.UUID, l.Time, l.CWD, l.Version = id, at, m.CWD, m.Version; parent != "" {
			l.Parent = &parent
		}
		out, parent = m.line(out, l), id
	}
	if t.Summary {
		if t.Usage != nil { // of the request that wrote it
			add(mirrorLine{Type: "assistant", Message: &mirrorMessage{ID: t.ID, Role: "assistant", Model: t.Model, Content: []any{}, Usage: used(t.Usage)}}, t.ID+"/request")
		}
		parent = ""
		add(mirrorLine{Type: "system", Subtype: "compact_boundary", Compact: &mirrorCompact{t.Trigger, t.Pre}}, t.ID+"/compact")
		var texts []string
		for _, b := range t.Blocks {
			if b.Text != "" {
				texts = append(texts, redact.Clean(b.Text))
			}
		}
		add(mirrorLine{Type: "user", Summary: true, Message: said(map[string]string{"type": "text", "text": strings.Join(texts, "\n")})}, t.ID)
		return out, parent
	}
	var content, answers []any
	for _, b := range t.Blocks {
		switch {
		case b.Tool != "":
			input := json.RawMessage("{}")
			if json.Valid(b.Input) {
				input = MapStrings(b.Input, redact.Clean)
			}
			content = append(content, map[string]any{"type": "tool_use", "id": b.ID, "name": b.Tool, "input": input})
			if b.Answered {
				answers = append(answers, map[string]any{"type": "tool_result", "tool_use_id": b.ID, "content": redact.Clean(b.Answer), "is_error": b.Failed})
			}
		case b.Thought != "":
			content = append(content, map[string]string{"type": "thinking", "thinking": redact.Clean(b.Thought), "signature": ""})
		case b.Text != "":
			content = append(content, map[string]string{"type": "text", "text": redact.Clean(b.Text)})
		}
	}
	if len(content) > 0 || t.Agent { // an answer that was cut before its first word was a request, too
		l := mirrorLine{Type: "user", Meta: t.Meta, Message: said(content...)}
		id := t.ID
		if t.Meta {
			id += metaMark
		}
		if t.Agent {
			l.Type, l.Failed = "assistant", t.Failed
			l.Message.Role, l.Message.ID, l.Message.Model = "assistant", t.ID, t.Model
			if !t.Stopped && !slices.ContainsFunc(t.Blocks, func(b HostBlock) bool { return b.Tool != "" }) {
				l.Message.Stop = "end_turn" // a model that calls no tool has ended its turn
			}
			l.Message.Usage = used(t.Usage)
		}
		add(l, id)
	}
	if len(answers) > 0 {
		add(mirrorLine{Type: "user", Message: said(answers...)}, t.ID+resultsMark)
	}
	if t.Stopped {
		add(mirrorLine{Type: "user", Message: said(map[string]string{"type": "text", "text": "[Request interrupted by user]"})}, t.ID+"/stop")
	}
	return out, parent
}

func used(u *Usage) *mirrorUsage {
	if u == nil {
		return nil
	}
	return &mirrorUsage{u.Input, u.CacheCreation, u.CacheRead, u.Output}
}

func said(content ...any) *mirrorMessage {
	if content == nil {
		content = []any{}
	}
	return &mirrorMessage{Role: "user", Content: content}
}

// Fresh reports whether the file is of that moment, which the host gives a session that
// it has changed; Stamp says that it is.
func (m Mirror) Fresh(at time.Time) bool {
	info, err := os.Stat(m.Path)
	return err == nil && info.ModTime().Equal(at.Add(edition))
}

// Stamp is [Mirror.Fresh]'s.
func (m Mirror) Stamp(at time.Time) error {
	return os.Chtimes(m.Path, at.Add(edition), at.Add(edition))
}

// edition changes with what is mirrored: what an older program left out is looked for
// once more.
const edition = time.Microsecond
