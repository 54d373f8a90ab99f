package watch

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// What we read of Claude Code's stream.
type (
	wireEvent struct {
		Type    string          `json:"type"`
		Subtype string          `json:"subtype"`
		Session string          `json:"session_id"`
		UUID    string          `json:"uuid"`
		Cwd     string          `json:"cwd"`
		Model   string          `json:"model"`
		Parent  string          `json:"parent_tool_use_id"`
		Message wireMessage     `json:"message"`
		Result  string          `json:"result"`
		IsError bool            `json:"is_error"`
		Time    time.Time       `json:"timestamp"`
		Tool    json.RawMessage `json:"tool_use_result"`
		Replay  bool            `json:"isReplay"`
		Models  map[string]struct {
			Window int64 `json:"contextWindow"`
		} `json:"modelUsage"`
		Compact  wireBoundary `json:"compact_metadata"`
		Response struct {
			ID       string `json:"request_id"`
			Response struct {
				Total int64 `json:"totalTokens"`
				Max   int64 `json:"rawMaxTokens"`
			} `json:"response"`
		} `json:"response"`
	}
	wireBoundary struct {
		Trigger string `json:"trigger"`
		Pre     int64  `json:"pre_tokens"`
		Post    int64  `json:"post_tokens"`
	}
	wireMessage struct {
		Content json.RawMessage `json:"content"`
		Usage   *struct {
			Input         int64 `json:"input_tokens"`
			CacheRead     int64 `json:"cache_read_input_tokens"`
			CacheCreation int64 `json:"cache_creation_input_tokens"`
			Output        int64 `json:"output_tokens"`
		} `json:"usage"`
	}
	wireBlock struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Input   wireCallInput   `json:"input"`
		UseID   string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
	}
	wireCallInput struct {
		Command  string `json:"command"`
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Todos    []struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		} `json:"todos"`
		Task    string `json:"taskId"`
		Subject string `json:"subject"`
		Status  string `json:"status"`
	}
	wireCall struct {
		name  string
		input wireCallInput
	}
)

// event takes one line and returns its type. Lines that are no events are
// skipped.
func (w *Claude) event(line []byte) string {
	var e wireEvent
	if json.Unmarshal(line, &e) != nil {
		return ""
	}
	switch {
	case e.Type == "system" && e.Subtype == "init":
		w.named(e)
	case w.sess == nil:
	case e.Type == "system" && e.Subtype == "compact_boundary":
		w.boundary(e)
	case e.Type == "assistant" && e.Parent == "":
		w.said(e)
	case e.Type == "user" && e.Parent == "" && !e.Replay:
		w.results(e)
	case e.Type == "result":
		for name, m := range e.Models {
			if name == w.model && m.Window > 0 {
				w.sess.apply(host.SessionSeen{Window: m.Window})
			}
		}
	}
	return e.Type
}

// named: the session's id comes with the first turn.
func (w *Claude) named(e wireEvent) {
	w.model = e.Model
	if w.sess == nil || w.sess.id != e.Session {
		s, err := newSession(e.Session, "claude-code", e.Cwd, w.Options)
		if err != nil {
			w.Report(Report{At: w.Now(), What: "warning", Text: message.Because(message.WatchStoreProblem, err.Error())})
			return
		}
		w.sess = s
		s.report("attached", message.WatchAttached, e.Cwd)
	}
	w.beginTurn()
}

// boundary: the context was compacted. Without our asking it is the host's own.
func (w *Claude) boundary(e wireEvent) {
	s := w.sess
	s.before = compact.Usage{Used: e.Compact.Pre, Window: s.mem.Usage.Window}
	if w.turn.prompt == slashCompact {
		w.turn.boundary = &e.Compact
		return
	}
	s.compacted(e.UUID, -1, false)
	s.report("foreign", message.WatchForeign, e.Compact.Pre, e.Compact.Post)
}

func (w *Claude) said(e wireEvent) {
	s := w.sess
	if u := e.Message.Usage; u != nil {
		s.used(compact.Usage{Used: u.Input + u.CacheRead + u.CacheCreation + u.Output, Window: w.window()}, true)
	}
	for _, b := range blocks(e.Message.Content) {
		switch b.Type {
		case "text":
			s.apply(host.AgentMessage{Text: b.Text})
			w.Report(Report{At: w.Now(), Session: s.id, What: "output", Output: b.Text})
		case "tool_use":
			w.calls[b.ID] = wireCall{b.Name, b.Input}
		}
	}
}

// window is the best knowledge of the context window.
func (w *Claude) window() int64 {
	switch {
	case w.Window > 0:
		return w.Window
	case w.sess.mem.Window > 0:
		return w.sess.mem.Window
	}
	return host.ModelWindow(w.model)
}

func (w *Claude) results(e wireEvent) {
	s := w.sess
	for _, b := range blocks(e.Message.Content) {
		call, ok := w.calls[b.UseID]
		if b.Type != "tool_result" || !ok {
			continue
		}
		delete(w.calls, b.UseID)
		in := call.input
		switch call.name {
		case "Bash":
			output, exit := w.outcome(b, e.Tool)
			ended := e.Time
			if ended.IsZero() {
				ended = w.Now()
			}
			s.commandFinished(in.Command, s.mem.Cwd, output, exit, ended)
			s.passed(ended)
		case "TodoWrite":
			steps := make([]host.Step, len(in.Todos))
			for i, t := range in.Todos {
				steps[i] = host.Step{Text: t.Content, Status: host.Status(t.Status)}
			}
			s.apply(host.PlanWritten{Steps: steps})
		case "TaskCreate", "TaskUpdate":
			if !b.IsError {
				s.apply(task(call, e.Tool))
			}
		default:
			file := in.File
			if file == "" {
				file = in.Notebook
			}
			if b.IsError || call.name == "Read" {
				file = ""
			}
			s.apply(host.FileChanged{File: file})
		}
	}
}

// outcome is a shell command's output and exit status.
func (w *Claude) outcome(b wireBlock, tool json.RawMessage) (string, *int) {
	output, code := flatten(b.Content), 0
	if b.IsError {
		code = 1
		if rest, ok := strings.CutPrefix(output, "Exit code "); ok {
			line, _, _ := strings.Cut(rest, "\n")
			if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				code = n
			}
		}
		return output, &code
	}
	var r struct {
		Interrupted bool   `json:"interrupted"`
		Background  string `json:"backgroundTaskId"`
	}
	if json.Unmarshal(tool, &r) == nil && (r.Interrupted || r.Background != "") {
		return output, nil
	}
	return output, &code
}

// task is a change of one step, as this host tells them.
func task(call wireCall, result json.RawMessage) host.Event {
	if call.name == "TaskCreate" {
		var r struct {
			Task struct {
				ID string `json:"id"`
			} `json:"task"`
		}
		_ = json.Unmarshal(result, &r)
		return host.TaskCreated{ID: r.Task.ID, Text: call.input.Subject}
	}
	return host.TaskUpdated{
		ID: call.input.Task, Text: call.input.Subject,
		Status: host.Status(call.input.Status), Deleted: call.input.Status == "deleted",
	}
}

func blocks(raw json.RawMessage) []wireBlock {
	var list []wireBlock
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// flatten is the text of a tool's result: a string or a list of blocks.
func flatten(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []string
	for _, b := range blocks(raw) {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
