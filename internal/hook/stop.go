package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-6d03985f/overtone/internal/blueprint"
	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// stuckMax is how often a turn may be kept going while no stage ends. The host
// itself gives up after eight.
const stuckMax = 5

// stop keeps a workflow's loop going: while stages are left, the main agent is
// told the next one instead of ending its turn. It lets go when background
// agents are at work (they will wake it), when nothing moves, and at the limit.
func (c *call) stop() (host.Reply, error) {
	if !c.in.Main() {
		return host.Reply{}, errQuiet
	}
	if !c.host.Delivers {
		if s, err := session.Peek(c.sess); err != nil || s == nil {
			return host.Reply{}, err
		}
	}
	// Without the lock, and once a turn: the file is the only one that tells.
	for n := 0; c.host.TurnOver != nil && n < lagTurn && !transcript.Newest(c.in.Transcript, c.host.TurnOver); n++ {
		time.Sleep(lagWait)
	}
	c.awaitFile()
	var r host.Reply
	err := c.update(func(tx *session.Tx) error {
		tx.Rested(c.in.Background, c.in.Lists)
		if err := c.settle(tx, &r); err != nil {
			return err
		}
		if err := c.turnEnded(tx, &r); err != nil {
			c.complain("signals", err)
		}
		if c.host.NoPerson && r.Person != "" {
			tx.Leave(session.Message{Model: message.TellUser.Format(c.lang, r.Person)})
			r.Person = ""
		}
		if tx.Workflow == nil || !c.host.Loops {
			return nil
		}
		if !tx.Workflow.Active {
			return c.tellEnd(tx, &r)
		}
		if err := c.dropDeadAgents(tx); err != nil {
			return err
		}
		if err := c.tickBarriers(tx); err != nil {
			return err
		}
		return c.keepGoing(tx, &r)
	})
	return r, err
}

// turnEnded judges a finished turn. In mode suggest the person is told, once per
// growth of the context; hooks cannot compact by themselves.
func (c *call) turnEnded(tx *session.Tx, r *host.Reply) error {
	set := c.settings()
	// In mode auto the host compacts, which asks us, or our plugin in it, or a watcher.
	if acts := c.host.Gates || c.host.Steers || c.host.Watched && c.home.Leased(store.WatcherLease); set.Mode == compact.ModeAuto && !acts {
		set.Mode = compact.ModeSuggest // nobody else says it
	}
	w := &tx.Memory.Thread
	c.seeSession(tx)
	c.learnEnds(tx, turnOver)
	c.learnBackgroundEnds(tx, false)
	if c.in.Answer == "" && c.host.FileTells {
		if said, err := transcript.LastAssistantTexts(c.in.Transcript, 30); err == nil && len(said) > 0 {
			c.in.Answer = said[len(said)-1]
		}
	}
	tx.Observe(host.AgentMessage{Text: c.in.Answer}, set)
	tx.Observe(host.TurnEnded{}, set)
	waits := set.Mode == compact.ModeAuto && c.host.Gates // what is due comes with the next prompt
	dec, err := tx.Decide(set, w.Over() && (set.AtPrompt || !waits))
	if err != nil {
		return err
	}
	var tell bool
	if *w, tell = w.Tell(dec, set); tell {
		text := message.CompactSoon.Format(c.lang, dec.PercentRemaining)
		if len(dec.Met) > 0 {
			// Every turn ends; what else it has done says more.
			met := slices.DeleteFunc(slices.Clone(dec.Met), func(b compact.Boundary) bool { return b == compact.TurnEnd && len(dec.Met) > 1 })
			text = message.CompactNow.Format(c.lang, dec.PercentRemaining, compact.Names(met))
		}
		r.Person = session.Paragraphs(r.Person, text)
	}
	return nil
}

// dropDeadAgents frees the stages of agents that cannot be alive: at the end of a turn
// nothing runs in the foreground, and the host lists what runs behind it.
func (c *call) dropDeadAgents(tx *session.Tx) error {
	if _, err := tx.Apply(workflow.Recover{}); err != nil {
		return err
	}
	if err := tx.DropDeadRuns(); err != nil {
		return err
	}
	// Who was handed a stage and has no id by now was never started.
	for _, del := range tx.Workflow.Delegations {
		_, ours := session.RunBy(del.AgentID)
		unborn := c.host.WaitTool != "" && del.Async && del.AgentID == ""
		gone := c.in.Lists && !ours && del.Async && del.AgentID != "" && !slices.Contains(c.in.Background, del.AgentID)
		stopped := c.host.AgentFile != nil && del.Open && del.AgentID != "" && !ours &&
			transcript.Newest(c.host.AgentFile(c.in.Transcript, del.AgentID, c.now), c.host.Aborted)
		if !del.Open || !unborn && !gone && !stopped {
			continue
		}
		if _, err := tx.Apply(workflow.Drop{ID: del.ID}); err != nil {
			return err
		}
		if stopped { // who stops an agent wants a word in what comes next
			loopOf(tx).Rests = true
		}
	}
	return nil
}

func (c *call) keepGoing(tx *session.Tx, r *host.Reply) error {
	s := tx.Workflow
	limit := c.cfg.Workflow.LoopMaxIterations
	l := loopOf(tx)
	if (len(s.ActiveStages) > 0 || len(c.in.Background) > 0) && !c.mustWait(s) {
		// What waits for the model keeps waiting: text here would start a turn.
		return nil
	}
	if seen := signature(s); seen != l.At {
		l.At, l.Stuck, l.LetGo = seen, 0, false
	}
	untrusted := c.untrusted(s)
	lines := c.nextWords(s)
	said := fmt.Sprint(len(s.Delegations), l.Waits, lines)
	switch {
	case l.Iteration >= limit:
		r.Result = message.LoopMax.Format(c.lang, l.Iteration, limit)
	case c.rules.GivenUp(s) != "":
		r.Result = message.LoopDied.Format(c.lang, c.rules.GivenUp(s), c.rules.MaxCrashes)
	case c.host.Delivers && c.rests(tx):
		r.Result = message.LoopRests.Format(c.lang, s.WorkflowType)
	case untrusted != "" && len(s.Ready()) == 1:
		r.Result = untrusted
	case l.Stuck >= stuckMax, c.host.Delivers && said == l.Block:
		r.Result = message.LoopStuck.Format(c.lang, l.Stuck)
	}
	if r.Result != "" {
		if !l.LetGo {
			r.Person = session.Paragraphs(r.Person, r.Result)
			l.LetGo = true
		}
		return nil
	}
	if l.Iteration == 0 {
		if err := tx.Emit(store.On(message.EventLoopStart, "workflowType", s.WorkflowType)); err != nil {
			c.complain("stop", err)
		}
	}
	l.Iteration++
	l.Stuck++
	if c.host.Delivers {
		l.Block = said
	}
	done, total := s.Progress()
	progress := fmt.Sprintf("%d/%d", done, total)
	if err := tx.Emit(store.On(message.EventLoopAdvance, "iteration", l.Iteration, "progress", progress)); err != nil {
		c.complain("stop", err)
	}
	var waiting host.Reply
	c.collect(tx, &waiting)
	if line := workflow.DelegateLine(s, c.lang); c.host.Delivers && !strings.Contains(waiting.Context, line) {
		lines = append(lines, line)
	}
	if untrusted == "" {
		lines = append(lines, message.LoopNoAsk.In(c.lang))
	}
	r.Block = session.Paragraphs(waiting.Context, message.LoopTitle.Format(c.lang, l.Iteration, limit)+"\n"+strings.Join(lines, "\n"))
	tx.Prompted()
	return nil
}

// nextWords are where the work stands and what comes next.
func (c *call) nextWords(s *workflow.State) []string {
	lines := []string{message.RecoveryProgress.Format(c.lang, workflow.Bar(s))}
	if f, _ := c.feature(s.FeatureName); f.Total > 0 {
		lines = append(lines, message.LoopTasks.Format(c.lang, f.Checked, f.Total))
	}
	if c.mustWait(s) {
		lines = append(lines, message.LoopAwait.Format(c.lang, c.host.WaitTool, strings.Join(atWork(s), ", ")))
	}
	if hint := workflow.NextStep(s, c.lang); hint != "" {
		lines = append(lines, message.LoopNext.Format(c.lang, hint))
	} else {
		lines = append(lines, message.LoopNextAny.In(c.lang))
	}
	return lines
}

// loopOf is the loop of the workflow that is at work.
func loopOf(tx *session.Tx) *session.Loop {
	l := &tx.Memory.Loop
	if l.Workflow != tx.Workflow.WorkflowID {
		*l = session.Loop{Workflow: tx.Workflow.WorkflowID}
	}
	return l
}

// rests reports whether the next word is the user's: he has spoken or stopped something
// since the last stage was handed out, plans, or has a plan or a question before him.
func (c *call) rests(tx *session.Tx) bool {
	state, _ := tx.Memory.Thread.Words.State(false)
	return c.resting(tx) || state == compact.StateAsked || c.planning()
}

// resting reports whether the workflow is stopped or put aside, or cannot go on by itself.
func (c *call) resting(tx *session.Tx) bool {
	return loopOf(tx).Rests || c.rules.GivenUp(tx.Workflow) != ""
}

func (c *call) planning() bool {
	return c.in.Planning || c.host.Plans != nil && transcript.Newest(c.in.Transcript, c.host.Plans)
}

// untrusted is what the user has to do before the next stage can run its command.
func (c *call) untrusted(s *workflow.State) string {
	for _, k := range s.Ready() {
		run := s.DAG.Spec(k).Run
		if run == "" || s.Origin == nil {
			continue
		}
		if _, trusted, err := blueprint.Command(c.home.Root(), s.Origin, k, run); err == nil && !trusted {
			return message.NotTrusted.Format(c.lang, s.Origin.Path, s.WorkflowType)
		}
	}
	return ""
}

// mustWait reports whether the main agent has to wait for agents itself: nothing
// would wake it when they end.
func (c *call) mustWait(s *workflow.State) bool { return c.host.WaitTool != "" && len(atWork(s)) > 0 }

// atWork are the agents of stages that run.
func atWork(s *workflow.State) []string {
	var ids []string
	for _, d := range s.Delegations {
		if _, ours := session.RunBy(d.AgentID); d.Open && d.AgentID != "" && !ours {
			ids = append(ids, d.AgentID)
		}
	}
	return ids
}

// signature is what counts as progress.
func signature(s *workflow.State) string {
	var b strings.Builder
	for k, st := range s.Stages.All() {
		fmt.Fprintf(&b, "%s=%s/%d/%d ", k, st.Status, s.Retries[k], s.Crashes[k])
	}
	return b.String()
}

// tellEnd tells the person, once, how a workflow ended.
func (c *call) tellEnd(tx *session.Tx, r *host.Reply) error {
	s := tx.Workflow
	l := &tx.Memory.Loop
	// Who cancelled it knows.
	if s.Ended == "cancelled" || !s.Broken() && !s.Done() || l.Workflow == s.WorkflowID && l.LetGo {
		return nil
	}
	*l = session.Loop{Workflow: s.WorkflowID, Iteration: l.Iteration, LetGo: true}
	lines := []string{message.LoopDone.Format(c.lang, s.WorkflowType)}
	if s.Broken() {
		lines[0] = message.LoopBroken.Format(c.lang, s.WorkflowType, message.Named("ended", s.Ended).In(c.lang))
		if s.EndReason != "" {
			lines = append(lines, message.LoopReason.Format(c.lang, s.EndReason))
		}
	}
	lines = append(lines, "")
	for k, st := range s.Stages.All() {
		lines = append(lines, message.LoopStage.Format(c.lang, stageMark(st), s.Describe(k, c.lang)))
	}
	lines = append(lines, "")
	for _, count := range []struct {
		text message.Text
		n    int
	}{{message.LoopFails, s.FailCount}, {message.LoopRejects, s.RejectCount}, {message.LoopUnverif, s.Unverified()}} {
		if count.n > 0 {
			lines = append(lines, count.text.Format(c.lang, count.n))
		}
	}
	lines = append(lines, message.LoopDuration.Format(c.lang, duration(s)))
	r.Result = strings.Join(lines, "\n")
	r.Person = session.Paragraphs(r.Person, r.Result)
	return tx.Emit(store.On(message.EventLoopComplete, "iteration", l.Iteration, "reason", s.Ended))
}

// duration is how long the work took: to the last stage's end, not to now.
func duration(s *workflow.State) string {
	begin, err := time.Parse(time.RFC3339, s.CreatedAt)
	if err != nil {
		return "?"
	}
	end := begin
	for _, st := range s.Stages.All() {
		if t, err := time.Parse(time.RFC3339, st.CompletedAt); err == nil && t.After(end) {
			end = t
		}
	}
	return end.Sub(begin).Round(time.Second).String()
}

func stageMark(st workflow.StageState) string {
	switch {
	case st.Status == workflow.Skipped:
		return "⏭️"
	case st.Unverified:
		return "❔"
	}
	marks := map[string]string{"pass": "✅", "fail": "❌", "reject": "🔙", "issues": "🔁"}
	return cmp.Or(marks[st.Result], "⬜")
}
