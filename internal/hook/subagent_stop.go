package hook

import (
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/compact"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/redact"
	"github.com/seed-6d03985f/overtone/internal/session"
	"github.com/seed-6d03985f/overtone/internal/store"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// subagentStop is the transition. What it prints depends on who listens: the
// specifications' texts, or, for the host, nothing: its main model reads the
// outbox at its next hook.
func (c *call) subagentStop() (host.Reply, error) {
	agent := c.in.AgentType
	if c.in.Summary != "" && agent == "" && c.host.Delivers {
		return host.Reply{}, c.summarised()
	}
	// Without a summary too, the host's own summariser ends like a sub-agent
	// without a type.
	if agent == "" {
		return host.Reply{}, errQuiet
	}
	if err := c.agentEnded(); err != nil {
		return host.Reply{}, err
	}
	if s, err := session.Peek(c.sess); err != nil || s == nil || !s.Follows(agent) {
		return host.Reply{}, err
	}
	done := completion{AgentID: c.in.AgentID, Agent: agent, Text: c.in.Answer, Transcript: c.in.AnswerFile}
	done.HasText = strings.TrimSpace(done.Text) != ""
	var r host.Reply
	err := c.update(func(tx *session.Tx) error {
		if tx.Workflow == nil {
			return nil
		}
		if c.host.AsksAgents {
			if ask := c.ask(tx, done); ask != "" {
				r.Block = ask
				return nil
			}
		}
		end, err := c.complete(tx, done)
		if err != nil {
			return err
		}
		if !c.host.Delivers {
			r.Result, r.System = strings.Join(end.result, "\n"), end.system
			tx.Memory.Outbox = nil
		}
		return nil
	})
	return r, err
}

// agentEnded forgets a sub-agent that was seen at work.
func (c *call) agentEnded() error {
	if _, known := session.Read(c.sess).Threads.Agents[c.in.AgentID]; !known {
		return nil
	}
	return c.update(func(tx *session.Tx) error {
		tx.AgentEnded(c.in.AgentID)
		return nil
	})
}

// summarised keeps the summary that the host's own summariser has just written:
// nobody else tells it before the session starts again.
func (c *call) summarised() error {
	m := session.Read(c.sess)
	// While a sub-agent is compacted, too, nothing says whose summary this is.
	ours := func(m *session.Memory) bool { return m.Compaction.Summarised() && len(m.Threads.Compacting) == 0 }
	if !ours(&m) && !m.Unread() {
		return nil
	}
	return c.update(func(tx *session.Tx) error {
		if !ours(&tx.Memory) {
			return nil
		}
		return tx.KeepSummary(c.in.Summary)
	})
}

// ask wants a quality agent's verdict in place, once, before the stage counts as
// crashed; and a background agent's report in one line, because the host hands
// its last message to the main model as it is.
func (c *call) ask(tx *session.Tx, done completion) string {
	if !tx.Workflow.Active || done.AgentID == "" || c.in.Again {
		return ""
	}
	key, async := "", false
	for _, del := range tx.Workflow.Delegations {
		if del.Open && (del.AgentID == done.AgentID || del.AgentID == "" && tx.Workflow.WorksOn(done.Agent, del.Stage)) {
			if del.Asked {
				return ""
			}
			key, async = del.Stage, del.Async
		}
	}
	long := async && strings.Count(strings.TrimSpace(done.Text), "\n") > 3
	if key == "" || !tx.Workflow.Quality(key) || !long && done.route() != nil {
		return ""
	}
	keepReport(tx, key, done.Text)
	if _, err := tx.Apply(workflow.Bind{Agent: done.Agent, AgentID: done.AgentID}); err != nil {
		return ""
	}
	if _, err := tx.Apply(workflow.Ask{AgentID: done.AgentID}); err != nil {
		return ""
	}
	return message.AskMarker.Format(c.lang, key)
}

// completion is the end of an agent's work as a hook sees it.
type completion struct {
	ID, AgentID, Agent string
	Text               string
	HasText            bool // the host gave the answer itself
	Transcript         string
	Died               bool
}

// stage is the one that it would end.
func (done completion) stage(s *workflow.State) string {
	return s.StageOf(workflow.Completion{ID: done.ID, AgentID: done.AgentID, Agent: done.Agent})
}

// route finds the verdict: in the answer, and only without one in the tail of
// the agent's transcript.
func (done completion) route() *workflow.Route {
	if done.Died {
		return nil
	}
	texts := []string{done.Text}
	if !done.HasText {
		// A transcript that cannot be read holds no verdict.
		texts, _ = transcript.LastAssistantTexts(done.Transcript, workflow.RouteLines)
	}
	r, ok := workflow.LastRoute(texts)
	if !ok {
		return nil
	}
	r.Hint = redact.Clean(r.Hint) // before it is cut
	return &r
}

// ending is what a completion gives to say.
type ending struct {
	result []string // 000
	system string   // 002
}

// complete applies a completion and leaves the routing text for the main model.
func (c *call) complete(tx *session.Tx, done completion) (ending, error) {
	route := done.route()
	key := done.stage(tx.Workflow)
	if tx.Workflow.Quality(key) && !done.Died {
		if done.HasText {
			keepReport(tx, key, done.Text)
		}
		if route != nil {
			c.correctReport(tx, key, route)
		}
	}
	out, err := tx.Apply(workflow.Completion{
		ID: done.ID, AgentID: done.AgentID, Agent: done.Agent, Route: route, Died: done.Died, Length: message.Units(done.Text), At: c.now,
		Running: tx.Memory.Threads.Running,
	})
	if err != nil {
		return ending{}, err
	}
	var end ending
	switch out.Kind {
	case workflow.Duplicate, workflow.Nothing:
		if out.Late == workflow.Fail {
			// The work has gone on without it; somebody has to know.
			text := message.LateFail.Format(c.lang, out.Stage)
			tx.Post(session.Message{Model: text, Person: text})
		}
		return end, nil
	case workflow.Refused:
		if tx.Workflow.Active {
			end.system = workflow.Instruction(tx.Workflow, out, c.lang)
		}
		return end, nil
	}
	end.result = workflow.Result(tx.Workflow, out, c.lang)
	if out.Result != "" && out.Kind != workflow.Redelegate { // a passed stage of ours is a boundary
		tx.Observe(host.StageCompleted{Stage: out.Stage}, compact.Settings{})
	}
	warning := ""
	if tx.Unticked != nil {
		warning = message.TickFailed.Format(c.lang, tx.Unticked)
		end.result = append([]string{warning}, end.result...)
	}
	suggestion := c.suggest(tx, out)
	if suggestion != "" {
		end.result = append(end.result, "", suggestion)
	}
	instruction := workflow.Instruction(tx.Workflow, out, c.lang)
	end.system = instruction
	if tx.Workflow.Active {
		for _, next := range out.Next {
			end.system = joinLine(end.system, c.node(tx, next).Comment())
		}
	}
	if c.host.CloseTool != "" && done.AgentID != "" && instruction != "" {
		instruction = joinLine(message.CloseAgent.Format(c.lang, c.host.CloseTool, strings.Join(doneAgents(tx.Workflow), ", ")), instruction)
	}
	tx.Post(session.Message{Model: instruction, Person: session.Paragraphs(warning, suggestion)})
	return end, nil
}

// doneAgents are agents whose work is taken, newest first, as many as may count.
func doneAgents(s *workflow.State) []string {
	var ids []string
	for _, d := range slices.Backward(s.Delegations) {
		if d.Done && d.AgentID != "" && !slices.Contains(ids, d.AgentID) && len(ids) < 4 {
			ids = append(ids, d.AgentID)
		}
	}
	return ids
}

// suggest is 000's suggestion: after a PASS, and at most every few stages.
// Whatever it cannot find out means no suggestion, and never an error.
func (c *call) suggest(tx *session.Tx, out workflow.Outcome) string {
	if out.Result != "pass" || !tx.Workflow.Active || out.Kind == workflow.RolledBack || out.Kind == workflow.Redelegate || c.repaired {
		return ""
	}
	in, err := tx.Memory.SuggestInput(c.sess, tx.Workflow, c.cfg.Compact, c.in.Transcript)
	if err != nil {
		return ""
	}
	s := compact.Suggest(in)
	if !s.Suggest {
		return ""
	}
	err = tx.Emit(store.On(message.EventSessionCompactSuggest, "transcriptSize", s.Size, "reason", s.Reason,
		"stage", out.Stage, "agent", out.Agent))
	if err != nil || c.cfg.Compact.Mode == compact.ModeTag {
		return ""
	}
	return compact.SuggestText(s.Size, c.lang)
}

// keepReport saves an answer as the stage's report unless the agent wrote one.
func keepReport(tx *session.Tx, key, text string) {
	report := text
	if i := strings.LastIndex(text, "<!-- PIPELINE_ROUTE"); i >= 0 {
		report = text[:i]
	}
	report = strings.TrimSpace(report)
	// One line and the marker is what was asked for: no report.
	if report == "" || !strings.Contains(report, "\n") && len(report) < 400 || tx.Reported(key) {
		return
	}
	tx.Report(key, report+"\n")
}

// correctReport corrects the context_file of an answer: only a report of this
// session's own pattern is passed on, and one that exists needs no naming.
func (c *call) correctReport(tx *session.Tx, key string, route *workflow.Route) {
	if route.ContextFile != "" {
		if _, err := c.sess.ResolveContext(route.ContextFile); err == nil {
			return
		}
		route.ContextFile = ""
	}
	if tx.Reported(key) {
		route.ContextFile = c.shownPath(c.sess.ContextPath(key))
	}
}

func joinLine(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}
