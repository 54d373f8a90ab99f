package workflow

import (
	"slices"
	"time"

	"github.com/seed-6d03985f/overtone/internal/message"
	"github.com/seed-6d03985f/overtone/internal/store"
)

// Event is something that happened to a workflow. Events carry everything the
// engine may know, the time included: replaying them gives the same state. Only
// this package has events: each knows how it changes a state.
type Event interface{ apply(t *transition) }

// Start begins a run.
type Start struct {
	SessionID, WorkflowID, Type string
	Stages                      []string // of the registry, in order
	Plan                        *Plan    // or a graph that is made already
	Feature                     string
	Environment                 Environment
	At                          time.Time
}

// Delegate hands a stage over to an agent.
type Delegate struct {
	ID      string // the host's id of the hand-over
	Agent   string // agent type; its stage is looked up
	Stage   string // or the stage key itself
	AgentID string // when an agent that is known is spoken to again
	Task    string // what it is asked: among stages of one agent, it may name one
	Async   bool
	At      time.Time
}

// Bind tells which agent works on a hand-over.
type Bind struct {
	ID      string // "" = the oldest open hand-over of the agent's stage
	Agent   string
	AgentID string
	Async   bool
}

// Ask records that an agent was asked for its marker in place.
type Ask struct{ AgentID string }

// Completion is the end of an agent's work. Any of ID, AgentID and Agent (or
// Stage) identifies it; the same completion may be reported any number of times.
type Completion struct {
	ID, AgentID string
	Agent       string
	Stage       string
	Route       *Route // nil = no valid marker
	Died        bool   // the agent ended by an error, not by an answer
	Length      int    // of the answer, in UTF-16 units
	At          time.Time
	Running     []string // as of [Tick]
}

// Drop takes an agent off its stage without counting anything: it never ran, or
// a person stopped it.
type Drop struct{ ID, AgentID string }

// Tick lets time pass: barriers may run out. Running are the agents that the host
// has listed as being at work; a barrier waits for them, for an hour at most.
type Tick struct {
	At      time.Time
	Running []string
}

// Slept says that the clock has gone on by so much while no time has passed.
type Slept struct {
	By time.Duration
	At time.Time
}

// Cancel stops the run.
type Cancel struct{ Reason string }

// Skip leaves a stage out, now or when its turn comes.
type Skip struct {
	Stage string
	At    time.Time
}

// Sift leaves out stages that nothing was changed for; see [State.Unwanted].
type Sift struct {
	Unwanted []string
	At       time.Time
}

// Restart does a stage and everything behind it again, with fresh retries.
type Restart struct {
	Stage string
	At    time.Time
}

// Resume lets stages be handed out again whose agents have died too often.
type Resume struct{}

// Recover takes agents that cannot be alive any more off their stages.
type Recover struct {
	Background bool // background agents too
}

// Feature names the feature the run belongs to, unless it has one.
type Feature struct{ Name string }

// Kind says what an event came to.
type Kind int

// Kinds of outcome.
const (
	Nothing     Kind = iota
	Started          // the run began
	Delegated        // a stage is active
	Untracked        // an agent without a stage here: allowed, not followed
	Denied           // a hand-over is refused; Reason says why
	Advanced         // the stage is done, Next may be handed over
	Waiting          // the vote is in, the barrier waits for others
	RolledBack       // the work goes back to Target
	Redelegate       // no marker: the stage is to be done again
	GaveUp           // its agents die: the next word is the user's
	Finished         // the run is complete
	Aborted          // the run is over, Reason says why
	Cancelled        // the run was stopped by a person
	Refused          // a completion that does not count; Reason says why
	Duplicate        // a completion that was applied before
	SkippedKind      // a stage was left out
	Restarted        // stages are to be done again
)

// Outcome is what the shell has to do about an event: texts, files, timeline.
type Outcome struct {
	Kind       Kind
	Stage      string // the stage key concerned
	Agent      string // its agent
	Route      *Route // as corrected
	Result     string // pass, fail, reject, issues
	Forced     bool
	Unverified bool
	Next       []string // to be handed over now
	Target     string   // of a rollback
	Failed     []string // the stages that sent it back, worst first
	Round, Max int      // of a rollback or a crash
	died       bool     // the crash is an agent's that ended by an error
	Group      string   // a barrier that was decided
	Missing    []string // who did not vote in time
	Late       string   // the verdict of one who votes now; it moves nothing
	waitingFor []string // who still has to vote
	Merged     *Merged  // reports to join
	Sifted     []string // left out because nothing was changed for them
	Stop       Stop     // what ShouldStop observed
	Reason     message.Reason
	exhausted  []string // stages whose retries are spent
	corrected  string   // "COMPLETE → NEXT": what the answer said, and what it came to

	Reflect []Reflection  // rounds to remember
	Forget  []string      // stages whose reflections go
	Events  []store.Event // for the timeline
}

// Then joins the outcomes of two events that are reported together. It says what happened
// in the first, and where the work stands after the second.
func (o Outcome) Then(next Outcome) Outcome {
	if next.Kind == Nothing {
		return o
	}
	if next.Kind == Finished || next.Kind == RolledBack || o.Kind == Nothing || o.Kind == Waiting {
		o.Kind = next.Kind
	}
	o.Next, o.waitingFor, o.Sifted = next.Next, next.waitingFor, append(slices.Clone(o.Sifted), next.Sifted...)
	if next.Group != "" {
		o.Group, o.Failed, o.Merged, o.Target, o.Round, o.Max = next.Group, next.Failed, next.Merged, next.Target, next.Round, next.Max
		o.Forced = o.Forced || next.Forced
	}
	o.exhausted = append(slices.Clone(o.exhausted), next.exhausted...)
	o.Reflect = append(slices.Clone(o.Reflect), next.Reflect...)
	o.Forget = append(slices.Clone(o.Forget), next.Forget...)
	o.Events = append(slices.Clone(o.Events), next.Events...)
	return o
}

func (o *Outcome) emit(typ string, pairs ...any) {
	o.Events = append(o.Events, store.On(typ, pairs...))
}
