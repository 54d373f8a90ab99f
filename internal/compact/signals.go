package compact

import (
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Event is something that happened in a session, in words every host shares.
type Event interface{ apply(*State, Settings) }

type (
	// TurnStarted: a turn begins. Synthetic is set when our own packet opened
	// it, which no host message tells from a user's but its id.
	TurnStarted struct{ Synthetic bool }
	// CommandFinished: a shell command ended.
	CommandFinished struct{ shellcmd.Observation }
	// PlanUpdated: the agent wrote its plan anew. Plan tells plans apart where
	// the host does; "" where it does not.
	PlanUpdated struct {
		Plan  string
		Steps []Step
	}
	// UserMessage: the user asked for something.
	UserMessage struct{ Text string }
	// AgentMessage: the agent said something to the user.
	AgentMessage struct{ Text string }
	// ToolActivity: any other tool ran; File is what it changed, if anything.
	ToolActivity struct{ Tool, File string }
	// StageCompleted: a stage of our workflow was completed.
	StageCompleted struct{ Stage string }
	// TurnEnded: the turn is over.
	TurnEnded struct{}
	// Compacted: the context was compacted, by whomever.
	Compacted struct{}
)

// Step is one step of a plan. ID is its name where the host gives one, so that
// a reworded step is known again.
type Step struct {
	ID     string `json:"id,omitempty"`
	Text   string `json:"text"`
	Status Status `json:"status"`
}

// Status is how far a step is.
type Status string

const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
)

// State is what is remembered of a session between events. Its zero value is a
// session nobody has seen yet; it is stored as JSON between hooks.
type State struct {
	Synthetic bool `json:"synthetic,omitempty"`
	// Worked is set once the turn ran a command or a tool.
	Worked bool `json:"worked,omitempty"`
	// Seen are the turn's signals from deeds, Said those from the agent's last
	// message, which count only in a turn that worked.
	Seen Signals `json:"seen"`
	Said Signals `json:"said"`
	// Before are the signals of the turn before this one.
	Before Signals `json:"before"`
	// Plan is the active plan as last seen, Plans the names of all so far.
	Plan  Plan     `json:"plan"`
	Plans []string `json:"plans,omitempty"`
	// Slice is what was done since the last compaction.
	Slice Slice `json:"slice"`
	// Decisions are lines of requests and answers that must hold on.
	Decisions []string `json:"decisions,omitempty"`
}

// Plan is a list of steps.
type Plan struct {
	ID    string `json:"id,omitempty"`
	Steps []Step `json:"steps,omitempty"`
}

// Slice is what a packet tells of the work since the last compaction. All of
// its lists are bounded and keep the newest.
type Slice struct {
	Commits  []shellcmd.Made `json:"commits,omitempty"`
	Files    []string        `json:"files,omitempty"`
	Steps    []string        `json:"steps,omitempty"`
	Failures []Failure       `json:"failures,omitempty"`
	Stages   []string        `json:"stages,omitempty"`
	Last     string          `json:"last,omitempty"`
}

// Failure is a command that did not work.
type Failure struct {
	Line string `json:"line"`
	Said string `json:"said,omitempty"` // the end of its output
}

const (
	maxCommits  = 20
	maxFiles    = 60
	maxSteps    = 30
	maxFailures = 10
	maxStages   = 20
	maxLast     = 8000 // characters of the last message that are kept
	maxPlans    = 16
	maxPlan     = 100 // steps of a plan that are looked at
	maxStep     = 500 // characters of a step's text
)

// Apply returns the state after an event. The state it is given is not changed.
func (s State) Apply(e Event, set Settings) State {
	s.Slice = s.Slice.clone()
	s.Plans = slices.Clone(s.Plans)
	e.apply(&s, set)
	return s
}

// Signals are those of the current turn.
func (s State) Signals() Signals {
	switch {
	case s.Synthetic:
		return 0
	case !s.Worked:
		return s.Seen
	}
	return s.Seen | s.Said
}

// Boundary is Signals for a host that can only compact at the start of a turn:
// as long as the new turn has done nothing, the last one's signals still hold.
func (s State) Boundary() Signals {
	if !s.Worked && s.Seen == 0 && !s.Synthetic {
		return s.Before
	}
	return s.Signals()
}

// Spend takes the signals away once they have led to a compaction.
func (s State) Spend() State {
	s.Seen, s.Said, s.Before = 0, 0, 0
	return s
}

func (e TurnStarted) apply(s *State, _ Settings) {
	s.Before = s.Signals()
	s.Seen, s.Said, s.Worked, s.Synthetic = 0, 0, false, e.Synthetic
}

func (e CommandFinished) apply(s *State, _ Settings) {
	s.Worked = true
	if v := shellcmd.Committed(e.Observation); v.Committed {
		s.Seen |= Of(Commit)
		// Within a second, or a turn, a log does not tell which line made which.
		for _, c := range v.Commits {
			s.Slice.Commits = slices.DeleteFunc(s.Slice.Commits, func(o shellcmd.Made) bool { return o == c })
		}
		s.Slice.Commits = newest(append(s.Slice.Commits, v.Commits...), maxCommits)
	}
	if shellcmd.Checkpointed(e.Observation) {
		s.Seen |= Of(PRCheckpoint)
	}
	if e.Exit != nil && *e.Exit != 0 {
		f := Failure{Line: headRunes(oneLine(e.Line), 300), Said: tailRunes(oneLine(tailRunes(e.Output, 2000)), 300)}
		// The same command failing again is one finding, with the newest words.
		s.Slice.Failures = slices.DeleteFunc(s.Slice.Failures, func(o Failure) bool { return o.Line == f.Line })
		s.Slice.Failures = newest(append(s.Slice.Failures, f), maxFailures)
	} else if e.Exit != nil {
		line := headRunes(oneLine(e.Line), 300)
		s.Slice.Failures = slices.DeleteFunc(s.Slice.Failures, func(o Failure) bool { return o.Line == line })
	}
}

func (e ToolActivity) apply(s *State, _ Settings) {
	s.Worked = true
	if e.File == "" {
		return
	}
	file := headRunes(oneLine(e.File), 400)
	s.Slice.Files = slices.DeleteFunc(s.Slice.Files, func(f string) bool { return f == file })
	s.Slice.Files = newest(append(s.Slice.Files, file), maxFiles)
}

func (e StageCompleted) apply(s *State, _ Settings) {
	s.Seen |= Of(StageComplete)
	s.Slice.Stages = newest(append(s.Slice.Stages, headRunes(oneLine(e.Stage), 100)), maxStages)
}

func (e UserMessage) apply(s *State, _ Settings) { s.decide(e.Text) }

func (e AgentMessage) apply(s *State, set Settings) {
	if !s.Synthetic {
		s.decide(e.Text)
	}
	s.Said = set.Markers.in(e.Text)
	if strings.TrimSpace(e.Text) != "" {
		s.Slice.Last = tailRunes(e.Text, maxLast)
	}
}

func (TurnEnded) apply(*State, Settings) {}

func (Compacted) apply(s *State, _ Settings) {
	*s = s.Spend()
	s.Slice = Slice{}
}

// apply finds out whether a step of the active plan was completed.
//
// The active plan is the newest one. Where the host does not name plans, an
// update that shares no step with the last version is a new plan. What a new
// plan already contains was not done now; an empty plan is a clear that the next
// update may take back; a plan that was replaced before stays replaced.
func (e PlanUpdated) apply(s *State, _ Settings) {
	steps := e.steps()
	if len(steps) == 0 {
		return
	}
	switch {
	case e.Plan != s.Plan.ID && slices.Contains(s.Plans, e.Plan):
		return
	case e.Plan != s.Plan.ID || len(s.Plan.Steps) == 0 || e.Plan == "" && unrelated(s.Plan.Steps, steps):
		if s.Plan.ID != "" {
			s.Plans = newest(append(s.Plans, s.Plan.ID), maxPlans)
		}
		s.Plan = Plan{ID: e.Plan, Steps: steps}
		s.Seen |= Of(PlanUpdate)
		return
	}
	done := completed(s.Plan.Steps, steps)
	if len(done) > 0 {
		s.Seen |= Of(PlanCheckpoint)
		s.Slice.Steps = newest(append(s.Slice.Steps, done...), maxSteps)
	}
	if !slices.Equal(s.Plan.Steps, steps) {
		s.Seen |= Of(PlanUpdate)
	}
	s.Plan.Steps = steps
}

func (e PlanUpdated) steps() []Step {
	var out []Step
	for _, st := range e.Steps {
		st.Text = headRunes(oneLine(st.Text), maxStep)
		if st.Text == "" && st.ID == "" {
			continue
		}
		switch Status(strings.ToLower(string(st.Status))) {
		case Completed, "done":
			st.Status = Completed
		case InProgress, "inprogress", "in-progress":
			st.Status = InProgress
		default:
			st.Status = Pending
		}
		if out = append(out, st); len(out) == maxPlan {
			break
		}
	}
	return out
}

// keys tells steps apart: by the host's name or by their text, where equal texts
// are counted.
func keys(steps []Step) []string {
	seen := map[string]int{}
	out := make([]string, len(steps))
	for i, st := range steps {
		k := "id\x00" + st.ID
		if st.ID == "" {
			k = "text\x00" + st.Text
		}
		out[i] = k + strings.Repeat("\x00", seen[k])
		seen[k]++
	}
	return out
}

func unrelated(old, now []Step) bool {
	before := keys(old)
	return !slices.ContainsFunc(keys(now), func(k string) bool { return slices.Contains(before, k) })
}

// completed lists the steps that were open before and are completed now. A step
// that was reworded while it was ticked off is known by its place, if its old
// text is gone and the plan has kept its length.
func completed(old, now []Step) []string {
	before, after := keys(old), keys(now)
	var out []string
	for i, st := range now {
		if st.Status != Completed {
			continue
		}
		j := slices.Index(before, after[i])
		if j < 0 && len(old) == len(now) && !slices.Contains(after, before[i]) {
			j = i
		}
		if j >= 0 && old[j].Status != Completed {
			out = append(out, st.Text)
		}
	}
	return out
}

func (s Slice) clone() Slice {
	s.Commits, s.Files, s.Steps = slices.Clone(s.Commits), slices.Clone(s.Files), slices.Clone(s.Steps)
	s.Failures, s.Stages = slices.Clone(s.Failures), slices.Clone(s.Stages)
	return s
}

func newest[T any](list []T, most int) []T {
	return list[max(0, len(list)-most):]
}
