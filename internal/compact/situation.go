package compact

import "slices"

// What `compact.resume` may be.
const (
	// ResumeEvidence lets an agent carry on after a compaction only for a goal that runs, a
	// stage of a workflow, or where nobody sits before it.
	ResumeEvidence = "evidence"
	// ResumeAlways lets it carry on unless a tool asks something or the turn was
	// interrupted.
	ResumeAlways = "always"
	// ResumeNever leaves the next word to the user.
	ResumeNever = "never"
)

// Situation is how the work of a session stands: what the user has said, what is true,
// and whose word is next. It is a value, and whoever speaks of the work takes it from here:
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
	// Sign is what shows the state.
	Sign Sign `json:"shown"`
	// Request is what the user typed last, To what it answers.
	Request string `json:"request"`
	To      string `json:"to,omitempty"`
	// First is the session's first message, Words are those that are told, newest first,
	// and More is how many others there are.
	First string `json:"first,omitempty"`
	Words []Word `json:"words"`
	More  int    `json:"more,omitempty"`
	// Question is what the agent waits to be told.
	Question string `json:"question,omitempty"`
	// Failing are the commands that had failed when they were last run, the newest first.
	Failing []Failure `json:"failing"`
	Tree    Tree      `json:"tree"`
	// Plan are the open steps, the current first.
	Plan []string `json:"plan"`
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
	// StateUnknown: nothing shows whose word is next.
	StateUnknown State = "unknown"
	// StateUnderWay: the turn is open, and a tool or the agent's own words came last.
	StateUnderWay State = "under-way"
	// StateCalled: the user has said something that nobody has answered yet.
	StateCalled State = "called"
	// StateAsked: a tool has put a question to the user, or a plan waits for approval.
	StateAsked State = "asked"
	// StateInterrupted: the user has stopped the turn, and has said nothing since.
	StateInterrupted State = "interrupted"
	// StateTurnOver: the agent's turn has ended.
	StateTurnOver State = "turn-over"
)

// Waits reports that the next word is known to be the user's.
func (s State) Waits() bool { return s == StateTurnOver || s.Refuses() }

// Refuses reports that no turn may be opened without a word of the user's.
func (s State) Refuses() bool { return s == StateAsked || s == StateInterrupted }

// Sign is what shows a state.
type Sign string

const (
	SignNothing     Sign = "nothing"
	SignTool        Sign = "tool-last"
	SignAgent       Sign = "agent-last"
	SignUser        Sign = "user-last"
	SignQuestion    Sign = "tool-asks"
	SignProposal    Sign = "plan-proposed"
	SignInterrupted Sign = "interrupted"
	SignEnd         Sign = "turn-ended"
	SignManual      Sign = "manual-compaction"
)

// State is how the work stands, from events alone; no text is read for it. A compaction
// that a person asked for comes between two turns, whatever the file says: its command may
// have waited in the queue.
func (w Words) State(manual bool) (State, Sign) {
	switch {
	case manual:
		return StateTurnOver, SignManual
	case w.Asking != "":
		return StateAsked, SignQuestion
	case w.Proposed:
		return StateAsked, SignProposal
	case w.Last == LastInterrupted:
		return StateInterrupted, SignInterrupted
	case w.Over:
		return StateTurnOver, SignEnd
	case w.Last == LastUser:
		return StateCalled, SignUser
	case w.Last == LastTool:
		return StateUnderWay, SignTool
	case w.Last == LastAgent:
		return StateUnderWay, SignAgent
	}
	return StateUnknown, SignNothing
}

// Situation is how the work stands as far as words and a plan tell it; open are the steps
// that are left. Manual says that a person has asked for the compaction.
func (w Words) Situation(manual bool, open []string) Situation {
	newest := w.Newest()
	s := Situation{
		Request: newest.Text, To: newest.To, First: w.First.Text, Words: []Word{}, Question: w.Asking,
		Failing: []Failure{}, Plan: open,
	}
	s.State, s.Sign = w.State(manual)
	return s
}

// Situation is how the work stands, as far as hooks and watchers know. more are open steps
// from elsewhere, a workflow or a task list.
func (t Thread) Situation(more ...string) Situation {
	s := t.Words.Situation(false, append(t.Open(), more...))
	for _, f := range slices.Backward(t.State.Slice.Failures) {
		s.Failing = append(s.Failing, f)
	}
	for _, c := range slices.Backward(t.State.Slice.Commits) {
		s.Tree.Commits = append(s.Tree.Commits, TreeCommit{c.Hash, c.Subject, ByAgent})
	}
	return s
}

// Unfinished is what the user has asked for, where neither a tool asks nor the turn was
// interrupted, and the agent has not said that it is done. It is for runs that nobody sits
// before: there nobody else would go on.
func (t Thread) Unfinished() string {
	if state, _ := t.Words.State(false); state.Refuses() || t.State.Spoken.Has(AgentDone) {
		return ""
	}
	return t.Words.Newest().Text
}
