package compact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-6d03985f/overtone/internal/config"
	"github.com/seed-6d03985f/overtone/internal/host"
	"github.com/seed-6d03985f/overtone/internal/shellcmd"
)

// Boundary names a sign that a piece of work is finished.
type Boundary string

const (
	// Commit: git commit made a commit.
	Commit Boundary = "commit"
	// PRCheckpoint: a pull request was opened, merged, closed, reopened or reviewed.
	PRCheckpoint Boundary = "pr_checkpoint"
	// PlanCheckpoint: a step of the active plan was completed.
	PlanCheckpoint Boundary = "plan_checkpoint"
	// PlanUpdate: the active plan was changed in any way.
	PlanUpdate Boundary = "plan_update"
	// AgentDone: the agent says that it is done, in a turn that did work.
	AgentDone Boundary = "agent_done"
	// TopicShift: the agent turns to something else.
	TopicShift Boundary = "topic_shift"
	// ConcludingThought: the agent sums up.
	ConcludingThought Boundary = "concluding_thought"
	// StageComplete: a stage of our own workflow was completed.
	StageComplete Boundary = "stage_complete"
	// TurnEnd: the agent's turn is over, and the next word is the user's.
	TurnEnd Boundary = "turn_end"
)

// turnComplete is what the origin of the boundaries calls TurnEnd.
const turnComplete Boundary = "turn_complete"

// boundaries are all of them, in the order in which they are listed everywhere,
// with the tier from which each is large enough: early takes only big steps,
// ready also finished slices, asap any natural pause.
//
// A boundary that the end of a shell command shows has two rules here, and nothing
// else knows which commands matter: may says, before a command runs, whether its end
// can show the boundary, so that the end is waited for; shows says whether it did.
var boundaries = [...]struct {
	Boundary
	from  Tier
	may   func(shellcmd.Observation) bool
	shows func(host.CommandFinished) bool
}{
	{Commit, ready, mayCommit, func(e host.CommandFinished) bool { return e.Made.Committed }},
	{PRCheckpoint, early, mayPublish, func(e host.CommandFinished) bool { return shellcmd.Checkpointed(e.Observation) }},
	{Boundary: PlanCheckpoint, from: early},
	{Boundary: PlanUpdate, from: early},
	{Boundary: AgentDone, from: asap},
	{Boundary: TopicShift, from: early},
	{Boundary: ConcludingThought, from: asap},
	{Boundary: StageComplete, from: ready},
	{Boundary: TurnEnd, from: ready},
}

// mayCommit: a command that may commit leaves marks of its repositories. In a
// recorded session there is none to look at, and its words have to do.
func mayCommit(o shellcmd.Observation) bool {
	if o.Head != nil {
		return len(o.Before) > 0
	}
	return strings.Contains(o.Line, "commit") || strings.Contains(o.Line, "git ") && strings.ContainsAny(o.Line, "ma")
}

func mayPublish(o shellcmd.Observation) bool {
	return (strings.Contains(o.Line, "gh") || strings.Contains(o.Line, "gt")) && shellcmd.Publishes(o.Line)
}

// MayShow reports whether the end of a command can show a boundary. Its marks are
// taken already.
func MayShow(o shellcmd.Observation) bool {
	for _, b := range boundaries {
		if b.may != nil && b.may(o) {
			return true
		}
	}
	return false
}

// Shown are the boundaries that the end of a command shows.
func Shown(e host.CommandFinished) (s Signals) {
	for i, b := range boundaries {
		if b.shows != nil && b.shows(e) {
			s |= 1 << i
		}
	}
	return s
}

// allows lists the boundaries that are large enough in a tier.
func (t Tier) allows() Signals {
	order := []Tier{early, ready, asap}
	var s Signals
	for i, b := range boundaries {
		if slices.Index(order, b.from) <= slices.Index(order, t) {
			s |= 1 << i
		}
	}
	return s
}

// Signals is a set of boundaries.
type Signals uint16

// setOf makes a set. Unknown names are left out.
func setOf(list ...Boundary) Signals {
	var s Signals
	for _, b := range list {
		if b == turnComplete {
			b = TurnEnd
		}
		for i := range boundaries {
			if boundaries[i].Boundary == b {
				s |= 1 << i
			}
		}
	}
	return s
}

// Signal is the set of this boundary alone.
func (b Boundary) Signal() Signals { return setOf(b) }

// counting is the set of boundaries that a configuration names.
func counting(t config.Trigger) Signals {
	var s Signals
	for _, name := range t.AutoRequiresAnyBoundary {
		s |= setOf(Boundary(name))
	}
	return s
}

// Has reports whether b is in the set.
func (s Signals) Has(b Boundary) bool { return s&setOf(b) != 0 }

// List returns the set's boundaries in a fixed order, never nil.
func (s Signals) List() []Boundary {
	out := []Boundary{}
	for i, b := range boundaries {
		if s&(1<<i) != 0 {
			out = append(out, b.Boundary)
		}
	}
	return out
}

// MarshalJSON writes the names, so that a stored set survives new boundaries.
func (s Signals) MarshalJSON() ([]byte, error) { return json.Marshal(s.List()) }

// UnmarshalJSON reads names; unknown ones are left out.
func (s *Signals) UnmarshalJSON(data []byte) error {
	var list []Boundary
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("read signals: %w", err)
	}
	*s = setOf(list...)
	return nil
}
