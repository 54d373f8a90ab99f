package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Bound of the backward reads. A turn's usage stands within the last lines;
// four megabytes also pass over a pasted image.
const tailBound = 4 << 20

// open opens a regular file for reading; a pipe would block a hook for ever.
func open(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("read %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// backward calls fn with the file's lines from the last to the first, until fn
// returns false or [tailBound] bytes were seen. Only whole lines are passed; the last
// one may lack its newline.
func backward(path string, fn func(line []byte) bool) error {
	f, size, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return backwardIn(f, size, fn)
}

func backwardIn(f io.ReaderAt, size int64, fn func(line []byte) bool) error {
	return store.LinesBack(f, size, tailBound, func(line []byte) bool { return fn(bytes.TrimPrefix(line, bom)) })
}

// TailUsage returns the usage of the last request of the main thread since the
// last compaction, read from the end of the file. The second result is false
// when there is none within the last megabytes.
func TailUsage(path string) (Usage, bool) { return tailUsage(path, false) }

// TailAgentUsage is TailUsage for a sub-agent's own file, which is one long side
// chain.
func TailAgentUsage(path string) (Usage, bool) { return tailUsage(path, true) }

func tailUsage(path string, agent bool) (Usage, bool) {
	var u Usage
	var found bool
	var r record
	err := backward(path, func(line []byte) bool {
		// Both hosts: anything without these words cannot matter, and most lines lack them.
		if !bytes.Contains(line, []byte(`"usage"`)) && !bytes.Contains(line, []byte(`"token_count"`)) && !compactLine(line) {
			return true
		}
		if !r.parse(line, "") {
			return true
		}
		if r.kind == Boundary && r.has(Sidechain) == agent {
			return false
		}
		if agent {
			r.flags &^= Sidechain
		}
		if v, ok := r.size(); ok {
			u, found = v, true
			u.Version = unescape(r.Version)
			return false
		}
		return true
	})
	return u, found && err == nil
}

// modelBound is how far into a file its host's word on the model is looked for: it stands
// before the first answer.
const modelBound = 1 << 20

// StatedModel is the model as Claude Code names it at the beginning of a session, with its
// mark of the large window, which answers lack; "" where it does not.
func StatedModel(path string) string {
	head, _ := bytesAt(path, 0, modelBound)
	at := bytes.Index(head, []byte(`"attachment":{"type":"model",`))
	if at < 0 {
		return ""
	}
	line := head[bytes.LastIndexByte(head[:at], '\n')+1:]
	line, _, whole := bytes.Cut(line, []byte("\n"))
	if !whole {
		return ""
	}
	return gjson.GetBytes(line, "attachment.identity.modelId").String()
}

// Growth is what the main thread's conversation has gained after its last usage,
// which does not count it yet, in bytes of what the model will read. A picture
// counts like a few thousand. seen reports whether the result of the tool call
// named last is among it: the host writes its files a little late.
func Growth(path, last string) (size int64, seen bool) {
	var r record
	_ = backward(path, func(line []byte) bool { // what cannot be read is not known
		if bytes.Contains(line, []byte(`"usage"`)) && r.parse(line, Claude) {
			if _, ok := r.size(); ok {
				return false
			}
		}
		if compactLine(line) && r.parse(line, Claude) && r.kind == Boundary && !r.has(Sidechain) {
			return false
		}
		kind := gjson.GetBytes(line, "type").String()
		if kind != "user" && kind != "attachment" || gjson.GetBytes(line, "isSidechain").Bool() {
			return true
		}
		if kind == "attachment" {
			size += int64(len(gjson.GetBytes(line, "attachment").Raw))
			return true
		}
		content := gjson.GetBytes(line, "message.content")
		size += contentSize(content)
		seen = seen || last != "" && content.Get(`#(tool_use_id=="`+last+`")`).Exists()
		return true
	})
	return size, seen
}

// pictureSize is the size of any picture. The host counts 2,000 tokens for one, however
// many bytes it has.
const pictureSize = 6_000

// contentSize is the size of what a model reads of a message.
func contentSize(v gjson.Result) int64 {
	switch {
	case v.Type == gjson.String:
		return int64(len(v.Str))
	case !v.IsArray():
		return int64(len(v.Raw))
	}
	var n int64
	v.ForEach(func(_, b gjson.Result) bool {
		switch b.Get("type").String() {
		case "image", "document":
			n += pictureSize
		case "tool_result":
			n += contentSize(b.Get("content"))
		default:
			n += int64(len(b.Raw))
		}
		return true
	})
	return n
}

// Calling reports whether the newest message of the main thread asks for tools
// that have not answered yet, and since when.
func Calling(path string) (since time.Time, ok bool) {
	_ = backward(path, func(line []byte) bool { // what cannot be read is not known
		kind := gjson.GetBytes(line, "type").String()
		if kind != "user" && kind != "assistant" || gjson.GetBytes(line, "isSidechain").Bool() {
			return true
		}
		if kind == "assistant" && gjson.GetBytes(line, `message.content.#(type=="tool_use")`).Exists() {
			since, ok = gjson.GetBytes(line, "timestamp").Time(), true
		}
		return false
	})
	return since, ok
}

// Newest asks the lines of a file, from the last on, until one tells.
func Newest(path string, tells func(line []byte) (yes, told bool)) (yes bool) {
	_ = backward(path, func(line []byte) (more bool) { // what cannot be read is not known
		var told bool
		yes, told = tells(line)
		return !told
	})
	return yes
}

// Stopped reports whether the user stopped the last turn of a session: whatever the
// file tells after it, no agent has spoken since. prompt is what he says next, which may
// stand there already. A message that he stops before its answer, Claude Code's terminal
// gives him back to be written anew: back is what it was.
func Stopped(path, prompt string) (back string, stopped bool) {
	stopped = Newest(path, func(line []byte) (yes, told bool) {
		l := gjson.ParseBytes(line)
		switch l.Get("type").String() {
		case "assistant":
			return false, true
		case "user":
			text := l.Get("message.content")
			if text.IsArray() {
				text = text.Get("0.text")
			}
			yes = host.InterruptedByUser(text.String())
			// One that was sent while a hook of the turn before still ran was queued.
			terminal := slices.Contains([]string{"typed", "queued", "suggestion_accepted"}, l.Get("promptSource").String())
			if terminal && text.String() != prompt && host.Typed(text.String()) != "" {
				back = text.String()
				return true, true
			}
			return yes, yes || !l.Get("isMeta").Bool() && text.String() != prompt && host.Typed(text.String()) != ""
		case "event_msg":
			yes = l.Get("payload.type").String() == "turn_aborted"
			return yes, yes
		case "response_item":
			return false, l.Get("payload.role").String() == "assistant" || strings.HasSuffix(l.Get("payload.type").String(), "_output")
		}
		return false, false
	})
	return back, stopped
}

// ToolAnswer is what a tool answered, as a session's file tells it.
type ToolAnswer struct {
	Text   string
	Failed bool
	Result json.RawMessage // in the host's own form; nil where the file has none
	At     time.Time       // when it was written down; zero where the file does not tell
}

// AnswerOf finds the answer to one use of a tool, which began when the file had that
// size. It stands among the next few lines, whatever came after.
func AnswerOf(path, id string, from int64) (a ToolAnswer, ok bool) {
	if id == "" {
		return a, false
	}
	lines, _ := bytesAt(path, from, tailBound)
	for line := range bytes.Lines(lines) {
		if !bytes.Contains(line, []byte(id)) || gjson.GetBytes(line, "type").String() != "user" || !store.ValidJSON(line) {
			continue
		}
		gjson.GetBytes(line, "message.content").ForEach(func(_, b gjson.Result) bool {
			if b.Get("type").String() != "tool_result" || b.Get("tool_use_id").String() != id {
				return true
			}
			a.Failed, ok = b.Get("is_error").Bool(), true
			if c := b.Get("content"); c.Type == gjson.String {
				a.Text = c.Str
			} else {
				a.Text = c.Get(`#(type=="text").text`).String()
			}
			if r := gjson.GetBytes(line, "toolUseResult"); r.IsObject() {
				a.Result = json.RawMessage(r.Raw)
			}
			a.At = gjson.GetBytes(line, "timestamp").Time()
			return false
		})
		if ok {
			break
		}
	}
	return a, ok
}

// NoteOf finds what the host wrote to the model when a command that a use of a tool had
// left in the background was over, and when. It looks at what the file has gained since
// it had that size, and says how far it came.
func NoteOf(path, id string, from int64) (note string, at time.Time, read int64) {
	data, from := bytesAt(path, from, tailBound)
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the writer is not done with it
		}
		from += int64(len(line))
		if !bytes.Contains(line, []byte("<task-notification>")) || !bytes.Contains(line, []byte(id)) || !store.ValidJSON(line) {
			continue
		}
		// It is queued first, and then said, in one of two ways.
		for _, key := range []string{"content", "message.content", "attachment.prompt"} {
			text := gjson.GetBytes(line, key)
			if text.Type == gjson.String && IsNoteOf(text.Str, id) {
				return text.Str, gjson.GetBytes(line, "timestamp").Time(), from
			}
		}
	}
	if len(data) >= tailBound && bytes.IndexByte(data, '\n') < 0 {
		from += int64(len(data)) // a line that no call would get past
	}
	return "", time.Time{}, from
}

// IsNoteOf reports whether a text is the host's note on that use of a tool.
func IsNoteOf(text, id string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "<task-notification>") && strings.Contains(text, "<tool-use-id>"+id+"</tool-use-id>")
}

// Noted is the use of a tool on which a text is the host's note: none where it is not.
func Noted(text string) CallID {
	_, rest, _ := strings.Cut(text, "<tool-use-id>")
	if id, _, ok := strings.Cut(rest, "</tool-use-id>"); ok && IsNoteOf(text, id) {
		return CallID{keyOf([]byte(id))}
	}
	return CallID{}
}

// bytesAt reads so much of a file from an offset on, nothing where it cannot be read. A file
// that is shorter is another, or was written anew, and read from its beginning.
func bytesAt(path string, from, most int64) (data []byte, at int64) {
	f, size, err := open(path)
	if err != nil {
		return nil, from
	}
	defer f.Close()
	if from > size {
		from = 0
	}
	data = make([]byte, min(size-from, most))
	if n, err := f.ReadAt(data, from); err != nil && n < len(data) {
		return nil, from
	}
	return data, from
}

// Version is the host's, as its newest lines tell it; "" where they do not.
func Version(path string) (version string) {
	_ = backward(path, func(line []byte) bool { // what cannot be read is not known
		if bytes.Contains(line, []byte(`"version":"`)) {
			version = gjson.GetBytes(line, "version").String()
		}
		return version == ""
	})
	return version
}

// CompactedAt is when the last compaction of the main thread was over, as the end of
// its file tells; the zero time where it tells of none.
func CompactedAt(path string) (at time.Time) {
	var r record
	_ = backward(path, func(line []byte) bool { // what cannot be read is not known
		if compactLine(line) && r.parse(line, "") && r.kind == Boundary && !r.has(Sidechain) {
			at = Time(r.Time)
			return false
		}
		return true
	})
	return at
}

func compactLine(line []byte) bool {
	return bytes.Contains(line, []byte("compact")) &&
		slices.ContainsFunc(boundaries[:], func(word string) bool { return bytes.Contains(line, []byte(word)) })
}

// LastCompaction searches the last compaction of the main thread in the last bytes of
// a file, as many as within says, and tells where the line after it begins.
func LastCompaction(path string, within int64) (after int64, ok bool) {
	f, size, err := open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	from := max(0, size-min(within, maxPart))
	lines, done := store.ReadLines(io.NewSectionReader(f, from, size-from), from)
	defer done()
	var r record
	for ln, more := lines.Next(); more; ln, more = lines.Next() {
		if compactLine(ln.B) && r.parse(ln.B, "") && r.kind == Boundary && !r.Side {
			after, ok = lines.Off, true
		}
	}
	return after, ok
}

// noise are the lines in which newer hosts keep what they sent, not what was said.
var noise = [...]string{"api-request-blob", "api-request-shape", "prompt_snapshot"}

// CountNoise adds up the whole lines from an offset on that are no conversation,
// within that many bytes, and says how far it came. It looks at the head of a
// line only: a hook has no time for more.
func CountNoise(path string, from, within int64) (size, read int64, err error) {
	f, end, err := open(path)
	if err != nil {
		return 0, from, err
	}
	defer f.Close()
	lines, done := store.ReadLines(io.NewSectionReader(f, from, min(end-from, within)), from)
	defer done()
	lines.Most = 1
	for read = from; ; read = lines.Off {
		ln, ok := lines.Next()
		if !ok || !ln.Ended {
			if read == from && ln.Size >= within {
				read = lines.Off // a line that no call would get past
			}
			return size, read, lines.Err
		}
		if head := ln.B[:min(len(ln.B), 512)]; slices.ContainsFunc(noise[:], func(kind string) bool {
			return bytes.Contains(head, []byte(kind)) && gjson.GetBytes(head, "type").String() == kind
		}) {
			size += ln.Size
		}
	}
}

// LastAssistantTexts returns the texts of the assistant messages among the last
// lines of a file, oldest first.
func LastAssistantTexts(path string, lines int) ([]string, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return AssistantTexts(f, size, lines)
}

// AssistantTexts is [LastAssistantTexts] of the first size bytes of f.
func AssistantTexts(f io.ReaderAt, size int64, lines int) ([]string, error) {
	var texts []string
	var r record
	err := backwardIn(f, size, func(line []byte) bool {
		if len(bytes.TrimSpace(line)) == 0 {
			return true
		}
		if lines--; lines < 0 {
			return false
		}
		if bytes.Contains(line, []byte(`"assistant`)) && r.parse(line, "") && r.kind == Assistant && r.text > 0 {
			if t := Text(line); t != "" {
				texts = append(texts, t)
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(texts)
	return texts, nil
}

// TimeBefore is the time of the last message before an offset, 0 where it is not
// known.
func TimeBefore(f io.ReaderAt, off int64, h Host) (ms int64) {
	var r record
	_ = backwardIn(f, off, func(line []byte) bool { // what cannot be read is not known
		if r.parse(line, h) && !r.has(Sidechain) && (r.kind != Other || h == Codex) {
			ms = r.Time
		}
		return ms == 0
	})
	return ms
}
