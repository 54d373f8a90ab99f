package hook

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// cleanupEvery is how often SessionStart may list a folder.
const cleanupEvery = time.Hour

// sessionStart shows the open tasks, ties the session to its feature, frees the
// stages of agents that died with the last process, and, after a compaction,
// hands the saved state back to the model.
func (c *call) sessionStart() (host.Reply, error) {
	source := c.in.Source
	if source == "compact" {
		return c.deliverAfterCompact()
	}
	if c.home.ClaimCleanup(cleanupEvery) {
		c.cleanup()
	}
	var r host.Reply
	err := c.update(func(d *desk) error {
		if err := d.tx.Emit(store.On(message.EventSessionStart, "version", c.env.Version, "source", source)); err != nil {
			return err
		}
		d.see()
		feature, tasks := c.tasks(d.state, message.PendingTasksResume)
		if err := d.tie(feature); err != nil {
			return err
		}
		if d.state != nil {
			if d.state.Active && source != "clear" {
				if _, err := d.apply(workflow.Recover{Background: true, At: c.now}); err != nil {
					return err
				}
			}
			if d.state.Active {
				r.Context = c.progress(d.state)
			}
		}
		r.System = tasks
		r.Context = joinLines(r.Context, tasks)
		return nil
	})
	return r, err
}

// tie names the feature in progress in a workflow that has none yet.
func (d *desk) tie(feature string) error {
	if d.state == nil || d.state.FeatureName != "" || feature == "" {
		return nil
	}
	_, err := d.apply(workflow.Feature{Name: feature})
	return err
}

// tasks is the session's feature and the text of its open tasks.
func (c *call) tasks(s *workflow.State, header message.Text) (feature, text string) {
	prefer := ""
	if s != nil {
		prefer = s.FeatureName
	}
	f, ok, err := prompt.ActiveFeature(c.projectRoot(), prefer)
	if err != nil || !ok {
		return "", ""
	}
	if len(f.InProgress) > 1 && prefer == "" && c.env.Getenv("OVERTONE_QUIET") == "" {
		fmt.Fprintln(c.env.Stderr, message.SeveralFeatures.Format(c.lang, strings.Join(f.InProgress, ", "), f.Name))
	}
	return f.Name, prompt.PendingTasks(f, header, c.lang)
}

// progress is one glance at a running workflow.
func (c *call) progress(s *workflow.State) string {
	lines := []string{message.InProgress.Format(c.lang, s.WorkflowType, s.CurrentStage), message.RecoveryProgress.Format(c.lang, workflow.Bar(s))}
	if hint := workflow.NextStep(s, c.lang); hint != "" {
		lines = append(lines, message.ResultNext.Format(c.lang, hint))
	}
	if line := workflow.DelegateLine(s, c.lang); line != "" {
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// cleanup removes what past work left; nothing it meets may stop a session.
func (c *call) cleanup() {
	_, err := c.home.Cleanup(store.CleanupOptions{
		MaxAge: time.Duration(c.cfg.Cleanup.AfterDays) * 24 * time.Hour,
		Active: ActiveWorkflow,
	})
	if err != nil {
		c.complain("cleanup", err)
	}
}

// ActiveWorkflow reports whether a session's workflow is still at work, for the
// clean-up: what cannot be read is spared.
func ActiveWorkflow(_ string, data []byte) bool {
	if data == nil {
		return false
	}
	s, err := workflow.Load(data)
	return err != nil || s.Active
}

func (c *call) sessionEnd() (host.Reply, error) {
	if s, err := Peek(c.sess); err != nil || s == nil {
		return host.Reply{}, err
	}
	return host.Reply{}, c.update(func(d *desk) error {
		return d.tx.Emit(store.On(message.EventSessionEnd, "reason", c.in.Reason))
	})
}

// userPrompt starts a workflow that the prompt asks for, delivers what waits,
// and reminds the model of a workflow that runs.
func (c *call) userPrompt() (host.Reply, error) {
	text := c.in.Prompt
	note := c.in.Note
	template, asked := "", false
	if !note {
		template, asked = requested(text)
	}
	var r host.Reply
	err := c.update(func(d *desk) error {
		if err := d.settleCompaction("user-prompt-submit", &r); err != nil {
			return err
		}
		d.setThread("")
		if d.state != nil && d.state.Active && !note {
			// Main is idle, so an agent that ran in the foreground is gone.
			if _, err := d.apply(workflow.Recover{At: c.now}); err != nil {
				return err
			}
		}
		if err := d.tick(); err != nil {
			return err
		}
		d.collect(&r)
		switch {
		case asked && template != "none":
			if err := d.begin(template, &r); err != nil {
				return err
			}
		case d.state != nil && d.state.Active && !note:
			r.Context = joinLines(r.Context, c.progress(d.state))
		case note:
			d.catchUp(&r)
		}
		d.promptSeen(text, note)
		return nil
	})
	r.System = r.Context
	return r, err
}

// requested is the template a prompt names: by a tag, or by a command of the
// plugin, which the hook sees as it was typed.
func requested(text string) (string, bool) {
	if name, ok := workflow.ExplicitTemplate(text); ok {
		return name, true
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/"+workflow.AgentPrefix)
	if !ok {
		return "", false
	}
	name, _, _ := strings.Cut(rest, " ")
	name, _, _ = strings.Cut(name, "\n")
	_, known := workflow.FindTemplate(name)
	return name, known
}

// begin starts a workflow and tells the model where to begin.
func (d *desk) begin(template string, r *host.Reply) error {
	c := d.c
	if d.state != nil && d.state.Active {
		_, out := c.rules.Apply(d.state, workflow.Start{Type: template})
		r.Context = joinLines(r.Context, workflow.Instruction(d.state, out, c.lang))
		r.Person = joinLines(r.Person, out.Reason.In(c.lang))
		return nil
	}
	feature, _ := c.tasks(nil, message.PendingTasks)
	out, err := d.apply(workflow.Start{
		SessionID: c.sess.ID(), WorkflowID: NewWorkflowID(c.now), Type: template, Feature: feature,
		Environment: DetectEnvironment(c.projectRoot()), At: c.now,
	})
	if err != nil {
		return err
	}
	d.mem.Loop, d.dirty = loop{}, true
	r.Context = joinLines(r.Context, workflow.Instruction(d.state, out, c.lang))
	return nil
}

// tick lets barriers run out of time; what follows from it waits in the outbox.
func (d *desk) tick() error {
	if d.state == nil || !d.state.Active || d.state.Barriers.Len() == 0 {
		return nil
	}
	out, err := d.apply(workflow.Tick{At: d.c.now})
	if err != nil || out.Kind == workflow.Nothing {
		return err
	}
	d.post(letter{Model: workflow.Instruction(d.state, out, d.c.lang)})
	return nil
}

// setThread remembers which thread was last seen at work: a compaction carries
// no sign of whose it is.
func (d *desk) setThread(agentID string) {
	if d.mem.Thread != agentID {
		d.mem.Thread, d.dirty = agentID, true
	}
}
