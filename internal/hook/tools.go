package hook

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// preTool follows hand-overs, keeps the main agent a relay, and takes the
// reports of quality agents, which the host would not let them write.
func (c *call) preTool() (host.Reply, error) {
	tool := c.in.Tool
	switch {
	case !c.in.Main():
		if tool.Kind == host.WriteTool {
			return c.takeReport()
		}
		return host.Reply{}, errQuiet
	case c.in.Tool.Kind == host.AgentTool:
		return c.delegate()
	}
	if err := c.markRepos(); err != nil {
		c.complain("signals", err)
	}
	if !c.cfg.Workflow.Guard {
		return host.Reply{}, errQuiet
	}
	s, err := Peek(c.sess)
	if err != nil || s == nil {
		return host.Reply{}, err
	}
	if workflow.Guard(s, tool.Kind.Edits(), tool.Command, shellcmd.ReadOnly) {
		return host.Reply{}, errQuiet
	}
	err = c.update(func(d *desk) error {
		return d.tx.Emit(store.On(message.EventToolGuarded, "toolName", tool.Name))
	})
	if err != nil {
		c.complain("timeline", err)
	}
	return host.Reply{Deny: workflow.GuardText(s, tool.Name, c.lang)}, nil
}

func (c *call) delegate() (host.Reply, error) {
	agent := c.in.Tool.Agent.Type
	if workflow.StageOfAgent(agent) == "" {
		return host.Reply{}, errQuiet
	}
	if s, err := Peek(c.sess); err != nil || s == nil || !s.Active {
		return host.Reply{}, err
	}
	var r host.Reply
	err := c.update(func(d *desk) error {
		if d.state == nil {
			return nil
		}
		if err := d.tick(); err != nil {
			return err
		}
		out, err := d.apply(workflow.Delegate{
			ID: c.in.Tool.ID, Agent: agent,
			Async: c.in.Tool.Agent.Async, At: c.now,
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
			r.Prompt = d.brief(out.Stage)
		}
		return err
	})
	return r, err
}

// briefReport bounds the reports that are handed to an agent with its prompt.
const briefReport = 12_000

// brief is an agent's prompt with the node context in front. What the stage has
// to read goes along: hosts refuse agents the folder it lies in.
func (d *desk) brief(stage string) string {
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
	return strings.Join(parts, "\n\n") + "\n\n---\n\n" + d.c.in.Tool.Agent.Prompt
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
func (c *call) takeReport() (host.Reply, error) {
	path := c.in.Tool.File
	if !strings.Contains(path, "pipeline-context-") {
		return host.Reply{}, errQuiet
	}
	stage := workflow.StageOfAgent(c.in.AgentType)
	resolved, err := c.sess.ResolveContext(path)
	if err != nil || stage == "" {
		return host.Reply{}, errQuiet
	}
	var r host.Reply
	err = c.update(func(d *desk) error {
		if d.state == nil || !d.state.Active {
			return nil
		}
		for _, key := range d.state.ActiveStages {
			if workflow.Base(key) == stage && c.sess.ContextPath(key) == resolved {
				r.Deny = message.ReportSaved.Format(c.lang, path)
				return d.tx.WriteContext(key, []byte(c.in.Tool.Content))
			}
		}
		return nil
	})
	return r, err
}

// postTool is where the main model gets its routing from.
func (c *call) postTool() (host.Reply, error) {
	if !c.in.Main() {
		return host.Reply{}, errQuiet
	}
	switch kind := c.in.Tool.Kind; {
	case kind == host.AgentTool:
		return c.agentDone()
	case kind == host.MessageTool:
		return c.spokenTo()
	case kind == host.HaltTool:
		return c.settleTool(workflow.Drop{AgentID: c.in.Tool.Agent.ID, At: c.now})
	case kind == host.ShellTool && c.idle():
		return host.Reply{}, errQuiet
	}
	return c.flush(func(d *desk) error {
		d.toolSeen()
		return nil
	}, c.in.Tool.Signals())
}

// flush delivers what waits for the main thread. Without work of its own it
// looks before it locks: most calls find nothing.
func (c *call) flush(f func(d *desk) error, work bool) (host.Reply, error) {
	if !work {
		m, err := c.recall()
		if err != nil {
			return host.Reply{}, err
		}
		if len(m.Outbox) == 0 && (m.Compaction == nil || m.Compaction.settled()) && m.Thread == "" {
			return host.Reply{}, errQuiet
		}
	}
	var r host.Reply
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
func (c *call) settleTool(ev workflow.Event) (host.Reply, error) {
	return c.flush(func(d *desk) error {
		if d.state == nil || !d.state.Active {
			return nil
		}
		_, err := d.apply(ev)
		return err
	}, true)
}

// spokenTo opens a new hand-over when a finished agent was woken by a message.
func (c *call) spokenTo() (host.Reply, error) {
	id := c.in.Tool.Agent.ID
	if id == "" {
		return c.flush(nil, false)
	}
	return c.settleTool(workflow.Delegate{ID: c.in.Tool.ID, AgentID: id, Async: true, At: c.now})
}

// agentDone handles the return of the Agent tool: the launch of a background
// agent, or the end of one in the foreground. It comes after SubagentStop or
// instead of it; the engine counts the completion once.
func (c *call) agentDone() (host.Reply, error) {
	s, err := Peek(c.sess)
	if err != nil {
		return host.Reply{}, err
	}
	if s == nil {
		return c.flush(nil, false)
	}
	id, ended := c.in.Tool.ID, c.in.Tool.Agent
	agent, agentID := ended.Type, ended.ID
	if ended.Launched {
		return c.settleTool(workflow.Bind{ID: id, Agent: agent, AgentID: agentID, Async: true})
	}
	stage := workflow.StageOfAgent(agent)
	if stage == "" {
		return c.flush(nil, false)
	}
	var r host.Reply
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
		done := completion{ID: id, AgentID: agentID, Agent: agent, Text: ended.Text, HasText: true, Died: ended.Died}
		if _, err := d.finish(done); err != nil {
			return err
		}
		if workflow.Quality(stage) && !ended.Died {
			// The report stays out of the main agent's context.
			r.Answer = d.oneLine(key, ended.Text)
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

func (c *call) postToolFailure() (host.Reply, error) {
	tool := c.in.Tool
	if tool.Kind == host.AgentTool && c.in.Main() {
		return c.settleTool(workflow.Drop{ID: c.in.Tool.ID, At: c.now})
	}
	if !c.in.Main() {
		return host.Reply{}, errQuiet
	}
	s, err := Peek(c.sess)
	if err != nil {
		return host.Reply{}, err
	}
	return c.flush(func(d *desk) error {
		if tool.Signals() {
			d.toolSeen()
		}
		if d.state == nil || !d.state.Active {
			return nil
		}
		return d.tx.Emit(store.On(message.EventToolFailure, "toolName", tool.Name, "error", cut(c.in.Tool.Error, 120)))
	}, s != nil && s.Active || tool.Signals())
}

// postBatch is the join of parallel agents: what their ends left for the main
// model is delivered once.
func (c *call) postBatch() (host.Reply, error) {
	if id := c.in.AgentID; id != "" {
		return c.subThread(id)
	}
	return c.flush(nil, false)
}

// subThread remembers that a sub-agent is at work.
func (c *call) subThread(id string) (host.Reply, error) {
	m, err := c.recall()
	if err != nil || m.Thread == id {
		return host.Reply{}, err
	}
	return host.Reply{}, c.update(func(d *desk) error {
		d.setThread(id)
		return nil
	})
}
