package compact

import (
	"github.com/seed-6d03985f/overtone/internal/extract"
	"github.com/seed-6d03985f/overtone/internal/host"
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

// stance is what is known about whether the work is to go on. It outlives the
// turn: a compaction is one, too.
type stance struct {
	// Stopped: the user has told the agent to stop, or has interrupted it. It
	// holds until he asks for something or lets it go on; thanks and questions
	// are neither.
	Stopped bool `json:"stopped,omitempty"`
	// Wonders: the user's last message only asks something.
	Wonders bool `json:"wonders,omitempty"`
	// Planned: the agent has written its plan since the user's last request. The
	// steps of an older plan may be of no interest any more.
	Planned bool `json:"planned,omitempty"`
	// Yields: the agent's last message leaves the next step to the user.
	Yields bool `json:"yields,omitempty"`
	// Proposed: a plan or a choice waits for the user's decision.
	Proposed bool `json:"proposed,omitempty"`
	// Worked: the last turn that ended has run a command or a tool.
	Worked bool `json:"worked,omitempty"`
}

// hear takes a message of the user's. One that is told again, after what followed
// it, can still stop the work but sets nothing going.
func (s stance) hear(said extract.Said, own string, again bool) stance {
	if said == extract.NotSaid {
		return s
	}
	s.Stopped = s.Stopped || extract.Stops(own)
	if again {
		return s
	}
	s.Yields, s.Proposed, s.Wonders = false, false, said == extract.Requested && extract.Wonders(own)
	switch {
	case s.Wonders, extract.Stops(own):
	case said == extract.Requested:
		s.Stopped, s.Planned = false, false
	case extract.Urges(own):
		s.Stopped = false
	}
	return s
}

// ended takes the end of a turn.
func (s *state) ended(e host.TurnEnded) {
	s.Stance.Worked = s.Worked
	s.Stance.Stopped = s.Stance.Stopped || e.Interrupted
}

// free reports whether nobody has said that the next word is the user's, of a turn
// that has worked.
func (s stance) free() bool {
	return s.Worked && !s.Stopped && !s.Wonders && !s.Yields && !s.Proposed
}

// OpenWork is the step that is under way, as far as there is proof of it, "" without:
// the agent worked in its last turn, has announced a step that is open, or has a
// stage of our workflow to go on with, and neither side has said that the next word
// is the user's.
func (t Thread) OpenWork(stage string) string {
	if !t.State.Stance.free() {
		return ""
	}
	if open := t.Open(); t.State.Stance.Planned && len(open) > 0 {
		return open[0]
	}
	return stage
}

// Unfinished is what the user has asked for, where nobody has said that it is done or
// that the next word is his. It is for runs that nobody sits before: there a plan is not
// needed to go on.
func (t Thread) Unfinished() string {
	if !t.State.Stance.free() || t.State.Spoken.Has(AgentDone) {
		return ""
	}
	return message.Head(message.OneLine(t.Latest), 200)
}
