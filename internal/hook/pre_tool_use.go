package hook

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// preToolUse follows hand-overs, keeps the main agent a relay, and takes the
// reports of quality agents, which the host would not let them write.
func (c *call) preToolUse() (host.Reply, error) {
	tool := c.in.Tool
	// Whoever asks, and whatever runs: only a person trusts a file, and sets up what
	// keeps agents to their roles.
	rest := host.Reply{}
	if tool.Kind == host.ShellTool {
		if own := shellcmd.Personal(tool.Command); own != "" {
			rest.Deny = message.PersonalDenied.Format(c.lang, own)
		}
	} else if tool.Kind.Edits() {
		if own := c.ownFile(tool); own != "" {
			rest.Deny = message.OwnFileDenied.Format(c.lang, own)
		}
	}
	switch {
	case !c.in.Main() && rest.Deny != "":
		return rest, nil
	case !c.in.Main():
		if tool.Kind == host.WriteTool {
			return c.saveReport()
		}
		return host.Reply{}, errQuiet
	case c.in.Tool.Kind == host.AgentTool:
		return c.delegate()
	}
	aside := c.host.EndsUnwaited(tool.Kind)
	if !c.late && !aside {
		if err := c.markRepos(); err != nil {
			c.complain("signals", err)
		}
	}
	r, err := c.guard(rest)
	if err != nil || r.Deny != "" && !r.Ask || !aside {
		return r, err
	}
	begun, err := c.beforeUnwaited()
	if !r.Ask {
		return begun, err
	}
	// It may run after all, but whatever happens here: no answer would let it run unasked.
	if err != nil {
		c.complain("signals", err)
	}
	r.Context, r.Person = begun.Context, session.Paragraphs(begun.Person, r.Person)
	return r, nil
}

// markRepos remembers the repositories before a command that may commit.
func (c *call) markRepos() error {
	if c.in.Tool.Kind != host.ShellTool {
		return nil
	}
	o := c.command()
	marks := shellcmd.Snapshot(o)
	id := c.in.Tool.ID
	if len(marks) == 0 || id == "" {
		return nil
	}
	c.announce(o)
	return c.update(func(tx *session.Tx) error {
		tx.Observe(host.CommandStarted{ID: id, Observation: shellcmd.Observation{Before: marks}}, compact.Settings{})
		return nil
	})
}

func (c *call) delegate() (host.Reply, error) {
	agent := c.in.Tool.Agent.Type
	if s, err := session.Peek(c.sess); err != nil || s == nil || !s.Active || !s.Follows(agent) {
		return host.Reply{}, err
	}
	var r host.Reply
	err := c.update(func(tx *session.Tx) error {
		if tx.Workflow == nil {
			return nil
		}
		if err := c.tickBarriers(tx); err != nil {
			return err
		}
		out, err := tx.Apply(workflow.Delegate{
			ID: c.in.Tool.ID, Agent: agent, Task: c.in.Tool.Agent.Prompt,
			Async: c.in.Tool.Agent.Async, At: c.now,
		})
		if err != nil {
			return err
		}
		switch out.Kind {
		case workflow.Denied:
			r.Deny = workflow.DenyText(tx.Workflow, out, c.lang)
		case workflow.Delegated:
			if !c.host.BriefsAtStart {
				// What the main agent asks goes on as it is: it is the host's, not ours.
				r.Prompt = c.brief(tx, out.Stage) + "\n\n---\n\n" + c.in.Tool.Agent.Prompt
			}
		}
		return err
	})
	return r, err
}

// briefReport bounds the reports that are handed to an agent with its prompt.
const briefReport = 12_000

// brief is what an agent is told beside its task: the node context, and what the
// stage has to read: hosts refuse agents the folder it lies in.
func (c *call) brief(tx *session.Tx, stage string) string {
	nc := c.node(tx, stage)
	parts := []string{nc.Comment()}
	if tx.Workflow.Quality(stage) {
		parts = append(parts, message.BriefQuality.Format(c.lang, nc.Report))
	}
	if a := tx.Workflow.DAG.Spec(stage).Agent; a != "" && !strings.HasPrefix(a, workflow.AgentPrefix) {
		// An agent of the user's has not been told how to answer.
		parts = append(parts, message.BriefMarker.In(c.lang))
	}
	room := briefReport
	for _, path := range nc.ContextFiles {
		data, err := tx.ReadContext(path)
		if c.unread(err); err == nil {
			text := cut(string(data), room)
			room -= len(text)
			parts = append(parts, message.BriefFile.Format(c.lang, path)+"\n"+fence(text))
		}
	}
	if rc := nc.RetryContext; rc != nil {
		data, err := tx.Reflection(rc.FailedStage)
		if c.unread(err); err == nil {
			parts = append(parts, message.BriefFile.Format(c.lang, rc.ReflectionFile)+"\n"+fence(cut(string(data), 4000)))
		}
	}
	return redact.Clean(strings.Join(parts, "\n\n"))
}

// unread tells of a report that is there and cannot be read.
func (c *call) unread(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.complain("context", err)
	}
}

// fence sets a text off from our own words: whatever it says, it is data. No line
// of it can end the fence.
func fence(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "\n" + strings.TrimRight(text, "\n") + "\n" + mark
}

// cut bounds a text in bytes, on a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(0, n)], "") + "\n…"
}

// saveReport saves what a quality agent writes to its own report file. Hosts
// refuse agents that folder, so the hook writes it and says so.
func (c *call) saveReport() (host.Reply, error) {
	path := c.in.Tool.File
	if !strings.Contains(path, "pipeline-context-") {
		return host.Reply{}, errQuiet
	}
	agent := c.in.AgentType
	resolved, err := c.sess.ResolveContext(path)
	if err != nil || agent == "" {
		return host.Reply{}, errQuiet
	}
	var r host.Reply
	err = c.update(func(tx *session.Tx) error {
		if !tx.Active() {
			return nil
		}
		for _, key := range tx.Workflow.ActiveStages {
			if tx.Workflow.WorksOn(agent, key) && c.sess.ContextPath(key) == resolved {
				r.Deny = message.ReportSaved.Format(c.lang, path)
				return tx.WriteContext(key, []byte(c.in.Tool.Content))
			}
		}
		return nil
	})
	return r, err
}
