package compact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/message"
)

// What `compact.resume` may be.
const (
	// ResumeEvidence lets an agent carry on after a compaction only where
	// [Thread.OpenWork] knows of work that is open.
	ResumeEvidence = "evidence"
	// ResumeAlways lets it carry on unless it has asked something or is done.
	ResumeAlways = "always"
	// ResumeNever leaves the next word to the user.
	ResumeNever = "never"
)

// Situation is how the work of a session stands: what the user wants now, what is true,
// and whether to go on. It is a value, and whoever speaks of the work takes it from here:
// hand-over, packet and recovery, watcher, Stop hook and suggestion, `compact explain`,
// `continue`, dashboard and MCP.
//
// [Thread.Situation] makes it from what hooks and watchers have been told event by event,
// and costs the same however long the session is. It knows of the tree only what the
// agent's own commands told, and its failures are those of the last runs. A hand-over
// reads the slice, too, which tells what has been repaired since, and a compaction asks
// git; so do neither Stop hook nor suggestion.
type Situation struct {
	State State `json:"state"`
	// Evidence is all that shows the state; see [Evidence.Decides].
	Evidence Evidence `json:"evidence"`
	// Request is what the user said last, To what it answers.
	Request string `json:"request"`
	To      string `json:"to,omitempty"`
	// Question is what the agent waits to be told.
	Question string `json:"question,omitempty"`
	// Failing are the commands that were red when they were last run, the newest first.
	Failing []Failure `json:"failing"`
	Tree    Tree      `json:"tree"`
	// Standing are the user's rules that hold, Decisions what the agent has settled,
	// the newest first.
	Standing  []Rule   `json:"standing"`
	Decisions []string `json:"decisions"`
	// Plan are the open steps, the current first; Unsure those that may be done by now.
	Plan   []string `json:"plan"`
	Unsure []string `json:"unsure,omitempty"`
}

// Rule is a sentence of the user's that holds. Ask says that he wants to be asked first.
type Rule struct {
	Text string `json:"text"`
	Ask  bool   `json:"ask,omitempty"`
}

// Tree is what is known of the working tree.
type Tree struct {
	// Known: git has answered. Without it nothing is known of what is committed and what
	// is not, and Changed are the files that the agent has edited since its last commit.
	Known   bool     `json:"known"`
	Changed []string `json:"changed"`
	// Commits are those since the last compaction that can still be reached and were not
	// reverted, the newest first.
	Commits []TreeCommit `json:"commits"`
}

// TreeCommit is a commit and who made it: [ByAgent], a name, or "" where nobody knows.
type TreeCommit struct {
	Hash    string `json:"hash"`
	Subject string `json:"subject,omitempty"`
	By      string `json:"by,omitempty"`
}

// ByAgent is who made a commit that a command of the session's agent has made.
const ByAgent = "agent"

// State is how the work stands.
type State string

const (
	// StateUnknown: nothing shows whether anything is left to do.
	StateUnknown State = "unknown"
	// StateWorking: the agent was in the middle of something.
	StateWorking State = "working"
	// StateCalled: the user has said something that nobody has answered yet.
	StateCalled State = "called"
	// StateFinished: the agent has ended its turn, and nothing is open.
	StateFinished State = "finished"
	// StateAsked: the agent has asked its user something, or waits for a decision.
	StateAsked State = "asked"
	// StateStopped: the user has interrupted the work, or told the agent to stop.
	StateStopped State = "stopped"
)

// Waits reports that the next word is known to be the user's.
func (s State) Waits() bool { return s == StateAsked || s == StateFinished || s == StateStopped }

// Evidence is a set of what has been seen of both sides. [Words] keeps it, so that all
// observers of a conversation know it by the same rules; it outlives turn and compaction.
type Evidence uint16

const (
	// ToolAsks: a question that the agent has asked with a tool has no answer.
	ToolAsks Evidence = 1 << iota
	// Proposes: a plan or a choice waits for the user's decision.
	Proposes
	// Interrupted: the user has interrupted the agent, and nothing was said or begun since.
	Interrupted
	// AtWork, UserLast, AgentLast: a tool was the last thing that happened, or the user's
	// words, or the agent's.
	AtWork
	UserLast
	AgentLast
	// Asks: the agent's last message asks something.
	Asks
	// ToldToStop: the user has told the agent to stop, or has interrupted it. It holds
	// until he asks for something or lets it go on; thanks and questions are neither.
	ToldToStop
	// SaysDone: the agent's last message says that the work is done.
	SaysDone
	// PlanDone: every step of the plan is done.
	PlanDone
	// Yields: the agent's last message leaves the next step to the user.
	Yields
	// Announces: the agent's last message says what it does next.
	Announces
	// Wonders: the user's last message only asks something.
	Wonders
	// OpenStep: a step of a plan, of a workflow or of a task list is open.
	OpenStep
	// Planned: the agent has written its plan since the user's last request. The steps of
	// an older plan may be of no interest any more.
	Planned
	// Worked: the last turn that ended has run a command or a tool.
	Worked
)

var evidenceNames = [...]string{
	"tool-asks", "proposes", "interrupted", "at-work", "user-last", "agent-last", "asks", "told-to-stop",
	"says-done", "plan-done", "yields", "announces", "wonders", "open-step", "planned", "worked",
}

// closers are what the agent's last message says of going on.
const closers = SaysDone | Yields | Announces

// Has reports whether something of what is asked for has been seen.
func (e Evidence) Has(any Evidence) bool { return e&any != 0 }

// last says what was the last thing that happened.
func (e Evidence) last(kind Evidence) Evidence { return e&^(AtWork|UserLast|AgentLast) | kind }

// Decides is the state that the evidence shows, and what of it decides; that is empty
// where nothing is known.
func (e Evidence) Decides() (State, Evidence) {
	first := func(s State, any Evidence) (State, Evidence) {
		e &= any
		return s, e & -e
	}
	stopped := e.Has(Interrupted | ToldToStop)
	switch {
	case e.Has(ToolAsks | Proposes):
		return first(StateAsked, ToolAsks|Proposes)
	case e.Has(AtWork) && e.Has(Interrupted), !e.Has(AtWork|AgentLast) && stopped:
		return first(StateStopped, Interrupted|ToldToStop)
	case e.Has(AtWork):
		return StateWorking, AtWork
	case e.Has(UserLast):
		return StateCalled, UserLast
	case !e.Has(AgentLast):
		return StateUnknown, 0
	case e.Has(Asks):
		return StateAsked, Asks
	case stopped:
		return first(StateStopped, Interrupted|ToldToStop)
	case e.Has(SaysDone|PlanDone) && !e.Has(OpenStep):
		return first(StateFinished, SaysDone|PlanDone)
	case e.Has(Yields):
		return StateAsked, Yields
	case e.Has(Announces):
		return StateWorking, Announces
	case e.Has(Wonders):
		return StateFinished, Wonders // it was asked something, and has answered
	}
	return StateUnknown, 0
}

// free reports whether nobody has said that the next word is the user's, of a turn
// that has worked.
func (e Evidence) free() bool {
	return e.Has(Worked) && !e.Has(ToldToStop|Wonders|Yields|Proposes)
}

// List are the names, what decides the state first.
func (e Evidence) List() []string {
	_, first := e.Decides()
	out := []string{}
	for _, set := range [...]Evidence{first, e &^ first} {
		for i, name := range evidenceNames {
			if set.Has(1 << i) {
				out = append(out, name)
			}
		}
	}
	return out
}

// MarshalJSON writes the names, so that a stored set survives new ones.
func (e Evidence) MarshalJSON() ([]byte, error) { return json.Marshal(e.List()) }

// UnmarshalJSON reads names; unknown ones are left out.
func (e *Evidence) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("read evidence: %w", err)
	}
	*e = 0
	for i, name := range evidenceNames {
		if slices.Contains(list, name) {
			*e |= 1 << i
		}
	}
	return nil
}

// heard takes a message of the user's.
func (e Evidence) heard(said extract.Said, own string) Evidence {
	e &^= closers | Proposes | Wonders
	switch {
	case extract.Stops(own):
		e |= ToldToStop
	case said == extract.Requested && extract.Wonders(own):
		return e | Wonders
	case said == extract.Requested:
		e &^= ToldToStop | Planned
	case extract.Urges(own):
		e &^= ToldToStop
	}
	return e
}

// Situation is how the work stands as far as words and a plan tell it. steps says that
// there is a plan, open are its steps that are left.
func (w Words) Situation(steps bool, open, unsure []string) Situation {
	e := w.Evidence
	if w.Asked != "" {
		e |= Asks
	}
	switch {
	case len(open) > 0:
		e |= OpenStep
	case steps:
		e |= PlanDone
	}
	s := Situation{
		Evidence: e, Request: w.Latest.Text, To: w.Latest.To, Failing: []Failure{}, Standing: []Rule{}, Decisions: []string{}, Plan: open, Unsure: unsure,
	}
	if s.State, _ = e.Decides(); s.State == StateAsked {
		s.Question = cmp.Or(w.Asking, w.Asked, w.Concluded)
	}
	for _, h := range slices.Backward(w.Held) {
		if h.Hold >= extract.Lasting {
			s.Standing = append(s.Standing, Rule{h.Text, h.Hold == extract.Guard})
		}
	}
	for _, d := range slices.Backward(w.Decided) {
		s.Decisions = append(s.Decisions, d)
	}
	return s
}

// Situation is how the work stands as far as its observers were told; more are open
// steps from elsewhere, a workflow or a task list.
func (t Thread) Situation(more ...string) Situation {
	s := t.Words.Situation(len(t.State.Plan.Steps) > 0, append(t.Open(), more...), nil)
	for _, f := range slices.Backward(t.State.Slice.Failures) {
		s.Failing = append(s.Failing, f)
	}
	for _, c := range slices.Backward(t.State.Slice.Commits) {
		s.Tree.Commits = append(s.Tree.Commits, TreeCommit{c.Hash, c.Subject, ByAgent})
	}
	return s
}

// OpenWork is the step that is under way, as far as there is proof of it, "" without:
// the agent worked in its last turn, has announced a step that is open, or has a
// stage of our workflow to go on with, and neither side has said that the next word
// is the user's.
func (t Thread) OpenWork(stage string) string {
	s := t.Situation()
	switch {
	case !s.Evidence.free():
		return ""
	case s.Evidence.Has(Planned) && len(s.Plan) > 0:
		return s.Plan[0]
	}
	return stage
}

// Unfinished is what the user has asked for, where nobody has said that it is done or
// that the next word is his. It is for runs that nobody sits before: there a plan is not
// needed to go on.
func (t Thread) Unfinished() string {
	if e := t.Situation().Evidence; !e.free() || e.Has(SaysDone) {
		return ""
	}
	return message.Head(message.OneLine(t.Latest), 200)
}
