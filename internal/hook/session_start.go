package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
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
		return c.afterCompact()
	}
	if !c.late && c.home.ClaimCleanup(cleanupEvery) {
		_, err := c.home.Cleanup(store.CleanupOptions{
			MaxAge: time.Duration(c.cfg.Cleanup.AfterDays) * 24 * time.Hour,
			Active: session.ActiveWorkflow,
		})
		if err != nil { // what past work left stops no session
			c.complain("cleanup", err)
		}
	}
	var r host.Reply
	err := c.update(func(tx *session.Tx) error {
		if err := tx.Emit(store.On(message.EventSessionStart, "version", c.env.Version, "source", source)); err != nil {
			return err
		}
		c.seeSession(tx)
		feature, tasks := c.tasks(tx.Workflow, message.PendingTasksResume)
		if err := c.nameFeature(tx, feature); err != nil {
			return err
		}
		tx.Memory.Threads.Resumed = tx.Memory.Threads.Resumed || source == "resume"
		if tx.Active() {
			// What is resumed may be a copy, whose first prompt has another name: the
			// original may be at work.
			copied := source == "resume" && c.host.ForksAsResumed && !c.tellsWhose()
			if source != "clear" && !copied {
				if _, err := tx.Apply(workflow.Recover{Background: true}); err != nil {
					return err
				}
			}
			r.Context = c.progress(tx.Workflow, !c.resting(tx))
		}
		r.System = tasks
		r.Context = session.Paragraphs(r.Context, tasks)
		if text := c.movedAway(); text != "" {
			r.Context, r.Person = text, text
		}
		if source == "fork" && tx.Workflow == nil && c.elsewhere() {
			note := message.ForkAlone.In(c.lang)
			r.Context, r.Person = session.Paragraphs(r.Context, note), session.Paragraphs(r.Person, note)
		}
		return nil
	})
	return r, err
}

// elsewhere reports whether a workflow is at work in some other session: the one
// that a copy was made of may have it, and the host does not name it.
func (c *call) elsewhere() bool {
	list, err := c.home.Sessions()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(list[:min(len(list), 50)], func(one store.SessionInfo) bool {
		s, err := c.home.Session(one.ID)
		if err != nil {
			return false
		}
		state, err := session.Peek(s)
		return err == nil && state != nil && state.Active
	})
}

// afterCompact is SessionStart after a compaction: the saved text goes to
// the model, once.
func (c *call) afterCompact() (host.Reply, error) {
	if c.watcherOwns() || !c.in.Main() {
		return host.Reply{}, errQuiet
	}
	m := session.Read(c.sess)
	// The slice is read before the lock is taken: it may be long.
	past := c.past(m)
	var r host.Reply
	err := c.update(func(tx *session.Tx) error {
		c.seeSession(tx)
		if tx.AgentBegins() {
			return nil
		}
		k := tx.Memory.Compaction
		feature, tasks := c.tasks(tx.Workflow, message.PendingTasks)
		if err := c.nameFeature(tx, feature); err != nil {
			return err
		}
		if k != nil && k.Status == session.Failed {
			k = nil
		}
		if k == nil && tx.Active() {
			// PreCompact did not run, or its memory is gone: the state is not.
			recovery := c.recovery(tx, c.waits(tx, tx.Memory.Thread.Words, ""))
			k = tx.BeginCompaction("", c.packet(tx, tx.Memory.Compactions+1, c.settings(), recovery, nil))
		}
		if k == nil {
			r.Context, r.System = tasks, tasks
			return nil
		}
		if c.host.Delivers {
			h := c.handover(tx, k, past)
			if err := tx.HandOver(past, h, func() string {
				if !tx.Active() {
					return ""
				}
				return c.recovery(tx, c.waits(tx, h.Work.Words, k.Trigger))
			}); err != nil {
				c.complain("handover", err)
			}
		}
		if err := tx.Confirm(c.in.Transcript); err != nil {
			return err
		}
		if c.late {
			return nil // the next prompt carries it
		}
		via := compact.ViaSessionStart
		if c.event != "session-start" {
			via = compact.ViaPrompt
		}
		text, err := tx.Deliver(via)
		c.took = text != ""
		r.Context, r.System = text, text
		if c.took && c.host.Delivers && c.settings().Announce {
			r.Person = c.announcement(k, past.Record.Words, text)
		}
		return err
	})
	return r, err
}

// announcement tells the person of a compaction, of which hosts tell little: who began it,
// whether the agent was at work, how large the context was, what was handed over.
func (c *call) announcement(k *session.Attempt, w compact.Words, text string) string {
	how := message.CompactedAuto
	if k.Trigger == "manual" {
		how = message.CompactedByHand
	} else if state, _ := w.State(false); state == compact.StateUnderWay {
		how = message.CompactedAtWork
	} else if state == compact.StateTurnOver || state == compact.StateCalled {
		how = message.CompactedBetween
	}
	line := how.In(c.lang)
	if k.Before > 0 {
		line += message.CompactedBefore.Format(c.lang, message.Thousands(int(k.Before)))
	}
	return line + message.CompactedHanded.Format(c.lang, message.Thousands(message.Units(text)), c.sess.ID())
}

// noticed hands over after a compaction of which only the session's file tells:
// with the first call that a model reads.
func (c *call) noticed() (host.Reply, error) {
	if !c.host.FileTells || !c.in.Main() || c.event != "user-prompt-submit" && c.event != "post-tool-use" {
		return host.Reply{}, nil
	}
	m := session.Read(c.sess)
	if !m.Compaction.Summarised() && !c.host.Unannounced {
		return host.Reply{}, nil
	}
	c.in.Transcript = cmp.Or(c.in.Transcript, m.Thread.Transcript)
	at := transcript.CompactedAt(c.in.Transcript)
	if !c.host.Unannounced {
		began := m.Compaction.At.Truncate(time.Millisecond)
		// What was typed while the host compacted is asked about before the file tells
		// that it has ended.
		for n := 0; at.Before(began) && c.event == "user-prompt-submit" && c.now.Sub(began) < untold && n < lagTries; n++ {
			time.Sleep(lagWait)
			at = transcript.CompactedAt(c.in.Transcript)
		}
		if at.Before(began) {
			return host.Reply{}, nil
		}
	}
	if at.IsZero() || c.host.Unannounced && m.Compaction != nil && !at.After(m.Compaction.At) {
		return host.Reply{}, nil
	}
	if c.host.Unannounced {
		err := c.update(func(tx *session.Tx) error {
			k := tx.BeginCompaction("auto", compact.Packet{})
			k.At, k.From, k.Mark = at, tx.Memory.Mark.Off, tx.Memory.Mark
			return nil
		})
		if err != nil {
			return host.Reply{}, err
		}
	}
	return c.afterCompact()
}

// nameFeature names the feature in progress in a workflow that has none yet.
func (c *call) nameFeature(tx *session.Tx, feature string) error {
	if tx.Workflow == nil || tx.Workflow.FeatureName != "" || feature == "" {
		return nil
	}
	_, err := tx.Apply(workflow.Feature{Name: feature})
	return err
}

// tasks is the session's feature and the text of its open tasks.
func (c *call) tasks(s *workflow.State, header message.Text) (feature, text string) {
	prefer := ""
	if s != nil {
		prefer = s.FeatureName
	}
	f, ok := c.feature(prefer)
	if !ok {
		return "", ""
	}
	if len(f.InProgress) > 1 && prefer == "" && c.env.Getenv("OVERTONE_QUIET") == "" {
		names := make([]string, min(len(f.InProgress), 10))
		for i := range names {
			names[i] = prompt.Shown(f.InProgress[i])
		}
		fmt.Fprintln(c.env.Stderr, message.SeveralFeatures.Format(c.lang, strings.Join(names, ", "), prompt.Shown(f.Name)))
	}
	text = prompt.PendingTasks(f, header, c.lang)
	if c.host.Delivers && !c.listed {
		// Not every model has the tool; one that has used it does.
		text = strings.TrimSuffix(text, "\n"+message.PendingAction.In(c.lang))
	}
	return f.Name, text
}

// progress is one glance at a running workflow, with its next step where it goes on.
func (c *call) progress(s *workflow.State, goesOn bool) string {
	lines := []string{message.InProgress.Format(c.lang, s.WorkflowType, s.Running()), message.RecoveryProgress.Format(c.lang, workflow.Bar(s))}
	next := message.ResultNext
	if !goesOn {
		next = message.RestsAt
	}
	if stage := c.rules.GivenUp(s); stage != "" && !goesOn {
		lines = append(lines, message.LoopDied.Format(c.lang, stage, c.rules.MaxCrashes))
	} else if hint := workflow.NextStep(s, c.lang); hint != "" {
		lines = append(lines, next.Format(c.lang, hint))
	}
	if line := workflow.DelegateLine(s, c.lang); line != "" && goesOn {
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
