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

// ending is the end of a mirror: the id of its last line that has one, the message that
// the line belongs to, and how many answers of tools the line holds. All is empty in an
// empty file. The title is only searched for when the mirror is to have one.
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
		return false, m.Write(list)
	}
	out := m.lines(list[from:], end)
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
	return false, store.AppendLines(m.Path, out)
}

// Write makes the file hold these messages and no others.
func (m Mirror) Write(list []HostMessage) error {
	out := m.lines(list, ending{})
	now, err := os.ReadFile(m.Path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case slices.Equal(now, out) || len(out) == 0:
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(m.Path), 0o700); err != nil {
		return err
	}
	return store.AtomicWrite(m.Path, out, 0o600)
}

// lines are what has to be added to a file with that end to hold the messages, too.
func (m Mirror) lines(list []HostMessage, end ending) (out []byte) {
	if title := redact.Clean(m.Title); title != "" && title != end.title {
		out = appendLine(nil, append(m.line("custom-title"), store.Field{Key: "customTitle", Value: title}))
	}
	parent := end.line
	for _, t := range list {
		out, parent = m.tell(out, t, parent)
	}
	return out
}

// line is how each line begins.
func (m Mirror) line(typ string) store.Fields {
	l := store.Pairs("host", m.Host, "type", typ, "sessionId", m.Session)
	if m.Agent {
		l.Add("isSidechain", true)
	}
	return l
}

func (m Mirror) tell(out []byte, t HostMessage, parent string) (_ []byte, last string) {
	add := func(id, typ string, more ...any) {
		l := m.line(typ)
		l.Add("uuid", id)
		l.AddText("parentUuid", parent)
		l.Add("timestamp", Time(t.Time).Format(stamp))
		l.AddText("cwd", m.CWD)
		l.AddText("version", m.Version)
		out, parent = appendLine(out, append(l, store.Pairs(more...)...)), id
	}
	if t.Summary {
		if t.Usage != nil { // of the request that wrote it
			add(t.ID+"/request", "assistant", "message", t.answer(nil))
		}
		parent = ""
		about := store.Pairs("trigger", t.Trigger, "preTokens", t.Pre)
		add(t.ID+"/compact", "system", "subtype", "compact_boundary", "compactMetadata", about)
		var texts []string
		for _, b := range t.Blocks {
			if b.Text != "" {
				texts = append(texts, redact.Clean(b.Text))
			}
		}
		add(t.ID, "user", "isCompactSummary", true, "message", said(store.Pairs("type", "text", "text", strings.Join(texts, "\n"))))
		return out, parent
	}
	content, answers := t.blocks()
	switch {
	case t.Agent: // also one that was cut before its first word: it was a request, too
		l := []any{"message", t.answer(content)}
		if t.Failed {
			l = append(l, "isApiErrorMessage", true)
		}
		add(t.ID, "assistant", l...)
	case len(content) > 0 && t.Meta:
		add(t.ID+metaMark, "user", "isMeta", true, "message", said(content...))
	case len(content) > 0:
		add(t.ID, "user", "message", said(content...))
	}
	if len(answers) > 0 {
		add(t.ID+resultsMark, "user", "message", said(answers...))
	}
	if t.Stopped {
		add(t.ID+"/stop", "user", "message", said(store.Pairs("type", "text", "text", "[Request interrupted by user]")))
	}
	return out, parent
}

// blocks are what the message holds, and what the tools answered that it calls.
func (t HostMessage) blocks() (content, answers []store.Fields) {
	for _, b := range t.Blocks {
		switch {
		case b.Tool != "":
			input := json.RawMessage("{}")
			if json.Valid(b.Input) {
				input = MapStrings(b.Input, redact.Clean)
			}
			content = append(content, store.Pairs("type", "tool_use", "id", b.ID, "name", b.Tool, "input", input))
			if b.Answered {
				answers = append(answers,
					store.Pairs("type", "tool_result", "tool_use_id", b.ID, "content", redact.Clean(b.Answer), "is_error", b.Failed))
			}
		case b.Thought != "":
			content = append(content, store.Pairs("type", "thinking", "thinking", redact.Clean(b.Thought), "signature", ""))
		case b.Text != "":
			content = append(content, store.Pairs("type", "text", "text", redact.Clean(b.Text)))
		}
	}
	return content, answers
}

// answer is a message of the agent's. A model that calls no tool has ended its turn.
func (t HostMessage) answer(content []store.Fields) store.Fields {
	m := store.Pairs("id", t.ID, "role", "assistant")
	m.AddText("model", t.Model)
	m.Add("content", append([]store.Fields{}, content...))
	if !t.Summary && !t.Stopped && !slices.ContainsFunc(t.Blocks, func(b HostBlock) bool { return b.Tool != "" }) {
		m.Add("stop_reason", "end_turn")
	}
	if u := t.Usage; u != nil {
		m.Add("usage", store.Pairs("input_tokens", u.Input, "cache_creation_input_tokens", u.CacheCreation,
			"cache_read_input_tokens", u.CacheRead, "output_tokens", u.Output))
	}
	return m
}

func said(content ...store.Fields) store.Fields {
	return store.Pairs("role", "user", "content", content)
}

// Fresh reports whether the mirror was made when the session was last changed at that
// time, as [Mirror.Stamp] has noted it.
func (m Mirror) Fresh(at time.Time) bool {
	info, err := os.Stat(m.Path)
	return err == nil && info.ModTime().Equal(at.Add(edition))
}

// Stamp notes when the mirrored session was last changed, for [Mirror.Fresh].
func (m Mirror) Stamp(at time.Time) error {
	return os.Chtimes(m.Path, at.Add(edition), at.Add(edition))
}

// edition is part of each stamp. It is changed when more is mirrored than before, so that
// mirrors of an older program are not fresh any more.
const edition = time.Microsecond
