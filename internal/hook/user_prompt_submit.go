package hook

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// userPromptSubmit starts a workflow that the prompt asks for, delivers what waits,
// and reminds the model of a workflow that runs.
func (c *call) userPromptSubmit() (host.Reply, error) {
	// What is said to a sub-agent is no word of the user's.
	if !c.in.Main() {
		return host.Reply{}, errQuiet
	}
	if text := c.movedAway(); text != "" {
		return host.Reply{Block: text}, nil
	}
	text, note := c.in.Prompt, c.in.Note
	name, asked := "", false
	if !note {
		name, asked = c.requested(text)
	}
	var r host.Reply
	err := c.update(func(tx *session.Tx) error {
		if err := c.settle(tx, &r); err != nil {
			return err
		}
		first := tx.Prompted()
		if tx.Active() && !note {
			// Main is idle, so an agent that ran in the foreground is gone; in a new
			// process all are.
			if _, err := tx.Apply(workflow.Recover{Background: first}); err != nil {
				return err
			}
			if err := tx.DropDeadRuns(); err != nil {
				return err
			}
		}
		if err := c.tickBarriers(tx); err != nil {
			return err
		}
		goesOn := c.letsGoOn(tx, text, name, asked)
		c.collect(tx, &r)
		if name != "" && !asked && !c.host.NoStages && !tx.Memory.Hinted {
			r.Person, tx.Memory.Hinted = session.Paragraphs(r.Person, message.TagMentioned.Format(c.lang, name)), true
		}
		switch {
		case asked && name != "none" && c.host.NoStages && !tx.Active():
			// A state that nothing could move would only be in the way.
			text := message.NoStages.In(c.lang)
			r.Context, r.Person = session.Paragraphs(r.Context, text), session.Paragraphs(r.Person, text)
		case asked && name != "none":
			if err := c.startWorkflow(tx, name, &r); err != nil {
				return err
			}
		case ownCommand(text, ""):
			// It says itself where the work stands, and `cancel` ends it: whether
			// before or after this hook depends on the host's version.
		case tx.Active() && !note:
			r.Context = session.Paragraphs(r.Context, c.progress(tx.Workflow, goesOn))
		case note:
			c.catchUp(tx, &r)
		}
		c.learnEnds(tx, turnBegins)
		if !note {
			c.learnBackgroundEnds(tx, first)
		}
		c.seeSession(tx)
		if c.in.Answer != "" { // of the turn before, whose end nobody has told
			tx.Observe(host.AgentMessage{Text: c.in.Answer}, c.settings())
			tx.Observe(host.TurnEnded{}, compact.Settings{})
		}
		tx.Observe(host.TurnStarted{ID: c.in.Turn, Prompt: c.in.PromptID, At: c.now}, compact.Settings{})
		if !note { // what the host itself sends is no request
			tx.Observe(host.UserMessage{Text: host.Typed(text), At: c.now}, compact.Settings{})
		}
		if note { // the turn is about what was done in the background
			c.learnBackgroundEnds(tx, first)
		}
		return nil
	})
	r.System = r.Context
	return r, err
}

// notStarted is the answer to a prompt whose workflow could not be written down: a
// disk that is full must not look like a workflow that runs.
func (c *call) notStarted(err error) host.Reply {
	name, asked := c.requested(c.in.Prompt)
	if c.event != "user-prompt-submit" || !asked || name == "none" || c.in.Note || !c.in.Main() {
		return host.Reply{}
	}
	text := message.WorkflowUnsaved.Format(c.lang, name, strings.ReplaceAll(err.Error(), "\n", " "))
	return host.Reply{Context: text, Person: text, System: text}
}

// requested is the workflow a prompt names: by a tag, or by a command of the
// plugin, which the hook sees as it was typed. A call by no host keeps to the
// specifications, where a tag counts anywhere. Where a tag is only mentioned, asked is
// false.
func (c *call) requested(text string) (name string, asked bool) {
	find := workflow.Asked
	if !c.host.Delivers {
		find = workflow.Tag
	}
	if name, asked = find(text); name != "" {
		return name, asked
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/"+workflow.AgentPrefix)
	if !ok {
		return "", false
	}
	name, _, _ = strings.Cut(rest, " ")
	if name, _, _ = strings.Cut(name, "\n"); !blueprint.Builtin(name) {
		return "", false
	}
	return name, true
}

// letsGoOn says whether a prompt leaves a workflow that is at work its next step: by a
// command, never by what its words mean. Any other message makes the turn the user's: the
// workflow rests until a stage is handed out, or he lets it go on.
func (c *call) letsGoOn(tx *session.Tx, text, name string, asked bool) bool {
	if !tx.Active() || !c.host.Delivers {
		return true
	}
	l := loopOf(tx)
	back, stopped := transcript.Stopped(c.in.Transcript, text)
	if c.in.Note {
		if stopped && back == "" { // what the host sends takes nothing back
			l.Rests = true
		}
		return !l.Rests
	}
	started, tagged := c.requested(back)
	if stopped && tagged && started == tx.Workflow.WorkflowType && l.Iteration == 0 && len(tx.Workflow.Delegations) == 0 {
		if _, err := tx.Apply(workflow.Cancel{}); err != nil { // the prompt that has started it was taken back
			c.complain("take back", err)
		}
		return true
	}
	if stopped {
		tx.Observe(host.TurnEnded{Interrupted: true}, compact.Settings{})
	}
	switch {
	case asked && name == tx.Workflow.WorkflowType, ownCommand(text, "resume"):
		if err := tx.Resume(); err != nil {
			c.complain("resume", err)
		}
	case stopped, asked, !ownCommand(text, ""):
		l.Rests = true
	}
	return !c.resting(tx) && !c.planning()
}

// ownCommand reports whether a prompt is a command of the plugin, that one where it is
// named.
func ownCommand(text, name string) bool {
	words := strings.Fields(text)
	return len(words) > 0 && strings.HasPrefix(words[0], "/"+workflow.AgentPrefix) && (name == "" || words[0] == "/"+workflow.AgentPrefix+name)
}

// startWorkflow starts a workflow and tells the model where to begin.
func (c *call) startWorkflow(tx *session.Tx, name string, r *host.Reply) error {
	lib := blueprint.Library{Dir: c.projectRoot(), Home: c.home.Root()}
	file, problems, there := lib.Find(name)
	tell := func(text string) {
		r.Context, r.Person = session.Paragraphs(r.Context, text), session.Paragraphs(r.Person, text)
	}
	switch {
	case !there:
		text := message.WorkflowNone.Format(c.lang, name)
		if near := workflow.Nearest(name, lib.Names()); len(near) > 0 {
			text = message.WorkflowNear.Format(c.lang, name, strings.Join(near, ", "))
		}
		tell(text)
		return nil
	case len(problems) > 0:
		tell(message.WorkflowBroken.Format(c.lang, name, problems[0].In(c.lang), file.Path))
		return nil
	case tx.Active():
		_, out := c.rules.Apply(tx.Workflow, workflow.Start{Type: name})
		r.Context = session.Paragraphs(r.Context, workflow.Instruction(tx.Workflow, out, c.lang))
		r.Person = session.Paragraphs(r.Person, out.Reason.In(c.lang))
		return nil
	}
	feature, _ := c.tasks(nil, message.PendingTasks)
	out, err := tx.Apply(workflow.Start{
		SessionID: c.sess.ID(), WorkflowID: session.NewWorkflowID(c.now), Type: name, Plan: lib.Plan(file), Feature: feature,
		Environment: session.DetectEnvironment(c.projectRoot()), At: c.now,
	})
	if err != nil {
		return err
	}
	r.Context = session.Paragraphs(r.Context, workflow.Instruction(tx.Workflow, out, c.lang))
	if file.Runs() && !blueprint.IsTrusted(c.home.Root(), file) {
		tell(message.NotTrusted.Format(c.lang, file.Path, name))
	}
	return nil
}
