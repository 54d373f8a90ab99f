// Package transcript reads and clones the session files of coding agents:
// Claude Code's JSONL, Codex's rollouts, Copilot's events, and the mirrors of hosts that
// have no such files.
//
// Events tells what happened in a session, in words that all formats share: who said
// what and in which way, which tools ran and how they ended, what was used, when the
// context was compacted. Whatever reads the meaning of a session stands on it.
//
// One file for each format (claude.go, codex.go, copilot.go) takes a line apart into
// a record. Events, the index, the check of a clone and what a search reads are all
// made of records.
//
// Cloning works on lines and bytes. Read makes one pass over a file of any size and
// keeps an index: some sixty bytes per entry and no text. From the index come the
// live context (what the host would send to the model on resume), the turns, the
// usage, the compactions. Lines that cannot be read are kept in place and counted,
// never dropped. The tail functions answer a hook's questions from the end of the
// file, at a cost that does not grow with it.
//
// A clone is a copy in which only the named spans differ; every other byte is
// the source's. Nothing in this package opens a host's session file for writing: the
// clone is a new file, put in place by rename, and a mirror is ours.
//
// The package has no opinion about what should be compressed.
package transcript

import (
	"bytes"
	"cmp"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Host names the agent that wrote a file, and with it the file's format.
type Host = host.Name

const (
	Claude  Host = host.ClaudeCode
	Codex   Host = host.Codex
	Copilot Host = host.Copilot
	// These two are read from their mirrors, see [Mirror].
	Opencode Host = host.Opencode
	Gemini   Host = host.Gemini
)

// chained reports whether a host's files have Claude Code's form: entries name the one
// that they hang under.
func chained(h Host) bool { return h == Claude || h == Opencode || h == Gemini }

// boundaries are the words by which a line can tell of a compaction.
var boundaries = [...]string{`"compact_boundary"`, `"compacted"`, `"` + copilotCompacted + `"`}

// idFromName takes the id from a file's name: <id>.jsonl,
// rollout-<time>-<id>.jsonl, or <id>/events.jsonl.
func idFromName(path string, h Host) string {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	switch h {
	case Codex:
		if !strings.HasPrefix(name, "rollout-") || len(name) < 36 {
			return ""
		}
		return name[len(name)-36:]
	case Copilot:
		return filepath.Base(filepath.Dir(path))
	default:
		return name
	}
}

// Kind is what an entry is, for all hosts.
type Kind uint8

const (
	Other      Kind = iota // metadata, events, unknown types
	User                   // a user message: a prompt, or tool results on Claude
	Assistant              // an assistant message
	System                 // a system line, a developer message
	Attachment             // part of the parent chain, not a message
	Progress               // part of the parent chain, never sent
	Boundary               // a compaction: what precedes it is no longer sent
	Micro                  // old tool results were cleared; the chain goes on
	Call                   // Codex: a tool call
	Output                 // Codex: a tool's output
	Reasoning              // Codex: a reasoning item
)

// Flags are an entry's marks.
type Flags uint16

const (
	Sidechain  Flags = 1 << iota // belongs to a sub-agent
	Meta                         // written by the host, not by a person
	Summary                      // the summary a compaction left
	APIError                     // an error shown as a message
	Synthetic                    // made by the host without a model
	Command                      // slash-command or local-command text, reminders, injected context
	Marked                       // compressed before
	TurnStart                    // a prompt: a turn begins here
	ToolUse                      // holds tool calls
	ToolResult                   // holds tool results
	Thinking                     // holds readable thinking
	Image                        // holds an image
	Preserved                    // named by the last compaction as kept
	Node                         // has a uuid: part of the tree
	Named                        // some compaction names it as kept: it must not go
	Spoken                       // holds what a tool asked the user, or his words with a refusal
)

// Entry is one JSON object of the file. It holds no text: Off and Len say
// where the object is.
type Entry struct {
	Off    int64
	Time   int64 // Unix milliseconds, 0 when absent
	Len    int32
	Line   int32 // 1-based; two entries of one glued line share it
	Parent int32 // index of the parent entry, or noParent or Dangling
	Text   int32 // UTF-16 units of the message text, blocks joined by newlines
	Tool   int32 // bytes of tool input and output
	Think  int32 // bytes of thinking
	msg    int32 // index of its message.id, 0 for none
	tool0  int32 // first of its tool references
	Kind   Kind
	Flags  Flags
}

const (
	noParent = -1
	dangling = -2
)

// Has reports whether all marks of f are set.
func (e *Entry) Has(f Flags) bool { return e.Flags&f == f }

// Usage is what the model reported about one request.
type Usage struct {
	Input, CacheCreation, CacheRead, Output int64
	// Window is the model's context window where the file says it (Codex).
	Window int64
	Model  string
	// Version is the host's (Claude Code).
	Version string
}

// Tokens is the context size after that request.
func (u Usage) Tokens() int64 { return u.Input + u.CacheCreation + u.CacheRead + u.Output }

// Compaction is one boundary of the file.
type Compaction struct {
	Entry int   // index into Entries
	End   int64 // offset of the first byte after the boundary's line
}

// Turn is a range of a list of entries, both ends included.
type Turn struct {
	Start int `json:"startIndex"`
	End   int `json:"endIndex"`
}

// Time converts an entry's time; the zero time when it has none.
func Time(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// parseTime reads a timestamp as hosts write it. It is 0 where there is none. Many programs
// write the year one for no time, and that is 0, too.
func parseTime(raw []byte) int64 {
	t, err := time.Parse(time.RFC3339Nano, string(raw))
	if err != nil {
		return 0
	}
	return max(t.UnixMilli(), 0)
}

// hostIn tells whose file it is.
func hostIn(f io.ReaderAt) (Host, error) {
	lines, done := store.ReadLines(io.NewSectionReader(f, 0, 256<<10), 0)
	defer done()
	for range 64 {
		ln, ok := lines.Next()
		if !ok {
			break
		}
		if h, ok := detectLine(ln.B); ok {
			return h, nil
		}
	}
	return "", cmp.Or(lines.Err, ErrUnknown)
}

func detectLine(line []byte) (Host, bool) {
	c := cursor{b: bytes.TrimPrefix(line, bom)}
	if !c.open('{') {
		return "", false
	}
	var typ, payload, data, uuid, rec, id, stamp, mirrored []byte
	// A head cut in mid-line still names its fields: what is cut is empty, not nil.
	c.read(str("type", &typ), raw("payload", &payload), raw("data", &data), raw("uuid", &uuid), raw("leafUuid", &uuid),
		raw("parentUuid", &uuid), raw("messageId", &uuid), raw("sessionId", &uuid), raw("record_type", &rec),
		raw("id", &id), raw("timestamp", &stamp), str("host", &mirrored))
	object := func(v []byte) bool { return v != nil && (len(v) == 0 || v[0] == '{') }
	switch {
	case string(mirrored) == string(Opencode), string(mirrored) == string(Gemini):
		return Host(mirrored), true
	case rec != nil:
		return Codex, true
	case uuid != nil:
		return Claude, true
	case object(data) && bytes.IndexByte(typ, '.') > 0:
		return Copilot, true
	case object(payload) && typ != nil, typ == nil && id != nil && stamp != nil:
		return Codex, true
	}
	switch string(typ) {
	case "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call":
		return Codex, true
	case "user", "assistant", "system", "summary", "custom-title", "ai-title", "last-prompt", "mode", "permission-mode", "queue-operation":
		return Claude, true
	}
	return "", false
}
