package hook

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/handover"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// maxSaid is how much is kept of what was typed behind /compact, in characters.
const maxSaid = 4000

// preCompact answers the gate, saves what must survive, records the attempt, and
// prints it. The host's compaction is never stopped by an error here.
func (c *call) preCompact() (host.Reply, error) {
	if !c.host.Delivers {
		if s, err := session.Peek(c.sess); err != nil || s == nil {
			return host.Reply{}, err
		}
	}
	// A sub-agent's is none of our business: it is not held back, as no boundary
	// of main's says anything about it, and what follows is not for main.
	if c.watcherOwns() || !c.in.Main() {
		return host.Reply{}, errQuiet
	}
	c.awaitFile()
	set := c.settings()
	gates := c.host.Gates && c.in.Trigger == "auto" && set.Mode == compact.ModeAuto
	if gates {
		session.AwaitBatch(c.sess)
	}
	var r host.Reply
	err := c.update(func(tx *session.Tx) error {
		c.seeSession(tx)
		c.learnEnds(tx, turnOver)
		c.learnBackgroundEnds(tx, false)
		if agent := c.asks(tx); agent != "" {
			tx.BeginAgentCompaction(agent)
			return nil
		}
		if gates {
			open, err := tx.Gate(set)
			if err != nil {
				c.complain("timeline", err)
			}
			if !open {
				r.Refuse = true
				return nil
			}
		}
		var err error
		r.System, err = c.beginCompaction(tx, set)
		return err
	})
	return r, err
}

// watcherOwns: where a watcher drives the thread, it hands its own packet over.
func (c *call) watcherOwns() bool {
	return (c.host.Watched || c.host.Steers) && session.WatcherOwns(c.sess, c.now)
}

// asks is the sub-agent that is to be compacted, "" for the main thread, where the
// host does not name it. What a person asks for is the main thread's; else, in
// older versions, what is known of the threads tells.
func (c *call) asks(tx *session.Tx) string {
	if !c.host.AgentsCompact || c.in.Trigger != "auto" || len(tx.Memory.Threads.Agents) == 0 || c.tellsWhose() {
		return ""
	}
	return tx.Asks(c.host.AgentTranscript)
}

// beginCompaction records the attempt with what is to survive it, and returns
// 001's text. One write tells the timeline of both.
func (c *call) beginCompaction(tx *session.Tx, set compact.Settings) (recovery string, err error) {
	trigger := c.in.Trigger
	again := c.host.Delivers && tx.Repeated()
	var (
		events []store.Event
		packet compact.Packet
	)
	if s := tx.Workflow; s != nil {
		e := store.On(message.EventSessionCompact, "workflowType", s.WorkflowType, "currentStage", s.CurrentStage)
		if trigger != "" {
			e.Data = append(e.Data, store.Field{Key: "trigger", Value: trigger})
		}
		events = append(events, e)
		recovery = c.recovery(tx, c.waits(tx, tx.Memory.Thread.Words, trigger))
	}
	n, before := tx.Memory.Compactions+1, int64(0)
	if tx.Active() || c.host.Delivers {
		tx.Measure()
		before = tx.Memory.Thread.Usage.Used
		kept := ""
		if tx.Active() {
			kept = recovery
		}
		if packet = c.packet(tx, n, set, kept, c.openTasks(tx)); packet.Text != "" {
			events = append(events, store.On(message.EventPacketCreated, "id", packet.ID, "n", n, "chars", len(packet.Text)))
		}
	}
	if !again {
		if err := tx.Emit(events...); err != nil {
			return "", err
		}
	}
	k := tx.BeginCompaction(trigger, packet)
	k.Before, k.Turn, k.Typed = before, c.in.Turn, extract.Head(c.in.Instructions, maxSaid)
	if c.host.Delivers {
		k.From, k.Mark = tx.SliceStart(c.in.Transcript)
	}
	return recovery, nil
}

// packet is the text that carries the thread across a compaction: the workflow's
// recovery, then the note on the work itself.
func (c *call) packet(tx *session.Tx, n int, set compact.Settings, recovery string, tasks []string) compact.Packet {
	t := tx.Memory.Thread
	id := c.packetSession()
	p := compact.Packet{ID: compact.PacketID(id, n), Created: c.now, Expires: c.now.Add(set.Packet.Expiry)}
	note := ""
	// Without a host there is nobody to hand the note to.
	if c.host.Delivers && !t.Empty() {
		f := handover.FactsOf(t, id, n, c.now, c.nextSteps(tx, tasks)...)
		f.Situation.State, f.Situation.Sign = t.Words.State(c.in.Trigger == "manual")
		note = handover.Write(f, set, c.told(t.Words)).Text
	}
	p.Text = session.Paragraphs(recovery, note)
	return p
}

// packetSession is the session as its packets are named after it. A watcher of
// the thread numbers its own.
func (c *call) packetSession() string {
	if c.host.Watched {
		return c.sess.ID() + "/hooks"
	}
	return c.sess.ID()
}

// nextSteps are the open steps beside the plan's: the workflow's, then tasks.
func (c *call) nextSteps(tx *session.Tx, tasks []string) []string {
	if tx.Active() {
		if step := workflow.NextStep(tx.Workflow, c.lang); step != "" {
			return append([]string{step}, tasks...)
		}
	}
	return tasks
}

// openTasks are the feature's open tasks, for a packet without a workflow.
func (c *call) openTasks(tx *session.Tx) []string {
	if tx.Active() {
		return nil // they stand in the recovery text
	}
	f, _ := c.feature("")
	return f.Unchecked
}

// feature is the one that the session works on: the one it prefers, if that is in
// progress.
func (c *call) feature(prefer string) (prompt.Feature, bool) {
	f, ok, err := prompt.ActiveFeature(c.projectRoot(), prefer)
	if err != nil {
		c.complain("tasks", err)
	}
	return f, ok
}

// waits reports that no recovery may tell the agent to go on without a word: the turn is
// the user's, or his words have no answer yet. A call by no host keeps to the
// specifications.
func (c *call) waits(tx *session.Tx, w compact.Words, trigger string) bool {
	state, _ := w.State(trigger == "manual")
	return c.host.Delivers && (c.prompted() || state.Waits() || state == compact.StateCalled || tx.Active() && c.rests(tx))
}

// prompted reports whether the call is about something that a person typed.
func (c *call) prompted() bool { return c.event == "user-prompt-submit" && !c.in.Note }

// recovery is 001's text of the session.
func (c *call) recovery(tx *session.Tx, wait bool) string {
	s := tx.Workflow
	rec := handover.Recovery{
		WorkflowType: s.WorkflowType, Bar: workflow.Bar(s), FailCount: s.FailCount, RejectCount: s.RejectCount,
		MaxRetries: c.cfg.Workflow.MaxRetries, Wait: wait,
	}
	if at := s.Running(); at != "" {
		rec.Stage = s.Describe(at, c.lang)
	}
	for k, a := range s.ActiveAgents.All() {
		name, _, _ := strings.Cut(k, "#")
		rec.Agents = append(rec.Agents, message.RecoveryAgent.Format(c.lang, name, a.Stage))
	}
	_, rec.Tasks = c.tasks(s, message.PendingTasks)
	return rec.Text(c.lang)
}
