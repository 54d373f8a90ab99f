package hook

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

func isAgentTool(name string) bool { return name == "Agent" || name == "Task" }

// preTool follows hand-overs, keeps the main agent a relay, and takes the
// reports of quality agents, which the host would not let them write.
func (c *call) preTool() (reply, error) {
	tool := c.in.text("tool_name")
	switch {
	case !c.in.main():
		if tool == "Write" {
			return c.takeReport()
		}
		return reply{}, errQuiet
	case isAgentTool(tool):
		return c.delegate()
	}
	if err := c.markRepos(); err != nil {
		c.complain("signals", err)
	}
	if !c.cfg.Workflow.Guard {
		return reply{}, errQuiet
	}
	s, err := Peek(c.sess)
	if err != nil || s == nil {
		return reply{}, err
	}
	if workflow.Guard(s, tool, c.in.text("tool_input.command"), shellcmd.ReadOnly) {
		return reply{}, errQuiet
	}
	err = c.update(func(d *desk) error {
		return d.tx.Emit(store.On(message.EventToolGuarded, "toolName", tool))
	})
	if err != nil {
		c.complain("timeline", err)
	}
	return reply{Deny: workflow.GuardText(s, tool, c.lang)}, nil
}

func (c *call) delegate() (reply, error) {
	agent := c.in.text("tool_input.subagent_type")
	if workflow.StageOfAgent(agent) == "" {
		return reply{}, errQuiet
	}
	if s, err := Peek(c.sess); err != nil || s == nil || !s.Active {
		return reply{}, err
	}
	var r reply
	err := c.update(func(d *desk) error {
		if d.state == nil {
			return nil
		}
		if err := d.tick(); err != nil {
			return err
		}
		out, err := d.apply(workflow.Delegate{
			ID: c.in.text("tool_use_id"), Agent: agent,
			Async: c.in.get("tool_input.run_in_background").Bool(), At: c.now,
		})
		if err != nil {
			return err
		}
		switch out.Kind {
		case workflow.Denied:
			r.Deny = workflow.DenyText(d.state, out, c.lang)
		case workflow.Delegated:
			if workflow.Quality(out.Stage) {
				// What is on disk is the report of an earlier round.
				err = d.tx.RemoveContext(out.Stage)
			}
			if in := d.brief(out.Stage); err == nil {
				r.Input = in
			}
		}
		return err
	})
	return r, err
}

// briefReport bounds the reports that are handed to an agent with its prompt.
const briefReport = 12_000

// brief is the tool's input with the node context in front of the prompt. What
// the stage has to read goes along: hosts refuse agents the folder it lies in.
func (d *desk) brief(stage string) json.RawMessage {
	in := d.c.in.get("tool_input")
	if !in.IsObject() {
		return nil
	}
	nc := d.node(stage)
	parts := []string{nc.Comment()}
	if workflow.Quality(stage) {
		parts = append(parts, message.BriefQuality.Format(d.c.lang, nc.Report))
	}
	room := briefReport
	for _, path := range nc.ContextFiles {
		if data, err := d.tx.ReadContext(path); err == nil {
			text := cut(string(data), room)
			room -= len(text)
			parts = append(parts, message.BriefFile.Format(d.c.lang, path)+"\n"+text)
		}
	}
	if rc := nc.RetryContext; rc != nil {
		if data, err := d.tx.Reflection(rc.FailedStage); err == nil {
			parts = append(parts, message.BriefFile.Format(d.c.lang, rc.ReflectionFile)+"\n"+cut(string(data), 4000))
		}
	}
	prompt := strings.Join(parts, "\n\n") + "\n\n---\n\n" + in.Get("prompt").String()
	raw, err := sjson.SetBytes([]byte(in.Raw), "prompt", prompt)
	if err != nil {
		return nil
	}
	return raw
}

// cut bounds a text in bytes, on a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(0, n)], "") + "\n…"
}

// takeReport saves what a quality agent writes to its own report file. Hosts
// refuse agents that folder, so the hook writes it and says so.
func (c *call) takeReport() (reply, error) {
	path := c.in.text("tool_input.file_path")
	if !strings.Contains(path, "pipeline-context-") {
		return reply{}, errQuiet
	}
	stage := workflow.StageOfAgent(c.in.text("agent_type"))
	resolved, err := c.sess.ResolveContext(path)
	if err != nil || stage == "" {
		return reply{}, errQuiet
	}
	var r reply
	err = c.update(func(d *desk) error {
		if d.state == nil || !d.state.Active {
			return nil
		}
		for _, key := range d.state.ActiveStages {
			if workflow.Base(key) == stage && c.sess.ContextPath(key) == resolved {
				r.Deny = message.ReportSaved.Format(c.lang, path)
				return d.tx.WriteContext(key, []byte(c.in.text("tool_input.content")))
			}
		}
		return nil
	})
	return r, err
}

// postTool is where the main model gets its routing from.
func (c *call) postTool() (reply, error) {
	tool := c.in.text("tool_name")
	if !c.in.main() {
		return reply{}, errQuiet
	}
	switch {
	case isAgentTool(tool):
		return c.agentDone()
	case tool == "SendMessage":
		return c.spokenTo()
	case tool == "TaskStop":
		return c.settleTool(workflow.Drop{AgentID: c.in.text("tool_input.task_id"), At: c.now})
	case tool == "Bash" && c.idle():
		return reply{}, errQuiet
	}
	return c.flush(func(d *desk) error {
		d.toolSeen(tool, false)
		return nil
	}, signals(tool))
}

// flush delivers what waits for the main thread. Without work of its own it
// looks before it locks: most calls find nothing.
func (c *call) flush(f func(d *desk) error, work bool) (reply, error) {
	if !work {
		m, err := c.recall()
		if err != nil {
			return reply{}, err
		}
		if len(m.Outbox) == 0 && (m.Compaction == nil || m.Compaction.settled()) && m.Thread == "" {
			return reply{}, errQuiet
		}
	}
	var r reply
	err := c.update(func(d *desk) error {
		if err := d.settleCompaction(c.event, &r); err != nil {
			return err
		}
		d.setThread("")
		if work {
			if err := f(d); err != nil {
				return err
			}
		}
		d.collect(&r)
		return nil
	})
	return r, err
}

// settleTool applies an event and flushes.
func (c *call) settleTool(ev workflow.Event) (reply, error) {
	return c.flush(func(d *desk) error {
		if d.state == nil || !d.state.Active {
			return nil
		}
		_, err := d.apply(ev)
		return err
	}, true)
}

// spokenTo opens a new hand-over when a finished agent was woken by a message.
func (c *call) spokenTo() (reply, error) {
	id := c.in.text("tool_response.resumedAgentId")
	if id == "" {
		return c.flush(nil, false)
	}
	return c.settleTool(workflow.Delegate{ID: c.in.text("tool_use_id"), AgentID: id, Async: true, At: c.now})
}

// agentDone handles the return of the Agent tool: the launch of a background
// agent, or the end of one in the foreground. It comes after SubagentStop or
// instead of it; the engine counts the completion once.
func (c *call) agentDone() (reply, error) {
	s, err := Peek(c.sess)
	if err != nil {
		return reply{}, err
	}
	if s == nil {
		return c.flush(nil, false)
	}
	resp := c.in.get("tool_response")
	id, agentID := c.in.text("tool_use_id"), resp.Get("agentId").String()
	agent := c.in.text("tool_input.subagent_type")
	if resp.Get("status").String() == "async_launched" {
		return c.settleTool(workflow.Bind{ID: id, Agent: agent, AgentID: agentID, Async: true})
	}
	stage := workflow.StageOfAgent(agent)
	if stage == "" {
		return c.flush(nil, false)
	}
	text := contentText(resp.Get("content"))
	var r reply
	err = c.update(func(d *desk) error {
		if d.state == nil {
			return nil
		}
		d.setThread("")
		key := d.stageOf(id, agentID, stage)
		if agentID != "" {
			if _, err := d.apply(workflow.Bind{ID: id, Agent: agent, AgentID: agentID}); err != nil {
				return err
			}
		}
		died := strings.HasPrefix(text, "API Error") && resp.Get("totalTokens").Int() == 0
		done := completion{ID: id, AgentID: agentID, Agent: agent, Text: text, HasText: true, Died: died}
		if _, err := d.finish(done); err != nil {
			return err
		}
		if workflow.Quality(stage) && !died {
			r.Output = d.isolate(key, resp, text)
		}
		d.collect(&r)
		d.catchUp(&r)
		return nil
	})
	return r, err
}

// stageOf is the stage key of a hand-over.
func (d *desk) stageOf(id, agentID, base string) string {
	for _, del := range d.state.Delegations {
		if id != "" && del.ID == id || agentID != "" && del.AgentID == agentID {
			return del.Stage
		}
	}
	return base
}

// isolate keeps a report out of the main agent's context: the tool's answer
// becomes one line and a path. The host takes the new answer only in the exact
// shape of the old one, so only its content is edited.
func (d *desk) isolate(key string, resp gjson.Result, text string) json.RawMessage {
	line := d.oneLine(key, text)
	content, err := json.Marshal([]map[string]string{{"type": "text", "text": line}})
	if err != nil {
		return nil
	}
	raw, err := sjson.SetRawBytes([]byte(resp.Raw), "content", content)
	if err != nil || !gjson.ValidBytes(raw) {
		return nil
	}
	return raw
}

// oneLine is all the main agent is told of a report.
func (d *desk) oneLine(key, text string) string {
	verdict := message.NoVerdict.In(d.c.lang)
	if r, ok := workflow.ParseRoute(text); ok {
		verdict = workflow.ValidateRoute(r).Verdict
	}
	path := d.c.sess.ContextPath(key)
	if _, err := d.tx.ReadContext(path); err != nil {
		return message.ReportNone.Format(d.c.lang, key, verdict)
	}
	return message.ReportLine.Format(d.c.lang, key, verdict, d.shown(path))
}

// shown is a path of the Claude folder as models are told it.
func (d *desk) shown(path string) string {
	return d.c.rules.ContextDir + strings.TrimPrefix(path, d.c.home.ClaudeDir())
}

func contentText(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.String()
	}
	var texts []string
	content.ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").String() == "text" {
			texts = append(texts, b.Get("text").String())
		}
		return true
	})
	return strings.ToValidUTF8(strings.Join(texts, "\n"), "\uFFFD")
}

func (c *call) postToolFailure() (reply, error) {
	tool := c.in.text("tool_name")
	if isAgentTool(tool) && c.in.main() {
		return c.settleTool(workflow.Drop{ID: c.in.text("tool_use_id"), At: c.now})
	}
	if !c.in.main() {
		return reply{}, errQuiet
	}
	s, err := Peek(c.sess)
	if err != nil {
		return reply{}, err
	}
	return c.flush(func(d *desk) error {
		if signals(tool) {
			d.toolSeen(tool, true)
		}
		if d.state == nil || !d.state.Active {
			return nil
		}
		return d.tx.Emit(store.On(message.EventToolFailure, "toolName", tool, "error", cut(c.in.text("error"), 120)))
	}, s != nil && s.Active || signals(tool))
}

// postBatch is the join of parallel agents: what their ends left for the main
// model is delivered once.
func (c *call) postBatch() (reply, error) {
	if id := c.in.agentID(); id != "" {
		return c.subThread(id)
	}
	return c.flush(nil, false)
}

// subThread remembers that a sub-agent is at work.
func (c *call) subThread(id string) (reply, error) {
	m, err := c.recall()
	if err != nil || m.Thread == id {
		return reply{}, err
	}
	return reply{}, c.update(func(d *desk) error {
		d.setThread(id)
		return nil
	})
}
