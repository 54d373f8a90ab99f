package host

import (
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"

	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// ClaudeStream translates what a headless Claude Code prints, line by line. A
// tool's name and input come with its call, all else with its result, so calls
// are remembered in between.
type ClaudeStream struct {
	model string
	calls map[string]claudeCall
}

type claudeCall struct {
	name  string
	input gjson.Result
}

// ClaudeLine is one line of the stream.
type ClaudeLine struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	UUID    string `json:"uuid"`
	Cwd     string `json:"cwd"`
	// Compact is told with a compaction.
	Compact struct {
		Before int64 `json:"pre_tokens"`
		After  int64 `json:"post_tokens"`
	} `json:"compact_metadata"`
	// Answer is that to a control request.
	Answer struct {
		ID       string `json:"request_id"`
		Response struct {
			Total int64 `json:"totalTokens"`
			Max   int64 `json:"rawMaxTokens"`
		} `json:"response"`
	} `json:"response"`

	// Events are what the line says of the main thread. A compaction is none of
	// them: only who asked for it knows whose it was.
	Events []Event `json:"-"`
}

// Init: the conversation has a name, or goes on under one.
func (l ClaudeLine) Init() bool { return l.Type == "system" && l.Subtype == "init" }

// Compacted: the context was compacted.
func (l ClaudeLine) Compacted() bool { return l.Type == "system" && l.Subtype == "compact_boundary" }

// Result: the turn is over.
func (l ClaudeLine) Result() bool { return l.Type == "result" }

// Usage is the answer to the request with this id for the context's size. It is
// false for every other line; what it does not tell is not known.
func (l ClaudeLine) Usage(id string) (UsageSeen, bool) {
	if l.Type != "control_response" || l.Answer.ID != id {
		return UsageSeen{}, false
	}
	r := l.Answer.Response
	if r.Total <= 0 || r.Max <= 0 {
		return UsageSeen{Used: -1}, true
	}
	return UsageSeen{Used: r.Total, Window: r.Max}, true
}

// Read translates one line; false for one that is none.
func (s *ClaudeStream) Read(raw []byte) (ClaudeLine, bool) {
	var l ClaudeLine
	if json.Unmarshal(raw, &l) != nil {
		return ClaudeLine{}, false
	}
	line := gjson.ParseBytes(raw)
	switch {
	case l.Init():
		s.model = text(line.Get("model"))
		l.Events = []Event{SessionSeen{Model: s.model}}
	case text(line.Get("parent_tool_use_id")) != "":
		// A sub-agent's words and deeds are not the main thread's.
	case l.Type == "assistant":
		l.Events = s.said(line)
	case l.Type == "user" && !line.Get("isReplay").Bool():
		l.Events = s.done(line)
	case l.Result():
		line.Get("modelUsage").ForEach(func(name, m gjson.Result) bool {
			if w := m.Get("contextWindow").Int(); name.Str == s.model && w > 0 {
				l.Events = append(l.Events, SessionSeen{Window: w})
			}
			return true
		})
	}
	return l, true
}

func (s *ClaudeStream) said(line gjson.Result) []Event {
	var out []Event
	if u := line.Get("message.usage"); u.IsObject() {
		var used int64
		for _, k := range []string{"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"} {
			used += u.Get(k).Int()
		}
		out = append(out, UsageSeen{Used: used})
	}
	line.Get("message.content").ForEach(func(_, b gjson.Result) bool {
		switch b.Get("type").Str {
		case "text":
			out = append(out, AgentMessage{Text: text(b.Get("text"))})
		case "tool_use":
			if s.calls == nil {
				s.calls = map[string]claudeCall{}
			}
			s.calls[b.Get("id").Str] = claudeCall{text(b.Get("name")), b.Get("input")}
		}
		return true
	})
	return out
}

// done are the tools whose results a line brings.
func (s *ClaudeStream) done(line gjson.Result) []Event {
	var out []Event
	result := line.Get("tool_use_result")
	line.Get("message.content").ForEach(func(_, b gjson.Result) bool {
		id := b.Get("tool_use_id").Str
		call, ok := s.calls[id]
		if b.Get("type").Str != "tool_result" || !ok {
			return true
		}
		delete(s.calls, id)
		failed := b.Get("is_error").Bool()
		if kindOf(call.name) == ShellTool {
			o := shellcmd.Observation{Line: text(call.input.Get("command")), Output: contentText(b.Get("content"))}
			o.Ended, _ = time.Parse(time.RFC3339Nano, line.Get("timestamp").Str)
			o.Exit = claudeExit(o.Output, failed, result)
			out = append(out, CommandFinished{ID: id, Observation: o})
			return true
		}
		if events := claudeDone(call.name, call.input, result, failed); events != nil {
			out = append(out, events...)
		} else {
			out = append(out, ToolActivity{})
		}
		return true
	})
	return out
}
