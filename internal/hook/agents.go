package hook

import (
	"strings"

	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/prompt"
	"github.com/seed-6d03985f/overtone/internal/transcript"
	"github.com/seed-6d03985f/overtone/internal/workflow"
)

// subagentStart ties an agent to its hand-over.
func (c *call) subagentStart() (host.Reply, error) {
	return c.ofStage(func(d *desk, agent, id string) error {
		_, err := d.apply(workflow.Bind{Agent: agent, AgentID: id})
		return err
	})
}

// stopFailure: an agent died of an error. For one in the background there is no
// other sign.
func (c *call) stopFailure() (host.Reply, error) {
	return c.ofStage(func(d *desk, agent, id string) error {
		_, err := d.finish(completion{AgentID: id, Agent: agent, Died: true})
		return err
	})
}

// ofStage runs f for an event of a sub-agent that works on a stage of a workflow
// that is active; any other is none of our business.
func (c *call) ofStage(f func(d *desk, agent, id string) error) (host.Reply, error) {
	agent, id := c.in.AgentType, c.in.AgentID
	if id == "" || workflow.StageOfAgent(agent) == "" {
		return host.Reply{}, errQuiet
	}
	if s, err := Peek(c.sess); err != nil || s == nil || !s.Active {
		return host.Reply{}, err
	}
	return host.Reply{}, c.update(func(d *desk) error {
		if d.state == nil {
			return nil
		}
		return f(d, agent, id)
	})
}

// completion is the end of an agent's work as a hook sees it.
type completion struct {
	ID, AgentID, Agent string
	Text               string
	HasText            bool // the host gave the answer itself
	Transcript         string
	Died               bool
}

// route finds the verdict: in the answer, and only without one in the tail of
// the agent's transcript.
func (done completion) route() *workflow.Route {
	if done.Died {
		return nil
	}
	var (
		r  workflow.Route
		ok bool
	)
	switch {
	case done.HasText:
		r, ok = workflow.ParseRoute(done.Text)
	case done.Transcript != "":
		// A transcript that cannot be read holds no verdict.
		texts, _ := transcript.LastAssistantTexts(done.Transcript, workflow.RouteLines)
		r, ok = workflow.LastRoute(texts)
	}
	if !ok {
		return nil
	}
	return &r
}

// subagentStop is the transition. What it prints depends on who listens: the
// specifications' texts, or, for the host, nothing: its main model reads the
// outbox at its next hook.
func (c *call) subagentStop() (host.Reply, error) {
	agent := c.in.AgentType
	// The host's own summariser ends like a sub-agent without a type.
	if agent == "" || workflow.StageOfAgent(agent) == "" {
		return host.Reply{}, errQuiet
	}
	if s, err := Peek(c.sess); err != nil || s == nil {
		return host.Reply{}, err
	}
	done := completion{
		AgentID: c.in.AgentID, Agent: agent,
		Text: c.in.Answer, Transcript: c.in.AnswerFile,
	}
	done.HasText = strings.TrimSpace(done.Text) != ""
	var r host.Reply
	err := c.update(func(d *desk) error {
		if d.state == nil {
			return nil
		}
		if c.host.AsksAgents {
			if ask := d.ask(done); ask != "" {
				r.Block = ask
				return nil
			}
		}
		end, err := d.finish(done)
		if err != nil {
			return err
		}
		if !c.host.Delivers {
			r.Result, r.System = strings.Join(end.result, "\n"), end.system
			d.mem.Outbox = nil
		}
		return nil
	})
	return r, err
}

// ask wants a quality agent's verdict in place, once, before the stage counts as
// crashed; and a background agent's report in one line, because the host hands
// its last message to the main model as it is.
func (d *desk) ask(done completion) string {
	base := workflow.StageOfAgent(done.Agent)
	if !d.state.Active || !workflow.Quality(base) || done.AgentID == "" || d.c.in.Again {
		return ""
	}
	key, async := "", false
	for _, del := range d.state.Delegations {
		if del.Open && (del.AgentID == done.AgentID || del.AgentID == "" && workflow.Base(del.Stage) == base) {
			if del.Asked {
				return ""
			}
			key, async = del.Stage, del.Async
		}
	}
	if key == "" {
		return ""
	}
	missing := done.route() == nil
	long := async && len(strings.Split(strings.TrimSpace(done.Text), "\n")) > 4
	if !missing && !long {
		return ""
	}
	if err := d.keepReport(key, done.Text); err != nil {
		return ""
	}
	if _, err := d.apply(workflow.Bind{Agent: done.Agent, AgentID: done.AgentID}); err != nil {
		return ""
	}
	if _, err := d.apply(workflow.Ask{AgentID: done.AgentID}); err != nil {
		return ""
	}
	return message.AskMarker.Format(d.c.lang, key)
}

// keepReport saves an answer as the stage's report unless the agent wrote one.
func (d *desk) keepReport(key, text string) error {
	report := text
	if i := strings.LastIndex(text, "<!-- PIPELINE_ROUTE"); i >= 0 {
		report = text[:i]
	}
	report = strings.TrimSpace(report)
	// One line and the marker is what was asked for: no report.
	if report == "" || !strings.Contains(report, "\n") && len(report) < 400 {
		return nil
	}
	if _, err := d.tx.ReadContext(d.c.sess.ContextPath(key)); err == nil {
		return nil
	}
	return d.tx.WriteContext(key, []byte(report+"\n"))
}

// ending is what a completion gives to say.
type ending struct {
	result []string // 000
	system string   // 002
}

// finish applies a completion and leaves the routing text for the main model.
func (d *desk) finish(done completion) (ending, error) {
	c := d.c
	route := done.route()
	base := workflow.StageOfAgent(done.Agent)
	key := d.state.StageOf(workflow.Completion{ID: done.ID, AgentID: done.AgentID, Agent: done.Agent})
	if workflow.Quality(base) && !done.Died {
		if done.HasText {
			if err := d.keepReport(key, done.Text); err != nil {
				c.complain("context", err)
			}
		}
		if route != nil {
			d.ownReport(key, route)
		}
	}
	out, err := d.apply(workflow.Completion{
		ID: done.ID, AgentID: done.AgentID, Agent: done.Agent, Route: route, Died: done.Died, Length: message.Units(done.Text), At: c.now,
	})
	if err != nil {
		return ending{}, err
	}
	var end ending
	switch out.Kind {
	case workflow.Duplicate, workflow.Nothing:
		return end, nil
	case workflow.Refused:
		if d.state.Active {
			end.system = workflow.Instruction(d.state, out, c.lang)
		}
		return end, nil
	}
	end.result = workflow.Result(d.state, out, c.lang)
	if warning := d.tickTask(out); warning != "" {
		end.result = append([]string{warning}, end.result...)
	}
	suggestion, err := d.suggest(out)
	if err != nil {
		return end, err
	}
	if suggestion != "" {
		end.result = append(end.result, "", suggestion)
	}
	d.stageSeen(out)
	instruction := workflow.Instruction(d.state, out, c.lang)
	end.system = instruction
	if d.state.Active {
		for _, next := range out.Next {
			end.system = joinLine(end.system, d.node(next).Comment())
		}
	}
	d.post(letter{Model: instruction, Person: suggestion})
	return end, nil
}

func joinLine(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// ownReport corrects the context_file of an answer: only a report of this
// session's own pattern is passed on, and one that exists needs no naming.
func (d *desk) ownReport(key string, route *workflow.Route) {
	if route.ContextFile != "" {
		if _, err := d.c.sess.ResolveContext(route.ContextFile); err == nil {
			return
		}
		route.ContextFile = ""
	}
	if _, err := d.tx.ReadContext(d.c.sess.ContextPath(key)); err == nil {
		route.ContextFile = d.shown(d.c.sess.ContextPath(key))
	}
}

// tickTask ticks the stage in the feature's task list.
func (d *desk) tickTask(out workflow.Outcome) (warning string) {
	if d.state.FeatureName == "" || out.Result != "pass" && out.Result != "issues" {
		return ""
	}
	_, err := prompt.TickTask(d.c.projectRoot(), d.state.FeatureName, workflow.Base(out.Stage))
	if err != nil {
		return message.TickFailed.Format(d.c.lang, err)
	}
	return ""
}
