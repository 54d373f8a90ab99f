package watch

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
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
				w.sess.usage.Window = m.Window
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
	s.before = compact.Usage{Used: e.Compact.Pre, Window: s.usage.Window}
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
			s.apply(compact.AgentMessage{Text: b.Text})
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
	case w.sess.usage.Window > 0:
		return w.sess.usage.Window
	case strings.Contains(w.model, "[1m]"):
		return 1_000_000
	}
	return 200_000
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
			steps := make([]compact.Step, len(in.Todos))
			for i, t := range in.Todos {
				steps[i] = compact.Step{Text: t.Content, Status: compact.Status(t.Status)}
			}
			s.apply(compact.PlanUpdated{Steps: steps})
		case "TaskCreate", "TaskUpdate":
			if plan, ok := taskPlan(s.mem.State.Plan.Steps, call, e.Tool); ok && !b.IsError {
				s.apply(compact.PlanUpdated{Plan: s.mem.State.Plan.ID, Steps: plan})
			}
		default:
			file := in.File
			if file == "" {
				file = in.Notebook
			}
			if b.IsError || call.name == "Read" {
				file = ""
			}
			s.apply(compact.ToolActivity{Tool: call.name, File: file})
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

// taskPlan edits the plan where the host tells one task at a time.
func taskPlan(plan []compact.Step, call wireCall, result json.RawMessage) ([]compact.Step, bool) {
	plan = slices.Clone(plan)
	if call.name == "TaskCreate" {
		var r struct {
			Task struct {
				ID string `json:"id"`
			} `json:"task"`
		}
		_ = json.Unmarshal(result, &r)
		return append(plan, compact.Step{ID: r.Task.ID, Text: call.input.Subject, Status: compact.Pending}), true
	}
	i := slices.IndexFunc(plan, func(s compact.Step) bool { return s.ID != "" && s.ID == call.input.Task })
	if i < 0 {
		return nil, false
	}
	switch call.input.Status {
	case "":
	case "deleted":
		return slices.Delete(plan, i, i+1), true
	default:
		plan[i].Status = compact.Status(call.input.Status)
	}
	if call.input.Subject != "" {
		plan[i].Text = call.input.Subject
	}
	return plan, true
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
