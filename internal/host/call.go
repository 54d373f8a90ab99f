package host

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Call is one call of a hook, in words that every host shares. What a host does
// not tell is empty.
type Call struct {
	// Event is the hook, as `overtone hook` names it.
	Event      string
	Session    string
	Cwd        string
	Transcript string
	Model      string
	Turn       string // the host's name for the turn
	PromptID   string // and for the prompt that began it
	// AgentID is set on calls from inside a sub-agent; AgentType is what kind of
	// agent began or ended.
	AgentID, AgentType string
	// Prompt is what was said to the agent; Note marks words that the host
	// itself sends in the user's place.
	Prompt string
	Note   bool
	// Source is how a session began, Reason how it ended, Trigger who asked for
	// a compaction.
	Source, Reason, Trigger string
	// Instructions are what a person typed behind /compact.
	Instructions string
	// Answer is the last thing that the agent, or sub-agent, said; AnswerFile
	// where a sub-agent's words can be read instead.
	Answer, AnswerFile string
	// Summary is what a compaction leaves of the conversation, told by whichever
	// call knows it first.
	Summary string
	// Again: an earlier hook of this kind has sent the agent back already.
	Again bool
	// Background are the sub-agents at work behind the main thread, if the host
	// lists them.
	Background []string
	Lists      bool
	// Shells are the commands that run behind it, if the host lists them.
	Shells []string
	// Planning: the person wants a plan, and nothing done.
	Planning bool
	// Batch is the tools that have ended together.
	Batch Batch
	// Used and Window are the context's, in tokens.
	Used, Window int64
	Tool         Tool
}

// Batch is how much a round of tools gave the model to read, in bytes, and the
// last of them.
type Batch struct {
	Bytes int64
	Last  string
}

// Main reports whether the call comes from the main thread.
func (c *Call) Main() bool { return c.AgentID == "" }

// Tool is the use of a tool that a call is about.
type Tool struct {
	Name string // the host's
	ID   string // of this use
	Kind Kind
	// Input and Response are as the host wrote them.
	Input, Response json.RawMessage
	// Command is a shell command line; File what is changed, Content its text.
	Command, File, Content string
	// Output and Exit are how a command ended; Exit is nil where nobody knows.
	// Took is how long it ran, if Timed.
	Output string
	Exit   *int
	Took   time.Duration
	Timed  bool
	// RunsOn: the command goes on in the background, and has not ended.
	RunsOn bool
	// Error is what a tool said that failed.
	Error string
	Agent Agent
	// Done is what the tool's end tells, beside a command's.
	Done []Event
}

// Signals reports whether the tool's end tells where the work stands.
func (t Tool) Signals() bool { return t.Kind == ShellTool || len(t.Done) > 0 }

// Agent is the hand-over of work to a sub-agent, and what came of it.
type Agent struct {
	Type   string
	Prompt string
	Async  bool // is to work in the background
	// ID is the agent that did the work, was woken by a message or was ended.
	ID       string
	Launched bool // it has begun, in the background
	Text     string
	Died     bool // it ended by an error of the model's server
	// Dead are the agents, of those that were waited for, which will not answer any
	// more, and Alive those that are at work.
	Dead, Alive []string
}

// payload is a hook's input in the form that Claude Code gave it and that other
// hosts have taken over.
type payload struct {
	call                  Call
	input, response, took gjson.Result
}

// readPayload takes the payload apart in one pass. A field of a wrong type
// reads as missing.
func readPayload(event string, data []byte) payload {
	p := payload{call: Call{Event: event}}
	c := &p.call
	var older string // the prompt, in an older form
	texts := map[string]*string{
		"session_id": &c.Session, "cwd": &c.Cwd, "transcript_path": &c.Transcript, "model": &c.Model, "turn_id": &c.Turn, "prompt_id": &c.PromptID,
		"agent_id": &c.AgentID, "agent_type": &c.AgentType, "prompt": &c.Prompt, "user_prompt": &older, "source": &c.Source, "reason": &c.Reason,
		"trigger": &c.Trigger, "custom_instructions": &c.Instructions, "last_assistant_message": &c.Answer, "compact_summary": &c.Summary,
		"agent_transcript_path": &c.AnswerFile, "tool_name": &c.Tool.Name, "tool_use_id": &c.Tool.ID, "error": &c.Tool.Error,
	}
	gjson.ParseBytes(data).ForEach(func(key, v gjson.Result) bool {
		if s := texts[key.Str]; s != nil {
			if key.Str == "model" && v.IsObject() { // the status line's
				v = v.Get("id")
			}
			*s = text(v)
			return true
		}
		switch key.Str {
		case "tool_input":
			p.input = v
		case "tool_response":
			p.response = v
		case "duration_ms":
			p.took = v
		case "permission_mode":
			c.Planning = v.Str == "plan"
		case "stop_hook_active":
			c.Again = v.Bool()
		case "background_tasks":
			c.Lists = true
			for _, t := range v.Array() {
				switch id := t.Get("id").String(); {
				case t.Get("status").String() != "running":
				case t.Get("type").String() == "shell":
					c.Shells = append(c.Shells, id)
				default:
					c.Background = append(c.Background, id)
				}
			}
		case "tool_calls":
			for _, t := range v.Array() {
				c.Batch.Bytes += answerSize(t.Get("tool_response"))
				c.Batch.Last = t.Get("tool_use_id").String()
			}
		case "context_window":
			// The answer is a part of the context, too, as everywhere else.
			c.Window, c.Used = v.Get("context_window_size").Int(), v.Get("total_input_tokens").Int()+v.Get("current_usage.output_tokens").Int()
		}
		return true
	})
	c.Prompt = cmp.Or(c.Prompt, older)
	t := &c.Tool
	t.Kind = kindOf(t.Name)
	t.Input, t.Response = raw(p.input), raw(p.response)
	if p.took.Type == gjson.Number {
		t.Took, t.Timed = time.Duration(p.took.Int())*time.Millisecond, true
	}
	line := text(p.input.Get("command"))
	if t.Name == "PowerShell" && plainWords(line) {
		t.Kind = ShellTool
	}
	switch t.Kind {
	case ShellTool:
		t.Command = line
	case EditTool, WriteTool:
		t.File = cmp.Or(text(p.input.Get("file_path")), text(p.input.Get("notebook_path")))
		t.Content = text(p.input.Get("content"))
	}
	return p
}

// plainWords reports whether a line means the same to every shell.
func plainWords(line string) bool {
	return line != "" && !strings.ContainsFunc(line, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune(" ./:=_-", r)
	})
}

// answerSize is how much of a tool's answer the model reads. A picture's bytes
// say nothing about that.
func answerSize(v gjson.Result) int64 {
	if !v.IsArray() {
		return int64(len(v.Raw))
	}
	var n int64
	for _, b := range v.Array() {
		if text := b.Get("text"); text.Exists() {
			n += int64(len(text.Raw))
		} else {
			n += 6_000
		}
	}
	return n
}

func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return strings.ToValidUTF8(v.String(), "\uFFFD")
}

func raw(v gjson.Result) json.RawMessage {
	if !v.Exists() {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// edited is what the end of a tool tells that may have changed files; "" is none.
func edited(files ...string) []Event {
	events := []Event{ToolActivity{}}
	for _, f := range files {
		if f != "" {
			events = append(events, FileChanged{File: f})
		}
	}
	return events
}

// exitCode reads the status that an error message begins with.
func exitCode(message string) int {
	line, _, _ := strings.Cut(message, "\n")
	if code, ok := strings.CutPrefix(line, "Exit code "); ok {
		if n, err := strconv.Atoi(strings.TrimSpace(code)); err == nil {
			return n
		}
	}
	return 1
}

// contentText is the text of a message's content: a string, or blocks.
func contentText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.String()
	}
	var texts []string
	for _, b := range content.Array() {
		if b.Get("type").String() == "text" {
			texts = append(texts, b.Get("text").String())
		}
	}
	return strings.ToValidUTF8(strings.Join(texts, "\n"), "\uFFFD")
}
