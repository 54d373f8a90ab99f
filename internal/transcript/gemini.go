package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// GeminiFile is a session file of Gemini CLI, read.
type GeminiFile struct {
	Session, Title, CWD string
	Agent               bool
	Messages            []HostMessage
}

const maxGemini = 256 << 20

// ReadGemini reads a session file. Its lines say what was added, and now and then what
// there is altogether: at the start, when the session is resumed, and after a
// compression, which gives what stays new names.
func ReadGemini(path string) (GeminiFile, error) {
	data, err := GeminiLines(path)
	if err != nil {
		return GeminiFile{}, err
	}
	r := geminiReader{at: map[string]int{}}
	for line := range bytes.Lines(data) {
		if store.ValidJSON(line) {
			r.line(gjson.ParseBytes(line))
		}
	}
	return r.GeminiFile, nil
}

// GeminiLines is a session file in lines. Versions before wrote one object with all
// messages in it, which the host still reads.
func GeminiLines(path string) ([]byte, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxGemini {
		return nil, fmt.Errorf("%s: too long a session", path)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, bom)
	if !strings.HasSuffix(path, geminiWhole) {
		return data, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	whole := gjson.ParseBytes(b.Bytes())
	var about []string
	whole.ForEach(func(key, v gjson.Result) bool {
		if key.Str != "messages" {
			about = append(about, key.Raw+":"+v.Raw)
		}
		return true
	})
	lines := []string{"{" + strings.Join(about, ",") + "}"}
	whole.Get("messages").ForEach(func(_, m gjson.Result) bool {
		if geminiSnapshot(m) {
			lines = append(lines, `{"$set":{"messages":[`+m.Raw+`]}}`)
		} else {
			lines = append(lines, m.Raw)
		}
		return true
	})
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// geminiStopped is what the host tells its user after Esc (seen on 0.61).
const geminiStopped = "Request cancelled."

// geminiWhole ends the names of files that are one object.
const geminiWhole = ".json"

// geminiSnapshot reports what a compression has left.
func geminiSnapshot(m gjson.Result) bool {
	return strings.HasPrefix(strings.TrimSpace(geminiText(m.Get("content"))), "<state_snapshot>")
}

type geminiReader struct {
	GeminiFile
	at  map[string]int // where a message stands in Messages; -1 where it is told in another place
	pre int64
}

func (r *geminiReader) line(l gjson.Result) {
	switch set := l.Get("$set"); {
	case l.Get("sessionId").Exists():
		r.Session = l.Get("sessionId").String()
		r.Agent = l.Get("kind").String() == "subagent"
		r.about(l)
	case set.Exists():
		r.about(set)
		r.altogether(set.Get("messages"))
	case l.Get("$rewindTo").Exists():
		if i, ok := r.at[l.Get("$rewindTo").String()]; ok && i >= 0 {
			for _, t := range r.Messages[i:] {
				delete(r.at, t.ID)
			}
			r.Messages = r.Messages[:i]
		}
	case l.Get("id").Exists():
		r.message(l)
	}
}

func (r *geminiReader) about(v gjson.Result) {
	if t := v.Get("summary").String(); t != "" {
		r.Title = t
	}
	if d := v.Get("directories.0").String(); d != "" {
		r.CWD = d
	}
}

// altogether takes a line that holds the whole session. Of its new messages, only those
// at the beginning of the file and summaries are taken.
func (r *geminiReader) altogether(list gjson.Result) {
	first := len(r.Messages) == 0
	snapshot := ""
	list.ForEach(func(_, m gjson.Result) bool {
		id := m.Get("id").String()
		_, known := r.at[id]
		switch {
		case known:
		case geminiSnapshot(m):
			snapshot = id
			r.at[id] = len(r.Messages)
			r.Messages = append(r.Messages, HostMessage{
				ID: id, Time: m.Get("timestamp").Time().UnixMilli(), Summary: true, Trigger: "auto", Pre: r.pre,
				Blocks: []HostBlock{{Text: geminiText(m.Get("content"))}},
			})
		case first && snapshot == "":
			r.message(m)
		default:
			r.at[id] = -1
		}
		return true
	})
}

func (r *geminiReader) message(m gjson.Result) {
	t := HostMessage{ID: m.Get("id").String(), Time: m.Get("timestamp").Time().UnixMilli(), Agent: m.Get("type").String() == "gemini"}
	switch m.Get("type").String() {
	case "user":
		text := strings.TrimSpace(geminiText(m.Get("content")))
		t.Meta = strings.HasPrefix(text, "<session_context>")
		if text = withoutContext(text); text != "" {
			t.Blocks = []HostBlock{{Text: text}}
		}
	case "gemini":
		t.Model = m.Get("model").String()
		m.Get("thoughts").ForEach(func(_, v gjson.Result) bool {
			if said := strings.TrimSpace(v.Get("subject").String() + "\n" + v.Get("description").String()); said != "" {
				t.Blocks = append(t.Blocks, HostBlock{Thought: said})
			}
			return true
		})
		if text := geminiText(m.Get("content")); text != "" {
			t.Blocks = append(t.Blocks, HostBlock{Text: text})
		}
		m.Get("toolCalls").ForEach(func(_, c gjson.Result) bool {
			t.Blocks = append(t.Blocks, geminiCall(c))
			t.Stopped = t.Stopped || c.Get("status").String() == "cancelled"
			return true
		})
		if u := m.Get("tokens"); u.Exists() {
			cached, said := u.Get("cached").Int(), u.Get("output").Int()+u.Get("thoughts").Int()
			t.Usage = &Usage{Input: u.Get("input").Int() - cached, CacheRead: cached, Output: said}
			r.pre = t.Usage.Tokens()
		}
	case "info":
		if t.Stopped = m.Get("content").String() == geminiStopped; !t.Stopped {
			return
		}
	default:
		return
	}
	if i, known := r.at[t.ID]; known {
		if i >= 0 && !r.Messages[i].Summary {
			r.Messages[i] = t
		}
		return
	}
	r.at[t.ID] = len(r.Messages)
	r.Messages = append(r.Messages, t)
}

func geminiText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var list []string
	content.ForEach(func(_, p gjson.Result) bool {
		if s := p.Get("text"); s.Exists() {
			list = append(list, s.String())
		}
		return true
	})
	return strings.Join(list, "\n")
}

// withoutContext is what a user said without what hooks added to it.
func withoutContext(text string) string {
	for {
		before, rest, ok := strings.Cut(text, "<hook_context>")
		_, after, closed := strings.Cut(rest, "</hook_context>")
		if !ok || !closed {
			return strings.TrimSpace(text)
		}
		text = before + after
	}
}

func geminiCall(c gjson.Result) HostBlock {
	b := HostBlock{ID: c.Get("id").String(), Tool: c.Get("name").String(), Input: json.RawMessage(c.Get("args").Raw)}
	answer := c.Get("result.0.functionResponse.response")
	if !answer.Exists() {
		return b
	}
	b.Answered, b.Answer = true, answer.Get("output").String()
	if e := answer.Get("error"); e.Exists() {
		b.Failed, b.Answer = true, e.String()
	}
	switch b.Answer = withoutContext(b.Answer); b.Tool {
	case "run_shell_command":
		output, exit := host.GeminiEnd(b.Answer)
		if b.Answer = output; exit != nil && *exit != 0 {
			b.Failed, b.Answer = true, exitPrefix+strconv.Itoa(*exit)+"\n"+output
		}
	case "ask_user": // {"answers":{"0":"…"}}; a question that is put away has none
		var said []string
		gjson.Get(b.Answer, "answers").ForEach(func(_, v gjson.Result) bool { said = append(said, v.String()); return true })
		if b.Failed = b.Failed || said == nil; !b.Failed {
			b.Answer = strings.Join(said, "\n")
		}
	case "exit_plan_mode": // as 0.61 shows it: approved, put away, or refused
		b.Failed = b.Failed || !strings.HasPrefix(c.Get("resultDisplay").String(), "Plan approved: ")
	}
	return b
}

// GeminiSession finds the file that a session is kept in: its folder, and its id. After
// a resume the host names another one, which stays empty; lines go on what one object
// has begun.
func GeminiSession(folder, id string) string {
	best, most := "", int64(0)
	for _, path := range GeminiFiles(folder) {
		info, err := os.Stat(path)
		head := geminiHead(path)
		if err != nil || !bytes.Contains(head, []byte(`"`+id+`"`)) {
			continue
		}
		more := 2 * (info.Size() - int64(len(head)) - 1) // behind the first line
		if strings.HasSuffix(path, geminiWhole) {
			more = 1
		}
		if more > most || best == "" {
			best, most = path, more
		}
	}
	return best
}

// GeminiFiles are the session files in a folder.
func GeminiFiles(folder string) []string {
	whole, _ := filepath.Glob(filepath.Join(folder, "session-*"+geminiWhole)) // the patterns are good ones
	files, _ := filepath.Glob(filepath.Join(folder, "session-*.jsonl"))
	return append(whole, files...)
}

// geminiHead is the beginning of a file, which names its session.
func geminiHead(path string) []byte {
	head, _ := bytesAt(path, 0, 4<<10)
	if head = bytes.TrimPrefix(head, bom); !strings.HasSuffix(path, geminiWhole) {
		head, _, _ = bytes.Cut(head, []byte("\n"))
	}
	return head
}

// GeminiAbout is what the first line of a session file tells.
func GeminiAbout(path string) (GeminiFile, error) {
	f, _, err := open(path)
	if err != nil {
		return GeminiFile{}, err
	}
	f.Close()
	head, r := geminiHead(path), geminiReader{at: map[string]int{}}
	if strings.HasSuffix(path, geminiWhole) {
		data, err := GeminiLines(path)
		if err != nil {
			return GeminiFile{}, err
		}
		head, _, _ = bytes.Cut(data, []byte("\n"))
	}
	r.line(gjson.ParseBytes(head))
	return r.GeminiFile, nil
}

// GeminiMirror is the mirror of a session file below root.
func GeminiMirror(root, path string, g GeminiFile) Mirror {
	m := Mirror{Host: Gemini, Session: filepath.Base(g.Session), CWD: g.CWD, Title: g.Title, Agent: g.Agent}
	m.Path = host.Of(Gemini).SessionPath(root, m.CWD, m.Session+".jsonl")
	if g.Agent { // chats/PARENT/ID.jsonl
		m.Path = filepath.Join(filepath.Dir(m.Path), filepath.Base(filepath.Dir(path)), m.Session+".jsonl")
	}
	return m
}

// MirrorGemini brings the mirror of a session up to date, from the files in its folder;
// path is the mirror, "" where there is no such session. over says that the turn has
// ended: until then the host may write the agent's newest message again, with the calls
// of tools in it.
//
// What stands at the end of the mirror is looked for from the end of the session's file
// on, so a call costs what was added since, however long the file is. The whole file is
// read for the first mirror, and where the host has written everything anew.
func MirrorGemini(root, folder, id, cwd string, over bool) (path string, err error) {
	file := GeminiSession(folder, id)
	if file == "" {
		return "", nil
	}
	g, err := GeminiAbout(file)
	if err != nil {
		return "", err
	}
	if g.Session = id; cwd != "" {
		g.CWD = cwd
	}
	m := GeminiMirror(root, file, g)
	if list, title, ok := m.geminiNews(file, over); ok {
		m.Title = title
		_, err = m.Add(list, false)
		return m.Path, err
	}
	if g, err = ReadGemini(file); err != nil {
		return "", err
	}
	m.Title = g.Title
	return m.Path, m.Write(g.Messages)
}

// geminiNews are the messages that the session's file has beyond the mirror, behind the
// one that the mirror ends with; ok is false where only the whole file can tell.
func (m Mirror) geminiNews(file string, over bool) (list []HostMessage, title string, ok bool) {
	end := m.ending()
	newest := end.message
	if newest == "" || strings.HasSuffix(file, geminiWhole) {
		return nil, "", false
	}
	r := geminiReader{at: map[string]int{}}
	var lines []gjson.Result
	_ = backward(file, func(line []byte) bool { // what cannot be read is not known
		if !store.ValidJSON(line) {
			return true
		}
		l := gjson.Parse(string(line))
		switch altogether := l.Get("$set.messages"); {
		case l.Get("$rewindTo").Exists():
			return false
		case altogether.Exists():
			// These messages stand in lines of their own, too.
			for _, id := range altogether.Get("#.id").Array() {
				r.at[id.String()] = -1
				ok = ok || id.String() == newest
			}
			return false
		case l.Get("id").String() == newest:
			ok = true
			r.line(l)
			return false
		}
		lines = append(lines, l)
		return true
	})
	if !ok || len(r.Messages) > 0 && r.Messages[0].answers() != end.answers {
		return nil, "", false
	}
	last := newest
	for _, l := range slices.Backward(lines) {
		r.line(l)
		if id := l.Get("id"); id.Exists() {
			last = id.String()
		}
	}
	list = r.Messages
	if n := len(list) - 1; !over && n >= 0 && list[n].Agent && list[n].ID == last && last != newest {
		list = list[:n]
	}
	if len(list) == 0 || list[0].ID != newest {
		list = append([]HostMessage{{ID: newest}}, list...)
	}
	return list, r.Title, true
}

func (t HostMessage) answers() (n int) {
	for _, b := range t.Blocks {
		if b.Answered {
			n++
		}
	}
	return n
}
